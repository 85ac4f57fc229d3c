/**
 * Tampering with the audit log (security test 27): changes by an attacker with the database are
 * found, each at its record.
 */
import { Audit, AuditRunner, type Checkpoint, recordsLayer } from "@bursar/engine-core"
import { Settings, settingsDefaults } from "@bursar/engine-core"
import { Instant, PlainJson } from "@bursar/engine-core/kernel"
import { type AuditRow, Feed } from "@bursar/engine-core/ports"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Layer, Redacted, Result, Scope } from "effect"
import { createHash } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bearer, json, open, send, slugOf, type Venue } from "../venue.ts"
import { isLong } from "../../long-run.ts"

const auditKey = {
  keyId: "au-1",
  seed: new Uint8Array(32).fill(5),
  notBefore: Instant.fromNanos(0n),
  notAfter: null
}

/** Planted in claims and bodies; none of it belongs in the log. */
const planted = {
  name: "Planted Name",
  email: "planted@example.test",
  text: "planted-text",
  amount: "31337.4211"
}

const scope = Effect.runSync(Scope.make())
let url = Redacted.make("")
let venues: ReadonlyArray<Venue> = []
let superuser: PgConnection.PgConnection

const inStore = <A>(
  effect: Effect.Effect<A, unknown, Layer.Success<ReturnType<typeof store>>>
): Promise<A> => Effect.runPromise(Effect.scoped(Effect.provide(effect, store())))

const store = () =>
  recordsLayer.pipe(
    Layer.provideMerge(Postgres.layer({ url })),
    Layer.provideMerge(NodeCrypto.layer),
    Layer.provideMerge(Layer.succeed(Settings, { ...settingsDefaults, auditKeys: [auditKey] }))
  )

/** The SQL of a hash as the store keeps it. */
const bytes = (hash: string): string => `decode('${hash}', 'hex')`

const say = (sql: string) => Effect.runPromise(superuser.query(sql, [], false))

const rows = (): Promise<ReadonlyArray<AuditRow>> =>
  inStore(
    Effect.gen(function* () {
      const { records } = yield* (yield* Feed).readAudit({ order: "asc", limit: 10_000 })
      return records
    })
  )

const verify = (anchors: ReadonlyArray<Checkpoint.Anchor> = []) =>
  inStore(AuditRunner.verifyLog({ anchors }))

/** A record made anew after another, with the hash that the engine itself would give it. */
const following = (row: AuditRow, prevHash: string, changes: object = {}) => {
  const said = JSON.parse(row.text) as Record<string, unknown>
  const made = JSON.stringify({ ...said, ...changes, prevHash })
  const text = PlainJson.canonical(Result.getOrThrow(PlainJson.parse(made)))
  return { text, hash: createHash("sha256").update(Audit.hashed("venue-1", text)).digest("hex") }
}

const writers = isLong ? 64 : 24
const approver = () => bearer(["approver"], { sub: "ann", name: planted.name })
const operator = () =>
  bearer(["operator"], { sub: "olga", name: planted.name, email: planted.email })

/** A write, accepted, that ends; one that is refused; one that awaits, is signed twice and runs. */
const whole = async (venue: Venue, index: number): Promise<void> => {
  const as = await operator()
  const write = (path: string, body: object) =>
    send(venue, { method: "POST", path, as, body: JSON.stringify(body) })
  const holderId = `note-${index}`
  const { text } = planted
  const note = `{"holderId":"${holderId}","text":"${text}","amount":${planted.amount},"owner":null}`
  const path = "/v1/holders"
  expect((await send(venue, { method: "POST", path, as, body: note })).status).toBe(202)
  expect((await write("/v1/holders", { holderId, secret: planted.text })).status).toBe(400)
  expect((await write(`/v1/holds/hold-${index}:release`, { reason: planted.text })).status).toBe(
    202
  )
}

