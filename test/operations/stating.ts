/**
 * Kit of statements that runs compare: sources and statements planted as records and rows by the
 * codec of the intake.
 */
import { EventQueries, Records } from "@bursar/engine-core"
import { type Date, Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import { Bulk } from "@bursar/engine-core/ports"
import { Effect, Option } from "effect"
import { accountNumbers } from "#core/holders/external-account/AccountNumber.ts"
import type { ExternalAccount } from "#core/holders/external-account/ExternalAccount.ts"
import {
  type ExternalSource,
  externalSources
} from "#core/statements/external-source/ExternalSource.ts"
import {
  dateKeyOf,
  type ExternalStatement,
  externalStatements,
  ownerOf,
  statementsOfDates
} from "#core/statements/external-statement/ExternalStatement.ts"
import * as LineRows from "#core/statements/external-statement/LineRows.ts"
import type { StatementLine } from "#core/statements/external-statement/StatementLine.ts"
import * as Calls from "../engine/calls.ts"
import * as Accounts from "./accounts.ts"

const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday"] as const

export const instrumentId = "fund-a"

const act = Effect.map(Instant.now, (now) => ({
  cause: { by: "request", requestId: "stating" } as const,
  now
}))

/** Configures a source of `fund-a`, by default of holdings by the holders' ids, due at 06:00 the day after. */
export const source = (externalSourceId: string, changes: Partial<ExternalSource> = {}) =>
  Effect.gen(function* () {
    const records = yield* Records
    const configured: ExternalSource = {
      externalSourceId: externalSourceId as ExternalSource["externalSourceId"],
      kind: "holdings",
      instruments: [instrumentId],
      calendar: weekdays,
      dueBy: { time: "06:00", zone: "UTC", daysAfter: 1 },
      grace: Duration.hours(2),
      adapter: "csv",
      account: null,
      accountIs: "holder",
      basis: null,
      places: null,
      zone: "UTC",
      validFor: changes.kind === "nav" ? Duration.days(1) : null,
      reversals: "as-marked",
      balances: "stated",
      assets: null,
      csv: null,
      state: "active",
      lastBusinessDate: null,
      ...changes
    }
    const { externalSourceId: _, lastBusinessDate: __, state: ___, ...members } = configured
    yield* records.transact(
      Effect.gen(function* () {
        const before = yield* records.find(externalSources, externalSourceId)
        const by = yield* act
        if (Option.isNone(before)) yield* records.open(externalSources, configured, by)
        else {
          const fact = { on: "configure", configured: members } as const
          const after = yield* records.append(externalSources, before.value, fact, by)
          if (configured.state === "inactive") {
            yield* records.append(externalSources, after, { on: "deactivate" }, by)
          }
        }
      })
    )
    return configured
  })

/** A line as a test writes it; lines number from 1 in their order. */
export type Line =
  | { readonly account: string; readonly quantity: string; readonly asset?: string }
  | {
      readonly amount: string
      readonly direction: "credit" | "debit"
      readonly currency?: string
      readonly bankReference?: string
    }

export interface Stated extends Partial<Omit<ExternalStatement, "externalStatementId">> {
  readonly businessDate: Date.Date
  readonly lines?: ReadonlyArray<Line>
}

const lineOf = (line: Line, index: number, businessDate: Date.Date): StatementLine => {
  if (!("account" in line)) {
    return {
      kind: "cash",
      line: index + 1,
      bookingDate: businessDate,
      valueDate: businessDate,
      amount: Decimal.of(line.amount),
      currency: line.currency ?? "USD",
      direction: line.direction,
      bankReference: line.bankReference ?? null,
      reference: null,
      counterparty: null
    }
  }
  const { account, asset } = line
  const quantity = Decimal.of(line.quantity)
  return asset === undefined
    ? { kind: "holdings", line: index + 1, account, quantity, locked: null }
    : { kind: "custody", line: index + 1, account, asset, quantity }
}

let number = 0

/** Stores a statement as the intake would, in the place of that of the date; returns its id. */
export const states = (
  { externalSourceId, kind, account }: ExternalSource,
  { lines = [], ...stated }: Stated
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const bulk = yield* Bulk
    const by = yield* act
    const externalStatementId = `sta-${String(++number).padStart(6, "0")}` as never
    const owner = ownerOf({ externalStatementId })
    const date = {
      externalSourceId,
      instrumentId: stated.instrumentId ?? instrumentId,
      businessDate: stated.businessDate
    }
    const rows = lines.map((line, index) =>
      LineRows.rowOf(lineOf(line, index, stated.businessDate))
    )
    yield* bulk.append(owner, rows)
    yield* records.transact(
      Effect.gen(function* () {
        yield* bulk.seal({ owner, rows: rows.length })
        const source = yield* records.get(externalSources, externalSourceId)
        const received = { on: "receive", businessDate: date.businessDate } as const
        yield* records.append(externalSources, source, received, by)
        const slot = yield* records.find(statementsOfDates, dateKeyOf(date))
        const corrects = Option.isSome(slot) ? slot.value.externalStatementId : null
        yield* records.open(
          externalStatements,
          {
            kind,
            asOf: by.now,
            period: null,
            reference: null,
            currency: "USD",
            totalQuantity: null,
            totalAmount: null,
            lineCount: lines.length,
            externalAccountId: account,
            statedLines: null,
            rawFormat: "text/csv",
            rawEncoding: "utf-8",
            rawBytes: 2,
            adapter: "csv",
            contentHash: "ab".repeat(32),
            receivedAt: by.now,
            receivedBy: "feed-1",
            basis: null,
            opening: null,
            closing: null,
            nav:
              kind !== "nav"
                ? null
                : {
                    official: Decimal.one,
                    indicative: null,
                    indicativeAsOf: null,
                    expiresAt: Instant.add(by.now, Duration.days(1)),
                    ripcord: false
                  },
            supersededBy: null,
            ...stated,
            ...date,
            externalStatementId,
            corrects
          },
          by
        )
        if (Option.isNone(slot)) {
          yield* records.open(statementsOfDates, { ...date, externalStatementId }, by)
          return
        }
        const replaced = yield* records.get(externalStatements, slot.value.externalStatementId)
        const fact = { on: "supersede", by: externalStatementId } as const
        yield* records.append(externalStatements, replaced, fact, by)
        const replace = { on: "replace" as const, externalStatementId }
        yield* records.append(statementsOfDates, slot.value, replace, by)
      })
    )
    return String(externalStatementId)
  })

