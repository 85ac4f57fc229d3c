/**
 * The demo's identity provider, on loopback only: one client for each role with the client credentials
 * grant, and the public client of the venue console, at which one of the people is chosen.
 */
import { randomBytes } from "node:crypto"
import { createServer, type Server } from "node:http"
import { parseArgs } from "node:util"
import { exportJWK, generateKeyPair, type JWK } from "jose"
import type { Provider } from "oidc-provider"
import { read, readOrMake, write } from "./SecretFiles.ts"
import { audience, people, type Person } from "./People.ts"
import * as SignInPage from "./SignInPage.ts"

const tokenSeconds = 3600
const daySeconds = 86_400

/** Stored data of the provider: its signing key and every client's secret. */
interface ProviderSecrets {
  readonly key: JWK
  readonly cookieKey: string
  readonly secrets: Readonly<Record<string, string>>
}

const make = async (): Promise<ProviderSecrets> => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true })
  return {
    key: { ...(await exportJWK(privateKey)), alg: "ES256", use: "sig", kid: "demo-1" },
    cookieKey: randomBytes(32).toString("base64url"),
    secrets: {}
  }
}

/** Adds secrets for people whom an earlier start did not have. */
const withSecrets = (storedData: ProviderSecrets): ProviderSecrets => ({
  ...storedData,
  secrets: Object.fromEntries(
    Object.values(people).map(({ sub }) => [
      sub,
      storedData.secrets[sub] ?? randomBytes(24).toString("base64url")
    ])
  )
})

/** Claims of a token besides its subject. */
const claimsOf = async ({ name, email, role, holder }: Person, data: string) => ({
  name,
  email,
  roles: [role],
  ...(holder === undefined ? {} : { holder }),
  // The ledger's parties may be created after this provider has started, so the file is read for
  // each token.
  ...(role === "registrar"
    ? { party: (await read<Parties>(`${data}/parties.json`))?.registrar }
    : {})
})

interface Parties {
  readonly registrar: string
}

/** Loads the provider, an optional dependency of the package. */
const loaded = (): Promise<typeof import("oidc-provider")> =>
  import("oidc-provider").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "ERR_MODULE_NOT_FOUND") throw cause
    throw new Error(
      "the demo signs people in by oidc-provider, an optional dependency that is not installed: install without --omit=optional"
    )
  })

const makeProvider = async (
  issuer: string,
  storedData: ProviderSecrets,
  data: string
): Promise<Provider> => {
  const { errors, Provider } = await loaded()
  // Its own store in memory by default: who signs in does so anew after a restart.
  return new Provider(issuer, {
    clients: [
      ...Object.values(people).map(({ sub }) => ({
        client_id: sub,
        client_secret: storedData.secrets[sub] ?? "",
        grant_types: ["client_credentials"] as const,
        response_types: [],
        redirect_uris: [],
        token_endpoint_auth_method: "client_secret_basic" as const
      })),
      {
        client_id: SignInPage.clientId,
        // Of a native client the port of a loopback address is not compared (RFC 8252, 7.3): the host may
        // have taken any.
        application_type: "native",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        redirect_uris: ["http://127.0.0.1/console/sign-in", "http://localhost/console/sign-in"],
        token_endpoint_auth_method: "none"
      }
    ],
    jwks: { keys: [storedData.key] },
    cookies: { keys: [storedData.cookieKey] },
    clientAuthMethods: ["client_secret_basic", "none"],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    clientBasedCORS: (_, origin) => SignInPage.isLoopback(origin),
    responseTypes: ["code"],
    scopes: ["openid", "profile", "email"],
    claims: { openid: ["sub"], profile: ["name"], email: ["email"] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    issueRefreshToken: () => Promise.resolve(true),
    rotateRefreshToken: true,
    findAccount: (_, sub) => {
      const found = SignInPage.personOf(sub)
      return found === undefined
        ? undefined
        : {
            accountId: sub,
            claims: () => Promise.resolve({ sub, name: found.name, email: found.email })
          }
    },
    interactions: { url: (_, { uid }) => `${SignInPage.path}${uid}` },
    ttl: {
      ClientCredentials: tokenSeconds,
      AccessToken: tokenSeconds,
      IdToken: tokenSeconds,
      AuthorizationCode: 60,
      Interaction: 600,
      RefreshToken: daySeconds,
      Grant: daySeconds,
      Session: daySeconds
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        getResourceServerInfo: (_, resource) => {
          if (resource !== audience) throw new errors.InvalidTarget()
          return {
            scope: "",
            audience,
            accessTokenTTL: tokenSeconds,
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: "ES256" } }
          }
        },
        useGrantedResource: () => true
      }
    },
    extraTokenClaims: (_, { accountId, clientId }) => {
      const bearer = SignInPage.personOf(accountId ?? clientId)
      return bearer === undefined ? undefined : claimsOf(bearer, data)
    }
  })
}

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, "127.0.0.1", () => {
      const address = server.address()
      resolve(typeof address === "object" && address !== null ? address.port : port)
    })
  })

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "0" },
      data: { type: "string" }
    }
  })
  if (values.data === undefined) throw new Error("--data names the folder that keeps the secrets")
  const file = `${values.data}/identity.json`
  const storedData = withSecrets(await readOrMake<ProviderSecrets>(file, make))
  await write(file, storedData)
  const server = createServer()
  const port = await listen(server, Number(values.port))
  const issuer = `http://127.0.0.1:${port}`
  const openid = await makeProvider(issuer, storedData, values.data)
  openid.on("server_error", (_, error) => console.error(error))
  const answer = openid.callback()
  server.on("request", (request, response) => {
    if (request.url?.startsWith(SignInPage.path) !== true) answer(request, response)
    else {
      SignInPage.answer({ openid, request, response }).catch((error: unknown) => {
        console.error(error)
        response.writeHead(400, { "content-type": "text/plain" }).end("This sign-in is over.")
      })
    }
  })
  process.once("SIGTERM", () => server.close().closeAllConnections())
  // One line for the parent process: the provider is ready.
  console.log(JSON.stringify({ issuer, tokens: `${issuer}/token`, keys: `${issuer}/jwks` }))
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
