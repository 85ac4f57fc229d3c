/** Settings that the host has written into the page: its venue, and where a token names the roles. */

export interface PageSettings {
  readonly tenantId: string
  readonly version: string
  /** JSON pointer (RFC 6901) to the claim of a token that names its caller's roles. */
  readonly roles: string
  /** Roles by the provider's names for them; null: a name is the word of a role. */
  readonly roleNames: Readonly<Record<string, ReadonlyArray<string>>> | null
}

/** Parses the content of the page's element. Throws where the page is served by something else. */
export const parse = (content: string | null): PageSettings => {
  if (content === null || content === "") throw new Error("this page has no settings of its host")
  return JSON.parse(content) as PageSettings
}
