/**
 * Steps of writes that name bank lines: loads and judges the lines, reserves them for the order before
 * the ledger is asked, and uses or returns them after (docs/domain/statements.md#cash-lines).
 */
import { Effect, Option, Stream } from "effect"
import { externalAccounts } from "../../holders/external-account/ExternalAccount.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Judgement } from "../../kernel/Gates.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Act, OperationAct } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  type ExternalStatement,
  externalStatements,
  isInForce
} from "../../statements/external-statement/ExternalStatement.ts"
import * as EntryLookups from "../../statements/external-statement/EntryLookups.ts"
import * as EntryRules from "../../statements/external-statement/EntryRules.ts"
import * as StatementLookups from "../../statements/external-statement/StatementLookups.ts"
import * as Cash from "./CashLine.ts"
import * as Taking from "./CashTaking.ts"

/** The order that a call names bank lines for. */
export interface PaidOrder extends Taking.Order {
  readonly instrumentId: string
  readonly currency: string
}

type NamedLine = Pick<Taking.CashTaking, "named" | "pays">

/** Bank lines named for an order, judged. */
interface JudgedLines {
  readonly order: Taking.Order
  readonly lines: ReadonlyArray<
    NamedLine & {
      readonly amountOfLine: Decimal.Decimal
      /** Names of the lines whose cash is that of the line, its own among them. */
      readonly shared: ReadonlySet<string>
    }
  >
  /** Takings of the order that no write has used yet. */
  readonly reserved: ReadonlyArray<Stored<Taking.CashTaking>>
  readonly rows: ReadonlyArray<Judgement>
}

const inOrder = ({ cash, refunds }: Cash.NamedLines): ReadonlyArray<NamedLine> => [
  ...cash.map((named) => ({ named, pays: "cash" as const })),
  ...refunds.map((named) => ({ named, pays: "refund" as const }))
]

/**
 * Serialises the writes that take of lines of these statements' accounts with each other and with
 * corrections: two writes that name two copies of one entry follow each other, and no taking is missed
 * by the correction that moves all. Must run inside `transact`, before the lines are loaded.
 */
export const lockStatements = Effect.fnUntraced(function* (statementIds: Iterable<string>) {
  const records = yield* Records
  const statements = yield* records.many(externalStatements, [...new Set(statementIds)])
  const accounts = new Set(statements.flatMap(({ externalAccountId }) => externalAccountId ?? []))
  // Sorted, so that two writes that name lines of the same accounts never wait for each other.
  yield* Effect.forEach(
    [...accounts].toSorted(),
    (externalAccountId) => records.lock(`cash-lines:${externalAccountId}`),
    { discard: true }
  )
})

/**
 * Serialises an act of an order with others that take of the lines it names, or of those that the order
 * took before and may give up. Must run inside `transact`, before the lines are loaded.
 */
export const lockLines = Effect.fnUntraced(function* (
  order: Taking.Order,
  lines: ReadonlyArray<Cash.CashLine>
) {
  const earlier = (yield* takingsOf(order)).filter(({ state }) => state !== "returned")
  yield* lockStatements([...lines, ...earlier].map(({ statementId }) => statementId))
})

/** Finds the entries of these statements that lines name, by their name; look-ups by statement, not by line. */
export const entriesNamed = Effect.fnUntraced(function* (
  lines: ReadonlyArray<Pick<Cash.CashLine, "statementId" | "line">>,
  statements: ReadonlyArray<ExternalStatement>
) {
  const byStatement = Map.groupBy(lines, ({ statementId }) => statementId)
  const found = yield* Effect.forEach(statements, (statement) => {
    const { externalStatementId: statementId } = statement
    const wanted = (byStatement.get(statementId) ?? []).map(({ line }) => line)
    return Effect.map(StatementLookups.cashAt(statement, wanted), (entries) =>
      entries.map((entry) => [Cash.nameOf({ statementId, line: entry.line }), entry] as const)
    )
  })
  return new Map(found.flat())
})

