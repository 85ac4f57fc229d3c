/**
 * Commands of a venue's keeper beside the API: replays deliveries, makes keys, verifies the audit
 * log.
 */
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { Documents, Feed } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Exit, Redacted, Result, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { deliveries as deliveryCollection } from "#core/records/webhook/Delivery.ts"
import { type Setting, settings } from "#host/HostConfig.ts"
import * as Kill from "../kill/host.ts"
import { firstOf } from "../long-run.ts"
import { run, start, type Started } from "./Bin.ts"
import { remove } from "../folders.ts"

const planted = Buffer.alloc(32, "planted").toString("base64")

const scope = Effect.runSync(Scope.make())
let folder = ""
let identity: Kill.Identity
let venue: Started
let env: Readonly<Record<string, string>>

/** The deliveries that the store holds for the webhook, by their ids. */
const deliveries = (): Promise<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const documents = yield* Documents
    const found = yield* documents.list({
      collection: deliveryCollection.name,
      pin: { by: "latest" },
      where: [],
      direction: "asc",
      limit: 100
    })
    return found.map(({ recordId }) => recordId)
  }).pipe(
    Effect.provide(Postgres.layer({ url: Redacted.make(env["DATABASE_URL"] ?? "") })),
    Effect.runPromise
  )

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-keeper-"))
  identity = await Kill.identity()
  env = {
    DATABASE_URL: await Effect.runPromise(Scope.provide(TestDatabase.url, scope)),
    BURSAR_DATA: folder,
    BURSAR_ISSUER: "https://issuer.test",
    BURSAR_JWKS_URL: identity.jwksUrl,
    BURSAR_PORT: "0",
    BURSAR_MANAGEMENT_PORT: "0",
    BURSAR_LEDGER_DOOR_PORT: "0",
    BURSAR_WEBHOOKS_CONFIGURED: JSON.stringify([
      // A host name that does not resolve: due deliveries are queued, and fail.
      { webhookId: "keeper", url: "https://keeper.invalid/in", events: ["operation.succeeded"] }
    ]),
    BURSAR_WEBHOOKS_ALLOW_ADDRESSES: "10.1.0.0/16",
    BURSAR_SIGNING_KEYS: JSON.stringify([
      { keyId: "sg-1", sub: "somebody", secret: planted, notBefore: null, notAfter: null }
    ])
  }
  venue = await start("start", env)
})
afterAll(async () => {
  venue.child.kill("SIGTERM")
  await venue.ended
  identity.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await remove(folder)
})

const inStore = <A>(effect: Effect.Effect<A, unknown, Feed | SqlClient.SqlClient>): Promise<A> =>
  Effect.runPromise(
    Effect.provide(effect, Postgres.layer({ url: Redacted.make(env["DATABASE_URL"] ?? "") }))
  )

interface AuditRecord {
  readonly action: string
  readonly detail: Readonly<Record<string, unknown>> | null
}

const auditRecords = (): Promise<ReadonlyArray<AuditRecord>> =>
  inStore(
    Effect.gen(function* () {
      const { records } = yield* (yield* Feed).readAudit({ order: "asc", limit: 100 })
      return records.map(({ text }): AuditRecord => JSON.parse(text))
    })
  )

/** Changes an audit record's text under the same hash, as only an owner of the database can. */
const changeRecord = (seq: number): Promise<unknown> =>
  inStore(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`ALTER TABLE bursar.audit DISABLE TRIGGER USER`
      yield* sql`GRANT UPDATE ON bursar.audit TO CURRENT_USER`
      yield* sql`UPDATE bursar.audit SET text = replace(text, '"stage"', '"stagf"') WHERE seq = ${seq}`
    })
  )

const register = async (holderId: string): Promise<void> => {
  const token = await identity.token("olga", ["operator"])
  const answer = await fetch(`${venue.at.api}/v1/holders`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({
      holderId,
      party: `${holderId}::1220${"ab".repeat(32)}`,
      taxResidences: []
    })
  })
  expect(answer.status).toBe(202)
}

