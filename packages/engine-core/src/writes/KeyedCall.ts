/**
 * Idempotency of every call: its key and fingerprint, the answer to a repeat, and which of several calls
 * at once is first. Beside retention, no other file uses the port of keys.
 */
import { Effect, Option } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import { type Refused, refused, type Unavailable } from "../kernel/Refusal.ts"
import { Crypto } from "../ports/Crypto.ts"
import { type KeyRow, Keys } from "../ports/storage/Keys.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import { Records } from "../records/Records.ts"
import { approvals } from "./Approval.ts"
import { type Caller, identified } from "./Caller.ts"
import * as Idempotency from "./Idempotency.ts"
import type { AnyOperation } from "./Operation.ts"
import * as Secrets from "./Secrets.ts"

/** Idempotency key of a call: the one that was sent, or one derived from method, path and body. */
export interface CallKey extends Pick<KeyRow, "scope" | "key" | "fingerprint"> {
  readonly isSent: boolean
}

/** Services that a call needs for its key. */
export type Needs = Keys | Records

/** Milliseconds that a call alone in its transaction waits for a concurrent call under its key. */
const waitMillis = 5_000

/** Key scope of a caller: its subject, within the venue. */
const scopeOf = (caller: Pick<Caller, "sub">) =>
  Effect.map(Settings, ({ tenantId }) => `${tenantId}/${caller.sub}`)

/** Fingerprint of a call, by which its key is judged (docs/contract/idempotency.md#fingerprint). */
export const fingerprintOf = (call: Parameters<typeof Idempotency.fingerprintText>[0]) =>
  Effect.map(Crypto, ({ sha256 }) => sha256(Idempotency.fingerprintText(call)))

/**
 * Fingerprints by which a write's call may be stored, the current one first. Of a write with a guessable
 * secret the fingerprint is keyed, under each sealing key; by the last one, which is not keyed, calls were
 * stored before.
 */
const fingerprintsOf = Effect.fnUntraced(function* (
  operation: Pick<AnyOperation, "secrets">,
  call: Parameters<typeof Idempotency.fingerprintText>[0]
) {
  const crypto = yield* Crypto
  const { sealingKeys } = yield* Settings
  const text = Idempotency.fingerprintText(call)
  const keyed = Secrets.isGuessable(operation.secrets)
    ? sealingKeys.map((key) => Secrets.keyedDigest(text, key, crypto))
    : []
  return [...keyed, crypto.sha256(text)] as const
})

/**
 * Fingerprint of a refused call for the audit log; null where it would have to be keyed and the
 * deployment has no key.
 */
export const loggedFingerprintOf = Effect.fnUntraced(function* (
  operation: Pick<AnyOperation, "secrets">,
  call: Parameters<typeof Idempotency.fingerprintText>[0]
) {
  const [first, ...others] = yield* fingerprintsOf(operation, call)
  return Secrets.isGuessable(operation.secrets) && others.length === 0 ? null : (first ?? null)
})

/**
 * Fingerprint of a write's call (docs/contract/idempotency.md#fingerprint): the one that an earlier call of
 * the same content was stored by, under an earlier sealing key or before fingerprints were keyed, so that
 * a repeat stays a repeat; else the current one.
 */
export const fingerprintOfWrite = Effect.fnUntraced(function* (
  operation: Pick<AnyOperation, "secrets">,
  call: Parameters<typeof Idempotency.fingerprintText>[0] & {
    readonly caller: Pick<Caller, "sub">
    /** The key as sent; null: none was sent. */
    readonly key: string | null
  }
) {
  const [current, ...before] = yield* fingerprintsOf(operation, call)
  if (current === undefined) throw new Error("a call has a fingerprint")
  if (before.length === 0) return current
  yield* identified(call.caller)
  const scope = yield* scopeOf(call.caller)
  const keys = yield* Keys
  const records = yield* Records
  const now = Instant.sortable(yield* Instant.now)
  for (const fingerprint of before) {
    const key = call.key ?? Idempotency.bodyKey(fingerprint)
    const bound = yield* orUnavailable(keys.find({ scope, key, now }))
    if (Option.isSome(bound) && bound.value.fingerprint === fingerprint) return fingerprint
    const where = { fingerprint: [fingerprint] }
    const [action] = yield* records.list(approvals, { where, limit: 1 })
    if (action !== undefined) return fingerprint
  }
  return current
})

