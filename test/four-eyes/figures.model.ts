/**
 * Signatures for figures that move: a naive model of docs/contract/four-eyes.md#figures beside the
 * engine.
 */
import { createHash } from "node:crypto"
import { type Caller, EventQueries, type Operation, Records } from "@bursar/engine-core"
import { Effect, Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { approvals } from "#core/writes/Approval.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Figured from "../engine/figured-toys.ts"
import { world } from "../engine/world.ts"
import { runsOf } from "../long-run.ts"

const olga = Calls.person("olga", "operator")
const approvers: ReadonlyArray<Caller.Caller> = ["ann", "bob", "cy"].map((sub) =>
  Calls.person(sub, "approver")
)
const runs = runsOf(120)

type Seen = "nothing" | "shown" | "older"
type Step =
  | { readonly do: "make"; readonly exact: boolean; readonly by: number }
  | {
      readonly do: "approve"
      readonly who: number
      readonly action: number
      readonly key: string | null
      readonly seen: Seen
    }
  | { readonly do: "price"; readonly by: number }
  | { readonly do: "settle" }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("make" as const),
      exact: fc.boolean(),
      by: fc.integer({ min: 1, max: 3 })
    })
  },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant("approve" as const),
      who: fc.nat(2),
      action: fc.nat(2),
      key: fc.constantFrom(null, null, "k1", "k2"),
      seen: fc.constantFrom<Seen>("nothing", "shown", "shown", "older")
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("price" as const), by: fc.constantFrom(1, 4, -4, 30) })
  },
  { weight: 3, arbitrary: fc.constant({ do: "settle" as const }) }
)

// ---- the naive book -----------------------------------------------------------------------------

interface Action {
  readonly key: string
  readonly exact: boolean
  readonly by: number
  /** The figures that await signatures, and those that did before. */
  price: number
  older: number
  signers: Array<string>
  state: "awaiting" | "approved" | "ran"
  requests: number
}

const figuresAt = ({ by, exact }: Pick<Action, "by" | "exact">, price: number) =>
  exact ? `{"point":"point-${price}","total":"${by * price}"}` : `{"total":"${by * price}"}`

/** The rule of docs/contract/four-eyes.md#figures by other code than the engine's. */
const hashOf = (text: string) =>
  createHash("sha256").update(`bursar-figures-v1\n${text}`).digest("hex")

const moved = (action: Action, price: number): boolean =>
  action.exact
    ? price !== action.price
    : Math.abs(price - action.price) * 10 > Math.abs(action.price)

class Book {
  readonly actions: Array<Action> = []
  /** Each approver's calls that were answered, by key or else by action: a repeat signs no other figures. */
  readonly calls = new Map<string, Action>()
  price = 100

  reopen(action: Action) {
    action.older = action.price
    action.price = this.price
    action.signers = []
    action.state = "awaiting"
    action.requests += 1
  }

  approve(said: Extract<Step, { do: "approve" }>, action: Action): string {
    const name = said.key === null ? `${said.who} of ${action.key}` : `${said.who} ${said.key}`
    const earlier = this.calls.get(name)
    if (earlier !== undefined && earlier !== action) return "idempotency-key-reused"
    const answer = this.sign(said, action, earlier !== undefined)
    if (answer === "no refusal" || answer === "figures-moved") this.calls.set(name, action)
    return answer
  }

  sign({ seen, who }: Extract<Step, { do: "approve" }>, action: Action, isRepeat: boolean): string {
    const sub = approvers[who]?.sub ?? ""
    if (action.signers.includes(sub)) return "no refusal"
    if (action.state !== "awaiting") return "approval-decided"
    if (isRepeat && seen === "nothing") return "figures-moved"
    if (moved(action, this.price)) {
      this.reopen(action)
      return "figures-moved"
    }
    if (seen === "older" && action.older !== action.price) return "figures-moved"
    action.signers.push(sub)
    if (action.signers.length === (action.exact ? 2 : 1)) action.state = "approved"
    return "no refusal"
  }

  settle() {
    for (const action of this.actions) {
      if (action.state !== "approved") continue
      if (moved(action, this.price)) this.reopen(action)
      else action.state = "ran"
    }
  }
}

// ---- the door beside the book -------------------------------------------------------------------

const writeOf = ({ exact }: Pick<Action, "exact">): Operation.Operation =>
  exact ? Figured.exact : Figured.near

const make = (action: Pick<Action, "by" | "exact">, nth: number) =>
  Effect.map(
    Calls.submit(writeOf(action), olga, {
      params: { counterId: `c${nth}` },
      body: `{"by":${action.by}}`,
      key: `m${nth}`
    }),
    (answer) => String(Calls.field(answer, "actionKey"))
  )

/** The refusal's check where it has one, else its slug. */
const outcome = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), (result) => {
    if (Result.isSuccess(result)) return "no refusal"
    const { slug, details } = result.failure as unknown as {
      readonly slug: string
      readonly details?: { readonly gate?: string; readonly check?: string }
    }
    if (details?.check !== "figures-moved") return slug
    return details.gate === "four-eyes" ? details.check : `at gate ${details.gate}`
  })

const everything = Effect.gen(function* () {
  const records = yield* Records
  const all = yield* records.list(operations, { limit: 1_000 })
  const acted = yield* records.list(approvals, { limit: 1_000 })
  return {
    operations: all.map(({ record }) => record),
    approvals: acted.map(({ record }) => record)
  }
})

