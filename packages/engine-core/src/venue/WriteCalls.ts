/** Writes of one caller: made, approved, rejected, withdrawn, and waited for. */
import { Duration, Effect, Result, Schema } from "effect"
import * as CompiledCodec from "../kernel/CompiledCodec.ts"
import * as Instant from "../kernel/Instant.ts"
import { isPlainNumber, type Plain } from "../kernel/PlainJson.ts"
import * as Problem from "../kernel/Problem.ts"
import { refused, type Refused, type Unavailable } from "../kernel/Refusal.ts"
import type { Queries } from "../reads/Queries.ts"
import { getApproval, getOperation } from "../reads/WriteQueries.ts"
import type { Caller, RequestIdentity } from "../writes/Caller.ts"
import type { Answer, FourEyes } from "../writes/FourEyes.ts"
import { type AnyOperation, type Operation, pathNames } from "../writes/Operation.ts"
import type { Operations } from "../writes/Operations.ts"
import { lookAgain, WriteAnswer } from "../writes/WriteAnswer.ts"
import * as Calls from "./Calls.ts"
import * as Inspected from "./Inspected.ts"
import type { Action, RefusalOf, SucceededAction, WriteBody, WriteKind } from "./WriteTypes.ts"

/**
 * Idempotency key of a call: repeated under its key, it answers what the first call made. Left out,
 * the body is the key for a while (docs/contract/idempotency.md#without-a-key).
 */
export interface KeyOption {
  readonly key?: string
}

/** Failure of a write of a kind: a refusal that it can have, or a port that did not answer. */
export type WriteError<K extends WriteKind> = Refused<RefusalOf<K>> | Unavailable

export interface WriteCalls {
  /**
   * Makes a write. The action that it answers is the same value whether the write runs at once or
   * awaits its approvers: `done` waits for either. A caller who is an approver signs the action of
   * another person who made the same write.
   */
  readonly write: <K extends WriteKind>(
    kind: K,
    body: WriteBody<K>,
    options?: KeyOption
  ) => Effect.Effect<Action<K>, WriteError<K>>
  /**
   * Signs an action, with the figures that it was read with and no others. Once they have moved, it
   * is refused (`rule-refused`, check `figures-moved`), and the action has to be read again.
   */
  readonly approve: <K extends WriteKind>(
    action: Action<K>,
    options?: KeyOption
  ) => Effect.Effect<Action<K>, WriteError<K>>
  /** Rejects an action of another person. */
  readonly reject: <K extends WriteKind>(
    action: Action<K>,
    options?: KeyOption & { readonly reason?: string }
  ) => Effect.Effect<Action<K>, WriteError<K>>
  /** Takes an action back that this caller made; that of another is refused with `permission-denied`. */
  readonly withdraw: <K extends WriteKind>(
    action: Action<K>,
    options?: KeyOption & { readonly reason?: string }
  ) => Effect.Effect<Action<K>, WriteError<K>>
  /**
   * Has the engine work until the write has ended, and answers its result. Fails with the refusal of
   * a write that failed, of one whose action was rejected or has lapsed, and with `state-conflict`
   * where the action still awaits its approvers: people are not waited for.
   */
  readonly done: <K extends WriteKind>(
    action: Action<K>
  ) => Effect.Effect<SucceededAction<K>, WriteError<K>>
}

interface Needs {
  readonly caller: Caller
  readonly identity: Effect.Effect<RequestIdentity>
  readonly fourEyes: FourEyes["Service"]
  readonly queries: Queries["Service"]
  readonly operations: Operations["Service"]
  /** Work of the engine that a write waits for: none where it works in the background. */
  readonly work: Effect.Effect<void, Unavailable>
}

type Failure = Refused | Unavailable
/** A write of any kind, whose result is still JSON. */
type PlainWrite = Effect.Effect<WriteAnswer, Failure>

/** Milliseconds before the second look at a write; they double up to those between two polls. */
const pauseFirst = 10

const decodeAnswer = CompiledCodec.decoder(WriteAnswer)
const encodeAnswer = Schema.encodeSync(WriteAnswer)

