/** A venue that was away while its ledger went on and forgot: it continues from a snapshot in its kept store. */
import { Decimal } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { Effect, Struct } from "effect"
import { describe, expect, it } from "vitest"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { lots } from "#core/instruments/lot/Lot.ts"
import { policyVersions } from "#core/instruments/policy/PolicyVersion.ts"
import { movements, partyMovements } from "#core/instruments/register/Movement.ts"
import { holdings } from "#core/instruments/register/Holding.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { supplies } from "#core/instruments/register/Supply.ts"
import { type Redemption, redemptions } from "#core/orders/redemption/Redemption.ts"
import { type Subscription, subscriptions } from "#core/orders/subscription/Subscription.ts"
import { contracts } from "#core/projection/Contract.ts"
import { lostRecords } from "#core/projection/LostRecord.ts"
import { unexpectedFacts } from "#core/projection/Unexpected.ts"
import { walkSeed } from "../seeds.ts"
import * as Calls from "../engine/calls.ts"
import { isLong } from "../long-run.ts"
import { deal } from "../simulation/dealing.ts"
import { all, instance, type Sight } from "./away.ts"
import { recordsTerms } from "./terms-again.ts"

const days = isLong ? 3 : 2
const more = Array.from({ length: Number(process.env["SEEDS"] ?? 0) }, (_, n) => 900 + n)
const seeds = [...(isLong ? [4, ...more] : []), walkSeed(0)]
/** Offsets between two at which a venue goes away: a short town has at least five of them. */
const strideOf = (last: number) => (isLong ? 3 : Math.min(41, Math.ceil(last / 5)))

type Order = Subscription | Redemption

const zeroless = ({ units }: { readonly units: Decimal.Decimal }) => !Decimal.isZero(units)

/** Figures of the register that are the same in every store that read the ledger. */
const holds = Effect.gen(function* () {
  const entries = (yield* all(registerEntries)).filter(zeroless)
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
      .toSorted(),
    holdings: (yield* all(holdings))
      .filter(({ endedOffset }) => endedOffset === null)
      .map(({ amount, contractId, owner }) => `${contractId} ${owner} ${amount}`)
      .toSorted()
  }
})

/** The books that a store keeps of its own history add up to its register. */
const addsUp = (at: string) =>
  Effect.gen(function* () {
    const byParty = new Map<string, Decimal.Decimal>()
    const add = (key: string, units: Decimal.Decimal) =>
      byParty.set(key, Decimal.add(byParty.get(key) ?? Decimal.zero, units))
    for (const { from, instrumentId, reference, to, units, updateId } of yield* all(movements)) {
      // Which acts moved units in the gap is unknown: no giver is paired with a receiver.
      if (updateId === "snapshot") {
        expect([from === to || from === null || to === null, reference], at).toEqual([true, null])
      }
      if (from === to) continue
      if (from !== null) add(`${instrumentId} ${from}`, Decimal.negate(units))
      if (to !== null) add(`${instrumentId} ${to}`, units)
    }
    const ofLots = new Map<string, Decimal.Decimal>()
    for (const { instrumentId, party, remaining } of yield* all(lots)) {
      const key = `${instrumentId} ${party}`
      ofLots.set(key, Decimal.add(ofLots.get(key) ?? Decimal.zero, remaining))
    }
    const shown = (sums: ReadonlyMap<string, Decimal.Decimal>) =>
      [...sums]
        .filter(([, units]) => !Decimal.isZero(units))
        .map(([key, units]) => `${key} ${units}`)
        .toSorted()
    const entries = (yield* all(registerEntries))
      .filter(zeroless)
      .map(({ instrumentId, party, units }) => `${instrumentId} ${party} ${units}`)
      .toSorted()
    expect(shown(byParty), `movements ${at}`).toEqual(entries)
    expect(shown(ofLots), `lots ${at}`).toEqual(entries)
    const last = new Map<string, Decimal.Decimal>()
    const ordered = (yield* all(partyMovements)).toSorted((a, b) => a.seq - b.seq)
    for (const { balanceAfter, instrumentId, party } of ordered) {
      last.set(`${instrumentId} ${party}`, balanceAfter)
    }
    expect(shown(last), `balances ${at}`).toEqual(entries)
  })

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

/** Members that only the venue that never stopped can have: of its store, or of an act in the gap. */
const ownMembers = ["version", "createdAt", "updatedAt", "cash", "refunds", "refunded"] as const
const inGap = [
  "pricedAt",
  "deliveredAt",
  "fundedAt",
  "burnedAt",
  "valueDate",
  "attestors",
  "attesting",
  "settleBy",
  "formerCycle",
  "cycleId",
  "deliveredUid"
] as const
const byPolicy = ["policyVersion", "fee", "feeRate", "residual", "refund"] as const
const claimedInGap = [...ownMembers, ...inGap, ...byPolicy, "recovered", "claimedAt"]

const compared = (order: Order, without: ReadonlyArray<string>) =>
  Struct.omit(order as unknown as Record<string, unknown>, without as never)

