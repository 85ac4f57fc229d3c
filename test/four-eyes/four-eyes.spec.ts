/**
 * The tables of docs/contract/four-eyes.md and the rules of docs/contract/idempotency.md, row by
 * row.
 */
import { type Caller, Engine, FourEyes, type Operation, Records } from "@bursar/engine-core"
import { Instant, Offset, PlainJson } from "@bursar/engine-core/kernel"
import { Feed } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import type * as Pin from "#core/kernel/Pin.ts"
import * as Approval from "#core/writes/Approval.ts"
import * as Toys from "../engine/toys.ts"
import { world } from "../engine/world.ts"

const person = (sub: string, ...roles: Caller.Caller["roles"]): Caller.Caller => ({
  sub,
  name: null,
  email: null,
  roles,
  holderId: null,
  party: null
})

export const maker = person("maker", "operator")
export const other = person("other", "operator")
export const ann = person("ann", "approver")
export const bob = person("bob", "approver")
export const both = person("both", "operator", "approver")
export const auditor = person("auditor", "approver", "auditor")
const nobody = person("nobody", "monitor")

let requests = 0
const identity = () => ({ requestId: `req-${++requests}`, traceId: null, keyId: null })

export const call = (
  operation: Operation.Operation,
  caller: Caller.Caller,
  options: {
    readonly by?: string
    readonly key?: string | null
    readonly id?: string
    readonly ifMatch?: string
  } = {}
) =>
  Effect.flatMap(FourEyes, (door) => {
    const id = options.id ?? "c1"
    const route = operation.route.slice(operation.route.indexOf(" ") + 1)
    return door.submit(operation, {
      caller,
      identity: identity(),
      key: options.key ?? null,
      ifMatch: options.ifMatch ?? null,
      path: route.replace("{counterId}", id),
      query: "",
      body: Result.getOrThrow(PlainJson.parse(`{"by":${options.by ?? "1"}}`)),
      params: { counterId: id }
    })
  })

const approve = (actionKey: string, caller: Caller.Caller) =>
  Effect.flatMap(FourEyes, (door) => door.approve({ actionKey, caller, identity: identity() }))

const reject = (actionKey: string, caller: Caller.Caller, key: string | null = null) =>
  Effect.flatMap(FourEyes, (door) =>
    door.reject({ actionKey, caller, identity: identity(), key, reason: null })
  )

const settle = Effect.flatMap(Engine.Engine, (engine) => engine.settle)

const count = (id = "c1") =>
  Effect.flatMap(Records, (records) =>
    Effect.map(records.find(Toys.counters, id), (found) =>
      found._tag === "Some" ? found.value.count : 0
    )
  )

const slug = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), (result) => {
    if (Result.isSuccess(result)) return "no refusal"
    const error: unknown = result.failure
    return typeof error === "object" && error !== null && "slug" in error ? error.slug : error
  })

const field = (answer: { readonly value: PlainJson.Plain }, name: string): PlainJson.Plain => {
  const value = answer.value
  if (typeof value !== "object" || value === null || !(name in value)) throw new Error(name)
  return (value as { readonly [k: string]: PlainJson.Plain })[name] ?? null
}
const keyOf = (answer: { readonly value: PlainJson.Plain }) => String(field(answer, "actionKey"))

const engine = () => Effect.provide(world({ operations: Toys.toys }))

describe("a subject that a person cannot tell from another", () => {
  const lookalikes = [
    "both ",
    " both",
    "bo  th",
    "b\u043eth",
    "bo\u200bth",
    "\u202eboth",
    "",
    "engine"
  ]
  it.effect("never makes, signs or rejects beside it", () =>
    Effect.gen(function* () {
      const made = yield* call(Toys.double, both)
      for (const sub of lookalikes) {
        const second = person(sub, "operator", "approver")
        const slugs = [
          yield* slug(call(Toys.double, second)),
          yield* slug(call(Toys.single, second)),
          yield* slug(approve(keyOf(made), second)),
          yield* slug(reject(keyOf(made), second))
        ]
        assert.deepStrictEqual([sub, ...slugs], [sub, ...slugs.map(() => "unauthenticated")])
      }
      yield* settle
      assert.strictEqual(yield* count(), 0)
    }).pipe(engine())
  )
})