/** Loads those of the named statements that lines may be taken of. */
const takeable = Effect.fnUntraced(function* (
  lines: ReadonlyArray<NamedLine>,
  { instrumentId }: PaidOrder
) {
  const records = yield* Records
  const ids = new Set(lines.map(({ named }) => named.statementId))
  const statements = yield* records.many(externalStatements, [...ids])
  const accounts = yield* records.many(
    externalAccounts,
    statements.flatMap(({ externalAccountId }) => externalAccountId ?? [])
  )
  const mapped = new Set(
    accounts
      .filter((account) => account.instrumentId === instrumentId)
      .map(({ externalAccountId }): string => externalAccountId)
  )
  return statements.filter(
    (statement) =>
      isInForce(statement) &&
      // Its lines are about to be deleted, although they can still be read.
      statement.prunedAt === undefined &&
      // A file that was handed in for two instruments has its lines twice: only one may pay.
      statement.instrumentId === instrumentId &&
      mapped.has(statement.externalAccountId ?? "")
  )
})

/** Loads the takings of an order, but those of this transaction. */
const takingsOf = (order: Taking.Order) =>
  Effect.flatMap(Records, (records) =>
    records.stream(Taking.cashTakings, { where: { order: [Taking.orderKeyOf(order)] } }).pipe(
      Stream.map(({ record }) => record),
      Stream.runCollect
    )
  )

const reservedOn = (
  reserved: ReadonlyArray<Taking.CashTaking>,
  shared: ReadonlySet<string>
): Decimal.Decimal =>
  Decimal.sum(
    reserved
      .flatMap(Taking.linesOf)
      .filter((heldLine) => shared.has(Cash.nameOf(heldLine)))
      .map(({ amount }) => amount)
  )

/** Copies, contradictions and reversal of a named line, over the statements of its account. */
interface EntryOfLine {
  /** Names of the lines whose cash is that of the line: its copies, and lines that contradict them. */
  readonly shared: ReadonlySet<string>
  /** Lines that state the entry, the line itself among them. */
  readonly copies: ReadonlyArray<EntryRules.LinePlace>
  /** Cause for which no order is paid by the entry; null: it may pay. */
  readonly spent: Cash.SpentCause | null
}

const spentOf = (found: EntryLookups.EntryFacts | undefined, isDeleted: boolean) => {
  if (found?.isReversal === true) return "reversal"
  if (found?.reversedBy) return "reversed"
  return isDeleted ? "deleted" : null
}

/**
 * Finds what the statements in force of their accounts say of lines, by the name of the line. What was
 * taken of a line that contradicts another counts for both, so that the entry pays no more than the
 * larger of what the statements state (docs/domain/statements.md#one-entry-in-several-statements).
 */
export const entriesOfLines = Effect.fnUntraced(function* (
  lines: ReadonlyArray<EntryLookups.LineOfStatement>,
  pin?: Pin.ResolvedPin
) {
  const facts = yield* EntryLookups.factsOf(lines, pin)
  const sharing = yield* EntryLookups.sharingReference(lines, pin)
  const deleted = yield* EntryLookups.namesOfDeleted(lines, pin)
  return new Map(
    lines.map(({ statement, entry }) => {
      const place = { statementId: statement.externalStatementId as string, line: entry.line }
      const name = EntryRules.placeNameOf(place)
      const found = facts.get(name)
      const copies = found?.copies ?? [place]
      const ofReference = sharing.get(statement.externalAccountId ?? "") ?? []
      const self = ofReference.find(
        (line) => EntryRules.placeNameOf(EntryRules.placeOf(line)) === name
      )
      const against = self === undefined ? [] : EntryRules.contradicting(self, ofReference)
      const shared = new Set(
        [...copies, ...against.map(EntryRules.placeOf)].map(EntryRules.placeNameOf)
      )
      return [
        name,
        { shared, copies, spent: spentOf(found, deleted.has(name)) } satisfies EntryOfLine
      ] as const
    })
  )
})

/** Loads the sums that orders took of lines, by the name of the line; no pin: as they are now. */
export const takenOfLines = (names: Iterable<string>, pin?: Pin.ResolvedPin) =>
  Effect.map(
    Effect.flatMap(Records, (records) => records.many(Taking.cashLines, [...new Set(names)], pin)),
    (found) => new Map(found.map((line) => [Cash.nameOf(line), line.taken]))
  )

