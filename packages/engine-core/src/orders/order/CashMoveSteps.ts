/**
 * Consequences of a correction and of an order's end for bank lines: a correction moves the cash that
 * orders took of the replaced statement to its own lines, and an order that ends without its cash
 * returns it (docs/domain/statements.md#corrections).
 */
import { Effect, Stream } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Act } from "../../records/Act.ts"
import * as Consequence from "../../records/Consequence.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  type ExternalStatement,
  externalStatements
} from "../../statements/external-statement/ExternalStatement.ts"
import type { CashEntry } from "../../statements/external-statement/StatementLine.ts"
import * as StatementLookups from "../../statements/external-statement/StatementLookups.ts"
import { redemptions } from "../redemption/Redemption.ts"
import { type Subscription, subscriptions } from "../subscription/Subscription.ts"
import * as Cash from "./CashLine.ts"
import * as Rules from "./CashMoveRules.ts"
import { movedToCopies, ordersOf, relocate, renamed, takingsOf } from "./CashCopySteps.ts"
import {
  entriesNamed,
  entriesOfLines,
  lockStatements,
  releaseReserved,
  takenOfAll,
  takenOfLines
} from "./CashSteps.ts"
import * as Taking from "./CashTaking.ts"

type StoredTaking = Stored<Taking.CashTaking>

/** Collects the entries of a statement that are wanted, in file order. */
const entriesOf = (statement: ExternalStatement, isWanted: (entry: Rules.Entry) => boolean) =>
  StatementLookups.linesOf(statement).pipe(
    Stream.filter((line): line is CashEntry => line.kind === "cash"),
    Stream.filter(isWanted),
    Stream.runCollect
  )

type Orders = Effect.Success<ReturnType<typeof ordersOf>>

/** Cash that an order still lacks, by direction: an earlier correction may have lost it. */
const lackingOf = ({ bought, sold }: Orders): Map<string, Decimal.Decimal> => {
  const ofCash = ({ cash }: { readonly cash: Cash.Cash }) =>
    Decimal.subtract(cash.expected ?? Decimal.zero, cash.matched)
  const ofRefund = ({ refund, refunds }: Subscription) =>
    Decimal.subtract(refund ?? Decimal.zero, Decimal.sum(refunds.map(({ amount }) => amount)))
  return new Map([
    ...bought.flatMap((self) => [
      [`cash/subscription/${self.subscriptionId}`, ofCash(self)] as const,
      [`refund/subscription/${self.subscriptionId}`, ofRefund(self)] as const
    ]),
    ...sold.map((self) => [`cash/redemption/${self.redemptionId}`, ofCash(self)] as const)
  ])
}

/** Cash of takings to look for in a correction. */
const soughtOf = Effect.fnUntraced(function* (
  takings: ReadonlyArray<StoredTaking>,
  entries: ReadonlyMap<number, Rules.Entry>
) {
  const records = yield* Records
  const taken = takings
    .flatMap((taking) =>
      taking.places.map(({ line, amount }) => {
        const entry = entries.get(line)
        if (entry === undefined) throw new Error(`a taking is of line ${line}, which is not there`)
        return { taking, entry, amount }
      })
    )
    .toSorted((a, b) => a.entry.line - b.entry.line)
  const losing = takings.filter(({ lost, state }) => state === "used" && Decimal.isPositive(lost))
  const first = losing.map(({ named }) => named)
  const statements = yield* records.many(externalStatements, [
    ...new Set(first.map(({ statementId }) => statementId))
  ])
  const named = yield* entriesNamed(first, statements)
  const lacking = lackingOf(yield* ordersOf(losing))
  const missing = losing.flatMap((taking) => {
    const key = `${taking.pays}/${Taking.orderKeyOf(taking)}`
    const left = lacking.get(key) ?? Decimal.zero
    const amount = Decimal.max(Decimal.zero, Decimal.min(taking.lost, left))
    const entry = named.get(Cash.nameOf(taking.named))
    if (entry === undefined || !Decimal.isPositive(amount)) return []
    lacking.set(key, Decimal.subtract(left, amount))
    return [{ taking, entry, amount }]
  })
  return { taken, missing }
})

/** Takings, or orders, whose records are loaded and written together. */
const batchMax = 500

const batchesOf = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / batchMax) }, (_, n) =>
    all.slice(n * batchMax, (n + 1) * batchMax)
  )

/**
 * Loads what orders took of entries of a correction by lines of other statements in force: what moves to
 * an entry is no more than it has left over all its copies.
 */
const takenElsewhere = Effect.fnUntraced(function* (
  statement: ExternalStatement,
  entries: ReadonlyArray<CashEntry>
) {
  const lines = entries.map((entry) => ({ statement, entry }))
  const facts = yield* entriesOfLines(lines)
  const taken = yield* takenOfLines([...facts.values()].flatMap(({ shared }) => [...shared]))
  return new Map(
    entries.map(({ line }) => {
      const name = Cash.nameOf({ statementId: statement.externalStatementId, line })
      const others = [...(facts.get(name)?.shared ?? [])].filter((other) => other !== name)
      return [line, takenOfAll(taken, others)] as const
    })
  )
})

