/** The audit log: its vectors, its chain, its signatures, and what checking it finds. */
import {
  Audit,
  AuditLog,
  AuditQueries,
  AuditRunner,
  AuditVerify,
  Checkpoint,
  Records,
  Workers
} from "@bursar/engine-core"
import { Instant, PlainJson } from "@bursar/engine-core/kernel"
import { AuditAnchor, type AuditRow, Crypto, Feed } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Context, Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { auditStages, ownActions } from "#core/vocabulary/AuditAction.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { runsOf } from "../long-run.ts"

const runs = runsOf(100)

const crypto = Context.get(
  Effect.runSync(Effect.scoped(Layer.build(NodeCrypto.layerCrypto))),
  Crypto
)

/** The contract's test secret: 00 11 22 … ff, twice. */
const seed = Uint8Array.from({ length: 32 }, (_, at) => (at % 16) * 0x11)
const tenantId = "venue-1"

/** A record and its hash, written down (docs/contract/audit-log.md#hash-chain). */
const vector = {
  text: `{"action":"reserve.propose","actionKey":"ak_01","actor":"svc-operator","at":"2026-01-01T00:00:00.000000Z","bodyHash":"2783d9ec6f38e2e2f32a0f7e9dfcac602bdb902f6268bacf4b710bfaf41eefce","detail":null,"keyId":null,"method":"POST","operationId":null,"prevHash":"${"0".repeat(64)}","problem":null,"requestId":"req-1","resourceId":"res-1","resourceKind":"reserve","role":"operator","route":"/v1/reserves","seq":1,"stage":"requested","status":202,"traceId":null}`,
  hash: "8eedc4e0ee6572e0bed4524df9a7f6fa49715c4b04fe36568bf2001547cc5ad6",
  signature:
    "H17fJZoEv80M1Pe8giBNohLFyzoZENic3VK5riUdsKHDx0d1JFHdXOqv6Njj8ymBVUW21H0XD97c6YHwA6JSCg=="
}

const proposed = Audit.entry({
  action: "reserve.propose",
  stage: "requested",
  actor: "svc-operator",
  role: "operator",
  method: "POST",
  route: "/v1/reserves",
  resourceKind: "reserve",
  resourceId: "res-1",
  actionKey: "ak_01",
  requestId: "req-1",
  status: 202,
  bodyHash: "2783d9ec6f38e2e2f32a0f7e9dfcac602bdb902f6268bacf4b710bfaf41eefce"
})

const empty = { seq: 0, hash: Audit.origin, checkpoint: 0 }
const start = Instant.of("2026-01-01T00:00:00Z")

const chained = (entries: ReadonlyArray<Audit.Entry | Audit.Late>, head = empty, at = start) =>
  Audit.chain({ tenantId, head, at, sha256: crypto.sha256 }, entries)

describe("the vectors of the contract", () => {
  it("a record's text and its hash are what outsiders compute", () => {
    const [row] = chained([proposed])
    expect(row?.text).toBe(vector.text)
    expect(row?.hash).toBe(vector.hash)
  })

  it("a checkpoint's signature is what outsiders compute", () => {
    const anchor = Checkpoint.sign(
      crypto,
      { tenantId, size: 1, head: vector.hash },
      { keyId: "au-1", seed }
    )
    expect(anchor.signature).toBe(vector.signature)
  })
})

const text = fc.option(fc.string({ unit: "grapheme", maxLength: 12 }), { nil: null })
const actions = ["instrument.pause", ...Object.keys(ownActions)].filter(
  (one) => one !== "audit.checkpoint" && one !== "retention.prune"
) as ReadonlyArray<Audit.Entry["action"]>
const entry: fc.Arbitrary<Audit.Entry> = fc
  .record({
    action: fc.constantFrom(...actions),
    stage: fc.constantFrom(...(Object.keys(auditStages) as ReadonlyArray<Audit.Entry["stage"]>)),
    actor: text,
    resourceKind: text,
    resourceId: text,
    route: text,
    status: fc.option(fc.integer({ min: 100, max: 599 }), { nil: null }),
    detail: fc.option(
      fc.dictionary(
        fc.string({ minLength: 1, maxLength: 5 }),
        fc.oneof(fc.string({ maxLength: 5 }), fc.maxSafeInteger())
      ),
      { nil: null }
    )
  })
  .map((members) => Audit.entry(members))
