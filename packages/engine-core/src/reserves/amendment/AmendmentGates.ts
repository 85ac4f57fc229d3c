/** Checks of proposing other terms of a reserve (docs/domain/reserves.md#amendments). */
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, type Judgement } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import { directionOf, type TermChange } from "../../writes/TermChange.ts"
import type { Reserve } from "../reserve/Reserve.ts"
import { keyOf, type ReserveTerms } from "../reserve/ReserveTerms.ts"
import * as ReserveGates from "../reserve/ReserveGates.ts"
import type { Amendment } from "./Amendment.ts"

/** Records and terms that gate the proposal of an amendment. */
export interface AmendmentFacts {
  readonly reserve: Pick<
    Reserve,
    "state" | "instrumentId" | "issuer" | "parValue" | "pending" | "locked"
  >
  /** An amendment of the reserve that the issuer has not answered; null: there is none. */
  readonly proposed: Pick<Amendment, "amendmentId"> | null
  readonly terms: ReserveTerms
  /** Changes against the terms in force. */
  readonly change: ReadonlyArray<TermChange>
  readonly now: Instant.Instant
}

/** All conditions of an amendment, in the order of the gates. */
export const against = ({
  reserve,
  proposed,
  terms,
  change,
  now
}: AmendmentFacts): ReadonlyArray<Judgement> => {
  const { pending, locked } = reserve
  const waiting =
    pending !== null && Instant.isBefore(now, pending.effectiveAt) ? pending.amendmentId : null
  const assetKeys = new Set(terms.assets.map(({ asset }) => keyOf(asset)))
  const left = locked.find(
    ({ asset, amount }) => Decimal.isPositive(amount) && !assetKeys.has(keyOf(asset))
  )
  return [
    condition("reserve-active", reserve.state === "active", {
      detail: `The reserve is ${reserve.state}.`
    }),
    condition("one-amendment", proposed === null, {
      detail: `The amendment ${proposed?.amendmentId ?? ""} awaits its issuer.`
    }),
    condition("nothing-pending", waiting === null || directionOf(change) !== "loosen", {
      detail: `The terms of the amendment ${waiting ?? ""} are accepted and wait.`
    }),
    condition(
      "own-asset",
      !ReserveGates.isOwnAsset(terms, { ...reserve, registrar: reserve.issuer })
    ),
    ReserveGates.feasible(terms, { isAccumulating: reserve.parValue === null }),
    condition("terms-changed", change.length > 0),
    condition("asset-locked", reserve.parValue !== null || left === undefined, {
      detail: `Units of ${left?.asset.id ?? ""} are locked, which the holders' units own.`
    })
  ]
}
