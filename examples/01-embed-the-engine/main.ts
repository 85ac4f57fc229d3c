/** The engine inside your own program: one subscription from claim to close, in memory, printed. */
import { createHash } from "node:crypto"
import { Engine } from "@bursar/engine-core"
import { Decimal, Instant, PlainJson } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Ledger } from "@bursar/engine-core/ports"
import { Console, Effect } from "effect"
import * as story from "../story.ts"
import { layer } from "./engine.ts"
import { configuration, wallet } from "./parties.ts"
import { anna, approve, done, olive, read, write } from "./people.ts"

const instrumentId = "elf-usd"
const holderId = "holder-1"
const subscriptionId = "sub-1"
const amount = "100000"
const price = Decimal.of("1.0437")
const unitDecimals = 6

/** A four-eyes write: one person requests it, another approves it, then it runs. */
const agreed = (...asked: Parameters<typeof write>) =>
  Effect.gen(function* () {
    const action = yield* write(...asked)
    yield* Console.log(`${action.maker} asks for ${action.kind}; it is ${action.state}`)
    yield* done(yield* approve(anna, action))
    yield* Console.log(`${anna.sub} agrees: done`)
  })

/** A write that one person makes alone. */
const alone = (...asked: Parameters<typeof write>) =>
  Effect.gen(function* () {
    const operation = yield* done(yield* write(...asked))
    yield* Console.log(`${operation.actor} did ${operation.kind} at offset ${operation.offset}`)
  })

const program = Effect.gen(function* () {
  const { venue } = yield* Ledger.Ledger
  const { settle } = yield* Engine.Engine
  const registrar = yield* wallet("registrar")
  const fund = yield* wallet("fund")
  const oracle = yield* wallet("oracle")
  const attestor = yield* wallet("attestor")
  const investor = yield* wallet("investor")
  const ofInstrument = { params: { instrumentId } }
  const ofHolder = { params: { holderId } }
  const ofSubscription = { params: { subscriptionId } }

  // The registrar configures the instrument on the ledger; the venue records its terms.
  yield* registrar.create(
    Templates.InstrumentConfiguration,
    configuration({ instrumentId, registrar: registrar.party, venue, fund: fund.party })
  )
  yield* agreed(olive, "instrument.record", {
    body: story.instrument({
      instrumentId,
      registrar: registrar.party,
      oracle: oracle.party,
      unitDecimals,
      valuation: "accumulating"
    })
  })

  // Holders are admitted and units minted only under agreements that registrar and fund have
  // signed.
  yield* agreed(olive, "admission-consent.propose", {
    ...ofInstrument,
    body: story.consent({ fund: fund.party })
  })
  yield* registrar.answer(Templates.AdmissionConsentProposal, "Accept", {})
  yield* agreed(olive, "primary-market.propose", {
    ...ofInstrument,
    body: story.market({
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
  yield* alone(olive, "holder.onboard", {
    body: story.holder({ holderId, party: investor.party, instrumentId })
  })
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
  yield* alone(olive, "accepted-terms.accept", { ...ofHolder, body: {} })

  // A price is published; the order that follows is attested at it, delivered and settled.
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
  yield* alone(olive, "subscription.claim", {
    body: story.claim({ subscriptionId, instrumentId, holderId, amount })
  })
  const { contractId: pointCid } = yield* attestor.find(Templates.OraclePoint)
  yield* attestor.answer(Templates.SubscriptionClaim, "Attest", {
    attestor: attestor.party,
    pointCid,
    price,
    units: Decimal.divideRounded(Decimal.of(amount), price, {
      places: unitDecimals,
      rounding: "floor"
    })
  })
  yield* settle
  yield* alone(olive, "subscription.deliver", {
    ...ofSubscription,
    body: story.paid({ subscriptionId, amount })
  })
  yield* alone(olive, "subscription.settle", { ...ofSubscription, body: {} })

  const register = yield* read(olive, "instruments/{instrumentId}/register", { instrumentId })
  yield* Console.log(`the register: ${PlainJson.stringify(register)}`)
})

await Effect.runPromise(Effect.provide(program, layer))
