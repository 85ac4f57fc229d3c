/** Checks of proposing a reserve: its instrument, its holder and its terms. */
import {
  isOnRegistry,
  isRecorded,
  type Instrument,
  type RecordedInstrument
} from "../../instruments/instrument/Instrument.ts"
import type { Manifest } from "../../instruments/instrument/Manifest.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, type Judgement } from "../../kernel/Gates.ts"
import type * as Party from "../../kernel/Party.ts"
import type { ReserveTerms } from "./ReserveTerms.ts"
import * as TermsRules from "./TermsRules.ts"

/** Records and facts that gate the proposal of a reserve. */
export interface ProposalFacts {
  readonly instrument: Instrument
  /** Issuer that the registrar's configuration names; null: it has configured nothing. */
  readonly issuer: Party.Party | null
  /** Whether the instrument has no units, no open order and no market. */
  readonly isUnused: boolean
  /** Whether another reserve backs the instrument. */
  readonly isBacked: boolean
  readonly body: {
    readonly holder: Party.Party
    readonly unit: string
    readonly decimals: number
    readonly initialSharePrice: Decimal.Decimal | null
    readonly terms: ReserveTerms
  }
  readonly venue: Party.Party
}

/** An instrument that a reserve may back: its terms are recorded, and its units are at par or accumulate. */
const isBackable = (instrument: Instrument): instrument is RecordedInstrument =>
  isRecorded(instrument) && isOnRegistry(instrument) && modeOf(instrument.manifest) !== null

/** Valuation of the units of a backed instrument; null: no reserve backs such an instrument. */
const modeOf = ({ valuation }: Pick<Manifest, "valuation">): "par" | "accumulating" | null =>
  valuation === "rebasing" ? null : valuation

/** All conditions of proposing a reserve, in the order in which they refuse. */
export const againstProposal = (proposing: ProposalFacts): ReadonlyArray<Judgement> => {
  const { body, instrument, issuer, venue } = proposing
  if (!isBackable(instrument)) return [condition("not-recorded", false)]
  const { manifest, registrar } = instrument
  const isPar = manifest.valuation === "par"
  return [
    condition("not-recorded", true),
    condition("issuer-is-registrar", issuer === registrar, { party: registrar }),
    condition("unit-is-currency", body.unit === manifest.currency, {
      recovery: `Name ${manifest.currency} as the unit.`
    }),
    condition("nothing-outstanding", proposing.isUnused),
    condition("one-reserve", !proposing.isBacked),
    condition("holder-is-venue", body.holder !== venue),
    condition("own-asset", !isOwnAsset(body.terms, instrument)),
    condition("reserve-decimals", body.decimals <= manifest.unitDecimals, {
      recovery: `Name at most ${manifest.unitDecimals} decimals.`
    }),
    condition("initial-share-price", !isPar || body.initialSharePrice === null),
    feasible(body.terms, { isAccumulating: !isPar })
  ]
}

/** Whether the terms name the instrument that they are to back. */
export const isOwnAsset = (
  { assets }: ReserveTerms,
  { instrumentId, registrar }: { readonly instrumentId: string; readonly registrar: string }
): boolean => assets.some(({ asset }) => asset.admin === registrar && asset.id === instrumentId)

/** The condition that some deposits meet the terms; its detail names the part that none would cover. */
export const feasible = (
  terms: ReserveTerms,
  valuation: { readonly isAccumulating: boolean }
): Judgement => {
  const infeasible = TermsRules.infeasible(terms, valuation)
  if (infeasible === null) return condition("feasible", true)
  return condition("feasible", false, {
    detail:
      infeasible.reason === "uncovered"
        ? `The largest shares leave ${Decimal.formatPlain(infeasible.uncovered)} of the value outstanding uncovered.`
        : `The assets would have to be worth ${Decimal.formatPlain(infeasible.worth)} times the units that own them.`
  })
}
