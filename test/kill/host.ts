/** A real host as a process of its own, on a database that outlives it. */
import { type ChildProcess, fork } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { bundled } from "../processes/bundled.ts"
import { hostEnvironment } from "../processes/environment.ts"
import { tell } from "../processes/tell.ts"

const root = new URL("../..", import.meta.url).pathname
const issuer = "https://issuer.test"
const audience = "urn:bursar"

export interface Identity {
  readonly jwksUrl: string
  readonly token: (sub: string, roles: ReadonlyArray<string>) => Promise<string>
  readonly stop: () => void
}

/** A key set served on loopback, and tokens signed under it. */
export const identity = async (): Promise<Identity> => {
  const { publicKey, privateKey } = await generateKeyPair("ES256")
  const jwk = { ...(await exportJWK(publicKey)), kid: "k1", alg: "ES256", use: "sig" }
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ keys: [jwk] }))
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  return {
    jwksUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
    token: (sub, roles) =>
      new SignJWT({ roles })
        .setProtectedHeader({ alg: "ES256", kid: "k1", typ: "at+jwt" })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(sub)
        .setIssuedAt()
        .setExpirationTime("1h")
        .sign(privateKey),
    stop: () => server.close()
  }
}

const secretOf = (fill: number): string => Buffer.alloc(32, fill).toString("base64")
const signing = (keyId: string, fill: number): string =>
  JSON.stringify([{ keyId, seed: secretOf(fill), notBefore: "2026-01-01T00:00:00Z" }])

/**
 * Settings of keys for a host on a database that the test has filled: a host makes no keys of its own
 * where there are records already.
 */
export const ownKeys: Readonly<Record<string, string>> = {
  BURSAR_AUDIT_KEYS: signing("au-1", 3),
  BURSAR_WEBHOOKS_KEYS: signing("wh-1", 5),
  BURSAR_WEBHOOKS_SEALING_KEYS: JSON.stringify([{ keyId: "se-1", secret: secretOf(4) }])
}

export interface Host {
  readonly url: string
  /**
   * Lets it send `writes` more messages to the database, counted from the first that says `says` where
   * that is given, and kills it before or after the last.
   */
  readonly arm: (writes: number, when: "before" | "after", says?: string) => void
  readonly ended: Promise<void>
  /** The last lines of its log. */
  readonly log: () => string
  readonly kill: () => void
  /** Moves its time of day, where `moved-date.ts` is loaded before it; milliseconds. */
  readonly moveDate: (offset: number) => void
  /** Pauses the process at any point, as a machine that swaps does. */
  readonly pause: () => void
  /** Lets it pause itself right before its next submission to the ledger (`ledger-here.ts`). */
  readonly pauseBeforeSending: () => void
  readonly wake: () => void
}

/** A host that was killed before it reported readiness. */
export class KilledAtStart extends Error {}

/** Starts a host and waits until it reports readiness; fails with `KilledAtStart` where it is killed before. */
export const start = async (options: {
  readonly databaseUrl: string
  readonly dataFolder: string
  readonly jwksUrl: string
  /** Settings besides. */
  readonly settings?: Readonly<Record<string, string>>
  /** Loaded before the host. */
  readonly preload?: string | ReadonlyArray<string>
  /** Given the process as soon as there is one. */
  readonly born?: (child: ChildProcess) => void
}): Promise<Host> => {
  const program = "packages/http-host/src/main.ts"
  // A preload may replace modules of the host, which a bundle has no longer apart.
  const file = options.preload === undefined ? await bundled(program) : `${root}${program}`
  const child: ChildProcess = fork(file, ["serve"], {
    execArgv: [`${root}test/kill/tripwire.ts`, options.preload ?? []]
      .flat()
      .flatMap((file) => ["--import", file]),
    silent: true,
    serialization: "advanced",
    env: {
      ...hostEnvironment,
      DATABASE_URL: options.databaseUrl,
      BURSAR_DATA: options.dataFolder,
      BURSAR_ISSUER: issuer,
      BURSAR_AUDIENCE: audience,
      BURSAR_JWKS_URL: options.jwksUrl,
      BURSAR_PORT: "0",
      BURSAR_MANAGEMENT_PORT: "0",
      BURSAR_LEDGER_DOOR_PORT: "0",
      BURSAR_OPERATIONS_LEASE: "1",
      TRIPWIRE_PORT: new URL(options.databaseUrl).port,
      ...options.settings
    }
  })
  options.born?.(child)
  let log = ""
  child.stderr?.on("data", (data) => {
    log = (log + String(data)).slice(-20_000)
  })
  const ended = new Promise<void>((done) => child.once("exit", () => done()))
  const url = await new Promise<string>((ready, failed) => {
    let text = ""
    child.stdout?.on("data", (data) => {
      text += String(data)
      const line = text.indexOf("\n")
      if (line < 0) return
      const api = /"api":"([^"]+)"/.exec(text.slice(0, line))?.[1]
      if (api === undefined) failed(new Error(`the host did not say where it is, but: ${text}`))
      else ready(api)
    })
    child.once("exit", (code, signal) => {
      const text = `the host ended with ${code ?? signal}: ${log}`
      failed(signal === "SIGKILL" ? new KilledAtStart(text) : new Error(text))
    })
  })
  return {
    url,
    arm: (writes, when, says) => tell(child, { arm: writes, when, says }),
    ended,
    log: () => log,
    kill: () => child.kill("SIGKILL"),
    moveDate: (dateOffset) => tell(child, { dateOffset }),
    pause: () => child.kill("SIGSTOP"),
    pauseBeforeSending: () => tell(child, { pauseBeforeSending: true }),
    wake: () => child.kill("SIGCONT")
  }
}
