/** Checks of a redemption's acts on records outside it, by gate. */
import { type Holder, isScreened } from "../../holders/holder/Holder.ts"
import type { RecordedInstrument } from "../../instruments/instrument/Instrument.ts"
import { onRegistry } from "../../instruments/instrument/InstrumentGates.ts"
import type { VersionTerms } from "../../instruments/policy/Policy.ts"
import { isBelowOrderLimit } from "../../kernel/Amount.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, inOrder, type Judgement } from "../../kernel/Gates.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as ControlGates from "../order/ControlGates.ts"
import * as OrderGates from "../order/OrderGates.ts"
import { isRebasing, shownOf } from "../order/RebasingRules.ts"
import type { Redemption } from "./Redemption.ts"
import { figuresAt, isTakenWithinLimit } from "./RedemptionPricing.ts"

/**
 * Records that gate every act of a redemption up to its burn. No admission is among them: a holder that
 * may no longer hold an instrument must still be able to redeem it.
 */
export interface Context extends ControlGates.Controls {
  readonly instrument: RecordedInstrument
  readonly holder: Pick<Holder, "holderId" | "state" | "screening" | "party">
  readonly now: Instant.Instant
}

/** Records and figures that gate a claim. */
export interface ClaimContext extends Context, OrderGates.ClaimContext {
  readonly instrument: RecordedInstrument
  readonly now: Instant.Instant
  readonly terms: VersionTerms
  /** The party that would price the order; null: no oracle is named. */
  readonly oracle: string | null
  /** Units of the instrument that the holder has free, base units of a rebasing instrument. */
  readonly free: Decimal.Decimal
  /** All units of the instrument that the holder has, likewise. */
  readonly heldUnits: Decimal.Decimal
  /** Units that the holder's other open redemptions take, likewise. */
  readonly leaving: Decimal.Decimal
  /**
   * The latest official price or index, by which an order by amount is counted in units, and shown units
   * in base units; null: none yet.
   */
  readonly lastPrice: Decimal.Decimal | null
}

/** Checks whether a holder may redeem: active, or with a registration that has lapsed. */
export const mayDeal = ({ state }: Pick<Holder, "state">): boolean =>
  state === "active" || state === "lapsed"

const ofContext = ({ holder, instrument, ...controls }: Context): ReadonlyArray<Judgement> => [
  ...ControlGates.against(controls, {
    holder,
    instrumentId: instrument.instrumentId,
    passing: "units-back"
  }),
  condition("holder-active", mayDeal(holder)),
  condition("screening-clear", isScreened(holder)),
  onRegistry(instrument)
]

const ofPolicy = (claiming: ClaimContext): ReadonlyArray<Judgement> => {
  const { heldUnits, leaving, oracle, terms } = claiming
  const { policyVersion } = terms
  const taken = takenBy(claiming)
  const { minimumHolding } = terms.manifest
  const left =
    taken === null
      ? null
      : shownOf(Decimal.subtract(heldUnits, Decimal.add(leaving, taken.moved)), {
          ...taken,
          unitDecimals: terms.manifest.unitDecimals
        })
  return [
    condition("oracle-named", oracle !== null, { policyVersion }),
    condition(
      "maximum-redemption",
      taken === null ||
        terms.limits.maxRedemption === null ||
        Decimal.atMost(taken.units, terms.limits.maxRedemption),
      {
        detail:
          terms.limits.maxRedemption === null
            ? null
            : `The limit is ${Decimal.formatPlain(terms.limits.maxRedemption)} units.`,
        policyVersion
      }
    ),
    condition(
      "minimum-holding",
      left === null ||
        minimumHolding === null ||
        !Decimal.isPositive(left) ||
        Decimal.atLeast(left, minimumHolding),
      {
        detail:
          minimumHolding === null
            ? null
            : `The minimum is ${Decimal.formatPlain(minimumHolding)} units.`,
        policyVersion
      }
    )
  ]
}

/** Units that an order takes: as ordered, and as the ledger burns them. */
interface TakenUnits {
  readonly units: Decimal.Decimal
  readonly moved: Decimal.Decimal
  /** Null unless the instrument rebases. */
  readonly index: Decimal.Decimal | null
}

/**
 * Units ordered, or those for the amount at the latest price; null where there is no price or index, or
 * no order is for so many.
 */
export const takenBy = (claiming: ClaimedFigures): TakenUnits | null => {
  const { terms, units } = claiming
  if (units !== null && !isRebasing(terms.manifest)) return { units, moved: units, index: null }
  const figures = figuresOf(claiming)
  if (figures === null) return null
  const { baseUnits, index } = figures
  return { units: figures.units, moved: baseUnits ?? figures.units, index }
}

