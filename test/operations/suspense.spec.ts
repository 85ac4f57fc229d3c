/**
 * Suspense and cure: each change of a record on which a line's causes depend moves the line, by any
 * writer.
 */
import { Records } from "@bursar/engine-core"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { distributionTimers } from "#core/distributions/distribution/DistributionTimer.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Catalogue from "#core/catalogue.ts"
import * as Month from "./distributions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Restricting from "./restricting.ts"

const engine = () => Effect.provide(world({ clocked: Catalogue.collections }))

/** One holder with a line of 46.17 in July, cleared and open. */
const scene = (waits = false) =>
  Effect.gen(function* () {
    const { stage, holders, point } = yield* Month.founded(["h1"])
    const [h1] = holders
    yield* Month.opened(stage, point, [Month.lineOf(1, h1!.party, { waits })])
    return { stage, holder: h1!, point }
  })

const states = Month.states

describe("a line that is due", () => {
  it.effect("waits under a freeze and is due again once it is lifted, with its amount", () =>
    Effect.gen(function* () {
      yield* scene()
      assert.deepStrictEqual(yield* states, ["1 due"])
      yield* Restricting.restricts("h1", "r1")
      assert.deepStrictEqual(yield* states, ["1 suspended restriction"])
      yield* Restricting.restricts("h1", "r2", {
        reason: "court-order",
        order: { authority: "Court", reference: "1", documentHash: "cd".repeat(32) }
      })
      assert.deepStrictEqual(yield* states, ["1 suspended restriction"])
      yield* Restricting.lifts("r1")
      assert.deepStrictEqual(yield* states, ["1 suspended court-order"])
      yield* Restricting.lifts("r2")
      assert.deepStrictEqual(yield* states, ["1 due"])
      const [line] = yield* Month.lines
      // A reader without the right to see restrictions cannot tell that the line was restricted:
      // its visible version is unchanged.
      assert.strictEqual(line!.visible.version, 1)
    }).pipe(engine())
  )

  it.effect("waits under a batch of restrictions", () =>
    Effect.gen(function* () {
      yield* scene()
      yield* Calls.write(
        "holder.restrict-batch",
        {},
        { entries: [{ holderId: "h1", mode: "freeze", reason: "pledge" }] }
      )
      assert.deepStrictEqual(yield* states, ["1 suspended restriction"])
    }).pipe(engine())
  )

  it.effect("is due again when the clock ends its restriction", () =>
    Effect.gen(function* () {
      yield* scene()
      yield* Restricting.restricts("h1", "r1", { autoReleaseAt: "2026-08-03T10:00:00Z" })
      assert.deepStrictEqual(yield* states, ["1 suspended restriction"])
      yield* Effect.andThen(Calls.settle, Effect.void)
      for (let turn = 0; turn < 62; turn++) yield* Restricting.turn
      assert.deepStrictEqual(yield* states, ["1 due"])
    }).pipe(engine())
  )

  it.effect("waits once its holder's credential is revoked, and says so to the holder", () =>
    Effect.gen(function* () {
      yield* scene()
      yield* Calls.write("admission.withdraw", { holderId: "h1", instrumentId: "fund-a" }, {})
      assert.deepStrictEqual(yield* states, ["1 suspended admission"])
      const [line] = yield* Month.lines
      assert.strictEqual(line!.visible.version, 2)
    }).pipe(engine())
  )

  it.effect(
    "waits for a required attribute that is revoked, and no longer once it is valid again",
    () =>
      Effect.gen(function* () {
        const { stage } = yield* scene()
        const sets = (state: string) =>
          Calls.write(
            "holder.set-attributes",
            { holderId: "h1" },
            {
              attributes: [
                { name: "accredited", value: "yes", state, evidenceHash: "ab".repeat(32) }
              ]
            }
          )
        yield* sets("valid")
        yield* sets("revoked")
        assert.deepStrictEqual(yield* states, ["1 due"])
        yield* sets("valid")
        yield* Month.requires(stage, ["accredited"])
        assert.deepStrictEqual(yield* states, ["1 due"])
        yield* sets("revoked")
        assert.deepStrictEqual(yield* states, ["1 suspended attribute"])
        yield* sets("valid")
        assert.deepStrictEqual(yield* states, ["1 due"])
      }).pipe(engine())
  )

  it.effect("sets the timer that tells the registrar, in the same transaction", () =>
    Effect.gen(function* () {
      yield* scene()
      const records = yield* Records
      const before = yield* records.find(distributionTimers, "d-july")
      yield* Restricting.restricts("h1", "r1")
      const after = yield* records.find(distributionTimers, "d-july")
      assert.notDeepEqual(after, before)
    }).pipe(engine())
  )
})

describe("a holder with a line that is not rolled", () => {
  it.effect("cannot be closed until the line is rolled", () =>
    Effect.gen(function* () {
      const { stage } = yield* scene()
      const closes = Calls.write("holder.close", { holderId: "h1" }, {})
      assert.strictEqual((yield* closes).why, "rule-refused policy no-open-line")
      yield* Month.delivers(stage, "d-july", "d-july.1")
      assert.strictEqual((yield* closes).why, "rule-refused policy no-open-line")
      yield* Month.rolls(["d-july.1"])
      assert.strictEqual((yield* closes).why, "")
    }).pipe(engine())
  )
})

describe("a line of a party that is no holder", () => {
  it.effect("becomes the holder's that the party becomes", () =>
    Effect.gen(function* () {
      const { stage, point } = yield* Month.founded([])
      yield* Month.opened(stage, point, [Month.lineOf(1, stage.holder.party, { waits: true })])
      assert.deepStrictEqual(yield* states, ["1 suspended no-holder"])
      yield* Calls.write(
        "holder.onboard",
        {},
        {
          holderId: "h1",
          party: stage.holder.party,
          taxResidences: [],
          admissions: [{ instrumentId: "fund-a" }]
        }
      )
      assert.deepStrictEqual(yield* states, ["1 suspended registration"])
      const [line] = yield* Month.lines
      assert.strictEqual(line!.holderId, "h1")
    }).pipe(engine())
  )
})

describe("a line of a holder that is recovered", () => {
  it.effect("becomes the successor's with its amount, under the restrictions carried, once", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1)
      yield* Fund.publishes(stage, "1.0481", "2026-07-31T10:00:00Z")
      const point = yield* Fund.newestContract(Templates.OraclePoint)
      const line = Month.lineOf(1, h1.party)
      yield* Month.executes(stage, Month.termsOf(stage, point.cid))
      yield* Month.adds("d-july", [line])
      yield* Month.seals("d-july", [line])
      yield* Powers.restricts("h1", { reason: "lost-key" })
      assert.deepStrictEqual(yield* states, ["1 suspended restriction"])
      assert.strictEqual((yield* Powers.recovers("h1")).why, "")
      const [moved] = yield* Month.lines
      assert.deepInclude(moved!, {
        holderId: next.holderId,
        party: next.party,
        predecessor: "h1",
        net: line.net,
        state: "suspended",
        reason: "restriction"
      })
      const [carried] = yield* Powers.carriedTo(next.holderId)
      assert.isDefined(carried)
      assert.lengthOf(yield* Month.lines, 1)
    }).pipe(engine())
  )
})
