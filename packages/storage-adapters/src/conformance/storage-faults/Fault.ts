/** A fault of a store: the promise of a port that it breaks, and the checks that must notice it. */
import { Context } from "effect"
import type { Storage } from "../../storage/memory/Memory.ts"

export interface Fault {
  /** The fault, as a sentence. */
  readonly does: string
  /** Beginnings of the names of the checks that must notice the fault. */
  readonly noticedBy: ReadonlyArray<string>
  readonly spoil: (sound: Context.Context<Storage>) => Context.Context<Storage>
}

/** Replaces some methods of a port by faulty ones, which receive the correct port. */
export const replace =
  <I extends Storage, S>(
    port: Context.Key<I, S>,
    faulty: (sound: S, all: Context.Context<Storage>) => Partial<S>
  ): Fault["spoil"] =>
  (all) => {
    const sound = Context.getUnsafe(all, port)
    return Context.add(all, port, { ...sound, ...faulty(sound, all) }) as Context.Context<Storage>
  }
