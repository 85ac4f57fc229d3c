/**
 * Repeats of calls without a key: one write while what it made is as it was made, and a new write
 * once that has left (docs/contract/idempotency.md#without-a-key).
 */
import { Catalogue, Records } from "@bursar/engine-core"
import { Documents } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { holds } from "#core/restraints/hold/Hold.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Toys from "../engine/toys.ts"
import { world } from "../engine/world.ts"
import * as Bank from "./bank.ts"
import * as Covered from "./covered.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Fund from "./fund.ts"
import { keysOfBodies } from "./keys-of-bodies.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"
import * as Restricting from "./restricting.ts"

const engine = () => Effect.provide(world({}))
const fundA = { instrumentId: "fund-a" }
const approvers = ["ada", "abel"].map((sub) => Calls.person(sub, "approver"))

/** Sends a call without a key, lets it be signed and run to its end: status and operation id. */
const sends = Effect.fnUntraced(function* (
  kind: string,
  params: Readonly<Record<string, string>>,
  body: Calls.Json,
  ifMatch: string | null = null
) {
  const operation = Catalogue.operations.find((declared) => declared.kind === kind)
  if (operation === undefined) throw new Error(`no operation ${kind}`)
  const text = JSON.stringify(body)
  let answer = yield* Calls.submit(operation, Calls.operator, { params, body: text, ifMatch })
  const { status } = answer
  const field = (name: string): unknown =>
    Object.entries(answer.value ?? {}).find(([key]) => key === name)?.[1]
  for (const approver of approvers) {
    if (field("state") === "awaiting") {
      answer = yield* Calls.approve(String(field("actionKey")), approver)
    }
  }
  yield* Calls.settle
  return { status, operationId: String(field("operationId")) }
})

type Services = Effect.Services<ReturnType<typeof Calls.write>> | Records
type Leaves = Effect.Effect<unknown, unknown, Services>

/** A call, and what makes its outcome leave the state that it was made into. */
const repeats = (
  kind: string,
  params: Readonly<Record<string, string>>,
  body: Calls.Json,
  leaves: Leaves,
  [before, after]: readonly [string | null, string | null] = [null, null]
) =>
  Effect.gen(function* () {
    const first = yield* sends(kind, params, body, before)
    const second = yield* sends(kind, params, body, before)
    assert.deepStrictEqual(
      [kind, second.status, second.operationId],
      [kind, 200, first.operationId]
    )
    yield* leaves
    const third = yield* sends(kind, params, body, after)
    assert.deepStrictEqual([kind, third.status], [kind, 202])
    assert.notStrictEqual(third.operationId, first.operationId)
    const fourth = yield* sends(kind, params, body, after)
    assert.deepStrictEqual(
      [kind, fourth.status, fourth.operationId],
      [kind, 200, third.operationId]
    )
  })

const openHolds = Effect.flatMap(Records, (records) =>
  Effect.map(records.list(holds, { where: { state: ["open"] }, limit: 100 }), (rows) =>
    rows.map(({ record }) => record.holdId)
  )
)
const releases = Effect.flatMap(openHolds, (ids) =>
  Effect.forEach(ids, (holdId) => Calls.write("hold.release", { holdId }, {}))
)
const lifts = Effect.flatMap(Restricting.all, (all) =>
  Effect.forEach(
    all.filter(({ state }) => state === "active"),
    ({ restrictionId }) => Restricting.lifts(restrictionId)
  )
)
const freeze = { ...Restricting.frozen }

