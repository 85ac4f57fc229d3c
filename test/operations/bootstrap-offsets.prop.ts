/** Snapshots at the offsets of dealing days by chance: a venue that begins there ends as the one that never stopped. */
import { type Collection, Records } from "@bursar/engine-core"
import { Decimal, type Offset } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import { Effect, Stream, Struct } from "effect"
import { describe, expect, it } from "vitest"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { policyVersions } from "#core/instruments/policy/PolicyVersion.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { supplies } from "#core/instruments/register/Supply.ts"
import { dealingCycles } from "#core/orders/dealing-cycle/DealingCycle.ts"
import { type Redemption, redemptions } from "#core/orders/redemption/Redemption.ts"
import { type Subscription, subscriptions } from "#core/orders/subscription/Subscription.ts"
import { contracts } from "#core/projection/Contract.ts"
import { unexpectedFacts } from "#core/projection/Unexpected.ts"
import { walkSeed } from "../seeds.ts"
import * as Calls from "../engine/calls.ts"
import { instanceOn } from "../engine/world.ts"
import { isLong } from "../long-run.ts"
import { deal } from "../simulation/dealing.ts"
import { recordsTerms, type Terms } from "./terms-again.ts"

const days = isLong ? 3 : 2
const more = Array.from({ length: Number(process.env["SEEDS"] ?? 0) }, (_, n) => 700 + n)
/** The last is of the seed of the run; SEEDS takes so many more. */
const seeds = [...(isLong ? [4, ...more] : []), walkSeed(0)]
/** Every how many offsets a venue begins. */
const stride = isLong ? 1 : 19

const all = <R, F>(collection: Collection<R, F>) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(Stream.runCollect(records.stream(collection, {})), (rows) =>
      rows.map(({ record }) => record)
    )
  )

type Order = Subscription | Redemption

/** An instance over the same ledger that knows nothing before an offset, and reads no further than `end`. */
const beginning = (ledger: Ledger.Ledger["Service"], from: number, end: { offset: number }) =>
  instanceOn({
    ...ledger,
    horizon: Effect.sync(() => Math.min(from, end.offset) as Offset.Offset),
    ledgerEnd: Effect.sync(() => end.offset as Offset.Offset)
  })

/** State of the venue and its parties, which is the same for every reader of the ledger. */
const holds = Effect.gen(function* () {
  const entries = (yield* all(registerEntries)).filter(({ units }) => !Decimal.isZero(units))
  return {
    register: entries
      .map(
        ({ instrumentId, locked, party, units }) => `${instrumentId} ${party} ${units} ${locked}`
      )
      .toSorted(),
    supplies: (yield* all(supplies))
      .map(({ holders, instrumentId, units }) => `${instrumentId} ${units} ${holders}`)
      .toSorted(),
    contracts: (yield* all(contracts))
      .filter(({ archivedOffset }) => archivedOffset === null)
      .map(({ contractId }) => contractId)
      .toSorted()
  }
})

/** Facts of the ledger that no table allows, but for those of some orders. */
const surprisesBut = (orderIds: ReadonlySet<string>) =>
  Effect.map(all(unexpectedFacts), (facts) =>
    facts
      .filter(({ resourceId }) => !orderIds.has(resourceId))
      .map(
        ({ detail, on, resourceId, resourceKind }) =>
          `${resourceKind} ${resourceId} ${on}: ${detail}`
      )
  )

/**
 * Checks for an order in flight whose contract does not tell what its end depends on: the fee of a
 * redemption that was claimed under other terms, and whether the units of one by wire are burned.
 */
const isUntold = (found: Order | undefined, order: Order): boolean =>
  found?.recovered === true &&
  "redemptionId" in order &&
  "burnedAt" in found &&
  (found.policyVersion !== order.policyVersion ||
    (order.payment === "wire" && order.burnedAt !== null && found.burnedAt === null))

const ordersOf = Effect.gen(function* () {
  const bought = (yield* all(subscriptions)).map(
    (order) => [order.subscriptionId as string, order] as const
  )
  const sold = (yield* all(redemptions)).map(
    (order) => [order.redemptionId as string, order] as const
  )
  return new Map<string, Order>([...bought, ...sold])
})

/** Offsets at which the first contract of each order was created, and the last one archived. */
const spansOf = (
  all: ReadonlyArray<{ payload: unknown; createdOffset: number; archivedOffset: number | null }>
) => {
  const spans = new Map<string, { from: number; to: number }>()
  for (const { archivedOffset, createdOffset, payload } of all) {
    const { holdingCid: _, redemptionId, subscriptionId } = payload as Record<string, string>
    const id = subscriptionId ?? redemptionId
    if (id === undefined) continue
    const span = spans.get(id) ?? { from: Infinity, to: 0 }
    spans.set(id, {
      from: Math.min(span.from, createdOffset),
      to: Math.max(span.to, archivedOffset ?? Infinity)
    })
  }
  return spans
}

