/**
 * Conformance check: one promise of a port as an effect that succeeds, or fails with the broken
 * promise.
 */
import { Clock, type Context, Data, Effect, type Exit, Fiber, Option, type Scope } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { Storage } from "../storage/memory/Memory.ts"

/** Failure of an adapter that does not keep a promise of its port. */
export class BrokenPromise extends Data.TaggedError("Broken")<{
  readonly what: string
  readonly expected: unknown
  readonly actual: unknown
}> {
  override get message(): string {
    return `${this.what}: expected ${JSON.stringify(this.expected)}, got ${JSON.stringify(this.actual)}`
  }
}

/** Check of one promise of a port. */
export interface Check {
  readonly port: string
  /** The promise, as a sentence. */
  readonly name: string
  readonly run: Effect.Effect<void, unknown, Storage | Scope.Scope>
}

export const check = (
  port: string,
  name: string,
  body: () => Generator<Effect.Effect<unknown, unknown, Storage | Scope.Scope>, void, never>
): Check => ({ port, name, run: Effect.gen(body) })

/**
 * Promise that outlives the closing of a store: `run` writes on one opening, and answers the check of
 * the next one.
 */
export interface ReopenCheck {
  readonly port: string
  readonly name: string
  readonly run: Effect.Effect<Check["run"], unknown, Storage | Scope.Scope>
}

export const reopenCheck = (
  port: string,
  name: string,
  body: () => Generator<
    Effect.Effect<unknown, unknown, Storage | Scope.Scope>,
    () => Generator<Effect.Effect<unknown, unknown, Storage | Scope.Scope>, void, never>,
    never
  >
): ReopenCheck => ({ port, name, run: Effect.map(Effect.gen(body), (next) => Effect.gen(next)) })

/** Two openings of one store, such as those of two processes. */
export interface Openings {
  readonly first: Context.Context<Storage>
  readonly second: Context.Context<Storage>
}

/** Promise between two openings of one store. */
export interface OpeningsCheck {
  readonly port: string
  readonly name: string
  readonly run: (openings: Openings) => Effect.Effect<void, unknown, Scope.Scope>
}

export const openingsCheck = (
  port: string,
  name: string,
  body: (openings: Openings) => Generator<Effect.Effect<unknown, unknown, Scope.Scope>, void, never>
): OpeningsCheck => ({ port, name, run: (openings) => Effect.gen(() => body(openings)) })

export const same = (
  what: string,
  actual: unknown,
  expected: unknown
): Effect.Effect<void, BrokenPromise> =>
  isDeepStrictEqual(actual, expected)
    ? Effect.void
    : Effect.fail(new BrokenPromise({ what, expected, actual }))

/** A part of a check ended after the lease or delay that it is about: the outcome says nothing of the store. */
export class TooSlow extends Data.TaggedError("TooSlow")<{ readonly millis: number }> {}

/**
 * Runs the part of a check that must end before a lease or delay of so many milliseconds does, which
 * begins in it. Its outcome counts only if it took less; else it fails with `TooSlow`.
 */
export const within = <A, E, R>(
  millis: number,
  part: Effect.Effect<A, E, R>
): Effect.Effect<A, E | TooSlow, R> =>
  Effect.gen(function* () {
    const began = yield* Clock.currentTimeMillis
    const exit = yield* Effect.exit(part)
    const took = (yield* Clock.currentTimeMillis) - began
    return took < millis ? yield* exit : yield* new TooSlow({ millis })
  })

/** Longest lease or delay that `check` is repeated with, as a multiple of the first. */
const GREATEST_PACE = 256

/**
 * Check of a lease or delay whose length it is given: repeated with four times the length while the
 * machine is too slow for the part that must end before, so that no speed decides the outcome.
 */
export const paced = (
  port: string,
  name: string,
  first: number,
  body: (
    millis: number
  ) => Generator<Effect.Effect<unknown, unknown, Storage | Scope.Scope>, void, never>
): Check => {
  const run = (millis: number): Check["run"] =>
    Effect.catchIf(
      Effect.gen(() => body(millis)),
      (error) => error instanceof TooSlow && millis < first * GREATEST_PACE,
      () => run(millis * 4)
    )
  return { port, name, run: run(first) }
}

/** Longest wait for a wake that the store owes: a limit for one that never comes. */
const NO_WAKE_MILLIS = 10_000

/** Repeats the write until the fiber that listens for its wake has ended; true if it did. */
export const woken = <A, E, R>(
  listening: Fiber.Fiber<unknown, E>,
  write: Effect.Effect<A, E, R>
): Effect.Effect<boolean, E, R> =>
  Effect.gen(function* () {
    // The first write may come before the store listens.
    while (listening.pollUnsafe() === undefined) {
      yield* write
      yield* Effect.timeoutOption(Fiber.await(listening), "100 millis")
    }
    yield* Fiber.join(listening)
    return true
  }).pipe(Effect.timeoutOption(NO_WAKE_MILLIS), Effect.map(Option.getOrElse(() => false)))

/** Outcome of an effect as a word: "success", the tag of its failure, or "defect". */
export const ending = (exit: Exit.Exit<unknown, unknown>): string => {
  if (exit._tag === "Success") return "success"
  for (const reason of exit.cause.reasons) {
    if (reason._tag === "Die") return "defect"
    if (reason._tag === "Fail") {
      const error: unknown = reason.error
      return typeof error === "object" && error !== null && "_tag" in error
        ? String(error._tag)
        : String(error)
    }
  }
  return "interrupt"
}

/** Fails unless the effect has the promised outcome. */
export const ends = <A, E, R>(
  what: string,
  effect: Effect.Effect<A, E, R>,
  expected: "success" | "defect" | "interrupt" | (string & {})
): Effect.Effect<void, BrokenPromise, R> =>
  Effect.flatMap(Effect.exit(effect), (exit) => same(what, ending(exit), expected))

let names = 0

/** Returns a name that is unique also in a database that is kept between runs. */
export const fresh = (word: string): Effect.Effect<string> =>
  Effect.map(Clock.currentTimeMillis, (now) => `${word}-${now.toString(36)}-${++names}`)

/** Sortable text of an instant some microseconds after a fixed one. */
export const instant = (micros: number): string =>
  `2026-01-01T00:00:${String(Math.floor(micros / 1_000_000)).padStart(2, "0")}.${String(
    micros % 1_000_000
  ).padStart(6, "0")}000Z`
