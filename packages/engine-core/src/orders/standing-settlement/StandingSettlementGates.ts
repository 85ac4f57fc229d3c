/** Checks of opening a standing settlement and of an iteration of it, by gate. */
import type { Holder } from "../../holders/holder/Holder.ts"
import { assetOf, type Recorded } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { inOrder, type Objection } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Field from "../../templates/Field.ts"
import * as ControlGates from "../ControlGates.ts"
import * as Currency from "../../kernel/Currency.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"
import type { Funding } from "./StandingSettlementMachine.ts"

export interface Opening extends Pick<ControlGates.Controls, "holds"> {
  readonly instrument: Recorded
  readonly market: Pick<PrimaryMarket, "state" | "fund" | "paymentAsset"> | null
  readonly funding: ReadonlyArray<Funding>
  readonly deadline: Instant.Instant | null
  /** The holders among the parties. */
  readonly holders: ReadonlyArray<Pick<Holder, "party" | "state">>
  readonly now: Instant.Instant
}

const isAsset = (one: Field.Asset, other: Field.Asset): boolean =>
  one.admin === other.admin && one.id === other.id

/** All checks of opening a standing settlement, in the order of the gates. */
export const againstOpening = (opening: Opening): ReadonlyArray<Objection> => {
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
    [
      agreed === null,
      "rule-refused",
      {
        gate: "policy",
        check: "primary-market",
        policyVersion,
        recovery: "Propose a primary market and have it agreed."
      }
    ],
    [
      agreed !== null && stranger !== undefined,
      "rule-refused",
      {
        gate: "admission",
        check: "holder-active",
        ...(stranger === undefined ? {} : { party: stranger.party }),
        recovery: "Name the market's fund and active holders alone."
      }
    ],
    [
      agreed !== null && units.length + cash.length < funding.length,
      "rule-refused",
      {
        gate: "cash",
        check: "funding-asset",
        recovery: "Fund it with the market's cash or with the instrument's units."
      }
    ],
    [
      units.some(({ amount }) => !Decimal.fits(amount, manifest.unitDecimals)),
      "rule-refused",
      {
        gate: "units",
        check: "unit-decimals",
        detail: `Units of the instrument have at most ${manifest.unitDecimals} places.`,
        recovery: `Commit units with at most ${manifest.unitDecimals} places.`
      }
    ],
    [
      cash.some(({ amount }) => !Decimal.fits(amount, Currency.decimals(manifest.currency))),
      "rule-refused",
      {
        gate: "cash",
        check: "currency-decimals",
        detail: `Amounts of ${manifest.currency} have at most ${Currency.decimals(manifest.currency)} places.`,
        recovery: `Commit cash with at most ${Currency.decimals(manifest.currency)} places.`
      }
    ],
    [
      deadline !== null && Instant.atOrBefore(deadline, now),
      "rule-refused",
      {
        gate: "window",
        check: "deadline-ahead",
        recovery: "Name a deadline that is still to come."
      }
    ]
  ])
}