/**
 * Finds the idempotency key of a caller's call. Every write of a caller begins with it, so it
 * refuses a caller without a valid subject, with `unauthenticated`.
 */
export const keyOf = Effect.fnUntraced(function* (
  caller: Pick<Caller, "sub">,
  call: Pick<CallKey, "fingerprint"> & {
    /** The key as sent; null: none was sent. */
    readonly sentKey: string | null
  }
) {
  const scope = yield* scopeOf(caller)
  yield* identified(caller)
  const key: CallKey = {
    scope,
    key: call.sentKey ?? Idempotency.bodyKey(call.fingerprint),
    fingerprint: call.fingerprint,
    isSent: call.sentKey !== null
  }
  return key
})

/**
 * Key of a write of the engine's own, which names its occasion. A tenant's id has no colon, so that no
 * caller shares its scope.
 */
export const engineKey = (key: Pick<CallKey, "key" | "fingerprint">) =>
  Effect.map(
    Settings,
    ({ tenantId }): CallKey => ({
      ...key,
      scope: `engine:${tenantId}`,
      isSent: true
    })
  )

const reused = () => Effect.fail(refused("idempotency-key-reused"))

/**
 * The target that the call's key names already; undefined: none. Refuses `idempotency-key-reused` where
 * it names that of another call.
 */
export const earlier = Effect.fnUntraced(function* ({ fingerprint, key, scope }: CallKey) {
  const keys = yield* Keys
  const now = Instant.sortable(yield* Instant.now)
  const bound = yield* orUnavailable(keys.find({ scope, key, now }))
  if (Option.isNone(bound)) return undefined
  if (bound.value.fingerprint !== fingerprint) return yield* reused()
  return bound.value.target
})

/** Checks whether the key that this caller sent names the target. */
export const isNamedBy = Effect.fnUntraced(function* (
  { caller, key }: { readonly caller: Pick<Caller, "sub">; readonly key: string },
  target: string
) {
  const keys = yield* Keys
  const scope = yield* scopeOf(caller)
  const bound = yield* orUnavailable(
    keys.find({ scope, key, now: Instant.sortable(yield* Instant.now) })
  )
  return Option.exists(bound, (row) => row.target === target)
})

/** Binding of a key: the target that a call gives it, and for how long. */
interface Binding<R = never> {
  readonly target: string
  /** A derived key binds for good as a sent one does; left out: for `bodyKeyWindow`. */
  readonly isForGood?: true
  /** Checks whether an earlier target binds a derived key no longer; left out: it binds. */
  readonly isOver?: (target: string) => Effect.Effect<boolean, Unavailable, R>
}

/** Outcome of binding a call's key: the call is first, or an earlier one has bound it to a target. */
export type KeyOutcome =
  | { readonly first: true }
  | { readonly first: false; readonly target: string }

type KeyReused = Refused<"idempotency-key-reused">
type CallInProgress = Refused<"idempotency-in-progress">

