/**
 * Step of a retention run: the lines and the bytes of statements past their period, of which the
 * header stays (docs/domain/statements.md#retention).
 */
import { Effect, Option, Stream } from "effect"
import * as Retention from "../../engine/Retention.ts"
import { Settings } from "../../engine/Settings.ts"
import type { RetentionStep } from "../../feeds/RetentionSteps.ts"
import { findings } from "../../findings/Finding.ts"
import { externalAccounts } from "../../holders/external-account/ExternalAccount.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as CashCopySteps from "../../orders/order/CashCopySteps.ts"
import * as Part from "../../orders/order/CashLinePart.ts"
import { lockStatements } from "../../orders/order/CashSteps.ts"
import { type CashTaking, cashTakings } from "../../orders/order/CashTaking.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import type { Act } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { externalSources } from "../../statements/external-source/ExternalSource.ts"
import {
  dateKeyOf,
  dayKeyOf,
  type ExternalStatement,
  externalStatements,
  statementsOfDates
} from "../../statements/external-statement/ExternalStatement.ts"
import * as StageSteps from "../../statements/external-statement/StageSteps.ts"
import {
  type StatementFeed,
  feedKeyOf,
  latestOf
} from "../../statements/external-statement/StatementLookups.ts"
import * as Rules from "./StatementRetentionRules.ts"

/** Statements that are judged in one transaction, which locks the lines of those of cash. */
const batchMax = 100

interface StoredDatedStatement extends Rules.DatedStatement {
  readonly statement: Stored<ExternalStatement>
}

/** Joins statements with the one in force of their date; one without its slot is left out, and stays. */
const withCurrentStatement = Effect.fnUntraced(function* (
  statements: ReadonlyArray<Stored<ExternalStatement>>
) {
  const records = yield* Records
  const slots = yield* records.many(statementsOfDates, [...new Set(statements.map(dateKeyOf))])
  const idOf = new Map(slots.map((slot) => [dateKeyOf(slot), slot.externalStatementId]))
  const found = yield* records.many(externalStatements, [...idOf.values()])
  const inForce = new Map(found.map((self) => [self.externalStatementId as string, self]))
  return statements.flatMap((statement): ReadonlyArray<StoredDatedStatement> => {
    const statementInForce = inForce.get(idOf.get(dateKeyOf(statement)) ?? "")
    return statementInForce === undefined ? [] : [{ statement, inForce: statementInForce }]
  })
})

/**
 * Finds the ids of the newest statements in force of sources and instruments. A source names the date of
 * its newest statement of any instrument, so that only an instrument without one of that date needs a
 * look-up of its own, and a source of cash, which may have several statements of that date.
 */
const newestIdsOf = Effect.fnUntraced(function* (
  feeds: ReadonlyArray<StatementFeed & Pick<ExternalStatement, "kind">>
) {
  const records = yield* Records
  const sources = yield* records.many(externalSources, [
    ...new Set(feeds.map(({ externalSourceId }) => externalSourceId))
  ])
  const lastOf = new Map<string, Date.Date | null>(
    sources.map(({ externalSourceId, lastBusinessDate }) => [externalSourceId, lastBusinessDate])
  )
  const slotIds = feeds.flatMap(({ externalSourceId, instrumentId, kind }) => {
    const businessDate = lastOf.get(externalSourceId) ?? null
    return businessDate === null || kind === "cash"
      ? []
      : [dateKeyOf({ externalSourceId, instrumentId, businessDate })]
  })
  const slots = yield* records.many(statementsOfDates, slotIds)
  const isFound = new Set(slots.map(feedKeyOf))
  const others = yield* Effect.forEach(
    feeds.filter((feed) => !isFound.has(feedKeyOf(feed))),
    (feed) => latestOf(feed)
  )
  return new Set<string>([
    ...slots.map(({ externalStatementId }) => externalStatementId),
    ...others.flatMap((found) => (Option.isSome(found) ? [found.value.externalStatementId] : []))
  ])
})

/** Leaves out the newest statement of a source and an instrument: every run compares it. */
const olderThanNewest = Effect.fnUntraced(function* (judged: ReadonlyArray<StoredDatedStatement>) {
  const feeds = new Map(judged.map(({ inForce }) => [feedKeyOf(inForce), inForce]))
  const newest = yield* newestIdsOf([...feeds.values()])
  return judged.filter(({ inForce }) => !newest.has(inForce.externalStatementId))
})

