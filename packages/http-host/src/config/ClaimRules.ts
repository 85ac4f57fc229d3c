/** Places of the claims of a token, as identity providers have them, and the roles that their names mean. */
import type { Vocabulary } from "@bursar/engine-core"

/** Places of the claims that providers put elsewhere, each an RFC 6901 pointer into the token's payload. */
export interface ClaimRules {
  readonly roles: string
  readonly holder: string
  readonly party: string
  /** Roles by the provider's names for them; null: a name is the word of a role. */
  readonly roleNames: ReadonlyMap<string, ReadonlyArray<Vocabulary.Role>> | null
}

export const claimDefaults: ClaimRules = {
  roles: "/roles",
  holder: "/holder",
  party: "/party",
  roleNames: null
}

/** Longest pointer of a claim. */
const pointerMax = 512

/** Checks whether a text is a pointer to a member: at least one step, and none of them empty. */
export const isPointer = (text: string): boolean =>
  text.length <= pointerMax && /^(\/([^/~]|~[01])+)+$/u.test(text)
