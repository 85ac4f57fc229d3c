/** Checks of proposing a lock agreement, and of releasing the assets that are locked under one. */
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, type Judgement } from "../../kernel/Gates.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Field from "../../templates/Field.ts"
import * as CoverRules from "../reserve/CoverRules.ts"
import type { Reserve } from "../reserve/Reserve.ts"
import { keyOf } from "../reserve/ReserveTerms.ts"
import * as TermsRules from "../reserve/TermsRules.ts"

/** Records that gate the proposal of a lock agreement. */
export interface ProposalFacts {
  readonly reserve: Pick<Reserve, "state" | "terms" | "pending">
  readonly asset: Field.Asset
  /** Whether an agreement of the reserve and the asset is proposed or active. */
  readonly isAgreed: boolean
  readonly now: Instant.Instant
}

/** All conditions of proposing a lock agreement, in the order in which they refuse. */
export const againstProposal = (facts: ProposalFacts): ReadonlyArray<Judgement> => {
  const { state } = facts.reserve
  return [
    condition("reserve-active", state === "active", { detail: `The reserve is ${state}.` }),
    condition("asset-in-terms", isLockable(facts)),
    condition("one-agreement", !facts.isAgreed)
  ]
}

/** Whether an asset may be locked: the terms in force name it, and those that wait keep it. */
const isLockable = ({ asset, now, reserve }: ProposalFacts): boolean => {
  const terms = [
    TermsRules.inForceAt(reserve, now),
    ...(reserve.pending === null ? [] : [reserve.pending.terms])
  ]
  return terms.every(({ assets }) => assets.some((one) => keyOf(one.asset) === keyOf(asset)))
}

/** Records and figures that gate the release of an agreement in force. */
export interface ReleaseFacts {
  readonly asset: Field.Asset
  /** Whether a mint or a redemption in the asset is open. */
  readonly isOrdered: boolean
  /** Books of the reserve, at the instant of the release. */
  readonly books: CoverRules.ReserveBooks
  /** Unit of account of the reserve. */
  readonly unit: string
}

/** All conditions of a release of locked assets, in the order in which they refuse. */
export const againstRelease = (facts: ReleaseFacts): ReadonlyArray<Judgement> => [
  condition("asset-orders-ended", !facts.isOrdered),
  condition("cover", CoverRules.isReleasable(facts.books, facts.asset), { detail: lackOf(facts) })
]

const lackOf = ({ asset, books, unit }: ReleaseFacts): string => {
  if (books.valuation.mode === "accumulating") {
    return `What is locked is owned by ${Decimal.formatPlain(books.outstanding)} units outstanding.`
  }
  const { counted, required } = CoverRules.coverOf(CoverRules.withoutAsset(books, asset))
  return `Without the asset ${Decimal.formatPlain(required)} ${unit} would be required, and ${Decimal.formatPlain(counted)} ${unit} counted.`
}
