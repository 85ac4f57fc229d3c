/** Verification of signed requests: HMAC, time window, and single use of the nonce. */
import { type Caller, Refusal } from "@bursar/engine-core"
import { Duration, Instant } from "@bursar/engine-core/kernel"
import { Crypto, Ids, Keys } from "@bursar/engine-core/ports"
import { Clock, Context, Effect, Layer, Metric, Redacted } from "effect"
import { holds, keyIdPattern, type SigningKey } from "../config/SigningKeys.ts"
import * as Exchange from "../observability/Exchange.ts"
import * as Counters from "./Counters.ts"

/** Rules of signed requests. */
export interface Rules {
  readonly keys: ReadonlyArray<SigningKey>
  /**
   * Milliseconds by which a signature's time may differ from the engine's clock, both ends
   * included.
   */
  readonly window: number
  /** Prefix that a proxy removes from every path, and that signatures include. */
  readonly basePath: string
}

/** The four headers as a client sets them. */
export const headers = {
  key: "X-Signature-Key",
  timestamp: "X-Signature-Timestamp",
  nonce: "X-Signature-Nonce",
  signature: "X-Signature"
} as const

/** Values of the four headers, in their order. */
export type SignatureHeaders = { readonly [K in keyof typeof headers]: ReadonlyArray<string> }

/**
 * Body that was hashed as it arrived: a file, which may take longer than the window
 * (docs/contract/signed-requests.md#files).
 */
export interface BodyHash {
  /** Lower-case hex SHA-256 of the bytes. */
  readonly hash: string
  /** Millisecond at which the headers had arrived, by which the time of the signature is judged. */
  readonly arrivedAt: number
  /** Milliseconds that a body may take to arrive: a nonce is kept so much longer. */
  readonly within: number
}

/** Signed parts of a request, as they were sent. */
export interface SignedParts {
  readonly caller: Caller.Caller
  readonly method: string
  /** The request target from its first `/`, one character for each byte. */
  readonly target: string
  readonly sentHeaders: SignatureHeaders
  readonly body: Uint8Array | BodyHash
}

/** Slugs of a refused signature. */
export const slugs = [
  "signature-required",
  "signature-invalid",
  "signature-expired",
  "nonce-reused"
] as const
type Slug = (typeof slugs)[number]

/** Service that judges the signature of a request. */
export class SignedRequests extends Context.Service<
  SignedRequests,
  {
    /** Window and headers that the tenant's public record announces. */
    readonly announced: { readonly window: string; readonly headers: ReadonlyArray<string> }
    /**
     * Returns the key that signed a request; null where its subject has no key and the request is
     * not signed.
     */
    readonly judge: (
      signed: SignedParts
    ) => Effect.Effect<string | null, Refusal.Refused<Slug> | Refusal.Unavailable>
  }
>()("@bursar/http-host/middleware/SignedRequests") {}

const required = Refusal.refused("signature-required", {
  detail: `The subject signs its requests: ${Object.values(headers).join(", ")}.`
})
/** One answer for every fault of a signature: the exact cause would help only a forger. */
const invalid = Refusal.refused("signature-invalid", { detail: "The signature is not valid." })
const reused = Refusal.refused("nonce-reused", { detail: "A nonce is used once." })
const nonceUnavailable = Refusal.unavailable("not-ready", "Nonces cannot be kept at the moment.", 5)

const dummyBytes = 32

/**
 * Verifies signatures with the deployment's keys
 * (docs/contract/signed-requests.md#order-of-judging).
 */
