/** Checks of a subscription's acts on records outside it, by gate. */
import type { Admission } from "../../admissions/Admission.ts"
import type { Holder } from "../../holders/holder/Holder.ts"
import { isScreened } from "../../holders/holder/HolderMachine.ts"
import type { Recorded } from "../../instruments/instrument/Instrument.ts"
import { onRegistry } from "../../instruments/instrument/InstrumentGates.ts"
import type { Terms } from "../../instruments/policy/Policy.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { check, inOrder, type Objection } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { PaymentMode } from "../../vocabulary/sets.ts"
import * as ControlGates from "../ControlGates.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"

/** What every act of an order that brings units nearer to a holder is judged by. */
export interface Standing extends ControlGates.Controls {
  readonly instrument: Recorded
  readonly holder: Pick<Holder, "holderId" | "state" | "screening" | "party">
  /** The latest admission of the holder to the instrument, if there ever was one. */
  readonly admission: Pick<Admission, "state" | "validFrom" | "credentialCid"> | null
  readonly now: Instant.Instant
}

/** A claim as its gates see it. */
export interface Claiming extends Standing {
  readonly payment: PaymentMode
  readonly amount: Decimal.Decimal | null
  readonly units: Decimal.Decimal | null
  /** The policy's terms in force at the claim. */
  readonly terms: Pick<Terms, "policyVersion" | "window" | "limits" | "manifest">
  /** What the order costs: its amount, or its units at the last price; null before any price. */
  readonly worth: Decimal.Decimal | null
  /** The units it buys at that price; null before any price. */
  readonly buys: Decimal.Decimal | null
  readonly cashDecimals: number
  readonly market: Pick<PrimaryMarket, "state"> | null
  /** Whether anybody can attest its price. */
  readonly attestors: ReadonlyArray<string>
}

/** One row a check; a subscription is placed by its holder, and brings it units later on. */
const ofStanding = (
  standing: Standing,
  passing: "order-in" | "units-in"
): ReadonlyArray<Objection> => {
  const { admission, holder, instrument, now } = standing
  const { instrumentId } = instrument
  return [
    ...ControlGates.against(standing, { holder, instrumentId, passing }),
    check("holder-active", holder.state === "active"),
    check("admitted", admission?.state === "admitted", { party: holder.party }),
    check(
      "credential-in-force",
      admission === null ||
        admission.validFrom === null ||
        Instant.atOrBefore(admission.validFrom, now)
    ),
    check("screening-clear", isScreened(holder)),
    onRegistry(instrument)
  ]
}

const ofClaim = (claiming: Claiming): ReadonlyArray<Objection> => {
  const { amount, attestors, buys, cashDecimals, market, payment, terms, units } = claiming
  const { manifest, policyVersion } = terms
  return [
    check("valuation", manifest.valuation !== "rebasing", { policyVersion }),
    check("primary-market", payment !== "ledger" || market?.state === "agreed", {
      policyVersion,
      recovery: "Propose a primary market and have it agreed, or pay by wire."
    }),
    check("attestor-named", attestors.length > 0, { policyVersion }),
    ...ofSize(claiming),
    check("window-open", isWithin(terms.window, claiming.now), { policyVersion }),
    check("unit-decimals", units === null || Decimal.fits(units, manifest.unitDecimals), {
      detail: `Units of the instrument have at most ${manifest.unitDecimals} places.`,
      recovery: `Order units with at most ${manifest.unitDecimals} places.`
    }),
    // Its holder would pay and get nothing.
    check("too-small", amount === null || buys === null || Decimal.isPositive(buys), {
      detail: `The amount less its fee buys less than one unit of ${manifest.unitDecimals} places.`
    }),
    check("currency-decimals", amount === null || Decimal.fits(amount, cashDecimals), {
      detail: `Amounts of ${manifest.currency} have at most ${cashDecimals} places.`,
      recovery: `Order an amount with at most ${cashDecimals} places.`
    })
  ]
}

/**
 * Limits are in cash, and an order in units has none before it is priced: it is judged by what it
 * would cost at the last price, so that nobody passes a limit by naming units instead.
 */
const ofSize = ({ worth, terms }: Claiming): ReadonlyArray<Objection> => {
  const { limits, manifest, policyVersion } = terms
  return [
    check(
      "minimum-subscription",
      worth === null ||
        manifest.minimumSubscription === null ||
        Decimal.atLeast(worth, manifest.minimumSubscription),
      {
        detail:
          manifest.minimumSubscription === null
            ? null
            : `The minimum is ${Decimal.formatPlain(manifest.minimumSubscription)}.`,
        policyVersion
      }
    ),
    check(
      "maximum-subscription",
      worth === null ||
        limits.maxSubscription === null ||
        Decimal.atMost(worth, limits.maxSubscription),
      {
        detail:
          limits.maxSubscription === null
            ? null
            : `The limit is ${Decimal.formatPlain(limits.maxSubscription)}.`,
        policyVersion
      }
    )
  ]
}

/** A window is open from its first instant up to its last, which is outside. */
export const isWithin = ({ opensAt, closesAt }: Terms["window"], now: Instant.Instant): boolean =>
  (opensAt === null || Instant.atOrAfter(now, opensAt)) &&
  (closesAt === null || Instant.isBefore(now, closesAt))

/** Everything that stands in a claim's way, in the order of the gates; `own` is the order's. */
export const againstClaim = (
  claiming: Claiming,
  own: ReadonlyArray<Objection>
): ReadonlyArray<Objection> =>
  inOrder([...ofStanding(claiming, "order-in"), ...ofClaim(claiming), ...own])

/** The same for an act that gives the holder units. */
export const againstUnits = (
  standing: Standing,
  own: ReadonlyArray<Objection>
): ReadonlyArray<Objection> => inOrder([...ofStanding(standing, "units-in"), ...own])

/**
 * Closing an order whose units are out: nothing of the holder's moves any more, it is only recorded
 * that the fund has its cash. So it asks the hold, and nothing of the holder.
 */
export const againstClosing = (
  controls: Pick<ControlGates.Controls, "holds">,
  own: ReadonlyArray<Objection>
): ReadonlyArray<Objection> => inOrder([ControlGates.held(controls), ...own])

/** Paid and minted in one it needs a market that stands: it is the market that mints. */
export const againstMarketEnd = (market: { readonly marketCid: string } | null): Objection =>
  check("primary-market", market !== null, { recovery: "Release the order: its market ended." })
