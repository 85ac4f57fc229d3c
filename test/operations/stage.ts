/** A venue in memory with its outside parties, each acting with its own token: where orders are walked. */
import { type Caller, Catalogue, Engine, FourEyes, Records } from "@bursar/engine-core"
import { Decimal, Instant, type Party, PlainJson } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { contracts } from "#core/projection/Contract.ts"
import { unexpectedFacts } from "#core/projection/Unexpected.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import { bodyOf } from "./instrumentBody.ts"

/** A Friday, four hours before the cut-off. */
export const start = "2026-07-31T12:00:00Z"

export const person = (sub: string, ...roles: Caller.Caller["roles"]): Caller.Caller => ({
  sub,
  name: null,
  email: null,
  roles,
  holderId: null,
  party: null
})
export const operator = person("olga", "operator")
const approvers = [person("ada", "approver"), person("abel", "approver")]

/** A body as a test writes it: short decimals only, since these numbers are doubles. */
export type Json =
  | null
  | boolean
  | string
  | number
  | ReadonlyArray<Json>
  | { readonly [member: string]: Json }

/** What became of a write: refused at the door, or an operation that ended. */
export interface Ended {
  readonly state: "refused" | "queued" | "running" | "succeeded" | "failed"
  /** `slug gate check` of the refusal. */
  readonly why: string
  readonly result: Record<string, unknown>
}

export const settle = Effect.flatMap(Engine.Engine, (engine) => engine.settle)

let requests = 0
const identity = () => ({ requestId: `req-${++requests}`, traceId: null, keyId: null })

const plain = (body: Json): PlainJson.Plain =>
  Result.getOrThrow(PlainJson.parse(JSON.stringify(body)))

const memberOf = (value: PlainJson.Plain, name: string): PlainJson.Plain =>
  (value as { readonly [member: string]: PlainJson.Plain })[name] ?? null

/** Sends a write as it is and leaves it there. */
const send = (
  kind: string,
  params: Readonly<Record<string, string>>,
  body: Json,
  by: { readonly caller: Caller.Caller; readonly ifMatch: string | null }
) =>
  Effect.gen(function* () {
    const door = yield* FourEyes
    const operation = Catalogue.operations.find((one) => one.kind === kind)
    if (operation === undefined) throw new Error(`no operation ${kind}`)
    const route = operation.route.slice(operation.route.indexOf(" ") + 1)
    const path = route.replaceAll(/\{([a-zA-Z]+)\}/g, (_, name: string) => params[name] ?? "")
    return yield* door.submit(operation, {
      caller: by.caller,
      identity: identity(),
      key: `key-${++requests}`,
      ifMatch: by.ifMatch,
      path,
      query: "",
      body: plain(body),
      params
    })
  })

/** Has as many people sign as it takes. */
const approve = (actionKey: PlainJson.Plain) =>
  Effect.gen(function* () {
    const door = yield* FourEyes
    const [first, ...rest] = approvers.map((caller) =>
      door.approve({ actionKey: String(actionKey), caller, identity: identity() })
    )
    if (first === undefined) throw new Error("nobody approves")
    let answer = yield* first
    for (const next of rest) {
      if (memberOf(answer.value, "state") === "awaiting") answer = yield* next
    }
    return answer
  })

/** Sends a write, has it approved where it needs that, runs the engine until it rests. */
export const write = (
  kind: string,
  params: Readonly<Record<string, string>>,
  body: Json,
  caller: Caller.Caller = operator,
  ifMatch: string | null = null
) =>
  Effect.gen(function* () {
    const answer = yield* Effect.result(send(kind, params, body, { caller, ifMatch }))
    if (Result.isFailure(answer)) return refusedAs(answer.failure)
    const opened =
      memberOf(answer.success.value, "state") === "awaiting"
        ? yield* approve(memberOf(answer.success.value, "actionKey"))
        : answer.success
    yield* settle
    return yield* ended(String(memberOf(opened.value, "operationId")))
  })

/** Sends a four-eyes write and leaves it with its approvers; answers its key. */
export const made = (
  kind: string,
  params: Readonly<Record<string, string>>,
  body: Json,
  ifMatch: string | null = null
) =>
  Effect.map(send(kind, params, body, { caller: operator, ifMatch }), ({ value }) =>
    memberOf(value, "actionKey")
  )

