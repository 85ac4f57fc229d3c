/** Checks of a mint's and a reserve redemption's acts, by gate; the order of rows within a gate counts. */
import type { Admission } from "../../admissions/Admission.ts"
import * as AttributeRules from "../../holders/attribute/AttributeRules.ts"
import { type Holder, isScreened } from "../../holders/holder/Holder.ts"
import type { RecordedInstrument } from "../../instruments/instrument/Instrument.ts"
import { onRegistry } from "../../instruments/instrument/InstrumentGates.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, inOrder, type Judgement } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as HoldRules from "../../restraints/hold/HoldRules.ts"
import { against as againstHolds } from "../../restraints/hold/HoldRules.ts"
import * as RestrictionRules from "../../restraints/restriction/RestrictionRules.ts"
import type * as Field from "../../templates/Field.ts"
import * as Amount from "../../kernel/Amount.ts"
import * as CoverRules from "../reserve/CoverRules.ts"
import type { Reserve } from "../reserve/Reserve.ts"
import { keyOf } from "../reserve/ReserveTerms.ts"
import type { Mint } from "./Mint.ts"
import type { ReserveRedemption } from "./ReserveRedemption.ts"

/** Records and figures that gate every act of a mint or a reserve redemption. */
interface Context {
  readonly holds: ReadonlyArray<HoldRules.OpenHold>
  readonly restrictions: ReadonlyArray<RestrictionRules.RestrictionInForce>
  readonly instrument: RecordedInstrument
  readonly holder: Pick<Holder, "holderId" | "state" | "screening" | "party" | "attributes">
  readonly reserve: Pick<Reserve, "state" | "holder" | "pending">
  /** Books of the reserve, at the instant at which the act is judged. */
  readonly books: CoverRules.ReserveBooks
  /** Asset that is deposited or paid out. */
  readonly asset: Field.Asset
  /** `missing`: the receiver of the asset needs a credential of the venue for it, and has none. */
  readonly assetCredential: "given" | "missing"
  readonly now: Instant.Instant
}

/** Records that gate a mint alone. */
interface MintContext extends Context {
  /** The depositor's latest admission to the instrument; null: there never was one. */
  readonly admission: Pick<Admission, "state" | "validFrom" | "credentialCid"> | null
  /** Holder requirements of the registrar. */
  readonly required: ReadonlyArray<AttributeRules.RequiredAttribute>
  /** The live agreement to lock the asset; null: none. */
  readonly agreement: { readonly state: string } | null
}

export interface StartingMint extends MintContext {
  readonly deposit: Decimal.Decimal
  readonly deadline: Instant.Instant
}

export interface SettlingMint extends MintContext {
  readonly order: Pick<Mint, "deposit" | "units" | "heldCid">
}

export interface StartingRedemption extends Context {
  readonly units: Decimal.Decimal
  readonly deadline: Instant.Instant
  /** Units of the instrument that the owner has free. */
  readonly free: Decimal.Decimal
  /** Payouts of the open redemptions in the same asset. */
  readonly promised: Decimal.Decimal
}

export interface SettlingRedemption extends Context {
  readonly order: Pick<ReserveRedemption, "payout" | "units" | "heldCid">
}

// ---- the holder

const ofControls = (
  { holds, restrictions, holder, instrument }: Context,
  { act, passing }: { readonly act: HoldRules.Act; readonly passing: RestrictionRules.ActDirection }
): ReadonlyArray<Judgement> => [
  againstHolds(holds, act),
  RestrictionRules.against(
    restrictions,
    {
      holderId: holder.holderId,
      instrumentId: instrument.instrumentId,
      passing
    },
    holder.party
  )
]

const assetCredential = ({ asset, ...context }: Context): Judgement =>
  condition("asset-credential", context.assetCredential === "given", {
    detail: `Who receives ${asset.id} needs the venue's credential for it.`
  })

const ofDepositor = (context: MintContext, passing: "order-in" | "units-in") => {
  const { admission, holder, instrument, now, required } = context
  return [
    ...ofControls(context, { act: "mint", passing }),
    condition("holder-active", holder.state === "active"),
    condition("admitted", admission?.state === "admitted", { party: holder.party }),
    condition(
      "credential-in-force",
      admission === null ||
        admission.validFrom === null ||
        Instant.atOrBefore(admission.validFrom, now)
    ),
    assetCredential(context),
    condition("attributes-valid", AttributeRules.areValid(holder.attributes, required, now)),
    condition("screening-clear", isScreened(holder)),
    onRegistry(instrument)
  ]
}

const ofOwner = (context: Context): ReadonlyArray<Judgement> => {
  const { holder, instrument } = context
  return [
    ...ofControls(context, { act: "deal", passing: "units-back" }),
    condition("holder-active", holder.state === "active" || holder.state === "lapsed"),
    assetCredential(context),
    condition("screening-clear", isScreened(holder)),
    onRegistry(instrument)
  ]
}

// ---- the reserve and its terms

