/**
 * Four eyes and idempotency under any people in any order: a naive model of
 * docs/contract/four-eyes.md beside the engine.
 */
import {
  type Caller,
  type Engine,
  type FourEyes,
  type Operation,
  Records,
  type Refusal
} from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Effect, Result } from "effect"
import * as fc from "fast-check"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { approvals } from "#core/writes/Approval.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Toys from "../engine/toys.ts"
import { world } from "../engine/world.ts"
import { runsOf } from "../long-run.ts"

const people: ReadonlyArray<Caller.Caller> = [
  Calls.person("olga", "operator"),
  Calls.person("otto", "compliance", "operator"),
  Calls.person("both", "operator", "approver"),
  Calls.person("ann", "approver"),
  Calls.person("bob", "approver", "risk"),
  Calls.person("eve", "approver", "auditor"),
  Calls.person("odd", "operator", "auditor"),
  Calls.person("all", "operator", "approver", "auditor"),
  Calls.person("mo", "monitor")
]
const writes: ReadonlyArray<Operation.Operation> = [Toys.single, Toys.double, Toys.triple]
const keys = [null, null, "k1", "k2", "k3"] as const
const hour = 3_600_000
/** A long run is a flag. */
const runs = runsOf(150)

type Step =
  | {
      readonly do: "call"
      readonly who: number
      readonly write: number
      readonly id: string
      readonly by: number
      readonly key: string | null
    }
  | {
      readonly do: "approve"
      readonly who: number
      readonly action: number
      readonly key: string | null
    }
  | {
      readonly do: "reject"
      readonly who: number
      readonly action: number
      readonly key: string | null
    }
  | { readonly do: "wait"; readonly hours: number }
  | { readonly do: "settle" }

const who = fc.nat({ max: people.length - 1 })
const action = fc.nat({ max: 5 })
const key = fc.constantFrom(...keys)
/** Few ids and bodies, so that the same request comes again and again. */
const call = fc.record({
  do: fc.constant("call" as const),
  who,
  write: fc.constantFrom(0, 1, 1, 2, 2),
  id: fc.constantFrom("c1", "c1", "c1", "c1", "c2"),
  by: fc.constantFrom(1, 1, 1, 1, 1, 1, 2, 0),
  key
})
const approve = fc.record({
  do: fc.constant("approve" as const),
  who,
  action,
  key: fc.constantFrom(null, null, null, ...keys)
})
const reject = fc.record({ do: fc.constant("reject" as const), who, action, key })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: call },
  { weight: 6, arbitrary: approve },
  { weight: 1, arbitrary: reject },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("wait" as const), hours: fc.constantFrom(1, 11, 25) })
  },
  { weight: 2, arbitrary: fc.constant({ do: "settle" as const }) }
)

// ---- the naive book -----------------------------------------------------------------------------

interface Action {
  readonly key: string
  readonly write: number
  readonly print: string
  readonly maker: string
  readonly under: string
  readonly made: number
  state: "awaiting" | "approved" | "rejected" | "lapsed"
  readonly signers: Array<string>
  operationId: string
}

/** Binding of a sent key: an operation or an action, and the call's fingerprint. */
interface Bound {
  readonly print: string
  readonly action?: Action
  readonly operationId?: string
  readonly until: number
}

/** Expected answer: a refusal's slug, or a status with its record. */
type Expected =
  | { readonly slug: string }
  | { readonly status: 200 | 202; readonly action?: Action | "new"; readonly operation?: string }

const required = (write: number) => writes[write]?.approvers ?? 0
const bodyWindow = 24 * hour

class Book {
  readonly actions: Array<Action> = []
  readonly bound = new Map<string, Bound>()
  now = 0
  readonly expiry: number | null
  constructor(expiry: number | null) {
    this.expiry = expiry
  }

  /** Time makes an old action lapse. */
  pass(millis: number) {
    this.now += millis
    for (const one of this.actions) {
      if (one.state === "awaiting" && this.expiry !== null && this.now - one.made >= this.expiry) {
        one.state = "lapsed"
      }
    }
  }

  expectedFor(one: Action): Expected {
    if (one.state === "awaiting") return { status: 200, action: one }
    if (one.state === "approved") return { status: 200, operation: one.operationId }
    return { slug: one.state === "rejected" ? "approval-rejected" : "approval-decided" }
  }

  sign(one: Action, sub: string): Expected {
    one.signers.push(sub)
    if (one.signers.length < required(one.write)) return { status: 202, action: one }
    one.state = "approved"
    return { status: 202, operation: "new" }
  }