/** Approves what was made; what became of it. */
export const approved = (actionKey: PlainJson.Plain) =>
  Effect.gen(function* () {
    const answer = yield* Effect.result(approve(actionKey))
    if (Result.isFailure(answer)) return refusedAs(answer.failure)
    yield* settle
    return yield* ended(String(memberOf(answer.success.value, "operationId")))
  })

const refusedAs = (failure: unknown): Ended => {
  const { slug, details } = failure as { slug: string; details?: { gate?: string; check?: string } }
  const why = [slug, details?.gate, details?.check].filter((one) => one !== undefined).join(" ")
  return { state: "refused", why, result: {} }
}

const ended = (operationId: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const record = yield* records.get(operations, operationId)
    const problem = record.problem as { type?: string; gate?: string; check?: string } | null
    const why =
      problem === null
        ? ""
        : [problem.type?.split(":").at(-1), problem.gate, problem.check]
            .filter((one) => one !== null && one !== undefined)
            .join(" ")
    return {
      state: record.state,
      why,
      result: (record.result ?? {}) as unknown as Record<string, unknown>
    } satisfies Ended
  })

/** An outside party with its own token. */
export const outsider = (hint: string) =>
  Effect.gen(function* () {
    const participant = yield* SimulatedLedger.Participant
    const { party, token } = yield* participant.admin.addParty({ hint, kind: "local" })
    const user = yield* participant.authenticate(token)
    let commands = 0
    /** Acts on the ledger, alone or beside nobody else; then the engine reads it. */
    const act = (...said: ReadonlyArray<Ledger.Command>) =>
      Effect.gen(function* () {
        yield* participant.submit(user, {
          commandId: `${hint}:${++commands}`,
          actAs: [party],
          readAs: [],
          commands: said,
          dedup: null,
          submissionId: `${hint}:${commands}`,
          workflowId: null,
          disclosed: [],
          minLedgerTime: null,
          traceparent: null
        })
        yield* settle
      })
    return { party, act }
  })
export type Outsider = Effect.Success<ReturnType<typeof outsider>>

/** The last active contract of a template that the venue sees, with its payload as the ledger shows it. */
export const standing = (template: { readonly typeRef: Templates.TypeRef }) =>
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
export const unlocked = (owner: Party.Party) =>
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

/** How many contracts of a template stand. */
export const count = (template: { readonly typeRef: Templates.TypeRef }) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.list(contracts, {
      where: { template: [Templates.key(template.typeRef)], active: ["true"] },
      limit: 100
    })
    return found.length
  })

/** What the last operation of a kind sent to the ledger, as text. */
export const sent = (kind: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.list(operations, { where: { kind: [kind] }, limit: 100 })
    return JSON.stringify(found.at(-1)?.record.step?.commands ?? [])
  })

/** Every ledger fact that was kept because no table allows it. */
export const surprises = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.list(unexpectedFacts, { limit: 100 })
  return found.map(({ record }) => `${record.resourceKind} ${record.on}: ${record.detail}`)
})

/** The instrument recorded and configured, its registrar's consent given; no market yet. */
export const opened = (change: Readonly<Record<string, Json>> = {}, from = start) =>
  Effect.andThen(TestClock.setTime(Instant.toEpochMillis(Instant.of(from))), founded(change))

/** The same, at whatever time it is. */
export const founded = (change: Readonly<Record<string, Json>> = {}) =>
  Effect.gen(function* () {
    const participant = yield* SimulatedLedger.Participant
    const venue = (yield* participant.admin.parties).find(({ hint }) => hint === "venue")
    if (venue === undefined) throw new Error("no venue")
    const registrar = yield* outsider("registrar")
    const fund = yield* outsider("fund")
    const oracle = yield* outsider("oracle")
    const attestor = yield* outsider("attestor")
    const bank = yield* outsider("bank")
    const holder = yield* outsider("holder")
    const asset = { admin: registrar.party, id: "fund-a" }
    yield* write(
      "instrument.record",
      {},
      { ...bodyOf(), registrar: registrar.party, oracle: oracle.party, ...change }
    )
    yield* registrar.act(
      Templates.create(Templates.InstrumentConfiguration, {
        registrar: registrar.party,
        provider: venue.party,
        issuer: fund.party,
        instrument: asset,
        defaultIdentifier: { source: "venue", id: "fund-a", scheme: "internal" },
        additionalIdentifiers: [],
        holderRequirements: [],
        issuerRequirements: []
      })
    )
    yield* write(
      "admission-consent.propose",
      { instrumentId: "fund-a" },
      { fund: fund.party, terms: "consent" }
    )
    const proposal = yield* standing(Templates.AdmissionConsentProposal)
    yield* registrar.act(
      Templates.exercise(Templates.AdmissionConsentProposal, proposal.cid, "Accept", {})
    )
    return { venue: venue.party, registrar, fund, oracle, attestor, bank, holder, asset }
  })
