/**
 * Conformance check: one promise of a port as an effect that succeeds, or fails with the broken
 * promise.
 */
import { Clock, Data, Effect, type Exit, type Scope } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { Storage } from "../memory/Memory.ts"

export class Broken extends Data.TaggedError("Broken")<{
  readonly what: string
  readonly expected: unknown
  readonly actual: unknown
}> {
  override get message(): string {
    return `${this.what}: expected ${JSON.stringify(this.expected)}, got ${JSON.stringify(this.actual)}`
  }
}

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

export const same = (
  what: string,
  actual: unknown,
  expected: unknown
): Effect.Effect<void, Broken> =>
  isDeepStrictEqual(actual, expected)
    ? Effect.void
    : Effect.fail(new Broken({ what, expected, actual }))

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
): Effect.Effect<void, Broken, R> =>
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
