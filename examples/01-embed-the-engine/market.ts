/**
 * The market of a fund, opened from a program: terms, agreements, a holder and a priced order. The
 * outside parties act with wallets of their own.
 */
import { createHash } from "node:crypto"
import { Engine } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import * as story from "../story.ts"
import { configuration, wallet } from "./parties.ts"
import { agreed, alone } from "./people.ts"

export const instrumentId = "elf-usd"
export const holderId = "holder-1"
const price = Decimal.of("1.0437")
const unitDecimals = 6

/** The market is agreed, and the holder admitted; then a price is published. */
export const opened = Effect.gen(function* () {
  const { venue } = yield* Ledger.Ledger
  const { settle } = yield* Engine.Engine
  const registrar = yield* wallet("registrar")
  const fund = yield* wallet("fund")
  const oracle = yield* wallet("oracle")
  const attestor = yield* wallet("attestor")
  const investor = yield* wallet("investor")

  // The registrar configures the instrument on the ledger; the venue records its terms.
  yield* registrar.create(
    Templates.InstrumentConfiguration,
    configuration({ instrumentId, registrar: registrar.party, venue, fund: fund.party })
  )
  yield* agreed(
    "instrument.record",
    story.instrument({
      instrumentId,
      registrar: registrar.party,
      oracle: oracle.party,
      unitDecimals,
      valuation: "accumulating"
    })
  )

  // Holders are admitted and units minted only under agreements that registrar and fund have
  // signed.
  yield* agreed("admission-consent.propose", {
    instrumentId,
    ...story.consent({ fund: fund.party })
  })
  yield* registrar.answer(Templates.AdmissionConsentProposal, "Accept", {})
  yield* agreed("primary-market.propose", {
    instrumentId,
    ...story.market({
      fund: fund.party,
      registrar: registrar.party,
      attestors: [attestor.party],
      oracle: oracle.party
    })
  })
  for (const party of [fund, registrar]) {
    yield* party.answer(Templates.PrimaryMarketProposal, "Accept", { party: party.party })
  }
  yield* settle

  // The holder accepts its registration, its terms and its admission from its own wallet.
  yield* alone("holder.onboard", story.holder({ holderId, party: investor.party, instrumentId }))
  yield* investor.answer(Templates.HolderInvitation, "Accept", {})
  yield* investor.answer(Templates.AdmissionOffer, "Accept", {})
  yield* investor.create(Templates.SignedTerms, {
    venue,
    holder: investor.party,
    holderId,
    documentHash: createHash("sha256").update("the terms").digest("hex"),
    signedAt: yield* Instant.now
  })
  yield* settle
  yield* alone("accepted-terms.accept", { holderId })

  yield* oracle.create(Templates.OraclePoint, {
    oracle: oracle.party,
    venue,
    fund: fund.party,
    registrar: registrar.party,
    attestors: [attestor.party],
    instrumentId,
    metric: "price",
    value: price,
    valuationTime: yield* Instant.now,
    period: null,
    withholdingRate: null,
    statementRef: null,
    corrects: null
  })
  yield* settle
  return { attestor }
})

/** Claims an order for an amount, and has the attestor price it at the published point. */
export const priced = (
  { attestor }: Effect.Success<typeof opened>,
  claim: { readonly subscriptionId: string; readonly amount: string }
) =>
  Effect.gen(function* () {
    yield* alone("subscription.claim", story.claim({ ...claim, instrumentId, holderId }))
    const { contractId: pointCid } = yield* attestor.find(Templates.OraclePoint)
    const units = Decimal.divideRounded(Decimal.of(claim.amount), price, {
      places: unitDecimals,
      rounding: "floor"
    })
    yield* attestor.answer(Templates.SubscriptionClaim, "Attest", {
      attestor: attestor.party,
      pointCid,
      price,
      units
    })
    yield* (yield* Engine.Engine).settle
    return units
  })