  expect(said: Extract<Step, { do: "call" }>): Expected {
    const caller = people[said.who] as Caller.Caller
    const operation = writes[said.write] as Operation.Operation
    const print = `${said.write} ${said.id} ${said.by}`
    const maker = operation.makers.some((role) => caller.roles.includes(role))
    const approver = caller.roles.includes("approver")
    if (!maker && !(approver && operation.approvers > 0)) return { slug: "permission-denied" }
    const effective = said.key ?? `b:${print}`
    const name = `${caller.sub} ${effective}`
    const bound = this.bound.get(name)
    if (operation.approvers === 0) {
      if (bound !== undefined && this.now <= bound.until) {
        if (bound.print !== print) return { slug: "idempotency-key-reused" }
        return { status: 200, operation: bound.operationId ?? "" }
      }
      return said.by === 0 ? { slug: "rule-refused" } : { status: 202, operation: "new" }
    }
    return this.shared({ said, print, caller, maker, approver, effective, bound })
  }

  /** The table of docs/contract/four-eyes.md#a-call-on-a-four-eyes-route, row by row. */
  shared(act: {
    readonly said: Extract<Step, { do: "call" }>
    readonly print: string
    readonly caller: Caller.Caller
    readonly maker: boolean
    readonly approver: boolean
    readonly effective: string
    readonly bound: Bound | undefined
  }): Expected {
    const { said, print, caller, bound } = act
    const newestFirst = this.actions.toReversed()
    // a
    if (bound !== undefined && bound.print !== print) return { slug: "idempotency-key-reused" }
    // b: a key made of the body binds for a day, and for good once its action was rejected
    const mine = bound?.action
    if (mine !== undefined) {
      const binds =
        said.key !== null || mine.state === "rejected" || this.now - mine.made < bodyWindow
      if (binds) return this.expectedFor(mine)
    }
    const same = newestFirst.filter((one) => one.print === print)
    // c
    const own = same.find((one) => one.maker === caller.sub && one.state === "awaiting")
    const bind = (one: Action) =>
      this.bound.set(`${caller.sub} ${act.effective}`, { print, action: one, until: Infinity })
    if (own !== undefined) {
      bind(own)
      return { status: 200, action: own }
    }
    const others = same.filter((one) => one.maker !== caller.sub)
    // any key that the maker has used for it
    const named = others.filter(
      (one) => said.key === null || this.bound.get(`${one.maker} ${said.key}`)?.action === one
    )
    if (act.approver) {
      // d
      const awaiting = named.filter((one) => one.state === "awaiting")
      if (awaiting.length > 0 && caller.roles.includes("auditor")) {
        return { slug: "auditor-never-approves" }
      }
      if (awaiting.length > 1) return { slug: "approval-ambiguous" }
      const [one] = awaiting
      if (one !== undefined) {
        if (said.key !== null) bind(one)
        if (one.signers.includes(caller.sub)) return { status: 200, action: one }
        return this.sign(one, caller.sub)
      }
      // e
      const ran = named.find((one) => one.state === "approved" && one.signers.includes(caller.sub))
      if (ran !== undefined) return { status: 200, operation: ran.operationId }
    }
    // f
    if (!act.maker && same.some((one) => one.state === "rejected")) {
      return { slug: "approval-rejected" }
    }
    // h, g
    if (!act.maker) return { slug: "permission-denied" }
    return said.by === 0 ? { slug: "rule-refused" } : { status: 202, action: "new" }
  }

  /** A key stays bound to its first call, and is judged before the record is looked up. */
  used(caller: Caller.Caller, key: string, print: string): boolean {
    const bound = this.bound.get(`${caller.sub} ${key}`)
    return bound !== undefined && bound.print !== print
  }

  approve(caller: Caller.Caller, one: Action | undefined, key: string | null): Expected {
    if (caller.roles.includes("auditor")) return { slug: "auditor-never-approves" }
    if (!caller.roles.includes("approver")) return { slug: "permission-denied" }
    const print = `approve ${one?.key}`
    if (key !== null && this.used(caller, key, print)) return { slug: "idempotency-key-reused" }
    const expected = this.approved(caller, one)
    if (key !== null && one !== undefined && !("slug" in expected)) {
      this.bound.set(`${caller.sub} ${key}`, { print, action: one, until: Infinity })
    }
    return expected
  }

  approved(caller: Caller.Caller, one: Action | undefined): Expected {
    if (one === undefined) return { slug: "not-found" }
    if (one.maker === caller.sub) return { slug: "same-approver" }
    if (one.signers.includes(caller.sub)) return this.expectedFor(one)
    if (one.state !== "awaiting") {
      return { slug: one.state === "rejected" ? "approval-rejected" : "approval-decided" }
    }
    return this.sign(one, caller.sub)
  }

