/**
 * Cache of the identity provider's keys (JWKS): fetched on demand, used on while the provider is
 * unavailable.
 */
import { Refusal } from "@bursar/engine-core"
import { Ids } from "@bursar/engine-core/ports"
import { Clock, Context, Data, Effect, Layer, Scope, Semaphore } from "effect"
import {
  createLocalJWKSet,
  type CryptoKey,
  errors,
  type JSONWebKeySet,
  type JWTHeaderParameters
} from "jose"
import * as TraceContext from "../wire/TraceContext.ts"

/** Service of the keys by which tokens are verified. */
export class Jwks extends Context.Service<
  Jwks,
  {
    /** Returns the key that a token's header names. */
    readonly keyFor: (
      header: JWTHeaderParameters
    ) => Effect.Effect<CryptoKey, Refusal.Refused<"unauthenticated"> | Refusal.Unavailable>
  }
>()("@bursar/http-host/outbound/Jwks") {}

/** Reason for which the keys could not be fetched. */
export class KeysAway extends Data.TaggedError("KeysAway")<{ readonly detail: string }> {}

type LocalSet = ReturnType<typeof createLocalJWKSet>

/**
 * The same answer as for every other fault of a token: the exact cause would help only a forger.
 */
const unknownKey = Refusal.refused("unauthenticated", { detail: "The token is not valid." })
const unavailable = Refusal.unavailable(
  "identity-provider-unavailable",
  "The identity provider's keys cannot be read.",
  5
)

/** Finds the key of a header in a set; undefined where none or several match. */
const pick = (set: LocalSet, header: JWTHeaderParameters): Effect.Effect<CryptoKey | undefined> =>
  Effect.tryPromise({
    try: () => set(header),
    catch: (cause) => cause
  }).pipe(
    Effect.catch((cause) =>
      // A malformed key of the set counts as missing.
      cause instanceof errors.JOSEError ||
      cause instanceof TypeError ||
      cause instanceof DOMException
        ? Effect.succeed(undefined)
        : Effect.die(cause)
    )
  )

/** A fixed key set, of the configuration or of a test. */
export const layerLocal = (keys: JSONWebKeySet): Layer.Layer<Jwks> => {
  const set = createLocalJWKSet(keys)
  return Layer.succeed(Jwks, {
    keyFor: (header) =>
      Effect.flatMap(pick(set, header), (key) =>
        key === undefined ? Effect.fail(unknownKey) : Effect.succeed(key)
      )
  })
}

/**
 * Milliseconds for which the provider's keys are cached
 * (docs/contract/bearer-tokens.md#provider-keys).
 */
export const keptFor = 10 * 60_000
/** Milliseconds from the end of one fetch to the next: after a success, and after a failure. */
const coolDown = { answered: 30_000, unavailable: 2_000 }

/**
 * Cached keys of a JWKS address: fetched again after 10 minutes, and for an unknown key at most
 * every 30 seconds. While the provider is unavailable the cached keys stay in use, and an unknown
 * key is answered `identity-provider-unavailable`. Once a fetch has failed no token whose key is
 * cached waits for another: a provider that never answers would hold up every call for as long as a
 * fetch may take.
 */
export const layerRemote = (
  keys: Effect.Effect<JSONWebKeySet, KeysAway, Ids>
): Layer.Layer<Jwks, never, Ids> =>
  Layer.effect(
    Jwks,
    Effect.gen(function* () {
      const fetchKeys = Effect.provideService(keys, Ids, yield* Ids)
      const scope = yield* Scope.Scope
      const oneAtATime = yield* Semaphore.make(1)
      let set: LocalSet | undefined
      let fetchedAt = Number.NEGATIVE_INFINITY
      let triedAt = Number.NEGATIVE_INFINITY
      let reachable = true

      const look = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (now - triedAt < (reachable ? coolDown.answered : coolDown.unavailable)) return
        triedAt = now
        const fetched = yield* Effect.exit(fetchKeys)
        // Callers that waited for this fetch share its outcome, however long the fetch took.
        triedAt = yield* Clock.currentTimeMillis
        reachable = fetched._tag === "Success"
        if (fetched._tag === "Success") {
          set = createLocalJWKSet(fetched.value)
          fetchedAt = now
        } else {
          yield* Effect.logWarning("the identity provider's keys cannot be read", fetched.cause)
        }
      })
      const refresh = oneAtATime.withPermits(1)(look)
      const refreshBeside = Effect.forkIn(oneAtATime.withPermitsIfAvailable(1)(look), scope)

      return {
        keyFor: (header) =>
          Effect.gen(function* () {
            const now = yield* Clock.currentTimeMillis
            if (now - fetchedAt > keptFor) yield* reachable ? refresh : refreshBeside
            const cached = set === undefined ? undefined : yield* pick(set, header)
            if (cached !== undefined) return cached
            yield* refresh
            const found = set === undefined ? undefined : yield* pick(set, header)
            if (found !== undefined) return found
            return yield* Effect.fail(reachable ? unknownKey : unavailable)
          })
      }
    })
  )

const answerMax = 256 * 1024
const answerWithin = 5_000

/**
 * Fetches a key set: without redirects, with a timeout and a size limit; the answer must be a key
 * set.
 */
export const fetchFrom = (address: URL): Effect.Effect<JSONWebKeySet, KeysAway, Ids> =>
  Effect.flatMap(TraceContext.outgoing, (trace) =>
    Effect.tryPromise({
      try: async (signal) => {
        const response = await fetch(address, {
          redirect: "error",
          headers: { accept: "application/json", ...trace },
          signal: AbortSignal.any([signal, AbortSignal.timeout(answerWithin)])
        })
        if (!response.ok || response.body === null) throw new Error(`status ${response.status}`)
        return keySet(JSON.parse(await bounded(response.body)))
      },
      catch: (cause) => new KeysAway({ detail: String(cause) })
    })
  )

const bounded = async (body: ReadableStream<Uint8Array>): Promise<string> => {
  const parts: Array<Uint8Array> = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > answerMax) throw new Error(`more than ${answerMax} bytes`)
    parts.push(part)
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts))
}

const keySet = (json: unknown): JSONWebKeySet => {
  if (typeof json !== "object" || json === null || !("keys" in json) || !Array.isArray(json.keys)) {
    throw new Error("the answer is no key set")
  }
  const keys = json.keys.filter(
    (key) => typeof key === "object" && key !== null && typeof key.kty === "string"
  )
  return { keys }
}