describe("a write of one person", () => {
  it.effect("is opened once however often it is sent: 202, then 200 with the same operation", () =>
    Effect.gen(function* () {
      const first = yield* call(Toys.single, maker, { key: "k1" })
      const second = yield* call(Toys.single, maker, { key: "k1" })
      assert.strictEqual(first.status, 202)
      assert.strictEqual(second.status, 200)
      assert.isTrue(second.replayed)
      assert.strictEqual(field(first, "operationId"), field(second, "operationId"))
      yield* settle
      assert.strictEqual(yield* count(), 1)
      const third = yield* call(Toys.single, maker, { key: "k1" })
      assert.strictEqual(field(third, "state"), "succeeded")
      assert.strictEqual(third.retryAfter, null)
    }).pipe(engine())
  )

  it.effect(
    "under a used key with another body is idempotency-key-reused, before anything else",
    () =>
      Effect.gen(function* () {
        yield* call(Toys.single, maker, { key: "k1" })
        assert.strictEqual(
          yield* slug(call(Toys.single, maker, { key: "k1", by: "0" })),
          "idempotency-key-reused"
        )
        assert.strictEqual(
          yield* slug(call(Toys.single, maker, { key: "k1", id: "c2" })),
          "idempotency-key-reused"
        )
      }).pipe(engine())
  )

  it.effect("is the same in another number form, and another's under another subject", () =>
    Effect.gen(function* () {
      const first = yield* call(Toys.single, maker, { key: "k1", by: "1" })
      const mine = yield* call(Toys.single, maker, { key: "k1", by: "1" })
      const theirs = yield* call(Toys.single, other, { key: "k1", by: "1" })
      assert.strictEqual(field(first, "operationId"), field(mine, "operationId"))
      assert.notStrictEqual(field(first, "operationId"), field(theirs, "operationId"))
    }).pipe(engine())
  )

  it.effect("without a key is keyed on its body for a day, then it is a new write", () =>
    Effect.gen(function* () {
      const first = yield* call(Toys.single, maker)
      const again = yield* call(Toys.single, maker)
      assert.strictEqual(field(first, "operationId"), field(again, "operationId"))
      yield* TestClock.adjust("25 hours")
      const laterCall = yield* call(Toys.single, maker)
      assert.strictEqual(laterCall.status, 202)
      assert.notStrictEqual(field(first, "operationId"), field(laterCall, "operationId"))
    }).pipe(engine())
  )

  it.effect("that a rule refuses saves nothing and leaves its key free", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* slug(call(Toys.single, maker, { key: "k1", by: "0" })),
        "rule-refused"
      )
      const answer = yield* call(Toys.single, maker, { key: "k1", by: "2" })
      assert.strictEqual(answer.status, 202)
    }).pipe(engine())
  )

  it.effect("is denied to whoever holds none of its roles", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* slug(call(Toys.single, nobody)), "permission-denied")
      assert.strictEqual(yield* slug(call(Toys.single, ann)), "permission-denied")
    }).pipe(engine())
  )

  it.effect("lists every fault of its shape with its pointer", () =>
    Effect.gen(function* () {
      const door = yield* FourEyes
      const refused = yield* Effect.flip(
        door.submit(Toys.single, {
          caller: maker,
          identity: identity(),
          key: null,
          path: "/v1/counters/c1:add",
          query: "",
          body: Result.getOrThrow(PlainJson.parse('{"by":"1","more":true}')),
          params: { counterId: "c1" }
        })
      )
      assert.strictEqual(refused.slug, "invalid-request")
      if (refused._tag !== "Refused") return assert.fail("not a refusal")
      assert.deepStrictEqual(
        (refused.details.errors ?? []).map((fault) => fault.pointer).toSorted(),
        ["/body/by", "/body/more"]
      )
    }).pipe(engine())
  )
})

