/**
 * Holder and tax statements over months by chance, of funds whose holders buy, sell, give, are paid late,
 * frozen and succeeded: they add up in every zone, and no final month is ever another one.
 */
import { Offset } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { world } from "../engine/world.ts"
import { firstOf, isLong } from "../long-run.ts"
import { walkSeed } from "../seeds.ts"
import * as Calls from "../engine/calls.ts"
import * as Cycles from "./cycles.ts"
import * as Years from "./distribution-years.ts"
import * as Fund from "./fund.ts"
import * as Reports from "./reports.ts"

/** The first pays in cash and the second in units; SEEDS takes so many more, by the seed of the run. */
const eventful = 7
const seeds = [
  eventful,
  ...(isLong ? [8] : []),
  ...Array.from({ length: Number(process.env["SEEDS"] ?? 0) }, (_, nth) => walkSeed(nth))
]

/**
 * Zones with clock changes at midnight in both directions, days of 23 and 25 hours, a date that
 * never was, a half hour.
 */
const zones = firstOf(2, [
  "America/Sao_Paulo",
  "Australia/Lord_Howe",
  "UTC",
  "Asia/Beirut",
  "Pacific/Apia",
  "America/New_York"
])

/** Points of the history at which every statement is read again. */
const points = isLong ? 12 : 4

describe("holder statements over months by chance", () => {
  it.effect.each(seeds)(
    "never lose a unit or a payment, and no final one reads otherwise: seed %i",
    (seed) =>
      Effect.gen(function* () {
        yield* Years.play({ seed, months: isLong ? 4 : 3 })
        // An update of the next February, by which the year is final.
        yield* Cycles.at("2027-02-02T12:00:00Z")
        const { party } = yield* Fund.outsider("late")
        yield* Calls.write("holder.register", {}, { holderId: "late", party })
        for (const zone of zones) assert.isAbove(yield* Reports.keepLaws(zone), 0)
        const ledger = yield* Ledger.Ledger
        const end = yield* ledger.ledgerEnd
        const offsets = Array.from({ length: points }, (_, nth) =>
          Offset.of(Math.floor((end * (nth + 1)) / points))
        )
        const zone = zones[seed % zones.length]!
        assert.isAbove(yield* Reports.keepFinal(zone, offsets), 0)
        const paid = yield* Reports.keepTaxLaws(zone, [2026, 2027])
        if (seed === eventful) assert.isAbove(paid, 0)
        assert.isAbove(yield* Reports.keepFinalYears(zone, { years: [2026], offsets }), 0)
      }).pipe(Effect.provide(world()))
  )
})
