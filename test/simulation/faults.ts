/** Faults of a simulation, and the seeded dice behind every random choice in it. */
import type * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Duration } from "effect"

/** Random by a seed alone: the same seed walks the same way. */
export interface Dice {
  /** 0 to below `sides`. */
  readonly roll: (sides: number) => number
  readonly pick: <A>(some: readonly [A, ...ReadonlyArray<A>]) => A
  /** One of `in`. */
  readonly once: (inHowMany: number) => boolean
}

export const dice = (seed: number): Dice => {
  let state = seed >>> 0
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const roll = (sides: number) => Math.floor(next() * sides)
  return {
    roll,
    pick: (some) => some[roll(some.length)] ?? some[0],
    once: (inHowMany) => roll(inHowMany) === 0
  }
}

const some = ({ roll }: Dice): ReadonlyArray<number> =>
  Array.from({ length: roll(4) }, () => 1 + roll(12))

/** A plan of faults; one in three is that nothing goes wrong. */
export const plan = (die: Dice): SimulatedLedger.Faults.Plan =>
  die.once(3)
    ? {}
    : {
        dropBeforeCommit: some(die),
        dropAfterCommit: some(die),
        contention: some(die),
        inFlight: some(die),
        backpressure: some(die),
        gap: die.pick(["sparse", "dense"]),
        ...(die.once(3)
          ? { visibilityDelay: Duration.millis(die.pick([200, 2_000, 15_000])) }
          : {}),
        ...(die.once(3) ? { duplicateFrame: true as const } : {}),
        ...(die.once(4) ? { wsCut: 1 + die.roll(5) } : {}),
        ...(die.once(6) ? { tokenExpiry: true as const } : {}),
        ...(die.once(4) ? { skew: { minMillis: -5_000, maxMillis: 5_000 } } : {})
      }
