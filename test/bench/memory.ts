/** What the engine holds after a hundred thousand operations, against what it held after a thousand. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect } from "effect"
import { type Row, row } from "./measure.ts"
import { many, onDatabase, operation, settled } from "./operations.ts"

const warm = 1_000
const whole = 100_000
/** Operations between two looks at the queue, so that it never grows without bound. */
const batch = 5_000

/** Bytes on the heap once everything that can be collected is. */
const held = Effect.sync(() => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  if (typeof collect === "function") collect()
  return process.memoryUsage().heapUsed
})

const program = Effect.gen(function* () {
  yield* many(warm, operation)
  yield* settled
  const before = yield* held
  for (let done = warm; done < whole; done += batch) {
    yield* many(Math.min(batch, whole - done), operation)
    yield* settled
  }
  return { before, after: yield* held }
})

export const bench = async (): Promise<ReadonlyArray<Row>> => {
  const { before, after } = await onDatabase(program)
  const mebibytes = (bytes: number) => bytes / 2 ** 20
  return [
    row({
      bench: "heap after 100,000 operations",
      ours: mebibytes(after),
      unit: "MiB",
      against: "after 1,000 operations",
      theirs: mebibytes(before),
      target: null,
      note: "decoded versions are remembered up to 10,000"
    })
  ]
}