describe("a four-eyes write", () => {
  it.effect("awaits, and runs once one other person approves by key", () =>
    Effect.gen(function* () {
      const made = yield* call(Toys.double, maker)
      assert.strictEqual(made.status, 202)
      assert.strictEqual(field(made, "state"), "awaiting")
      yield* settle
      assert.strictEqual(yield* count(), 0)
      const approved = yield* approve(keyOf(made), ann)
      assert.strictEqual(approved.status, 202)
      assert.strictEqual(field(approved, "state"), "queued")
      assert.deepStrictEqual(field(approved, "signedBy"), ["ann"])
      yield* settle
      assert.strictEqual(yield* count(), 1)
    }).pipe(engine())
  )

  it.effect("runs once an approver repeats the call", () =>
    Effect.gen(function* () {
      yield* call(Toys.double, maker)
      const repeated = yield* call(Toys.double, ann)
      assert.strictEqual(field(repeated, "state"), "queued")
      const again = yield* call(Toys.double, ann)
      assert.strictEqual(again.status, 200)
      assert.strictEqual(field(again, "operationId"), field(repeated, "operationId"))
      yield* settle
      assert.strictEqual(yield* count(), 1)
    }).pipe(engine())
  )

  it.effect("is never approved by its maker, by key or by repeating, under any role", () =>
    Effect.gen(function* () {
      const made = yield* call(Toys.double, both)
      assert.strictEqual(yield* slug(approve(keyOf(made), both)), "same-approver")
      const repeated = yield* call(Toys.double, both)
      assert.strictEqual(repeated.status, 200)
      assert.strictEqual(field(repeated, "state"), "awaiting")
      yield* settle
      assert.strictEqual(yield* count(), 0)
    }).pipe(engine())
  )

  it.effect("is never approved by an auditor, whatever else that person is", () =>
    Effect.gen(function* () {
      const made = yield* call(Toys.double, maker)
      assert.strictEqual(yield* slug(approve(keyOf(made), auditor)), "auditor-never-approves")
      assert.strictEqual(yield* slug(call(Toys.double, auditor)), "auditor-never-approves")
      assert.strictEqual(yield* slug(reject(keyOf(made), auditor)), "auditor-never-approves")
      assert.strictEqual(yield* slug(approve("ak_none", auditor)), "auditor-never-approves")
    }).pipe(engine())
  )

  it.effect("refuses in the order auditor, role, record", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* slug(approve("ak_none", nobody)), "permission-denied")
      assert.strictEqual(yield* slug(approve("ak_none", ann)), "not-found")
      assert.strictEqual(yield* slug(reject("ak_none", nobody)), "permission-denied")
      assert.strictEqual(yield* slug(reject("ak_none", ann)), "not-found")
    }).pipe(engine())
  )

  it.effect("that was rejected never runs, and its call is refused until a new key", () =>
    Effect.gen(function* () {
      const made = yield* call(Toys.double, maker)
      const rejected = yield* reject(keyOf(made), ann)
      assert.strictEqual(field(rejected, "state"), "rejected")
      assert.strictEqual(field(rejected, "rejectedBy"), "ann")
      assert.strictEqual(yield* slug(call(Toys.double, maker)), "approval-rejected")
      assert.strictEqual(yield* slug(approve(keyOf(made), bob)), "approval-rejected")
      assert.strictEqual(yield* slug(call(Toys.double, ann)), "approval-rejected")
      assert.strictEqual(yield* slug(reject(keyOf(made), bob)), "approval-rejected")
      assert.strictEqual(field(yield* reject(keyOf(made), ann), "state"), "rejected")
      yield* TestClock.adjust("30 days")
      assert.strictEqual(yield* slug(call(Toys.double, maker)), "approval-rejected")
      const anew = yield* call(Toys.double, maker, { key: "k2" })
      assert.strictEqual(anew.status, 202)
      assert.notStrictEqual(keyOf(anew), keyOf(made))
    }).pipe(engine())
  )

  it.effect("is withdrawn by its maker without the approver role", () =>
    Effect.gen(function* () {
      const made = yield* call(Toys.double, maker)
      assert.strictEqual(yield* slug(reject(keyOf(made), other)), "permission-denied")
      assert.strictEqual(field(yield* reject(keyOf(made), maker), "state"), "rejected")
    }).pipe(engine())
  )

  it.effect("is logged as rejected by an approver and as withdrawn by its maker", () =>
    Effect.gen(function* () {
      for (const [key, by] of [
        ["k1", ann],
        ["k2", maker]
      ] as const) {
        yield* reject(keyOf(yield* call(Toys.double, maker, { key })), by)
      }
      const feed = yield* Feed
      const { records } = yield* feed.readAudit({ order: "asc", limit: 100 })
      assert.deepStrictEqual(
        records
          .map(
            ({ text }) => JSON.parse(text) as { readonly stage: string; readonly detail: unknown }
          )
          .filter(({ stage }) => stage === "rejected")
          .map(({ detail }) => detail),
        [{ how: "reject" }, { how: "withdraw" }]
      )
    }).pipe(engine())
  )

  it.effect("of two approvers waits for the second, and counts one person once", () =>
    Effect.gen(function* () {
      const made = yield* call(Toys.triple, maker)
      const first = yield* approve(keyOf(made), ann)
      assert.strictEqual(first.status, 202)
      assert.strictEqual(field(first, "state"), "awaiting")
      const again = yield* approve(keyOf(made), ann)
      assert.deepStrictEqual([again.status, again.replayed], [200, true])
      assert.strictEqual(field(again, "state"), "awaiting")
      yield* settle
      assert.strictEqual(yield* count(), 0)
      const second = yield* approve(keyOf(made), bob)
      assert.strictEqual(field(second, "state"), "queued")
      yield* settle
      assert.strictEqual(yield* count(), 1)
      assert.strictEqual((yield* approve(keyOf(made), ann)).status, 200)
      assert.strictEqual(yield* slug(reject(keyOf(made), ann)), "approval-decided")
    }).pipe(engine())
  )

  it.effect(
    "is dated by no offset: at one it reads as it stands, as of an instant as it stood then",
    () =>
      Effect.gen(function* () {
        const records = yield* Records
        yield* TestClock.adjust(1_000)
        const made = yield* call(Toys.triple, maker)
        const instant = yield* Instant.now
        yield* TestClock.adjust(1_000)
        yield* approve(keyOf(made), ann)
        const latest = yield* records.get(Approval.approvals, keyOf(made))
        assert.strictEqual(latest.createdAt, instant)
        assert.strictEqual(Approval.signedBy(latest).length, 1)
        const at = (select: Pin.ResolvedPin["select"]) => {
          const pin = { offset: Offset.zero, ledgerTime: null, judgedAt: instant, select }
          return records.get(Approval.approvals, keyOf(made), pin)
        }
        assert.deepStrictEqual(yield* at({ by: "offset" }), latest)
        const before = yield* at({ by: "instant", instant })
        assert.deepStrictEqual(Approval.signedBy(before), [])
        assert.strictEqual(before.version, 1)
      }).pipe(engine())
  )

  it.effect("made twice by one person under two keys is one action", () =>
    Effect.gen(function* () {
      const made = yield* call(Toys.double, maker, { key: "k1" })
      const again = yield* call(Toys.double, maker, { key: "k2" })
      assert.strictEqual(again.status, 200)
      assert.strictEqual(keyOf(made), keyOf(again))
      assert.strictEqual(
        yield* slug(call(Toys.double, maker, { key: "k2", by: "7" })),
        "idempotency-key-reused"
      )
    }).pipe(engine())
  )

  it.effect("is a new action for another maker, and then a keyless repeat is ambiguous", () =>
    Effect.gen(function* () {
      const made = yield* call(Toys.double, maker, { key: "k1" })
      const theirs = yield* call(Toys.double, other, { key: "k2" })
      assert.notStrictEqual(keyOf(made), keyOf(theirs))
      assert.strictEqual(yield* slug(call(Toys.double, ann)), "approval-ambiguous")
      const chosen = yield* call(Toys.double, ann, { key: "k2" })
      assert.strictEqual(field(chosen, "maker"), "other")
    }).pipe(engine())
  )

  it.effect("checks the rules again when approved and runs what is stored", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* slug(call(Toys.double, maker, { by: "0" })), "rule-refused")
      const made = yield* call(Toys.double, maker, { by: "5" })
      yield* approve(keyOf(made), ann)
      yield* settle
      assert.strictEqual(yield* count(), 5)
    }).pipe(engine())
  )

  it.effect("lapses where the deployment says so, and is decided then", () =>
    Effect.gen(function* () {
      const made = yield* call(Toys.double, maker)
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(yield* slug(approve(keyOf(made), ann)), "approval-decided")
      assert.strictEqual(yield* slug(reject(keyOf(made), ann)), "approval-decided")
    }).pipe(
      Effect.provide(world({ operations: Toys.toys, settings: { approvalExpiry: 3_600_000 } }))
    )
  )

  it.effect("is one operation when twenty approve at once", () =>
    Effect.gen(function* () {
      const made = yield* call(Toys.double, maker)
      const answers = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, index) => person(`approver-${index}`, "approver")),
        (caller) => slug(approve(keyOf(made), caller)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(answers.filter((answer) => answer === "no refusal").length, 1)
      assert.strictEqual(answers.filter((answer) => answer === "approval-decided").length, 19)
      yield* settle
      assert.strictEqual(yield* count(), 1)
    }).pipe(engine())
  )
})

