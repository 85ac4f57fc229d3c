/**
 * Steps that move what orders took of lines to other lines of the same entries: before retention
 * deletes the lines, and where a correction states the entry no more while another statement does
 * (docs/domain/statements.md#one-entry-in-several-statements).
 */
import { Effect, Stream } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Act } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  dayKeyOf,
  type ExternalStatement,
  externalStatements,
  placeInDayOf
} from "../../statements/external-statement/ExternalStatement.ts"
import type { CashEntry } from "../../statements/external-statement/StatementLine.ts"
import * as StatementLookups from "../../statements/external-statement/StatementLookups.ts"
import { redemptions } from "../redemption/Redemption.ts"
import { subscriptions } from "../subscription/Subscription.ts"
import * as Rules from "./CashCopyRules.ts"
import * as Cash from "./CashLine.ts"
import {
  entriesNamed,
  entriesOfLines,
  giveTo,
  merged,
  takenOfAll,
  takenOfLines,
  takeOf
} from "./CashSteps.ts"
import * as Taking from "./CashTaking.ts"

type StoredTaking = Stored<Taking.CashTaking>

/** Loads the takings of a statement's lines with those of this transaction, in the order of their ids. */
export const takingsOf = Effect.fnUntraced(function* (statementId: string) {
  const records = yield* Records
  const anyOf = [statementId]
  const listed = yield* Stream.runCollect(
    records.ids(Taking.cashTakings, { where: { statementId: anyOf } })
  )
  const written = yield* records.uncommitted(Taking.cashTakings, { column: "statementId", anyOf })
  const takings = yield* records.many(Taking.cashTakings, [...new Set([...listed, ...written])])
  return takings
    .filter((taking) => taking.state !== "returned" && taking.statementId === statementId)
    .toSorted((a, b) => (Taking.takingIdOf(a) < Taking.takingIdOf(b) ? -1 : 1))
})

/** Loads the orders of takings. */
export const ordersOf = Effect.fnUntraced(function* (takings: ReadonlyArray<Taking.CashTaking>) {
  const records = yield* Records
  const idsOf = (kind: Taking.Order["kind"]) =>
    new Set(takings.filter((taking) => taking.kind === kind).map(({ orderId }) => orderId))
  const bought = yield* records.many(subscriptions, [...idsOf("subscription")])
  const sold = yield* records.many(redemptions, [...idsOf("redemption")])
  return { bought, sold }
})

/** Places of the cash of a taking after a move, with the amounts of the lines. */
interface MovedTaking {
  readonly statementId: Taking.CashTaking["statementId"]
  readonly places: ReadonlyArray<Taking.EntryPlace>
  /** Cash of each of those lines, by its number. */
  readonly amounts: ReadonlyMap<number, Decimal.Decimal>
}

/** Moves the cash of a taking to lines of another statement; cash without a line is lost. */
export const relocate = Effect.fnUntraced(function* (
  taking: StoredTaking,
  { statementId, places, amounts }: MovedTaking,
  act: Act
) {
  const records = yield* Records
  const lost = Decimal.subtract(taking.named.amount, Taking.heldBy({ places }))
  yield* Effect.forEach(Taking.linesOf(taking), (line) => giveTo(line, act), { discard: true })
  yield* Effect.forEach(
    Taking.linesOf({ statementId, places }),
    (line) => takeOf({ ...line, amountOfLine: amounts.get(line.line) ?? Decimal.zero }, act),
    { discard: true }
  )
  const fact = { on: "move", statementId, places, lost } as const
  yield* records.append(Taking.cashTakings, taking, fact, act)
})

/** Copies of the entries of a statement's lines in other statements, by the number of the line. */
type CopiesOfLines = ReadonlyMap<number, ReadonlyArray<Rules.Copy>>

/** The lines of a statement, with the lines that their cash is shared with. */
interface SharedLines {
  readonly copies: CopiesOfLines
  /** Statements that contradict one of the lines. */
  readonly contradicting: ReadonlySet<string>
}

/**
 * Finds the copies of lines in the other statements in force of their account, with what each has left
 * but for cash of the lines themselves; those of the same instrument come first.
 */
