/**
 * Player of the runbook (`npm run runbook`): plays its sections on a venue of its own, in a temporary
 * folder and on the embedded database, and prints of each section or row that it cannot play what it
 * lacks. It fails where a step does, and where the page has a section that is neither.
 */
import { AuditRunner } from "@bursar/engine-core"
import * as Deployment from "@bursar/http-host/deployment"
import { HostConfig } from "@bursar/http-host"
import * as Embedded from "@bursar/storage-adapters/embedded"
import { ConfigProvider, Effect } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { mkdtemp, readFile, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { run, start, type Started } from "../cli/Bin.ts"
import { remove } from "../folders.ts"
import * as AnchorFile from "#host/outbound/AnchorFile.ts"
import * as Kill from "../kill/host.ts"
import { party } from "../processes/instances.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const page = readFileSync(join(root, "packages/http-host/docs/runbook.md"), "utf8")

type Variables = Readonly<Record<string, string>>

/** Venue that the sections are played on, one after another. */
interface Scene {
  readonly folder: string
  readonly token: string
  variables: Variables
  /** Keys in force, by setting, as `bursar keys make` prints them. */
  keys: MadeKeys
  venue: Started | undefined
}

interface MadeKeys {
  readonly "cursor.keys": string
  readonly "webhooks.keys": ReadonlyArray<Key>
  readonly "webhooks.sealingKeys": ReadonlyArray<Key>
  readonly "audit.keys": ReadonlyArray<Key>
}

type Key = Readonly<Record<string, unknown>> & { readonly keyId: string }

/** Steps of a section, which answer what was seen. */
interface Played {
  readonly play: (scene: Scene) => Promise<string>
}
interface Unplayed {
  readonly lacks: string
}

const demand = (holds: boolean, sentence: string): void => {
  if (!holds) throw new Error(sentence)
}

/** Runs a command of the runbook, which must end with 0; answers what it printed. */
const command = async (words: ReadonlyArray<string>, variables: Variables): Promise<string> => {
  const { code, err, out } = await run(words, variables)
  demand(code === 0, `bursar ${words.join(" ")} ended with ${code}: ${err}${out}`)
  return out.trim()
}

const running = ({ venue }: Scene): Started => {
  if (venue === undefined) throw new Error("the venue does not run")
  return venue
}

const begin = async (scene: Scene): Promise<Started> => {
  scene.venue = await start("start", { ...scene.variables, ...settingsOf(scene.keys) })
  return scene.venue
}

/** Stops the venue by SIGTERM; one that does not end within its grace is killed, and has failed. */
const end = async (scene: Scene): Promise<void> => {
  const { child, ended } = running(scene)
  child.kill("SIGTERM")
  const timer = setTimeout(() => child.kill("SIGKILL"), 30_000)
  const code = await ended
  clearTimeout(timer)
  scene.venue = undefined
  demand(code === 0, `the host ended with ${code} after SIGTERM`)
}

const settingsOf = (keys: MadeKeys): Variables => ({
  BURSAR_CURSOR_KEYS: keys["cursor.keys"],
  BURSAR_WEBHOOKS_KEYS: JSON.stringify(keys["webhooks.keys"]),
  BURSAR_WEBHOOKS_SEALING_KEYS: JSON.stringify(keys["webhooks.sealingKeys"]),
  BURSAR_AUDIT_KEYS: JSON.stringify(keys["audit.keys"])
})

const made = async (variables: Variables): Promise<MadeKeys> =>
  JSON.parse(await command(["keys", "make"], variables))

const call = async (scene: Scene, path: string, body?: object): Promise<Response> => {
  const { at } = running(scene)
  return fetch(`${at.api}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${scene.token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
}

/** Registers a holder; answers its id. */
const holder = async (scene: Scene, holderId: string): Promise<string> => {
  const response = await call(scene, "/v1/holders", {
    holderId,
    party: party(holderId),
    taxResidences: []
  })
  demand(response.status === 202, `a write is answered ${response.status}`)
  return holderId
}

interface Operations {
  readonly value: ReadonlyArray<{ readonly resource: { readonly id: string } }>
  readonly next: string | null
}

const operations = async (scene: Scene, query: string): Promise<Operations> => {
  const response = await call(scene, `/v1/operations?${query}`)
  demand(response.status === 200, `the list of operations is answered ${response.status}`)
  return (await response.json()) as Operations
}

const has = async (scene: Scene, id: string): Promise<boolean> =>
  (await operations(scene, "limit=100")).value.some(({ resource }) => resource.id === id)

const all = (scene: Scene): Variables => ({ ...scene.variables, ...settingsOf(scene.keys) })

const beforeFirstStart = async (scene: Scene): Promise<string> => {
  const settings = await command(["config"], scene.variables)
  demand(settings.includes("webhooks.keys"), "bursar config lists no settings")
  scene.keys = await made(scene.variables)
  return "settings are printed, and keys are made, which the settings name from here on"
}

const probesAndStops = async (scene: Scene): Promise<string> => {
  const { at } = await begin(scene)
  for (const probe of ["livez", "readyz"]) {
    const { status } = await fetch(`${at.management}/${probe}`)
    demand(status === 200, `/${probe} answers ${status}`)
  }
  await holder(scene, "before-the-stop")
  await end(scene)
  await begin(scene)
  demand(await has(scene, "before-the-stop"), "the write before the stop is lost")
  return "the host is alive and ready, ends by SIGTERM within its grace, and goes on"
}

const anchorsFile = ({ variables }: Scene): string =>
  join(variables["BURSAR_DATA"] ?? "", "audit", "anchors.jsonl")

/**
 * Signs the audit log of a venue that is stopped, and keeps the checkpoint in its file, as the worker of
 * schedules does every hour: the player does not wait for one.
 */
const sign = (scene: Scene): Promise<void> =>
  Effect.gen(function* () {
    const config = yield* HostConfig.loadForKeeper
    const { records } = yield* Deployment.make()
    yield* AuditRunner.checkpoint({ newRecords: 1 }).pipe(
      Effect.provide(records(config)),
      Effect.provide(AnchorFile.layer(anchorsFile(scene)))
    )
  }).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ...all(scene) } }))),
    Effect.runPromise
  )

const backup = async (scene: Scene): Promise<string> => {
  await holder(scene, "before-the-backup")
  await end(scene)
  await sign(scene)
  await begin(scene)
  const printed = await command(["backup", "--to", join(scene.folder, "set")], all(scene))
  // An embedded database is its host's alone: any other command beside it is refused.
  const { code, err } = await run(["audit", "verify"], all(scene))
  demand(
    code === 1 && err.includes("stop that host first"),
    `bursar audit verify beside the host ended with ${code}: ${err}`
  )
  return printed
}

const restore = async (scene: Scene): Promise<string> => {
  await holder(scene, "after-the-backup")
  await end(scene)
  await sign(scene)
  // The folder that was lost stands for the place where anchors are kept elsewhere.
  const elsewhere = anchorsFile(scene)
  scene.variables = { ...scene.variables, BURSAR_DATA: join(scene.folder, "restored") }
  const printed = await command(["restore", "--from", join(scene.folder, "set")], all(scene))
  const lost = await run(["audit", "verify", "--anchors", elsewhere], all(scene))
  demand(
    // The restored log goes on with records of its own, under the numbers of those that were lost.
    lost.code === 1 && /its tail was cut|another record was anchored/u.test(lost.err),
    `anchors of what was lost are not missed: ${lost.code} ${lost.err}`
  )
  const restoredTo = Number(/audit record (\d+);/u.exec(printed)?.[1])
  const lines = (await readFile(elsewhere, "utf8")).split("\n").filter((line) => line !== "")
  const valid = lines.filter((line) => JSON.parse(line).size <= restoredTo)
  demand(
    valid.length === 1 && lines.length === 2,
    `of ${lines.length} anchors ${valid.length} are of the restored log`
  )
  const next = join(scene.folder, "elsewhere.jsonl")
  await writeFile(next, `${valid.join("\n")}\n`)
  const audit = await command(["audit", "verify", "--anchors", next], all(scene))
  demand(
    (await readFile(anchorsFile(scene), "utf8")) === (await readFile(next, "utf8")),
    "the restored folder has other anchors than those of the restored log"
  )
  await begin(scene)
  demand(await has(scene, "before-the-backup"), "the write before the backup is lost")
  demand(!(await has(scene, "after-the-backup")), "the restored venue has a later write")
  const { status } = await call(scene, "/v1/reconciliation-runs", {})
  demand(status < 300, `the reconciliation of the venue is answered ${status}`)
  await end(scene)
  await sign(scene)
  const goesOn = await command(["audit", "verify", "--anchors", anchorsFile(scene)], all(scene))
  demand(goesOn.includes("against 2 checkpoints"), goesOn)
  await begin(scene)
  return `${printed}\n${audit}\nreconciled\n${goesOn}`
}

/** Hosts of one venue, on a database of their own beside the scene's. */
interface Hosts {
  readonly first: Scene
  readonly other: Scene
  readonly url: string
}

const bursarLedger = (words: ReadonlyArray<string>, url: string): string =>
  execFileSync(
    process.execPath,
    [join(root, "packages/storage-adapters/src/ledger/simulated/admin.ts"), ...words],
    { env: { DATABASE_URL: url }, encoding: "utf8" }
  )

const onDatabase = <A>(folder: string, use: (url: string) => Promise<A>): Promise<A> =>
  Embedded.start({ dataFolder: folder }).pipe(
    Effect.flatMap(({ url }) => Effect.promise(() => use(url))),
    Effect.scoped,
    Effect.runPromise
  )

const secondHost = (scene: Scene): Promise<string> =>
  onDatabase(join(scene.folder, "database"), async (url) => {
    const own = (name: string): Scene => ({
      ...scene,
      variables: {
        ...scene.variables,
        DATABASE_URL: url,
        BURSAR_DATA: join(scene.folder, name)
      },
      venue: undefined
    })
    const hosts: Hosts = { first: own("first-host"), other: own("second-host"), url }
    try {
      const stoodBy = await standby(hosts)
      return `${stoodBy}; ${await ledgerToken(hosts)}`
    } finally {
      for (const each of [hosts.first, hosts.other]) if (each.venue !== undefined) await end(each)
    }
  })

const tokenFile = ({ variables }: Scene): string =>
  join(variables["BURSAR_DATA"] ?? "", "ledger", "venue.token")

/** Starts a host that must be refused by a sentence. */
const refused = async (host: Scene, sentence: string): Promise<void> => {
  const { code, err } = await run(["start"], all(host))
  demand(code === 1 && err.includes(sentence), `a start ended with ${code}: ${err}`)
}

/** On the simulated ledger a second host is a standby: refused while the first runs, and then its successor. */
const standby = async ({ first, other }: Hosts): Promise<string> => {
  await begin(first)
  await refused(other, "venue.token (ledger.token)")
  const token = (await readFile(tokenFile(first), "utf8")).trim()
  other.variables = { ...other.variables, BURSAR_LEDGER_TOKEN: token }
  await refused(other, "is already run by another process")
  await holder(first, "at-the-first")
  await end(first)
  await begin(other)
  demand(await has(other, "at-the-first"), "the standby does not read what the first host wrote")
  return "a second host is refused without the first one's token, and beside it; then it takes over"
}

/** Invites a holder on the ledger, whose party its operator has made; answers the address of the operation. */
const invite = async (scene: Scene, holderId: string, party: string): Promise<string> => {
  const body = { holderId, party, taxResidences: [], admissions: [] }
  const response = await call(scene, "/v1/holders:onboard", body)
  demand(response.status === 202, `an invitation is answered ${await response.text()}`)
  return response.headers.get("location") ?? ""
}

const stateOf = async (scene: Scene, location: string): Promise<string> => {
  const answer = (await (await call(scene, location)).json()) as {
    readonly value: { readonly state: string }
  }
  return answer.value.state
}

const until = async (is: () => Promise<boolean>, sentence: string): Promise<void> => {
  for (let tries = 0; tries < 300; tries++) {
    if (await is()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(sentence)
}

/** The row of the rotation table: the host that runs has the old token in its settings, the other a file. */
const ledgerToken = async ({ first, other, url }: Hosts): Promise<string> => {
  const aside = join(first.folder, "holder.token")
  const { party } = JSON.parse(
    bursarLedger(["party", "add", "holder", "--user", "holder", "--token-out", aside], url)
  )
  bursarLedger(["token", "issue", "bursar-engine", "--token-out", tokenFile(first)], url)
  // A token that was accepted is looked up again after a second.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const waiting = await invite(other, "invited", party)
  await until(
    async () => (await stateOf(other, waiting)) === "running",
    "the worker does not take the write"
  )
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const state = await stateOf(other, waiting)
  demand(state === "running", `a write under the ended token is ${state}`)
  await end(other)
  await refused(other, "ledger.token (BURSAR_LEDGER_TOKEN): UNAUTHENTICATED")
  await begin(first)
  await until(
    async () => (await stateOf(first, waiting)) === "succeeded",
    `the write that waited for the new token is ${await stateOf(first, waiting)}`
  )
  return "a ledger write waits while its token is ended, a start with it is refused, and with the new one the write succeeds"
}

const upgrade = async (scene: Scene): Promise<string> => {
  await command(["backup", "--to", join(scene.folder, "before-the-upgrade")], all(scene))
  await end(scene)
  const said = await command(["migrate"], all(scene))
  await begin(scene)
  demand(await has(scene, "before-the-backup"), "the upgrade lost a write")
  return `backed up, migrated (${said}) and started; older and newer schemas are played by tests`
}

/** Next keys beside those in force, as the rows of the page place them. */
const rotated = async (scene: Scene): Promise<MadeKeys> => {
  const { keys } = scene
  const next = await made(scene.variables)
  const ahead = new Date(Date.now() + 3 * 86_400_000).toISOString()
  const later = next["webhooks.keys"].map((key) => ({ ...key, notBefore: ahead }))
  return {
    "cursor.keys": `${next["cursor.keys"]},${keys["cursor.keys"]}`,
    "webhooks.keys": [...keys["webhooks.keys"], ...later],
    "webhooks.sealingKeys": [...next["webhooks.sealingKeys"], ...keys["webhooks.sealingKeys"]],
    "audit.keys": [...keys["audit.keys"], ...next["audit.keys"]]
  }
}

const rotation = async (scene: Scene): Promise<string> => {
  await holder(scene, "before-the-rotation")
  const { next } = await operations(scene, "limit=1")
  demand(next !== null, "a page has no cursor")
  scene.keys = await rotated(scene)
  await end(scene)
  await begin(scene)
  const after = await operations(scene, `limit=1&after=${encodeURIComponent(next ?? "")}`)
  demand(after.value.length === 1, "a cursor under the old key leads nowhere")
  const tenant = await (await call(scene, "/v1/tenants/venue-1")).text()
  for (const { keyId } of [...scene.keys["webhooks.keys"], ...scene.keys["audit.keys"]]) {
    demand(tenant.includes(keyId), `the tenant's record does not publish ${keyId}`)
  }
  // The embedded database is its host's alone: a command beside it needs one that DATABASE_URL names.
  await end(scene)
  const said = await command(["audit", "verify"], all(scene))
  await begin(scene)
  return `new keys beside the old ones: cursors go on, the tenant's record has both; ${said}`
}

const rows: Readonly<Record<string, "played" | Unplayed>> = {
  "`webhooks.keys`": "played",
  "`webhooks.sealingKeys`": "played",
  "`audit.keys`": "played",
  "`cursor.keys`": "played",
  "`signing.keys`": { lacks: "a caller that signs its requests" },
  "secrets of a webhook": { lacks: "a receiver of webhooks" },
  // With the second host, on a database that a command beside it reaches.
  "`ledger.token` of the simulated ledger": "played",
  "keys of the identity provider": { lacks: "a step: nothing is done" }
}

const alerts = async (): Promise<string> => {
  const rules = readFileSync(join(root, "packages/http-host/operate/alerts.yaml"), "utf8")
  const named = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  const sectionNames = [...page.matchAll(/^### (\w+)$/gm)].map(([, name]) => name)
  demand(
    named.toSorted().join() === sectionNames.toSorted().join(),
    `the page and the rules differ: ${named.join()} and ${sectionNames.join()}`
  )
  return `each of the ${named.length} alerts has its section; promtool judges when they fire, in a test`
}

/** Sections of the page, in its order. */
const sections: Readonly<Record<string, Played | Unplayed>> = {
  "Before the first start": { play: beforeFirstStart },
  "Probes and stops": { play: probesAndStops },
  Sizing: { lacks: "a measure: its figures are those of `npm run bench`" },
  Backup: { play: backup },
  Restore: { play: restore },
  "A managed database": { lacks: "a provider with snapshots" },
  "A second host": { play: secondHost },
  "Upgrade and way back": { play: upgrade },
  "Rotation of keys": { play: rotation },
  "Failing over": { lacks: "a standby" },
  Alerts: { play: alerts }
}

/** Names of the page that the player does not have, or has and the page does not. */
const differences = (namesOfPage: ReadonlyArray<string>, here: object): ReadonlyArray<string> => [
  ...namesOfPage.filter((name) => !(name in here)).map((name) => `${name}: nothing plays it`),
  ...Object.keys(here)
    .filter((name) => !namesOfPage.includes(name))
    .map((name) => `${name}: the page has it no more`)
]

const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, name = ""]) => name)
const rotationTable = page.slice(page.indexOf("## Rotation of keys"), page.indexOf("## Failing"))
const rowNames = [...rotationTable.matchAll(/^\| (?!Setting|-)(.+?) \|/gm)].map(
  ([, name = ""]) => name
)

