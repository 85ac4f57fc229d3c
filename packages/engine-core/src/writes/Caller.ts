/** Caller: a person or system, by the subject of its sign-in, with its roles. */
import type { Role } from "../vocabulary/Role.ts"

export interface Caller {
  readonly sub: string
  readonly name: string | null
  readonly email: string | null
  readonly roles: ReadonlyArray<Role>
  /** The holder an investor is, from its token's holder claim. */
  readonly holderId: string | null
  /** The party a registrar is, from its token's party claim [its instruments are the ones it keeps]. */
  readonly party: string | null
}

/** Where a request came from, for its answer, its audit record and its trace. */
export interface RequestIdentity {
  readonly requestId: string
  readonly traceId: string | null
  /** Flags of that trace, to be passed on; absent: it is recorded. */
  readonly traceFlags?: number
  /** The key of the request's verified signature; null: the request is not signed. */
  readonly keyId: string | null
}

/** The first of the admitted roles that the caller holds; undefined: none admits it. */
export const roleOf = (
  caller: Pick<Caller, "roles">,
  admitted: ReadonlyArray<Role>
): Role | undefined => admitted.find((role) => caller.roles.includes(role))
