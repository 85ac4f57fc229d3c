/** What outside the order itself stands in the way of a redemption's acts, gate by gate. */
import type { Holder } from "../../holders/holder/Holder.ts"
import { isScreened } from "../../holders/holder/HolderMachine.ts"
import { isOnRegistry, type Recorded } from "../../instruments/instrument/Instrument.ts"
import type { Terms } from "../../instruments/policy/Policy.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import { gates, unless } from "../../kernel/Refusal.ts"
import type { PaymentMode } from "../../vocabulary/sets.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"
import { figuresAt } from "./RedemptionPricing.ts"
import type { Objection } from "./RedemptionMachine.ts"

/**
 * What every act of a redemption is judged by. It asks for no admission: who may no longer hold an
 * instrument must still be able to give it back. Holds and restrictions come with their records,
 * each as one row more.
 */
export interface Standing {
  readonly instrument: Recorded
  readonly holder: Pick<Holder, "state" | "screening" | "party">
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

const ofStanding = ({ holder, instrument }: Standing): ReadonlyArray<Objection> => [
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
  [
    !isOnRegistry(instrument),
    "rule-refused",
    {
      gate: "ledger",
      check: "on-registry",
      party: instrument.registrar,
      recovery: "Have the registrar configure the instrument."
    }
  ]
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
        check: "max-redemption",
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

const ofWindow = ({ now, terms: { window } }: Claiming): ReadonlyArray<Objection> => [
  [
    (window.opensAt !== null && Instant.isBefore(now, window.opensAt)) ||
      (window.closesAt !== null && Instant.atOrAfter(now, window.closesAt)),
    "rule-refused",
    {
      gate: "window",
      check: "dealing-window",
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
      units !== null && !fits(units, unitDecimals),
      "rule-refused",
      {
        gate: "units",
        check: "unit-decimals",
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
      amount !== null && !fits(amount, cashDecimals),
      "rule-refused",
      {
        gate: "cash",
        check: "currency-decimals",
        recovery: `Order an amount with at most ${cashDecimals} places.`
      }
    ]
  ]
}

const fits = (decimal: Decimal.Decimal, places: number): boolean =>
  Decimal.equals(Decimal.round(decimal, { places, rounding: "floor" }), decimal)

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

/** The same for an act that settles it. */
export const againstSettling = (
  standing: Standing,
  own: ReadonlyArray<Objection>
): ReadonlyArray<Objection> => inOrder([...ofStanding(standing), ...own])

const inOrder = (objections: ReadonlyArray<Objection>): ReadonlyArray<Objection> =>
  objections.toSorted((a, b) => gates.indexOf(a[2].gate) - gates.indexOf(b[2].gate))

/** The first gate that refuses. */
export const judge = (objections: ReadonlyArray<Objection>) => unless(...objections)