const key = {
  keyId: "au-1",
  seed,
  notBefore: Instant.of("1970-01-01T00:00:00Z"),
  notAfter: null
}
const sign: Audit.Late = (head) =>
  Checkpoint.entryOf(Checkpoint.sign(crypto, { tenantId, size: head.seq, head: head.hash }, key))

/** A log made in several transactions, signed now and then; nowhere before its second record. */
const log = fc
  .array(fc.array(entry, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 })
  .map((transactions) => {
    const rows: Array<AuditRow> = []
    const anchors: Array<Checkpoint.Anchor> = []
    let head = empty
    transactions.forEach((entries, index) => {
      const at = Instant.fromEpochMicros(Instant.toEpochMicros(start) + BigInt(index))
      const more = chained(index % 2 === 1 ? [...entries, sign] : entries, head, at)
      rows.push(...more)
      const last = more.at(-1)
      if (last === undefined) return
      if (last.action === "audit.checkpoint") {
        const size = last.seq - 1
        anchors.push(Checkpoint.sign(crypto, { tenantId, size, head: last.prevHash }, key))
      }
      head = { seq: last.seq, hash: last.hash, checkpoint: 0 }
    })
    return { rows, anchors, head }
  })

const publicKeys = AuditRunner.publicKeysOf(crypto, [key])
const trust = (anchors: ReadonlyArray<Checkpoint.Anchor> = []): AuditVerify.Trust => ({
  tenantId,
  crypto,
  publicKeys,
  anchors,
  from: "start"
})

const faultOf = (
  rows: ReadonlyArray<AuditRow>,
  head: { readonly seq: number; readonly hash: string },
  anchors?: ReadonlyArray<Checkpoint.Anchor>
) => AuditVerify.verify(trust(anchors), rows, head).fault

const at = (rows: ReadonlyArray<AuditRow>, place: number): AuditRow => {
  const row = rows[place % rows.length]
  if (row === undefined) throw new Error("an empty log")
  return row
}

/** A log whose hashes are computed again from a place on, as an attacker with the database could. */
const rewritten = (rows: ReadonlyArray<AuditRow>, from: number): ReadonlyArray<AuditRow> => {
  let prevHash = at(rows, from).prevHash
  return rows.map((row, index) => {
    if (index < from) return row
    const said = JSON.parse(row.text) as Record<string, unknown>
    const text = PlainJson.canonical(
      Result.getOrThrow(
        PlainJson.parse(
          JSON.stringify({ ...said, prevHash, ...(index === from ? { requestId: "forged" } : {}) })
        )
      )
    )
    const hash = crypto.sha256(Audit.hashed(tenantId, text))
    const forged = { ...row, text, prevHash, hash }
    prevHash = hash
    return forged
  })
}

