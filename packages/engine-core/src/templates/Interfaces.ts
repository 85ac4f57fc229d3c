/** Public token interfaces that our templates implement, so that any wallet can read them. */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import type { LfRecord, TypeRef } from "./Template.ts"

const named = (area: string, entity: string): TypeRef => ({
  packageName: `splice-api-token-${area}-v1`,
  module: `Splice.Api.Token.${entity}V1`,
  entity
})

const metadata = Schema.Struct({ values: Field.textMap })

const settlement = Schema.Struct({
  executor: Field.party,
  settlementRef: Schema.Struct({ id: Field.text, cid: Field.optional(Field.contractId) }),
  requestedAt: Field.instant,
  allocateBefore: Field.instant,
  settleBefore: Field.instant,
  meta: metadata
})

const transferLeg = Schema.Struct({
  sender: Field.party,
  receiver: Field.party,
  amount: Field.decimal,
  instrumentId: Field.asset,
  meta: metadata
})

/** Interface of holdings of the token standard. */
export const HoldingV1 = {
  typeRef: named("holding", "Holding"),
  view: Schema.Struct({
    owner: Field.party,
    instrumentId: Field.asset,
    amount: Field.decimal,
    lock: Field.optional(
      Schema.Struct({
        holders: Field.parties,
        expiresAt: Field.optional(Field.instant),
        expiresAfter: Field.optional(Field.text),
        context: Field.optional(Field.text)
      })
    ),
    meta: metadata
  })
} as const

/** Interface of allocations of the token standard. */
export const AllocationV1 = {
  typeRef: named("allocation", "Allocation"),
  view: Schema.Struct({
    allocation: Schema.Struct({
      settlement,
      transferLegId: Field.text,
      transferLeg
    }),
    holdingCids: Field.list(Field.contractId),
    meta: metadata
  })
} as const

/** Interface of requests for an allocation of the token standard. */
export const AllocationRequestV1 = {
  typeRef: named("allocation-request", "AllocationRequest"),
  view: Schema.Struct({
    settlement,
    transferLegs: Schema.Record(Schema.String, transferLeg),
    meta: metadata
  })
} as const

/** Encodes a view as the ledger shows it. */
export const encodeView = <A>(
  iface: { readonly view: Schema.Codec<A, LfRecord> },
  view: A
): LfRecord => Schema.encodeSync(iface.view)(view)
