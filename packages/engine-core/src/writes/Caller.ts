/** Caller: a person or system, by the subject of its sign-in, with its roles. */
import { Effect, Schema } from "effect"
import { refused, type Refused } from "../kernel/Refusal.ts"
import type { Role } from "../vocabulary/Role.ts"

/** The actor of what the engine opens by itself, so the subject of no sign-in. */
export const engine = "engine"

/**
 * Subject of a sign-in: 1 to 256 printable ASCII characters, with single spaces between words alone.
 * Spaces at an end, two spaces in a row, invisible characters and letters beyond ASCII would make
 * subjects that a person cannot tell apart, and so two of four eyes out of one
 * (docs/domain/every-record.md#people).
 */
export const Subject = Schema.String.check(
  Schema.isMaxLength(256),
  Schema.isPattern(/^[\x21-\x7E]+(?: [\x21-\x7E]+)*$/u)
)

/** Checks whether a claim is the subject of a sign-in; the engine's own actor is none. */
export const isSubject = (claim: unknown): claim is string =>
  Schema.is(Subject)(claim) && claim !== engine

/**
 * Refuses a caller whose subject is none, with `unauthenticated`: its records would have an author
 * that people cannot tell from another.
 */
export const identified = ({
  sub
}: Pick<Caller, "sub">): Effect.Effect<void, Refused<"unauthenticated">> =>
  isSubject(sub)
    ? Effect.void
    : Effect.fail(refused("unauthenticated", { detail: "The caller's subject is not valid." }))

/** Caller of the engine: its subject, its roles, and the holder or the party that it acts for. */
export interface Caller {
  readonly sub: string
  readonly name: string | null
  readonly email: string | null
  readonly roles: ReadonlyArray<Role>
  /** The holder id of an investor, from its token's holder claim. */
  readonly holderId: string | null
  /**
   * The party of a registrar, from its token's party claim; it reads the instruments it registers.
   */
  readonly party: string | null
}

/** Ids of a request for its answer, its audit record and its trace. */
export interface RequestIdentity {
  readonly requestId: string
  readonly traceId: string | null
  /** Flags of the trace, to be passed on; absent: the trace is recorded. */
  readonly traceFlags?: number
  /** Id of the key of the request's verified signature; null: the request is not signed. */
  readonly keyId: string | null
}

/** Finds the first admitted role that the caller holds; undefined: none. */
export const roleOf = (
  caller: Pick<Caller, "roles">,
  admitted: ReadonlyArray<Role>
): Role | undefined => admitted.find((role) => caller.roles.includes(role))
