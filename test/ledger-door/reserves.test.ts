/** A backed instrument at the door: every party answers from its own program, and the venue only proposes and settles. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { expect, it } from "vitest"
import {
  CustodianBot,
  FundBot,
  Policy,
  RegistrarBot,
  Reserves,
  Wallet
} from "#adapters/ledger/wallets/index.ts"
import * as Story from "./story.ts"

const decimal = Decimal.of
const policy = Policy.acceptAll

it("a reserve is agreed, locked, minted on, amended and redeemed from wallets through the door alone", async () => {
  const scene = await Story.set()
  try {
    const { venue, registrar: issuer, fund: holder, oracle: bank } = scene.parties
    const owner = scene.holder.party
    const instrument = { admin: issuer, id: "NOTE" }
    const asset = { admin: bank, id: "EUR" }
    const terms = (minCover: string): Templates.ReserveTerms => ({
      minCover: decimal(minCover),
      assets: [{ asset, priceSource: null, freshness: null, haircut: Decimal.zero, maxShare: null }]
    })
    const parties = { venue, issuer, holder }
    const banking = await scene.start("oracle", RegistrarBot.plan({ policy, instruments: [] }))
    const working = [
      banking,
      await scene.start("registrar", FundBot.plan({ policy })),
      await scene.start("fund", CustodianBot.plan({ policy })),
      await scene.start("holder", Wallet.plan({ policy }))
    ]
    const bankSession = await scene.session("oracle")
    const issue = (receiver: typeof bank, amount: string) =>
      Effect.runPromise(
        bankSession.submit(
          RegistrarBot.issue(bank, {
            instrumentId: asset.id,
            provider: venue,
            receiver,
            amount: decimal(amount),
            executeBefore: Story.soon(1),
            reference: `${receiver}-${amount}`
          }).change
        )
      )
    const isHolding =
      (allocation: { readonly owner: typeof bank; readonly id: string; readonly amount: string }) =>
      (payload: Templates.Payload<typeof Templates.Holding>) =>
        payload.owner === allocation.owner &&
        payload.instrument.id === allocation.id &&
        Decimal.equals(payload.amount, decimal(allocation.amount))
    const lockedIs = (amount: string) =>
      scene.await(
        Templates.Holding,
        (payload) =>
          payload.lock?.context === "res-1" && Decimal.equals(payload.amount, decimal(amount))
      )

    await scene.act(
      Templates.create(Templates.AdmissionOffer, {
        venue,
        registrar: issuer,
        instrumentId: instrument.id,
        holder: owner,
        credentialId: "credential",
        claims: [],
        validFrom: null,
        validUntil: null,
        expiresAt: null
      }),
      Templates.create(Templates.ReserveProposal, {
        ...parties,
        reserveId: "res-1",
        instrument,
        unit: "EUR",
        decimals: 2,
        priceDecimals: 10,
        parValue: Decimal.one,
        initialSharePrice: null,
        loosenDelay: 0,
        terms: terms("1.5"),
        accepted: []
      })
    )
    await scene.await(Templates.Reserve)
    await issue(holder, "75")
    await issue(owner, "100")
    await scene.await(Templates.Holding, isHolding({ owner: holder, id: "EUR", amount: "75" }))
    await scene.act(
      Templates.create(Templates.LockAgreementProposal, {
        venue,
        lockAgreementId: "lock-1",
        reserveId: "res-1",
        asset,
        holder,
        amount: decimal("40"),
        accepted: []
      })
    )
    const agreement = await scene.await(Templates.LockAgreement)
    await lockedIs("40")
    const keeper = await scene.session("fund")
    const offset = await Effect.runPromise(keeper.ledgerEnd)
    const contracts = new Map(
      (await Effect.runPromise(keeper.acs(offset))).map((one) => [one.contractId, one])
    )
    const [more] = Reserves.lockMore({
      lockAgreementId: "lock-1",
      amount: decimal("10"),
      reference: "more"
    })({ party: holder, now: Story.soon(0), contracts })
    if (more === undefined) throw new Error("nothing to lock")
    await Effect.runPromise(keeper.submit(more.change))
    const before = await lockedIs("50")

    const credential = await scene.await(Templates.Credential)
    const judging = async () => ({
      supply: Decimal.zero,
      holdingCids: [(await scene.await(Templates.Holding, isLocked)).contractId],
      pointCids: []
    })
    const isLocked = (payload: Templates.Payload<typeof Templates.Holding>) =>
      payload.lock?.context === "res-1"
    await scene.act(
      Templates.exercise(
        Templates.Reserve,
        (await scene.await(Templates.Reserve)).contractId,
        "StartMint",
        {
          mintId: "m-1",
          depositor: owner,
          asset,
          deposit: decimal("100"),
          units: decimal("100"),
          executeBefore: Story.soon(1),
          ...(await judging())
        }
      )
    )
    const ready = await scene.await(
      Templates.MintOrder,
      ({ allocationCid }) => allocationCid !== null
    )
    await scene.act(
      Templates.exercise(Templates.MintOrder, ready.contractId, "Settle", {
        reserveCid: (await scene.await(Templates.Reserve)).contractId,
        lockAgreementCid: agreement.contractId,
        credentialCid: credential.contractId,
        configurationCid: null,
        depositCredentialCid: null,
        intentCid: null,
        lockedCid: before.contractId,
        ...(await judging())
      })
    )
    await scene.await(Templates.Holding, isHolding({ owner, id: "NOTE", amount: "100" }))
    await lockedIs("150")

    await scene.act(
      Templates.create(Templates.AmendmentProposal, {
        ...parties,
        amendmentId: "am-1",
        reserveId: "res-1",
        terms: terms("1.2")
      })
    )
    const amended = await scene.await(
      Templates.Reserve,
      ({ pending }) => pending?.amendmentId === "am-1"
    )
    await scene.act(
      Templates.exercise(Templates.Reserve, amended.contractId, "StartRedemption", {
        reserveRedemptionId: "r-1",
        owner,
        asset,
        payout: decimal("60"),
        units: decimal("60"),
        executeBefore: Story.soon(1),
        ...(await judging())
      })
    )
    const locked = await scene.await(
      Templates.ReserveRedemptionOrder,
      ({ lockedUnitsCid }) => lockedUnitsCid !== null
    )
    await scene.act(
      Templates.exercise(Templates.ReserveRedemptionOrder, locked.contractId, "Settle", {
        reserveCid: amended.contractId,
        payoutCredentialCid: null,
        lockedCid: (await scene.await(Templates.Holding, isLocked)).contractId,
        ...(await judging())
      })
    )
    await lockedIs("90")
    const left = await scene.await(Templates.Reserve)
    expect(Decimal.formatPlain(left.payload.outstanding)).toBe("40")
    await scene.await(Templates.Holding, isHolding({ owner, id: "EUR", amount: "60" }))
    await scene.await(Templates.Holding, isHolding({ owner, id: "NOTE", amount: "40" }))
    for (const bot of working) {
      expect(bot.messages.filter(({ _tag }) => _tag === "Failed")).toEqual([])
      await bot.stop()
    }
  } finally {
    await scene.close()
  }
})
