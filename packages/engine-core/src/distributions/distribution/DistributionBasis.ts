/** Basis of a distribution line's figures: the formula of each, and the records behind its inputs. */
import * as Basis from "../../kernel/Basis.ts"
import type { Offset } from "../../kernel/Offset.ts"
import * as Formulas from "./DistributionFormulas.ts"
import {
  accrualsGiven,
  equalisationGiven,
  type LineFigures,
  lineGiven,
  type PayeePosition,
  type LineTerms
} from "./DistributionRules.ts"

/** Records that the inputs of a line's figures were read from. */
export interface Sources {
  /** Terms: places, and the par value as payout price. */
  readonly instrument: Basis.Source
  /** Holder, or party that is no holder, with its units on the register of record. */
  readonly payee: Basis.Source
  /** The line itself, for figures that other figures are computed from. */
  readonly line: Basis.Source
  /** Earlier line whose carryOut is the carryIn; the line itself where there is none. */
  readonly carry: Basis.Source
  /** Attribute's holder, point or instrument that the rate is from. */
  readonly rate: Basis.Source
  /** Point from which the income is counted; of a par instrument no figure is computed from it. */
  readonly fromPoint: Basis.Source
  readonly toPoint: Basis.Source
  /** Offset at which points and lots were read. */
  readonly offset: Offset
}

/** Inputs of a line's figures. */
export interface Inputs {
  readonly terms: LineTerms
  readonly position: PayeePosition
  readonly figures: LineFigures
  readonly sources: Sources
}

/** Returns one basis for each figure that a formula gives (docs/domain/figures.md#basis). */
export const of = (inputs: Inputs): ReadonlyArray<Basis.Basis> => [
  ...ofEntitlement(inputs),
  ...ofEqualisation(inputs),
  ...ofLine(inputs),
  ...ofPayout(inputs)
]

const ofEntitlement = ({ terms, position, sources }: Inputs): ReadonlyArray<Basis.Basis> => {
  const { pricing } = terms
  const telling = {
    fields: { entitlement: "entitlement" },
    source: sourceOf(terms, sources)
  } as const
  switch (pricing.valuation) {
    case "par":
      return Basis.of(Formulas.entitlementPar, {
        values: accrualsGiven(position.accruals),
        ...telling
      })
    case "accumulating": {
      const { exPrice, cumPrice } = pricing
      const priceInputs = { units: position.units, exPrice, cumPrice }
      return Basis.of(Formulas.entitlementAccumulating, { values: priceInputs, ...telling })
    }
    case "rebasing": {
      const { fromIndex, toIndex } = pricing
      const indexInputs = { baseUnits: position.baseUnits, fromIndex, toIndex }
      return Basis.of(Formulas.entitlementRebasing, { values: indexInputs, ...telling })
    }
  }
}

const ofEqualisation = ({
  terms,
  position,
  figures,
  sources
}: Inputs): ReadonlyArray<Basis.Basis> => {
  const equalisationInputs = equalisationGiven(terms, position.lots, figures.gross)
  if (equalisationInputs === undefined) return []
  const source = sourceOf(terms, sources)
  return Basis.of(Formulas.equalisation, {
    values: equalisationInputs,
    fields: { equalisation: "equalisation" },
    source
  })
}

const ofLine = ({ terms, figures, sources }: Inputs): ReadonlyArray<Basis.Basis> =>
  Basis.of(Formulas.line, {
    values: lineGiven(terms, figures),
    fields: { gross: "gross", withheld: "withheld", net: "net", carryOut: "carryOut" },
    source: sourceOf(terms, sources)
  })

const ofPayout = ({ terms, figures, sources }: Inputs): ReadonlyArray<Basis.Basis> =>
  terms.payout === null
    ? []
    : Basis.of(Formulas.payoutUnits, {
        values: {
          net: figures.net,
          payoutPrice: terms.payout.price,
          unitDecimals: terms.payout.unitDecimals
        },
        fields: { payoutUnits: "payoutUnits" },
        source: sourceOf(terms, sources)
      })

/** Source of an input by its name; of a list of amounts the item's contract or lot. */
const sourceOf =
  ({ pricing }: LineTerms, sources: Sources) =>
  (name: string, id: string | null): Basis.Source => {
    const { offset } = sources
    switch (name) {
      case "units":
      case "income":
      case "days":
        return id === null ? sources.payee : { resourceKind: "contract", id, offset }
      case "remaining":
      case "basePrice":
        return { resourceKind: "lot", id: id ?? "", offset }
      case "baseUnits":
        return sources.payee
      case "exPrice":
      case "fromIndex":
        return sources.fromPoint
      case "cumPrice":
      case "toIndex":
        return sources.toPoint
      case "payoutPrice":
        return pricing.valuation === "accumulating" ? sources.fromPoint : sources.instrument
      case "carryIn":
        return sources.carry
      case "rate":
        return sources.rate
      case "payoutDecimals":
      case "unitDecimals":
        return sources.instrument
      default:
        return sources.line
    }
  }
