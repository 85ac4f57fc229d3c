/** Writes of admissions: offer, withdraw. */
import { Effect, Option, Result, Schema, Stream } from "effect"
import { HolderId, holders } from "../../holders/holder/Holder.ts"
import { decide as decideHolder } from "../../holders/holder/HolderMachine.ts"
import { judge } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Party } from "../../kernel/Party.ts"
import { refused } from "../../kernel/Refusal.ts"
import { contracts } from "../../projection/Contract.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { AdmissionConsent, AdmissionOffer } from "../../templates/Admission.ts"
import * as Field from "../../templates/Field.ts"
import { Credential, InstrumentConfiguration } from "../../templates/Registry.ts"
import { decodePayload, exercise, type LfRecord } from "../../templates/Template.ts"
import * as Operation from "../../writes/Operation.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import {
  configurationOf,
  InstrumentId,
  type Instrument,
  instruments
} from "../../instruments/instrument/Instrument.ts"
import { type Admission, admissions, pairOf } from "./Admission.ts"
import * as AdmissionView from "./AdmissionView.ts"
import { standing } from "./AdmissionConsentOperations.ts"
import { decide } from "./AdmissionMachine.ts"
import { against, type Offering } from "./AdmissionRules.ts"
import { reserve, takenOf } from "./PlaceSteps.ts"

const word = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200))

/** Members of an offer; the claims answer the registry's holder requirements. */
export const offer = {
  validFrom: Field.optional(Instant.schema),
  validUntil: Field.optional(Instant.schema),
  expiresAt: Field.optional(Instant.schema),
  claims: Schema.Array(Schema.Struct({ property: word, value: word }))
    .check(Schema.isMaxLength(32))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
} as const
const Terms = Schema.Struct(offer)
export type Terms = typeof Terms.Type

/** The id of the nth admission that an operation offers, and of its credential on the ledger. */
export const idOf = (operationId: string, nth = 0): string =>
  operationId.replace(/^op_/, "adm_") + (nth === 0 ? "" : `.${nth}`)

/** The latest admission of a holder to an instrument; null: there never was one. */
export const latest = Effect.fnUntraced(function* (
  of: Pick<Admission, "holderId" | "instrumentId">
) {
  const records = yield* Records
  const [found] = yield* records.list(admissions, {
    where: { pair: [pairOf(of)] },
    direction: "desc",
    limit: 1
  })
  return found === undefined ? null : found.record
})

/** Look-up of everything that the checks of an offer need. */
export const offeringOf = Effect.fnUntraced(function* (of: {
  readonly holderId: string
  readonly holder: Offering["holder"]
  readonly instrument: Instrument
  readonly terms: Pick<Terms, "expiresAt" | "validFrom" | "validUntil">
  readonly act: OperationAct
}) {
  const { act, holder, terms } = of
  // An instrument without terms is refused before any gate.
  const instrument = yield* Effect.fromResult(recorded(of.instrument))
  const { instrumentId } = instrument
  const consent = yield* standing(instrumentId)
  const taken = yield* takenOf(instrument, act)
  const offering: Offering = {
    holder,
    instrument,
    latest: yield* latest({ holderId: of.holderId, instrumentId }),
    consent,
    required: yield* requiredOf(instrument),
    taken: taken.count,
    expiresAt: terms.expiresAt,
    validFrom: terms.validFrom,
    validUntil: terms.validUntil,
    now: act.now
  }
  return { offering, taken, consentCid: consent?.consentCid ?? null }
})

/** Holder requirements of the registrar's current configuration. */
const requiredOf = Effect.fnUntraced(function* (instrument: Instrument) {
  const records = yield* Records
  const contractId = configurationOf(instrument)
  if (contractId === null) return []
  const found = yield* records.find(contracts, contractId)
  if (Option.isNone(found)) return []
  const read = decodePayload(InstrumentConfiguration, found.value.payload as LfRecord)
  if (Result.isFailure(read)) throw new Error(`configuration ${contractId} does not read`)
  return read.success.holderRequirements
})

/** The command that offers the credential, as the registrar's consent allows. */
export const offerCommand = (of: {
  readonly consentCid: string
  readonly admissionId: string
  readonly party: Party
  readonly terms: Terms
}) =>
  exercise(AdmissionConsent, of.consentCid, "Offer", {
    holder: of.party,
    credentialId: of.admissionId,
    claims: of.terms.claims.map((claim) => ({ subject: of.party, ...claim })),
    validFrom: of.terms.validFrom,
    validUntil: of.terms.validUntil,
    expiresAt: of.terms.expiresAt
  })

