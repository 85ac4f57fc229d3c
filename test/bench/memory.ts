/** Heap of the engine after a hundred thousand operations, compared with that after a thousand. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect } from "effect"
import { type Bench, figureOf, quantity, type Row } from "./measure.ts"
import { many, onDatabase, operation, settled } from "./operations.ts"

const warm = 1_000
const heldEveryMillis = 250
/** Operations between two looks at the queue, so that it never grows without bound. */
const batch = 5_000

/** Bytes on the heap after a full garbage collection. */
export const held = Effect.sync(() => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  if (typeof collect === "function") collect()
  return process.memoryUsage().heapUsed
})

/**
 * Mebibytes of the heap before an effect, after a full collection, and at most while it runs: sampled
 * ten times a second, with the garbage that is not collected yet.
 */
export const withHeap = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = yield* held
    let most = before
    const look = () => {
      most = Math.max(most, process.memoryUsage().heapUsed)
    }
    const timer = setInterval(look, 100)
    const value = yield* Effect.ensuring(
      effect,
      Effect.sync(() => clearInterval(timer))
    )
    look()
    return { value, heap: { before: before / 2 ** 20, most: most / 2 ** 20 } }
  })

/**
 * Mebibytes that are held while an effect runs: the most after a full collection, of which there is one
 * every so often. Garbage is not counted, and the collections make the effect slower.
 */
export const heldWhile = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    let most = 0
    const look = () => {
      most = Math.max(most, Effect.runSync(held))
    }
    const timer = setInterval(look, heldEveryMillis)
    yield* Effect.ensuring(
      effect,
      Effect.sync(() => clearInterval(timer))
    )
    look()
    return most / 2 ** 20
  })

/** Row of what is held while so many are worked off, against what is held for fewer. */
export const heapRow = (
  work: string,
  growth: { readonly held: number; readonly fewer: number; readonly ofFewer: string }
): Row => ({
  bench: `heap while ${work}`,
  unit: "MiB",
  against: growth.ofFewer,
  goal: 0.83,
  note: "held after full collections; the ratio is of the smaller heap to the larger, and at 0.83 one is 1.2 times the other",
  ours: quantity(growth.held),
  bound: quantity(growth.fewer),
  ratio: figureOf([growth.fewer / growth.held])
})

const program = (whole: number) =>
  Effect.gen(function* () {
    yield* many(warm, operation)
    yield* settled
    const before = yield* held
    for (let done = warm; done < whole; done += batch) {
      yield* many(Math.min(batch, whole - done), operation)
      yield* settled
    }
    return { before, after: yield* held }
  })

export const bench: Bench = async ({ size = 100_000 }) => {
  const { before, after } = await onDatabase(program(size))
  return [
    {
      bench: `heap after ${size.toLocaleString("en-US")} operations`,
      unit: "MiB",
      against: `after ${warm.toLocaleString("en-US")} operations`,
      goal: null,
      ours: quantity(after / 2 ** 20),
      bound: quantity(before / 2 ** 20),
      ratio: figureOf([after / before]),
      note: "decoded versions are remembered up to 10,000"
    }
  ]
}