/** Binds the key by one statement, or by two where its earlier target is over. */
const boundBy = Effect.fnUntraced(function* <E, R>(
  { fingerprint, isSent, key, scope }: CallKey,
  { isForGood, isOver, target }: Binding<R>,
  patience: <A, E2>(binding: Effect.Effect<A, E2>) => Effect.Effect<A, E2 | E>
): Effect.fn.Return<KeyOutcome, E | KeyReused | Unavailable, R | Keys> {
  const keys = yield* Keys
  const { bodyKeyWindow } = yield* Settings
  const instant = yield* Instant.now
  const ends = Instant.fromEpochMillis(Instant.toEpochMillis(instant) + bodyKeyWindow)
  const bindsUntil = isSent || isForGood === true ? null : Instant.sortable(ends)
  const row = { scope, key, fingerprint, target, bindsUntil, now: Instant.sortable(instant) }
  const bindOnce = patience(orUnavailable(keys.bind(row)))
  const answer = yield* bindOnce
  if (answer.isBound) return { first: true }
  if (answer.earlier.fingerprint !== fingerprint) return yield* reused()
  const earlierTarget = answer.earlier.target
  if (isSent || isOver === undefined || !(yield* isOver(earlierTarget))) {
    return { first: false, target: earlierTarget }
  }
  // Of several calls that find the target over, one binds the key anew and the others read its row.
  yield* orUnavailable(keys.free([earlierTarget]))
  const again = yield* bindOnce
  if (again.isBound) return { first: true }
  if (again.earlier.fingerprint !== fingerprint) return yield* reused()
  return { first: false, target: again.earlier.target }
})

/**
 * Binds the call's key to a target in the transaction of the call, which may be one of a group. Refuses
 * `idempotency-key-reused`.
 */
export const bind = <R = never>(key: CallKey, binding: Binding<R>) =>
  boundBy<never, R>(key, binding, (bindOnce) => bindOnce)

/**
 * Runs `effect` in a transaction of its own that binds the call's key: one of several calls under a
 * key is first, and the others wait for it up to 5 s and get its target. A refusal by `effect`
 * leaves the key free. Refuses `idempotency-key-reused`, before `effect` runs, when the key named
 * another call (docs/contract/idempotency.md#writes-that-finish-in-the-call).
 */
export const alone = <A, E, R, R2 = never>(
  key: CallKey,
  binding: Binding<R2>,
  effect: (bound: KeyOutcome) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | KeyReused | CallInProgress | Unavailable, R | R2 | Needs> =>
  Effect.flatMap(Records, (records) =>
    // Calls that shared a transaction with this one would wait for the key as well.
    records.transactAlone(
      Effect.flatMap(
        boundBy<CallInProgress, R2>(key, binding, (bindOnce) =>
          Effect.timeoutOrElse(bindOnce, {
            duration: waitMillis,
            orElse: () => Effect.fail(inProgress)
          })
        ),
        effect
      )
    )
  )

const inProgress = refused("idempotency-in-progress", {
  detail: "The same call is still running; repeat it later for its answer.",
  retryAfter: 1
})

/**
 * Binds a call's key to the action that the call is about, for good. A key derived from the body is
 * rebound to this action, as its earlier target no longer binds it. Refuses `idempotency-key-reused`.
 */
export const bindToAction = Effect.fnUntraced(function* (actionKey: string, key: CallKey) {
  const target = Idempotency.target("action", actionKey)
  const bound = yield* bind(key, { target, isForGood: true })
  if (bound.first || key.isSent) return
  const keys = yield* Keys
  yield* orUnavailable(keys.retarget({ scope: key.scope, key: key.key, target }))
})

/**
 * Binds the key of a call that signs to its action, for good: the key that was sent, or one that is the
 * same for every call of this person without a key, on whichever route it signs the action. Returns
 * whether the person has called before under it. Refuses `idempotency-key-reused`.
 */
export const bindSignature = Effect.fnUntraced(function* (actionKey: string, key: CallKey) {
  const target = Idempotency.target("action", actionKey)
  const fingerprint = yield* fingerprintOfVerb("approve", { actionKey })
  const signing = key.isSent ? key : { ...key, key: Idempotency.bodyKey(fingerprint), fingerprint }
  return !(yield* bind(signing, { target, isForGood: true })).first
})

/** Fingerprint of a call of `:approve` or `:reject`. */
export const fingerprintOfVerb = (
  verb: "approve" | "reject",
  { actionKey, body }: { readonly actionKey: string; readonly body?: Plain }
) => fingerprintOf({ method: "POST", path: `/v1/approvals/${actionKey}:${verb}`, query: "", body })
