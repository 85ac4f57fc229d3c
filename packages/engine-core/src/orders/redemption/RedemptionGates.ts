/** Checks of a redemption's acts on records outside it, by gate. */
import type { Holder } from "../../holders/holder/Holder.ts"
import { isScreened } from "../../holders/holder/HolderMachine.ts"
import type { Recorded } from "../../instruments/instrument/Instrument.ts"
import { onRegistry } from "../../instruments/instrument/InstrumentGates.ts"
import type { Terms } from "../../instruments/policy/Policy.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { check, inOrder, type Objection } from "../../kernel/Gates.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as ControlGates from "../ControlGates.ts"
import * as OrderGates from "../order/OrderGates.ts"
import type { Redemption } from "./Redemption.ts"
import { figuresAt } from "./RedemptionPricing.ts"

/**
 * Records that gate every act of a redemption up to its burn. No admission is among them: a holder that
 * may no longer hold an instrument must still be able to redeem it.
 */
export interface Context extends ControlGates.Controls {
  readonly instrument: Recorded
  readonly holder: Pick<Holder, "holderId" | "state" | "screening" | "party">
  readonly now: Instant.Instant
}

/** Records and figures that gate a claim. */
export interface Claiming extends Context, OrderGates.Claiming {
  readonly instrument: Recorded
  readonly now: Instant.Instant
  readonly terms: Terms
  /** The party that would price the order; null: no oracle is named. */
  readonly oracle: string | null
  /** Units of the instrument that the holder has free. */
  readonly free: Decimal.Decimal
  /** All units of the instrument that the holder has. */
  readonly held: Decimal.Decimal
  /** Units that the holder's other open redemptions take. */
  readonly leaving: Decimal.Decimal
  /** The latest official price, by which an order by amount is counted in units; null: none yet. */
  readonly lastPrice: Decimal.Decimal | null
}

/** Checks whether a holder may redeem: active, or with a registration that has lapsed. */
export const mayDeal = ({ state }: Pick<Holder, "state">): boolean =>
  state === "active" || state === "lapsed"

const ofContext = ({ holder, instrument, ...controls }: Context): ReadonlyArray<Objection> => [
  ...ControlGates.against(controls, {
    holder,
    instrumentId: instrument.instrumentId,
    passing: "units-back"
  }),
  check("holder-active", mayDeal(holder)),
  check("screening-clear", isScreened(holder)),
  onRegistry(instrument)
]

const ofPolicy = (claiming: Claiming): ReadonlyArray<Objection> => {
  const { held, leaving, oracle, terms } = claiming
  const { policyVersion } = terms
  const units = unitsTaken(claiming)
  const { minimumHolding } = terms.manifest
  const left = units === null ? null : Decimal.subtract(held, Decimal.add(leaving, units))
  return [
    check("oracle-named", oracle !== null, { policyVersion }),
    check(
      "maximum-redemption",
      units === null ||
        terms.limits.maxRedemption === null ||
        Decimal.atMost(units, terms.limits.maxRedemption),
      {
        detail:
          terms.limits.maxRedemption === null
            ? null
            : `The limit is ${Decimal.formatPlain(terms.limits.maxRedemption)} units.`,
        policyVersion
      }
    ),
    check(
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

/** Units that the order takes: those ordered, or those for its amount at the latest price; null: no price. */
const unitsTaken = (claiming: Claiming): Decimal.Decimal | null => {
  const { amount, cashDecimals, instrument, lastPrice, terms, units } = claiming
  if (units !== null || amount === null || lastPrice === null) return units
  const { unitDecimals } = instrument.manifest
  const feeRate = terms.fees.redemption
  const order = { amount, units, feeRate, unitDecimals, cashDecimals, orderedAs: "amount" } as const
  return figuresAt(order, lastPrice).units
}

const ofUnits = (claiming: Claiming): Objection => {
  const { free } = claiming
  const taken = unitsTaken(claiming)
  return check("units-free", taken === null || Decimal.atMost(taken, free), {
    detail: `${Decimal.formatPlain(free)} units are free.`
  })
}

/** All checks of a claim, in the order of the gates; `ofOrder` are those of the order's own record. */
export const againstClaim = (
  claiming: Claiming,
  ofOrder: ReadonlyArray<Objection>
): ReadonlyArray<Objection> =>
  inOrder([
    ...ofContext(claiming),
    ...OrderGates.againstClaim(claiming, claiming.terms, claiming.instrument.manifest),
    ...ofPolicy(claiming),
    ofUnits(claiming),
    ...ofOrder
  ])

/** All checks of burning a redemption's units and paying for them in one transaction. */
export const againstExchange = (
  context: Context,
  ofOrder: ReadonlyArray<Objection>
): ReadonlyArray<Objection> => inOrder([...ofContext(context), ...ofOrder])

/**
 * All checks of paying a burned redemption. The fund owes the cash whatever became of the holder's
 * registration and screening: only open holds and restrictions of payments are checked
 * (docs/domain/orders.md#redemptions).
 */
export const againstPayment = (
  { instrumentId, ...holder }: Pick<Redemption, "instrumentId" | "holderId" | "party">,
  controls: ControlGates.Controls,
  ofOrder: ReadonlyArray<Objection>
): ReadonlyArray<Objection> =>
  inOrder([
    ...ControlGates.against(controls, { holder, instrumentId, passing: "cash-in" }),
    ...ofOrder
  ])

/** Checks that a live market exists: burning and paying in one transaction is a choice of the market. */
export const againstMarketEnd = (market: { readonly marketCid: string } | null): Objection =>
  check("primary-market", market !== null, {
    recovery: "Have the units burned by request, or release the order: its market ended."
  })
