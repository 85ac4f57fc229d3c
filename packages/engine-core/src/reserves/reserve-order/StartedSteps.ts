/** Steps that open the record of an order as the ledger starts it: books it was judged by, and its holder. */
import { Effect, Option } from "effect"
import { holderParties } from "../../holders/holder/Holder.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import type * as Party from "../../kernel/Party.ts"
import type { Node } from "../../projection/Reading.ts"
import { Records } from "../../records/Records.ts"
import type * as Field from "../../templates/Field.ts"
import type { Reserve as ReserveTemplate } from "../../templates/Reserve.ts"
import type { Payload } from "../../templates/Template.ts"
import * as BooksRules from "../reserve/BooksRules.ts"
import * as CoverRules from "../reserve/CoverRules.ts"
import { pointsOf } from "../reserve/PointLookups.ts"
import { keyOf } from "../reserve/ReserveTerms.ts"

type Contract = Payload<typeof ReserveTemplate>

/**
 * Loads the prices that an order was started at: the asset's, and the share's both ways. They follow
 * from the reserve's contract and the points that the venue named, as the ledger judged them.
 */
export const pricesOf = Effect.fnUntraced(function* (
  payload: Contract,
  of: {
    readonly asset: Field.Asset
    readonly pointCids: ReadonlyArray<string>
    readonly supply: Decimal.Decimal
  },
  node: Node
) {
  const points = yield* pointsOf(of.pointCids)
  const books = BooksRules.booksAt(BooksRules.bodyOf(payload), {
    points,
    supply: of.supply,
    at: node.effectiveAt
  })
  const key = keyOf(of.asset)
  return {
    price: CoverRules.assetsOf(books).find((asset) => asset.key === key)?.price ?? null,
    pointCid: points.get(key)?.contractId ?? null,
    sharePrice: CoverRules.sharePriceOf(books)
  }
})

/** Finds the holder of a party; null: it is none. */
export const holderOf = Effect.fnUntraced(function* (party: Party.Party) {
  const records = yield* Records
  const found = yield* records.find(holderParties, party)
  return Option.match(found, { onNone: () => null, onSome: ({ holderId }) => holderId })
})
