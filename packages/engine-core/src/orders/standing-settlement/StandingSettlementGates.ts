/** Checks of opening a standing settlement, by gate. */
import type { Holder } from "../../holders/holder/Holder.ts"
import { assetOf, type RecordedInstrument } from "../../instruments/instrument/Instrument.ts"
import { notBacked } from "../../instruments/instrument/InstrumentGates.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, inOrder, type Judgement } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Field from "../../templates/Field.ts"
import * as ControlGates from "../order/ControlGates.ts"
import { paidByWire } from "../order/OrderGates.ts"
import * as Currency from "../../kernel/Currency.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"
import type { Funding } from "./StandingSettlement.ts"

/** Records that gate the opening of a standing settlement. */
export interface OpeningContext extends Pick<ControlGates.Controls, "holds"> {
  readonly instrument: RecordedInstrument
  readonly market: Pick<PrimaryMarket, "state" | "fund" | "paymentAsset"> | null
  readonly funding: ReadonlyArray<Funding>
  readonly deadline: Instant.Instant | null
  /** The holders among the parties. */
  readonly holders: ReadonlyArray<Pick<Holder, "party" | "state">>
  readonly now: Instant.Instant
}

const isAsset = (left: Field.Asset, right: Field.Asset): boolean =>
  left.admin === right.admin && left.id === right.id

/** All conditions of opening a standing settlement, in the order of the gates. */
export const againstOpening = (opening: OpeningContext): ReadonlyArray<Judgement> => {
  const { instrument, market, funding, deadline, now } = opening
  const { manifest, policyVersion } = instrument
  const agreed = market?.state === "agreed" ? market : null
  const units = funding.filter(({ asset }) => isAsset(asset, assetOf(instrument)))
  const cash = funding.filter(({ asset }) => agreed !== null && isAsset(asset, agreed.paymentAsset))
  const stranger = funding.find(
    ({ party }) =>
      party !== agreed?.fund &&
      !opening.holders.some((holder) => holder.party === party && holder.state === "active")
  )
  return inOrder([
    ControlGates.held(opening),
    paidByWire({ payment: "ledger", valuation: manifest.valuation, policyVersion }),
    notBacked(instrument),
    condition("primary-market", agreed !== null, { policyVersion }),
    condition("holder-active", agreed === null || stranger === undefined, {
      party: stranger?.party,
      recovery: "Name the market's fund and active holders alone."
    }),
    condition("funding-asset", agreed === null || units.length + cash.length >= funding.length),
    condition(
      "unit-decimals",
      units.every(({ amount }) => Decimal.fits(amount, manifest.unitDecimals)),
      {
        detail: `Units of the instrument have at most ${manifest.unitDecimals} places.`,
        recovery: `Commit units with at most ${manifest.unitDecimals} places.`
      }
    ),
    condition(
      "currency-decimals",
      cash.every(({ amount }) => Decimal.fits(amount, Currency.decimals(manifest.currency))),
      {
        detail: `Amounts of ${manifest.currency} have at most ${Currency.decimals(manifest.currency)} places.`,
        recovery: `Commit cash with at most ${Currency.decimals(manifest.currency)} places.`
      }
    ),
    condition("deadline-ahead", deadline === null || Instant.isAfter(deadline, now))
  ])
}
