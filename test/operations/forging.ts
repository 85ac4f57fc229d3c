/** Kit of planted faults: a record changed in the store, past the engine. */
import { Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import type { Collection } from "#core/kernel/Collection.ts"
import * as Calls from "../engine/calls.ts"

/** Changes a record behind the engine's back, by a fact that does not state the change. */
export const forge = <R, F>(
  collection: Collection<R, F>,
  id: string,
  forgery: { readonly fact: F; readonly change: Partial<R> }
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const { offset } = yield* Calls.catchUp
    const act = {
      cause: { by: "run", runId: "fault" } as const,
      now: yield* Instant.now,
      offset: offset as never
    }
    const forged = {
      ...collection,
      announce: () => [],
      evolve: (before: R): R => ({ ...before, ...forgery.change })
    }
    const before = yield* records.get(collection, id)
    yield* records.transact(records.append(forged, before as never, forgery.fact as never, act))
    return before
  })