describe("a call that is repeated without a key", () => {
  it.effect("really pauses again once its hold was released", () =>
    Effect.gen(function* () {
      yield* Restricting.founded(2)
      yield* repeats("instrument.pause", fundA, { reason: "to see" }, releases)
      assert.strictEqual((yield* openHolds).length, 1)
    }).pipe(engine())
  )

  it.effect("really freezes again once its restriction was lifted", () =>
    Effect.gen(function* () {
      yield* Restricting.founded(2)
      yield* repeats("holder.restrict", { holderId: "h1" }, freeze, lifts)
      yield* repeats(
        "holder.restrict-batch",
        {},
        {
          entries: [
            { holderId: "h1", ...freeze },
            { holderId: "h2", ...freeze }
          ]
        },
        lifts
      )
    }).pipe(engine())
  )

  it.effect("really sets terms again once others have followed them", () =>
    Effect.gen(function* () {
      yield* Cycles.opened(["h1"])
      const other = Calls.write(
        "policy.set",
        fundA,
        { minimumSubscription: 20 },
        Calls.operator,
        "2"
      )
      yield* repeats("policy.set", fundA, { minimumSubscription: 10 }, other, ["1", "3"])
    }).pipe(engine())
  )

  it.effect("really sets an attribute again once it was revoked", () =>
    Effect.gen(function* () {
      yield* Restricting.founded(1)
      const h1 = { holderId: "h1" }
      const kyc = { name: "kyc", value: "passed", evidenceHash: "ab".repeat(32), state: "valid" }
      const revoked = { attributes: [{ ...kyc, state: "revoked" }] }
      const revokes = Calls.write("holder.set-attributes", h1, revoked)
      yield* repeats("holder.set-attributes", h1, { attributes: [kyc] }, revokes)
      // Another value of the name supersedes it too.
      const other = { attributes: [{ ...kyc, value: "waived" }] }
      yield* Calls.write("holder.set-attributes", h1, other)
      const again = yield* sends("holder.set-attributes", h1, { attributes: [kyc] })
      assert.strictEqual(again.status, 202)
    }).pipe(engine())
  )

  it.effect("really accepts terms again once the holder has signed others", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.onboards(stage)
      yield* Fund.accepts(stage)
      yield* Fund.signs(stage)
      yield* repeats("accepted-terms.accept", { holderId: "h1" }, {}, Fund.signs(stage))
    }).pipe(engine())
  )

  it.effect("really withdraws again once the holder is admitted anew", () =>
    Effect.gen(function* () {
      const { holders } = yield* Cycles.opened(["h1"])
      const pair = { holderId: "h1", instrumentId: "fund-a" }
      yield* repeats("admission.withdraw", pair, {}, Powers.admits(holders[0]!, "fund-a"))
    }).pipe(engine())
  )

  it.effect("really reports again once a figure of the reserve has moved", () =>
    Effect.gen(function* () {
      const scene = yield* Covered.covered()
      const res1 = { reserveId: "res-1" }
      yield* repeats("reserve-report.create", res1, {}, Covered.issues(scene, "900"))
      // An id that the caller names is used once: its report is the answer.
      const named = { reportId: "rep-1" }
      const first = yield* sends("reserve-report.create", res1, named)
      yield* Covered.issues(scene, "10")
      const again = yield* sends("reserve-report.create", res1, named)
      assert.deepStrictEqual([again.status, again.operationId], [200, first.operationId])
    }).pipe(engine())
  )

  it.effect("really rolls again once another line was delivered", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
      yield* Month.opened(
        stage,
        point,
        holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
      )
      yield* Month.delivers(stage, "d-july", "d-july.1")
      const july = { distributionId: "d-july" }
      yield* repeats("distribution.roll", july, {}, Month.delivers(stage, "d-july", "d-july.2"))
    }).pipe(engine())
  )

  it.effect.each([
    {
      moved: "a write",
      moves: Calls.write("instrument.pause", fundA, { reason: "to see" }).pipe(Effect.asVoid)
    },
    { moved: "a statement", moves: Bank.states({ id: "st-1", entries: [] }).pipe(Effect.asVoid) },
    { moved: "the time", moves: TestClock.adjust("16 minutes") }
  ])("really reconciles again once $moved has moved", ({ moves }) =>
    Effect.gen(function* () {
      yield* Restricting.founded(1)
      yield* Calls.settle
      const sent = () => Reconciling.run("{}", { key: null })
      const first = yield* sent()
      const second = yield* sent()
      assert.deepStrictEqual([second.replayed, second.value], [true, first.value])
      yield* moves
      const third = yield* sent()
      const fourth = yield* sent()
      assert.strictEqual(third.value.runId, fourth.value.runId)
      assert.notStrictEqual(third.value.runId, first.value.runId)
      assert.deepStrictEqual([third.replayed, fourth.replayed], [false, true])
      assert.strictEqual((yield* Reconciling.allRuns).length, 2)
    }).pipe(engine())
  )

  it.effect("is one new write where two come at once after the state was left", () =>
    Effect.gen(function* () {
      yield* Restricting.founded(1)
      yield* sends("instrument.pause", fundA, { reason: "to see" })
      yield* releases
      const both = yield* Effect.all(
        [1, 2, 3].map(() => sends("instrument.pause", fundA, { reason: "to see" })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(both.map(({ operationId }) => operationId)).size, 1)
      assert.deepStrictEqual(both.map(({ status }) => status).toSorted(), [200, 200, 202])
      assert.strictEqual((yield* openHolds).length, 1)
    }).pipe(engine())
  )

  it.effect("binds its window anew from the new write", () =>
    Effect.gen(function* () {
      yield* Restricting.founded(1)
      yield* sends("instrument.pause", fundA, { reason: "to see" })
      yield* TestClock.adjust("23 hours")
      yield* releases
      const again = yield* sends("instrument.pause", fundA, { reason: "to see" })
      yield* TestClock.adjust("2 hours")
      const later = yield* sends("instrument.pause", fundA, { reason: "to see" })
      assert.deepStrictEqual([later.status, later.operationId], [200, again.operationId])
    }).pipe(engine())
  )
})

describe("the key of a body", () => {
  it("ends by a rule of each kind of write, or the kind says why it does not", () => {
    const without = Catalogue.operations
      .filter(({ lasts }) => lasts === undefined)
      .map(({ kind }) => kind)
    const forGood = Object.entries(keysOfBodies).flatMap(([kind, row]) =>
      row.key === "for-good" ? [kind] : []
    )
    assert.deepStrictEqual(without.toSorted(), forGood.toSorted())
  })
})

describe("a repeat without a key", () => {
  it.effect("reads the operation of the first call once", () => {
    const lookups: Array<string> = []
    const noting = Layer.effect(
      Documents,
      Effect.map(Documents, (documents) => ({
        ...documents,
        get: (lookup: Parameters<typeof documents.get>[0]) => {
          if (lookup.collection === operations.name) lookups.push(...lookup.recordIds)
          return documents.get(lookup)
        }
      }))
    ).pipe(Layer.provideMerge(Memory.layer))
    const call = Calls.submit(Toys.single, Calls.person("olga", "operator"), {
      params: { counterId: "c" },
      body: '{"by":1}'
    })
    return Effect.gen(function* () {
      yield* call
      yield* Calls.settle
      lookups.length = 0
      assert.strictEqual((yield* call).status, 200)
      assert.strictEqual(lookups.length, 1)
    }).pipe(Effect.provide(world({ operations: Toys.toys, storage: noting })))
  })
})