export const make = (needs: Needs): WriteCalls => {
  const { caller, fourEyes, operations, queries } = needs
  const callable = operations.all.filter((operation) => isCallable(operation))
  const words = callable.map(({ kind }) => kind)
  const byKind = (kind: string) =>
    Calls.named("write", { word: kind, words, found: callable.find((each) => each.kind === kind) })

  const read = (answer: Effect.Effect<{ readonly value: WriteAnswer }, Failure>): PlainWrite =>
    Effect.map(answer, ({ value }) => value)
  const operationOf = (operationId: string): PlainWrite =>
    read(queries.one(getOperation, { caller, params: { operationId }, point: {} }))
  const actionOf = (actionKey: string): PlainWrite =>
    read(queries.one(getApproval, { caller, params: { actionKey }, point: {} }))

  /** A removal that its last approver finished is answered without a body; its record says how it ended. */
  const answered = ({ location, value }: Answer): PlainWrite =>
    value === null
      ? operationOf(location.slice(location.lastIndexOf("/") + 1))
      : Effect.sync(() => decodeAnswer(value))

  const write = Effect.fnUntraced(function* (kind: string, body: unknown, options: KeyOption = {}) {
    yield* Calls.admitted(caller)
    const operation = yield* byKind(kind)
    const call = yield* Effect.fromResult(callOf(operation, body))
    const identity = yield* needs.identity
    const key = options.key ?? null
    return yield* answered(
      yield* fourEyes.submit(operation, { caller, identity, key, query: "", ...call })
    )
  })

  const approve = Effect.fnUntraced(function* (action: Action, options: KeyOption = {}) {
    yield* Calls.admitted(caller)
    const actionKey = yield* awaited(action)
    const identity = yield* needs.identity
    const key = options.key ?? null
    const figuresHashSeen = action.figuresHash
    return yield* answered(
      yield* fourEyes.approve({ actionKey, caller, identity, key, figuresHashSeen })
    )
  })

  const reject = Effect.fnUntraced(function* (
    action: Action,
    options: KeyOption & { readonly reason?: string } = {}
  ) {
    yield* Calls.admitted(caller)
    const actionKey = yield* awaited(action)
    const identity = yield* needs.identity
    const { key = null, reason = null } = options
    const { value } = yield* fourEyes.reject({ actionKey, caller, identity, key, reason })
    return decodeAnswer(value)
  })

  const ended = (operationId: string): PlainWrite =>
    Effect.gen(function* () {
      for (let pause = pauseFirst; ; pause *= 2) {
        const operation = yield* operationOf(operationId)
        if (operation.state === "succeeded") return operation
        const { problem } = operation
        if (problem !== null) return yield* Effect.fail(Problem.refusalOf(problem))
        const seconds = lookAgain(operation, yield* Instant.now) ?? 1
        yield* Effect.sleep(Duration.millis(Math.min(pause, seconds * 1_000)))
        yield* needs.work
      }
    })

  const done = Effect.fnUntraced(function* ({ actionKey, operationId }: Action) {
    yield* needs.work
    if (operationId !== null) return yield* ended(operationId)
    const action = yield* actionOf(actionKey ?? "")
    if (action.operationId !== null) return yield* ended(action.operationId)
    return yield* Effect.fail(unfinished(action))
  })

  /** Decodes the result of an answer by the declaration of its kind. */
  const typed = (written: PlainWrite) =>
    Effect.flatMap(written, (answer) =>
      Effect.map(byKind(answer.kind), (operation) => {
        const { result: plain } = answer
        const result =
          plain === null ? null : Inspected.attach(resultOf(operation, plain), () => plain)
        return Inspected.attach({ ...answer, result }, (action) =>
          encodeAnswer({ ...action, result: plain })
        )
      })
    )

  const withdraw: typeof reject = (action, options) =>
    action.maker === caller.sub
      ? reject(action, options)
      : Effect.fail(refused("permission-denied", { detail: notMaker(action) }))

  // Cast: by its kind an answer's result is decoded, and refused with the slugs of its declaration.
  return {
    write: (kind: string, body: unknown, options?: KeyOption) => typed(write(kind, body, options)),
    approve: (action: Action, options?: KeyOption) => typed(approve(action, options)),
    reject: (action: Action, options?: KeyOption) => typed(reject(action, options)),
    withdraw: (action: Action, options?: KeyOption) => typed(withdraw(action, options)),
    done: (action: Action) => typed(done(action))
  } as unknown as WriteCalls
}

const isCallable = (operation: AnyOperation): operation is Operation => operation.route !== null

/** Memo of the decoders of results. */
const decoders = new WeakMap<Operation, (plain: unknown) => unknown>()

const resultOf = (operation: Operation, plain: Plain): unknown => {
  const decoder = decoders.get(operation) ?? CompiledCodec.decoder(operation.result)
  decoders.set(operation, decoder)
  return decoder(plain)
}

/** Splits one flat body into the ids of the path, the member of If-Match, and the members of the body. */
const callOf = (operation: Operation, input: unknown) =>
  Result.map(Calls.plainOf(operation.input, input, "/body"), (plain) => {
    const names = pathNames(operation.route)
    const { ifMatch, route } = operation
    const members = Object.entries(isObject(plain) ? plain : {})
    const params = Object.fromEntries(
      members.flatMap(([name, value]) =>
        names.includes(name) && typeof value === "string" ? [[name, value]] : []
      )
    )
    const tag = members.find(([name]) => name === ifMatch)?.[1]
    const isElsewhere = (name: string) =>
      name in params || (name === ifMatch && (tag === null || typeof tag === "string"))
    const rest = Object.fromEntries(members.filter(([name]) => !isElsewhere(name)))
    return {
      params,
      ifMatch: typeof tag === "string" ? tag : null,
      path: pathOf(route, params),
      body: isObject(plain) ? bodyOf(route, rest) : plain
    }
  })

/** A removal has no body; members that no removal has are refused as those of any body. */
const bodyOf = (route: string, members: { readonly [member: string]: Plain }) =>
  route.startsWith("DELETE ") && Object.keys(members).length === 0 ? undefined : members

const isObject = (value: Plain): value is { readonly [member: string]: Plain } =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isPlainNumber(value)

const pathOf = (route: string, params: Readonly<Record<string, string>>): string =>
  route
    .slice(route.indexOf(" ") + 1)
    .replaceAll(/\{([a-zA-Z]+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))

const awaited = ({ actionKey, kind }: Action): Effect.Effect<string, Refused<"state-conflict">> =>
  actionKey === null
    ? Effect.fail(
        refused("state-conflict", {
          detail: `${kind} was made by one person: it awaits no approval.`
        })
      )
    : Effect.succeed(actionKey)

const notMaker = ({ maker }: Action): string =>
  `Only its maker, ${maker ?? "one person"}, withdraws an action; an approver rejects it.`

/** Refusal of an action that has no operation: it was rejected, has lapsed, or awaits approvers. */
const unfinished = ({ kind, recovery, state }: WriteAnswer): Refused => {
  if (state === "rejected") return refused("approval-rejected")
  return state === "awaiting"
    ? refused("state-conflict", {
        detail: `${kind} awaits its approvers.`,
        ...(recovery === null ? {} : { recovery })
      })
    : refused("approval-decided", { detail: `The action of ${kind} is ${state}.` })
}