export type Stage = Effect.Success<ReturnType<typeof opened>>

/** The fund and the registrar agree a market priced by one attestor. */
export const market = (stage: Stage) =>
  Effect.gen(function* () {
    yield* write(
      "primary-market.propose",
      { instrumentId: "fund-a" },
      {
        fund: stage.fund.party,
        paymentAsset: { admin: stage.bank.party, id: "USD" },
        terms: { attestors: [stage.attestor.party], required: 1 }
      }
    )
    for (const side of [stage.fund, stage.registrar]) {
      const { cid } = yield* standing(Templates.PrimaryMarketProposal)
      yield* side.act(
        Templates.exercise(Templates.PrimaryMarketProposal, cid, "Accept", { party: side.party })
      )
    }
  })

/** The issuer and the registrar each accept the powers that were proposed last. */
export const agreesToPowers = (stage: Pick<Stage, "fund" | "registrar">) =>
  Effect.gen(function* () {
    for (const side of [stage.fund, stage.registrar]) {
      const { cid } = yield* standing(Templates.IssuerPowersAgreementProposal)
      yield* side.act(
        Templates.exercise(Templates.IssuerPowersAgreementProposal, cid, "Accept", {
          party: side.party
        })
      )
    }
  })

/** A holder grants, or declines, the consent to issuer powers that was offered last. */
export const answersPowers = (by: Outsider, choice: "Accept" | "Decline" = "Accept") =>
  Effect.flatMap(standing(Templates.IssuerPowersConsentOffer), ({ cid }) =>
    by.act(Templates.exercise(Templates.IssuerPowersConsentOffer, cid, choice, {}))
  )

/** A holder takes back the consent it granted last. */
export const revokesPowers = (by: Outsider) =>
  Effect.flatMap(standing(Templates.IssuerPowersConsent), ({ cid }) =>
    by.act(Templates.exercise(Templates.IssuerPowersConsent, cid, "Withdraw", {}))
  )

/** The holder is onboarded, accepts, signs terms that are countersigned: active and admitted. */
export const admitted = (stage: Stage) =>
  Effect.gen(function* () {
    yield* write(
      "holder.onboard",
      {},
      {
        holderId: "h1",
        party: stage.holder.party,
        taxResidences: [],
        admissions: [{ instrumentId: "fund-a" }]
      }
    )
    yield* accepts(stage)
    yield* signs(stage)
    yield* write("accepted-terms.accept", { holderId: "h1" }, {})
    const offer = yield* standing(Templates.AdmissionOffer)
    yield* stage.holder.act(Templates.exercise(Templates.AdmissionOffer, offer.cid, "Accept", {}))
  })

export const accepts = ({ holder }: Stage) =>
  Effect.flatMap(standing(Templates.HolderInvitation), ({ cid }) =>
    holder.act(Templates.exercise(Templates.HolderInvitation, cid, "Accept", {}))
  )

export const documentHash = "ab".repeat(32)
export const signs = (stage: Stage, by: Outsider = stage.holder) =>
  by.act(
    Templates.create(Templates.SignedTerms, {
      venue: stage.venue,
      holder: by.party,
      holderId: "h1",
      documentHash,
      signedAt: Instant.of(start)
    })
  )

/** The oracle publishes a price valued at an instant. */
export const publishes = (
  stage: Stage,
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

/** A party attests the claim that stands at the point that stands. */
export const attests = (by: Outsider, units: string, price?: string) =>
  Effect.gen(function* () {
    const claim = yield* standing(Templates.SubscriptionClaim)
    const point = yield* standing(Templates.OraclePoint)
    yield* by.act(
      Templates.exercise(Templates.SubscriptionClaim, claim.cid, "Attest", {
        attestor: by.party,
        pointCid: point.cid,
        price: Decimal.of(price ?? point.payload.value ?? ""),
        units: Decimal.of(units)
      })
    )
  })
