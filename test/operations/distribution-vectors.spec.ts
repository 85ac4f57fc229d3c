/**
 * Golden vectors of distributions through ledger, projection and execution: rates by their source,
 * published figures of a fund, income below nothing, and payouts in units, digit by digit
 * (docs/domain/figures.md#golden-vectors).
 */
import { Decimal } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Executions from "./executions.ts"
import type * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

const ten = (decimal: Decimal.Decimal) => Decimal.format(decimal)
const cents = (decimal: Decimal.Decimal) => Decimal.formatPlaces(decimal, 2)

/** The day comes; the oracle states income, or the price, of it. */
const states = (
  stage: Fund.Parties,
  date: string,
  value: string,
  stated?: Parameters<typeof Executions.publishes>[3]
) =>
  Effect.gen(function* () {
    yield* Cycles.at(`${date}T12:00:00Z`)
    yield* Executions.publishes(stage, value, `${date}T11:00:00Z`, stated)
  })

/** Executes a month once its record date has passed; its lines by their holder. */
const executed = (month: string, after: string) =>
  Effect.gen(function* () {
    yield* Cycles.at(`${after}T00:02:00Z`)
    const ended = yield* Calls.write("distribution.execute", {}, { instrumentId: "fund-a", month })
    assert.deepStrictEqual([ended.state, ended.why], ["succeeded", ""])
    const lines = yield* Executions.linesOf(`fund-a.${month}`)
    return new Map(lines.map((line) => [line.holderId, line]))
  })

const withTerms = (distribution: Readonly<Record<string, Calls.Json>>) => ({
  ...Executions.par,
  distribution: { ...Executions.par.distribution, ...distribution }
})

/** Gives a holder a rate of its own from the first of July, for good or until an instant. */
const rates = (holderId: string, value: string, validUntil?: string) =>
  Effect.gen(function* () {
    const rate = {
      name: "tax-rate",
      value,
      state: "valid",
      evidenceHash: "ab".repeat(32),
      validFrom: "2026-07-01T00:00:00Z",
      ...(validUntil === undefined ? {} : { validUntil })
    }
    const set = yield* Calls.write("holder.set-attributes", { holderId }, { attributes: [rate] })
    assert.strictEqual(set.why, "")
  })

