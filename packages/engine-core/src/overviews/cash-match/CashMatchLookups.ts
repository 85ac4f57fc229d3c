/**
 * Look-ups of proposals that bank lines pay orders: streams the lines with something left of an
 * instrument, beside its orders that wait, in memory that grows with these orders and a page alone.
 */
import { Effect, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { accountNumbers, hasher } from "../../holders/external-account/AccountNumber.ts"
import { externalAccounts } from "../../holders/external-account/ExternalAccount.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { nameOf } from "../../orders/order/CashLine.ts"
import { entriesOfLines, takenOfAll, takenOfLines } from "../../orders/order/CashSteps.ts"
import * as OpenLines from "../../orders/order/OpenLineLookups.ts"
import * as OpenOrder from "../../orders/order/OpenOrder.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Records } from "../../records/Records.ts"
import type { Counterparty } from "../../statements/external-statement/Counterparties.ts"
import * as EntryLookups from "../../statements/external-statement/EntryLookups.ts"
import { placeNameOf, placeOf } from "../../statements/external-statement/EntryRules.ts"
import {
  externalStatements,
  isInForce,
  orderOf
} from "../../statements/external-statement/ExternalStatement.ts"
import * as LineRows from "../../statements/external-statement/LineRows.ts"
import type { OpenOrderState } from "../../vocabulary/sets.ts"
import type { CashMatchView } from "./CashMatch.ts"
import * as Rules from "./CashMatchRules.ts"

/** Number of statements whose parts are looked up together. */
const statementsMax = 100

const openAs = (kind: "subscription" | "redemption", states: ReadonlyArray<OpenOrderState>) =>
  states.map((state) => OpenOrder.openAs({ kind, state }))

/**
 * Columns of the orders that may wait for cash: the open ones that do, and the delivered ones, which
 * are not open and may still owe a refund, or be owed cash that was not needed for the delivery.
 */
const queriesAt = ({ judgedAt }: Pick<Pin.ResolvedPin, "judgedAt">) => ({
  subscriptions: [
    {
      where: { open: openAs("subscription", ["awaiting-cash", "awaiting-refund"]) },
      ranges: { openUntil: OpenOrder.stillOpenAt(judgedAt) }
    },
    { where: { state: ["delivered"] }, ranges: {} }
  ],
  redemptions: [
    {
      where: { open: openAs("redemption", ["awaiting-payment"]) },
      ranges: { openUntil: OpenOrder.stillOpenAt(judgedAt) }
    }
  ]
})

/** Ids of instruments that may have orders which wait for cash, in order. */
export const instrumentsWaiting = Effect.fnUntraced(function* (pin: Pin.ResolvedPin) {
  const records = yield* Records
  const queries = queriesAt(pin)
  const counts = yield* Effect.all([
    ...queries.subscriptions.map((query) =>
      records.countBy(subscriptions, "instrumentId", { pin, ...query })
    ),
    ...queries.redemptions.map((query) =>
      records.countBy(redemptions, "instrumentId", { pin, ...query })
    )
  ])
  return [...new Set(counts.flatMap((count) => [...count.keys()]))].toSorted()
})

/** Loads the orders of an instrument that wait for cash. */
const waitingOf = Effect.fnUntraced(function* (instrumentId: string, pin: Pin.ResolvedPin) {
  const records = yield* Records
  const queries = queriesAt(pin)
  const ofInstrument = { instrumentId: [instrumentId] }
  const bought = yield* Effect.forEach(queries.subscriptions, ({ ranges, where }) =>
    records.stream(subscriptions, { pin, ranges, where: { ...where, ...ofInstrument } }).pipe(
      Stream.map(({ record }) => Rules.ofSubscription(record)),
      Stream.runCollect
    )
  )
  const sold = yield* Effect.forEach(queries.redemptions, ({ ranges, where }) =>
    records.stream(redemptions, { pin, ranges, where: { ...where, ...ofInstrument } }).pipe(
      Stream.map(({ record }) => Rules.ofRedemption(record)),
      Stream.runCollect
    )
  )
  return [...bought.flat(), ...sold.flat()].flat()
})

/**
 * Streams the statements of cash in force of an instrument from a business date on, of accounts that
 * are mapped to it: the cash of a segregated account is kept for lines of distributions.
 */
const statementsOf = (instrumentId: string, from: Date.Date, pin: Pin.ResolvedPin) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const records = yield* Records
      const query = {
        pin,
        where: { instrumentId: [instrumentId], kind: ["cash"] },
        ranges: { businessDate: { from } }
      }
      return records.stream(externalStatements, query).pipe(
        Stream.map(({ record }) => record),
        Stream.filter((self) => isInForce(self) && self.prunedAt === undefined),
        Stream.grouped(statementsMax),
        Stream.mapEffect((statements) =>
          Effect.gen(function* () {
            const ids = new Set(
              statements.flatMap(({ externalAccountId }) => externalAccountId ?? [])
            )
            const accounts = yield* records.many(externalAccounts, [...ids], pin)
            const mapped = new Set<string>(
              accounts.flatMap((account) =>
                account.instrumentId === instrumentId && !account.segregated
                  ? [account.externalAccountId]
                  : []
              )
            )
            const takeable = statements.filter(({ externalAccountId }) =>
              mapped.has(externalAccountId ?? "")
            )
            const parts = yield* OpenLines.partsOf(takeable, pin)
            return takeable.map((statement) => ({
              statement,
              parts: parts.get(statement.externalStatementId) ?? []
            }))
          })
        ),
        Stream.flattenIterable
      )
    })
  )

