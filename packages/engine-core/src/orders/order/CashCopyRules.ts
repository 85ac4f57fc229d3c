/**
 * Pure choice of the copies that take over what an order took of lines whose statement no longer
 * states them (docs/domain/statements.md#one-entry-in-several-statements).
 */
import * as Decimal from "../../kernel/Decimal.ts"
import * as Cash from "./CashLine.ts"
import type * as Taking from "./CashTaking.ts"

/** A line, in another statement, of the entry that cash was taken of. */
export interface Copy {
  readonly statementId: Taking.CashTaking["statementId"]
  readonly line: number
  /** Cash of the line. */
  readonly amount: Decimal.Decimal
  /** Cash that the entry has left beside what moves. */
  readonly amountLeft: Decimal.Decimal
  readonly isSameInstrument: boolean
}

/** Copies that take the cash of one taking over, all in one statement. */
interface CopiedPlaces {
  readonly statementId: Taking.CashTaking["statementId"]
  readonly places: ReadonlyArray<Taking.EntryPlace>
  readonly copies: ReadonlyArray<Copy>
}

/** Numbers of the lines that takings have their cash in. */
export const linesOf = (takings: ReadonlyArray<Taking.CashTaking>): ReadonlySet<number> =>
  new Set(takings.flatMap(({ places }) => places.map(({ line }) => line)))

/** Cash that each copy has left, by its name. */
export const roomOf = (
  copies: ReadonlyMap<number, ReadonlyArray<Copy>>
): Map<string, Decimal.Decimal> =>
  new Map([...copies.values()].flat().map((copy) => [Cash.nameOf(copy), copy.amountLeft]))

/**
 * Chooses the first statement that stays and in which every line of a taking has a copy with enough
 * left, and uses that up. Null: no line of it has a copy in a statement that stays; `split`: some
 * have, and no statement takes all of it over.
 */
export const copiedPlaces = (
  { places }: Pick<Taking.CashTaking, "places">,
  by: {
    readonly copies: ReadonlyMap<number, ReadonlyArray<Copy>>
    readonly room: Map<string, Decimal.Decimal>
    readonly stays: (statementId: string) => boolean
  }
): CopiedPlaces | "split" | null => {
  const staying = places.map(({ line, amount }) => ({
    amount,
    copies: (by.copies.get(line) ?? []).filter(({ statementId }) => by.stays(statementId))
  }))
  const all = staying.flatMap(({ copies }) => copies)
  if (all.length === 0) return null
  const roomOfCopy = (copy: Copy) => by.room.get(Cash.nameOf(copy)) ?? Decimal.zero
  for (const statementId of new Set(all.map((copy) => copy.statementId))) {
    const found = staying.flatMap(({ amount, copies }) => {
      const copy = copies.find((each) => each.statementId === statementId)
      return copy !== undefined && Decimal.atMost(amount, roomOfCopy(copy))
        ? [{ copy, amount }]
        : []
    })
    if (found.length < places.length) continue
    for (const { copy, amount } of found) {
      by.room.set(Cash.nameOf(copy), Decimal.subtract(roomOfCopy(copy), amount))
    }
    return {
      statementId,
      places: found.map(({ copy: { line }, amount }) => ({ line, amount })),
      copies: found.map(({ copy }) => copy)
    }
  }
  return "split"
}