describe("the same body with another If-Match", () => {
  const replacing = { operations: [Toys.replacing] }

  it.effect("is another write of its maker, under another key and without one", () =>
    Effect.gen(function* () {
      for (const sent of [true, false]) {
        const id = sent ? "keyed" : "keyless"
        const make = (ifMatch: string, key: string) =>
          call(Toys.replacing, maker, { id, ifMatch, key: sent ? key : null })
        const first = yield* make("1", "k1")
        const second = yield* make("2", "k2")
        assert.deepStrictEqual([id, first.status, second.status], [id, 202, 202])
        assert.notStrictEqual(keyOf(first), keyOf(second))
        const again = yield* make("2", "k3")
        assert.deepStrictEqual([again.status, keyOf(again)], [200, keyOf(second)])
      }
    }).pipe(Effect.provide(world(replacing)))
  )

  it.effect(
    "is signed by no approver that replaces another version, but by one who names none",
    () =>
      Effect.gen(function* () {
        const made = yield* call(Toys.replacing, maker, { ifMatch: "1" })
        const other = call(Toys.replacing, ann, { ifMatch: "2" })
        assert.strictEqual(yield* slug(other), "permission-denied")
        const signed = yield* call(Toys.replacing, ann, {})
        assert.strictEqual(signed.status, 202)
        assert.strictEqual(field(signed, "actionKey"), keyOf(made))
      }).pipe(Effect.provide(world(replacing)))
  )

  it.effect("is not refused because an action that replaced another version was rejected", () =>
    Effect.gen(function* () {
      const made = yield* call(Toys.replacing, maker, { ifMatch: "1" })
      yield* reject(keyOf(made), ann)
      const again = { ifMatch: "1" }
      assert.strictEqual(yield* slug(call(Toys.replacing, maker, again)), "approval-rejected")
      assert.strictEqual(yield* slug(call(Toys.replacing, ann, again)), "approval-rejected")
      assert.strictEqual((yield* call(Toys.replacing, maker, { ifMatch: "2" })).status, 202)
    }).pipe(Effect.provide(world(replacing)))
  )
})

describe("fifty at once", () => {
  it.effect("under one key are one operation, and two bodies never both", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? "1" : "2")),
        (by) => Effect.result(call(Toys.single, maker, { key: "k", by })),
        { concurrency: "unbounded" }
      )
      const statuses = answers.map((answer) =>
        Result.isSuccess(answer) ? answer.success.status : answer.failure.slug
      )
      assert.strictEqual(statuses.filter((status) => status === 202).length, 1)
      assert.strictEqual(statuses.filter((status) => status === 200).length, 24)
      assert.strictEqual(
        statuses.filter((status) => status === "idempotency-key-reused").length,
        25
      )
    }).pipe(engine())
  )
})
