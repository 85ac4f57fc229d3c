/** Pure books of a reserve at an instant: all inputs of its figures. */
import * as Currency from "../../kernel/Currency.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Templates from "../../templates/Reserve.ts"
import type { Payload } from "../../templates/Template.ts"
import type { AssetPoint, ReserveBooks } from "./CoverRules.ts"
import { termsFromLedger } from "./LedgerTerms.ts"
import type { Reserve } from "./Reserve.ts"
import { keyOf } from "./ReserveTerms.ts"
import { inForceAt } from "./TermsRules.ts"

/** Members of a reserve that are inputs of its figures. */
type Body = Pick<
  Reserve,
  | "parValue"
  | "initialSharePrice"
  | "terms"
  | "pending"
  | "locked"
  | "outstanding"
  | "decimals"
  | "priceDecimals"
  | "unit"
>

/** The body of a reserve's contract. */
export const bodyOf = (payload: Payload<typeof Templates.Reserve>): Body => ({
  parValue: payload.parValue,
  initialSharePrice: payload.initialSharePrice,
  terms: termsFromLedger(payload.terms),
  pending:
    payload.pending === null
      ? null
      : { ...payload.pending, terms: termsFromLedger(payload.pending.terms) },
  locked: payload.locked,
  outstanding: payload.outstanding,
  decimals: payload.decimals,
  priceDecimals: payload.priceDecimals,
  unit: payload.unit
})

/**
 * Returns the books at `at`: under the terms in force then, with the larger of the ledger's count and
 * `supply` outstanding.
 */
export const booksAt = (
  body: Body,
  {
    points,
    supply,
    at
  }: {
    /** Points by the key of their asset. */
    readonly points: ReadonlyMap<string, AssetPoint>
    readonly supply: Decimal.Decimal
    readonly at: Instant.Instant
  }
): ReserveBooks => ({
  valuation:
    body.parValue === null
      ? { mode: "accumulating", initialSharePrice: body.initialSharePrice ?? Decimal.one }
      : { mode: "par", parValue: body.parValue },
  terms: inForceAt(body, at),
  locked: new Map(body.locked.map(({ asset, amount }) => [keyOf(asset), amount])),
  points,
  outstanding: Decimal.max(supply, body.outstanding),
  at,
  decimals: body.decimals,
  priceDecimals: body.priceDecimals,
  currencyDecimals: Currency.decimals(body.unit)
})
