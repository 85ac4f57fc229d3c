/** Look-up of the provision that covers a fund's shortfall when its cycle settles. */
import { Effect, Option, Stream } from "effect"
import { provisionSettlements } from "../provision-settlement/ProvisionSettlement.ts"
import { assetKeyOf, holdings } from "../../instruments/register/Holding.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import type { DealingCycle } from "./DealingCycle.ts"
import * as Draw from "./HoldingSelectionRules.ts"

type Paying = Pick<DealingCycle, "instrumentId" | "fund" | "paymentAsset">

/** Holdings that are looked at together while they pass. */
const together = 500

/**
 * The fund's consent to a draw of this amount, and the holdings it is drawn on; null where it gave
 * none, or has not as much that is free. `most` is what one ledger transaction may use.
 */
export const provisionOf: (
  cycle: Paying,
  of: { readonly amount: Decimal.Decimal; readonly most: number }
) => Effect.Effect<Draw.Provision | null, Unavailable, Records> = Effect.fnUntraced(function* (
  cycle,
  { amount, most }
) {
  if (Decimal.isZero(amount)) return null
  const provisionCid = yield* consentTo(cycle, amount)
  if (provisionCid === null) return null
  const holdingCids = Draw.drawn(yield* freeOf(cycle, most), amount)
  return holdingCids === null ? null : { provisionCid, holdingCids, amount }
})

/** The latest consent of the fund that reaches as far. */
const consentTo = Effect.fnUntraced(function* (cycle: Paying, amount: Decimal.Decimal) {
  const records = yield* Records
  const consent = yield* records
    .stream(provisionSettlements, {
      where: { instrumentId: [cycle.instrumentId], state: ["agreed"] },
      direction: "desc"
    })
    .pipe(
      Stream.map(({ record }) => record),
      Stream.filter(
        ({ fund, paymentAsset, limit }) =>
          fund === cycle.fund &&
          paymentAsset.admin === cycle.paymentAsset.admin &&
          paymentAsset.id === cycle.paymentAsset.id &&
          (limit === null || Decimal.atMost(amount, limit))
      ),
      Stream.runHead
    )
  return Option.isSome(consent) ? consent.value.provisionCid : null
})

/** The fund's unlocked holdings of the payment asset. */
const freeOf = Effect.fnUntraced(function* ({ fund, paymentAsset }: Paying, most: number) {
  const records = yield* Records
  const { admin, id } = paymentAsset
  const asset = assetKeyOf({ registrar: admin, instrumentId: id })
  return yield* records.stream(holdings, { where: { owner: [fund], asset: [asset] } }).pipe(
    Stream.map(({ record }) => record),
    Stream.filter(({ lock }) => lock === null),
    Stream.grouped(together),
    Stream.runFold(
      () => Draw.none,
      (all, free) => Draw.seen(all, free, most)
    )
  )
})