/** Sum that orders took of any of these lines. */
export const takenOfAll = (
  takenAmounts: ReadonlyMap<string, Decimal.Decimal>,
  names: Iterable<string>
): Decimal.Decimal => Decimal.sum([...names].map((name) => takenAmounts.get(name) ?? Decimal.zero))

/**
 * Loads and judges the bank lines named for an order. What is left of an entry is left of all its
 * copies; a call that names several of them takes of the same rest. Cash of a line that the order
 * itself has reserved, for example before a write that the ledger refused, stays available to it.
 */
export const named = Effect.fnUntraced(function* (order: PaidOrder, namedLines: Cash.NamedLines) {
  const lines = inOrder(namedLines)
  const none: ReadonlyArray<Stored<Taking.CashTaking>> = []
  if (lines.length === 0) {
    return {
      order,
      lines: [],
      reserved: none,
      rows: Cash.againstBank([], order)
    } satisfies JudgedLines
  }
  const statements = yield* takeable(lines, order)
  const reserved = (yield* takingsOf(order)).filter(({ state }) => state === "reserved")
  const entries = yield* entriesNamed(
    lines.map(({ named: line }) => line),
    statements
  )
  const byId = new Map(statements.map((self) => [self.externalStatementId as string, self]))
  const entryByLine = new Map(
    lines.flatMap(({ named: line }) => {
      const [statement, entry] = [byId.get(line.statementId), entries.get(Cash.nameOf(line))]
      return statement === undefined || entry === undefined
        ? []
        : [[Cash.nameOf(line), { statement, entry }] as const]
    })
  )
  const facts = yield* entriesOfLines([...entryByLine.values()])
  const taken = yield* takenOfLines([...facts.values()].flatMap(({ shared }) => [...shared]))
  const found = lines.map(({ named: line, pays }, index) => {
    const direction = Cash.directionOf(order.kind, pays)
    const name = Cash.nameOf(line)
    const entry = entries.get(name) ?? null
    const amountOfLine = entry?.amount ?? Decimal.zero
    const { shared, spent } = facts.get(name) ?? { shared: new Set([name]), spent: null }
    const before = lines.slice(0, index).filter((other) => shared.has(Cash.nameOf(other.named)))
    const gone = Decimal.add(
      takenOfAll(taken, shared),
      Decimal.sum(before.map((other) => other.named.amount))
    )
    const rest = Decimal.subtract(Decimal.add(amountOfLine, reservedOn(reserved, shared)), gone)
    const amountLeft = spent === null ? Decimal.max(Decimal.zero, rest) : Decimal.zero
    return { named: line, line, pays, direction, entry, amountOfLine, shared, spent, amountLeft }
  })
  return {
    order,
    lines: found,
    reserved,
    rows: Cash.againstBank(found, order)
  } satisfies JudgedLines
})

/** Adds to the sum that is taken of a line. */
export const takeOf = Effect.fnUntraced(function* (
  { amountOfLine, ...line }: Cash.CashLine & { readonly amountOfLine: Decimal.Decimal },
  act: Act
) {
  const records = yield* Records
  const before = yield* records.find(Taking.cashLines, Cash.nameOf(line))
  const { amount } = line
  if (Option.isSome(before)) {
    return void (yield* records.append(Taking.cashLines, before.value, { on: "take", amount }, act))
  }
  yield* records
    .open(Taking.cashLines, { ...line, amount: amountOfLine, taken: amount }, act)
    .pipe(Effect.catchTag("Refused", (refusal) => Effect.die(new Error(refusal.slug))))
})

/** Takes from the sum that is taken of a line. */
export const giveTo = Effect.fnUntraced(function* ({ amount, ...line }: Cash.CashLine, act: Act) {
  const records = yield* Records
  const before = yield* records.find(Taking.cashLines, Cash.nameOf({ ...line }))
  if (Option.isNone(before)) {
    return yield* Effect.die(new Error(`nothing is taken of line ${Cash.nameOf({ ...line })}`))
  }
  yield* records.append(Taking.cashLines, before.value, { on: "give", amount }, act)
})