/**
 * Checks for a redemption in flight of which no contract tells whether its units were burned in the gap, and
 * for one claimed in it under other terms than those at the creation of its contract.
 */
const isUntold = (found: Order | undefined, order: Order): boolean =>
  found !== undefined &&
  "burnedAt" in found &&
  "burnedAt" in order &&
  ((found.recovered && found.policyVersion !== order.policyVersion) ||
    (order.payment === "wire" && order.burnedAt !== null && found.burnedAt === null))

let begun = 0
let inFlight = 0
let lostOnes = 0
let leftOut = 0
let unburned = 0

const everyOffset = Effect.gen(function* () {
  const ledger = yield* Ledger.Ledger
  const last = yield* ledger.ledgerEnd
  const terms = {
    instrument: (yield* all(instruments)).find(({ instrumentId }) => instrumentId === "fund-a")!,
    versions: yield* all(policyVersions)
  }
  const [mine, orders] = [yield* holds, yield* ordersOf]
  const stride = strideOf(last)
  const spans = spansOf((yield* all(contracts)) as never)
  for (let stop = 1 + (begun % stride); stop < last; stop += stride) {
    begun += 1
    // The venue comes back somewhere in between, and follows the rest.
    const back = stop + 1 + ((stop * 7919) % (last - stop))
    const sight: Sight = { end: 0, horizon: 0 }
    const at = `from ${stop} to ${back} of ${last}`
    yield* Effect.gen(function* () {
      yield* Calls.catchUp
      yield* recordsTerms(terms)
      sight.end = stop
      yield* Calls.catchUp
      const ordersBefore = yield* ordersOf
      sight.end = back
      sight.horizon = back
      yield* Calls.catchUp
      yield* addsUp(at)
      // The engine releases none of which nobody knows whether its units were burned.
      const priced = (yield* all(redemptions)).filter(
        ({ lost, state, unitsAllocation }) =>
          state === "priced" && unitsAllocation === null && !lost
      )
      expect(
        priced.map(({ settleBy }) => settleBy),
        at
      ).toEqual(priced.map(() => null))
      unburned += priced.length
      sight.end = last
      yield* Calls.catchUp
      expect(yield* holds, at).toEqual(mine)
      yield* addsUp(at)
      const theirs = yield* ordersOf
      const untold = new Set(
        [...orders].filter(([id, order]) => isUntold(theirs.get(id), order)).map(([id]) => id)
      )
      expect(
        (yield* all(unexpectedFacts))
          .filter(({ resourceId }) => !untold.has(resourceId))
          .map(({ detail, on, resourceId }) => [on, resourceId, detail]),
        at
      ).toEqual([])
      const lost = new Set(
        (yield* all(lostRecords))
          .filter(({ collection }) => ["subscription", "redemption"].includes(collection))
          .map(({ recordId }) => recordId)
      )
      for (const [id, order] of orders) {
        const span = spans.get(id)!
        const found = theirs.get(id)
        const which = `${id} (${span.from} to ${span.to}) ${at}`
        if (span.from > stop && span.to <= back) {
          expect(found, which).toBeUndefined()
          continue
        }
        if (found === undefined) throw new Error(`there is no ${which}`)
        const isLost = span.from <= stop && span.to > stop && span.to <= back
        expect([found.lost, lost.has(id)], which).toEqual([isLost, isLost])
        expect(found.recovered, which).toBe(span.from > stop && span.from <= back)
        if (isLost) {
          lostOnes += 1
          // It is in no list of open orders, of any cycle, and waits for nobody.
          const { filters, waitingOn } = "subscriptionId" in found ? subscriptions : redemptions
          expect(
            [filters["open"]?.(found as never), filters["cycleId"]?.(found as never)],
            which
          ).toEqual([null, null])
          expect(waitingOn(found as never), which).toEqual([])
          const { lost: _, ...before } = ordersBefore.get(id)!
          expect(compared(found, ["version", "updatedAt", "lost"]), which).toEqual(
            compared(before as Order, ["version", "updatedAt"])
          )
          continue
        }
        if (span.from <= stop && span.to > back) inFlight += 1
        if (untold.has(id)) {
          leftOut += 1
          continue
        }
        const without =
          span.from > back || span.to <= stop
            ? ownMembers
            : span.from > stop
              ? claimedInGap
              : [...ownMembers, ...inGap]
        expect(compared(found, without), which).toEqual(compared(order, without))
      }
    }).pipe(Effect.provide(instance(ledger, { sight, storage: Memory.layer })))
  }
})

describe("a venue that was away while its ledger went on and forgot", () => {
  for (const seed of seeds) {
    it(`has the register and the orders of the one that never stopped, and says of which it lost the end: seed ${seed}`, async () => {
      await Calls.runCase(deal({ seed, days }, everyOffset))
    })
  }

  it("was away with orders in flight", () => {
    expect(begun > 3).toBe(true)
    if (isLong)
      expect([inFlight > 0, lostOnes > 0, unburned > 0, 4 * leftOut <= inFlight]).toEqual([
        true,
        true,
        true,
        true
      ])
  })
})
