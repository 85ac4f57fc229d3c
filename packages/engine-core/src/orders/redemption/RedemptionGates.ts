/** Checks of a redemption's acts on records outside it, by gate. */
import type { Holder } from "../../holders/holder/Holder.ts"
import { isScreened } from "../../holders/holder/HolderMachine.ts"
import type { Recorded } from "../../instruments/instrument/Instrument.ts"
import { onRegistry } from "../../instruments/instrument/InstrumentGates.ts"
import type { Terms } from "../../instruments/policy/Policy.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { check, inOrder, type Objection } from "../../kernel/Gates.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type { PaymentMode } from "../../vocabulary/sets.ts"
import * as ControlGates from "../ControlGates.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"
import { isWithin } from "../subscription/SubscriptionGates.ts"
import type { Redemption } from "./Redemption.ts"
import { figuresAt } from "./RedemptionPricing.ts"

/**
 * What every act of a redemption up to its burn is judged by. It asks for no admission: who may no
 * longer hold an instrument must still be able to give it back.
 */
export interface Standing extends ControlGates.Controls {
  readonly instrument: Recorded
  readonly holder: Pick<Holder, "holderId" | "state" | "screening" | "party">
  readonly now: Instant.Instant
}

/** A claim as its gates see it. */
export interface Claiming extends Standing {
  readonly payment: PaymentMode
  readonly amount: Decimal.Decimal | null
  readonly units: Decimal.Decimal | null
  readonly cashDecimals: number
  readonly market: Pick<PrimaryMarket, "state"> | null
  readonly terms: Terms
  /** Who would price it; null: nobody is named. */
  readonly oracle: string | null
  /** What the holder has free of the instrument, and all that it holds. */
  readonly free: Decimal.Decimal
  readonly held: Decimal.Decimal
  /** What of it its other open orders are going to take. */
  readonly leaving: Decimal.Decimal
  /** The last official price: what an order by amount is likely to take. Null: none yet. */
  readonly lastPrice: Decimal.Decimal | null
}

/** A registration that ran out ends no holding: its holder may still give units back. */
export const mayDeal = ({ state }: Pick<Holder, "state">): boolean =>
  state === "active" || state === "lapsed"

const ofStanding = ({ holder, instrument, ...controls }: Standing): ReadonlyArray<Objection> => [
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
  const { held, instrument, leaving, market, oracle, payment, terms } = claiming
  const { policyVersion } = terms
  const units = takes(claiming)
  const { minimumHolding } = terms.manifest
  const left = units === null ? null : Decimal.subtract(held, Decimal.add(leaving, units))
  return [
    check("valuation", instrument.manifest.valuation !== "rebasing", { policyVersion }),
    check("primary-market", payment !== "ledger" || market?.state === "agreed", {
      policyVersion,
      recovery: "Propose a primary market and have it agreed, or pay by wire."
    }),
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

/** What it takes of the holder's units: as ordered, or for the amount at the last price. */
const takes = (claiming: Claiming): Decimal.Decimal | null => {
  const { amount, cashDecimals, instrument, lastPrice, terms, units } = claiming
  if (units !== null || amount === null || lastPrice === null) return units
  const { unitDecimals } = instrument.manifest
  const feeRate = terms.fees.redemption
  const order = { amount, units, feeRate, unitDecimals, cashDecimals, orderedAs: "amount" } as const
  return figuresAt(order, lastPrice).units
}

const ofWindow = ({ now, terms }: Claiming): ReadonlyArray<Objection> => [
  check("window-open", isWithin(terms.window, now), { policyVersion: terms.policyVersion })
]

const ofFigures = (claiming: Claiming): ReadonlyArray<Objection> => {
  const { amount, cashDecimals, free, instrument, units } = claiming
  const { unitDecimals } = instrument.manifest
  const taken = takes(claiming)
  return [
    check("unit-decimals", units === null || Decimal.fits(units, unitDecimals), {
      detail: `Units of the instrument have at most ${unitDecimals} places.`,
      recovery: `Order units with at most ${unitDecimals} places.`
    }),
    check("units-free", taken === null || Decimal.atMost(taken, free), {
      detail: `${Decimal.formatPlain(free)} units are free.`
    }),
    check("currency-decimals", amount === null || Decimal.fits(amount, cashDecimals), {
      detail: `Amounts of ${instrument.manifest.currency} have at most ${cashDecimals} places.`,
      recovery: `Order an amount with at most ${cashDecimals} places.`
    })
  ]
}

/** Everything that stands in a claim's way, in the order of the gates; `own` is the order's. */
export const againstClaim = (
  claiming: Claiming,
  own: ReadonlyArray<Objection>
): ReadonlyArray<Objection> =>
  inOrder([
    ...ofStanding(claiming),
    ...ofPolicy(claiming),
    ...ofWindow(claiming),
    ...ofFigures(claiming),
    ...own
  ])

/** The same for burning its units and paying them in one. */
export const againstExchange = (
  standing: Standing,
  own: ReadonlyArray<Objection>
): ReadonlyArray<Objection> => inOrder([...ofStanding(standing), ...own])

/**
 * Gates of paying a burned redemption. The fund owes it whatever became of the holder's registration
 * and screening, so they ask only that no hold is open and that the holder may be paid
 * (docs/domain/orders.md#redemptions).
 */
export const againstPayment = (
  { instrumentId, ...holder }: Pick<Redemption, "instrumentId" | "holderId" | "party">,
  controls: ControlGates.Controls,
  own: ReadonlyArray<Objection>
): ReadonlyArray<Objection> =>
  inOrder([...ControlGates.against(controls, { holder, instrumentId, passing: "cash-in" }), ...own])

/** Burned and paid in one it needs a market that stands: it is the market that burns. */
export const againstMarketEnd = (market: { readonly marketCid: string } | null): Objection =>
  check("primary-market", market !== null, {
    recovery: "Have the units burned by request, or release the order: its market ended."
  })