/** Leaves out what findings of the instruments need. */
const withoutFindings = Effect.fnUntraced(function* (judged: ReadonlyArray<StoredDatedStatement>) {
  const records = yield* Records
  const instrumentIds = [...new Set(judged.map(({ statement }) => statement.instrumentId))]
  const found = yield* records
    .stream(findings, { where: { instrumentId: instrumentIds, state: ["open", "accepted"] } })
    .pipe(
      Stream.map(({ record: { firstSeenAt, state, statementId } }) => ({
        firstSeenAt,
        state,
        statementId
      })),
      Stream.filter(({ statementId }) => statementId !== null),
      Stream.runCollect
    )
  const ids = new Set(found.flatMap(({ statementId }) => statementId ?? []))
  const statements = yield* records.many(externalStatements, [...ids])
  const named = new Map(statements.map((self) => [self.externalStatementId as string, self]))
  const needed = Rules.neededBy(found, named)
  return judged.filter((each) => !Rules.isNeeded(each, needed))
})

/** Parts of lines that are looked up together. */
const partsMax = 500

/**
 * Leaves out statements of cash with a line that orders have not taken whole: the check of unmatched
 * lines finds it. No order takes of a statement of an account that is kept apart.
 */
const matched = Effect.fnUntraced(function* (judged: ReadonlyArray<StoredDatedStatement>) {
  const records = yield* Records
  const ofCash = new Map(
    judged
      .filter(({ inForce }) => inForce.kind === "cash")
      .map(({ inForce }) => [inForce.externalStatementId as string, inForce])
  )
  const accountIds = [...ofCash.values()].flatMap((self) => self.externalAccountId ?? [])
  const accounts = yield* records.many(externalAccounts, [...new Set(accountIds)])
  const apart = new Set(
    accounts.filter(({ segregated }) => segregated).map((self): string => self.externalAccountId)
  )
  const isCompared = ({ externalAccountId }: ExternalStatement) =>
    !apart.has(externalAccountId ?? "")
  const parts = [...ofCash.values()].filter(isCompared).flatMap((statement) =>
    Array.from({ length: Part.partsOf(statement.lineCount) }, (_, part) => ({
      statement,
      id: Part.idOf({ statementId: statement.externalStatementId, part })
    }))
  )
  const open = new Set<string>()
  for (let from = 0; from < parts.length; from += partsMax) {
    const some = parts.slice(from, from + partsMax)
    const found = yield* records.many(
      Part.cashLineParts,
      some.map(({ id }) => id)
    )
    const byId = new Map(found.map((part) => [Part.idOf(part), part]))
    for (const { id, statement } of some) {
      const part = byId.get(id)
      const isOpen = part === undefined || Part.openSpanOf(part, statement) !== null
      if (isOpen) open.add(statement.externalStatementId)
    }
  }
  return judged.filter(({ inForce }) => !open.has(inForce.externalStatementId))
})

/** Takings whose orders are looked up together. */
const takingsMax = 500

/** Statements that takings keep: of an order that has not ended, or that lost cash to a correction. */
const owingOf = Effect.fnUntraced(function* (takings: ReadonlyArray<CashTaking>) {
  const records = yield* Records
  const idsOf = (kind: CashTaking["kind"]) => [
    ...new Set(takings.filter((taking) => taking.kind === kind).map(({ orderId }) => orderId))
  ]
  const bought = yield* records.many(subscriptions, idsOf("subscription"))
  const sold = yield* records.many(redemptions, idsOf("redemption"))
  const ended = new Set([
    ...bought
      .filter(({ endedAt }) => endedAt !== null)
      .map(({ subscriptionId }) => `subscription/${subscriptionId}`),
    ...sold
      .filter(({ endedAt }) => endedAt !== null)
      .map(({ redemptionId }) => `redemption/${redemptionId}`)
  ])
  return takings
    .filter(
      ({ kind, lost, orderId, state }) =>
        state === "reserved" || Decimal.isPositive(lost) || !ended.has(`${kind}/${orderId}`)
    )
    .map(({ statementId }): string => statementId)
})

/**
 * Leaves out statements of cash whose lines have cash of an order that has not ended, or that lost
 * cash to a correction. Locks the others, so that no order takes of them meanwhile.
 */
const withoutOpenOrders = Effect.fnUntraced(function* (
  judged: ReadonlyArray<StoredDatedStatement>
) {
  const records = yield* Records
  const ofCash = judged.filter(({ statement }) => statement.kind === "cash")
  if (ofCash.length === 0) return judged
  const ids = [...new Set(ofCash.map(({ inForce }): string => inForce.externalStatementId))]
  yield* lockStatements(ids)
  const owing = new Set<string>()
  yield* records.stream(cashTakings, { where: { statementId: ids } }).pipe(
    Stream.map(({ record }) => record),
    Stream.filter(({ statementId }) => !owing.has(statementId)),
    Stream.grouped(takingsMax),
    Stream.runForEach((takings) =>
      Effect.map(owingOf(takings), (found) => {
        for (const statementId of found) owing.add(statementId)
      })
    )
  )
  return judged.filter(({ inForce }) => !owing.has(inForce.externalStatementId))
})

/** Leaves out what runs, findings and orders need. The lines of the others are locked from then on. */
const deletable = Effect.fnUntraced(function* (due: ReadonlyArray<StoredDatedStatement>) {
  const compared = yield* olderThanNewest(due)
  return yield* matched(yield* withoutOpenOrders(yield* withoutFindings(compared)))
})