/** Invariants of the store under any acts of people and any moves of the price. */
const holds = Effect.gen(function* () {
  const all = yield* everything
  for (const action of all.approvals) {
    const ran = all.operations.filter(({ actionKey }) => actionKey === action.actionKey)
    expect(ran.filter(({ state }) => state === "succeeded").length).toBeLessThanOrEqual(1)
    expect(ran.filter(({ state }) => state !== "failed").length).toBe(
      action.state === "approved" ? 1 : 0
    )
    for (const signature of action.signatures) {
      expect(signature.figuresHash, "a signature is for other figures").toBe(action.figuresHash)
    }
    expect(new Set(action.signatures.map(({ sub }) => sub)).size).toBe(action.signatures.length)
  }
  for (const one of all.operations) {
    if (one.state !== "succeeded") continue
    const { total } = one.result as unknown as { readonly total: unknown }
    const signed = Number(one.figures?.["total"])
    const off = Math.abs(Number(String(total)) - signed)
    expect(off, "what ran is not what was signed").toBeLessThanOrEqual(
      one.kind === Figured.exact.kind ? 0 : signed / 10
    )
    expect(one.signedBy?.length).toBe(one.required)
  }
})

const taken = Effect.fnUntraced(function* (book: Book, said: Step) {
  switch (said.do) {
    case "make": {
      const key = yield* make(said, book.actions.length)
      const { exact, by } = said
      const at = { price: book.price, older: book.price }
      const fresh = { signers: [], state: "awaiting" as const, requests: 1 }
      book.actions.push({ key, exact, by, ...at, ...fresh })
      return
    }
    case "price":
      yield* Figured.movePrice(said.by)
      book.price += said.by
      return
    case "settle":
      yield* Calls.settle
      return book.settle()
    case "approve": {
      const action = book.actions[said.action % Math.max(1, book.actions.length)]
      if (action === undefined) return
      const at = { nothing: null, shown: action.price, older: action.older }[said.seen]
      const seen = at === null ? null : hashOf(figuresAt(action, at))
      const expected = book.approve(said, action)
      const who = approvers[said.who] as Caller.Caller
      expect(yield* outcome(Calls.approve(action.key, who, said.key, seen))).toBe(expected)
    }
  }
})

/** Every action stands as the book says, with the very figures and the hash of its own reckoning. */
const stands = Effect.fnUntraced(function* (book: Book) {
  const records = yield* Records
  for (const one of book.actions) {
    const kept = yield* records.get(approvals, one.key)
    expect(kept.state).toBe(one.state === "awaiting" ? "awaiting" : "approved")
    expect(kept.signatures.map(({ sub }) => sub)).toEqual(one.signers)
    expect(kept.figuresHash).toBe(hashOf(figuresAt(one, one.price)))
  }
})

const announced = Effect.gen(function* () {
  const feed = yield* EventQueries.EventQueries
  const { value } = yield* feed.page({
    caller: olga,
    params: { type: ["approval.requested"] },
    limit: 1000
  })
  return value.length
})

/** Makes a step's call; its answer is not judged here. */
const makeCall = Effect.fnUntraced(function* (
  said: Step,
  step: { readonly nth: number; readonly action: string }
) {
  switch (said.do) {
    case "make":
      yield* make(said, step.nth)
      return
    case "price":
      return yield* Figured.movePrice(said.by)
    case "settle":
      return yield* Calls.settle
    case "approve":
      yield* Calls.approve(step.action, approvers[said.who] as Caller.Caller, said.key, null)
  }
})

const inWorld = Effect.provide(world({ operations: Figured.figured }))

describe("figures that move while people sign", () => {
  // Switched off to see it red: the comparison at a signature, the one at the run, that signatures are
  // emptied, that a repeat without a key, or under one, has to name its figures, that a seen hash is compared, `move >` for `move >=`.
  it("are signed, refused and asked for anew as the book says, whatever moves between two calls", () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30, size: "max" }), (steps) =>
        Calls.runCase(
          Effect.gen(function* () {
            const book = new Book()
            for (const said of steps) {
              yield* taken(book, said)
              yield* holds
              yield* stands(book)
            }
            const requests = book.actions.reduce((sum, one) => sum + one.requests, 0)
            expect(yield* announced).toBe(requests)
          }).pipe(inWorld)
        )
      ),
      { numRuns: runs }
    ))

  it("never run unsigned, when people, prices and workers come all at once", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 8, size: "max" }), {
          maxLength: 6,
          size: "max"
        }),
        (bursts) =>
          Calls.runCase(
            Effect.gen(function* () {
              let made = 0
              for (const burst of bursts) {
                const { approvals: actions } = yield* everything
                yield* Effect.forEach(
                  burst,
                  (said) => {
                    const nth = said.do === "make" ? made++ : 0
                    const at = "action" in said ? said.action : 0
                    const action = actions[at % Math.max(1, actions.length)]?.actionKey ?? "ak_none"
                    return Effect.andThen(Effect.yieldNow, outcome(makeCall(said, { nth, action })))
                  },
                  { concurrency: "unbounded", discard: true }
                )
                yield* holds
              }
              yield* Calls.settle
              yield* holds
            }).pipe(inWorld)
          )
      ),
      { numRuns: runs }
    ))
})
