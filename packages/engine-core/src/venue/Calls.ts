/** Calls of one caller: who it is, the identity of each call, and the refusals that come before any other. */
import { Effect, Result, type Schema } from "effect"
import * as Nearest from "../kernel/Nearest.ts"
import * as ProgramInput from "../kernel/ProgramInput.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import { type Fault, refuse, refused, type Refused } from "../kernel/Refusal.ts"
import { Role } from "../vocabulary/Role.ts"
import type { Caller, RequestIdentity } from "../writes/Caller.ts"

/** A person or a program, as a sign-in names it. */
export interface CallerOptions {
  /** Subject of the sign-in: two of four eyes are two subjects. */
  readonly sub: string
  readonly roles: ReadonlyArray<Role>
  readonly name?: string
  readonly email?: string
  /** Id of the holder that an investor is. */
  readonly holder?: string
  /** Party that a registrar acts as on the ledger. */
  readonly party?: string
}

export const callerOf = ({ sub, roles, name, email, holder, party }: CallerOptions): Caller => ({
  sub,
  roles,
  name: name ?? null,
  email: email ?? null,
  holderId: holder ?? null,
  party: party ?? null
})

/**
 * Refuses a caller that could make no call at all, with `permission-denied`: one without a role, or
 * with a word that is none.
 */
export const admitted = ({
  roles,
  sub
}: Pick<Caller, "roles" | "sub">): Effect.Effect<void, Refused<"permission-denied">> => {
  const unknown = roles.find((role) => !Role.has(role))
  const detail =
    unknown === undefined
      ? `${sub} has no role: a caller is given at least one of ${Role.members.join(", ")}.`
      : Nearest.sentence("role", { word: unknown, set: Role.members })
  return roles.length > 0 && unknown === undefined
    ? Effect.void
    : Effect.fail(refused("permission-denied", { detail }))
}

/** Finds what is declared under a word; refuses with `not-found` and the nearest word. */
export const named = <A>(
  what: string,
  {
    word,
    words,
    found
  }: {
    readonly word: string
    readonly words: ReadonlyArray<string>
    readonly found: A | undefined
  }
): Effect.Effect<A, Refused<"not-found">> =>
  found === undefined
    ? Effect.fail(refused("not-found", { detail: Nearest.sentence(what, { word, set: words }) }))
    : Effect.succeed(found)

/** Names the calls of one venue, for its logs and audit records, by the trace of the program where it has one. */
export const identities = (): Effect.Effect<RequestIdentity> => {
  let calls = 0
  return Effect.map(Effect.option(Effect.currentSpan), (span) => ({
    requestId: `call-${++calls}`,
    traceId: span._tag === "Some" ? span.value.traceId : null,
    keyId: null
  }))
}

/**
 * Converts an input to the JSON values that its schema's decoder takes. Refuses `invalid-request`
 * where a value stands for no JSON, with a pointer to each.
 */
export const plainOf = (
  schema: Schema.Top,
  input: unknown,
  place: string
): Result.Result<Plain, Refused<"invalid-request">> => {
  const { faults, plain } = ProgramInput.convert(schema, input)
  return faults.length === 0
    ? Result.succeed(plain)
    : refuse("invalid-request", faultsAt(place, faults))
}

const faultsAt = (place: string, faults: ReadonlyArray<Fault>) => ({
  ...(faults[0] === undefined ? {} : { detail: faults[0].detail }),
  errors: faults.map(({ detail, pointer }) => ({ pointer: `${place}${pointer}`, detail }))
})
