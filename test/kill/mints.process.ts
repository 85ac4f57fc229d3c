/**
 * kill -9 of the host as a mint and a reserve redemption start, settle and are cancelled, before the ledger
 * has it, after it has committed and while its update is projected: each once, as if no host had ever died.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import * as Calls from "../engine/calls.ts"
import * as Backed from "../operations/backed.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"
import * as Minting from "../operations/minting.ts"
import * as Months from "./months.ts"

/** Deposits and redemptions, so that each has a holding of its own. */
const each = 10
const deposits = 4
const reserveId = "res-1"

/** A reserve of cash against which h1 has 1000 units, and h1's cash for the mints to come. */
const reserved = Effect.gen(function* () {
  const scene = yield* Minting.opened({ price: null })
  yield* Minting.mintsFor(scene, { mintId: "m-first", asset: scene.usd, deposit: 1000 })
  for (let nth = 0; nth < deposits; nth++) {
    yield* Backed.gives(scene, scene.h1, { amount: String(each), asset: scene.usd })
  }
  return scene
})

type Needs = Effect.Services<Parameters<Months.Hosted<Backed.Scene>["until"]>[0]>

let hosted: Months.Hosted<Backed.Scene> | undefined
afterEach(async () => {
  await hosted?.close()
  hosted = undefined
})

describe("orders of a reserve whose hosts are killed", () => {
  it("never are settled or cancelled twice or not at all, and leave nothing locked", async () => {
    hosted = await Months.host({ batchLines: 500 }, reserved)
    const { committed, dies, does, stage, start, until } = hosted
    const { custodian, h1, usd } = stage
    const dying = async (...deaths: ReadonlyArray<Months.Death>) => {
      for (const death of deaths) await hosted?.dies(death)
      await start()
    }
    const isIn = (
      order: Effect.Effect<{ readonly state: string }, unknown, Needs>,
      state: string
    ) =>
      until(
        Effect.exit(order).pipe(
          Effect.map((exit) => exit._tag === "Success" && exit.value.state === state)
        )
      )
    const isMint = (id: string, state: string) => isIn(Minting.mint(id), state)
    const isRedemption = (id: string, state: string) => isIn(Minting.redemption(id), state)
    const starts = (mintId: string) => {
      const body = { mintId, holderId: "h1", asset: { ...usd }, deposit: each }
      return does(Calls.openAction("mint.start", { reserveId }, body))
    }
    const accepts = async (mintId: string) => {
      const order = { assetId: "USD", amount: String(each), to: custodian, reference: mintId }
      await does(Cycles.allocates(stage, h1, order))
      await until(
        Effect.map(Cycles.active(Templates.Allocation), (found) =>
          found.some(({ payload }) => payload.reference === mintId)
        )
      )
      await does(Minting.names(h1, mintId))
    }

    // The queues run by the database's clock, so that a host settles the first mint too.
    await start()
    await isMint("m-first", "settled")
    const begun = dies({ choice: "StartMint", at: "before" })
    await starts("m-1")
    await begun
    await dying({ choice: "StartMint", at: "after" })
    await isMint("m-1", "started")
    const settling = dies({ choice: "Settle", at: "before" })
    await accepts("m-1")
    await settling
    await dying({ choice: "Settle", at: "after" })
    await isMint("m-1", "settled")

    // The host dies while it projects the start.
    const projected = dies({ choice: "StartMint", at: 3 })
    await starts("m-2")
    await projected
    await start()
    await isMint("m-2", "started")
    await accepts("m-2")
    await isMint("m-2", "settled")

    await starts("m-3")
    await isMint("m-3", "started")
    await accepts("m-3")
    const cancelled = dies({ choice: "Cancel", at: "before" })
    await starts("m-4")
    await isMint("m-4", "started")
    await does(Calls.openAction("mint.cancel", { reserveId, mintId: "m-4" }, {}))
    await cancelled
    await dying({ choice: "Cancel", at: "after" })
    await isMint("m-4", "cancelled")
    await isMint("m-3", "settled")

    const redeemed = (reserveRedemptionId: string) => ({
      ...{ reserveRedemptionId, holderId: "h1" },
      ...{ asset: { ...usd }, units: each }
    })
    const redeems = (id: string) =>
      does(Calls.openAction("reserve-redemption.start", { reserveId }, redeemed(id)))
    const acceptsUnits = (reserveRedemptionId: string) =>
      does(Minting.acceptsRedemption(stage, { reserveRedemptionId, asset: usd, units: each }))
    const beforeStart = dies({ choice: "StartRedemption", at: "before" })
    await redeems("r-1")
    await beforeStart
    await dying({ choice: "StartRedemption", at: "after" })
    await isRedemption("r-1", "started")
    const beforeSettlement = dies({ choice: "Settle", at: "before" })
    await acceptsUnits("r-1")
    await beforeSettlement
    await dying({ choice: "Settle", at: 3 })
    await isRedemption("r-1", "settled")

    await redeems("r-2")
    await isRedemption("r-2", "started")
    const beforeCancel = dies({ choice: "Cancel", at: "before" })
    await does(
      Calls.openAction("reserve-redemption.cancel", { reserveId, reserveRedemptionId: "r-2" }, {})
    )
    await beforeCancel
    await dying({ choice: "Cancel", at: "after" })
    await isRedemption("r-2", "cancelled")

    expect(committed()).toEqual({
      ...{ StartMint: 4, StartRedemption: 2 },
      // Four mints and a redemption; a mint and a redemption that ended without.
      ...{ Settle: 5, Cancel: 2 }
    })
    const units = String(1000 + 3 * each - each)
    expect(await does(Cycles.holds(h1, "fund-a"))).toBe(units)
    expect(await does(Cycles.holds(custodian, "USD"))).toBe(units)
    const { outstanding } = await does(Backed.reserve())
    expect(Decimal.formatPlain(outstanding)).toBe(units)
    for (const template of [
      Templates.Allocation,
      Templates.MintOrder,
      Templates.ReserveRedemptionOrder,
      Templates.SettlementIntent
    ]) {
      expect(await does(Cycles.active(template))).toEqual([])
    }
    const locked = (await does(Cycles.active(Templates.Holding))).filter(
      ({ payload }) => payload.lock !== null
    )
    expect(locked.map(({ payload }) => payload.lock?.context)).toEqual([reserveId])
    for (const [kind, count] of [
      ["mint.start", 5],
      ["mint.settle", 4],
      ["mint.cancel", 1],
      ["reserve-redemption.start", 2],
      ["reserve-redemption.settle", 1],
      ["reserve-redemption.cancel", 1]
    ] as const) {
      expect([kind, await does(Minting.endings(kind))]).toEqual([
        kind,
        Array.from({ length: count }, () => "succeeded")
      ])
    }
    expect(await does(Fund.surprises)).toEqual([])
  })
})
