/** Views of mints and reserve redemptions: their public members, and the basis of their figures. */
import { Schema, Struct } from "effect"
import * as Basis from "../../kernel/Basis.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as LazyStruct from "../../kernel/LazyStruct.ts"
import type * as Offset from "../../kernel/Offset.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import { Mint, mints } from "./Mint.ts"
import * as ReserveOrderBasis from "./ReserveOrderBasis.ts"
import { ReserveRedemption, reserveRedemptions } from "./ReserveRedemption.ts"

const shared = [
  "reserveId",
  "instrumentId",
  "state",
  "endedAs",
  "holderId",
  "party",
  "asset",
  "price",
  "pointCid",
  "sharePrice",
  "units",
  "coverBefore",
  "coverAfter",
  "deadline",
  "updateId",
  "lost"
] as const

const added = {
  /** Formula and inputs of the order's figure. */
  basis: Schema.Array(Basis.Basis),
  ...RecordView.fields
} as const

const ofMint = Struct.pick(Mint.fields, ["mintId", ...shared, "deposit"])

export const MintView = Schema.Struct({
  ...ofMint,
  /** Allocation that pays the deposit; null: none is named, or it has ended. */
  allocationCid: Schema.NullOr(Field.contractId),
  ...added
}).annotate({
  identifier: "MintView",
  description: "A mint against a reserve, and who must act next."
})
export type MintView = typeof MintView.Type

const ofRedemption = Struct.pick(ReserveRedemption.fields, [
  "reserveRedemptionId",
  ...shared,
  "payout"
])

export const ReserveRedemptionView = Schema.Struct({
  ...ofRedemption,
  /** The owner's holding that is locked until the deadline; null: none is named, or it has ended. */
  lockedUnitsCid: Schema.NullOr(Field.contractId),
  ...added
}).annotate({
  identifier: "ReserveRedemptionView",
  description: "A redemption from a reserve, and who must act next."
})
export type ReserveRedemptionView = typeof ReserveRedemptionView.Type

/** Point of a view, and whom the order waits for where its record does not say it: the release of a hold. */
interface ViewContext {
  readonly offset: Offset.Offset | null
  readonly waitingOn?: RecordView.Common["waitingOn"] | undefined
}

const unread: ViewContext = { offset: null }

const waiting = ({ waitingOn }: ViewContext) => (waitingOn === undefined ? {} : { waitingOn })

/** Makes the view of a mint; `offset` is the offset of the read, named in the basis. */
export const mint = (record: Stored<Mint>, context: ViewContext = unread): MintView =>
  LazyStruct.extend(RecordView.of(mints, ofMint, record), {
    allocationCid: record.heldCid,
    basis: ReserveOrderBasis.ofMint(record, context.offset),
    ...waiting(context)
  })

/** Makes the view of a reserve redemption. */
export const redemption = (
  record: Stored<ReserveRedemption>,
  context: ViewContext = unread
): ReserveRedemptionView =>
  LazyStruct.extend(RecordView.of(reserveRedemptions, ofRedemption, record), {
    lockedUnitsCid: record.heldCid,
    basis: ReserveOrderBasis.ofRedemption(record, context.offset),
    ...waiting(context)
  })

/** Result of a settled order: its figures, and the cover before and after it. */
const settled = {
  units: Decimal.schema,
  asset: Field.asset,
  coverBefore: Schema.NullOr(Decimal.schema),
  coverAfter: Schema.NullOr(Decimal.schema)
} as const

/** Result of a settled mint. */
export const MintSettled = Schema.Struct({
  ...settled,
  /** Amount of the asset that was deposited. */
  deposit: Decimal.schema
}).annotate({ identifier: "MintSettled", description: "What a settled mint came to." })

/** Result of a settled reserve redemption. */
export const ReserveRedemptionSettled = Schema.Struct({
  ...settled,
  /** Amount of the asset that was paid. */
  payout: Decimal.schema
}).annotate({
  identifier: "ReserveRedemptionSettled",
  description: "What a settled reserve redemption came to."
})
