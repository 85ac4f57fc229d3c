/** Scene of tests of orders: the instrument `fund-a`, outside parties acting with their own tokens, and what they see on the ledger. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { contracts } from "#core/projection/Contract.ts"
import { kindOf, unexpectedFacts } from "#core/projection/Unexpected.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Outsiders from "../engine/outsiders.ts"
import * as Bank from "./bank.ts"
import { bodyOf } from "./instrumentBody.ts"

const { acts, does } = Outsiders

/** A Friday, four hours before the cut-off. */
export const start = "2026-07-31T12:00:00Z"

/** An outside party; the engine reads what it commits by `act`, and not what it only submits. */
export const outsider = (hint: string) =>
  Effect.map(Outsiders.outsider(hint), (wallet) => ({
    ...wallet,
    act: (...commands: ReadonlyArray<Ledger.Command>) =>
      Effect.andThen(wallet.submit(...commands), Calls.settle)
  }))
export type Outsider = Effect.Success<ReturnType<typeof outsider>>

/** The last active contract of a template that the venue sees, with its payload as the ledger shows it. */
export const newestContract = (template: { readonly typeRef: Templates.TypeRef }) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.list(contracts, {
      where: { template: [Templates.key(template.typeRef)], active: ["true"] },
      limit: 100
    })
    const last = found
      .map(({ record }) => record)
      .toSorted((a, b) => a.createdOffset - b.createdOffset)
      .at(-1)
    if (last === undefined) throw new Error(`no ${template.typeRef.entity} stands`)
    return { cid: last.contractId, payload: last.payload as unknown as Record<string, string> }
  })

/** A holding of a party that nothing locks. */
export const freeHolding = (owner: Party.Party) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.list(contracts, {
      where: { template: [Templates.key(Templates.Holding.typeRef)], active: ["true"] },
      limit: 100
    })
    const free = found.find(({ record }) => {
      const payload = record.payload as unknown as { owner: string; lock: unknown }
      return payload.owner === owner && payload.lock === null
    })
    if (free === undefined) throw new Error(`${owner} has no free holding`)
    return { cid: free.record.contractId }
  })

/** Number of active contracts of a template. */
export const countActive = (template: { readonly typeRef: Templates.TypeRef }) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.list(contracts, {
      where: { template: [Templates.key(template.typeRef)], active: ["true"] },
      limit: 100
    })
    return found.length
  })

/** Commands that the newest operation of a kind sent to the ledger, as text. */
export const lastCommands = (kind: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.list(operations, { where: { kind: [kind] }, limit: 100 })
    return JSON.stringify(found.at(-1)?.record.step?.commands ?? [])
  })

/** Every ledger fact that was kept because no table allows it, sorted: their ids are hashes of random keys. */
export const surprises = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.list(unexpectedFacts, { limit: 100 })
  return found
    .map(({ record }) => `${kindOf(record.resourceKind).kind} ${record.on}: ${record.detail}`)
    .toSorted()
})

/** The instrument recorded and configured, its registrar's consent given; no market yet. */
export const opened = (change: Readonly<Record<string, Calls.Json>> = {}, from = start) =>
  Effect.andThen(TestClock.setTime(Instant.toEpochMillis(Instant.of(from))), founded(change))

/** The same at the present time; the registrar may issue the instrument itself. */
export const founded = (
  change: Readonly<Record<string, Calls.Json>> = {},
  { issuer = "fund" }: { readonly issuer?: "fund" | "registrar" } = {}
) =>
  Effect.gen(function* () {
    const { venue } = yield* Ledger.Ledger
    const registrar = yield* outsider("registrar")
    const fund = yield* outsider("fund")
    const oracle = yield* outsider("oracle")
    const attestor = yield* outsider("attestor")
    const bank = yield* outsider("bank")
    const holder = yield* outsider("holder")
    const asset = { admin: registrar.party, id: "fund-a" }
    yield* Calls.write(
      "instrument.record",
      {},
      { ...bodyOf(), registrar: registrar.party, oracle: oracle.party, ...change }
    )
    yield* Bank.opens()
    yield* configures(registrar, "fund-a", { venue, issuer: { fund, registrar }[issuer].party })
    yield* Calls.write(
      "admission-consent.propose",
      { instrumentId: "fund-a" },
      { fund: fund.party, terms: "consent" }
    )
    yield* does(registrar, acts.registrar.acceptConsent("fund-a"))
    return { venue, registrar, fund, oracle, attestor, bank, holder, asset }
  })
export type Parties = Effect.Success<ReturnType<typeof opened>>

/** A registrar puts an instrument on its register. */
export const configures = (
  registrar: Outsider,
  instrumentId: string,
  { issuer, venue }: { readonly issuer: Party.Party; readonly venue: Party.Party }
) => {
  const defaultIdentifier = { source: "venue", id: instrumentId, scheme: "internal" }
  const instrument = { instrumentId, provider: venue, issuer, defaultIdentifier }
  return does(registrar, acts.registrar.configure(instrument))
}

/** The fund and the registrar agree a market priced by one attestor. */
export const market = (stage: Parties) =>
  Effect.gen(function* () {
    yield* Calls.write(
      "primary-market.propose",
      { instrumentId: "fund-a" },
      {
        fund: stage.fund.party,
        paymentAsset: { admin: stage.bank.party, id: "USD" },
        terms: { attestors: [stage.attestor.party], required: 1 }
      }
    )
    yield* does(stage.fund, acts.fund.acceptMarket("fund-a"))
    yield* does(stage.registrar, acts.registrar.acceptMarket("fund-a"))
  })

