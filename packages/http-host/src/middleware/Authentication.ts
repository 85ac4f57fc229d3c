/**
 * Authentication: verifies a bearer token of the identity provider and reads the caller from it.
 */
import { Caller, Refusal, Vocabulary } from "@bursar/engine-core"
import { Party, RecordId } from "@bursar/engine-core/kernel"
import { hash } from "node:crypto"
import { Clock, Context, Effect, Layer } from "effect"
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from "jose"
import { toleranceSeconds } from "../api/ClockTolerance.ts"
import type { Algorithm } from "../HostConfig.ts"
import * as Exchange from "../observability/Exchange.ts"
import * as Jwks from "../outbound/Jwks.ts"

export class Authentication extends Context.Service<
  Authentication,
  {
    /** Returns the caller that the Authorization headers of a request identify. */
    readonly caller: (
      authorizations: ReadonlyArray<string>
    ) => Effect.Effect<Caller.Caller, Refusal.Refused<"unauthenticated"> | Refusal.Unavailable>
  }
>()("@bursar/http-host/middleware/Authentication") {}

export interface TrustedIssuer {
  readonly issuer: string
  readonly audience: string
  /** May only narrow the list of algorithms. */
  readonly algorithms: ReadonlyArray<Algorithm>
}

const tokenMax = 8 * 1024
/** Size of the cache of verified tokens; the oldest is evicted first. */
const rememberedMax = 10_000

interface RememberedToken {
  readonly caller: Caller.Caller
  readonly until: number
}

export const layer = (trusted: TrustedIssuer): Layer.Layer<Authentication, never, Jwks.Jwks> =>
  Layer.effect(
    Authentication,
    Effect.gen(function* () {
      const jwks = yield* Jwks.Jwks
      const remembered = new Map<string, RememberedToken>()

      const remember = (
        digest: string,
        { caller, payload, now }: { caller: Caller.Caller; payload: JWTPayload; now: number }
      ): void => {
        const oldest = remembered.size < rememberedMax ? undefined : remembered.keys().next().value
        if (oldest !== undefined) remembered.delete(oldest)
        // Without the clock tolerance: a token that is about to expire is verified again at each
        // call. Never longer than the keys are cached: a key that the provider revokes revokes its
        // tokens.
        const until = Math.min((payload.exp ?? 0) * 1000, now + Jwks.keptFor)
        remembered.set(digest, { caller, until })
      }

      const verify = Effect.fnUntraced(function* (token: string, now: number) {
        const header = yield* headerOf(token, trusted.algorithms)
        const key = yield* jwks
          .keyFor(header)
          .pipe(Effect.catchTag("Refused", (refused) => Exchange.refusing(refused, "key")))
        const { payload } = yield* Effect.tryPromise({
          try: () =>
            jwtVerify(token, key, {
              algorithms: [...trusted.algorithms],
              issuer: trusted.issuer,
              audience: trusted.audience,
              clockTolerance: toleranceSeconds,
              requiredClaims: ["exp", "sub"],
              currentDate: new Date(now)
            }),
          catch: (cause) => cause
        }).pipe(
          Effect.catch((cause) =>
            cause instanceof errors.JOSEError || cause instanceof TypeError
              ? Exchange.refusing(invalid, reasonOf(cause))
              : Effect.die(cause)
          )
        )
        return payload
      })

      return {
        caller: Effect.fnUntraced(function* (authorizations) {
          const token = bearer(authorizations)
          if (token === undefined) {
            const reason: Reason = authorizations.length === 0 ? "missing" : "malformed"
            return yield* Exchange.refusing(missing, reason)
          }
          const now = yield* Clock.currentTimeMillis
          const digest = hash("sha256", token, "base64")
          const cached = remembered.get(digest)
          if (cached !== undefined) {
            if (now < cached.until) return cached.caller
            remembered.delete(digest)
          }
          const payload = yield* verify(token, now)
          const caller = callerOf(payload)
          if (caller === undefined)
            return yield* Exchange.refusing(invalid, "claims" satisfies Reason)
          remember(digest, { caller, payload, now })
          return caller
        })
      }
    })
  )