/** Moves the cash that orders took of a replaced statement to the lines of its correction. */
const move = Effect.fnUntraced(function* (before: ExternalStatement, act: Act) {
  const records = yield* Records
  yield* lockStatements([before.externalStatementId])
  const takings = yield* takingsOf(before.externalStatementId)
  if (takings.length === 0 || before.supersededBy === null) return
  const after = yield* records
    .get(externalStatements, before.supersededBy)
    .pipe(Effect.catchTag("Refused", () => Effect.die(new Error("a correction is not there"))))
  const lines = new Set(takings.flatMap(({ places }) => places.map(({ line }) => line)))
  const held = yield* StatementLookups.cashAt(before, lines)
  const { taken: takenEntries, missing } = yield* soughtOf(
    takings,
    new Map(held.map((entry) => [entry.line, entry]))
  )
  const sought = [...takenEntries, ...missing].map(({ entry }) => entry)
  const keys = new Set(sought.flatMap((entry) => [Rules.sameOf(entry), Rules.bankKeyOf(entry)]))
  keys.delete(null)
  const isWanted = (entry: Rules.Entry) =>
    keys.has(Rules.sameOf(entry)) || keys.has(Rules.bankKeyOf(entry))
  const entries = yield* entriesOf(after, isWanted)
  const elsewhere = yield* takenElsewhere(after, entries)
  const found = Rules.moved({
    elsewhere,
    before: yield* entriesOf(before, isWanted),
    after: entries,
    takenEntries,
    missing
  })
  const amounts = new Map(entries.map(({ line, amount }) => [line, amount]))
  const results = [
    ...takenEntries.map(({ taking }, index) => ({ taking, moved: found.takenEntries[index] })),
    ...missing.map(({ taking }, index) => ({ taking, moved: found.missing[index] }))
  ]
  const placesOf = Map.groupBy(results, ({ taking }) => Taking.takingIdOf(taking))
  const statementId = after.externalStatementId
  const placesIn = (taking: Taking.CashTaking): ReadonlyArray<Taking.EntryPlace> =>
    (placesOf.get(Taking.takingIdOf(taking)) ?? []).flatMap(({ moved }) => moved?.places ?? [])
  // Takings that the correction has no line for: another statement may still state their entries.
  const dropped: Array<StoredTaking> = []
  for (const batch of batchesOf(takings)) {
    const touched = batch.flatMap((taking) => [
      ...Taking.linesOf(taking),
      ...Taking.linesOf({ statementId, places: placesIn(taking) })
    ])
    yield* records.prefetch(
      touched.map((line) => ({ collection: Taking.cashLines, id: Cash.nameOf(line) }))
    )
    for (const taking of batch) {
      const places = placesIn(taking)
      if (places.length === 0 && taking.places.length > 0) dropped.push(taking)
      else yield* relocate(taking, { statementId, places, amounts }, act)
    }
  }
  for (const taking of yield* movedToCopies(before, dropped, act)) {
    yield* relocate(taking, { statementId, places: [], amounts }, act)
  }
  const used = takings.filter(({ state }) => state === "used")
  const byOrder = [...Map.groupBy(used, Taking.orderKeyOf).values()]
  for (const batch of batchesOf(byOrder)) yield* renamed(batch.flat(), before, act)
})

const ofCorrection = Consequence.define({
  doc: "A correction of a statement of cash moves the cash that orders took to its own lines.",
  collection: externalStatements,
  concerns: ({ before, after }) =>
    after.kind === "cash" &&
    after.supersededBy !== null &&
    before?.supersededBy !== after.supersededBy
      ? { key: after.externalStatementId, subject: after }
      : null,
  follow: (concerned, act) =>
    Effect.forEach(concerned, (statement) => move(statement, act), { discard: true })
})

const givenUp = ["released", "withdrawn"]
const everyState = ["reserved", "used"] as const

const endedWithout = (
  order: Taking.Order,
  { state, payment }: { readonly state: string; readonly payment: string }
) =>
  payment === "wire" && givenUp.includes(state)
    ? { key: Taking.orderKeyOf(order), subject: order }
    : null

const follow = (concerned: ReadonlyArray<Taking.Order>, act: Act) =>
  Effect.forEach(concerned, (order) => releaseReserved(order, everyState, act), { discard: true })

const ofSubscription = Consequence.define({
  doc: "A subscription that ends without its cash returns it to the bank lines.",
  collection: subscriptions,
  concerns: ({ before, after }) =>
    before?.state === after.state
      ? null
      : endedWithout({ kind: "subscription", orderId: after.subscriptionId }, after),
  follow
})

const ofRedemption = Consequence.define({
  doc: "A redemption that ends without its cash returns it to the bank lines.",
  collection: redemptions,
  concerns: ({ before, after }) =>
    before?.state === after.state
      ? null
      : endedWithout({ kind: "redemption", orderId: after.redemptionId }, after),
  follow
})

export const consequences = [ofCorrection, ofSubscription, ofRedemption] as const
