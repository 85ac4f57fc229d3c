/** An order in a venue in one process: people write, and the outside parties act with their wallets. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { VenueClock, Wallets } from "@bursar/storage-adapters/venue"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Calls from "../engine/calls.ts"
import { bodyOf } from "../operations/instrumentBody.ts"

export const instrumentId = "fund-a"
export const documentHash = "ab".repeat(32)

/** Makes a write, which has to succeed. */
export const succeeds = (...call: Parameters<typeof Calls.write>) =>
  Effect.map(Calls.write(...call), ({ state, why }) =>
    assert.strictEqual(`${call[0]} ${state} ${why}`, `${call[0]} succeeded `)
  )

/** The instrument is recorded and configured, and its registrar's consent proposed. */
export const founded = Effect.gen(function* () {
  const wallets = yield* Wallets
  const { venue } = yield* Ledger.Ledger
  const registrar = yield* wallets.registrar("registrar")
  const fund = yield* wallets.fund("fund")
  const oracle = yield* wallets.oracle("oracle")
  const attestor = yield* wallets.attestor("attestor")
  const investor = yield* wallets.investor("h1")
  yield* succeeds(
    "instrument.record",
    {},
    { ...bodyOf(), registrar: registrar.party, oracle: oracle.party, pricing: "historic" }
  )
  yield* registrar.configure({ instrumentId, provider: venue, issuer: fund.party })
  yield* succeeds(
    "admission-consent.propose",
    { instrumentId },
    { fund: fund.party, terms: "terms" }
  )
  return { registrar, fund, oracle, attestor, investor, venue }
})

/** From the market's consent to the price of an order. */
export const walked = Effect.gen(function* () {
  const { attestor, fund, investor, oracle, registrar } = yield* founded
  assert.strictEqual((yield* registrar.acceptConsent(instrumentId)).act, "accept-consent")
  yield* succeeds(
    "primary-market.propose",
    { instrumentId },
    {
      fund: fund.party,
      paymentAsset: { admin: registrar.party, id: "USD" },
      terms: { attestors: [attestor.party], required: 1, oracle: oracle.party }
    }
  )
  assert.strictEqual((yield* fund.acceptMarket(instrumentId)).act, "accept-market")
  assert.strictEqual((yield* registrar.acceptMarket(instrumentId)).act, "accept-market")
  const { party } = investor
  yield* succeeds(
    "holder.onboard",
    {},
    {
      holderId: "h1",
      party,
      legalName: "One",
      classification: "entity",
      taxResidences: [{ country: "US" }],
      admissions: [{ instrumentId }]
    }
  )
  yield* investor.acceptInvitation("h1")
  const { details } = yield* investor.acceptOffer(instrumentId)
  assert.strictEqual(details["instrumentId"], instrumentId)
  yield* investor.signTerms({ documentHash })
  yield* succeeds("accepted-terms.accept", { holderId: "h1" }, {})
  const valuationTime = yield* Instant.now
  yield* oracle.publish({ instrumentId, value: Decimal.of("1.0437"), valuationTime })
  yield* (yield* VenueClock).by("PT1M")
  yield* succeeds(
    "subscription.claim",
    {},
    { instrumentId, holderId: "h1", subscriptionId: "s1", amount: 100_000 }
  )
  yield* attestor.attest("s1", { instrumentId, unitDecimals: 6, pricing: "historic" })
  const lots = yield* attestor.find(Templates.Lot)
  assert.deepStrictEqual(
    lots.map(({ payload }) => Decimal.formatPlain(payload.units)),
    ["95812.973076"]
  )
})
