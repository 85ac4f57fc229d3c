/**
 * Look-up of what keeps a reserve from ending: units, open orders, locked assets, lock agreements.
 */
import { Effect } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import { Records } from "../../records/Records.ts"
import { type LockAgreement, lockAgreements } from "../lock-agreement/LockAgreement.ts"
import type { Reserve } from "./Reserve.ts"
import { loadedOf } from "./ReserveLookups.ts"
import { keyOf } from "./ReserveTerms.ts"

/**
 * Whether nothing is outstanding, open or locked, and no agreement to lock is live. `without` is an
 * agreement that ends in the same act, with what is locked under it.
 */
export const isLeftEmpty = Effect.fnUntraced(function* (
  self: Reserve,
  at: Instant.Instant,
  without: Pick<LockAgreement, "lockAgreementId" | "asset"> | null = null
) {
  const { books, openOrders } = yield* loadedOf(self, { at })
  const key = without === null ? null : keyOf(without.asset)
  const isLocked = self.locked.some(({ asset }) => keyOf(asset) !== key)
  if (openOrders > 0 || isLocked || !Decimal.isZero(books.outstanding)) return false
  const records = yield* Records
  const live = yield* records.list(lockAgreements, {
    where: { reserveId: [self.reserveId], state: ["proposed", "active"] },
    limit: 2
  })
  return live.every(({ record }) => record.lockAgreementId === without?.lockAgreementId)
})