const missing = Refusal.refused("unauthenticated", {
  detail: "The call needs one Authorization header with a bearer token."
})
/** One answer for every fault of a token: the exact cause would help only a forger. */
const invalid = Refusal.refused("unauthenticated", { detail: "The token is not valid." })

/** Reasons why a token was refused, for the log. */
export type Reason =
  /** No Authorization header. */
  | "missing"
  /** No bearer token of three parts in it, two of them, or one that is too long. */
  | "malformed"
  /**
   * An algorithm that the deployment does not trust, a type other than an access token's, or a
   * header that selects the key by itself.
   */
  | "header"
  /** The issuer has no key with the token's key id. */
  | "key"
  | "signature"
  | "issuer"
  | "audience"
  | "expired"
  /** Not valid yet: one of the two clocks is wrong. */
  | "clock"
  /** A required claim is missing or malformed. */
  | "claims"

const reasonOf = (cause: unknown): Reason => {
  if (cause instanceof errors.JWTExpired) return "expired"
  if (cause instanceof errors.JWTClaimValidationFailed) {
    if (cause.claim === "iss") return "issuer"
    if (cause.claim === "aud") return "audience"
    return cause.claim === "nbf" && cause.reason === "check_failed" ? "clock" : "claims"
  }
  return cause instanceof errors.JWSSignatureVerificationFailed ? "signature" : "malformed"
}

/** Returns the bearer token of the only Authorization header. */
const bearer = (authorizations: ReadonlyArray<string>): string | undefined => {
  const [only = "", second] = authorizations
  if (second !== undefined || only.length > tokenMax + 7) return undefined
  return /^Bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i.exec(only)?.[1]
}

const refusedHeaders = ["jku", "x5u", "x5c", "jwk", "crit"]
const types = new Set(["at+jwt", "jwt"])

/** Decodes the token's header; refuses one that would let the token choose how it is verified. */
const headerOf = (token: string, allowed: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    const header = protectedHeader(token)
    const { alg, typ } = header ?? {}
    return header !== undefined &&
      alg !== undefined &&
      allowed.includes(alg) &&
      types.has((typ ?? "").toLowerCase()) &&
      !refusedHeaders.some((name) => name in header)
      ? Effect.succeed({ ...header, alg })
      : Exchange.refusing(invalid, (header === undefined ? "malformed" : "header") satisfies Reason)
  })

const protectedHeader = (token: string) => {
  try {
    return decodeProtectedHeader(token)
  } catch {
    return undefined
  }
}

const textMax = 256

/**
 * Builds the caller from the claims; undefined where one that is there, and not null, is not of its
 * form: a claim is refused and never ignored, since a caller without it may be somebody else
 * (docs/contract/bearer-tokens.md#claims).
 */
const callerOf = (payload: JWTPayload): Caller.Caller | undefined => {
  const { sub } = payload
  const roles = claim(payload["roles"], isTexts)
  const holderId = claim(payload["holder"], isRecordId)
  const party = claim(payload["party"], Party.isParty)
  const name = claim(payload["name"], isText)
  const email = claim(payload["email"], isText)
  if (!Caller.isSubject(sub)) return undefined
  if (roles === undefined || holderId === undefined || party === undefined) return undefined
  if (name === undefined || email === undefined) return undefined
  return {
    sub,
    name: shown(name),
    email: shown(email),
    roles: (roles ?? []).filter(Vocabulary.Role.has),
    holderId,
    party
  }
}

/** A claim of its form, null where there is none, undefined where it has another form. */
const claim = <A>(value: unknown, isOf: (value: unknown) => value is A): A | null | undefined =>
  value === undefined || value === null ? null : isOf(value) ? value : undefined

const isText = (value: unknown): value is string => typeof value === "string"
const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every(isText)
const isRecordId = (value: unknown): value is string => isText(value) && RecordId.isRecordId(value)

/**
 * Text of a claim without control characters, which could forge lines of a log or control a
 * terminal.
 */
const shown = (text: string | null): string | null => {
  const clean = (text ?? "").replaceAll(/\p{C}/gu, "").slice(0, textMax)
  return clean === "" ? null : clean.toWellFormed()
}