/** Returns a taking's cash to its lines. */
const giveBack = Effect.fnUntraced(function* (taking: Stored<Taking.CashTaking>, act: Act) {
  const records = yield* Records
  yield* Effect.forEach(Taking.linesOf(taking), (line) => giveTo(line, act), { discard: true })
  yield* records.append(Taking.cashTakings, taking, { on: "return" }, act)
})

/**
 * Reserves the bank lines for their order, in the transaction that plans and checks the act: from then
 * on no other order can count their cash. What an earlier act of the order reserved, and the ledger did
 * not commit, returns to its lines: acts of one order run one after another.
 */
export const reserveCash = Effect.fnUntraced(function* (
  { order, lines, reserved }: JudgedLines,
  act: OperationAct
) {
  const records = yield* Records
  yield* Effect.forEach(reserved, (taking) => giveBack(taking, act), { discard: true })
  for (const { named: line, pays, amountOfLine } of lines) {
    yield* takeOf({ ...line, amountOfLine }, act)
    const { kind, orderId } = order
    const taking = { kind, orderId, ...Taking.reservedAs({ named: line, pays }) }
    const before = yield* records.find(Taking.cashTakings, Taking.takingIdOf(taking))
    if (Option.isSome(before)) {
      yield* records.append(
        Taking.cashTakings,
        before.value,
        { on: "reserve", named: line, pays },
        act
      )
    } else {
      yield* records
        .open(Taking.cashTakings, taking, act)
        .pipe(Effect.catchTag("Refused", (refusal) => Effect.die(new Error(refusal.slug))))
    }
  }
})

/** Lines of one side, those of one name summed. */
export const merged = (lines: ReadonlyArray<Cash.CashLine>): ReadonlyArray<Cash.CashLine> =>
  [...Map.groupBy(lines, Cash.nameOf).values()].flatMap((same) =>
    same.slice(0, 1).map((line) => ({
      ...line,
      amount: Decimal.sum(same.map(({ amount }) => amount))
    }))
  )

/**
 * Uses the bank lines that an act named, once the ledger has committed the act, and returns the
 * lines that have their cash now, since a correction may have moved it. A line that was named before
 * takings were kept is returned unchanged.
 */
export const consumeReserved = Effect.fnUntraced(function* (
  order: Taking.Order,
  namedLines: Cash.NamedLines,
  act: OperationAct
) {
  const records = yield* Records
  const used = yield* Effect.forEach(inOrder(namedLines), ({ named: line, pays }) =>
    Effect.gen(function* () {
      const id = Taking.takingIdOf({ ...order, named: line })
      const taking = yield* records.find(Taking.cashTakings, id)
      if (Option.isNone(taking)) return { pays, lines: [line] }
      const after = yield* records.append(Taking.cashTakings, taking.value, { on: "use" }, act)
      return { pays, lines: Taking.linesOf(after) }
    })
  )
  const ofSide = (side: Cash.Pays) =>
    merged(used.filter(({ pays }) => pays === side).flatMap(({ lines }) => lines))
  return { cash: ofSide("cash"), refunds: ofSide("refund") } satisfies Cash.NamedLines
})

/** Loads the takings of an order with those of this transaction. */
const allTakingsOf = Effect.fnUntraced(function* (order: Taking.Order) {
  const records = yield* Records
  const key = [Taking.orderKeyOf(order)]
  const listed = yield* Stream.runCollect(
    records.ids(Taking.cashTakings, { where: { order: key } })
  )
  const written = yield* records.uncommitted(Taking.cashTakings, { column: "order", anyOf: key })
  return yield* records.many(Taking.cashTakings, [...new Set([...listed, ...written])])
})

/** Returns the cash of the order's takings in any of these states to their lines. */
export const releaseReserved = Effect.fnUntraced(function* (
  order: Taking.Order,
  states: ReadonlyArray<Taking.CashTaking["state"]>,
  act: Act
) {
  const takings = yield* allTakingsOf(order)
  yield* Effect.forEach(
    takings.filter(({ state }) => states.includes(state)),
    (taking) => giveBack(taking, act),
    { discard: true }
  )
})
