/** The part of the OpenID provider that the demo uses; the package brings no types of its own. */
declare module "oidc-provider" {
  import type { RequestListener } from "node:http"

  interface Client {
    readonly clientId: string
  }
  interface ResourceServer {
    readonly scope: string
    readonly audience: string
    readonly accessTokenTTL: number
    readonly accessTokenFormat: "jwt"
    readonly jwt: { readonly sign: { readonly alg: "ES256" } }
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
    readonly adapter: () => Adapter
    readonly clients: ReadonlyArray<{
      readonly client_id: string
      readonly client_secret: string
      readonly grant_types: ReadonlyArray<"client_credentials">
      readonly response_types: ReadonlyArray<never>
      readonly redirect_uris: ReadonlyArray<never>
      readonly token_endpoint_auth_method: "client_secret_basic" | "client_secret_post"
    }>
    readonly jwks: { readonly keys: ReadonlyArray<object> }
    readonly cookies: { readonly keys: ReadonlyArray<string> }
    readonly clientAuthMethods: ReadonlyArray<"client_secret_basic" | "client_secret_post">
    readonly clientDefaults: { readonly id_token_signed_response_alg: "ES256" }
    readonly responseTypes: ReadonlyArray<string>
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
      token: Client
    ) => Promise<Readonly<Record<string, unknown>>> | undefined
  }

  export class Provider {
    constructor(issuer: string, configuration: Configuration)
    callback(): RequestListener
    on(event: "server_error", listener: (context: unknown, error: Error) => void): this
  }
  export const errors: { readonly InvalidTarget: new (detail?: string) => Error }
}
