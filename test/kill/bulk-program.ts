/** Program of bulk work, killed at any message to its database: appends and seals two owners, compares and discards them. */
import { Atomically, Bulk, type BulkRow } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Option, Redacted, Stream } from "effect"
import { differing, inOneAppend, owners, rows, type Said } from "./bulk.ts"

const rowOf = (n: number, left: boolean): BulkRow => ({
  key: String(n).padStart(3, "0"),
  match: `account-${n}`,
  group: "credit",
  amounts: [!left && n === differing ? "2.5" : "1"],
  body: "{}"
})

const side = (owner: string) => ({ owner, amount: 0 })

/** Every step may be repeated after a crash: the work is begun again from its start. */
const work = Effect.gen(function* () {
  const { append, count, differences, discard, seal } = yield* Bulk
  const { run } = yield* Atomically
  for (const owner of owners) {
    if (Option.isSome(yield* count(owner))) continue
    for (let from = 0; from < rows; from += inOneAppend) {
      const part = Array.from({ length: inOneAppend }, (_, n) => rowOf(from + n, owner === "left"))
      yield* append(owner, part)
    }
    yield* run(seal({ owner, rows }))
  }
  const [left, right] = owners
  const found = yield* Stream.runCollect(
    differences({ left: side(left), right: side(right), tolerance: "0" })
  )
  for (const owner of owners) {
    while ((yield* discard({ owner, limit: inOneAppend })) > 0) {
      // Discards the next part.
    }
  }
  return found
})

const say = (said: Said) => Effect.sync(() => process.send?.(said))

const begun = Effect.callback<void>((resume) => {
  process.on("message", (message) => {
    if (typeof message === "object" && message !== null && "begin" in message) {
      resume(Effect.void)
    }
  })
})

await Effect.gen(function* () {
  yield* say({ is: "ready" })
  yield* begun
  yield* say({ is: "done", found: yield* work })
}).pipe(
  Effect.provide(Postgres.layer({ url: Redacted.make(process.env["DATABASE_URL"] ?? "") })),
  Effect.scoped,
  Effect.runPromise
)
process.disconnect?.()
