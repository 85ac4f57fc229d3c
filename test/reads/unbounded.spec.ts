/** Look-ups among very many records find the right one, at whatever place it is. */
import { Queries, Records } from "@bursar/engine-core"
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import type { Collection } from "#core/kernel/Collection.ts"
import { holdings } from "#core/instruments/register/Holding.ts"
import { contracts } from "#core/projection/Contract.ts"
import { type DealingCycle, dealingCycles } from "#core/orders/dealing-cycle/DealingCycle.ts"
import { provisionOf } from "#core/orders/dealing-cycle/ProvisionLookups.ts"
import { aroundOf } from "#core/orders/dealing-cycle/CycleSettlementLookups.ts"
import { provisionSettlements } from "#core/orders/provision-settlement/ProvisionSettlement.ts"
import { liveMarket } from "#core/orders/primary-market/PrimaryMarketLookups.ts"
import { primaryMarkets } from "#core/orders/primary-market/PrimaryMarket.ts"
import {
  standingParties,
  standingSettlements
} from "#core/orders/standing-settlement/StandingSettlement.ts"
import * as StandingSettlementQueries from "#core/orders/standing-settlement/StandingSettlementQueries.ts"
import { person } from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { opened } from "../machines/dealing-cycles.ts"
import { id, party } from "../machines/subscriptions.ts"

const inWorld = <A, E>(effect: Effect.Effect<A, E, Records | Queries>) =>
  Effect.runPromise(effect.pipe(Effect.provide(world()), Effect.scoped))

const t0 = Instant.of("2026-07-31T20:00:00Z")
const secondsAfter = (nth: number) => Instant.fromNanos(t0 + BigInt(nth) * 1_000_000_000n)
const act = { cause: { by: "run", runId: "seed" } as const, now: t0 }
const digits = (nth: number) => String(nth).padStart(6, "0")

const all = <R, F>(collection: Collection<R, F>, records: ReadonlyArray<NoInfer<R>>) =>
  Effect.flatMap(Records, ({ open, transact }) =>
    transact(Effect.forEach(records, (one) => open(collection, one, act), { discard: true }))
  )
const many = <A>(count: number, make: (nth: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, nth) => make(nth))

const instrumentId = id<"InstrumentId">("fund-a")
const fund = party("fund")
const paymentAsset = { admin: party("bank"), id: "USD" }

const cycle = (cycleId: string, cutOffAt: Instant.Instant): DealingCycle => ({
  ...opened,
  cycleId: id(cycleId),
  instrumentId,
  cutOffAt,
  settleBy: Instant.of("2999-01-02T00:00:00Z"),
  openedAt: t0,
  fund,
  paymentAsset
})