/** Loads the ids of the statements of cash in force of the days of statements, by the key of the day. */
const daysOf = Effect.fnUntraced(function* (judged: ReadonlyArray<StoredDatedStatement>) {
  const records = yield* Records
  const ofCash = judged.filter(({ inForce }) => inForce.kind === "cash")
  const feed = [...new Set(ofCash.map(({ inForce }) => feedKeyOf(inForce)))]
  const businessDate = [...new Set(ofCash.map(({ inForce }) => inForce.businessDate))]
  if (feed.length === 0) return new Map<string, ReadonlyArray<string>>()
  const slots = yield* records.stream(statementsOfDates, { where: { feed, businessDate } }).pipe(
    Stream.map(({ record }) => record),
    Stream.runCollect
  )
  return new Map(
    [...Map.groupBy(slots, dayKeyOf)].map(([key, day]): [string, ReadonlyArray<string>] => [
      key,
      day.map(({ externalStatementId }) => externalStatementId)
    ])
  )
})

/**
 * Leaves out statements of cash whose entries could pay again once their lines are deleted, and moves
 * what orders took of the others to the copies that stay. The statements of a day go together: of equal
 * entries of a day the first ones are told from the others by those before them.
 */
const handedOver = Effect.fnUntraced(function* (
  judged: ReadonlyArray<StoredDatedStatement>,
  act: Act
) {
  const days = yield* daysOf(judged)
  const wholeDays = (some: ReadonlyArray<StoredDatedStatement>) => {
    const ids = new Set<string>(some.map(({ inForce }) => inForce.externalStatementId))
    return some.filter(
      ({ inForce }) => days.get(dayKeyOf(inForce))?.every((id) => ids.has(id)) ?? true
    )
  }
  let going = wholeDays(judged)
  for (;;) {
    const ofCash = going.flatMap(({ inForce }) => (inForce.kind === "cash" ? [inForce] : []))
    const unique = new Map(ofCash.map((self) => [self.externalStatementId as string, self]))
    const prunables = yield* CashCopySteps.prunables([...unique.values()])
    const left = wholeDays(
      going.filter(
        ({ inForce }) => inForce.kind !== "cash" || prunables.ids.has(inForce.externalStatementId)
      )
    )
    if (left.length === going.length) {
      yield* CashCopySteps.handOver(prunables, act)
      return left
    }
    // A statement that stays may hold copies of the others' entries: judged again until no more stay.
    going = left
  }
})

/** Statements of cash of a date that are judged with those of a batch which ends within the date. */
const restMax = 1_000

/** Loads the statements of cash after a batch that are of its last date, so that no day is cut. */
const restOfDate = Effect.fnUntraced(function* ({
  record,
  sortKey
}: {
  readonly record: ExternalStatement
  readonly sortKey: string
}) {
  const records = yield* Records
  const rows = yield* records.list(externalStatements, {
    where: { kept: ["kept"], kind: ["cash"], businessDate: [record.businessDate] },
    limit: restMax,
    after: sortKey
  })
  return rows.map(({ record: each }) => each)
})

/**
 * Step: marks statements as pruned and queues the deletion of their lines and bytes, which follows
 * once the reads that began before have ended. A replaced statement goes with the one in force.
 */
const statementsStep: RetentionStep = {
  kind: "externalStatements",
  run: Effect.fnUntraced(function* ({ now: began, after }) {
    const records = yield* Records
    const { retention, legalHold } = yield* Settings
    const before = Retention.dueBefore(began, retention.externalStatements)
    if (before === undefined) return { counts: {}, after: null }
    const rows = yield* records.list(externalStatements, {
      where: { kept: ["kept"] },
      limit: batchMax,
      ...(after === null ? {} : { after })
    })
    const last = rows.at(-1)
    const rest = last === undefined || rows.length < batchMax ? [] : yield* restOfDate(last)
    const due = (yield* withCurrentStatement([
      ...rows.map(({ record }) => record),
      ...rest
    ])).filter((each) => Rules.isDue(each, { before, legalHold }))
    const judged = due.length === 0 ? [] : yield* deletable(due)
    const now = yield* Instant.now
    const act = { cause: { by: "clock" }, now } as const
    const released = yield* handedOver(judged, act)
    for (const { statement } of released) {
      yield* records.append(externalStatements, statement, { on: "prune", at: now }, act)
    }
    yield* records.enqueue(released.map(({ statement }) => StageSteps.sweepOfPruned(statement)))
    const isOver =
      last === undefined ||
      rows.length < batchMax ||
      Date.isAfter(last.record.businessDate, Rules.lastDateBefore(before))
    return {
      counts: { externalStatements: released.length },
      after: isOver ? null : last.sortKey
    }
  })
}

export const steps: ReadonlyArray<RetentionStep> = [statementsStep]
