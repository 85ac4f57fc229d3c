/** Audience of the reads of reserves and what belongs to them, and the reserve that a path names. */
import { Effect } from "effect"
import * as Sight from "../../holders/holder/Sight.ts"
import type { Collection } from "../../kernel/Collection.ts"
import { refused } from "../../kernel/Refusal.ts"
import type * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { reserves } from "./Reserve.ts"

/** A registrar reads those of the instruments that it issues. */
export const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  auditor: "all",
  app: "all",
  registrar: "near"
} as const satisfies Read.Audience

/** Loads a reserve; refuses `not-found` for one that the caller cannot see, as for none. */
export const reserveOf = Effect.fnUntraced(function* (reserveId: string, asking: Read.ReadContext) {
  const records = yield* Records
  const reserve = yield* records.get(reserves, reserveId, asking.pin)
  yield* Sight.demand(asking, reserves, { registrar: reserve.issuer })
  return reserve
})

/**
 * Loads a record that belongs to a reserve; refuses `not-found` for one of another reserve, or of a
 * reserve that the caller cannot see, as for none.
 */
export const ofReserve = Effect.fnUntraced(function* <R extends { readonly reserveId: string }, F>(
  collection: Collection<R, F>,
  { reserveId, id }: { readonly reserveId: string; readonly id: string },
  asking: Read.ReadContext
) {
  yield* reserveOf(reserveId, asking)
  const records = yield* Records
  const found = yield* records.get(collection, id, asking.pin)
  return found.reserveId === reserveId
    ? found
    : yield* Effect.fail(refused("not-found", { detail: `There is no such ${collection.name}.` }))
})
