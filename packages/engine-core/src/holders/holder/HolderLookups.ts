/** Look-ups of holders by their party, which is their name on the ledger. */
import { Effect } from "effect"
import { Records, type Stored } from "../../records/Records.ts"
import { type Holder, holderParties, holders } from "./Holder.ts"

/**
 * Loads the holders of these parties, by party, with two look-ups for all; a party that is no holder is
 * left out. Counts what this transaction has written.
 */
export const holdersOfParties = Effect.fnUntraced(function* (parties: ReadonlyArray<string>) {
  if (parties.length === 0) return new Map<string, Stored<Holder>>()
  const records = yield* Records
  const entries = yield* records.many(holderParties, [...new Set(parties)])
  const found = yield* records.many(
    holders,
    entries.map(({ holderId }) => holderId)
  )
  const byId = new Map(found.map((holder) => [holder.holderId, holder]))
  return new Map(
    entries.flatMap(({ party, holderId }) => {
      const holder = byId.get(holderId)
      return holder === undefined ? [] : [[party as string, holder] as const]
    })
  )
})
