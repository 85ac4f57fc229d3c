/**
 * Steps of cash that an order took of entries which their bank took back since: it no longer counts, and
 * other lines may pay in its place (docs/domain/statements.md#one-entry-in-several-statements).
 */
import { Effect, Stream } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Act } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { externalStatements } from "../../statements/external-statement/ExternalStatement.ts"
import { relocate } from "./CashCopySteps.ts"
import * as Cash from "./CashLine.ts"
import { entriesNamed, entriesOfLines } from "./CashSteps.ts"
import * as Taking from "./CashTaking.ts"

/** A taking of which the bank took cash back, and its places that stay. */
export interface ReversedTaking {
  readonly taking: Stored<Taking.CashTaking>
  readonly places: ReadonlyArray<Taking.EntryPlace>
  /** Cash of each line that stays, by its number. */
  readonly amounts: ReadonlyMap<number, Decimal.Decimal>
}

/** Cash of an order that its bank took back. */
export interface ReversedCash {
  readonly takings: ReadonlyArray<ReversedTaking>
  /** Lines of the order whose entries were taken back, with the cash that it took of each. */
  readonly lines: ReadonlyArray<Cash.CashLine>
}

/** Loads what the order's act has used of bank lines as its cash. */
const usedTakingsOf = (order: Taking.Order) =>
  Effect.flatMap(Records, (records) =>
    records.stream(Taking.cashTakings, { where: { order: [Taking.orderKeyOf(order)] } }).pipe(
      Stream.map(({ record }) => record),
      Stream.filter(({ pays, state }) => state === "used" && pays === "cash"),
      Stream.runCollect
    )
  )

/** Finds the cash of an order that its bank took back; an order without bank lines costs one query. */
export const reversedCashOf = Effect.fn("order.reversed-cash")(function* (order: Taking.Order) {
  const records = yield* Records
  const takings = yield* usedTakingsOf(order)
  const lines = takings.flatMap(Taking.linesOf)
  if (lines.length === 0) return { takings: [], lines: [] } satisfies ReversedCash
  const ids = new Set(lines.map(({ statementId }) => statementId))
  const statements = (yield* records.many(externalStatements, [...ids])).filter(
    ({ prunedAt }) => prunedAt === undefined
  )
  const byId = new Map(statements.map((self) => [self.externalStatementId as string, self]))
  const entries = yield* entriesNamed(lines, statements)
  const facts = yield* entriesOfLines(
    lines.flatMap((line) => {
      const [statement, entry] = [byId.get(line.statementId), entries.get(Cash.nameOf(line))]
      return statement === undefined || entry === undefined ? [] : [{ statement, entry }]
    })
  )
  const isReversed = (line: Cash.CashLine): boolean =>
    facts.get(Cash.nameOf(line))?.spent === "reversed"
  const reversed = takings.flatMap((taking): ReadonlyArray<ReversedTaking> => {
    const stays = Taking.linesOf(taking).filter((line) => !isReversed(line))
    if (stays.length === taking.places.length) return []
    const amounts = stays.flatMap((line) => {
      const entry = entries.get(Cash.nameOf(line))
      return entry === undefined ? [] : [[line.line, entry.amount] as const]
    })
    const places = stays.map(({ amount, line }) => ({ line, amount }))
    return [{ taking, places, amounts: new Map(amounts) }]
  })
  return { takings: reversed, lines: lines.filter(isReversed) } satisfies ReversedCash
})

/** Cash of an order less what its bank took back. */
export const lessReversed = (cash: Cash.Cash, { lines }: ReversedCash): Cash.Cash => {
  if (lines.length === 0) return cash
  const names = new Set(lines.map(Cash.nameOf))
  const amount = Decimal.sum(lines.map((line) => line.amount))
  return {
    ...cash,
    // A line that was named before takings were kept is in no taking, and stays.
    matched: Decimal.max(Decimal.zero, Decimal.subtract(cash.matched, amount)),
    lines: cash.lines.filter((line) => !names.has(Cash.nameOf(line)))
  }
}

/** Ends what an order took of entries which the bank took back: the cash is lost to the order. */
export const dropReversed = Effect.fnUntraced(function* ({ takings }: ReversedCash, act: Act) {
  for (const { taking, places, amounts } of takings) {
    yield* relocate(taking, { statementId: taking.statementId, places, amounts }, act)
  }
})