type ClaimedFigures = Pick<
  ClaimContext,
  "amount" | "cashDecimals" | "free" | "lastPrice" | "terms" | "units"
>

const orderOf = ({ amount, cashDecimals, free, terms, units }: ClaimedFigures) => ({
  ...{ amount, units, cashDecimals },
  unitDecimals: terms.manifest.unitDecimals,
  feeRate: terms.fees.redemption,
  orderedAs: amount === null ? ("units" as const) : ("amount" as const),
  isRebasing: isRebasing(terms.manifest),
  freeUnits: free
})

/** Checks that the order can be priced: by the units ordered, and at the latest price or index. */
const isWithinLimit = (claiming: ClaimedFigures): boolean =>
  (claiming.units === null || isBelowOrderLimit(claiming.units)) &&
  (claiming.lastPrice === null || isTakenWithinLimit(orderOf(claiming), claiming.lastPrice))

/** Figures at the latest price or index; null where there is none, or no order is for so much. */
const figuresOf = (claiming: ClaimedFigures) => {
  const { amount, lastPrice, units } = claiming
  return lastPrice === null || (units === null && amount === null) || !isWithinLimit(claiming)
    ? null
    : figuresAt(orderOf(claiming), lastPrice)
}

/** Cash that the order pays at the latest price or index; null where there is none. */
const proceedsOf = (claiming: ClaimContext): Decimal.Decimal | null =>
  figuresOf(claiming)?.proceeds ?? null

const ofUnits = (claiming: ClaimContext): ReadonlyArray<Judgement> => {
  const { free, lastPrice, terms } = claiming
  const { unitDecimals } = terms.manifest
  const taken = takenBy(claiming)
  const shown = shownOf(free, { unitDecimals, index: taken?.index ?? null })
  // Before the first index the base units of an order are unknown: only a holder without any is refused.
  const isUnknown = taken === null && isRebasing(terms.manifest) && lastPrice === null
  const proceeds = proceedsOf(claiming)
  const smallest = Decimal.formatPlain(
    Decimal.fromAtoms(10n ** BigInt(Decimal.places - claiming.cashDecimals))
  )
  return [
    condition(
      "units-free",
      taken === null
        ? !isUnknown || Decimal.isPositive(free)
        : Decimal.atMost(taken.units, shown) && Decimal.atMost(taken.moved, free),
      {
        detail: isUnknown ? null : `${Decimal.formatPlain(shown)} units are free.`
      }
    ),
    OrderGates.baseUnits({ buys: taken?.units ?? null, moves: taken?.moved ?? null }),
    OrderGates.unitsWithinLimit(isWithinLimit(claiming)),
    // No oracle can price it: the ledger pays a redemption something.
    condition("too-small", proceeds === null || Decimal.isPositive(proceeds), {
      detail: `The units less the fee are worth less than ${smallest} ${terms.manifest.currency}.`,
      recovery: "Redeem units that are worth at least the currency's smallest amount."
    })
  ]
}

/** All conditions of a claim, in the order of the gates; `ofOrder` are those of the order's own record. */
export const againstClaim = (
  claiming: ClaimContext,
  ofOrder: ReadonlyArray<Judgement>
): ReadonlyArray<Judgement> =>
  inOrder([
    ...ofContext(claiming),
    ...OrderGates.againstClaim(claiming, claiming.terms, claiming.instrument.manifest),
    ...ofPolicy(claiming),
    ...ofUnits(claiming),
    ...ofOrder
  ])

/** All conditions of burning a redemption's units and paying for them in one transaction. */
export const againstExchange = (
  context: Context,
  ofOrder: ReadonlyArray<Judgement>
): ReadonlyArray<Judgement> => inOrder([...ofContext(context), ...ofOrder])

/**
 * All conditions of paying a burned redemption. The fund owes the cash also where the holder's
 * registration or screening has ended: only open holds and restrictions of payments are checked
 * (docs/domain/orders.md#redemptions).
 */
export const againstPayment = (
  { instrumentId, ...holder }: Pick<Redemption, "instrumentId" | "holderId" | "party">,
  controls: ControlGates.Controls,
  ofOrder: ReadonlyArray<Judgement>
): ReadonlyArray<Judgement> =>
  inOrder([
    ...ControlGates.against(controls, { holder, instrumentId, passing: "cash-in" }),
    ...ofOrder
  ])

/** Checks that a live market exists: burning and paying in one transaction is a choice of the market. */
export const againstMarketEnd = (market: { readonly marketCid: string } | null): Judgement =>
  condition("primary-market", market !== null, {
    recovery: "Have the units burned by request, or release the order: its market ended."
  })