/** A line of a statement with what its entry has left. */
interface OpenLine extends EntryLookups.LineOfStatement {
  readonly left: Decimal.Decimal
}

/**
 * What the entries of lines have left, each entry once: a line is passed over where an earlier copy of
 * its entry lies in a statement that was read before.
 */
const leftOf = Effect.fnUntraced(function* (
  lines: ReadonlyArray<EntryLookups.LineOfStatement>,
  { pin, read }: { readonly pin: Pin.ResolvedPin; readonly read: ReadonlySet<string> }
) {
  const facts = yield* entriesOfLines(lines, pin)
  const taken = yield* takenOfLines(
    [...facts.values()].flatMap(({ shared }) => [...shared]),
    pin
  )
  return lines.flatMap((line): ReadonlyArray<OpenLine> => {
    const { statement, entry } = line
    const name = nameOf({ statementId: statement.externalStatementId, line: entry.line })
    const { copies, shared, spent } = facts.get(name) ?? {
      copies: [],
      shared: new Set([name]),
      spent: null
    }
    const own = copies.findIndex((copy) => placeNameOf(copy) === name)
    if (spent !== null || copies.slice(0, own).some(({ statementId }) => read.has(statementId))) {
      return []
    }
    const left = Decimal.subtract(entry.amount, takenOfAll(taken, shared))
    return Decimal.isPositive(left) ? [{ statement, entry, left }] : []
  })
})

/** Finds the holders that the accounts of counterparties are mapped to, by number and currency. */
const holdersOf = Effect.fnUntraced(function* (
  lines: ReadonlyArray<{ readonly number: string; readonly currency: string }>,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const crypto = yield* Crypto
  const { sealingKeys } = yield* Settings
  const hashers = sealingKeys.map((key) => hasher(key, crypto))
  const numbers = [...new Set(lines.map(({ number }) => number))]
  const numberOf = new Map(
    numbers.flatMap((number) => hashers.map((hash) => [hash(number), number] as const))
  )
  const found = yield* OpenLines.chunked([...numberOf.keys()], (hash) =>
    records.stream(accountNumbers, { pin, where: { hash } }).pipe(
      Stream.map(({ record }) => record),
      Stream.runCollect
    )
  )
  const accounts = yield* OpenLines.chunked(
    found.map(({ externalAccountId }) => externalAccountId),
    (ids) => records.many(externalAccounts, ids, pin)
  )
  const byId = new Map(accounts.map((account) => [account.externalAccountId as string, account]))
  return new Map(
    lines.map(({ number, currency }) => {
      const holderIds = found.flatMap((entry) => {
        const holderId = byId.get(entry.externalAccountId)?.holderId ?? null
        const isOfCurrency = entry.currency === null || entry.currency === currency
        return numberOf.get(entry.hash) === number && isOfCurrency && holderId !== null
          ? [holderId]
          : []
      })
      return [`${number}/${currency}`, holderIds] as const
    })
  )
})

