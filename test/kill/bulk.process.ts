/**
 * kill -9 of bulk work at any message to the database: rows are visible once their owner is sealed
 * and all of them then, no row is without an owner, and the work begun again ends as if never killed.
 */
import { type ChildProcess, fork } from "node:child_process"
import { Bulk } from "@bursar/engine-core/ports"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Exit, Option, Redacted, Scope, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { environment } from "../processes/environment.ts"
import * as Work from "./bulk.ts"
import { first, killPoints } from "./points.ts"
import * as Whole from "./whole.ts"
import { tell } from "../processes/tell.ts"

/** Messages after which the program is killed; the work sends at least the last of them. */
const few = [9, 24, 43]
const points = killPoints({ few, many: first(60) })

const scope = Effect.runSync(Scope.make())
let url = ""

beforeAll(async () => {
  url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const found = [
  { match: `account-${Work.differing}`, isNamed: false, left: "1", right: "2.5", difference: "1.5" }
]

/** Runs the work, killed at a message if one is given; returns its result, undefined if killed. */
const runs = async (kill?: {
  readonly at: number
  readonly when: "before" | "after"
}): Promise<unknown> => {
  const child: ChildProcess = fork(new URL("bulk-program.ts", import.meta.url).pathname, [], {
    execArgv: ["--import", new URL("tripwire.ts", import.meta.url).pathname],
    serialization: "advanced",
    env: { ...environment, DATABASE_URL: url, TRIPWIRE_PORT: new URL(url).port }
  })
  const ended = new Promise((resolve) => child.once("exit", resolve))
  let differences: unknown
  child.on("message", (said: Work.Said) => {
    if (said.is === "done") {
      differences = said.found
      return
    }
    if (kill !== undefined) tell(child, { arm: kill.at, when: kill.when })
    tell(child, { begin: true })
  })
  await ended
  return differences
}

/** Rows that a port shows of each owner, by each of its reads. */
const shown = Effect.gen(function* () {
  const { count, differences, read, sum } = yield* Bulk
  const counts: Array<ReadonlyArray<number>> = []
  for (const owner of Work.owners) {
    const side = { owner, amount: 0 }
    const compared = Stream.runCollect(
      differences({ left: side, right: { owner: "nobody", amount: 0 }, tolerance: "0" })
    )
    counts.push([
      Option.getOrElse(yield* count(owner), () => 0),
      (yield* read({ owner, limit: 100 })).length,
      (yield* sum(owner)).reduce((rows, group) => rows + group.rows, 0),
      (yield* compared).length
    ])
  }
  return counts
})

/** Seals every sealed owner again; returns how many of them took it. */
const sealedAgain = Effect.gen(function* () {
  const { count, seal } = yield* Bulk
  let taken = 0
  for (const owner of Work.owners) {
    if (Option.isNone(yield* count(owner))) continue
    const again = yield* Effect.exit(seal({ owner, rows: Work.rows }))
    if (Exit.isSuccess(again)) taken += 1
  }
  return taken
})

const rowsLeft = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly n: number }>`
    select (select count(*) from bursar.bulk_row)::int4 + (select count(*) from bursar.bulk)::int4 as n`
  return rows[0]?.n
})

const onStore = <A, E>(effect: Effect.Effect<A, E, Postgres.ProvidedPorts>): Promise<A> =>
  Effect.runPromise(
    Effect.scoped(Effect.provide(effect, Postgres.layer({ url: Redacted.make(url) })))
  )

describe("bulk work killed at its", () => {
  it.each(points)(
    "message %i shows an owner's rows all or not at all, and ends when it is begun again",
    async (at) => {
      const when = at % 2 === 0 ? "before" : "after"
      const first = await runs({ at, when })
      if (at <= Math.max(...few)) expect(first).toBeUndefined()
      else if (first !== undefined) expect(first).toEqual(found)
      expect(await Whole.wrong(url)).toEqual([])
      const before = await onStore(shown)
      for (const counts of before)
        expect([[0, 0, 0, 0], Array(4).fill(Work.rows)]).toContainEqual(counts)
      expect(await onStore(sealedAgain)).toBe(0)
      expect(await onStore(shown)).toEqual(before)
      expect(await runs()).toEqual(found)
      expect(await onStore(rowsLeft)).toBe(0)
    }
  )
})
