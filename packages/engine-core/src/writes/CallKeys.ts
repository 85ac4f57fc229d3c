/** Idempotency keys of calls: their scope, and the operation or action that each names. */
import { Effect } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import { refused } from "../kernel/Refusal.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import { Crypto } from "../ports/Crypto.ts"
import { type KeyRow, Keys } from "../ports/storage/Keys.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import { type Caller, identified } from "./Caller.ts"
import * as Idempotency from "./Idempotency.ts"

/** Idempotency key of a call: the one that was sent, or one derived from method, path and body. */
export type CallKey = Pick<KeyRow, "scope" | "key" | "fingerprint"> & { readonly isSent: boolean }

/** Key scope of a caller: its subject, within the venue. */
export const scopeOf = (caller: Pick<Caller, "sub">) =>
  Effect.map(Settings, ({ tenantId }) => `${tenantId}/${caller.sub}`)

/**
 * Key scope of the engine's own writes; a tenant's id has no colon, so that no caller shares it.
 */
export const engineScope = Effect.map(Settings, ({ tenantId }) => `engine:${tenantId}`)

/** The recorded instant until which a key binds that binds for so many milliseconds. */
export const boundUntil = (now: Instant.Instant, millis: number): string =>
  Instant.sortable(Instant.fromEpochMillis(Instant.toEpochMillis(now) + millis))

/** Refuses a call whose key was used for another call. */
export const reused = () => Effect.fail(refused("idempotency-key-reused"))

/**
 * Finds the idempotency key of a caller's call. Every write of a caller begins with it, so it
 * refuses a caller without a valid subject, with `unauthenticated`.
 */
export const of = Effect.fnUntraced(function* (
  caller: Pick<Caller, "sub">,
  call: Pick<CallKey, "fingerprint"> & {
    /** The key as sent; null: none was sent. */
    readonly sent: string | null
  }
) {
  yield* identified(caller)
  const key: CallKey = {
    scope: yield* scopeOf(caller),
    key: call.sent ?? Idempotency.bodyKey(call.fingerprint),
    fingerprint: call.fingerprint,
    isSent: call.sent !== null
  }
  return key
})

/**
 * Binds a call's key to the action that the call is about. A key that was sent is bound for good;
 * one derived from the body is rebound to this action, as its earlier target no longer binds it.
 * Returns the kind of target that the key had, or has now. Refuses `idempotency-key-reused`.
 */
export const bindTo = Effect.fnUntraced(function* (
  actionKey: string,
  { scope, key, fingerprint, isSent }: CallKey
) {
  const keys = yield* Keys
  const target = Idempotency.target("action", actionKey)
  const now = Instant.sortable(yield* Instant.now)
  const claim = yield* orUnavailable(
    keys.claim({ scope, key, fingerprint, target, bindsUntil: null, now })
  )
  if (claim.claimed) return "action"
  if (claim.winner.fingerprint !== fingerprint) return yield* reused()
  if (!isSent) yield* orUnavailable(keys.retarget({ scope, key, target }))
  return Idempotency.parseTarget(claim.winner.target).kind
})

/** Fingerprint of a call of `:approve` or `:reject`. */
export const ofVerb = (
  verb: "approve" | "reject",
  { actionKey, body }: { readonly actionKey: string; readonly body?: Plain }
): Effect.Effect<string, never, Crypto> =>
  Effect.map(Crypto, (crypto) =>
    crypto.sha256(
      Idempotency.fingerprintText({
        method: "POST",
        path: `/v1/approvals/${actionKey}:${verb}`,
        query: "",
        body
      })
    )
  )
