/** Look-up of the provision that covers a fund's shortfall when its cycle settles. */
import { Effect, Option, Stream } from "effect"
import { provisionSettlements } from "../provision-settlement/ProvisionSettlement.ts"
import { assetKeyOf, holdings } from "../../instruments/register/Holding.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import type { DealingCycle } from "./DealingCycle.ts"
import * as HoldingSelection from "./HoldingSelectionRules.ts"

type PayingCycle = Pick<DealingCycle, "instrumentId" | "fund" | "paymentAsset">

/** Holdings in one chunk of the stream. */
const chunkSize = 500

/**
 * Finds the fund's agreed provision for this amount, and selects the holdings to draw on; null if there is
 * no such provision, or if the fund's unlocked holdings do not reach the amount. `most` is the largest
 * number of contracts in one ledger transaction.
 */
export const provisionOf: (
  cycle: PayingCycle,
  draw: { readonly amount: Decimal.Decimal; readonly most: number }
) => Effect.Effect<HoldingSelection.Provision | null, Unavailable, Records> = Effect.fnUntraced(
  function* (cycle, { amount, most }) {
    if (Decimal.isZero(amount)) return null
    const provisionCid = yield* provisionFor(cycle, amount)
    if (provisionCid === null) return null
    const holdingCids = HoldingSelection.select(yield* freeOf(cycle, most), amount)
    return holdingCids === null ? null : { provisionCid, holdingCids, amount }
  }
)

/** Finds the latest agreed provision of the fund whose limit covers the amount. */
const provisionFor = Effect.fnUntraced(function* (cycle: PayingCycle, amount: Decimal.Decimal) {
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

/** Folds the fund's unlocked holdings of the payment asset. */
const freeOf = Effect.fnUntraced(function* ({ fund, paymentAsset }: PayingCycle, most: number) {
  const records = yield* Records
  const { admin, id } = paymentAsset
  const asset = assetKeyOf({ registrar: admin, instrumentId: id })
  return yield* records.stream(holdings, { where: { owner: [fund], asset: [asset] } }).pipe(
    Stream.map(({ record }) => record),
    Stream.filter(({ lock }) => lock === null),
    Stream.grouped(chunkSize),
    Stream.runFold(
      () => HoldingSelection.none,
      (candidates, free) => HoldingSelection.withHoldings(candidates, free, most)
    )
  )
})