export const layer = (
  rules: Rules & { readonly tenantId: string }
): Layer.Layer<SignedRequests, never, Keys | Crypto | Ids> =>
  Layer.effect(
    SignedRequests,
    Effect.gen(function* () {
      const { useNonce } = yield* Keys
      const crypto = yield* Crypto
      const dummy = yield* (yield* Ids).bytes(dummyBytes)
      const byId = new Map(rules.keys.map((key) => [key.keyId, key]))
      const bound = boundFrom(rules.keys)

      const judge = Effect.fnUntraced(function* ({ caller, sentHeaders, ...signed }: SignedParts) {
        const millis = yield* Clock.currentTimeMillis
        const now = Instant.fromEpochMillis(millis)
        const file = signed.body instanceof Uint8Array ? undefined : signed.body
        const from = bound.get(caller.sub)
        const signs = from !== undefined && from <= now
        const headerValues = Object.values(sentHeaders)
        if (headerValues.every((values) => values.length === 0)) {
          return signs ? yield* Exchange.refusing(required, "unsigned") : null
        }
        if (signs && headerValues.some((values) => values.length === 0))
          return yield* Exchange.refusing(required, "unsigned")
        const form = formOf(sentHeaders)
        if (form === undefined) return yield* Exchange.refusing(invalid, "form")

        const key = byId.get(form.keyId)
        const signingKey =
          key !== undefined && key.sub === caller.sub && holds(key, now) ? key : undefined
        // Constant time: an unknown key is verified against a dummy secret.
        const secret = signingKey === undefined ? dummy : Redacted.value(signingKey.secret)
        const text = `${signed.method}\n${rules.basePath}${signed.target}\n${form.timestamp}\n${form.nonce}\n${signed.body instanceof Uint8Array ? crypto.sha256(signed.body) : signed.body.hash}`
        const mac = crypto.hmacSha256(secret, Buffer.from(text, "latin1"))
        const right = crypto.equal(mac, form.mac)
        if (signingKey === undefined) return yield* Exchange.refusing(invalid, "signing-key")
        const arrivedAt = file?.arrivedAt ?? millis
        if (Math.abs(arrivedAt - Number(form.timestamp) * 1000) > rules.window) {
          return yield* Exchange.refusing(expired(millis), "window")
        }
        if (!right) return yield* Exchange.refusing(invalid, "mac")

        const first = yield* useNonce({
          // Unambiguous: neither a tenant's nor a key's id has a slash.
          scope: `${rules.tenantId}/${signingKey.keyId}`,
          nonce: form.nonce,
          keep: 2 * rules.window + (file?.within ?? 0)
        }).pipe(Effect.catchTag("StorageUnavailable", () => Effect.fail(nonceUnavailable)))
        return first ? signingKey.keyId : yield* Exchange.refusing(reused, "nonce")
      })

      return {
        announced: {
          window: Duration.format(Duration.millis(rules.window)),
          headers: Object.values(headers)
        },
        judge: (signed) =>
          Effect.tapError(judge(signed), ({ slug }) =>
            Metric.update(Metric.withAttributes(Counters.signatureRefused, { slug }), 1)
          )
      }
    })
  )

/**
 * Instant from which each subject must sign: when its first key becomes valid. A subject whose keys
 * have all expired must still sign, since otherwise an attacker would only have to wait.
 */
const boundFrom = (keys: ReadonlyArray<SigningKey>): ReadonlyMap<string, Instant.Instant> => {
  const bound = new Map<string, Instant.Instant>()
  for (const { sub, notBefore } of keys) {
    const from = notBefore ?? Instant.fromNanos(0n)
    const before = bound.get(sub)
    if (before === undefined || from < before) bound.set(sub, from)
  }
  return bound
}

interface Form {
  readonly keyId: string
  readonly timestamp: string
  readonly nonce: string
  readonly mac: Uint8Array
}

const timestampPattern = /^[0-9]{1,12}$/
const noncePattern = /^(?=.{22,128}$)[A-Za-z0-9_-]+={0,2}$/
const macPattern = /^[A-Za-z0-9+/]{43}=$/

/** Parses the four headers, each present once and well formed; undefined otherwise. */
const formOf = (signatureHeaders: SignatureHeaders): Form | undefined => {
  const [keyId = "", timestamp = "", nonce = "", signature = ""] = [
    signatureHeaders.key,
    signatureHeaders.timestamp,
    signatureHeaders.nonce,
    signatureHeaders.signature
  ].map((values) => (values.length === 1 ? values[0] : ""))
  const formed =
    keyIdPattern.test(keyId) &&
    timestampPattern.test(timestamp) &&
    noncePattern.test(nonce) &&
    macPattern.test(signature)
  if (!formed) return undefined
  const mac = Buffer.from(signature, "base64")
  // Canonical base64 only: other spellings decode to the same bytes.
  return mac.toString("base64") === signature ? { keyId, timestamp, nonce, mac } : undefined
}

const expired = (millis: number): Refusal.Refused<"signature-expired"> =>
  Refusal.refused("signature-expired", {
    detail: `The engine's time is ${Math.floor(millis / 1000)} seconds since 1970.`
  })