describe("vectors of distributions by the engine", () => {
  it.effect(
    "G18 and G33: tax is half up of what is paid, at the holder's own rate, else the point's before that of the terms",
    () =>
      Effect.gen(function* () {
        // Units earn a ten-thousandth on the last day of July: gross, rate, where it is from, tax and net.
        const vectors = {
          h01: ["1276700", "0.3", "attribute", "127.67", "38.30", "89.37"],
          h02: ["1276700", null, "point", "127.67", "19.15", "108.52"],
          h03: ["500", "0.3", "attribute", "0.05", "0.02", "0.03"],
          h04: ["500", "0.1", "attribute", "0.05", "0.01", "0.04"],
          h05: ["100", "0.5", "attribute", "0.01", "0.01", "0.00"],
          h06: ["100", "0.4999999999", "attribute", "0.01", "0.00", "0.01"],
          h07: ["101000", "1", "attribute", "10.10", "10.10", "0.00"],
          h08: ["101000", "0.25", "attribute", "10.10", "2.53", "7.57"],
          h09: ["1276700", "0", "attribute", "127.67", "0.00", "127.67"],
          // Its rate ends with the last moment of the record date.
          h10: ["1276700", "0", "point", "127.67", "19.15", "108.52"]
        } as const
        const { stage, holders } = yield* Executions.founded(
          Object.keys(vectors),
          withTerms({ withholding: 0.3 })
        )
        for (const holder of holders) {
          const [units] = vectors[holder.holderId as keyof typeof vectors]
          yield* Powers.mints(stage, holder, units)
        }
        yield* Cycles.at("2026-07-02T12:00:00Z")
        for (const [holderId, [, rate]] of Object.entries(vectors)) {
          const until = holderId === "h10" ? "2026-08-01T00:00:00Z" : undefined
          if (rate !== null) yield* rates(holderId, rate, until)
        }
        yield* states(stage, "2026-07-29", "0")
        yield* states(stage, "2026-07-30", "0", { withholdingRate: "0.15" })
        yield* states(stage, "2026-07-31", "0.0001")
        const lines = yield* executed("2026-07", "2026-08-01")
        assert.deepStrictEqual(
          [...lines].map(([holderId, { gross, net, rateSource, withheld }]) => [
            holderId,
            rateSource,
            ...[gross, withheld, net].map(cents)
          ]),
          Object.entries(vectors).map(([holderId, [, , ...shown]]) => [holderId, ...shown])
        )
      }).pipe(Effect.provide(world()))
  )

  it.effect(
    "G19 and G20: a published income of days without a market, cut where a line pays it",
    () =>
      Effect.gen(function* () {
        const { stage, holders } = yield* Executions.founded(
          ["h1", "h2"],
          withTerms({ calendar: { frequency: "monthly", recordDay: 15, paymentLagDays: 3 } })
        )
        const [h1, h2] = holders
        yield* Powers.mints(stage, h2!, "831088988.17")
        // Friday is a holiday: Thursday's income is that of four days.
        yield* states(stage, "2026-07-02", "0.000095759")
        yield* states(stage, "2026-07-06", "0")
        const july = yield* executed("2026-07", "2026-07-16")
        yield* Powers.mints(stage, h1!, "963751533.51")
        yield* states(stage, "2026-07-31", "0.000096553")
        yield* states(stage, "2026-08-03", "0")
        const august = yield* executed("2026-08", "2026-08-16")
        const published = [july.get("h2"), august.get("h1")].map((line) => [
          ten(line!.entitlement),
          cents(line!.gross)
        ])
        assert.deepStrictEqual(published, [
          ["318337.0016726841", "318337.00"],
          ["279159.3054449730", "279159.30"]
        ])
      }).pipe(Effect.provide(world()))
  )

  it.effect(
    "G40 and G49: an income of a million holders by two of them, and income below nothing until it is earned back",
    () =>
      Effect.gen(function* () {
        const { stage, holders } = yield* Executions.founded(["h1", "h2", "h3", "h4"])
        const [first, last, lost, carrying] = holders
        yield* Powers.mints(stage, first!, "1000.001")
        yield* Powers.mints(stage, last!, "2000")
        yield* states(stage, "2026-07-01", "0.000103333")
        const july = yield* executed("2026-07", "2026-08-01")
        yield* Powers.mints(stage, lost!, "100000")
        yield* states(stage, "2026-08-01", "0.0000951")
        yield* states(stage, "2026-08-21", "-0.0003")
        // Three days of these make a carry of 0.0041.
        yield* Cycles.at("2026-08-29T10:00:00Z")
        yield* Powers.mints(stage, carrying!, "14.370838")
        yield* states(stage, "2026-08-29", "0.0000951")
        const august = yield* executed("2026-08", "2026-09-01")
        yield* Powers.mints(stage, carrying!, "1220.197053")
        yield* states(stage, "2026-09-01", "-0.00002")
        const september = yield* executed("2026-09", "2026-10-01")
        yield* states(stage, "2026-10-01", "0.0009")
        const october = yield* executed("2026-10", "2026-11-01")
        const shown = [
          july.get("h1"),
          july.get("h2"),
          august.get("h3"),
          august.get("h4"),
          september.get("h4"),
          october.get("h4")
        ].map((line) =>
          [
            ten(line!.entitlement),
            ten(line!.carryIn),
            cents(line!.gross),
            cents(line!.withheld),
            cents(line!.net),
            ten(line!.carryOut)
          ].join(" ")
        )
        assert.deepStrictEqual(shown, [
          "3.2033262033 0.0000000000 3.20 0.48 2.72 0.0033262033",
          "6.4066460000 0.0000000000 6.40 0.96 5.44 0.0066460000",
          "-21.2700000000 0.0000000000 0.00 0.00 0.00 -21.2700000000",
          "0.0041000000 0.0000000000 0.00 0.00 0.00 0.0041000000",
          "-0.7407407346 0.0041000000 0.00 0.00 0.00 -0.7366407346",
          "34.4444441589 -0.7366407346 33.70 5.06 28.64 0.0078034243"
        ])
      }).pipe(Effect.provide(world()))
  )

  it.effect.each([
    {
      name: "at par",
      terms: { ...withTerms({ payout: "units" }), unitDecimals: 6 },
      units: "543200",
      prices: ["0", "0.0001"],
      paid: { net: "46.17", payoutUnits: "46.1700000000", carried: null, residual: "0.0000000000" }
    },
    {
      name: "at an ex price below one",
      terms: { ...Executions.accumulating, unitDecimals: 6 },
      units: "12345.678901",
      prices: ["0.9871", "0.9915"],
      paid: { net: "46.17", payoutUnits: "46.7733760000", carried: null, residual: "0.0000005504" }
    },
    {
      name: "at an ex price above one",
      terms: { ...Executions.accumulating, unitDecimals: 6 },
      units: "12345.678901",
      prices: ["1.0437", "1.0481"],
      paid: { net: "46.17", payoutUnits: "44.2368490000", carried: null, residual: "0.0000006987" }
    },
    {
      name: "of which a net of 0.85 buys none",
      terms: { ...withTerms({ payout: "units" }), unitDecimals: 0 },
      units: "10000",
      prices: ["0", "0.0001"],
      paid: {
        net: "0.00",
        payoutUnits: "0.0000000000",
        carried: "below-smallest",
        residual: "0.0000000000"
      }
    }
  ] as const)("G45: a payout in units $name", ({ paid, prices, terms, units }) =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1"], terms)
      yield* Powers.mints(stage, holders[0]!, units)
      const metric = terms.valuation === "par" ? "income" : "price"
      yield* states(stage, "2026-07-01", prices[0], { metric })
      yield* states(stage, "2026-07-31", prices[1], { metric })
      const line = (yield* executed("2026-07", "2026-08-01")).get("h1")!
      const { totals } = yield* Executions.distributionOf("fund-a.2026-07")
      assert.deepStrictEqual(
        {
          net: cents(line.net),
          payoutUnits: line.payoutUnits === null ? null : ten(line.payoutUnits),
          carried: line.state === "carried" ? line.reason : null,
          residual: ten(totals.residual)
        },
        paid
      )
    }).pipe(Effect.provide(world()))
  )
})
