/** Durability: records that the store has acknowledged or shown survive a crash of the database. */
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Atomically, Feed, Keys } from "@bursar/engine-core/ports"
import { Effect, Exit, Fiber, Layer, Option, Redacted } from "effect"
import { createHash } from "node:crypto"
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { until } from "../waiting.ts"
import { isLong } from "../long-run.ts"
import { remove } from "../folders.ts"

const folder = mkdtempSync(join(tmpdir(), "bursar-durable-"))
afterAll(() => remove(folder))

const now = "2026-01-01T00:00:00.000000000Z"
const WRITERS = 16
const ROUNDS = isLong ? 7 : 3

/** Kills the database and all its processes at once, so that it loses all that was only in memory. */
const crash = (): void => {
  const pid = Number(readFileSync(join(folder, "cluster", "postmaster.pid"), "utf8").split("\n")[0])
  process.kill(-pid, "SIGKILL")
}

const write = (key: string) =>
  Effect.gen(function* () {
    const { run } = yield* Atomically
    const feed = yield* Feed
    const keys = yield* Keys
    yield* run(
      Effect.gen(function* () {
        yield* keys.bind({
          scope: "crash",
          key,
          fingerprint: "",
          target: "",
          bindsUntil: null,
          now
        })
        const head = yield* feed.take(now)
        yield* feed.append(head, {
          events: [
            {
              seq: head.seq + 1,
              kind: "control",
              type: "t",
              at: head.at,
              offset: null,
              instrumentId: null,
              party: null,
              resourceKind: "crash",
              resourceId: key,
              holderIds: [],
              payload: "{}",
              source: key
            }
          ],
          audit: [
            {
              seq: head.audit.seq + 1,
              at: head.at,
              action: "holder.onboard",
              actor: null,
              resourceKind: "crash",
              resourceId: key,
              text: key,
              prevHash: head.audit.hash,
              hash: createHash("sha256").update(`${head.audit.hash}${key}`).digest("hex")
            }
          ],
          webhooks: "same"
        })
      })
    )
  })

it("loses nothing that was acknowledged to a writer or shown to a reader of another host", async () => {
  const acknowledged: Array<string> = []
  let shown = 0
  for (let round = 0; round < ROUNDS; round++) {
    const life = Effect.gen(function* () {
      const { url } = yield* Embedded.start({ dataFolder: folder })
      const host = Postgres.layer({ url: Redacted.make(url), maxConnections: 10 })
      // Two hosts: one writes, the other only reads what the first has written.
      const writer = yield* Layer.build(Layer.fresh(host))
      const reader = yield* Layer.build(Layer.fresh(host))
      yield* Effect.provideContext(
        Effect.gen(function* () {
          const keys = yield* Keys
          const feed = yield* Feed
          for (const key of acknowledged) {
            const found = yield* keys.find({ scope: "crash", key, now })
            expect(Option.isSome(found), `${key}, which was acknowledged`).toBe(true)
          }
          const { seq, audit } = yield* feed.head
          expect(seq, "the head, against what was shown").toBeGreaterThanOrEqual(shown)
          const { records } = yield* feed.readAudit({ order: "asc", limit: 100_000 })
          let before = "0".repeat(64)
          for (const record of records) {
            expect(record.prevHash, `what audit record ${record.seq} follows`).toBe(before)
            before = record.hash
          }
          expect([records.length, before], "the audit log's head").toEqual([audit.seq, audit.hash])
          const audited = new Set(records.map(({ resourceId }) => resourceId))
          for (const key of acknowledged) {
            expect(audited.has(key), `the audit record of ${key}`).toBe(true)
          }
        }),
        reader
      )
      if (round === ROUNDS - 1) return
      const writing = Effect.forEach(
        Array.from({ length: WRITERS }, (_, n) => n),
        (w) =>
          Effect.gen(function* () {
            for (let n = 0; ; n++) {
              const key = `${round}-${w}-${n}`
              yield* write(key)
              acknowledged.push(key)
            }
          }),
        { concurrency: "unbounded" }
      )
      const reading = Effect.gen(function* () {
        const feed = yield* Feed
        const { reading } = yield* Atomically
        // By turns a statement that settles by itself, and an answer that settles once at its end.
        for (;;) {
          shown = Math.max(shown, (yield* feed.head).seq)
          shown = Math.max(shown, (yield* reading(Effect.andThen(feed.head, feed.head))).seq)
        }
      })
      const writers = yield* Effect.forkChild(Effect.exit(Effect.provideContext(writing, writer)))
      const readers = yield* Effect.forkChild(Effect.exit(Effect.provideContext(reading, reader)))
      const [before, seen] = [acknowledged.length, shown]
      yield* Effect.promise(() =>
        until(() => acknowledged.length >= before + 8 * WRITERS && shown > seen)
      )
      crash()
      for (const exit of [yield* Fiber.join(writers), yield* Fiber.join(readers)]) {
        const failed = Exit.isFailure(exit) ? String(exit.cause) : "nothing"
        expect(failed, "what a crash is to a caller").toContain("StorageUnavailable")
      }
    })
    await Effect.runPromise(Effect.scoped(life))
  }
  expect(acknowledged.length).toBeGreaterThan(ROUNDS * WRITERS)
  expect(shown).toBeGreaterThan(0)
})
