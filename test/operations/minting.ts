/** Kit of mints and reserve redemptions: started by the venue, accepted from wallets, settled by the engine. */
import { Records, Workers } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { mints } from "#core/reserves/reserve-order/Mint.ts"
import { reserveRedemptions } from "#core/reserves/reserve-order/ReserveRedemption.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Backed from "./backed.ts"
import * as Cycles from "./cycles.ts"
import type * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

type Body = Readonly<Record<string, Calls.Json>>

/** A reserve of cash and bills that may be locked, with a price of the bills. */
export const opened = (
  options: {
    readonly terms?: Parameters<typeof Backed.termsOf>[1]
    readonly body?: Body
    readonly instrument?: Body
    readonly price?: string | null
  } = {}
) =>
  Effect.gen(function* () {
    const scene = yield* Backed.opened(options.instrument)
    const terms = Backed.termsOf(scene, options.terms)
    yield* Backed.reserved(scene, { terms, ...options.body })
    for (const asset of [scene.usd, scene.bill]) yield* Backed.locked(scene, { asset })
    if (options.price !== null) yield* Backed.prices(scene, options.price ?? "2.1")
    return scene
  })

export interface Minting {
  readonly mintId: string
  readonly asset: Templates.Asset
  readonly deposit: number
  readonly holder?: Cycles.Holder
}

/** The venue starts a mint. */
export const starts = (
  scene: Backed.Scene,
  { mintId, asset, deposit, holder = scene.h1 }: Minting,
  change: Body = {}
) =>
  Calls.write(
    "mint.start",
    { reserveId: "res-1" },
    { mintId, holderId: holder.holderId, asset: { ...asset }, deposit, ...change }
  )

/** The depositor gets its deposit, allocates it to the custodian, and accepts the mint. */
export const accepts = (
  scene: Backed.Scene,
  { mintId, asset, deposit, holder = scene.h1 }: Minting
) =>
  Effect.gen(function* () {
    const amount = String(deposit)
    yield* Backed.gives(scene, holder, { amount, asset })
    yield* Cycles.allocates(scene, holder, {
      assetId: asset.id,
      amount,
      to: scene.custodian,
      reference: mintId
    })
    yield* names(holder, mintId)
  })

/** The depositor accepts the mint with the allocation that stands for it. */
export const names = (holder: Fund.Outsider, mintId: string) =>
  Effect.gen(function* () {
    const allocation = yield* Powers.saying(Templates.Allocation, { reference: mintId })
    const order = yield* Powers.saying(Templates.MintOrder, { mintId })
    yield* holder.act(
      Templates.exercise(Templates.MintOrder, order.cid, "Accept", {
        allocationCid: allocation.cid
      })
    )
  })

/** The engine runs its due writes, twice: the second turn ends those that the first began. */
export const turn = Effect.gen(function* () {
  const schedules = yield* Workers.runnerOf("schedules")
  for (let turns = 0; turns < 2; turns++) {
    yield* TestClock.adjust(30_000)
    yield* schedules.runOnce
    yield* Calls.settle
  }
})

/** The engine finds that a write was refused a moment ago, and opens it again. */
export const retry = Effect.gen(function* () {
  for (let turns = 0; turns < 2; turns++) {
    yield* TestClock.adjust(120_000)
    yield* turn
  }
})

/** A mint from its start to its settlement, which the engine opens by itself. */
export const mintsFor = (scene: Backed.Scene, minting: Minting) =>
  Effect.gen(function* () {
    const started = yield* starts(scene, minting)
    if (started.state !== "succeeded") throw new Error(`no mint: ${started.why}`)
    yield* accepts(scene, minting)
    yield* turn
  })

export const mint = (mintId: string) =>
  Effect.flatMap(Records, (records) => records.get(mints, mintId))

export interface Redeeming {
  readonly reserveRedemptionId: string
  readonly asset: Templates.Asset
  readonly units: number
  readonly holder?: Cycles.Holder
}

/** The venue starts a reserve redemption. */
export const startsRedemption = (
  scene: Backed.Scene,
  { reserveRedemptionId, asset, units, holder = scene.h1 }: Redeeming,
  change: Body = {}
) =>
  Calls.write(
    "reserve-redemption.start",
    { reserveId: "res-1" },
    {
      reserveRedemptionId,
      holderId: holder.holderId,
      asset: { ...asset },
      units,
      ...change
    }
  )

/** The owner accepts the redemption, which locks its units. */
export const acceptsRedemption = (
  scene: Backed.Scene,
  { reserveRedemptionId, units, holder = scene.h1 }: Redeeming
) =>
  Effect.gen(function* () {
    const order = yield* Powers.saying(Templates.ReserveRedemptionOrder, { reserveRedemptionId })
    const holdings = yield* Cycles.active(Templates.Holding)
    const free = holdings.find(
      ({ payload }) =>
        payload.owner === holder.party &&
        payload.instrument.id === scene.asset.id &&
        payload.lock === null &&
        Decimal.atLeast(Decimal.of(String(payload.amount)), Decimal.of(String(units)))
    )
    if (free === undefined) throw new Error(`${holder.holderId} has no ${units} free units`)
    yield* holder.act(
      Templates.exercise(Templates.ReserveRedemptionOrder, order.cid, "Accept", {
        holdingCid: free.cid
      })
    )
  })

/** A redemption from its start to its settlement. */
export const redeems = (scene: Backed.Scene, redemption: Redeeming) =>
  Effect.gen(function* () {
    const started = yield* startsRedemption(scene, redemption)
    if (started.state !== "succeeded") throw new Error(`no redemption: ${started.why}`)
    yield* acceptsRedemption(scene, redemption)
    yield* turn
  })

export const redemption = (id: string) =>
  Effect.flatMap(Records, (records) => records.get(reserveRedemptions, id))

/** Outcomes of the operations of a kind, oldest first: the state, or the check that refused. */
export const endings = (kind: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.list(operations, { where: { kind: [kind] }, limit: 100 })
    return found
      .map(({ record }) => record)
      .toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
      .map(({ problem, state }) => {
        const { gate, check } = (problem ?? {}) as {
          readonly gate?: string
          readonly check?: string
        }
        return problem === null ? state : `${gate} ${check}`
      })
  })

/**
 * The reserve of the golden vectors: cash of 1000, 500 bills at 2.10 with a haircut of 0.05 and at most
 * 0.4 of the duty, 1500 units of h1 at par, minCover 1.02.
 */
export const base = Effect.gen(function* () {
  const scene = yield* opened({ terms: { minCover: 1.02 } })
  yield* Backed.locks(scene, { amount: "550", asset: scene.usd })
  yield* mintsFor(scene, { mintId: "m-cash", asset: scene.usd, deposit: 450 })
  yield* mintsFor(scene, { mintId: "m-bill", asset: scene.bill, deposit: 500 })
  return scene
})