  reject(caller: Caller.Caller, one: Action | undefined, key: string | null): Expected {
    const asks = ["approver", "operator", "compliance"] as const
    if (!asks.some((role) => caller.roles.includes(role))) return { slug: "permission-denied" }
    const print = `reject ${one?.key}`
    const effective = key ?? `b:${print}`
    if (this.used(caller, effective, print)) return { slug: "idempotency-key-reused" }
    if (one === undefined) return { slug: "not-found" }
    if (this.bound.has(`${caller.sub} ${effective}`)) return { status: 200, action: one }
    if (one.maker !== caller.sub) {
      if (caller.roles.includes("auditor")) return { slug: "auditor-never-approves" }
      if (!caller.roles.includes("approver")) return { slug: "permission-denied" }
    }
    if (one.state === "approved" || one.state === "lapsed") return { slug: "approval-decided" }
    if (one.state === "rejected") return { slug: "approval-rejected" }
    one.state = "rejected"
    this.bound.set(`${caller.sub} ${effective}`, { print, action: one, until: Infinity })
    return { status: 200, action: one }
  }
}

// ---- the door beside the book -------------------------------------------------------------------

const calling = (said: Extract<Step, { do: "call" }>) =>
  Calls.submit(writes[said.write] as Operation.Operation, people[said.who] as Caller.Caller, {
    params: { counterId: said.id },
    body: `{"by":${said.by}}`,
    key: said.key
  })

const askedOf = (
  said: Step,
  actionKey: string
): Effect.Effect<
  void,
  Refusal.Refused | Refusal.Unavailable,
  FourEyes | Engine.Engine | Records
> => {
  switch (said.do) {
    case "call":
      return Effect.asVoid(calling(said))
    case "approve":
      return Effect.asVoid(Calls.approve(actionKey, people[said.who] as Caller.Caller, said.key))
    case "reject":
      return Effect.asVoid(Calls.reject(actionKey, people[said.who] as Caller.Caller, said.key))
    case "wait":
      return TestClock.adjust(said.hours * hour)
    case "settle":
      return Calls.settle
  }
}

const everything = Effect.gen(function* () {
  const records = yield* Records
  const limit = 1_000
  const all = yield* records.list(operations, { limit })
  const awaiting = yield* records.list(approvals, { limit })
  const counted = yield* records.list(Toys.counters, { limit })
  return {
    operations: all.map((row) => row.record),
    approvals: awaiting.map((row) => row.record),
    counters: counted.map((row) => row.record)
  }
})

const rank = { queued: 0, running: 1, succeeded: 2, failed: 2 }

/** Invariants of the store under any acts of people; the answers of calls are not used. */
const holds = Effect.fnUntraced(function* (seen: Map<string, number>) {
  const { operations, approvals, counters } = yield* everything
  for (const one of operations) {
    expect(rank[one.state], "a state went back").toBeGreaterThanOrEqual(
      seen.get(one.operationId) ?? 0
    )
    seen.set(one.operationId, rank[one.state])
  }
  for (const one of approvals) {
    const signers = one.signatures.map(({ sub }) => sub)
    const auditors = people.filter(({ roles }) => roles.includes("auditor")).map(({ sub }) => sub)
    const ran = operations.filter(({ actionKey }) => actionKey === one.actionKey)
    expect(signers, "the maker signed").not.toContain(one.maker)
    expect(
      signers.filter((sub) => auditors.includes(sub)),
      "an auditor signed"
    ).toEqual([])
    expect(new Set(signers).size, "somebody signed twice").toBe(signers.length)
    expect(ran.length, "an action ran").toBe(one.state === "approved" ? 1 : 0)
    expect(signers.length === one.required, "it runs by its signatures alone").toBe(
      one.state === "approved"
    )
  }
  for (const one of operations) {
    expect(one.actionKey === null, "a four-eyes write ran without its action").toBe(
      one.kind === Toys.single.kind
    )
  }
  const naive = new Map<string, number>()
  for (const one of operations) {
    if (one.state !== "succeeded") continue
    const { by } = one.request as unknown as { by: unknown }
    naive.set(one.resource.id, (naive.get(one.resource.id) ?? 0) + Number(String(by)))
  }
  for (const [id, count] of naive) {
    expect(counters.find((one) => one.counterId === id)?.count, "each write ran once").toBe(count)
  }
})

