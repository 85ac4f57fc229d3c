/**
 * Invariants of a dealing floor at any moment, computed from the records, the feed and the ledger.
 */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Feed } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { expect } from "vitest"
import { holds } from "#core/restraints/hold/Hold.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import { contracts } from "#core/projection/Contract.ts"
import { approvals } from "#core/writes/Approval.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import { amount, deliver, unitsBought } from "./dealing-floor.ts"

/**
 * Smallest parts of a decimal of so many places, read off its text without the engine's arithmetic.
 */
const parts = (text: string, places: number): bigint => {
  const [whole = "0", fraction = ""] = text.split(".")
  if (/[1-9]/u.test(fraction.slice(places))) throw new Error(`more than ${places} places`)
  return BigInt(whole + fraction.slice(0, places).padEnd(places, "0"))
}
const micros = (decimal: Decimal.Decimal) => parts(Decimal.formatPlain(decimal), 6)
const bought = parts(unitsBought, 6)
const limit = 1_000

/** All records of one moment, at the feed's head. */
const recordsNow = Effect.gen(function* () {
  const records = yield* Records
  const feed = yield* Feed
  const head = yield* feed.head
  const pin = {
    offset: head.projectionOffset as never,
    ledgerTime: null,
    select: { by: "snapshot" as const, instant: Instant.of(head.at) },
    judgedAt: yield* Instant.now
  }
  const { events } = yield* feed.read({ order: "asc", limit: 10_000 })
  return {
    head: head.seq,
    events: events.filter(({ seq }) => seq <= head.seq),
    operations: (yield* records.list(operations, { limit, pin })).map(({ record }) => record),
    approvals: (yield* records.list(approvals, { limit, pin })).map(({ record }) => record),
    orders: (yield* records.list(subscriptions, { limit, pin })).map(({ record }) => record),
    register: (yield* records.list(registerEntries, { limit, pin })).map(({ record }) => record),
    contracts: (yield* records.list(contracts, { limit, pin })).map(({ record }) => record),
    holds: (yield* records.list(holds, { limit, pin })).map(({ record }) => record)
  }
})
export type Seen = Effect.Success<typeof recordsNow>

const times = (some: ReadonlyArray<string>): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(some, (one) => one)].map(([one, all]) => [one, all.length]))

const none = (some: ReadonlyMap<string, number>, what: string) =>
  expect(
    [...some].filter(([, count]) => count > 1),
    what
  ).toEqual([])

const byParty = (some: ReadonlyArray<readonly [party: string, units: bigint]>) =>
  [...Map.groupBy(some, ([party]) => party)]
    .map(([party, all]) => [party, all.reduce((sum, [, units]) => sum + units, 0n)] as const)
    .filter(([, units]) => units !== 0n)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))

const unitsAddUp = ({ orders, register, contracts }: Seen) => {
  const delivered = orders.filter(({ state }) => state === "delivered" || state === "closed")
  for (const { units, subscriptionId } of delivered) {
    expect(units === null ? null : micros(units), `the units of ${subscriptionId}`).toBe(bought)
  }
  const owed = byParty(delivered.map(({ party }) => [party, bought]))
  const entries = register.map(({ party, units }) => [party, micros(units)] as const)
  expect(byParty(entries), "the register is what was delivered").toEqual(owed)
  const holdings = contracts.filter(
    ({ template, archivedOffset }) =>
      template === Templates.key(Templates.Holding.typeRef) && archivedOffset === null
  )
  const held = holdings.map(({ payload }) => {
    const { owner, amount: units } = payload as unknown as { owner: string; amount: unknown }
    return [owner, parts(String(units), 6)] as const
  })
  expect(byParty(held), "the ledger's holdings are what was delivered").toEqual(owed)
}

/** Kinds that a hold on everything stops: claiming, delivering and settling an order. */
const stopped = ["subscription.claim", "subscription.deliver", "subscription.settle"]

/**
 * Invariant: an operation that had not begun when a hold was first seen open does not succeed while
 * the hold is open. It is judged again when it begins, whatever was asked for or signed before.
 */
