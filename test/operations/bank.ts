/** Kit of bank statements: plants statements of cash with lines, by the records and the codec of intake. */
import { Records } from "@bursar/engine-core"
import { Date, Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import { Bulk } from "@bursar/engine-core/ports"
import { Effect, Option } from "effect"
import { externalAccounts } from "#core/holders/external-account/ExternalAccount.ts"
import * as Accounts from "./accounts.ts"
import * as Part from "#core/orders/order/CashLinePart.ts"
import * as CashSteps from "#core/orders/order/CashSteps.ts"
import * as CashTaking from "#core/orders/order/CashTaking.ts"
import {
  type ExternalSource,
  externalSources,
  type Fact as SourceFact
} from "#core/statements/external-source/ExternalSource.ts"
import {
  type ExternalStatement,
  externalStatements,
  ownerOf
} from "#core/statements/external-statement/ExternalStatement.ts"
import * as LineRows from "#core/statements/external-statement/LineRows.ts"
import * as StatementLookups from "#core/statements/external-statement/StatementLookups.ts"
import type { CashEntry } from "#core/statements/external-statement/StatementLine.ts"

export const businessDate = Date.of("2026-07-31")

/** An entry as a test writes it: the amount as text; lines number from 1 in this order. */
export interface Entry
  extends Partial<
    Pick<
      CashEntry,
      | "bankReference"
      | "bookingDate"
      | "currency"
      | "direction"
      | "reference"
      | "reversal"
      | "valueDate"
    >
  > {
  readonly amount: string
}

export const entryOf = ({ amount, ...entry }: Entry, index: number): CashEntry => ({
  kind: "cash",
  line: index + 1,
  bookingDate: businessDate,
  valueDate: businessDate,
  currency: "USD",
  direction: "credit",
  bankReference: null,
  reference: null,
  counterparty: null,
  ...entry,
  amount: Decimal.of(amount)
})

export interface Stated {
  readonly id: string
  readonly entries: ReadonlyArray<Entry>
  readonly instrumentId?: string
  /** The statement that this one replaces. */
  readonly corrects?: string
  readonly opening?: string | null
  readonly closing?: string | null
  readonly asOf?: string
  readonly businessDate?: Date.Date
  /** Instrument of the account; by default that of the statement. */
  readonly accountOf?: string
  /**
   * Another account of the instrument, by a source of its own: `apart` and `apart-too` are cash kept apart
   * for suspended lines, `second` is any other. A run compares them, unlike the lines that every fund opens
   * with.
   */
  readonly at?: "apart" | "apart-too" | "second"
  /** Another source of the same account. */
  readonly source?: string
  /** Currency of the account and of its balances; by default USD. */
  readonly currency?: string
}

type Account = Pick<Stated, "at" | "currency" | "source">

export const sourceOf = (instrumentId: string, { at, source }: Account = {}) =>
  `${source ?? at ?? "bank"}-${instrumentId}`
export const accountOf = (instrumentId: string, { at }: Account = {}) =>
  at === undefined ? `account-${instrumentId}` : `account-${at}-${instrumentId}`

const asIfNew = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.orDie(effect)

/** The account of an instrument and its source, where they are not there yet. */
const mapped = Effect.fnUntraced(function* (instrumentId: string, account: Account, act: Act) {
  const records = yield* Records
  const externalAccountId = accountOf(instrumentId, account) as never
  const found = yield* records.find(externalAccounts, externalAccountId)
  if (Option.isNone(found)) {
    const segregated = account.at?.startsWith("apart") ?? false
    const currency = account.currency ?? null
    yield* Accounts.plants({ externalAccountId, instrumentId, segregated, currency })
  }
  const externalSourceId = sourceOf(instrumentId, account) as never
  const source = yield* records.find(externalSources, externalSourceId)
  if (Option.isSome(source)) return
  yield* asIfNew(
    records.open(
      externalSources,
      {
        externalSourceId,
        kind: "cash",
        instruments: [instrumentId],
        // An empty calendar, so that no statement is ever overdue when a town moves its clock.
        calendar: [],
        dueBy: { time: "06:00", zone: "UTC", daysAfter: 1 },
        grace: Duration.of("PT0S"),
        adapter: "camt.053",
        account: accountOf(instrumentId, account),
        accountIs: null,
        basis: null,
        places: null,
        zone: "UTC",
        validFor: null,
        reversals: "as-marked",
        balances: "stated",
        assets: null,
        csv: null,
        state: "active",
        lastBusinessDate: null
      },
      act
    )
  )
})

type Act = Parameters<Records["Service"]["open"]>[2]

/** The given closing balance, else the sum of opening and entries. */
const closingOf = ({
  opening,
  closing,
  entries
}: Pick<Stated, "opening" | "closing" | "entries">) =>
  closing === undefined || closing === null
    ? Decimal.sum([
        Decimal.of(opening ?? "0"),
        ...entries.map(({ amount, direction }) =>
          direction === "debit" ? Decimal.negate(Decimal.of(amount)) : Decimal.of(amount)
        )
      ])
    : Decimal.of(closing)

const statementOf = (
  { id, instrumentId = "fund-a", entries, corrects, ...stated }: Stated,
  now: Instant.Instant
): ExternalStatement => ({
  externalStatementId: id as never,
  externalSourceId: sourceOf(instrumentId, stated),
  kind: "cash",
  instrumentId,
  externalAccountId: accountOf(stated.accountOf ?? instrumentId, stated),
  businessDate: stated.businessDate ?? businessDate,
  asOf: stated.asOf === undefined ? now : Instant.of(stated.asOf),
  period: null,
  reference: null,
  currency: stated.currency ?? "USD",
  totalQuantity: null,
  totalAmount: null,
  lineCount: entries.length,
  statedLines: null,
  rawFormat: "application/xml",
  rawEncoding: "utf-8",
  rawBytes: 1,
  adapter: "camt.053",
  contentHash: "ab".repeat(32),
  receivedAt: now,
  receivedBy: "bank-feed",
  basis: null,
  opening: stated.opening === null ? null : Decimal.of(stated.opening ?? "0"),
  closing: stated.closing === null ? null : closingOf({ ...stated, entries }),
  nav: null,
  corrects: corrects ?? null,
  supersededBy: null
})

/** Plants a statement of cash: its lines visible with it, and the one that it corrects replaced. */
export const states = (stated: Stated) =>
  Effect.gen(function* () {
    const bulk = yield* Bulk
    const records = yield* Records
    const now = yield* Instant.now
    const act = { cause: { by: "clock" }, now } as const
    const statement = statementOf(stated, now)
    const owner = ownerOf(statement)
    const rows = stated.entries.map((entry, index) => LineRows.rowOf(entryOf(entry, index)))
    yield* bulk.append(owner, rows)
    yield* records.transact(
      Effect.gen(function* () {
        yield* mapped(stated.accountOf ?? statement.instrumentId, stated, act)
        yield* mapped(statement.instrumentId, stated, act)
        yield* asIfNew(records.open(externalStatements, statement, act))
        yield* bulk.seal({ owner, rows: rows.length })
        if (statement.corrects === null) return
        const before = yield* asIfNew(records.get(externalStatements, statement.corrects))
        const by = statement.externalStatementId
        yield* records.append(externalStatements, before, { on: "supersede", by }, act)
      })
    )
    return statement
  })

/** Lines of the statements that most tests name, and the cash of each. */
const many = { lines: 400, amount: "1000000000" }

const plenty = (direction: CashEntry["direction"]): ReadonlyArray<Entry> =>
  Array.from({ length: many.lines }, () => ({ direction, amount: many.amount }))

/** Statement whose lines came in, and the one whose lines went out, of an instrument. */
export const credits = "stmt-1"
export const debits = "stmt-2"

/**
 * Plants a statement of credits and one of debits, in USD: more of each than a test names, and of
 * more cash than it takes.
 */
export const opens = (instrumentId = "fund-a") =>
  Effect.gen(function* () {
    yield* states({ id: credits, instrumentId, entries: plenty("credit") })
    yield* states({ id: debits, instrumentId, entries: plenty("debit") })
    // Deactivates the source, so that runs compare no statement but those that a test plants; the index
    // of lines counts these as taken, so that a run finds none but those that an order took in part.
    const records = yield* Records
    const act = { cause: { by: "clock" }, now: yield* Instant.now } as const
    yield* records.transact(
      Effect.gen(function* () {
        for (const statementId of [credits, debits]) {
          const untaken = Part.untaken({ statementId, part: 0 })
          const matches = untaken.matches.replaceAll("-", "m")
          yield* asIfNew(records.open(Part.cashLineParts, { ...untaken, matches }, act))
        }
      })
    )
    yield* ends(instrumentId)
  })

/** The configuration names the source of an account no longer. */
export const ends = (instrumentId: string, account: Account = {}) =>
  changes(instrumentId, { account, fact: () => ({ on: "deactivate" }) })

/** The configuration has the source of an account serve these instruments. */
export const serves = (
  instrumentId: string,
  account: Account,
  instruments: ReadonlyArray<string>
) =>
  changes(instrumentId, {
    account,
    fact: ({ externalSourceId: _, state: __, lastBusinessDate: ___, ...configured }) => ({
      on: "configure",
      configured: { ...configured, instruments }
    })
  })

const changes = (
  instrumentId: string,
  {
    account,
    fact
  }: { readonly account: Account; readonly fact: (source: ExternalSource) => SourceFact }
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const act = { cause: { by: "clock" }, now: yield* Instant.now } as const
    yield* records.transact(
      Effect.gen(function* () {
        const source = yield* asIfNew(records.get(externalSources, sourceOf(instrumentId, account)))
        yield* records.append(externalSources, source, fact(source), act)
      })
    )
  })

/** Reserves cash of a line for an order, as a write does that the ledger then refuses. */
export const reserves = (payment: {
  readonly order: CashTaking.Order
  readonly named: { readonly statementId: string; readonly line: number; readonly amount: string }
  readonly pays?: "cash" | "refund"
}) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    const act = { cause: { by: "clock" }, now } as const
    const statement = yield* records.get(externalStatements, payment.named.statementId)
    const [entry] = yield* StatementLookups.cashAt(statement, [payment.named.line])
    if (entry === undefined) throw new Error("no such line")
    const amountOfLine = entry.amount
    const named = {
      ...payment.named,
      statementId: payment.named.statementId as never,
      amount: Decimal.of(payment.named.amount)
    }
    yield* records.transact(
      Effect.gen(function* () {
        yield* CashSteps.takeOf({ ...named, amountOfLine }, act)
        const taking = {
          ...payment.order,
          ...CashTaking.reservedAs({ named, pays: payment.pays ?? "cash" })
        }
        yield* asIfNew(records.open(CashTaking.cashTakings, taking, act))
      })
    )
  })
