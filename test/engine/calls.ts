/**
 * Harness of operations: people, their calls to the door, approvals and rejections, and the outcome. It calls
 * the door and not `Venue`, whose calls are typed and well formed: a body of any shape, a key or none, figures
 * that are out of date, and the stored result of a write that has not ended.
 */
import {
  type Caller,
  Catalogue,
  Engine,
  Follower,
  FourEyes,
  type Operation,
  Records
} from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import { Effect, Option, References, Result, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { approvals } from "#core/writes/Approval.ts"
import { type OperationRecord, operations } from "#core/writes/OperationRecord.ts"
import { undeclared } from "./declared-refusals.ts"

export const person = (sub: string, ...roles: Caller.Caller["roles"]): Caller.Caller => ({
  sub,
  name: null,
  email: null,
  roles,
  holderId: null,
  party: null
})

export const operator = person("olga", "operator")
const approvers = [person("ada", "approver"), person("abel", "approver")]

/** A body as a test writes it: short decimals only, since these numbers are doubles. */
export type Json =
  | null
  | boolean
  | string
  | number
  | ReadonlyArray<Json>
  | { readonly [member: string]: Json }

let requests = 0
export const identity = () => ({ requestId: `req-${++requests}`, traceId: null, keyId: null })

/** Makes a write's call with a body in plain JSON text; the path is filled with the parameters. */
export const submit = (
  operation: Operation.Operation,
  caller: Caller.Caller,
  call: {
    readonly params: Readonly<Record<string, string>>
    readonly body?: string
    readonly key?: string | null
    readonly ifMatch?: string | null
    readonly identity?: Caller.RequestIdentity
  }
) =>
  Effect.flatMap(FourEyes, (door) =>
    door.submit(operation, {
      caller,
      identity: call.identity ?? identity(),
      key: call.key ?? null,
      ifMatch: call.ifMatch ?? null,
      path: operation.route
        .slice(operation.route.indexOf(" ") + 1)
        .replaceAll(/\{([a-zA-Z]+)\}/g, (_, name: string) => call.params[name] ?? ""),
      query: "",
      body: Result.getOrThrow(PlainJson.parse(call.body ?? "{}")),
      params: call.params
    })
  )

/** Approves an action: the figures that it shows, those of this hash, or, by null, without naming any. */
export const approve = (
  actionKey: string,
  caller: Caller.Caller,
  key: string | null = null,
  seen?: string | null
) =>
  Effect.gen(function* () {
    const door = yield* FourEyes
    const records = yield* Records
    const action = yield* records.find(approvals, actionKey)
    const shown = Option.getOrUndefined(action)?.figuresHash ?? null
    const figuresHashSeen = seen === undefined ? shown : seen
    return yield* door.approve({ actionKey, caller, identity: identity(), key, figuresHashSeen })
  })

export const reject = (actionKey: string, caller: Caller.Caller, key: string | null = null) =>
  Effect.flatMap(FourEyes, (door) =>
    door.reject({ actionKey, caller, identity: identity(), key, reason: null })
  )

export const settle = Effect.flatMap(Engine.Engine, (engine) => engine.settle)

/** Projects the ledger to its end; runs no queued work. */
export const catchUp = Effect.flatMap(Follower, (follower) => follower.catchUp)

/** State and refusal of a write that has ended, or was refused at the door. */
export interface Ended {
  readonly state: "refused" | "queued" | "running" | "succeeded" | "failed"
  /** `slug gate check` of the refusal. */
  readonly why: string
  readonly result: Record<string, unknown>
}

/** Makes a call of a declared operation kind, under a new idempotency key. */
export const submitKind = (
  kind: string,
  params: Readonly<Record<string, string>>,
  body: Json,
  by: { readonly caller: Caller.Caller; readonly ifMatch: string | null }
) =>
  Effect.suspend(() => {
    const operation = Catalogue.operations.find((declared) => declared.kind === kind)
    if (operation === undefined) throw new Error(`no operation ${kind}`)
    const { caller, ifMatch } = by
    const key = `key-${++requests}`
    return submit(operation, caller, { params, body: JSON.stringify(body), key, ifMatch })
  })

/** Has as many people sign an action as it needs. */
const sign = (actionKey: PlainJson.Plain) =>
  Effect.gen(function* () {
    const [first, ...rest] = approvers.map((caller) => approve(String(actionKey), caller))
    if (first === undefined) throw new Error("nobody approves")
    let answer = yield* first
    for (const signature of rest) {
      if (field(answer, "state") === "awaiting") answer = yield* signature
    }
    return answer
  })

/** Makes a write, has it approved where it needs that, and runs the engine until it rests. */
export const write = (
  kind: string,
  params: Readonly<Record<string, string>>,
  body: Json,
  caller: Caller.Caller = operator,
  ifMatch: string | null = null
) =>
  Effect.gen(function* () {
    const answer = yield* Effect.result(submitKind(kind, params, body, { caller, ifMatch }))
    if (Result.isFailure(answer)) return refusedAs(answer.failure, kind)
    const opened = answer.success
    const awaits = field(opened, "state") === "awaiting"
    return yield* ended(awaits ? yield* sign(field(opened, "actionKey")) : opened)
  })

/** Makes a four-eyes write and leaves it to its approvers; returns the key of its action, or null. */
export const openAction = (
  kind: string,
  params: Readonly<Record<string, string>>,
  body: Json,
  ifMatch: string | null = null
) =>
  Effect.map(submitKind(kind, params, body, { caller: operator, ifMatch }), (answer) =>
    field(answer, "actionKey")
  )

/** Has an open action approved, and runs the engine until it rests. */
export const approveAction = (actionKey: PlainJson.Plain) =>
  Effect.gen(function* () {
    const answer = yield* Effect.result(sign(actionKey))
    return Result.isFailure(answer) ? refusedAs(answer.failure, null) : yield* ended(answer.success)
  })

/** The refusal of a call; throws where the write of the kind does not declare it. */
const refusedAs = (failure: unknown, kind: string | null): Ended => {
  const { slug, details } = failure as { slug: string; details?: { gate?: string; check?: string } }
  if (kind !== null) declaredBy(kind, { slug, check: details?.check })
  const why = [slug, details?.gate, details?.check].filter((word) => word !== undefined).join(" ")
  return { state: "refused", why, result: {} }
}

const declaredBy = (kind: string, refusal: Parameters<typeof undeclared>[1]): void => {
  const breaches = undeclared(kind, refusal)
  if (breaches.length > 0) throw new Error(breaches.join("\n"))
}

/** Runs the engine until it rests; returns how the operation of an answer ended. */
const ended = (answer: { readonly value: PlainJson.Plain }) =>
  Effect.gen(function* () {
    yield* settle
    const records = yield* Records
    return outcomeOf(yield* records.get(operations, String(field(answer, "operationId"))))
  })

/** Outcome of an operation's record; throws where its refusal is not declared. */
export const outcomeOf = ({ kind, problem, result, state }: OperationRecord) => {
  const words = (problem ?? {}) as unknown as Partial<Record<"type" | "gate" | "check", string>>
  const { check, gate, type } = words
  const slug = type?.split(":").at(-1)
  if (slug !== undefined) declaredBy(kind, { slug, check })
  const why = [slug, gate, check].filter((word) => (word ?? null) !== null).join(" ")
  return { state, why, result: (result ?? {}) as unknown as Record<string, unknown> }
}

/** A member of an answer's value. */
export const field = (
  answer: { readonly value: PlainJson.Plain },
  name: string
): PlainJson.Plain => {
  const value = answer.value
  if (typeof value !== "object" || value === null || !(name in value)) throw new Error(name)
  return (value as { readonly [k: string]: PlainJson.Plain })[name] ?? null
}

/** The refusal's slug, or that there was none. */
export const slug = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), (result) => {
    if (Result.isSuccess(result)) return "no refusal"
    const error: unknown = result.failure
    return typeof error === "object" && error !== null && "slug" in error
      ? String(error.slug)
      : String(error)
  })

/** Runs one case of a property: a scope and a clock of its own. */
export const runCase = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
  Effect.runPromise(
    Effect.provide(Effect.scoped(effect), TestClock.layer()).pipe(
      // Errors that tests cause on purpose would fill the screen.
      Effect.provideService(References.MinimumLogLevel, process.env["LOGS"] ? "All" : "None")
    )
  )