/** A line that may pay orders, and how many. */
interface MatchedLine extends OpenLine {
  readonly counterparty: Counterparty | null
  readonly holderIds: ReadonlyArray<string>
  readonly matchCount: number
}

/** Facts of a line that the rules judge. */
const judgedLine = ({ entry, holderIds, left }: MatchedLine): Rules.LineLeft => ({
  ...entry,
  left,
  holderIds
})

/** Matches a chunk of lines of one statement with the orders that wait. */
const matched = Effect.fnUntraced(function* (
  lines: ReadonlyArray<EntryLookups.LineOfStatement>,
  {
    index,
    pin,
    read
  }: {
    readonly index: Rules.WaitingIndex
    readonly pin: Pin.ResolvedPin
    readonly read: ReadonlySet<string>
  }
) {
  const open = (yield* leftOf(lines, { pin, read })).filter(({ entry, left }) =>
    Rules.mayMatch(index, { ...entry, left })
  )
  const counterparties = yield* EntryLookups.counterpartiesOf(open)
  const accounts = open.flatMap((line) => {
    const number = counterparties.get(line)?.account ?? null
    return number === null ? [] : [{ number, currency: line.entry.currency }]
  })
  const holders = accounts.length === 0 ? undefined : yield* holdersOf(accounts, pin)
  return open.flatMap((line): ReadonlyArray<MatchedLine> => {
    const counterparty = counterparties.get(line) ?? null
    const { entry, left } = line
    const holderIds = holders?.get(`${counterparty?.account}/${entry.currency}`) ?? []
    const matchCount = Rules.countOf(index, { ...entry, left, holderIds })
    return matchCount === 0 ? [] : [{ ...line, counterparty, holderIds, matchCount }]
  })
})

/** Narrows the proposals; the rivals of each stay those among all of them. */
interface MatchFilter {
  readonly orderId?: string
  readonly externalStatementId?: string
  readonly rule?: ReadonlyArray<CashMatchView["rule"]>
}

/** Sort key of a line: by instrument, statement and line. */
const lineKeyOf = (
  instrumentId: string,
  { statement, entry }: Pick<OpenLine, "statement" | "entry">
): string => [instrumentId, orderOf(statement), LineRows.keyOf(entry.line), ""].join(" ")

/**
 * Rank text after which the matches of a line belong to a page; null: none does, since the page begins
 * after this line.
 */
const resumedAt = (lineKey: string, after: string | undefined): string | undefined | null => {
  if (after === undefined) return
  if (after.startsWith(lineKey)) return after.slice(lineKey.length)
  return lineKey < after ? null : undefined
}

/** Id of the instrument of a proposal, of its sort key. */
export const instrumentOf = (sortKey: string): string => sortKey.slice(0, sortKey.indexOf(" "))

/** A proposal of a page, before the lines of its order are counted. */
interface PageRow {
  readonly sortKey: string
  readonly line: MatchedLine
  readonly match: Rules.Match
}

interface Page {
  readonly after: string | undefined
  readonly limit: number
}

/**
 * Loads at most `limit` proposals of an instrument after a sort key, in order: one pass over its lines
 * with something left, which counts the lines of each order and makes the proposals of the page alone.
 * A sort key is that of its line, then the strongest rule, then the order.
 */
