/** Parameters of the requests of a sign-in: those of the protocol, and those that the venue's provider needs. */
import type { Tenant } from "./Tenant.ts"

/** Parameters that have another value at each sign-in. */
type RequestParameters = Readonly<
  Record<"redirect_uri" | "code_challenge" | "code_challenge_method" | "state" | "nonce", string>
>

/** Parameters of the request that opens the provider's page; the venue's parameters replace none of the protocol. */
export const ofRequest = (
  { clientId, parameters = {}, scopes }: Tenant["signIn"],
  request: RequestParameters
): Readonly<Record<string, string>> => ({
  ...parameters,
  ...request,
  client_id: clientId,
  response_type: "code",
  scope: scopes.join(" ")
})

/** Parameters that the token request repeats: a resource binds the token, not the code alone (RFC 8707). */
export const ofTokenRequest = ({
  parameters: { resource } = {}
}: Pick<Tenant["signIn"], "parameters">): Readonly<Record<string, string>> =>
  resource === undefined ? {} : { resource }
