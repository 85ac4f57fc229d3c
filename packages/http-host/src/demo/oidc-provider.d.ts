/** The part of the OpenID provider that the demo uses; the package brings no types of its own. */
declare module "oidc-provider" {
  import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"

  /** A token as it is made: for a client alone, or for a person at one. */
  interface IssuedToken {
    readonly clientId: string
    readonly accountId?: string
  }
  interface ResourceServer {
    readonly scope: string
    readonly audience: string
    readonly accessTokenTTL: number
    readonly accessTokenFormat: "jwt"
    readonly jwt: { readonly sign: { readonly alg: "ES256" } }
  }
  type GrantType = "client_credentials" | "authorization_code" | "refresh_token"
  interface ClientMetadata {
    readonly client_id: string
    readonly client_secret?: string
    readonly application_type?: "native" | "web"
    readonly grant_types: ReadonlyArray<GrantType>
    readonly response_types: ReadonlyArray<"code">
    readonly redirect_uris: ReadonlyArray<string>
    readonly token_endpoint_auth_method: "client_secret_basic" | "client_secret_post" | "none"
  }
  interface Account {
    readonly accountId: string
    readonly claims: () => Promise<Readonly<Record<string, unknown>>>
  }
  interface Adapter {
    upsert(): Promise<void>
    find(): Promise<undefined>
    findByUserCode(): Promise<undefined>
    findByUid(): Promise<undefined>
    consume(): Promise<void>
    destroy(): Promise<void>
    revokeByGrantId(): Promise<void>
  }
  interface Configuration {
    /** Store of the provider; absent: its own in memory. */
    readonly adapter?: () => Adapter
    readonly clients: ReadonlyArray<ClientMetadata>
    readonly jwks: { readonly keys: ReadonlyArray<object> }
    readonly cookies: { readonly keys: ReadonlyArray<string> }
    readonly clientAuthMethods: ReadonlyArray<"client_secret_basic" | "client_secret_post" | "none">
    readonly clientDefaults: { readonly id_token_signed_response_alg: "ES256" }
    readonly clientBasedCORS?: (context: unknown, origin: string) => boolean
    readonly responseTypes: ReadonlyArray<string>
    readonly scopes?: ReadonlyArray<string>
    readonly claims?: Readonly<Record<string, ReadonlyArray<string>>>
    readonly conformIdTokenClaims?: boolean
    readonly pkce?: { readonly required: () => boolean }
    readonly issueRefreshToken?: () => Promise<boolean>
    readonly rotateRefreshToken?: boolean
    readonly findAccount?: (context: unknown, sub: string) => Account | undefined
    readonly interactions?: {
      readonly url: (context: unknown, interaction: { readonly uid: string }) => string
    }
    readonly ttl: Readonly<Record<string, number>>
    readonly features: {
      readonly devInteractions: { readonly enabled: false }
      readonly clientCredentials: { readonly enabled: true }
      readonly resourceIndicators: {
        readonly enabled: true
        readonly defaultResource: () => string
        readonly getResourceServerInfo: (context: unknown, resource: string) => ResourceServer
        readonly useGrantedResource: () => boolean
      }
    }
    readonly extraTokenClaims: (
      context: unknown,
      token: IssuedToken
    ) => Promise<Readonly<Record<string, unknown>>> | undefined
  }
  interface Grant {
    addOIDCScope(scope: string): void
    addResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }

  export class Provider {
    constructor(issuer: string, configuration: Configuration)
    readonly Grant: new (about: {
      readonly accountId: string
      readonly clientId: string
    }) => Grant
    callback(): RequestListener
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<unknown>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: {
        readonly login: { readonly accountId: string }
        readonly consent: { readonly grantId: string }
      },
      options: { readonly mergeWithLastSubmission: boolean }
    ): Promise<void>
    on(event: "server_error", listener: (context: unknown, error: Error) => void): this
  }
  export const errors: { readonly InvalidTarget: new (detail?: string) => Error }
}
