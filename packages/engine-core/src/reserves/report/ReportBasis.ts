/** Basis of the figures of a report: the formula and the inputs of each. */
import type * as Basis from "../../kernel/Basis.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as ReserveBasis from "../reserve/ReserveBasis.ts"
import * as ReportRules from "./ReportRules.ts"
import type { ReserveReport } from "./ReserveReport.ts"

/** Figures of a report by their place in its view. */
const figuresOf = (self: ReserveReport): ReadonlyMap<string, Decimal.Decimal | null> =>
  new Map([
    ["required", self.required],
    ["counted", self.counted],
    ["cover.ratio", self.ratio],
    ["sharePrice", self.sharePrice],
    ...self.assets.flatMap(({ value, counted }, index) => [
      [`assets.${index}.value`, value] as const,
      [`assets.${index}.counted`, counted] as const
    ])
  ])

/**
 * Returns the basis of each figure that the ledger computed as the formulas of the engine do. One that
 * differs has none: the difference is a finding of the check `reserve-report`.
 */
export const basisOf = (self: ReserveReport): ReadonlyArray<Basis.Basis> => {
  const books = ReportRules.booksOf(self)
  if (books === null) return []
  const figures = figuresOf(self)
  const points = ReportRules.pointsOf(self)
  const loaded = { books, points, supply: self.outstanding }
  return ReserveBasis.basisOf(loaded, { reserve: self, offset: self.off }).flatMap((basis) => {
    const figure = figures.get(basis.field) ?? null
    const computed = basis.steps.at(-1)?.value
    return figure !== null && computed !== undefined && isText(figure, computed)
      ? [{ ...basis, field: `view.${basis.field}` }]
      : []
  })
}

const isText = (figure: Decimal.Decimal, text: string): boolean =>
  Decimal.equals(figure, Decimal.of(text))
