/** Checks of streams: their memory is that of a page, however much they answer. */
import { Bulk, type BulkRow, Documents } from "@bursar/engine-core/ports"
import { Effect, Stream } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { type Check, check, fresh, same } from "../Check.ts"
import { version } from "./rows.ts"

/** Elements of a stream, and characters of each: several times what a store may hold of them. */
const ELEMENTS = 6_000
const CHARACTERS = 6_000
const BATCH = 150

/** V8's own full collection, which a program reaches by this flag alone. */
const collect = (): void => {
  setFlagsFromString("--expose-gc")
  const gc: unknown = runInNewContext("gc")
  if (typeof gc === "function") gc()
}

/**
 * Bytes of objects, texts and buffers that are held after a full garbage collection. A second collection
 * waits for the first one's sweep, which frees buffers beside the program. `external` is not counted: V8
 * estimates it, and the estimate falls behind what was freed by tens of megabytes.
 */
const held = Effect.sync(() => {
  collect()
  collect()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
})

const nameOf = (n: number): string => String(n).padStart(6, "0")

/** A text of its own for each number, with all of its characters in memory. */
const textOf = (n: number): string =>
  Buffer.from(nameOf(n).repeat(CHARACTERS / 6)).toString("latin1")

/** Runs a stream, and answers its number of elements and the most bytes that were held meanwhile. */
const heldWhile = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Effect.gen(function* () {
    const before = yield* held
    let elements = 0
    let most = 0
    yield* Stream.runForEach(stream, () => {
      elements += 1
      if (elements % (ELEMENTS / 3) !== 1) return Effect.void
      return Effect.map(held, (bytes) => {
        most = Math.max(most, bytes - before)
      })
    })
    return { elements, most }
  })

const limit = (ELEMENTS * CHARACTERS) / 2

const batches = Array.from({ length: ELEMENTS / BATCH }, (_, batch) =>
  Array.from({ length: BATCH }, (_, n) => batch * BATCH + n)
)

export const streams: ReadonlyArray<Check> = [
  check("Documents", "streams in memory that does not grow with the stream", function* () {
    const { forget, put, stream } = yield* Documents
    const collection = yield* fresh("documents")
    for (const numbers of batches) {
      const rows = numbers.map((n) =>
        version({ collection, recordId: nameOf(n), body: JSON.stringify(textOf(n)) })
      )
      yield* put(rows)
    }
    const query = { collection, pin: { by: "latest" }, where: [], direction: "asc" } as const
    const { elements, most } = yield* heldWhile(stream(query))
    for (const numbers of batches) yield* forget({ collection, recordIds: numbers.map(nameOf) })
    yield* same("the elements", elements, ELEMENTS)
    yield* same(`whether ${most} bytes are at most ${limit}`, most <= limit, true)
  }),
  check("Bulk", "compares in memory that does not grow with the differences", function* () {
    const { append, differences, discard, seal } = yield* Bulk
    const owner = yield* fresh("owner")
    const rowOf = (n: number): BulkRow => ({
      key: nameOf(n),
      match: textOf(n),
      group: "g",
      amounts: ["1"],
      body: "{}"
    })
    for (const numbers of batches) yield* append(owner, numbers.map(rowOf))
    yield* seal({ owner, rows: ELEMENTS })
    const left = { owner, amount: 0 }
    const right = { owner: yield* fresh("owner"), amount: 0 }
    const { elements, most } = yield* heldWhile(differences({ left, right, tolerance: "0" }))
    while ((yield* discard({ owner, limit: BATCH })) > 0) {}
    yield* same("the elements", elements, ELEMENTS)
    yield* same(`whether ${most} bytes are at most ${limit}`, most <= limit, true)
  })
]