beforeAll(async () => {
  const href = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
  url = Redacted.make(href)
  superuser = await Effect.runPromise(Scope.provide(PgConnection.make({ url }), scope))
  venues = await Promise.all([1, 2].map(() => open({ storage: Postgres.layer({ url }) })))
  const one = venues[0]
  if (one === undefined) throw new Error("no venue")
  // Many at once, on two instances, each of which chains to what the other wrote.
  await Promise.all(
    Array.from({ length: writers }, (_, index) => whole(venues[index % 2] ?? one, index))
  )
  const awaiting = await json<{ readonly value: ReadonlyArray<{ readonly actionKey: string }> }>(
    await send(one, { path: "/v1/approvals?limit=1", as: await approver() })
  )
  const [action] = awaiting.value
  for (const sub of ["ann", "bob"]) {
    const signed = await send(one, {
      method: "POST",
      path: `/v1/approvals/${action?.actionKey}:approve`,
      as: await bearer(["approver"], { sub, name: planted.name, email: planted.email })
    })
    expect(signed.status).toBe(202)
  }
  expect(await slugOf(await send(one, { path: "/v1/holders", as: "Bearer planted-text" }))).toBe(
    "unauthenticated"
  )
  await one.settle()
})

afterAll(async () => {
  await Promise.all(venues.map((venue) => venue.close()))
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

// Seen red in a copy whose PgFeed.ts does not lock the head: one of the writes is answered 500.
describe(`the log of ${writers} writers on two instances`, () => {
  it("never has a fork, a gap, or a fault", async () => {
    const found = await verify()
    expect(found.fault).toBeNull()
    // Each: requested, refused, awaiting, started, ended; and the rest of the whole run.
    expect(found.records).toBeGreaterThan(writers * 5)
  })

  it("never tells a name, an e-mail, a secret, a body's text or a decimal", async () => {
    for (const { text } of await rows()) {
      for (const value of Object.values(planted)) expect(text).not.toContain(value)
      const { at, ...said } = JSON.parse(text) as Record<string, unknown>
      expect(at).toMatch(/\.\d{6}Z$/)
      const numbers = (value: unknown): ReadonlyArray<number> =>
        typeof value === "number"
          ? [value]
          : typeof value === "object" && value !== null
            ? Object.values(value).flatMap(numbers)
            : []
      expect(numbers(said).every(Number.isSafeInteger)).toBe(true)
      // A decimal is not told as a text either.
      expect(JSON.stringify(said)).not.toMatch(/[^0-9A-Za-z.]\d+\.\d+[^0-9.]/)
      for (const route of [said["route"]]) expect(String(route)).not.toMatch(/note-|hold-|ak_/)
    }
  })

  it("never leaves out a step of a write that awaited two approvers", async () => {
    const all = (await rows()).map(({ text }) => JSON.parse(text) as Audit.Entry)
    const ran = all.find(({ stage }) => stage === "approved")
    const steps = all.filter(({ actionKey }) => actionKey === ran?.actionKey)
    expect(steps.map(({ action, stage, actor }) => [action, stage, actor])).toEqual([
      ["hold.release", "awaiting", "olga"],
      ["approval.approve", "signed", "ann"],
      ["approval.approve", "approved", "bob"],
      ["hold.release", "started", "olga"],
      ["hold.release", "succeeded", "olga"]
    ])
    expect(new Set(steps.slice(0, 3).map(({ bodyHash }) => bodyHash)).size).toBe(1)
  })

  // Seen red in a copy whose migration 0002 has no trigger before UPDATE and DELETE.
  // The trigger, and the rights that the application's role lacks, are tested with the store.
  it("never is changed by a plain UPDATE or DELETE of a superuser", async () => {
    await expect(say("update bursar.audit set text = 'x' where seq = 1")).rejects.toThrow()
    await expect(say("delete from bursar.audit where seq = 1")).rejects.toThrow()
    expect((await verify()).fault).toBeNull()
  })
})

// Switched off in a copy of AuditVerify.ts, one at a time, each seen red where it is alone to tell: the
// hash of the text, the columns beside it, the hash before it, the numbers in a row, the head that stands
// further or less far, a checkpoint's signature, the anchor beyond the end and the anchored hash.
describe("whoever holds the database, triggers off", () => {
  let anchor: Checkpoint.Anchor
  let last: AuditRow
  beforeAll(async () => {
    const before = (await rows()).at(-1)
    await inStore(AuditRunner.checkpoint({ newRecords: 1 }))
    const signed = (await rows()).at(-1)
    if (before === undefined || signed?.action !== "audit.checkpoint") throw new Error("unsigned")
    last = signed
    const { detail } = JSON.parse(signed.text) as { readonly detail: Checkpoint.Anchor }
    anchor = { ...detail, tenantId: settingsDefaults.tenantId }
    expect(anchor).toMatchObject({ size: before.seq, head: before.hash })
    await say("alter table bursar.audit disable trigger user")
    await say("create table public.kept_audit as select * from bursar.audit")
    await say("create table public.kept_head as select * from bursar.head")
  })

  /** Changes the log, returns the findings of a check, and restores the log. */
  const after = async (
    statements: ReadonlyArray<string>,
    anchors: ReadonlyArray<Checkpoint.Anchor> = []
  ) => {
    for (const sql of statements) await say(sql)
    const { fault } = await verify(anchors)
    await say("delete from bursar.audit")
    await say("insert into bursar.audit select * from public.kept_audit")
    await say(`update bursar.head h set audit_seq = k.audit_seq, audit_hash = k.audit_hash
      from public.kept_head k where h.id = k.id`)
    expect((await verify([anchor])).fault).toBeNull()
    return fault
  }

  it.each<[what: string, seq: number, statements: ReadonlyArray<string>]>([
    [
      "changes a text",
      7,
      [`update bursar.audit set text = replace(text, 'olga', 'eve') where seq = 7`]
    ],
    [
      "changes what no column beside it repeats",
      7,
      [`update bursar.audit set text = replace(text, '"req_', '"rex_') where seq = 7`]
    ],
    ["changes what filters see", 8, [`update bursar.audit set actor = 'eve' where seq = 8`]],
    [
      "changes a text and its own hash",
      10,
      [
        `update bursar.audit set text = replace(text, 'olga', 'eve'), actor = 'eve' where seq = 9`,
        `update bursar.audit set hash = sha256(convert_to(
           E'bursar-audit-v1\\nvenue-1\\n' || text, 'UTF8')) where seq = 9`
      ]
    ],
    ["deletes a record", 12, ["delete from bursar.audit where seq = 12"]],
    [
      "deletes a record and closes the gap",
      12,
      [
        "delete from bursar.audit where seq = 12",
        "update bursar.audit set seq = seq - 1 where seq = 13"
      ]
    ],
    [
      "swaps two records",
      14,
      [
        "update bursar.audit set seq = 1000000 where seq = 14",
        "update bursar.audit set seq = 14 where seq = 15",
        "update bursar.audit set seq = 15 where seq = 1000000"
      ]
    ]
  ])("%s, and is not found or not named", async (_, seq, statements) => {
    expect((await after(statements))?.seq).toBe(seq)
  })

  it("never deletes a record and chains its neighbours, and is not found or not named", async () => {
    const all = await rows()
    const before = all.find(({ seq }) => seq === 18)
    const next = all.find(({ seq }) => seq === 20)
    if (before === undefined || next === undefined) throw new Error("too few records")
    const { text, hash } = following(next, before.hash)
    const statements = [
      "delete from bursar.audit where seq = 19 or seq > 20",
      `update bursar.audit set prev_hash = ${bytes(before.hash)}, hash = ${bytes(hash)}, text = $t$${text}$t$
       where seq = 20`,
      `update bursar.head set audit_seq = 20, audit_hash = ${bytes(hash)}`
    ]
    expect((await after(statements))?.seq).toBe(19)
  })

  it("never inserts a record, and is not found or not named", async () => {
    const text = last.text.replace(`"seq":${last.seq}`, `"seq":${last.seq + 1}`)
    const hash = createHash("sha256").update(Audit.hashed("venue-1", text)).digest("hex")
    const insert = `insert into bursar.audit
      select ${last.seq + 1}, at, action, actor, resource_kind, resource_id,
        replace(text, '"seq":${last.seq}', '"seq":${last.seq + 1}'), hash, ${bytes(hash)}
      from bursar.audit where seq = ${last.seq}`
    expect((await after([insert]))?.seq).toBe(last.seq + 1)
  })

  /** Appends a well-made record after the last without a move of the head. */
  const behind = (row: AuditRow, changes: object = {}) => {
    const seq = last.seq + 1
    const { text, hash } = following(row, last.hash, { seq, ...changes })
    const insert = `insert into bursar.audit
      select ${seq}, at, action, actor, resource_kind, resource_id, $t$${text}$t$,
        ${bytes(last.hash)}, ${bytes(hash)} from bursar.audit where seq = ${row.seq}`
    return {
      insert,
      moveHead: `update bursar.head set audit_seq = ${seq}, audit_hash = ${bytes(hash)}`
    }
  }

  it("never adds a record beyond the head, and is not found or not named", async () => {
    const [first] = await rows()
    if (first === undefined) throw new Error("no record")
    expect((await after([behind(first).insert]))?.seq).toBe(last.seq + 1)
  })

  it("never adds a checkpoint that no key signed, head and all, and is not found or not named", async () => {
    const { detail } = JSON.parse(last.text) as { readonly detail: Checkpoint.Anchor }
    // Of the right record and under a known key, so that only the signature is wrong.
    const forged = behind(last, { detail: { ...detail, size: last.seq, head: last.hash } })
    expect((await after([forged.insert, forged.moveHead]))?.seq).toBe(last.seq + 1)
  })

  it("never cuts the tail and sets the head back, and is not found with anchors", async () => {
    const cut = [
      `delete from bursar.audit where seq > 20`,
      `update bursar.head h set audit_seq = 20,
         audit_hash = (select hash from bursar.audit where seq = 20)`
    ]
    // Without the anchors that are kept outside the database the cut is not found.
    expect(await after(cut)).toBeNull()
    expect((await after(cut, [anchor]))?.seq).toBe(21)
    // With the head unchanged, the store itself reveals the cut.
    expect((await after(cut.slice(0, 1)))?.seq).toBe(21)
  })

  it("never makes every hash anew, and is not found with anchors", async () => {
    const all = await rows()
    let prevHash = Audit.origin
    const statements: Array<string> = []
    // The forger has no key: its checkpoints would not verify, so it leaves them out.
    const kept = all.filter(({ action }) => action !== "audit.checkpoint")
    for (const row of kept) {
      const actor = row.actor === "olga" ? "eve" : row.actor
      const { text, hash } = following(row, prevHash, { actor })
      const values = [bytes(prevHash), bytes(hash), `$t$${text}$t$`]
      const setActor = actor === null ? "null" : `'${actor}'`
      statements.push(`update bursar.audit set prev_hash = ${values[0]}, hash = ${values[1]},
        text = ${values[2]}, actor = ${setActor} where seq = ${row.seq}`)
      prevHash = hash
    }
    statements.push(
      `delete from bursar.audit where action = 'audit.checkpoint'`,
      `update bursar.head set audit_seq = ${kept.length}, audit_hash = ${bytes(prevHash)}`
    )
    expect(await after(statements)).toBeNull()
    expect((await after(statements, [anchor]))?.seq).toBe(anchor.size)
  })
})