describe("bursar webhooks replay", () => {
  it("queues every event of the stretch that the webhook takes once more, and nothing beside", async () => {
    await register("holder-a")
    await register("holder-b")
    await expect.poll(async () => (await deliveries()).length).toBe(2)
    const seqs = (await deliveries()).map((id) => id.split(".")[0])
    const replayed = (ids: ReadonlyArray<string>) =>
      ids.filter((id) => /^[0-9]+\.keeper\.rp_[0-9A-Za-z]+$/.test(id)).map((id) => id.split(".")[0])

    const stretch = ["--webhook", "keeper", "--from-seq", "1", "--to-seq", "1000"]
    const again = await run(["webhooks", "replay", ...stretch], env)
    expect([again.code, again.out]).toEqual([0, "queued: 2\n"])
    expect(replayed(await deliveries()).toSorted()).toEqual(seqs.toSorted())

    const first = seqs[0] ?? ""
    const one = ["--webhook", "keeper", "--from-seq", first, "--to-seq", first]
    expect((await run(["webhooks", "replay", ...one], env)).out).toBe("queued: 1\n")
    expect(replayed(await deliveries()).filter((seq) => seq === first)).toHaveLength(2)
  })

  it.each<readonly [what: string, words: ReadonlyArray<string>, code: number, said: string]>(
    firstOf(1, [
      [
        "a webhook there is not",
        ["--webhook", "nobody", "--from-seq", "1", "--to-seq", "2"],
        1,
        "no such webhook"
      ],
      [
        "an end before its beginning",
        ["--webhook", "keeper", "--from-seq", "2", "--to-seq", "1"],
        1,
        "--to-seq"
      ],
      [
        "a number that is none",
        ["--webhook", "keeper", "--from-seq", "0", "--to-seq", "1"],
        2,
        "--from-seq"
      ],
      ["no webhook", ["--from-seq", "1", "--to-seq", "1"], 2, "--webhook"]
    ])
  )("tells %s in one line", async (_what, words, code, said) => {
    const ran = await run(["webhooks", "replay", ...words], env)
    const printedLines = ran.err.split("\n").filter((line) => line.startsWith("bursar: "))
    expect([ran.code, ran.out, printedLines.length]).toEqual([code, "", 1])
    expect(printedLines[0]).toContain(said)
  })
})

describe("bursar audit verify", () => {
  it("finds a log in order, which tells under which keys and addresses the venue started", async () => {
    const { code, out } = await run(["audit", "verify"], env)
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^the audit log is in order: [0-9]+ records, 1 to [0-9]+\n$/)
    ])
    const [loaded] = (await auditRecords()).filter(({ action }) => action === "config.loaded")
    expect(loaded?.detail).toMatchObject({ allowAddresses: "10.1.0.0/16", allowHttp: "false" })
    expect(loaded?.detail?.["auditKeys"]).toMatch(/^audit-[0-9a-f]{8}$/)
    expect(loaded?.detail?.["signingKeys"]).toBe("sg-1")
    expect(JSON.stringify(await auditRecords())).not.toContain(planted)
  })

  it("names the first record that somebody changed, and ends with 1", async () => {
    await changeRecord(2)
    const { code, err, out } = await run(["audit", "verify"], env)
    expect([code, out]).toEqual([1, ""])
    expect(err).toMatch(/^bursar: record 2 of the audit log: /m)
    // Records before the stretch are not verified.
    const rest = await run(["audit", "verify", "--from-seq", "3"], env)
    expect([rest.code, rest.out]).toEqual([0, expect.stringContaining(", 3 to ")])
  })

  it("sees by what was kept elsewhere that the tail was cut", async () => {
    const anchors = join(folder, "anchors.jsonl")
    await writeFile(anchors, "no checkpoint\n")
    const broken = await run(["audit", "verify", "--anchors", anchors], env)
    expect([broken.code, broken.err]).toEqual([1, expect.stringContaining("line 1 of ")])
    const none = await run(["audit", "verify", "--anchors", join(folder, "none")], env)
    expect([none.code, none.err]).toEqual([1, expect.stringContaining("cannot be read")])
    const size = 1_000_000
    const anchor = { tenantId: "venue-1", size, head: "0".repeat(64), signature: "", keyId: "x" }
    await writeFile(anchors, `${JSON.stringify(anchor)}\n`)
    const cut = await run(["audit", "verify", "--from-seq", "3", "--anchors", anchors], env)
    expect([cut.code, cut.err]).toEqual([
      1,
      expect.stringContaining(`record ${size} of the audit log`)
    ])
  })
})

describe("bursar keys make", () => {
  it("makes, for every setting that holds keys, a fresh one that the setting takes", async () => {
    const [one, two] = await Promise.all([run(["keys", "make"]), run(["keys", "make"])])
    expect([one.code, one.err]).toEqual([0, ""])
    const table: Readonly<Record<string, Setting>> = settings
    const made: Readonly<Record<string, unknown>> = JSON.parse(one.out)
    const holding = Object.keys(table).filter((name) => /(^|\.)(k|sealingK)eys$/.test(name))
    expect(Object.keys(made).toSorted()).toEqual(holding.toSorted())
    for (const [name, value] of Object.entries(made)) {
      const read = table[name]?.read(value)
      expect(read !== undefined && Result.isSuccess(read), name).toBe(true)
    }
    const secrets = (text: string) => text.match(/[A-Za-z0-9+/_-]{43}=?/g) ?? []
    expect(secrets(one.out)).toHaveLength(holding.length)
    expect(secrets(one.out).filter((secret) => two.out.includes(secret))).toEqual([])
  })
})