const compare = Effect.fnUntraced(function* (book: Book, said: Step, actionKey: string) {
  const caller = people["who" in said ? said.who : 0] as Caller.Caller
  // Of two actions made at one instant none is the newest, and a call may be answered with either.
  yield* TestClock.adjust(1)
  book.pass(1)
  const chosen = book.actions.find((one) => one.key === actionKey)
  if (said.do === "wait" || said.do === "settle") {
    yield* askedOf(said, actionKey)
    if (said.do === "wait") book.pass(said.hours * hour)
    return
  }
  if (said.do === "reject") {
    const expected = book.reject(caller, chosen, said.key)
    const got = yield* Calls.slug(Calls.reject(actionKey, caller, said.key))
    expect(got).toBe("slug" in expected ? expected.slug : "no refusal")
    return
  }
  const expected = said.do === "call" ? book.expect(said) : book.approve(caller, chosen, said.key)
  const answer = yield* Effect.result(
    said.do === "call" ? calling(said) : Calls.approve(actionKey, caller, said.key)
  )
  if (Result.isFailure(answer)) {
    expect({ slug: answer.failure.slug }).toEqual(expected)
    return
  }
  if ("slug" in expected) return expect(answer.success.status, expected.slug).toBe(0)
  expect(answer.success.status).toBe(expected.status)
  remember(book, { said, expected, answer: answer.success, chosen })
})

/** Compares the answer with the model, and takes ids that the engine made into the model. */
const remember = (
  book: Book,
  step: {
    readonly said: Step
    readonly expected: Exclude<Expected, { slug: string }>
    readonly answer: { readonly value: Parameters<typeof Calls.field>[0]["value"] }
    readonly chosen: Action | undefined
  }
) => {
  const { said, expected, answer } = step
  const operationId = Calls.field(answer, "operationId")
  const actionKey = Calls.field(answer, "actionKey")
  if (expected.operation === undefined) {
    expect(operationId).toBe(null)
    if (expected.action !== "new") return expect(actionKey).toBe(expected.action?.key)
  } else if (expected.operation !== "new") return expect(operationId).toBe(expected.operation)
  if (said.do !== "call" || expected.operation === "new") {
    const ran = book.actions.find((one) => one.key === actionKey)
    if (ran !== undefined) {
      ran.operationId = String(operationId)
      return
    }
  }
  if (said.do !== "call") return
  const sub = people[said.who]?.sub ?? ""
  const print = `${said.write} ${said.id} ${said.by}`
  const under = said.key ?? `b:${print}`
  if (expected.operation === "new") {
    const until = said.key === null ? book.now + bodyWindow : Infinity
    book.bound.set(`${sub} ${under}`, { print, operationId: String(operationId), until })
    return
  }
  const made: Action = {
    key: String(actionKey),
    write: said.write,
    print,
    maker: sub,
    under,
    made: book.now,
    state: "awaiting",
    signers: [],
    operationId: ""
  }
  book.actions.push(made)
  book.bound.set(`${sub} ${under}`, { print, action: made, until: Infinity })
}

const named = (said: Step, actions: ReadonlyArray<{ readonly key: string }>): string =>
  "action" in said ? (actions[said.action % Math.max(1, actions.length)]?.key ?? "ak_none") : ""

const expiries = fc.constantFrom(null, null, 36 * hour)
const inWorld = (expiry: number | null) =>
  Effect.provide(world({ operations: Toys.toys, settings: { approvalExpiry: expiry } }))

