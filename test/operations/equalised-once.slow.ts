/**
 * Units that change hands with the income that was in their price: it is given back once, with the line
 * that pays that income, whoever has the units afterwards.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Executions from "./executions.ts"
import type * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

const terms = {
  ...Executions.accumulating,
  distribution: { ...Executions.accumulating.distribution, payout: "cash", withholding: 0.2 }
} as const

const price = { metric: "price" } as const

/** A fund whose price returns to 500, with a holder of a unit bought at 500. */
const founded = (holderIds: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { stage, holders } = yield* Executions.founded(holderIds, terms)
    yield* Executions.publishes(stage, "500", "2026-06-29T11:00:00Z", price)
    const [a] = holders
    yield* Executions.buys(stage, a!, {
      ...{ id: "a1", at: "2026-07-01T12:00:00Z", price: "500", pays: "500" }
    })
    return { stage, holders }
  })

/** The price goes up to 520 by the end of the month, which is executed: gross and equalisation of each line. */
const closes = (stage: Fund.Parties, month: "07" | "08" | "09") =>
  Effect.gen(function* () {
    const days = { "07": "31", "08": "31", "09": "30" }
    const next = { "07": "2026-08-01", "08": "2026-09-01", "09": "2026-10-01" }
    const last = `2026-${month}-${days[month]}`
    yield* Cycles.at(`${last}T12:00:00Z`)
    yield* Executions.publishes(stage, "520", `${last}T11:00:00Z`, price)
    yield* Cycles.at(`${next[month]}T00:02:00Z`)
    const body = { instrumentId: "fund-a", month: `2026-${month}` }
    const { why } = yield* Calls.write("distribution.execute", {}, body)
    assert.strictEqual(why, "")
    const lines = yield* Executions.linesOf(`fund-a.2026-${month}`)
    const whole = (amount: Decimal.Decimal) => Decimal.formatPlain(amount)
    return Object.fromEntries(
      lines.map(({ equalisation, gross, holderId }) => [
        holderId,
        `${whole(gross)} ${whole(equalisation)}`
      ])
    )
  })

/** The price returns to 500 in the month's first days. */
const goesEx = (stage: Fund.Parties, month: "08" | "09") =>
  Effect.andThen(
    Cycles.at(`2026-${month}-03T12:00:00Z`),
    Executions.publishes(stage, "500", `2026-${month}-03T11:00:00Z`, price)
  )

/** Every line of a month that is due is paid, and the month is rolled. */
const pays = (stage: Fund.Parties, distributionId: string, at: string) =>
  Effect.gen(function* () {
    yield* Cycles.at(at)
    yield* Cycles.turns
    for (const line of yield* Executions.linesOf(distributionId)) {
      if (line.state === "due") yield* Month.deliversToday(stage, distributionId, line.lineId)
    }
    const { why } = yield* Calls.write("distribution.roll", { distributionId }, {})
    assert.strictEqual(why, "")
  })

const engine = Effect.provide(world())

describe("income that was in the price of units is given back once", () => {
  it.effect("not again to a holder that the units came to after their income was paid", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* founded(["a", "b", "c"])
      const [, b, c] = holders
      yield* Executions.buys(stage, b!, {
        ...{ id: "b1", at: "2026-07-15T12:00:00Z", price: "510", pays: "510" }
      })
      assert.deepStrictEqual(yield* closes(stage, "07"), { a: "20 0", b: "20 10" })
      yield* goesEx(stage, "08")
      yield* Powers.gives(b!, c!, "1")
      yield* pays(stage, "fund-a.2026-07", "2026-08-05T12:00:00Z")
      assert.deepStrictEqual(yield* closes(stage, "08"), { a: "20 0", c: "20 0" })
    }).pipe(engine)
  )

  it.effect("to the holder that the units came to before the record date", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* founded(["a", "b", "c"])
      const [, b, c] = holders
      yield* Executions.buys(stage, b!, {
        ...{ id: "b1", at: "2026-07-15T12:00:00Z", price: "510", pays: "510" }
      })
      yield* Powers.gives(b!, c!, "1")
      assert.deepStrictEqual(yield* closes(stage, "07"), { a: "20 0", c: "20 10" })
      yield* goesEx(stage, "08")
      yield* pays(stage, "fund-a.2026-07", "2026-08-05T12:00:00Z")
      // The first holder gets the units back without the income.
      yield* Powers.gives(c!, b!, "1")
      assert.deepStrictEqual(yield* closes(stage, "08"), { a: "20 0", b: "20 0" })
    }).pipe(engine)
  )

  /** b is not paid for August, whose income it bought, since its line of July is still owed. */
  const carries = Effect.gen(function* () {
    const { stage, holders } = yield* founded(["a", "b", "c"])
    const [, b, c] = holders
    yield* Powers.agrees(stage)
    yield* Powers.consents(b!)
    yield* Executions.buys(stage, b!, {
      ...{ id: "b1", at: "2026-07-15T12:00:00Z", price: "500", pays: "500" }
    })
    assert.deepStrictEqual(yield* closes(stage, "07"), { a: "20 0", b: "20 0" })
    yield* goesEx(stage, "08")
    yield* Executions.buys(stage, b!, {
      ...{ id: "b2", at: "2026-08-14T12:00:00Z", price: "510", pays: "510" }
    })
    assert.deepStrictEqual(yield* closes(stage, "08"), { a: "0 0", b: "0 0" })
    yield* goesEx(stage, "09")
    return { stage, b: b!, c: c! }
  })

  it.effect("with the next line, of a holder whose line was carried", () =>
    Effect.gen(function* () {
      const { stage } = yield* carries
      yield* pays(stage, "fund-a.2026-07", "2026-09-05T12:00:00Z")
      assert.deepStrictEqual(yield* closes(stage, "09"), { a: "40 0", b: "80 10" })
    }).pipe(engine)
  )

  it.effect("with the same line, of the successor that the units were recovered to", () =>
    Effect.gen(function* () {
      const { stage, b } = yield* carries
      yield* Powers.succeeds(stage, b)
      const { state, why } = yield* Powers.ran(yield* Powers.recovers("b"), "holder.recover")
      assert.deepStrictEqual([state, why], ["succeeded", ""])
      yield* pays(stage, "fund-a.2026-07", "2026-09-10T12:00:00Z")
      assert.deepStrictEqual(yield* closes(stage, "09"), { a: "40 0", "b-next": "80 10" })
    }).pipe(engine)
  )

  it.effect("to nobody, where the units went and their income is carried for another", () =>
    Effect.gen(function* () {
      const { stage, b, c } = yield* carries
      yield* Powers.gives(b, c, "1")
      yield* Powers.gives(b, c, "1")
      yield* pays(stage, "fund-a.2026-07", "2026-09-05T12:00:00Z")
      assert.deepStrictEqual(yield* closes(stage, "09"), { a: "40 0", b: "40 0", c: "40 0" })
    }).pipe(engine)
  )
})
