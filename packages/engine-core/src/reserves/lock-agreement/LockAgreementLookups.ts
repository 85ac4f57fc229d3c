/** Look-ups of the holdings that are locked under the lock agreements of a reserve. */
import { Effect } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records } from "../../records/Records.ts"
import { type Reserve, reserves } from "../reserve/Reserve.ts"
import { countedHoldingsOf } from "../reserve/ReserveLookups.ts"
import { keyOf } from "../reserve/ReserveTerms.ts"
import type { LockAgreement } from "./LockAgreement.ts"

/** Amount that is locked under an agreement, and its holdings. */
export interface LockedHoldings {
  readonly amount: Decimal.Decimal
  readonly cids: ReadonlyArray<string>
}

const nothing: LockedHoldings = { amount: Decimal.zero, cids: [] }

/** Loads the locked amounts and holdings of agreements of one reserve, in their order. */
export const lockedUnder = Effect.fnUntraced(function* (
  reserveId: string,
  all: ReadonlyArray<LockAgreement>,
  pin?: Pin.ResolvedPin
) {
  const records = yield* Records
  const [reserve] = yield* records.many(reserves, [reserveId], pin)
  if (reserve === undefined || !all.some(isActive)) return all.map(() => nothing)
  const holdings = yield* countedHoldingsOf(reserve, pin)
  return all.map((self) => (isActive(self) ? lockedOf(reserve, holdings, self) : nothing))
})

const isActive = ({ state }: Pick<LockAgreement, "state">): boolean => state === "active"

const lockedOf = (
  { locked }: Reserve,
  holdings: ReadonlyMap<string, string>,
  { asset }: LockAgreement
): LockedHoldings => {
  const key = keyOf(asset)
  const cid = holdings.get(key)
  return {
    amount: locked.find((one) => keyOf(one.asset) === key)?.amount ?? Decimal.zero,
    cids: cid === undefined ? [] : [cid]
  }
}
