/**
 * The demo's identity provider: one client for each role, client credentials grant, on loopback
 * only.
 */
import { randomBytes } from "node:crypto"
import { createServer, type Server } from "node:http"
import { parseArgs } from "node:util"
import { exportJWK, generateKeyPair, type JWK } from "jose"
import type { Provider } from "oidc-provider"
import { read, readOrMake, write } from "./SecretFiles.ts"
import { audience, people, type Person } from "./People.ts"

const tokenSeconds = 3600

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

/** Tokens are self-contained, so the provider stores nothing. */
const keepsNothing = () => ({
  upsert: () => Promise.resolve(),
  find: () => Promise.resolve(undefined),
  findByUserCode: () => Promise.resolve(undefined),
  findByUid: () => Promise.resolve(undefined),
  consume: () => Promise.resolve(),
  destroy: () => Promise.resolve(),
  revokeByGrantId: () => Promise.resolve()
})

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
  return new Provider(issuer, {
    adapter: keepsNothing,
    clients: Object.values(people).map(({ sub }) => ({
      client_id: sub,
      client_secret: storedData.secrets[sub] ?? "",
      grant_types: ["client_credentials"],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: "client_secret_basic"
    })),
    jwks: { keys: [storedData.key] },
    cookies: { keys: [storedData.cookieKey] },
    clientAuthMethods: ["client_secret_basic"],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    responseTypes: ["code"],
    ttl: { ClientCredentials: tokenSeconds },
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
    extraTokenClaims: (_, { clientId }) => {
      const bearer = Object.values(people).find(({ sub }) => sub === clientId)
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
  server.on("request", openid.callback())
  process.once("SIGTERM", () => server.close().closeAllConnections())
  // One line for the parent process: the provider is ready.
  console.log(JSON.stringify({ issuer, tokens: `${issuer}/token`, keys: `${issuer}/jwks` }))
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
