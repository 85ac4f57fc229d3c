/**
 * The market of a fund, opened from a program: terms, agreements, a holder and a priced order. The
 * outside parties act with wallets of their own.
 */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import { Venue } from "@bursar/storage-adapters/venue"
import { Effect } from "effect"
import * as story from "../story.ts"
import { agreed, alone, people } from "./people.ts"

export const instrumentId = "elf-usd"
export const holderId = "holder-1"
const price = Decimal.of("1.0437")
const unitDecimals = 6

/** SHA-256 of the terms that holders sign. */
export const termsHash = "47f9b84e231f0e704e963fe18466bceeed422b2c264a01867f6366b98f9afbb4"

/** The market is agreed, and the holder admitted; then a price is published. */
export const opened = Effect.gen(function* () {
  const { venue } = yield* Ledger.Ledger
  const { wallets } = yield* Venue.make
  const fund = yield* wallets.fund("fund")
  const oracle = yield* wallets.oracle("oracle")
  const attestor = yield* wallets.attestor("attestor")
  const investor = yield* wallets.investor("investor", { terms: termsHash })
  const registrar = yield* wallets.registrar("registrar", {
    instruments: [{ instrumentId, provider: venue, issuer: fund.party }]
  })

  // The registrar configures the instrument on the ledger; the venue records its terms.
  yield* registrar.works()
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
  yield* registrar.works()
  yield* agreed("primary-market.propose", {
    instrumentId,
    ...story.market({
      fund: fund.party,
      registrar: registrar.party,
      attestors: [attestor.party],
      oracle: oracle.party
    })
  })
  yield* fund.works()
  yield* registrar.works()

  // The holder accepts its registration, its terms and its admission from its own wallet.
  yield* alone("holder.onboard", story.holder({ holderId, party: investor.party, instrumentId }))
  yield* investor.works()
  yield* alone("accepted-terms.accept", { holderId })

  const valuationTime = yield* Instant.now
  yield* oracle.publish({ instrumentId, metric: "price", value: price, valuationTime })
  return { attestor }
})

/** Claims an order for an amount, has the attestor price it at the published point, and answers its units. */
export const priced = (
  { attestor }: Effect.Success<typeof opened>,
  order: { readonly subscriptionId: string; readonly amount: string }
) =>
  Effect.gen(function* () {
    const { subscriptionId } = order
    yield* alone("subscription.claim", story.claim({ ...order, instrumentId, holderId }))
    yield* attestor.attest(subscriptionId, { instrumentId, unitDecimals })
    const { olive } = yield* people
    return (yield* olive.read("subscriptions.get", { subscriptionId })).lot?.units ?? Decimal.zero
  })
