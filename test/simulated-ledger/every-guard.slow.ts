/**
 * Every guard of the simulated ledger refuses an exercise: one of the stories that its tests play, or one of
 * theirs with a value changed. The stories are the tests of this folder, which are played here once more.
 */
import { describe, expect, it } from "vitest"
import { all } from "#adapters/ledger/simulated/choices/index.ts"
import * as GuardSearch from "./guard-search.ts"

const recording = GuardSearch.record()

await import("./authority.spec.ts")
await import("./burn-for.spec.ts")
await import("./claiming.spec.ts")
await import("./dealing-cycle.spec.ts")
await import("./delivery-versus-payment.spec.ts")
await import("./distribution.spec.ts")
await import("./market-end.spec.ts")
await import("./netting.spec.ts")
await import("./powers-agreed.spec.ts")
await import("./powers-locks.spec.ts")
await import("./powers.spec.ts")
await import("./recovered-late.spec.ts")
await import("./redemption-by-wire.spec.ts")
await import("./redemption-pricing.spec.ts")
await import("./redemption.spec.ts")
await import("./refund.spec.ts")
await import("./reserves.spec.ts")
await import("./standing-end.spec.ts")
await import("./standing.spec.ts")
await import("./subscription-dues.spec.ts")
await import("./subscription.spec.ts")

// Holders, withdrawals and agreements are played with the engine beside the ledger.
await import("../operations/holder.spec.ts")
await import("../operations/subscription.spec.ts")

/** Guards that no exercise can meet, each with the reason. */
const unmeetable = {
  "Credential.Receive: the credential is another holder's":
    "the credential is compared with its own holder",
  "Credential.Receive: the credential is for another instrument":
    "the credential is compared with its own instrument",
  "PrimaryMarket.ClaimSubscription: the cycle is of another day":
    "an order has no cut-off before it is claimed, so that it takes its cycle's",
  "PrimaryMarket.ClaimRedemption: the cycle is of another day":
    "an order has no cut-off before it is claimed, so that it takes its cycle's",
  "LockAgreementProposal.Accept: no holding to lock":
    "holdings that are worth the amount, which is above 0, are at least one",
  "MintOrder.Settle: no holding to lock": "the allocation that is executed gives one holding"
}

/**
 * Guards that two changes of the stories here do not meet: an exercise that meets one differs from those
 * in more values, or its choice is not among them. Whoever plays one takes it off this list.
 */
const unplayed: ReadonlyArray<string> = [
  "MintRequest.Accept: the request is past its time",
  "HolderRegistration.InviteSuccessor: the successor is another party",
  "DeliveredLot.Settle: the lot is paid on the ledger",
  "DeliveredLot.Settle: a lot paid on the ledger needs its cash",
  "DeliveredLot.Settle: the allocation is not of the lot's cash",
  "DeliveredLot.Settle: the allocation is for another order",
  "DeliveredLot.Settle: the venue does not execute the allocation",
  "DeliveredLot.Settle: the allocation is another sender's",
  "DeliveredLot.Settle: the allocation goes to another receiver",
  "DeliveredLot.Settle: the allocation is of another asset",
  "SettlementIntent.AllocationRequest_Reject: only a party of a leg may reject",
  "IssuerPowersConsent.Use: the credential is another holder's",
  "Reserve.ComputeReport: a count of the reserve is beyond a decimal",
  "Reserve.StartRedemption: a count of the reserve is beyond a decimal",
  "LockAgreementProposal.Accept: the holding is not all that is locked of the asset",
  "LockAgreementProposal.Accept: a holding is not locked for the reserve",
  "LockAgreement.LockMore: no holding to lock",
  "LockAgreement.Release: a count of the reserve is beyond a decimal",
  "MintOrder.Settle: the price of a locked asset is stale",
  "MintOrder.Settle: the holding is not all that is locked of the asset",
  "MintOrder.Cancel: the intent is for something else",
  "ReserveRedemptionOrder.Settle: a count of the reserve is beyond a decimal",
  "ReserveRedemptionOrder.Settle: the holding is not all that is locked of the asset"
]

describe("a guard of the simulated ledger", () => {
  it("never is without an exercise that it refuses, but for those that are named", () => {
    const names = all.flatMap((entity) =>
      entity.declaration.choices.flatMap(({ guards, name }) => {
        GuardSearch.search(recording, entity, name)
        return guards.map((guard) => GuardSearch.guardName(entity, name, guard))
      })
    )
    expect(names.length).toBeGreaterThan(500)
    expect(names.filter((name) => !recording.met.has(name)).toSorted()).toEqual(
      [...Object.keys(unmeetable), ...unplayed].toSorted()
    )
  })
})

describe("a choice of the simulated ledger", () => {
  it("never is a defect of the ledger by the figures that a party submits", () => {
    const found = all.flatMap((entity) =>
      entity.declaration.choices.map(({ name }) => GuardSearch.absurdities(recording, entity, name))
    )
    expect(found.flatMap(({ thrown }) => [...thrown])).toEqual([])
    expect(found.filter(({ judged }) => judged > 0).length).toBeGreaterThan(40)
    expect(found.reduce((sum, { refused }) => sum + refused, 0)).toBeGreaterThan(20)
  })
})
