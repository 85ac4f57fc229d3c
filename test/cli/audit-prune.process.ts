/** `bursar audit prune`: deletes by the settings alone, up to a checkpoint, and logs that it did. */
import {
  Audit,
  AuditRunner,
  Records,
  recordsLayer,
  Settings,
  settingsDefaults
} from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Feed } from "@bursar/engine-core/ports"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { run } from "./Bin.ts"
import { remove } from "../folders.ts"

const seed = Buffer.alloc(32, 9)
const auditKey = { keyId: "au-1", seed, notBefore: Instant.fromNanos(0n), notAfter: null }

const scope = Effect.runSync(Scope.make())
let folder = ""
let env: Readonly<Record<string, string>> = {}

const inStore = <A>(
  effect: Effect.Effect<A, unknown, Layer.Success<ReturnType<typeof store>>>
): Promise<A> => Effect.runPromise(Effect.scoped(Effect.provide(effect, store())))
const store = () =>
  recordsLayer.pipe(
    Layer.provideMerge(Postgres.layer({ url: Redacted.make(env["DATABASE_URL"] ?? "") })),
    Layer.provideMerge(NodeCrypto.layer),
    Layer.provideMerge(Layer.succeed(Settings, { ...settingsDefaults, auditKeys: [auditKey] }))
  )

const seqs = () =>
  inStore(
    Effect.gen(function* () {
      const { records } = yield* (yield* Feed).readAudit({ order: "asc", limit: 100 })
      return records.map(({ seq }) => seq)
    })
  )

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-prune-"))
  const url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
  const superuser = await Effect.runPromise(
    Scope.provide(PgConnection.make({ url: Redacted.make(url) }), scope)
  )
  const say = (sql: string) => Effect.runPromise(superuser.query(sql, [], false))
  // The embedded server has the role from its start; another may have to be given it.
  await say(`do $$ begin create role bursar_pruner nologin;
    exception when duplicate_object then null; end $$`)
  env = {
    DATABASE_URL: url,
    BURSAR_DATA: folder,
    BURSAR_ISSUER: "https://issuer.test",
    BURSAR_JWKS_URL: "https://issuer.test/keys",
    BURSAR_AUDIT_KEYS: JSON.stringify([
      { keyId: "au-1", seed: seed.toString("base64"), notBefore: "1970-01-01T00:00:00Z" }
    ])
  }
  await inStore(
    Effect.gen(function* () {
      const records = yield* Records
      const loaded = Audit.entry({ action: "config.loaded", stage: "succeeded" })
      yield* records.transact(records.audit([loaded, loaded, loaded]))
      yield* AuditRunner.checkpoint({ newRecords: 1 })
      yield* records.transact(records.audit([loaded]))
    })
  )
  await say("grant usage on schema bursar to bursar_pruner")
  await say("grant select, delete on bursar.audit to bursar_pruner")
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await remove(folder)
})

describe("bursar audit prune", () => {
  it("never deletes what the settings keep, or says that it did", async () => {
    const { code, err, out } = await run(["audit", "prune"], env)
    expect([code, out]).toEqual([1, ""])
    expect(err).toContain("retention.auditLog is empty")
    const young = await run(["audit", "prune"], { ...env, BURSAR_RETENTION_AUDIT_LOG: "P1D" })
    expect([young.code, young.out]).toEqual([0, expect.stringContaining("deleted: 0 records")])
    expect(await seqs()).toEqual([1, 2, 3, 4, 5])
  })

  it("never leaves what is due, takes more, or leaves a log that is not in order", async () => {
    const short = { ...env, BURSAR_RETENTION_AUDIT_LOG: "PT0.001S" }
    const { code, out } = await run(["audit", "prune"], short)
    expect([code, out]).toEqual([0, "deleted: 3 records; the audit log begins with checkpoint 4\n"])
    expect(await seqs()).toEqual([4, 5, 6])
    const { code: verified, out: said } = await run(["audit", "verify"], env)
    expect([verified, said]).toEqual([0, expect.stringContaining("3 records, 4 to 6")])
  })
})