/** The holder's state, which is no gate, then everything that the offer's gates ask. */
const offered = Effect.fnUntraced(function* (
  { holderId, instrumentId, ...terms }: Terms & Pick<Admission, "holderId" | "instrumentId">,
  act: OperationAct
) {
  const records = yield* Records
  const holder = yield* records.get(holders, holderId)
  const instrument = yield* records.get(instruments, instrumentId)
  yield* Effect.fromResult(decideHolder(holder, { on: "admit" }))
  const found = yield* offeringOf({ holderId, holder, instrument, terms, act })
  return { holder, ...found }
})

export const offerAdmission = Operation.defineOnLedger("admission.offer", {
  doc: "Offers a holder the credential with which it may hold an instrument.",
  route: "POST /v1/holders/{holderId}/admissions",
  makers: ["operator"],
  approvers: 0,
  resource: {
    kind: "holder",
    id: ({ holderId }) => holderId,
    href: ({ holderId }) => `/v1/holders/${holderId}/admissions`,
    instrumentId: ({ instrumentId }) => instrumentId,
    holderId: ({ holderId }) => holderId
  },
  input: Schema.Struct({ holderId: HolderId, instrumentId: InstrumentId, ...offer }),
  result: AdmissionView.AdmissionView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  gates: (input, act) => Effect.map(offered(input, act), ({ offering }) => against(offering)),
  plan: Effect.fn("admission.offer")(function* (input, act) {
    const { holder, offering, taken, consentCid } = yield* offered(input, act)
    yield* Effect.fromResult(judge(against(offering)))
    if (consentCid === null) throw new Error("a consent that is agreed stands on no contract")
    const admissionId = idOf(act.operationId)
    yield* reserve(taken, admissionId, act)
    const command = offerCommand({ consentCid, admissionId, party: holder.party, terms: input })
    const [first, ...rest] = [...taken.clears, command]
    return { commands: [first ?? command, ...rest], last: true }
  }),
  finish: (_, act) =>
    Effect.flatMap(Records, (records) => records.get(admissions, idOf(act.operationId))).pipe(
      Effect.map(AdmissionView.of),
      Effect.catchTag("Refused", () => Effect.die(new Error("the offer was not read")))
    )
})

export const withdraw = Operation.defineOnLedger("admission.withdraw", {
  doc: "Withdraws an offer of admission, or revokes its credential.",
  route: "POST /v1/holders/{holderId}/admissions/{instrumentId}:withdraw",
  makers: ["operator", "compliance"],
  approvers: 0,
  resource: {
    kind: "holder",
    id: ({ holderId }) => holderId,
    href: ({ holderId }) => `/v1/holders/${holderId}/admissions`,
    instrumentId: ({ instrumentId }) => instrumentId,
    holderId: ({ holderId }) => holderId
  },
  input: Schema.Struct({ holderId: HolderId, instrumentId: InstrumentId }),
  result: AdmissionView.AdmissionView,
  refuses: ["not-found", "state-conflict"],
  plan: Effect.fn("admission.withdraw")(function* (pair) {
    const admission = yield* latest(pair)
    if (admission === null) {
      return yield* Effect.fail(
        refused("not-found", { detail: "The holder was never offered this instrument." })
      )
    }
    yield* Effect.fromResult(decide(admission, { on: "withdraw" }))
    return { commands: [ending(admission)], last: true }
  }),
  finish: Effect.fnUntraced(function* (pair) {
    const records = yield* Records
    const admission = yield* latest(pair)
    if (admission === null) throw new Error("an admission that was withdrawn is not there")
    // The list reads committed records; this transaction has changed the record since.
    return yield* records.get(admissions, admission.admissionId).pipe(
      Effect.map(AdmissionView.of),
      Effect.catchTag("Refused", () => Effect.die(new Error("an admission vanished")))
    )
  })
})

/** The command that ends an admission, whichever contract it stands on. */
export const ending = ({ offerCid, credentialCid }: Admission) => {
  if (offerCid !== null) return exercise(AdmissionOffer, offerCid, "Withdraw", {})
  if (credentialCid !== null) return exercise(Credential, credentialCid, "Revoke", {})
  throw new Error("an admission that stands has no contract")
}

/**
 * The admissions of these holders that have a contract on the ledger, those that have run out too:
 * the ledger's clock may be behind the engine's, and let such a credential pass once more.
 */
export const onLedger = Effect.fnUntraced(function* (holderIds: ReadonlyArray<string>) {
  const records = yield* Records
  const where = { holderId: holderIds, state: ["offered", "admitted", "expired"] }
  const found = yield* Stream.runCollect(records.stream(admissions, { where }))
  return found
    .map(({ record }) => record)
    .filter(({ offerCid, credentialCid }) => offerCid !== null || credentialCid !== null)
})