const inTerms = ({ books, asset }: Context): boolean => {
  const key = keyOf(asset)
  return books.terms.assets.some((one) => keyOf(one.asset) === key)
}

/**
 * Check of the pending terms: where they leave an asset out, acts that lock more of it are refused.
 */
const staysInTerms = (context: Context): boolean => {
  const { asset, reserve } = context
  const key = keyOf(asset)
  return (
    inTerms(context) &&
    (reserve.pending === null ||
      reserve.pending.terms.assets.some((one) => keyOf(one.asset) === key))
  )
}

const ofMintTerms = (context: MintContext): ReadonlyArray<Judgement> => {
  const { agreement, asset, reserve } = context
  return [
    condition("reserve-active", reserve.state === "active", {
      detail: `The reserve is ${reserve.state}.`
    }),
    condition("asset-in-terms", staysInTerms(context), { detail: `The asset is ${asset.id}.` }),
    condition("lock-agreement", agreement?.state === "active", {
      detail: `The asset is ${asset.id}.`
    })
  ]
}

const ofRedemptionTerms = (context: Context): ReadonlyArray<Judgement> => {
  const { asset, reserve } = context
  return [
    condition("reserve-active", reserve.state === "active" || reserve.state === "closing", {
      detail: `The reserve is ${reserve.state}.`
    }),
    condition("asset-in-terms", inTerms(context), { detail: `The asset is ${asset.id}.` })
  ]
}

// ---- prices and cover

const isSame = (key: string) => (asset: CoverRules.ReserveAsset) => asset.key === key

/**
 * Checks that the order's figure can be computed: its asset and the share have a price, at which the
 * figure is within the limit of one order.
 */
const priceKnown = ({ asset, books }: Context, figure: Decimal.Decimal | null): Judgement => {
  const assets = CoverRules.assetsOf(books)
  const own = assets.find(isSame(keyOf(asset)))
  const unpriced =
    own?.price === null
      ? own
      : assets.find(({ price, units }) => price === null && Decimal.isPositive(units))
  const isWorthless = own !== undefined && own.price !== null && Decimal.isZero(own.price)
  return condition("price-known", own === undefined || figure !== null, {
    detail:
      unpriced !== undefined
        ? `No price of ${unpriced.asset.id} was published.`
        : isWorthless
          ? `The published price of ${own.asset.id} is 0: it mints nothing and is paid to nobody.`
          : unusableShare(books)
  })
}

const unusableShare = (books: CoverRules.ReserveBooks): string => {
  if (!CoverRules.hasFigures(books)) {
    return "The prices give figures of the reserve that no decimal holds."
  }
  return CoverRules.sharePriceOf(books) === null
    ? "The units own nothing that has a worth, or more than can be told."
    : "The prices give a figure beyond the limit of one order."
}

/** `assets`: those whose prices must be fresh; one that has no price is judged by `price-known`. */
const priceFresh = (assets: ReadonlyArray<CoverRules.ReserveAsset>): Judgement => {
  const stale = assets.find(({ isFresh, price }) => price !== null && !isFresh)
  return condition("price-fresh", stale === undefined, {
    detail: stale === undefined ? null : `The price of ${stale.asset.id} is stale.`
  })
}

/**
 * Assets whose prices decide the order's figure: its own, and for an accumulating reserve, whose
 * units own every asset, each locked one.
 */
const pricingOf = ({ asset, books }: Context): ReadonlyArray<CoverRules.ReserveAsset> => {
  const key = keyOf(asset)
  return CoverRules.assetsOf(books).filter(
    (one) =>
      one.key === key || (books.valuation.mode === "accumulating" && Decimal.isPositive(one.units))
  )
}

const cover = (
  { books }: Context,
  mint: CoverRules.ReserveMove | null,
  { unit }: { readonly unit: string }
): Judgement => {
  if (mint === null) return condition("cover", true)
  const after = CoverRules.afterMint(books, mint)
  if (after === null) {
    return condition("cover", false, {
      detail: "With the mint no decimal would hold what is locked or outstanding."
    })
  }
  const { counted, required, state } = CoverRules.coverOf(after)
  return condition("cover", state === "covered", {
    detail: `With the mint ${Decimal.formatPlain(required)} ${unit} would be required, and ${Decimal.formatPlain(counted)} ${unit} counted.`
  })
}

const priceMoved = (
  fixed: Decimal.Decimal,
  computed: Decimal.Decimal | null,
  { named }: { readonly named: string }
): Judgement =>
  condition("price-moved", CoverRules.settlementFault(fixed, computed) !== "price-moved", {
    detail:
      computed === null
        ? null
        : `The order is for ${Decimal.formatPlain(fixed)} ${named}, and the prices now give ${Decimal.formatPlain(computed)}.`
  })

const withinOrder = (figure: Decimal.Decimal | null): Decimal.Decimal | null =>
  figure !== null && Amount.isBelowOrderLimit(figure) ? figure : null