const nothingBeginsWhileHeld = ({ holds, operations }: Seen, begun: Begun) => {
  const acts = operations.filter(({ kind }) => stopped.includes(kind))
  for (const { holdId, state } of holds) {
    if (state !== "open") continue
    const before =
      begun.get(holdId) ??
      new Set(acts.filter((one) => one.state !== "queued").map(({ operationId }) => operationId))
    begun.set(holdId, before)
    const after = acts.filter((one) => one.state === "succeeded" && !before.has(one.operationId))
    expect(after, "an act was done while the instrument was held").toEqual([])
  }
}

/** For each hold that was seen open, the acts that had begun by then. */
export type Begun = Map<string, ReadonlySet<string>>

const endsOnce = ({ events, operations }: Seen) => {
  const named = (type: string) =>
    times(events.filter((one) => one.type === type).map(({ resourceId }) => resourceId))
  none(named("subscription.ended"), "an order ended twice")
  none(named("subscription.delivered"), "an order was delivered twice")
  const ended = events.filter(({ type }) => type.startsWith("operation."))
  const ids = times(
    ended.map(({ payload }) => String((JSON.parse(payload) as { operationId: string }).operationId))
  )
  none(ids, "an operation ended twice")
  const done = operations.filter(({ state }) => state === "succeeded" || state === "failed")
  expect([...ids.keys()].toSorted(), "each end was announced").toEqual(
    done.map(({ operationId }) => operationId).toSorted()
  )
  const succeeded = (kind: string) =>
    times(
      done
        .filter((one) => one.kind === kind && one.state === "succeeded")
        .map(({ resource }) => resource.id)
    )
  for (const verb of ["claim", "deliver", "settle", "withdraw", "release"]) {
    none(succeeded(`subscription.${verb}`), `an order took ${verb} twice`)
  }
}

const cashPaysOnce = ({ operations, orders }: Seen) => {
  const lines = orders.flatMap(({ cash }) => cash.lines)
  none(times(lines.map(({ statementId, line }) => `${statementId}:${line}`)), "a line paid twice")
  for (const { cash, subscriptionId } of orders) {
    expect(
      parts(Decimal.formatPlain(cash.matched), 2),
      `the cash of ${subscriptionId} is that of its lines`
    ).toBe(parts(amount, 2) * BigInt(cash.lines.length))
  }
  const delivered = operations.filter(
    ({ kind, state }) => kind === deliver.kind && state === "succeeded"
  )
  for (const { resource } of delivered) {
    const order = orders.find(({ subscriptionId }) => subscriptionId === resource.id)
    expect(order?.cash.lines.length, `${resource.id} was delivered for its cash`).toBe(1)
  }
}

const takesTwoPeople = ({ approvals, operations }: Seen) => {
  for (const one of approvals) {
    const signers = one.signatures.map(({ sub }) => sub)
    const ran = operations.filter(({ actionKey }) => actionKey === one.actionKey)
    expect(signers, "the maker signed").not.toContain(one.maker)
    expect(ran.length, "an action ran as often as it was approved").toBe(
      one.state === "approved" ? 1 : 0
    )
  }
  const alone = operations.filter(
    ({ kind, actionKey }) => kind === deliver.kind && actionKey === null
  )
  expect(alone, "a delivery ran without its action").toEqual([])
}

/** Checks the invariant for the operations under way; `begun` is kept between checks. */
export const audit = Effect.fnUntraced(function* (begun: Begun) {
  const now = yield* recordsNow
  expect(
    now.events.map(({ seq }) => seq),
    "the feed has a gap"
  ).toEqual(Array.from({ length: now.head }, (_, index) => index + 1))
  unitsAddUp(now)
  nothingBeginsWhileHeld(now, begun)
  endsOnce(now)
  cashPaysOnce(now)
  takesTwoPeople(now)
  return now
})

export const isAtRest = ({ operations }: Seen): boolean =>
  operations.every(({ state }) => state === "succeeded" || state === "failed")

/** Holds once everybody has stopped. */
export const close = Effect.fnUntraced(function* (begun: Begun) {
  const now = yield* audit(begun)
  const open = now.operations.filter(({ state }) => state === "queued" || state === "running")
  expect(open, "an operation never ended").toEqual([])
  for (const { state, cash, subscriptionId } of now.orders) {
    const isPaid = state === "delivered" || state === "closed"
    expect([subscriptionId, cash.lines.length]).toEqual([subscriptionId, isPaid ? 1 : 0])
  }
  return now
})