/** Members that only the records of the venue that never stopped have. */
const ownMembers = ["version", "createdAt", "updatedAt", "cash", "refunds", "refunded"] as const
/** Members that no contract of an order in flight tells. */
const untold = [
  ...ownMembers,
  "recovered",
  "claimedAt",
  "pricedAt",
  "deliveredAt",
  "fundedAt",
  "attestors",
  "attesting",
  "settleBy",
  "formerCycle",
  "cycleId"
] as const
/** Members that follow from the policy at the claim. */
const byPolicy = ["policyVersion", "fee", "feeRate", "residual", "refund"] as const

const compared = (order: Order, without: ReadonlyArray<string>) =>
  Struct.omit(order as unknown as Record<string, unknown>, without as never)

let begun = 0
let inFlight = 0
/** Orders in flight that are not compared, at all offsets. */
let leftOut = 0

const everyOffset = Effect.gen(function* () {
  const ledger = yield* Ledger.Ledger
  const last = yield* ledger.ledgerEnd
  const terms: Terms = {
    instrument: (yield* all(instruments)).find(({ instrumentId }) => instrumentId === "fund-a")!,
    versions: yield* all(policyVersions)
  }
  const [mine, orders] = [yield* holds, yield* ordersOf]
  const spans = spansOf((yield* all(contracts)) as never)
  const cycles = yield* all(dealingCycles)
  for (let from = 1; from <= last; from += stride) {
    begun += 1
    // Every other venue has recorded its terms before it reads the snapshot.
    const isFirst = begun % 2 === 0
    const end = { offset: isFirst ? 0 : (from as number) }
    yield* Effect.gen(function* () {
      yield* Calls.catchUp
      yield* recordsTerms(terms)
      end.offset = from
      yield* Calls.catchUp
      end.offset = last
      yield* Calls.catchUp
      expect(yield* holds, `from ${from}`).toEqual(mine)
      const theirs = yield* ordersOf
      const untoldIds = new Set(
        [...orders].filter(([id, order]) => isUntold(theirs.get(id), order)).map(([id]) => id)
      )
      leftOut += untoldIds.size
      expect(yield* surprisesBut(untoldIds), `from ${from}`).toEqual([])
      for (const [id, order] of orders) {
        const span = spans.get(id)!
        const found = theirs.get(id)
        const at = `${id} from ${from}, which was there from ${span.from} to ${span.to}`
        if (span.to <= from) {
          expect(found, at).toBeUndefined()
          continue
        }
        if (found === undefined) throw new Error(`there is no ${at}`)
        const isOurs = span.from > from
        if (!isOurs) inFlight += 1
        expect(found.recovered, at).toBe(!isOurs)
        if (untoldIds.has(id)) continue
        const without = isOurs
          ? ownMembers
          : found.policyVersion === order.policyVersion
            ? untold
            : [...untold, ...byPolicy]
        expect(compared(found, without), at).toEqual(compared(order, without))
      }
      expect(theirs.size).toBe([...spans.values()].filter(({ to }) => to > from).length)
      for (const cycle of yield* all(dealingCycles)) {
        const statedMembers = [
          "cycleId",
          "state",
          "endedAs",
          "cutOffAt",
          "settleBy",
          "orders",
          "gross",
          "gate",
          "fills",
          "price",
          "swungPrice"
        ] as const
        if (
          [...orders].some(([id, order]) => untoldIds.has(id) && order.cycleId === cycle.cycleId)
        ) {
          continue
        }
        const whole = cycles.find(({ cycleId }) => cycleId === cycle.cycleId)!
        expect(Struct.pick(cycle, statedMembers), `${cycle.cycleId} from ${from}`).toEqual(
          Struct.pick(whole, statedMembers)
        )
      }
    }).pipe(Effect.provide(beginning(ledger, from, end)))
  }
})

describe("a venue that begins with a snapshot of a dealing day", () => {
  for (const seed of seeds) {
    it(`has the register, the orders and the cash of the one that never stopped: seed ${seed}`, async () => {
      await Calls.runCase(deal({ seed, days }, everyOffset))
    })
  }

  it("begins at offsets with orders in flight", () => {
    expect([begun > 3, inFlight > 0 || !isLong]).toEqual([true, true])
    if (isLong) expect(4 * leftOut).toBeLessThanOrEqual(inFlight)
  })
})