const main = async (): Promise<void> => {
  const apart = [...differences(headings, sections), ...differences(rowNames, rows)]
  demand(apart.length === 0, apart.join("\n"))
  const folder = await mkdtemp(join(tmpdir(), "bursar-runbook-"))
  const identity = await Kill.identity()
  const scene: Scene = {
    folder,
    token: await identity.token("olive", ["operator", "risk"]),
    variables: {
      BURSAR_DATA: join(folder, "venue"),
      BURSAR_ISSUER: "https://issuer.test",
      BURSAR_JWKS_URL: identity.jwksUrl,
      BURSAR_PORT: "0",
      BURSAR_MANAGEMENT_PORT: "0",
      BURSAR_LEDGER_DOOR_PORT: "0"
    },
    keys: { "cursor.keys": "", "webhooks.keys": [], "webhooks.sealingKeys": [], "audit.keys": [] },
    venue: undefined
  }
  try {
    for (const [name, section] of Object.entries(sections)) {
      if ("play" in section) {
        const seen = await section.play(scene).catch((error: unknown) => {
          throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`)
        })
        console.log(`played      ${name}: ${seen.replaceAll("\n", "; ")}`)
      } else console.log(`not played  ${name}: it needs ${section.lacks}`)
      if (name !== "Rotation of keys") continue
      for (const [row, how] of Object.entries(rows)) {
        if (how !== "played") console.log(`not played  ${name}, ${row}: it needs ${how.lacks}`)
      }
    }
  } finally {
    if (scene.venue !== undefined) await end(scene)
    identity.stop()
    await remove(folder)
  }
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
