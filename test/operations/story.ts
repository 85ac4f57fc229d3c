/** The steps that stories about an instrument are made of: recorded, consented to, admitted, priced. */
import { Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import * as AcceptedTermsOperations from "#core/holders/accepted-terms/AcceptedTermsOperations.ts"
import * as HolderOperations from "#core/holders/holder/HolderOperations.ts"
import * as AdmissionConsentOperations from "#core/admissions/AdmissionConsentOperations.ts"
import * as AdmissionOperations from "#core/admissions/AdmissionOperations.ts"
import * as InstrumentOperations from "#core/instruments/instrument/InstrumentOperations.ts"
import * as InstrumentQueries from "#core/overviews/instrument/InstrumentQueries.ts"
import type * as PortfolioQueries from "#core/overviews/portfolio/PortfolioQueries.ts"
import * as PrimaryMarketOperations from "#core/orders/primary-market/PrimaryMarketOperations.ts"
import { unexpectedFacts } from "#core/projection/Unexpected.ts"
import { bodyOf } from "./instrumentBody.ts"
import {
  act,
  atStart,
  contractOf,
  join,
  type Outsider,
  read,
  start,
  venueParty,
  write
} from "./venue.ts"

export const id = { instrumentId: "fund-a" }
export const instrumentId = "fund-a" as Parameters<
  (typeof InstrumentQueries.get)["run"]
>[0]["instrumentId"]

/** The parties of a story; each acts by its own token alone. */
export const cast = Effect.gen(function* () {
  yield* atStart
  return {
    venue: yield* venueParty,
    registrar: yield* join("registrar"),
    fund: yield* join("fund"),
    oracle: yield* join("oracle"),
    alice: yield* join("alice"),
    bob: yield* join("bob")
  }
})
export type Cast = Effect.Success<typeof cast>

export const configuration = (who: Outsider, { venue, fund }: Cast, named = "fund-a") =>
  Templates.create(Templates.InstrumentConfiguration, {
    registrar: who.party,
    provider: venue,
    issuer: fund.party,
    instrument: { admin: who.party, id: named },
    defaultIdentifier: { source: "venue", id: named, scheme: "id" },
    additionalIdentifiers: [],
    holderRequirements: [],
    issuerRequirements: []
  })

export const recorded = (cast: Cast, change: object = {}) =>
  write(
    InstrumentOperations.record,
    {},
    {
      ...bodyOf(),
      registrar: cast.registrar.party,
      oracle: cast.oracle.party,
      ...change
    }
  )

export const instrument = () =>
  Effect.map(read(InstrumentQueries.get, { instrumentId }), (a) => a.value)

export const unexpected = Effect.flatMap(Records, (records) =>
  Effect.map(records.list(unexpectedFacts, { limit: 100 }), (rows) =>
    rows.map(({ record }) => `${record.resourceKind} ${record.on}`)
  )
)

export const consented = (cast: Cast) =>
  Effect.gen(function* () {
    yield* write(AdmissionConsentOperations.propose, id, { fund: cast.fund.party, terms: "any" })
    const proposal = yield* contractOf(cast.registrar, Templates.AdmissionConsentProposal)
    yield* act(
      cast.registrar,
      Templates.exercise(Templates.AdmissionConsentProposal, proposal, "Accept", {})
    )
  })

const terms = "ab".repeat(32)

/** Registers a holder whose party accepts the registration and signs the terms. */
export const registered = (who: Outsider, holderId: string, cast: Cast) =>
  Effect.gen(function* () {
    yield* write(HolderOperations.register, {}, { holderId, party: who.party, taxResidences: [] })
    const invitation = yield* contractOf(who, Templates.HolderInvitation)
    yield* act(who, Templates.exercise(Templates.HolderInvitation, invitation, "Accept", {}))
    yield* act(
      who,
      Templates.create(Templates.SignedTerms, {
        venue: cast.venue,
        holder: who.party,
        holderId,
        documentHash: terms,
        signedAt: start
      })
    )
    yield* write(AcceptedTermsOperations.accept, { holderId }, {})
  })

/** Offers a holder the instrument and has its party accept; answers the credential's contract. */
export const admitted = (who: Outsider, holderId: string, terms: object = {}) =>
  Effect.gen(function* () {
    yield* write(AdmissionOperations.offerAdmission, { holderId }, { ...id, ...terms })
    const offer = yield* contractOf(who, Templates.AdmissionOffer)
    yield* act(who, Templates.exercise(Templates.AdmissionOffer, offer, "Accept", {}))
    return yield* contractOf(who, Templates.Credential)
  })

export const minted = (cast: Cast, credentialCid: string, amount: string) =>
  act(
    cast.registrar,
    Templates.exercise(Templates.Credential, credentialCid, "Receive", {
      amount: Decimal.of(amount),
      reference: { kind: "subscription", id: "s1" },
      configurationCid: null
    })
  )

/** Payload of an oracle's point of the instrument. */
export const point = (
  who: Outsider,
  cast: Cast,
  value: string,
  metric = "price"
): Templates.Payload<typeof Templates.OraclePoint> => ({
  oracle: who.party,
  venue: cast.venue,
  fund: cast.fund.party,
  registrar: cast.registrar.party,
  attestors: [],
  instrumentId: "fund-a",
  metric,
  value: Decimal.of(value),
  valuationTime: start,
  period: null,
  withholdingRate: null,
  statementRef: null,
  corrects: null
})

export const published = (who: Outsider, cast: Cast, value: string, metric = "price") =>
  act(who, Templates.create(Templates.OraclePoint, point(who, cast, value, metric)))

/** Proposes a primary market and has fund and registrar accept it. */
export const agreed = (cast: Cast, change: object = {}) =>
  Effect.gen(function* () {
    yield* write(PrimaryMarketOperations.propose, id, {
      fund: cast.fund.party,
      paymentAsset: { admin: cast.fund.party, id: "USD" },
      terms: { attestors: [cast.oracle.party], required: 1 },
      ...change
    })
    for (const who of [cast.fund, cast.registrar]) {
      const cid = yield* contractOf(who, Templates.PrimaryMarketProposal)
      yield* act(
        who,
        Templates.exercise(Templates.PrimaryMarketProposal, cid, "Accept", { party: who.party })
      )
    }
  })

export const holderIdOf = (text: string) =>
  text as Parameters<(typeof PortfolioQueries.portfolio)["run"]>[0]["holderId"]
