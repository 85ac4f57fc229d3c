/** Checks of a subscription's acts on records outside it, by gate. */
import type { Admission } from "../../admissions/Admission.ts"
import { type Holder, isScreened } from "../../holders/holder/Holder.ts"
import type { RecordedInstrument } from "../../instruments/instrument/Instrument.ts"
import { onRegistry } from "../../instruments/instrument/InstrumentGates.ts"
import type { VersionTerms } from "../../instruments/policy/Policy.ts"
import { isBelowOrderLimit } from "../../kernel/Amount.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, inOrder, type Judgement } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as ControlGates from "../order/ControlGates.ts"
import * as OrderGates from "../order/OrderGates.ts"
import type { Subscription } from "./Subscription.ts"

/** Records that gate every act of an order by which a holder gets units. */
export interface Context extends ControlGates.Controls {
  readonly instrument: RecordedInstrument
  readonly holder: Pick<Holder, "holderId" | "state" | "screening" | "party">
  /** The latest admission of the holder to the instrument; null: there never was one. */
  readonly admission: Pick<Admission, "state" | "validFrom" | "credentialCid"> | null
  readonly now: Instant.Instant
}

/** Records and figures that gate a claim. */
export interface ClaimContext extends Context, OrderGates.ClaimContext {
  readonly instrument: RecordedInstrument
  readonly now: Instant.Instant
  /** The policy's terms in force at the claim. */
  readonly terms: Pick<VersionTerms, "policyVersion" | "window" | "limits" | "manifest">
  /** Cash that the order costs: its amount, or its units at the latest price; null before any price. */
  readonly worth: Decimal.Decimal | null
  /** Units that the order buys at that price; null before any price. */
  readonly buys: Decimal.Decimal | null
  /** Units that the ledger would mint for them, base units of a rebasing instrument; null before any price. */
  readonly moves: Decimal.Decimal | null
  /** Parties that may attest the order's price. */
  readonly attestors: ReadonlyArray<string>
}

/** Checks of the holder and the registry; `passing` is `order-in` for a claim, `units-in` after it. */
const ofContext = (
  context: Context,
  passing: "order-in" | "units-in"
): ReadonlyArray<Judgement> => {
  const { admission, holder, instrument, now } = context
  const { instrumentId } = instrument
  return [
    ...ControlGates.against(context, { holder, instrumentId, passing }),
    condition("holder-active", holder.state === "active"),
    condition("admitted", admission?.state === "admitted", { party: holder.party }),
    condition(
      "credential-in-force",
      admission === null ||
        admission.validFrom === null ||
        Instant.atOrBefore(admission.validFrom, now)
    ),
    condition("screening-clear", isScreened(holder)),
    onRegistry(instrument)
  ]
}

const ofClaim = (claiming: ClaimContext): ReadonlyArray<Judgement> => {
  const { amount, attestors, buys, terms } = claiming
  const { manifest, policyVersion } = terms
  return [
    ...OrderGates.againstClaim(claiming, terms, manifest),
    condition("attestor-named", attestors.length > 0, { policyVersion }),
    // Otherwise the holder would pay and get no units.
    condition("too-small", amount === null || buys === null || Decimal.isPositive(buys), {
      detail: `The amount less its fee buys less than one unit of ${manifest.unitDecimals} places.`
    }),
    OrderGates.baseUnits(claiming),
    OrderGates.unitsWithinLimit(
      [buys, claiming.moves].every((units) => units === null || isBelowOrderLimit(units))
    ),
    ...ofSize(claiming)
  ]
}

/**
 * Checks of the minimum and the maximum in cash. An order in units has no cash before it is priced: its
 * cost at the latest price counts, so that no caller passes a limit by naming units instead.
 */
const ofSize = ({ worth, terms }: ClaimContext): ReadonlyArray<Judgement> => {
  const { limits, manifest, policyVersion } = terms
  return [
    condition(
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
    condition(
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

/** All conditions of a claim, in the order of the gates; `ofOrder` are those of the order's own record. */
export const againstClaim = (
  claiming: ClaimContext,
  ofOrder: ReadonlyArray<Judgement>
): ReadonlyArray<Judgement> =>
  inOrder([...ofContext(claiming, "order-in"), ...ofClaim(claiming), ...ofOrder])

/** All conditions of an act that gives the holder units: delivering, or paying and minting at once. */
export const againstUnits = (
  context: Context,
  ofOrder: ReadonlyArray<Judgement>
): ReadonlyArray<Judgement> => inOrder([...ofContext(context, "units-in"), ...ofOrder])

/**
 * All conditions of closing a delivered order. Closing records that the fund has its cash and moves
 * neither units nor cash of the holder, so it checks the instrument's holds and not the holder.
 */
export const againstClosing = (
  controls: Pick<ControlGates.Controls, "holds">,
  ofOrder: ReadonlyArray<Judgement>
): ReadonlyArray<Judgement> => inOrder([ControlGates.held(controls), ...ofOrder])

/**
 * All conditions of paying a refund back by wire, in the close or after it: the holder gets cash, which
 * open holds and restrictions of payments stop (docs/domain/orders.md#refunds). The fund owes the refund
 * also where the holder's registration or screening has ended.
 */
export const againstRefund = (
  { instrumentId, ...holder }: Pick<Subscription, "instrumentId" | "holderId" | "party">,
  controls: ControlGates.Controls,
  ofOrder: ReadonlyArray<Judgement>
): ReadonlyArray<Judgement> =>
  inOrder([
    ...ControlGates.against(controls, { holder, instrumentId, passing: "cash-in" }),
    ...ofOrder
  ])

/** Checks that a live market exists: paying and minting in one transaction is a choice of the market. */
export const againstMarketEnd = (market: { readonly marketCid: string } | null): Judgement =>
  condition("primary-market", market !== null, { recovery: "Release the order: its market ended." })
