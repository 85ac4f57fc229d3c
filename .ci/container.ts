/**
 * Plays the image of packages/http-host/operate/Containerfile without a container engine: runs its
 * build steps with the folders of this machine in place of the image's, then its entry point on a
 * read-only copy, without root where this account is root, with its variables and its health check,
 * and ends it with its stop signal. The first two steps are those that CI has run before.
 */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as Embedded from "@bursar/storage-adapters/embedded"
import { Effect } from "effect"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const file = join(root, "packages/http-host/operate/Containerfile")
const text = readFileSync(file, "utf8").replaceAll("\\\n", " ")

/** Instructions of the file, each with its words. */
const instructions = text.split("\n").flatMap((line) => {
  const found = /^(?<name>[A-Z]+) (?<words>.*)$/u.exec(line)
  return found === null
    ? []
    : [{ name: found.groups?.["name"], words: found.groups?.["words"] ?? "" }]
})
const all = (name: string): ReadonlyArray<string> =>
  instructions.filter((each) => each.name === name).map(({ words }) => words)
const one = (name: string): string => {
  const found = all(name)
  if (found.length !== 1) throw new Error(`${file} has ${found.length} of ${name}`)
  return found[0] ?? ""
}

const ranBefore = ["npm ci --no-audit --no-fund", "node .ci/build.ts"]
const [first, second, ...steps] = all("RUN")
if (first !== ranBefore[0] || second !== ranBefore[1] || steps.length !== 2) {
  throw new Error(`${file} has other steps than are played here`)
}

const folder = mkdtempSync(join(tmpdir(), "bursar-container-"))
const app = join(folder, "app")
const data = join(folder, "data")
const managementPort = await new Promise<number>((resolve) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
  })
})
const here = (words: string): string =>
  words
    .replaceAll("/app", app)
    .replaceAll("/var/lib/bursar", data)
    .replaceAll(":9464/", `:${managementPort}/`)

/** An account without rights, where this one is root. */
const nobody = process.getuid?.() === 0 ? 65_534 : undefined

const environment = Object.fromEntries(
  [...one("ENV").matchAll(/(?<name>\w+)=(?<value>\S+)/gu)].map(({ groups }) => [
    groups?.["name"] ?? "",
    here(groups?.["value"] ?? "")
  ])
)

/** Is as old as the moment before the start. */
const marker = join(folder, "before")

const writtenSince = (path: string): string =>
  execFileSync("find", [path, "-newer", marker], { encoding: "utf8" }).trim()

const play = Effect.gen(function* () {
  const { url } = yield* Embedded.start({ dataFolder: join(folder, "database") })
  const [program = "", ...args] = JSON.parse(here(one("ENTRYPOINT"))) as ReadonlyArray<string>
  const command = JSON.parse(one("CMD")) as ReadonlyArray<string>
  const env = {
    PATH: process.env["PATH"],
    ...environment,
    BURSAR_HOST: "127.0.0.1",
    BURSAR_MANAGEMENT_HOST: "127.0.0.1",
    BURSAR_PORT: "0",
    BURSAR_MANAGEMENT_PORT: String(managementPort),
    BURSAR_LEDGER_DOOR_PORT: "0",
    BURSAR_ISSUER: "https://identity.venue.example/realms/venue",
    BURSAR_JWKS_URL: "https://identity.venue.example/realms/venue/certs",
    DATABASE_URL: url
  }
  yield* Effect.promise(async () => {
    const account = nobody === undefined ? {} : { uid: nobody, gid: nobody }
    const child = spawn(program, [...args, ...command], {
      cwd: data,
      env,
      stdio: ["ignore", "pipe", "inherit"],
      ...account
    })
    const ended = once(child, "exit")
    try {
      const line = await Promise.race([
        once(createInterface(child.stdout), "line").then(([said]) => String(said)),
        ended.then(([code]) => Promise.reject(new Error(`the host ended with ${code}`)))
      ])
      const { api, state } = JSON.parse(line)
      if (state !== "ready") throw new Error(`the host says ${line}`)
      const health =
        /CMD (?<words>\[.*\])$/u.exec(here(one("HEALTHCHECK")))?.groups?.["words"] ?? "[]"
      const [check = "", ...with_] = JSON.parse(health) as ReadonlyArray<string>
      execFileSync(check, with_, { env, ...account })
      const answer = await fetch(`${api}/v1/health`)
      if (!answer.ok) throw new Error(`/v1/health answers ${answer.status}`)
      child.kill(one("STOPSIGNAL") as NodeJS.Signals)
      const [code] = await ended
      if (code !== 0) throw new Error(`the stop signal ended the host with ${code}`)
    } finally {
      child.kill("SIGKILL")
    }
    if (writtenSince(app) !== "") throw new Error("the host wrote into its own folder")
  })
}).pipe(Effect.scoped)

try {
  for (const step of steps) {
    // The folder of the data is made for the image's account; here it is made for this machine's.
    if (step.startsWith("install ")) continue
    execFileSync("sh", ["-c", here(step)], { cwd: root, stdio: "inherit" })
  }
  execFileSync("chmod", ["-R", "a-w,a+rX", app])
  writeFileSync(marker, "")
  mkdirSync(data, { mode: 0o700 })
  chmodSync(folder, 0o755)
  if (nobody !== undefined) chownSync(data, nobody, nobody)
  await Effect.runPromise(play)
  console.log("the image's steps, start, health check and stop: played")
} finally {
  execFileSync("chmod", ["-R", "u+w", folder])
  rmSync(folder, { recursive: true, force: true })
}
