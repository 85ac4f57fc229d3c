/** The series of distributions: what was delivered, by the day on which it was paid. */
import { Date, Decimal, Instant, Offset, Zone } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as SeriesQueries from "#core/overviews/series/SeriesQueries.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import type * as Fund from "./fund.ts"
import * as Restricting from "./restricting.ts"
import { instrumentId } from "./story.ts"
import * as Venue from "./venue.ts"

const ids = ["h1", "h2", "h3"]

/** Three lines of 46.17 net that are due in August, the second of a holder with a line of 4.17. */
const owed = Effect.gen(function* () {
  const { stage, holders, point } = yield* Month.founded(ids)
  const lines = holders.map(({ party }, nth) =>
    nth === 1
      ? Month.lineOf(2, party, { gross: Decimal.of("12.32"), net: Decimal.of("4.17") })
      : Month.lineOf(nth + 1, party)
  )
  yield* Month.opened(stage, point, lines)
  return stage
})

const delivers = (stage: Fund.Parties, number: number, paidOn: string) =>
  Effect.gen(function* () {
    const [line] = (yield* Cycles.active(Templates.DistributionLine)).filter(
      ({ payload }) => payload.lineId === `d-july.${number}`
    )
    const [distribution] = yield* Cycles.active(Templates.Distribution)
    yield* stage.registrar.act(
      Templates.exercise(Templates.DistributionLine, line!.cid, "Deliver", {
        distributionCid: distribution!.cid,
        credentialCid: null,
        configurationCid: null,
        evidence: { reference: `wire ${number}`, paidOn: Date.of(paidOn) }
      })
    )
  })

const head = Effect.gen(function* () {
  const ledger = yield* Ledger.Ledger
  return Offset.of(yield* ledger.ledgerEnd)
})

interface Asked {
  readonly interval?: "day" | "month"
  readonly zone?: string
  readonly at?: Offset.Offset
  readonly caller?: (typeof Venue)["auditor"]
}

/** Each step that has a payment: its date, sum, first, last, least and largest payment. */
const paid = ({ interval = "day", zone = "UTC", at, caller }: Asked = {}) =>
  Effect.map(
    Venue.read(
      SeriesQueries.get,
      {
        instrumentId,
        metric: "distributions",
        interval,
        zone: Zone.of(zone),
        from: Date.of("2026-08-01")
      },
      {
        ...(caller === undefined ? {} : { caller }),
        ...(at === undefined ? {} : { point: { at } })
      }
    ),
    ({ value: { points } }) =>
      points
        .filter(({ open }) => open !== null)
        .map(({ start, ...figures }) =>
          [
            Instant.format(start).slice(0, 13),
            ...([figures.sum, figures.open, figures.close, figures.min, figures.max] as const).map(
              (figure) => (figure === null ? "none" : Decimal.formatPlain(figure))
            )
          ].join(" ")
        )
  )

describe("the series of distributions paid in cash", () => {
  it.effect("never counts a payment twice, on another day, or before the pin that shows it", () =>
    Effect.gen(function* () {
      const stage = yield* owed
      const before = yield* head
      yield* Cycles.at("2026-08-05T12:00:00Z")
      yield* delivers(stage, 1, "2026-08-04")
      const first = yield* head
      yield* delivers(stage, 2, "2026-08-04")
      yield* Cycles.at("2026-08-06T12:00:00Z")
      yield* delivers(stage, 3, "2026-08-06")
      const fourth = "2026-08-04T00 50.34 46.17 4.17 4.17 46.17"
      const sixth = "2026-08-06T00 46.17 46.17 46.17 46.17 46.17"
      assert.deepStrictEqual(yield* paid(), [fourth, sixth])
      assert.deepStrictEqual(yield* paid({ interval: "month" }), [
        "2026-08-01T00 96.51 46.17 46.17 4.17 46.17"
      ])
      assert.deepStrictEqual(yield* paid({ zone: "America/New_York" }), [
        fourth.replace("T00", "T04"),
        sixth.replace("T00", "T04")
      ])
      assert.deepStrictEqual(yield* paid({ at: before }), [])
      assert.deepStrictEqual(yield* paid({ at: first }), [
        "2026-08-04T00 46.17 46.17 46.17 46.17 46.17"
      ])
      // The roll pays nothing.
      yield* Month.rolls(["d-july.1", "d-july.2", "d-july.3"])
      assert.deepStrictEqual(yield* paid(), [fourth, sixth])
    }).pipe(Effect.provide(world()))
  )

  it.effect("tells an investor nothing of a line that waits", () =>
    Effect.gen(function* () {
      const stage = yield* owed
      const investor = Venue.person("ines", ["investor"], { holderId: "h1" })
      yield* Restricting.restricts("h2", "r1")
      yield* delivers(stage, 1, "2026-08-03")
      const shown = ["2026-08-03T00 46.17 46.17 46.17 46.17 46.17"]
      assert.deepStrictEqual(yield* paid({ caller: investor }), shown)
      yield* Restricting.lifts("r1")
      assert.deepStrictEqual(yield* paid({ caller: investor }), shown)
    }).pipe(Effect.provide(world()))
  )
})