describe("a log that is checked", () => {
  it("never is found at fault though nobody touched it, or its records do not follow one another", () => {
    fc.assert(
      fc.property(log, ({ rows, head, anchors }) => {
        expect(faultOf(rows, head, anchors)).toBeNull()
        rows.forEach((row, index) => {
          expect(row.seq).toBe(index + 1)
          expect(row.prevHash).toBe(index === 0 ? Audit.origin : rows[index - 1]?.hash)
        })
      }),
      { numRuns: runs }
    )
  })

  it("the log answers of a record what was hashed, and the hash", () => {
    fc.assert(
      fc.property(log, ({ rows }) => {
        for (const row of rows) {
          const printed = PlainJson.parseTrusted(Audit.print(row))
          const { hash, ...said } = printed as { readonly [member: string]: PlainJson.Plain }
          expect(hash).toBe(row.hash)
          expect(PlainJson.canonical(said)).toBe(row.text)
          expect(Object.keys(said)).toHaveLength(20)
          expect(said["at"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
        }
      }),
      { numRuns: runs }
    )
  })

  // Each of these is red when its line of faultOf, endFault or Checkpoint.fault is taken out.
  type Tampering = (
    rows: ReadonlyArray<AuditRow>,
    place: number
  ) => { readonly rows: ReadonlyArray<AuditRow>; readonly seq: number }
  it.each<[what: string, tamper: Tampering]>([
    [
      "a changed text",
      (rows, place) => {
        const { seq, text } = at(rows, place)
        const changed = text.replace(/"stage":"[a-z]+"/, '"stage":"forged"')
        return { rows: rows.map((row) => (row.seq === seq ? { ...row, text: changed } : row)), seq }
      }
    ],
    [
      "a changed hash",
      (rows, place) => {
        const { seq } = at(rows, place)
        const hash = "f".repeat(64)
        return { rows: rows.map((row) => (row.seq === seq ? { ...row, hash } : row)), seq }
      }
    ],
    [
      "a changed column beside the text",
      (rows, place) => {
        const { seq } = at(rows, place)
        return {
          rows: rows.map((row) => (row.seq === seq ? { ...row, actor: "forged" } : row)),
          seq
        }
      }
    ],
    [
      "a record put in again",
      (rows, place) => {
        const row = at(rows, place)
        const index = rows.indexOf(row)
        return { rows: [...rows.slice(0, index + 1), row, ...rows.slice(index + 1)], seq: row.seq }
      }
    ]
  ])("%s is not found, or not named by its number", (_, tamper) => {
    fc.assert(
      fc.property(log, fc.nat(), ({ rows, head }, place) => {
        const forged = tamper(rows, place)
        expect(faultOf(forged.rows, head)?.seq).toBe(forged.seq)
      }),
      { numRuns: runs }
    )
  })

  it("a record that was deleted is noticed, and named by its number", () => {
    fc.assert(
      fc.property(log, fc.nat(), ({ rows, head }, place) => {
        fc.pre(rows.length > 1)
        const { seq } = at(rows, place)
        const fault = faultOf(
          rows.filter((row) => row.seq !== seq),
          head
        )
        // Without the first one the log begins with the second.
        expect(fault?.seq).toBe(seq === 1 ? 2 : seq)
      }),
      { numRuns: runs }
    )
  })

  it("two records that changed places are noticed", () => {
    fc.assert(
      fc.property(log, fc.nat(), ({ rows, head }, place) => {
        fc.pre(rows.length > 1)
        const index = place % (rows.length - 1)
        const swapped = rows.toSpliced(index, 2, at(rows, index + 1), at(rows, index))
        expect(faultOf(swapped, head)).not.toBeNull()
      }),
      { numRuns: runs }
    )
  })

  it("a tail that was cut, its head with it, is noticed by the anchors", () => {
    fc.assert(
      fc.property(log, fc.nat(), ({ rows, anchors }, place) => {
        const size = anchors.at(-1)?.size ?? 0
        fc.pre(size > 1)
        const left = rows.slice(0, place % size)
        const last = left.at(-1) ?? { seq: 0, hash: Audit.origin }
        // Without the anchors the fault is not found.
        expect(faultOf(left, last)).toBeNull()
        expect(faultOf(left, last, anchors)?.seq).toBe(left.length + 1)
      }),
      { numRuns: runs }
    )
  })

  it("a tail that was cut is noticed by the head that the store keeps", () => {
    fc.assert(
      fc.property(log, fc.nat(), ({ rows, head }, place) => {
        const left = rows.slice(0, place % rows.length)
        expect(faultOf(left, head)?.seq).toBe(left.length + 1)
      }),
      { numRuns: runs }
    )
  })

  it("a log whose every hash was computed anew is noticed by the anchors", () => {
    fc.assert(
      fc.property(fc.array(entry, { minLength: 2, maxLength: 8 }), fc.nat(), (entries, place) => {
        const rows = chained(entries)
        const last = at(rows, rows.length - 1)
        const anchor = Checkpoint.sign(crypto, { tenantId, size: last.seq, head: last.hash }, key)
        const forged = rewritten(rows, place % rows.length)
        const head = at(forged, forged.length - 1)
        expect(faultOf(forged, head)).toBeNull()
        expect(faultOf(forged, head, [anchor])?.seq).toBe(last.seq)
      }),
      { numRuns: runs }
    )
  })

  it("a checkpoint signed by another key, or of another record, is refused", () => {
    const other = { keyId: "au-1", seed: new Uint8Array(32) }
    const forged: Audit.Late = (head) =>
      Checkpoint.entryOf(
        Checkpoint.sign(crypto, { tenantId, size: head.seq, head: head.hash }, other)
      )
    const elsewhere: Audit.Late = (head) =>
      Checkpoint.entryOf(
        Checkpoint.sign(crypto, { tenantId, size: head.seq + 1, head: head.hash }, key)
      )
    const unknown: Audit.Late = (head) =>
      Checkpoint.entryOf(
        Checkpoint.sign(
          crypto,
          { tenantId, size: head.seq, head: head.hash },
          { ...key, keyId: "x" }
        )
      )
    for (const late of [forged, elsewhere, unknown]) {
      const rows = chained([proposed, late])
      expect(faultOf(rows, at(rows, 1))?.seq).toBe(2)
    }
    const rows = chained([proposed, sign])
    expect(faultOf(rows, at(rows, 1))).toBeNull()
    // An unsigned anchor proves nothing, and is reported.
    const lie = { ...Checkpoint.sign(crypto, { tenantId, size: 1, head: vector.hash }, key) }
    expect(
      faultOf(rows, at(rows, 1), [{ ...lie, signature: vector.signature.toLowerCase() }])
    ).not.toBeNull()
  })

  it("a record whose hash was computed anew does not fit the record that follows it", () => {
    fc.assert(
      fc.property(log, fc.nat(), ({ rows, head }, place) => {
        const { seq } = at(rows, place)
        const forged = rows.map((row) => {
          if (row.seq !== seq) return row
          const text = row.text.replace(/"stage":"[a-z]+"/, '"stage":"forged"')
          return { ...row, text, hash: crypto.sha256(Audit.hashed(tenantId, text)) }
        })
        // After the last one nothing follows but the head.
        expect(faultOf(forged, head)?.seq).toBe(Math.min(seq + 1, rows.length))
      }),
      { numRuns: runs }
    )
  })

  it("a log that follows another one, or leaves numbers out of a right chain, is refused", () => {
    const elsewhere = chained([proposed], { ...empty, hash: "f".repeat(64) })
    expect(faultOf(elsewhere, at(elsewhere, 0))?.seq).toBe(1)
    const first = chained([proposed])
    const laterChain = chained([proposed], { seq: 4, hash: at(first, 0).hash, checkpoint: 0 })
    expect(faultOf([...first, ...laterChain], at(laterChain, 0))?.seq).toBe(2)
  })

  it("a record that was appended with a right hash is refused", () => {
    const chainedLog = chained([proposed, proposed])
    expect(faultOf(chainedLog, at(chainedLog, 0))?.seq).toBe(2)
    expect(
      AuditVerify.verify(trust(), chainedLog, { ...at(chainedLog, 0), atEnd: 2 }).fault
    ).toBeNull()
  })

  it("a log that begins later is refused unless it says that it was pruned", () => {
    const pruned = (from: number) =>
      Audit.entry({ action: "retention.prune", stage: "succeeded", detail: { auditStart: from } })
    const rows = chained([proposed, proposed, sign, proposed])
    expect(faultOf(rows.slice(2), at(rows, 3))?.seq).toBe(3)
    const chainedLog = chained([proposed, proposed, sign, proposed, pruned(3)])
    expect(faultOf(chainedLog.slice(2), at(chainedLog, 4))).toBeNull()
    // The log begins with a record that is no checkpoint, or with another checkpoint than the
    // pruning names.
    expect(faultOf(chainedLog.slice(1), at(chainedLog, 4))?.seq).toBe(2)
    const less = chained([proposed, sign, proposed, sign, pruned(2)])
    expect(faultOf(less.slice(3), at(less, 4))?.seq).toBe(4)
    // A check that begins in the middle takes earlier records unchecked.
    const middle = { ...trust(), from: "middle" as const }
    expect(AuditVerify.verify(middle, rows.slice(1), at(rows, 3)).fault).toBeNull()
  })
})

describe("an outsider with a shell", () => {
  const has = (tool: string) => {
    try {
      execFileSync("which", [tool])
      return true
    } catch {
      return false
    }
  }
  it.skipIf(!has("sha256sum"))("the hash is sha256sum's (skipped without sha256sum)", () => {
    const rows = chained([proposed, proposed, sign])
    for (const row of rows) {
      const input = `bursar-audit-v1\n${tenantId}\n${row.text}`
      const [digest] = execFileSync("sha256sum", { input }).toString().split(" ")
      expect(digest).toBe(row.hash)
    }
  })

  it.skipIf(!has("openssl"))("openssl verifies every signature (skipped without openssl)", () => {
    const folder = mkdtempSync(join(tmpdir(), "bursar-audit-"))
    const file = (name: string, bytes: Uint8Array | string) => {
      const path = join(folder, name)
      writeFileSync(path, bytes)
      return path
    }
    try {
      const publicKey = Buffer.concat([
        Buffer.from("302a300506032b6570032100", "hex"),
        crypto.ed25519.publicKey(seed)
      ])
      const says = (signature: string) => {
        try {
          return execFileSync(
            "openssl",
            [
              ...["pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-rawin"],
              ...["-inkey", file("key.der", publicKey)],
              ...[
                "-in",
                file("text", `bursar-audit-checkpoint-v1\n${tenantId}\n1\n${vector.hash}`)
              ],
              ...["-sigfile", file("signature", Buffer.from(signature, "base64"))]
            ],
            { stdio: ["ignore", "pipe", "ignore"] }
          ).toString()
        } catch {
          return "refused"
        }
      }
      expect(says(vector.signature)).toContain("Signature Verified Successfully")
      expect(says(`AA${vector.signature.slice(2)}`)).toBe("refused")
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

// ---- the log of an engine -----------------------------------------------------------------------

const rows = Effect.flatMap(Feed, (feed) =>
  Effect.map(feed.readAudit({ order: "asc", limit: 10_000 }), ({ records }) => records)
)

const refusedBy = (actor: string | null) =>
  Effect.flatMap(AuditLog, ({ note }) =>
    note(Audit.entry({ action: "access.refused", stage: "refused", actor, status: 401 }))
  )

const inWorld = <A, E, R>(effect: Effect.Effect<A, E, R>, settings = { auditKeys: [key] }) =>
  Calls.runCase(Effect.provide(effect, world({ operations: [], settings })) as Effect.Effect<A, E>)

describe("refused calls", () => {
  it("logs at most 60 of a subject and minute one by one, and counts the rest", () =>
    inWorld(
      Effect.gen(function* () {
        yield* TestClock.setTime(Instant.toEpochMillis(start))
        for (let n = 0; n < 75; n++) yield* refusedBy("eve")
        for (let n = 0; n < 61; n++) yield* refusedBy(null)
        yield* refusedBy("ann")
        expect(yield* rows).toHaveLength(121)
        // The minute ends, and a new one begins.
        yield* TestClock.adjust("1 minute")
        const counted = (yield* rows).slice(121)
        expect(
          counted.map(({ actor, text }) => [actor, (JSON.parse(text) as Audit.Entry).detail])
        ).toEqual([
          ["eve", { count: 15 }],
          [null, { count: 1 }]
        ])
        yield* refusedBy("eve")
        expect(yield* rows).toHaveLength(124)
        yield* TestClock.adjust("5 minutes")
        expect(yield* rows).toHaveLength(124)
      })
    ))

  it("are logged one by one again from the first millisecond of the next minute of the clock", () =>
    inWorld(
      Effect.gen(function* () {
        yield* TestClock.setTime(Date.parse("2026-08-01T12:00:59.999Z"))
        for (let n = 0; n < 60; n++) yield* refusedBy("eve")
        expect(yield* rows).toHaveLength(60)
        yield* TestClock.adjust("1 millis")
        yield* refusedBy("eve")
        expect(yield* rows).toHaveLength(61)
      })
    ))

  it("writes what it has counted when the engine stops", async () => {
    const kept = await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const feed = yield* Feed
          // An engine of its own over the same store, which stops first.
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { note } = Context.get(yield* Layer.build(Layer.fresh(auditLogLayer)), AuditLog)
              const refused = Audit.entry({
                action: "access.refused",
                stage: "refused",
                actor: "eve"
              })
              for (let n = 0; n < 63; n++) yield* note(refused)
            })
          )
          return yield* feed.readAudit({ order: "desc", limit: 1 })
        })
      ).pipe(Effect.provide(world({ operations: [] })))
    )
    expect(kept.records[0]?.seq).toBe(61)
    expect(JSON.parse(kept.records[0]?.text ?? "{}")).toMatchObject({ detail: { count: 3 } })
  })
})