/** The business date of the clock, in UTC. */
export const today = Effect.map(Instant.now, Instant.date)

/** Business dates of the overdue statements that were announced, in their order. */
export const overdueEvents = Effect.gen(function* () {
  const feed = yield* EventQueries.EventQueries
  const { value } = yield* feed.page({ caller: Calls.operator, params: {}, limit: 1000 })
  return value.flatMap(({ type, payload }) =>
    type === "statement.overdue" ? String((payload as unknown as OverduePayload).businessDate) : []
  )
})

interface OverduePayload {
  readonly businessDate: string
}

/** Maps an account to a holder or an instrument, and its number under a keyed hash. */
export const maps = ({
  hash,
  ...owner
}: { readonly hash: string } & Partial<Pick<ExternalAccount, "holderId" | "instrumentId">>) =>
  Effect.gen(function* () {
    const records = yield* Records
    const by = yield* act
    const externalAccountId = `account-${hash.slice(-4)}` as ExternalAccount["externalAccountId"]
    yield* records.transact(
      Effect.gen(function* () {
        yield* Accounts.plants({ externalAccountId, kind: "custody", ...owner })
        yield* records.open(accountNumbers, { hash, currency: null, externalAccountId }, by)
      })
    )
  })

/** Deactivates the sources that the world began with, so that a test has those alone that it makes. */
export const alone = Effect.gen(function* () {
  const records = yield* Records
  const by = yield* act
  const found = yield* records.list(externalSources, { limit: 100 })
  yield* records.transact(
    Effect.forEach(found, ({ record }) =>
      records.append(externalSources, record, { on: "deactivate" }, by)
    )
  )
})
