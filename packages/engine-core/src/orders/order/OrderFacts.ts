/** Fact schemas that the histories of subscriptions and redemptions share. */
import { Schema } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Field from "../../templates/Field.ts"
import { FormerCycle } from "../dealing-cycle/FormerCycle.ts"
import { type Cash, CashLine, matchedWith } from "./CashLine.ts"

export const at = { at: Instant.schema } as const

/** An allocation on the ledger for an order: locked by its owner, moved by the venue before its deadline. */
export const Allocated = Schema.Struct({
  cid: Field.contractId,
  amount: Decimal.schema,
  settleBefore: Instant.schema
})

/** The venue requested the order's cash on the ledger; null: that request ended. */
export const RequestCash = Schema.Struct({
  on: Schema.Literal("request-cash"),
  intentCid: Schema.NullOr(Field.contractId),
  /** Deadline of the request on the ledger. Facts that were stored before it was read have none. */
  settleBefore: Field.optional(Instant.schema)
})

/** The venue's request for an order's cash, as a snapshot shows it. */
export type CashRequest = Omit<typeof RequestCash.Type, "on">

/**
 * Fold of `request-cash`. The request is planned before the claim is committed: where the cut-off passes
 * in between, its deadline is earlier than that of the order, whose cash is then locked until the
 * deadline of the request only, so that the order settles by it too.
 */
export const requestedBy = <O extends { readonly settleBy: Instant.Instant | null }>(
  self: O,
  { intentCid, settleBefore }: typeof RequestCash.Type
) => ({
  ...self,
  intentCid,
  settleBy:
    self.settleBy === null || settleBefore === null
      ? self.settleBy
      : Instant.min(self.settleBy, settleBefore)
})
/** The order's dealing cycle ended without the order. */
export const Leave = Schema.Struct({ on: Schema.Literal("leave"), formerCycle: FormerCycle })
/** The venue named bank lines as the order's cash. */
export const Match = Schema.Struct({ on: Schema.Literal("match"), lines: Schema.Array(CashLine) })
/** Another statement replaced that of some lines: all lines of the order as they are named now. */
export const MoveLines = Schema.Struct({
  on: Schema.Literal("move-lines"),
  lines: Schema.Array(CashLine),
  refunds: Schema.Array(CashLine)
})
/** A price was signed on the ledger whose figures are beyond those of an order: it prices nothing. */
export const Misprice = Schema.Struct({
  on: Schema.Literal("misprice"),
  mispricedCid: Field.contractId
})

/** Fold of `misprice`: the claim is consumed, and the contract of the price ends with the order. */
export const mispricedBy = <O>(self: O, { mispricedCid }: typeof Misprice.Type) => ({
  ...self,
  claimCid: null,
  mispricedCid
})
export const Release = Schema.Struct({ on: Schema.Literal("release"), ...at })
export const Withdraw = Schema.Struct({ on: Schema.Literal("withdraw"), ...at })

/** Fold of `move-lines`: the order's cash in these bank lines; a correction may have lost a part. */
export const cashIn = (cash: Cash, lines: ReadonlyArray<CashLine>): Cash => ({
  ...cash,
  matched: matchedWith({ matched: Decimal.zero }, lines),
  lines
})

/** Fold of `match`: the order's cash with these bank lines. */
export const cashWith = (cash: Cash, lines: ReadonlyArray<CashLine>): Cash => ({
  ...cash,
  matched: matchedWith(cash, lines),
  lines: [...cash.lines, ...lines]
})
