/** Limit of new findings through runs: a thousand of a check and an instrument at a time, the rest as one finding. */
import { Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { expect, it } from "vitest"
import { findings } from "#core/findings/Finding.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Executions from "./executions.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"
import * as Stating from "./stating.ts"

const scope = '{"scope":{"instrumentIds":["fund-a"],"checks":["register-line"]}}'

/** Number of findings by state and kind of subject, and the unexplained amounts of each. */
const counted = Effect.gen(function* () {
  yield* Reconciling.run(scope)
  const records = yield* Records
  const rows = yield* records.list(findings, { limit: 5_000 })
  const groups = Map.groupBy(
    rows,
    ({ record: { state, subject } }) => `${state} ${subject.resourceKind}`
  )
  const sumOf = (group: typeof rows) =>
    Decimal.formatPlain(Decimal.sum(group.map(({ record }) => record.unexplained)))
  return Object.fromEntries(
    [...groups].map(([name, group]) => [name, `${group.length} of ${sumOf(group)}`])
  )
})

it("opens the next thousand with the next run, and never clears the rest by a run that had no statement", () =>
  Calls.runCase(
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1"])
      yield* Powers.mints(stage, holders[0]!, "100")
      yield* Stating.alone
      yield* Calls.catchUp
      const source = (state: "active" | "inactive") =>
        Stating.source("admin", { calendar: [], state })
      const admin = yield* source("active")
      // 1,003 unmapped accounts, with 1 to 1,003 units: 503,506 in all.
      const strangers = Array.from({ length: 1_003 }, (_, nth) => ({
        account: `stranger-${nth}`,
        quantity: String(nth + 1)
      }))
      const own = { account: "h1", quantity: "100" }
      const businessDate = yield* Stating.today
      yield* TestClock.adjust("1 hour")
      yield* Stating.states(admin, { businessDate, lines: [own, ...strangers] })
      const first = yield* counted
      expect(Object.keys(first).toSorted()).toEqual(["open external-source", "open instrument"])
      const [subject, amount = ""] = first["open external-source"]?.split(" of ") ?? []
      expect(subject).toBe("1000")
      const rest = String(503_506 - Number(amount))
      expect(first["open instrument"]).toBe(`1 of ${rest}`)
      expect((yield* Reconciling.openHolds).map(({ findings }) => findings.length)).toEqual([1_001])
      // Without its source nothing is compared, and nothing is cleared.
      yield* source("inactive")
      expect(yield* counted).toEqual(first)
      yield* source("active")
      expect(yield* counted).toEqual({
        "open external-source": "1003 of 503506",
        "cleared instrument": `1 of ${rest}`
      })
    }).pipe(Effect.provide(world()))
  ))