const copiesOf = Effect.fnUntraced(function* (
  statement: ExternalStatement,
  entries: ReadonlyArray<CashEntry>
) {
  const records = yield* Records
  const own = statement.externalStatementId as string
  const facts = yield* entriesOfLines(entries.map((entry) => ({ statement, entry })))
  const factsOf = ({ line }: CashEntry) => facts.get(Cash.nameOf({ statementId: own, line }))
  const copiesOfLine = (entry: CashEntry) =>
    (factsOf(entry)?.copies ?? []).filter(({ statementId }) => statementId !== own)
  const places = entries.flatMap((entry) => copiesOfLine(entry))
  const statementIds = [...new Set(places.map(({ statementId }) => statementId))]
  const statements = yield* records.many(externalStatements, statementIds)
  const byId = new Map(statements.map((self) => [self.externalStatementId as string, self]))
  const lines = places.map((place) => ({ ...place, statementId: place.statementId as never }))
  const entryByLine = yield* entriesNamed(lines, statements)
  const candidates = lines.flatMap((place) => {
    const [other, entry] = [byId.get(place.statementId), entryByLine.get(Cash.nameOf(place))]
    if (other === undefined || entry === undefined) return []
    // Statements that follow one another in a day repeat no entry of each other.
    const follows =
      dayKeyOf(other) === dayKeyOf(statement) && placeInDayOf(other) !== placeInDayOf(statement)
    return follows ? [] : [{ statement: other, entry }]
  })
  const shared = yield* entriesOfLines(candidates)
  const names = (name: string) =>
    [...(shared.get(name)?.shared ?? [name])].filter((other) => !other.startsWith(`${own}:`))
  const taken = yield* takenOfLines(candidates.flatMap((line) => names(nameOfLine(line))))
  const copies = new Map<string, Rules.Copy>(
    candidates.map((line) => {
      const amount = line.entry.amount
      const name = nameOfLine(line)
      const amountLeft = Decimal.subtract(amount, takenOfAll(taken, names(name)))
      const statementId = line.statement.externalStatementId
      const isSameInstrument = line.statement.instrumentId === statement.instrumentId
      return [name, { statementId, line: line.entry.line, amount, amountLeft, isSameInstrument }]
    })
  )
  const contradicting = entries.flatMap((entry) => {
    const ofCopies = new Set((factsOf(entry)?.copies ?? []).map(Cash.nameOf))
    return [...(factsOf(entry)?.shared ?? [])].filter((name) => !ofCopies.has(name))
  })
  return {
    copies: new Map(
      entries.map((entry) => [
        entry.line,
        copiesOfLine(entry)
          .flatMap((place) => copies.get(Cash.nameOf(place)) ?? [])
          .toSorted((a, b) => Number(b.isSameInstrument) - Number(a.isSameInstrument))
      ])
    ),
    contradicting: new Set(contradicting.map((name) => name.slice(0, name.lastIndexOf(":"))))
  } satisfies SharedLines
})

const nameOfLine = (found: { readonly statement: ExternalStatement; readonly entry: CashEntry }) =>
  Cash.nameOf({ statementId: found.statement.externalStatementId, line: found.entry.line })

const amountsOf = (copies: ReadonlyArray<Rules.Copy>): MovedTaking["amounts"] =>
  new Map(copies.map(({ line, amount }) => [line, amount]))

/**
 * Moves takings of a replaced statement that its correction has no line for to another statement in
 * force that states their entries; those that no other statement states are returned.
 */
export const movedToCopies = Effect.fnUntraced(function* (
  before: ExternalStatement,
  takings: ReadonlyArray<StoredTaking>,
  act: Act
) {
  if (takings.length === 0) return takings
  const entries = yield* StatementLookups.cashAt(before, Rules.linesOf(takings))
  const { copies } = yield* copiesOf(before, entries)
  const room = Rules.roomOf(copies)
  const left: Array<StoredTaking> = []
  for (const taking of takings) {
    const found = Rules.copiedPlaces(taking, { copies, room, stays: () => true })
    if (found === null || found === "split") left.push(taking)
    else yield* relocate(taking, { ...found, amounts: amountsOf(found.copies) }, act)
  }
  return left
})

/** A statement that retention may delete the lines of, with what orders took of them. */
interface Prunable {
  readonly statement: ExternalStatement
  readonly takings: ReadonlyArray<StoredTaking>
  readonly lines: SharedLines
}

