/** Checks of a redemption's acts on records outside it, by gate. */
import type { Holder } from "../../holders/holder/Holder.ts"
import { isScreened } from "../../holders/holder/HolderMachine.ts"
import type { Recorded } from "../../instruments/instrument/Instrument.ts"
import { onRegistry } from "../../instruments/instrument/InstrumentGates.ts"
import type { Terms } from "../../instruments/policy/Policy.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { inOrder, type Objection } from "../../kernel/Gates.ts"
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
  [
    !mayDeal(holder),
    "rule-refused",
    {
      gate: "admission",
      check: "holder-active",
      recovery: "Have the holder's registration and terms accepted."
    }
  ],
  [
    !isScreened(holder),
    "rule-refused",
    { gate: "screening", check: "screening-clear", recovery: "Wait for a clear screening." }
  ],
  onRegistry(instrument)
]

const ofPolicy = (claiming: Claiming): ReadonlyArray<Objection> => {
  const { held, instrument, leaving, market, oracle, payment, terms } = claiming
  const { policyVersion } = terms
  const units = takes(claiming)
  const { minimumHolding } = terms.manifest
  const left = units === null ? null : Decimal.subtract(held, Decimal.add(leaving, units))
  return [
    [
      instrument.manifest.valuation === "rebasing",
      "rule-refused",
      {
        gate: "policy",
        check: "valuation",
        policyVersion,
        recovery: "Order an instrument that does not rebase."
      }
    ],
    [
      payment === "ledger" && market?.state !== "agreed",
      "rule-refused",
      {
        gate: "policy",
        check: "primary-market",
        policyVersion,
        recovery: "Propose a primary market and have it agreed, or pay by wire."
      }
    ],
    [
      oracle === null,
      "rule-refused",
      {
        gate: "policy",
        check: "oracle-named",
        policyVersion,
        recovery: "Name the instrument's oracle, or agree a primary market."
      }
    ],
    [
      units !== null &&
        terms.limits.maxRedemption !== null &&
        Decimal.greaterThan(units, terms.limits.maxRedemption),
      "rule-refused",
      {
        gate: "policy",
        check: "maximum-redemption",
        ...(terms.limits.maxRedemption === null
          ? {}
          : { detail: `The limit is ${Decimal.formatPlain(terms.limits.maxRedemption)} units.` }),
        policyVersion,
        recovery: "Order no more units than the policy allows."
      }
    ],
    [
      left !== null &&
        minimumHolding !== null &&
        Decimal.isPositive(left) &&
        Decimal.lessThan(left, minimumHolding),
      "rule-refused",
      {
        gate: "policy",
        check: "minimum-holding",
        ...(minimumHolding === null
          ? {}
          : { detail: `The minimum is ${Decimal.formatPlain(minimumHolding)} units.` }),
        policyVersion,
        recovery: "Leave at least the minimum, or give all units back."
      }
    ]
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
  [
    !isWithin(terms.window, now),
    "rule-refused",
    {
      gate: "window",
      check: "window-open",
      policyVersion: terms.policyVersion,
      recovery: "Order while the policy's window is open."
    }
  ]
]

const ofFigures = (claiming: Claiming): ReadonlyArray<Objection> => {
  const { amount, cashDecimals, free, instrument, units } = claiming
  const { unitDecimals } = instrument.manifest
  const taken = takes(claiming)
  return [
    [
      units !== null && !Decimal.fits(units, unitDecimals),
      "rule-refused",
      {
        gate: "units",
        check: "unit-decimals",
        detail: `Units of the instrument have at most ${unitDecimals} places.`,
        recovery: `Order units with at most ${unitDecimals} places.`
      }
    ],
    [
      taken !== null && Decimal.greaterThan(taken, free),
      "rule-refused",
      {
        gate: "units",
        check: "units-free",
        detail: `${Decimal.formatPlain(free)} units are free.`,
        recovery: "Order no more than the holder has free."
      }
    ],
    [
      amount !== null && !Decimal.fits(amount, cashDecimals),
      "rule-refused",
      {
        gate: "cash",
        check: "currency-decimals",
        detail: `Amounts of ${instrument.manifest.currency} have at most ${cashDecimals} places.`,
        recovery: `Order an amount with at most ${cashDecimals} places.`
      }
    ]
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
 * What is burned is owed, whatever became of its holder's registration and screening: paying it
 * asks for no more than that nothing is held, and that its holder may be paid
 * (docs/domain/orders.md#redemptions).
 */
export const againstPayment = (
  { instrumentId, ...holder }: Pick<Redemption, "instrumentId" | "holderId" | "party">,
  controls: ControlGates.Controls,
  own: ReadonlyArray<Objection>
): ReadonlyArray<Objection> =>
  inOrder([...ControlGates.against(controls, { holder, instrumentId, passing: "cash-in" }), ...own])

/** Burned and paid in one it needs a market that stands: it is the market that burns. */
export const againstMarketEnd = (market: { readonly marketCid: string } | null): Objection => [
  market === null,
  "rule-refused",
  {
    gate: "policy",
    check: "primary-market",
    recovery: "Have the units burned by request, or release the order: its market ended."
  }
]
