/** Caller: a person or system, by the subject of its sign-in, with its roles. */
import type { Role } from "../vocabulary/Role.ts"

/** The actor of what the engine opens by itself, so the subject of no sign-in. */
export const engine = "engine"

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
