/**
 * Authentication: verifies a bearer token of the identity provider and reads the caller from it.
 */
import { type Caller, Refusal } from "@bursar/engine-core"
import { hash } from "node:crypto"
import { Clock, Context, Effect, Layer, Result } from "effect"
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from "jose"
import { toleranceSeconds } from "../api/ClockTolerance.ts"
import type { Algorithm, HostConfig } from "../HostConfig.ts"
import * as Exchange from "../observability/Exchange.ts"
import * as Jwks from "../outbound/Jwks.ts"
import { claimDefaults, type ClaimRules } from "../config/ClaimRules.ts"
import * as Claims from "./Claims.ts"

/** Service that reads the caller of a token. */
export class Authentication extends Context.Service<
  Authentication,
  {
    /** Returns the caller that the Authorization headers of a request identify. */
    readonly caller: (
      authorizations: ReadonlyArray<string>
    ) => Effect.Effect<Caller.Caller, Refusal.Refused<"unauthenticated"> | Refusal.Unavailable>
  }
>()("@bursar/http-host/middleware/Authentication") {}

/** Issuer of tokens that the host trusts, and how roles stand in them. */
export interface TrustedIssuer {
  readonly issuer: string
  readonly audience: string
  /** May only narrow the list of algorithms. */
  readonly algorithms: ReadonlyArray<Algorithm>
  /** Whether a token without a type in its header is accepted; refused by default. */
  readonly untyped?: "accepted" | "refused"
  /** Places of the claims; by default those of a token that is made for the venue. */
  readonly claims?: ClaimRules
}

/** The issuer that a deployment's settings trust. */
export const trustedBy = (config: HostConfig): TrustedIssuer => ({
  issuer: config.issuer,
  audience: config.audience,
  algorithms: config.algorithms,
  untyped: config["auth.untyped"],
  claims: {
    roles: config["auth.roles.claim"],
    holder: config["auth.holder.claim"],
    party: config["auth.party.claim"],
    roleNames: config["auth.roles.map"]
  }
})

const tokenMax = 8 * 1024
/** Size of the cache of verified tokens; the oldest is evicted first. */
const rememberedMax = 10_000

interface RememberedToken {
  readonly caller: Caller.Caller
  readonly until: number
}

/** Authentication by the tokens of an issuer. */
export const layer = (trusted: TrustedIssuer): Layer.Layer<Authentication, never, Jwks.Jwks> =>
  Layer.effect(
    Authentication,
    Effect.gen(function* () {
      const jwks = yield* Jwks.Jwks
      const remembered = new Map<string, RememberedToken>()
      const { claims = claimDefaults } = trusted

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
        const header = yield* headerOf(token, trusted)
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
          const read = Claims.read(payload, claims)
          if (Result.isFailure(read)) {
            yield* logged("a claim of a token is not of its form", { claim: read.failure })
            return yield* Exchange.refusing(invalid, "claims" satisfies Reason)
          }
          const { caller, noRole } = read.success
          if (noRole !== null) {
            yield* Exchange.signedIn(caller.sub)
            yield* logged("a token brings no role", {
              reason: noRole.reason,
              claim: claims.roles,
              names: listed(noRole.names)
            })
          }
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
const headerOf = (token: string, { algorithms, untyped = "refused" }: TrustedIssuer) =>
  Effect.suspend(() => {
    const header = protectedHeader(token)
    const { alg, typ } = header ?? {}
    const allowed: ReadonlyArray<string> = algorithms
    const isTyped =
      typ === undefined ? untyped === "accepted" : types.has(String(typ).toLowerCase())
    return header !== undefined &&
      alg !== undefined &&
      allowed.includes(alg) &&
      isTyped &&
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

/** Names of roles that a line of the log lists. */
const namesMax = 20

/** Names as a token brought them, without what could forge a line of the log. */
const listed = (names: ReadonlyArray<string>): string => {
  const more = names.length - namesMax
  const first = names.slice(0, namesMax).map((name) => Claims.shown(name) ?? "")
  return `${first.join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

/** Logs why a verified token does not help its caller, who is not told. */
const logged = (message: string, why: Readonly<Record<string, string>>) =>
  Effect.annotateLogs(Effect.logWarning(message), why)