describe("four eyes under any people in any order", () => {
  it("answers every call as the tables of the contract say, and runs nothing they do not", () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), expiries, (steps, expiry) =>
        Calls.runCase(
          Effect.gen(function* () {
            const book = new Book(expiry)
            const seen = new Map<string, number>()
            for (const said of steps) {
              yield* compare(book, said, named(said, book.actions))
              yield* holds(seen)
            }
            yield* Calls.settle
            yield* holds(seen)
          }).pipe(inWorld(expiry))
        )
      ),
      { numRuns: runs }
    ))

  it("runs an action at most once, by other people's signatures, when calls come all at once", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 8, size: "max" }), {
          maxLength: 6,
          size: "max"
        }),
        expiries,
        (bursts, expiry) =>
          Calls.runCase(
            Effect.gen(function* () {
              const records = yield* Records
              const seen = new Map<string, number>()
              for (const burst of bursts) {
                const rows = yield* records.list(approvals, { limit: 100 })
                const actions = rows.map(({ record }) => ({ key: record.actionKey }))
                yield* Effect.forEach(
                  burst,
                  (said) =>
                    Effect.andThen(
                      Effect.yieldNow,
                      Calls.slug(askedOf(said, named(said, actions)))
                    ),
                  { concurrency: "unbounded" }
                )
                yield* holds(seen)
              }
              yield* Calls.settle
              yield* holds(seen)
              const { operations } = yield* everything
              expect(operations.filter(({ finishedAt }) => finishedAt === null)).toEqual([])
            }).pipe(inWorld(expiry))
          )
      ),
      { numRuns: runs }
    ))

  it("makes one action of one person's request, however often it comes at once", () =>
    fc.assert(
      fc.asyncProperty(fc.constantFrom(null, "k1"), fc.integer({ min: 2, max: 20 }), (key, times) =>
        Calls.runCase(
          Effect.gen(function* () {
            const said = { do: "call", who: 0, write: 1, id: "c1", by: 1, key } as const
            const answers = yield* Effect.forEach(
              Array.from({ length: times }),
              () => calling(said),
              { concurrency: "unbounded" }
            )
            const keys = answers.map((answer) => String(Calls.field(answer, "actionKey")))
            expect(new Set(keys).size).toBe(1)
            expect(answers.filter(({ status }) => status === 202).length).toBe(1)
            expect((yield* everything).approvals.length).toBe(1)
          }).pipe(inWorld(null))
        )
      ),
      { numRuns: 30 }
    ))

  it("leaves the key of a refused call free, whoever else calls at the same time", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ write: fc.constantFrom(0, 1), by: fc.constantFrom(0, 1) }), {
          minLength: 2,
          maxLength: 12,
          size: "max"
        }),
        (calls) =>
          Calls.runCase(
            Effect.gen(function* () {
              const saying = (one: (typeof calls)[number], index: number, by: number) =>
                calling({
                  do: "call",
                  who: 0,
                  write: one.write,
                  id: `c${index}`,
                  by,
                  key: `k${index}`
                })
              const slugs = yield* Effect.forEach(
                calls,
                (one, index) => Calls.slug(saying(one, index, one.by)),
                { concurrency: "unbounded" }
              )
              expect(slugs).toEqual(
                calls.map(({ by }) => (by === 0 ? "rule-refused" : "no refusal"))
              )
              for (const [index, one] of calls.entries()) {
                const answer = yield* saying(one, index, 1)
                expect(answer.status).toBe(one.by === 0 ? 202 : 200)
              }
            }).pipe(inWorld(null))
          )
      ),
      { numRuns: 60 }
    ))

  it("keys a call without a key on its body for a day, an approved action's too", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const said = { do: "call", who: 0, write: 1, id: "c1", by: 1, key: null } as const
        const first = yield* calling(said)
        yield* Calls.approve(String(Calls.field(first, "actionKey")), people[3] as Caller.Caller)
        yield* TestClock.adjust(24 * hour - 1)
        const same = yield* calling(said)
        expect([same.status, Calls.field(same, "actionKey")]).toEqual([
          200,
          Calls.field(first, "actionKey")
        ])
        yield* TestClock.adjust(1)
        const laterCall = yield* calling(said)
        expect(laterCall.status).toBe(202)
        expect(Calls.field(laterCall, "actionKey")).not.toBe(Calls.field(first, "actionKey"))
      }).pipe(inWorld(null))
    ))

  it("judges the stored request again when it is signed, and lets it wait when it may not run", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const capped = (who: number, key: string) =>
          Calls.submit(Toys.capped, people[who] as Caller.Caller, {
            params: { counterId: "c1" },
            body: '{"by":2}',
            key
          })
        const one = yield* capped(0, "k1")
        const two = yield* capped(1, "k2")
        yield* Calls.approve(String(Calls.field(one, "actionKey")), people[3] as Caller.Caller)
        yield* Calls.settle
        const key = String(Calls.field(two, "actionKey"))
        expect(yield* Calls.slug(Calls.approve(key, people[4] as Caller.Caller))).toBe(
          "rule-refused"
        )
        const records = yield* Records
        const action = yield* records.get(approvals, key)
        expect([action.state, action.signatures]).toEqual(["awaiting", []])
      }).pipe(Effect.provide(world({ operations: [...Toys.toys, Toys.capped] })))
    ))

  it("answers a write with the very times that its later reads answer", () =>
    Calls.runCase(
      Effect.gen(function* () {
        // One after another while the clock stands still: their stamps are later than their calls.
        const answers = yield* Effect.forEach(["k1", "k2", "k3"] as const, (key) =>
          calling({ do: "call", who: 0, write: 0, id: "c1", by: 1, key })
        )
        const records = yield* Records
        for (const answer of answers) {
          const id = String(Calls.field(answer, "operationId"))
          const { createdAt } = yield* records.get(operations, id)
          expect(Calls.field(answer, "createdAt")).toBe(Instant.format(createdAt))
        }
      }).pipe(inWorld(null))
    ))
})