const auditLogLayer = (await import("#core/feeds/AuditLog.ts")).layer

describe("checkpoints", () => {
  const some = (count: number) =>
    Effect.flatMap(Records, (records) =>
      records.transact(records.audit(Array.from({ length: count }, () => proposed)))
    )
  const kept: Array<Checkpoint.Anchor> = []
  /** Checkpoints that an engine's own tasks have placed. */
  const placed: Array<Checkpoint.Anchor> = []
  let away = false
  const place = Effect.provideService(AuditAnchor.AuditAnchor, {
    keep: (anchor: Checkpoint.Anchor) =>
      away
        ? Effect.fail(new AuditAnchor.AnchorUnavailable({ detail: "away" }))
        : Effect.sync(() => void kept.push(anchor))
  })

  it("signs a log that grew and none at rest, and hands each checkpoint out", () =>
    inWorld(
      Effect.gen(function* () {
        const sign = AuditRunner.checkpoint({ newRecords: 1 })
        yield* sign
        expect(yield* rows).toHaveLength(0)
        yield* some(3)
        away = true
        yield* sign
        yield* sign
        expect((yield* rows).map(({ action }) => action).slice(3)).toEqual(["audit.checkpoint"])
        expect(kept).toEqual([])
        away = false
        yield* sign
        yield* sign
        // Offered again, and always the same one.
        expect(new Set(kept.map(({ size }) => size))).toEqual(new Set([3]))
        expect(yield* rows).toHaveLength(4)
        yield* some(1)
        yield* AuditRunner.checkpoint({ newRecords: 2 })
        expect(yield* rows).toHaveLength(5)
        yield* some(1)
        yield* AuditRunner.checkpoint({ newRecords: 2 })
        expect(kept.at(-1)?.size).toBe(6)
        const found = yield* AuditRunner.verifyLog({ anchors: kept })
        expect(found).toMatchObject({ fault: null, records: 7 })
      }).pipe(place)
    ))

  it("signs after each hour in which the log grew, and after ten thousand records", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const { runOnce } = yield* Workers.runnerOf("schedules")
        const signed = Effect.map(rows, (all) =>
          all.flatMap(({ action, seq }) => (action === "audit.checkpoint" ? [seq] : []))
        )
        yield* runOnce
        yield* some(1)
        yield* TestClock.adjust("59 minutes")
        yield* runOnce
        expect(yield* signed).toEqual([])
        yield* TestClock.adjust("1 minute")
        yield* runOnce
        expect(yield* signed).toEqual([2])
        expect(placed.map(({ size }) => size)).toEqual([1])
        yield* some(9_999)
        yield* TestClock.adjust("1 minute")
        yield* runOnce
        expect(yield* signed).toEqual([2])
        yield* some(1)
        yield* TestClock.adjust("1 minute")
        yield* runOnce
        const { audit } = yield* Effect.flatMap(Feed, ({ head }) => head)
        expect([audit.seq, audit.checkpoint]).toEqual([10_003, 10_003])
        expect(placed.at(-1)?.size).toBe(10_002)
      }).pipe(
        Effect.provide(
          world({ operations: [], settings: { auditKeys: [key] } }).pipe(
            Layer.provide(
              Layer.succeed(AuditAnchor.AuditAnchor, {
                keep: (anchor) => Effect.sync(() => void placed.push(anchor))
              })
            )
          )
        )
      ) as Effect.Effect<void>
    ))

  it("signs nothing without keys", () =>
    inWorld(
      Effect.gen(function* () {
        yield* some(3)
        yield* AuditRunner.checkpoint({ newRecords: 1 })
        expect(yield* rows).toHaveLength(3)
      }),
      { auditKeys: [] }
    ))

  it("signs with the newest key that is valid, and with the newest of all once all have ended", () => {
    const laterInstant = Instant.of("2026-06-01T00:00:00Z")
    const old = { ...key, keyId: "old", notAfter: laterInstant }
    const next = {
      ...key,
      keyId: "next",
      notBefore: Instant.of("2026-03-01T00:00:00Z"),
      notAfter: laterInstant
    }
    const by = (at: string) => Checkpoint.keyAt([old, next], Instant.of(at))?.keyId
    expect(by("2026-02-01T00:00:00Z")).toBe("old")
    expect(by("2026-04-01T00:00:00Z")).toBe("next")
    expect(by("2026-07-01T00:00:00Z")).toBe("next")
    expect(Checkpoint.keyAt([], start)).toBeUndefined()
    // A key that begins later signs nothing, also where every other has ended.
    const future = { ...key, keyId: "future", notBefore: Instant.of("2027-01-01T00:00:00Z") }
    expect(Checkpoint.keyAt([old, future, next], Instant.of("2026-07-01T00:00:00Z"))?.keyId).toBe(
      "next"
    )
    expect(Checkpoint.keyAt([old, future, next], Instant.of("2027-01-01T00:00:00Z"))?.keyId).toBe(
      "future"
    )
    expect(Checkpoint.keyAt([future], laterInstant)).toBeUndefined()
  })

  it("signs nothing with a key that begins later, until it has begun", () =>
    inWorld(
      Effect.gen(function* () {
        const sign = AuditRunner.checkpoint({ newRecords: 1 })
        yield* some(3)
        yield* sign
        expect(yield* rows).toHaveLength(3)
        yield* TestClock.setTime(Date.parse("2027-01-01T00:00:00Z"))
        yield* sign
        expect((yield* rows).map(({ action }) => action).slice(3)).toEqual(["audit.checkpoint"])
      }),
      { auditKeys: [{ ...key, notBefore: Instant.of("2027-01-01T00:00:00Z") }] }
    ))

  it.each([{ options: {} }, { options: { fromSeq: 1 } }, { options: { fromSeq: 7 } }])(
    "a log that is pruned between two pages of its verification is in order: %j",
    ({ options }) =>
      inWorld(
        Effect.gen(function* () {
          yield* some(1_500)
          yield* AuditRunner.checkpoint({ newRecords: 1 })
          yield* TestClock.adjust("40 days")
          yield* some(1)
          const feed = yield* Feed
          const records = yield* Records
          const verified = (readAudit: (typeof feed)["readAudit"]) =>
            AuditRunner.verifyLog({ anchors: [], ...options }).pipe(
              Effect.provideService(Feed, { ...feed, readAudit })
            )
          // Deleted in the database itself: the log begins with a record that is no checkpoint.
          const cut = yield* verified((query) =>
            (query.after ?? 0) < 1_000
              ? feed.readAudit(query)
              : Effect.map(feed.readAudit({ ...query, after: 1_200 }), (page) => ({
                  ...page,
                  prunedTo: 1_200
                }))
          )
          expect(cut.fault).toMatchObject({ seq: 1_201 })
          let pages = 0
          const pruned = yield* verified((query) =>
            Effect.tap(feed.readAudit(query), () =>
              ++pages === 1
                ? AuditRunner.prune.pipe(
                    Effect.provideService(Feed, feed),
                    Effect.provideService(Records, records),
                    Effect.orDie
                  )
                : Effect.void
            )
          )
          expect(pruned).toMatchObject({ fault: null, first: 1_501, begins: "as pruned" })
        }),
        { auditKeys: [key], auditLogKept: { years: 0, months: 0, days: 30, time: 0n } } as never
      )
  )

  it("a pruned log has lost what was due alone, keeps its checkpoint, and is verified as pruned", () =>
    inWorld(
      Effect.gen(function* () {
        const sign = AuditRunner.checkpoint({ newRecords: 1 })
        expect(yield* AuditRunner.prune).toEqual({ was: "nothing due" })
        yield* some(3)
        yield* sign
        const queries = yield* AuditQueries.AuditQueries
        const page = (after?: string) =>
          queries.page({
            caller: Calls.person("aida", "auditor"),
            params: {},
            limit: 2,
            ...(after === undefined ? {} : { after })
          })
        const stranger = Calls.person("mo", "monitor", "approver", "app")
        const refused = queries.page({ caller: stranger, params: {}, limit: 1 })
        expect((yield* Effect.flip(refused)).slug).toBe("permission-denied")
        const early = yield* page()
        const late = yield* page(early.next)
        yield* TestClock.adjust("40 days")
        yield* some(1)
        yield* sign
        yield* TestClock.adjust("10 days")
        yield* some(1)
        expect(yield* AuditRunner.prune).toEqual({ was: "pruned", deleted: 3, start: 4 })
        expect((yield* rows).map(({ seq }) => seq)).toEqual([4, 5, 6, 7, 8])
        expect(yield* AuditRunner.verifyLog({ anchors: [] })).toMatchObject({ fault: null })
        // A reader past the deleted events reads on; one before them is told of the deletion.
        expect((yield* page(late.next)).value.map(({ text }) => text)).toEqual(
          (yield* rows).slice(1, 3).map(({ text }) => text)
        )
        expect((yield* Effect.flip(page(early.next))).slug).toBe("cursor-expired")
        expect(yield* AuditRunner.prune).toEqual({ was: "nothing due" })
      }),
      { auditKeys: [key], auditLogKept: { years: 0, months: 0, days: 30, time: 0n } } as never
    ))
})
