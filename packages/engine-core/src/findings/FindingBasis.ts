/** Basis of the figures of a finding: the amounts that were compared, and the items that explain a part. */
import * as Basis from "../kernel/Basis.ts"
import type { Finding } from "./Finding.ts"
import * as Formulas from "./FindingFormulas.ts"

/** Members of a finding that its basis is made of. */
export type MeasuredFinding = Pick<
  Finding,
  | "findingId"
  | "subject"
  | "statementId"
  | "asOf"
  | "comparedAt"
  | "expected"
  | "actual"
  | "difference"
  | "explained"
>

/**
 * Returns the basis of each figure of a finding: of its difference where two amounts were compared, and of
 * its explained and unexplained parts; none of a finding without amounts. What is actual comes from the
 * statement where one was compared, and what is expected from the subject, at the offset of the figures.
 */
export const basisOf = (self: MeasuredFinding): ReadonlyArray<Basis.Basis> => {
  const { actual, asOf, comparedAt, difference, expected, explained, statementId, subject } = self
  const { offset } = comparedAt ?? asOf
  const actualSource =
    statementId === null ? subject : { resourceKind: "external-statement", id: statementId }
  const ofDifference =
    actual === null || expected === null
      ? []
      : Basis.of(Formulas.findingDifference, {
          values: { actual, expected },
          fields: { difference: "difference" },
          source: (name) => ({ ...(name === "actual" ? actualSource : subject), offset })
        })
  if (difference === null) return ofDifference
  const items = explained.by.map((item, nth) => ({ ...item, itemId: `${nth + 1}` }))
  const itemOf = new Map(items.map((item) => [item.itemId, item]))
  return [
    ...ofDifference,
    ...Basis.of(Formulas.findingUnexplained, {
      values: {
        difference,
        items: items.map(({ amount, itemId: id }) => ({ id, amount }))
      },
      fields: { "explained.amount": "amount", unexplained: "unexplained" },
      source: (_, itemId) => {
        const item = itemId === null ? undefined : itemOf.get(itemId)
        return item === undefined
          ? { resourceKind: "finding", id: self.findingId, offset: asOf.offset }
          : { resourceKind: item.resourceKind, id: item.id, offset }
      }
    })
  ]
}