describe("among more than are looked at in one go", () => {
  it("the cycles are found in the order of their cut-offs", () =>
    inWorld(
      Effect.gen(function* () {
        // The lower its id, the later its cut-off, and all of them are still to come.
        const from = Instant.of("2999-01-01T00:00:00Z")
        const at = (nth: number) => Instant.fromNanos(from + BigInt(nth) * 1_000_000_000n)
        const cycles = many(700, (nth) => ({
          ...cycle(`c${digits(699 - nth)}`, at(nth)),
          acceptsOrders: nth !== 600
        }))
        yield* all(dealingCycles, cycles)
        const around = (nth: number) =>
          Effect.map(aroundOf(cycle("c", at(nth)), at(nth + 1)), ({ earlier, next }) => [
            earlier?.cutOffAt ?? null,
            next?.cutOffAt ?? null
          ])
        expect(yield* around(0)).toEqual([null, at(1)])
        // The next one's cut-off has passed: what is left over joins no other.
        expect(yield* around(599)).toEqual([at(0), null])
        expect(yield* around(650)).toEqual([at(0), at(651)])
        expect(yield* around(699)).toEqual([at(0), null])
      })
    ))

  it("the market that is active is found behind those that have ended", () =>
    inWorld(
      Effect.gen(function* () {
        const marketCid = (nth: number) => `aa${digits(nth)}`
        yield* all(
          primaryMarkets,
          many(600, (nth) => ({
            marketId: `m${digits(nth)}`,
            instrumentId,
            registrar: party("registrar"),
            fund,
            paymentAsset,
            terms: { attestors: [], required: 1, oracle: party("oracle") },
            state: "ended" as const,
            acceptedBy: [],
            proposedAt: t0,
            offset: Offset.of(nth + 1),
            from: t0,
            until: null,
            endedAt: t0,
            proposalCid: null,
            marketCid: marketCid(nth)
          }))
        )
        yield* all(
          contracts,
          many(600, (nth) => ({
            contractId: marketCid(nth),
            template: "a:b:c",
            packageId: "p",
            payload: {},
            signatories: [],
            observers: [],
            contractCreatedAt: t0,
            createdOffset: Offset.of(nth + 1),
            archivedOffset: nth === 3 || nth === 5 ? null : Offset.of(10_000)
          }))
        )
        const live = (isFit: (cid: string | null) => boolean) =>
          liveMarket(instrumentId, (market) => isFit(market.marketCid))
        expect(yield* live(() => true)).toEqual({ marketCid: marketCid(5) })
        expect(yield* live((cid) => cid !== marketCid(5))).toEqual({ marketCid: marketCid(3) })
        expect(yield* live((cid) => cid === marketCid(4))).toBeNull()
      })
    ))

  it("a fund that has the cash is not short of it, nor drawn on beyond its consent", () =>
    inWorld(
      Effect.gen(function* () {
        const cid = (nth: number) => `bb${digits(nth)}`
        // Seven hundred of one each, one of a thousand that comes last, and one that is locked.
        const lock = { holders: [fund], context: "c", expiresAt: null }
        yield* all(
          holdings,
          many(702, (nth) => ({
            contractId: cid(nth),
            registrar: paymentAsset.admin,
            instrumentId: paymentAsset.id,
            owner: fund,
            amount: Decimal.of(nth === 700 ? "1000" : nth === 701 ? "5000" : "1"),
            lock: nth === 701 ? lock : null,
            endedOffset: null
          }))
        )
        // The only one that reaches as far is the oldest of very many.
        yield* all(
          provisionSettlements,
          many(600, (nth) => ({
            provisionSettlementId: `p${digits(nth)}`,
            instrumentId,
            fund,
            paymentAsset,
            limit: Decimal.of(nth === 0 ? "2000" : "10"),
            until: null,
            state: "agreed" as const,
            proposedAt: t0,
            offset: Offset.of(nth + 1),
            agreedAt: t0,
            endedAt: null,
            proposalCid: null,
            provisionCid: `cc${digits(nth)}`
          }))
        )
        const drawn = (amount: string, most = 2_000) =>
          Effect.map(
            provisionOf(cycle("c", secondsAfter(1)), { amount: Decimal.of(amount), most }),
            (provision) => [provision?.provisionCid, provision?.holdingCids]
          )
        expect(yield* drawn("0")).toEqual([undefined, undefined])
        expect(yield* drawn("10")).toEqual([`cc${digits(599)}`, [cid(700)]])
        expect(yield* drawn("1000")).toEqual([`cc${digits(0)}`, [cid(700)]])
        const scattered = [cid(700), ...many(30, cid)]
        expect(yield* drawn("1030")).toEqual([`cc${digits(0)}`, scattered])
        expect(yield* drawn("1700")).toEqual([`cc${digits(0)}`, [cid(700), ...many(700, cid)]])
        expect(yield* drawn("1700.01")).toEqual([undefined, undefined])
        expect(yield* drawn("2000.01")).toEqual([undefined, undefined])
        // With a limit below the holdings needed it returns the limit's number, so that the gate
        // refuses the transaction for its size.
        expect(yield* drawn("1030", 20)).toEqual([`cc${digits(0)}`, scattered.slice(0, 20)])
      })
    ))

  it("an investor's own are listed, and no other's", () =>
    inWorld(
      Effect.gen(function* () {
        const name = (nth: number) => id<"StandingSettlementId">(`s${digits(nth)}`)
        yield* all(
          standingParties,
          many(1_200, (nth) => ({
            standingSettlementId: name(nth),
            holderId: id<"HolderId">("h1")
          }))
        )
        yield* all(
          standingSettlements,
          [3, 1_100, 1_199, 1_200].map((nth) => ({
            standingSettlementId: name(nth),
            instrumentId,
            registrar: party("registrar"),
            fund,
            paymentAsset,
            state: "closed" as const,
            parties: [],
            funding: [],
            committed: [],
            allocations: [],
            iterations: 0,
            lastSettledAt: null,
            deadline: null,
            expiresAt: secondsAfter(1),
            proposedAt: t0,
            openedAt: t0,
            endedAt: t0,
            standingCid: null
          }))
        )
        const queries = yield* Queries
        const { value } = yield* queries.page(StandingSettlementQueries.list, {
          caller: { ...person("ines", "investor"), holderId: "h1" },
          params: {},
          point: {},
          page: { limit: 10 }
        })
        expect(value.map((one) => one.standingSettlementId)).toEqual([3, 1_100, 1_199].map(name))
      })
    ))
})
