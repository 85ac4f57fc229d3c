/**
 * Index of the lines of cash statements by what orders took of them, in parts of 500 lines: a run of
 * reconciliation reads the lines that have something left, and passes over parts that have none.
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as sets from "../../vocabulary/sets.ts"
import type { CashLine } from "./CashLine.ts"
import type { TakenLine } from "./CashTaking.ts"

/** Lines of a part. */
export const partLines = 500

const { Array: List, Literal, String: Text, Struct } = Schema

/** Share of a line that orders took: nothing, a part, or all of it. */
type Match = sets.CashMatch

export const matchOf = ({ amount, taken }: Pick<TakenLine, "amount" | "taken">): Match =>
  Decimal.isZero(taken) ? "unmatched" : Decimal.equals(taken, amount) ? "matched" : "partial"

/** Signs of the lines' matches, so that a part is stored as one short text. */
const signs = { unmatched: "-", partial: "p", matched: "m" } as const satisfies Record<
  Match,
  string
>

export const CashLinePart = Struct({
  statementId: Text,
  /** Number of the part within its statement, from 0. */
  part: Integer.schema,
  /** One sign for each line of the part, in their order: `-` unmatched, `p` partial, `m` matched. */
  matches: Text
})
export type CashLinePart = typeof CashLinePart.Type

/** A line and the share of it that orders took. */
const Mark = Struct({ line: Integer.schema, match: sets.CashMatch.schema })
export type Mark = typeof Mark.Type

const Marks = Struct({ on: Literal("mark"), marks: List(Mark) })

/** Number of the part that a line lies in. */
export const partOf = ({ line }: Pick<CashLine, "line">): number =>
  Math.floor((line - 1) / partLines)

/** Number of the first line of a part. */
const firstOf = ({ part }: Pick<CashLinePart, "part">): number => part * partLines + 1

/** Number of the parts of a statement with so many lines. */
export const partsOf = (lines: number): number => Math.ceil(lines / partLines)

export const idOf = ({ statementId, part }: Pick<CashLinePart, "statementId" | "part">): string =>
  `${statementId}/${part}`

/** The part without a taking. */
export const untaken = (linePart: Pick<CashLinePart, "statementId" | "part">): CashLinePart => ({
  ...linePart,
  matches: signs.unmatched.repeat(partLines)
})

/** Fold: the part with these lines marked. */
export const marked = (self: CashLinePart, marks: ReadonlyArray<Mark>): CashLinePart => {
  const matches = [...self.matches]
  for (const { line, match } of marks) matches[line - firstOf(self)] = signs[match]
  return { ...self, matches: matches.join("") }
}

/** Share of a line of the part that orders took. */
export const matchIn = (self: CashLinePart, line: number): Match => {
  const sign = self.matches[line - firstOf(self)]
  return sign === signs.matched ? "matched" : sign === signs.partial ? "partial" : "unmatched"
}

/** Lines of a statement, both ends included. */
export interface Span {
  readonly from: number
  readonly through: number
}

/**
 * The smallest span of the part that has every line of it with something left, of a statement with so
 * many lines; null: orders took all of it.
 */
export const openSpanOf = (
  self: CashLinePart,
  { lineCount }: { readonly lineCount: number }
): Span | null => {
  const first = firstOf(self)
  const lines = self.matches.slice(0, Math.max(0, lineCount - first + 1))
  const isOpen = (sign: string): boolean => sign !== signs.matched
  const from = [...lines].findIndex(isOpen)
  return from < 0 ? null : { from: first + from, through: first + [...lines].findLastIndex(isOpen) }
}

export const cashLineParts = Collection.define<CashLinePart, typeof Marks.Type>("cash-line-part", {
  doc: "Which lines of a part of a bank statement orders have taken, in part or in whole.",
  id: idOf,
  record: CashLinePart,
  fact: Marks,
  evolve: (self, { marks }) => marked(self, marks),
  keptBy: "engine",
  invariants: {
    "it has a sign for each of its lines": ({ matches }) => matches.length === partLines
  }
})
