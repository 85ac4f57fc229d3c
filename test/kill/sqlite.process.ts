/**
 * kill -9 of a program that writes to a store on SQLite: what was answered is there, what was not is
 * there whole or not at all, numbers have no gap, and the files are sound; then it goes on.
 */
import { fork } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Blobs, Bulk, Documents, FactLog, Feed, Keys, WorkQueue } from "@bursar/engine-core/ports"
import * as Sqlite from "@bursar/storage-adapters/sqlite"
import { Effect, Option } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { environment } from "../processes/environment.ts"
import { first, killPoints } from "./points.ts"
import { callers, collection, fileOf, instant, ownerOf, recordOf, rowsOf } from "./sqlite.ts"

/** Answers after which the program is killed, one life after the other on the same store. */
const points = killPoints({
  few: [1, 2, 7, 23, 60],
  many: first(60).map((n) => 1 + ((n * 17) % 61))
})

const folder = mkdtempSync(join(tmpdir(), "bursar-sqlite-kill-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the program until so many writes were answered and kills it; answers the writes it told of. */
const killedAfter = async (answers: number, from: number): Promise<ReadonlySet<number>> => {
  const program = new URL("sqlite-program.ts", import.meta.url).pathname
  const child = fork(program, [folder, String(from)], { env: environment, execArgv: [] })
  const answered = new Set<number>()
  const ended = new Promise<NodeJS.Signals | null>((resolve) => {
    child.once("exit", (_, signal) => resolve(signal))
  })
  child.on("message", (n) => {
    answered.add(Number(n))
    if (answered.size >= answers) child.kill("SIGKILL")
  })
  expect(await ended).toBe("SIGKILL")
  return answered
}

/** Traces of a write in each port: all true or all false. */
const partsOf = (n: number) =>
  Effect.gen(function* () {
    const recordId = recordOf(n)
    const bulk = yield* Bulk
    const blobs = yield* Blobs
    const { events } = yield* (yield* Feed).read({ order: "asc", limit: 9, resourceId: recordId })
    const pin = { by: "latest" } as const
    const chunk = { file: fileOf(n), chunk: 1, bytes: new Uint8Array([0]) }
    // A file that is sealed takes no chunk; the chunk of one that is not stays behind it.
    const isOpen = (yield* Effect.exit(blobs.append(chunk)))._tag === "Success"
    return {
      fact: (yield* (yield* FactLog).read({ collection, recordId })).length === 1,
      document:
        (yield* (yield* Documents).get({ collection, recordIds: [recordId], pin })).length === 1,
      key: Option.isSome(
        yield* (yield* Keys).find({ scope: collection, key: recordId, now: instant })
      ),
      item: Option.isSome(yield* (yield* WorkQueue).find({ queue: collection, itemId: recordId })),
      event: events.length === 1,
      rows: (yield* bulk.read({ owner: ownerOf(n), limit: 9 })).length === rowsOf(n).length,
      seal: Option.isSome(yield* bulk.count(ownerOf(n))),
      file: !isOpen
    }
  })

/** Numbers of events and audit records from the first on. */
const numbers = Effect.gen(function* () {
  const feed = yield* Feed
  const { events } = yield* feed.read({ order: "asc", limit: 100_000 })
  const { records } = yield* feed.readAudit({ order: "asc", limit: 100_000 })
  const list = yield* (yield* Documents).list({
    collection,
    pin: { by: "latest" },
    where: [{ column: "state", anyOf: ["open"] }],
    direction: "asc",
    limit: 100_000
  })
  return {
    events: events.map(({ seq }) => seq),
    audited: records.map(({ seq }) => seq),
    chained: records.every(
      ({ prevHash }, n) => prevHash === (records[n - 1]?.hash ?? "0".repeat(64))
    ),
    listed: list.length,
    head: yield* feed.head
  }
})

const onStore = <A, E>(effect: Effect.Effect<A, E, Sqlite.Storage>): Promise<A> =>
  Effect.runPromise(Effect.scoped(Effect.provide(effect, Sqlite.layer({ folder }))))

/** Faults of a file that SQLite's own integrity check finds. */
const faultsOf = (name: string): unknown => {
  const db = new DatabaseSync(join(folder, `${name}.sqlite`), { readOnly: true })
  try {
    return db.prepare("pragma integrity_check").all()
  } finally {
    db.close()
  }
}

describe("a program that writes to a store on SQLite", () => {
  let next = 0
  let whole = 0
  it("beside another one takes turns with it, and neither loses what was answered", async () => {
    const bases = [100_000, 200_000]
    const answered = await Promise.all(bases.map((base) => killedAfter(40, base)))
    for (const writes of answered) {
      for (const n of writes) {
        const parts = await onStore(partsOf(n))
        expect(Object.values(parts), `write ${n}`).not.toContain(false)
      }
    }
    const { audited, chained, events, head, listed } = await onStore(numbers)
    const all = Array.from({ length: head.seq }, (_, n) => n + 1)
    expect(head.seq).toBeGreaterThanOrEqual(80)
    expect([events, audited]).toEqual([all, all])
    expect([chained, listed]).toEqual([true, head.seq])
    whole = head.seq
  })

  it.each(points)(
    "and is killed after %i answers leaves all of what was answered, and nothing in part",
    async (answers) => {
      const from = next
      const answered = await killedAfter(answers, from)
      next = Math.max(...answered) + callers + 1
      const found = await onStore(
        Effect.forEach(
          Array.from({ length: next - from }, (_, n) => from + n),
          partsOf
        )
      )
      for (const [n, parts] of found.entries()) {
        const isThere = parts.fact
        expect(parts, `write ${from + n}`).toEqual(
          Object.fromEntries(Object.keys(parts).map((part) => [part, isThere]))
        )
        if (answered.has(from + n)) expect(isThere, `write ${from + n}`).toBe(true)
        if (isThere) whole += 1
      }
      const { audited, chained, events, head, listed } = await onStore(numbers)
      const all = Array.from({ length: whole }, (_, n) => n + 1)
      expect(events).toEqual(all)
      expect(audited).toEqual(all)
      expect([chained, listed, head.seq, head.audit.seq]).toEqual([true, whole, whole, whole])
      for (const name of ["records", "rows", "rates"]) {
        expect(faultsOf(name)).toEqual([{ integrity_check: "ok" }])
      }
    }
  )
})