/**
 * Decides which of these statements retention may delete, so that what orders took of an entry stays
 * taken in the copies that stay: returns the ids of those that must stay as well. A statement stays
 * while a line that contradicts a taken one stays, and while the cash of one taking would come to lie
 * in several statements. Must run under the lock of the lines (`lockStatements`), and `handOver` follows it.
 */
export const prunables = Effect.fnUntraced(function* (
  statements: ReadonlyArray<ExternalStatement>
) {
  const found: Array<Prunable> = []
  for (const statement of statements) {
    const takings = yield* takingsOf(statement.externalStatementId)
    if (takings.length === 0) continue
    const entries = yield* StatementLookups.cashAt(statement, Rules.linesOf(takings))
    found.push({ statement, takings, lines: yield* copiesOf(statement, entries) })
  }
  const ids = new Set<string>(statements.map(({ externalStatementId }) => externalStatementId))
  const stays = (statementId: string): boolean => !ids.has(statementId)
  const mustStay = ({ statement, takings, lines }: Prunable): boolean => {
    const { copies, contradicting } = lines
    const room = Rules.roomOf(copies)
    return (
      ids.has(statement.externalStatementId) &&
      (contradicting.values().some(stays) ||
        takings.some((taking) => Rules.copiedPlaces(taking, { copies, room, stays }) === "split"))
    )
  }
  // A statement that stays may hold copies of the others' entries: judged again until none is left.
  for (let isOver = false; !isOver; ) {
    const stayingStatements = found.filter(mustStay)
    for (const { statement } of stayingStatements) ids.delete(statement.externalStatementId)
    isOver = stayingStatements.length === 0
  }
  return { ids, found: found.filter(({ statement }) => !stays(statement.externalStatementId)) }
})

/** Moves what orders took of statements that retention deletes to the copies that stay. */
export const handOver = Effect.fnUntraced(function* (
  { ids, found }: Effect.Success<ReturnType<typeof prunables>>,
  act: Act
) {
  const stays = (statementId: string): boolean => !ids.has(statementId)
  for (const { statement, takings, lines } of found) {
    const room = Rules.roomOf(lines.copies)
    const moved: Array<StoredTaking> = []
    for (const taking of takings) {
      const to = Rules.copiedPlaces(taking, { copies: lines.copies, room, stays })
      if (to === null || to === "split") continue
      yield* relocate(taking, { ...to, amounts: amountsOf(to.copies) }, act)
      moved.push(taking)
    }
    if (moved.length > 0) yield* renamed(takings, statement, act)
  }
})

/** Records in the orders of takings which lines of statements in force pay them now. */
export const renamed = Effect.fnUntraced(function* (
  takings: ReadonlyArray<Taking.CashTaking>,
  before: ExternalStatement,
  act: Act
) {
  const records = yield* Records
  const used = takings.filter(({ state }) => state === "used")
  const { bought, sold } = yield* ordersOf(used)
  const moved = yield* records.many(Taking.cashTakings, used.map(Taking.takingIdOf))
  const byOrder = Map.groupBy(moved, Taking.orderKeyOf)
  const linesOf = (
    order: Taking.Order,
    pays: Cash.Pays,
    lines: ReadonlyArray<Cash.CashLine>
  ): ReadonlyArray<Cash.CashLine> =>
    merged([
      ...lines.filter(({ statementId }) => statementId !== before.externalStatementId),
      ...(byOrder.get(Taking.orderKeyOf(order)) ?? [])
        .filter((taking) => taking.pays === pays)
        .flatMap(Taking.linesOf)
    ])
  for (const self of bought) {
    const order = { kind: "subscription", orderId: self.subscriptionId } as const
    const lines = linesOf(order, "cash", self.cash.lines)
    const refunds = linesOf(order, "refund", self.refunds)
    yield* records.append(subscriptions, self, { on: "move-lines", lines, refunds }, act)
  }
  for (const self of sold) {
    const order = { kind: "redemption", orderId: self.redemptionId } as const
    const lines = linesOf(order, "cash", self.cash.lines)
    yield* records.append(redemptions, self, { on: "move-lines", lines, refunds: [] }, act)
  }
})