export const pageOf = Effect.fnUntraced(function* (
  instrumentId: string,
  { after, limit, ...filter }: Page & MatchFilter,
  pin: Pin.ResolvedPin
) {
  const orders = yield* waitingOf(instrumentId, pin)
  const [first, ...others] = orders.map(Rules.firstDayOf)
  if (first === undefined) return []
  const from = others.reduce(Date.min, first)
  const index = Rules.indexOf(orders)
  const rows: Array<PageRow> = []
  const tally = Rules.tallyOf(index)
  const read = new Set<string>()
  const isOfFilter = ({ statement }: Pick<OpenLine, "statement">) =>
    filter.externalStatementId === undefined ||
    filter.externalStatementId === statement.externalStatementId
  yield* statementsOf(instrumentId, from, pin).pipe(
    Stream.runForEach(({ statement, parts }) =>
      OpenLines.openEntriesOf(statement, parts).pipe(
        Stream.runForEach((entries) =>
          Effect.gen(function* () {
            const lines = entries.map((entry) => ({ statement, entry }))
            for (const line of yield* matched(lines, { index, pin, read })) {
              const judged = judgedLine(line)
              tally.add(judged)
              if (rows.length === limit || !isOfFilter(line)) continue
              const lineKey = lineKeyOf(instrumentId, line)
              const resumed = resumedAt(lineKey, after)
              if (resumed === null) continue
              const query = { after: resumed, orderId: filter.orderId, rule: filter.rule }
              for (const match of Rules.matchesOf(index, judged, query)) {
                rows.push({ sortKey: `${lineKey}${Rules.rankTextOf(match)}`, line, match })
                if (rows.length === limit) break
              }
              yield* Effect.yieldNow
            }
          })
        ),
        Effect.andThen(Effect.sync(() => read.add(statement.externalStatementId)))
      )
    )
  )
  return yield* shownOf(rows, { tally, pin })
})

/** Views of the proposals of a page. */
const shownOf = Effect.fnUntraced(function* (
  rows: ReadonlyArray<PageRow>,
  { tally, pin }: { readonly tally: Rules.LineTally; readonly pin: Pin.ResolvedPin }
) {
  const lines = [...new Set(rows.map(({ line }) => line))]
  const sharing = yield* EntryLookups.sharingReference(lines, pin)
  const sameReferences = new Map(
    lines.map((line) => {
      const { entry, statement } = line
      const { externalAccountId, externalStatementId: statementId } = statement
      const own = placeNameOf({ statementId, line: entry.line })
      const others =
        entry.bankReference === null ? [] : (sharing.get(externalAccountId ?? "") ?? [])
      return [
        line,
        others
          .filter(({ entry: { bankReference } }) => bankReference === entry.bankReference)
          .map(placeOf)
          .filter((place) => placeNameOf(place) !== own)
          .map((place) => ({ externalStatementId: place.statementId, line: place.line }))
      ] as const
    })
  )
  return rows.map(({ sortKey, line, match }) => {
    const { counterparty, entry, left, statement } = line
    const { externalAccountId, externalStatementId: statementId } = statement
    const { claimedOn: _, currency: _1, direction: _2, ...order } = match.order
    const row: CashMatchView = {
      line: {
        statementId,
        line: entry.line,
        externalAccountId: externalAccountId ?? "",
        bookingDate: entry.bookingDate,
        valueDate: entry.valueDate,
        direction: entry.direction,
        currency: entry.currency,
        amount: entry.amount,
        left,
        bankReference: entry.bankReference,
        reference: entry.reference,
        counterparty
      },
      order: {
        ...order,
        instrumentId: order.instrumentId as never,
        holderId: order.holderId as never
      },
      amount: match.amount,
      rule: match.rule,
      rivals: line.matchCount - 1 + tally.countOf(match.order) - 1,
      sameReference: sameReferences.get(line) ?? []
    }
    return { sortKey, row }
  })
})
