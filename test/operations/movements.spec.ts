/** Movements, series and register of an instrument where others get in between: strangers, corrections, open orders. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant, Zone } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { pricePoints } from "#core/instruments/price/PricePoint.ts"
import * as SeriesQueries from "#core/overviews/series/SeriesQueries.ts"
import * as MovementQueries from "#core/overviews/register/MovementQueries.ts"
import { type Redemption, redemptions } from "#core/orders/redemption/Redemption.ts"
import * as Redemptions from "../machines/redemptions.ts"
import * as Story from "./story.ts"
import * as Venue from "./venue.ts"

const id = { instrumentId: Story.instrumentId }

const units = (who: Venue.Outsider, cast: Story.Cast, amount: string) => ({
  registrar: who.party,
  owner: who.party,
  provider: cast.venue,
  instrument: { admin: who.party, id: "fund-a" },
  amount: Decimal.of(amount),
  restricted: false,
  lock: null,
  label: "",
  meta: {}
})

const movements = Effect.map(Venue.list(MovementQueries.ofInstrument, id), ({ value }) =>
  value.map(
    ({ seq, kind, units, balanceAfter }) =>
      `${seq} ${kind} ${Decimal.formatPlain(units)} ${Decimal.formatPlain(balanceAfter)}`
  )
)

const closes = (metric: "price" | "supply", zone?: Zone.Zone) =>
  Effect.map(
    Venue.read(SeriesQueries.get, { ...id, metric, ...(zone === undefined ? {} : { zone }) }),
    ({ value }) =>
      value.points.map(({ close }) => (close === null ? null : Decimal.formatPlain(close)))
  )

describe("an instrument's movements", () => {
  it.effect("hold nothing of another registrar's units of the same name", () =>
    Effect.gen(function* () {
      const cast = yield* Story.cast
      yield* Story.recorded(cast)
      yield* Venue.act(
        cast.bob,
        Templates.create(Templates.Holding, units(cast.bob, cast, "1000000"))
      )
      yield* Venue.act(
        cast.registrar,
        Templates.create(Templates.Holding, units(cast.registrar, cast, "3"))
      )
      assert.deepEqual(yield* movements, ["1 mint 3 3"])
      assert.deepEqual(yield* closes("supply"), ["3"])
    }).pipe(Venue.engine())
  )

  it.effect("hold nothing of units that another venue is the provider of", () =>
    Effect.gen(function* () {
      const cast = yield* Story.cast
      yield* Story.recorded(cast)
      // Seen by the venue as a lock's observer.
      const elsewhere = {
        ...units(cast.registrar, cast, "5"),
        provider: cast.bob.party,
        lock: {
          holders: [cast.registrar.party],
          observers: [cast.venue],
          context: "shown",
          expiresAt: null
        }
      }
      yield* Venue.act(cast.registrar, Templates.create(Templates.Holding, elsewhere))
      assert.deepEqual(yield* movements, [])
    }).pipe(Venue.engine())
  )

  it.effect("tell of units that came and went inside one update", () =>
    Effect.gen(function* () {
      const cast = yield* Story.cast
      yield* Story.recorded(cast)
      yield* Venue.act(cast.registrar, {
        ...Templates.create(Templates.Holding, units(cast.registrar, cast, "5")),
        _tag: "CreateAndExercise",
        choice: "Burn",
        arg: {}
      })
      assert.deepEqual(yield* movements, ["1 mint 5 5", "2 burn 5 0"])
      const { value } = yield* Venue.read(SeriesQueries.get, { ...id, metric: "supply" })
      // The supply never was 5: the mint and the burn are in one update.
      assert.deepEqual(
        value.points.map(({ max, close }) => [max, close]),
        [[Decimal.zero, Decimal.zero]]
      )
    }).pipe(Venue.engine())
  )
})

describe("a series of prices", () => {
  it.effect("tells what its own oracle holds true now, by the day it was valued in the zone", () =>
    Effect.gen(function* () {
      const cast = yield* Story.cast
      yield* Story.recorded(cast)
      const valued = (value: string, at: string, who = cast.oracle) =>
        Venue.act(
          who,
          Templates.create(Templates.OraclePoint, {
            ...Story.point(who, cast, value),
            valuationTime: Instant.of(at)
          })
        )
      yield* valued("1.2", "2026-07-28T20:30:00Z")
      yield* valued("1.1", "2026-07-27T20:30:00Z")
      yield* valued("9", "2026-07-28T20:31:00Z", cast.bob)
      yield* TestClock.adjust("2 hours")
      assert.deepEqual(yield* closes("price"), ["1.1", "1.2", "1.2", "1.2"])
      const zone = Zone.of("Asia/Kolkata")
      assert.deepEqual(yield* closes("price", zone), ["1.1", "1.2", "1.2"])
      const records = yield* Records
      const points = yield* records.list(pricePoints, { limit: 9 })
      const wrong = points.find(({ record }) => record.price === Decimal.of("1.1"))?.record
      yield* Venue.act(
        cast.oracle,
        Templates.exercise(Templates.OraclePoint, wrong?.contractId ?? "", "Correct", {
          value: Decimal.of("1.15"),
          valuationTime: Instant.of("2026-07-27T20:30:00Z"),
          period: null,
          withholdingRate: null,
          statementRef: null
        })
      )
      assert.deepEqual(yield* closes("price"), ["1.15", "1.2", "1.2", "1.2"])
      const { value } = yield* Venue.read(SeriesQueries.get, { ...id, metric: "price" })
      const [day] = value.points
      // A corrected point was never the price.
      assert.strictEqual(day?.min, Decimal.of("1.15"))
      assert.strictEqual(day?.open, Decimal.of("1.15"))
    }).pipe(Venue.engine())
  )
})

describe("a register", () => {
  it.effect("shows as on their way out what open redemptions take, and nothing of ended ones", () =>
    Effect.gen(function* () {
      const cast = yield* Story.cast
      yield* Story.recorded(cast)
      yield* Story.consented(cast)
      yield* Story.registered(cast.alice, "alice", cast)
      yield* Story.minted(cast, yield* Story.admitted(cast.alice, "alice"), "100")
      const records = yield* Records
      const now = yield* Instant.now
      const act = { cause: { by: "request" as const, requestId: "r" }, now }
      const open = (redemptionId: string, change: Partial<Redemption>) =>
        records.open(
          redemptions,
          Redemptions.claimed({
            redemptionId: redemptionId as Redemption["redemptionId"],
            instrumentId: Story.instrumentId,
            holderId: Story.holderIdOf("alice"),
            ...change
          }),
          act
        )
      yield* records.transact(
        Effect.all([
          open("r1", { units: Decimal.of("10") }),
          open("r2", { units: null, amount: Decimal.of("5"), orderedAs: "amount" }),
          open("r3", { units: Decimal.of("4") }),
          open("r4", {
            units: Decimal.of("8"),
            state: "withdrawn",
            endedAt: now,
            endedAs: "withdrawn"
          })
        ])
      )
      const { value } = yield* Venue.register(id)
      const [line] = value.lines
      assert.strictEqual(line?.pendingOut, Decimal.of("14"))
      assert.strictEqual(line?.pendingIn, Decimal.zero)
    }).pipe(Venue.engine())
  )
})