/**
 * Computes the units that a deposit mints; null: the asset is not in the terms, a price is missing, or
 * they are beyond the limit of one order.
 */
export const unitsOf = (order: Pick<StartingMint, "asset" | "books" | "deposit">) =>
  withinOrder(CoverRules.mintUnitsOf(order.books, order))

/** Computes the amount of the asset that units are paid; null as for `unitsOf`. */
export const payoutOf = (order: Pick<StartingRedemption, "asset" | "books" | "units">) =>
  withinOrder(CoverRules.redeemPayoutOf(order.books, order))

const deadlineAhead = ({ deadline, now }: Pick<StartingMint, "deadline" | "now">): Judgement =>
  condition("deadline-ahead", Instant.isAfter(deadline, now))

// ---- acts

/** All conditions of starting a mint, in the order of the gates. */
export const againstMint = (context: StartingMint): ReadonlyArray<Judgement> => {
  const { asset, deposit, books, holder, instrument, reserve } = context
  const units = unitsOf(context)
  return inOrder([
    ...ofDepositor(context, "order-in"),
    ...ofMintTerms(context),
    condition("own-reserve", holder.party !== reserve.holder, { party: holder.party }),
    deadlineAhead(context),
    condition("too-small", units === null || Decimal.isPositive(units), {
      detail: `The deposit mints less than one unit of ${books.decimals} places.`,
      recovery: "Deposit more of the asset."
    }),
    priceKnown(context, units),
    priceFresh(pricingOf(context)),
    cover(context, units === null ? null : { asset, amount: deposit, units }, {
      unit: instrument.manifest.currency
    })
  ])
}

/** All conditions of settling a mint; its units and its deposit were fixed at its start. */
export const againstMintSettlement = (context: SettlingMint): ReadonlyArray<Judgement> => {
  const { asset, books, instrument, order } = context
  const { deposit, units } = order
  const computed = CoverRules.mintUnitsOf(books, { asset, deposit })
  return inOrder([
    ...ofDepositor(context, "units-in"),
    ...ofMintTerms(context),
    condition("allocation-live", order.heldCid !== null),
    priceKnown(context, computed),
    priceFresh(pricingOf(context)),
    priceMoved(units, computed, { named: "units" }),
    cover(context, { asset, amount: deposit, units }, { unit: instrument.manifest.currency })
  ])
}

/** Checks that enough of the asset is locked for the redemption after the payouts of earlier ones. */
const assetAvailable = (
  { asset, books, promised }: Pick<StartingRedemption, "asset" | "books" | "promised">,
  payout: Decimal.Decimal | null
): Judgement => {
  const locked = books.locked.get(keyOf(asset)) ?? Decimal.zero
  const available = Decimal.max(Decimal.zero, Decimal.subtract(locked, promised))
  return condition("asset-available", payout === null || Decimal.atMost(payout, available), {
    detail: `${Decimal.formatPlain(available)} of ${asset.id} are locked and not promised to open redemptions.`
  })
}

/** All conditions of starting a redemption. It needs no cover, and may lower it. */
export const againstRedemption = (context: StartingRedemption): ReadonlyArray<Judgement> => {
  const { asset, books, free, instrument, units } = context
  const { unitDecimals } = instrument.manifest
  const payout = payoutOf(context)
  return inOrder([
    ...ofOwner(context),
    ...ofRedemptionTerms(context),
    deadlineAhead(context),
    condition("unit-decimals", Decimal.fits(units, unitDecimals), {
      detail: `Units of the instrument have at most ${unitDecimals} places.`,
      recovery: `Redeem units with at most ${unitDecimals} places.`
    }),
    condition("units-free", Decimal.atMost(units, free), {
      detail: `${Decimal.formatPlain(free)} units are free.`
    }),
    condition("too-small", payout === null || Decimal.isPositive(payout), {
      detail: `The units are paid less than one atom of ${books.decimals} places of ${asset.id}.`,
      recovery: "Redeem more units."
    }),
    priceKnown(context, payout),
    priceFresh(CoverRules.assetsOf(books).filter(isSame(keyOf(asset)))),
    assetAvailable(context, payout)
  ])
}

/** All conditions of settling a redemption; its payout was fixed at its start. */
export const againstRedemptionSettlement = (
  context: SettlingRedemption
): ReadonlyArray<Judgement> => {
  const { asset, books, order } = context
  const computed = CoverRules.redeemPayoutOf(books, { asset, units: order.units })
  return inOrder([
    ...ofOwner(context),
    ...ofRedemptionTerms(context),
    condition("units-allocated", order.heldCid !== null, {
      recovery: "Cancel the redemption: the units that it locked are not locked any more."
    }),
    priceKnown(context, computed),
    priceFresh(CoverRules.assetsOf(books).filter(isSame(keyOf(asset)))),
    priceMoved(order.payout, computed, { named: asset.id }),
    assetAvailable({ ...context, promised: Decimal.zero }, order.payout)
  ])
}