/** The issuer and the registrar each accept the powers that were proposed last. */
export const agreesToPowers = (stage: Pick<Parties, "fund" | "registrar">) =>
  Effect.gen(function* () {
    for (const side of [stage.fund, stage.registrar]) {
      const { cid } = yield* newestContract(Templates.IssuerPowersAgreementProposal)
      yield* does(side, acts.registrar.acceptPowers(cid))
    }
  })

/**
 * A holder grants, or declines, the consent to issuer powers that was offered last: also one that has run out,
 * which a wallet leaves alone.
 */
export const answersPowers = (by: Outsider, choice: "Accept" | "Decline" = "Accept") =>
  Effect.flatMap(newestContract(Templates.IssuerPowersConsentOffer), ({ cid }) =>
    by.act(Templates.exercise(Templates.IssuerPowersConsentOffer, cid, choice, {}))
  )

/** A holder takes back the consent it granted last, by the choice itself: a wallet takes no final one back. */
export const revokesPowers = (by: Outsider) =>
  Effect.flatMap(newestContract(Templates.IssuerPowersConsent), ({ cid }) =>
    by.act(Templates.exercise(Templates.IssuerPowersConsent, cid, "Withdraw", {}))
  )

/** The holder is onboarded, accepts, signs terms that are countersigned: active and admitted. */
export const admitted = (stage: Parties) =>
  Effect.gen(function* () {
    yield* onboards(stage)
    yield* accepts(stage)
    yield* signs(stage)
    yield* Calls.write("accepted-terms.accept", { holderId: "h1" }, {})
    yield* does(stage.holder, acts.investor.acceptOffer("fund-a"))
  })

/** The venue registers the holder h1 and asks for its admission to fund-a. */
export const onboards = ({ holder }: Parties) =>
  Calls.write(
    "holder.onboard",
    {},
    {
      holderId: "h1",
      party: holder.party,
      taxResidences: [],
      admissions: [{ instrumentId: "fund-a" }]
    }
  )

export const accepts = ({ holder }: Pick<Parties, "holder">, holderId = "h1") =>
  does(holder, acts.investor.acceptInvitation(holderId))

export const documentHash = "ab".repeat(32)
/** A party signs terms, registered or not, as its wallet would only once it is. */
export const signs = (stage: Parties, by: Outsider = stage.holder) =>
  by.act(
    Templates.create(Templates.SignedTerms, {
      venue: stage.venue,
      holder: by.party,
      holderId: "h1",
      documentHash,
      signedAt: Instant.of(start)
    })
  )

/** Moves the clock on to an instant that is still to come. */
const comesTo = (instant: string) =>
  Effect.flatMap(Instant.now, (now) =>
    Instant.isBefore(now, Instant.of(instant))
      ? TestClock.setTime(Instant.toEpochMillis(Instant.of(instant)))
      : Effect.void
  )

/**
 * The oracle publishes a price valued at an instant, which may be still to come: a point of its own each
 * time, where its program would correct the one that it published of that instant.
 */
export const publishes = (
  stage: Parties,
  price: string,
  valuationTime: string,
  attestors: ReadonlyArray<Party.Party> = [stage.attestor.party]
) =>
  stage.oracle.act(
    Templates.create(Templates.OraclePoint, {
      oracle: stage.oracle.party,
      venue: stage.venue,
      fund: stage.fund.party,
      registrar: stage.registrar.party,
      attestors,
      instrumentId: "fund-a",
      metric: "price",
      value: Decimal.of(price),
      valuationTime: Instant.of(valuationTime),
      period: null,
      withholdingRate: null,
      statementRef: null,
      corrects: null
    })
  )

/** The oracle corrects its newest point. */
export const corrects = (stage: Pick<Parties, "oracle">, price: string, valuationTime: string) =>
  Effect.flatMap(newestContract(Templates.OraclePoint), ({ cid }) =>
    stage.oracle.act(
      Templates.exercise(Templates.OraclePoint, cid, "Correct", {
        ...{ value: Decimal.of(price), valuationTime: Instant.of(valuationTime) },
        ...{ period: null, withholdingRate: null, statementRef: null }
      })
    )
  )

/** The oracle withdraws its newest point without a correction. */
export const withdrawsPoint = (stage: Pick<Parties, "oracle">) =>
  Effect.flatMap(newestContract(Templates.OraclePoint), ({ cid: contractId }) =>
    stage.oracle.act({
      _tag: "Exercise",
      target: Templates.OraclePoint.typeRef,
      contractId,
      choice: "Archive",
      arg: {}
    })
  )

/** The oracle publishes a price valued at an instant, once that has come: a point ahead prices no order. */
export const publishesInTime = (...args: Parameters<typeof publishes>) =>
  Effect.andThen(comesTo(args[2]), publishes(...args))

/** A party attests the claim that stands at the point that stands, with units that may be wrong. */
export const attests = (by: Outsider, units: string, price?: string) =>
  Effect.gen(function* () {
    const claim = yield* newestContract(Templates.SubscriptionClaim)
    const point = yield* newestContract(Templates.OraclePoint)
    yield* by.act(
      Templates.exercise(Templates.SubscriptionClaim, claim.cid, "Attest", {
        attestor: by.party,
        pointCid: point.cid,
        price: Decimal.of(price ?? point.payload.value ?? ""),
        units: Decimal.of(units)
      })
    )
  })
