/** Writes of admissions: offer, withdraw. */
import { Effect, Schema } from "effect"
import { HolderId } from "../holders/holder/HolderId.ts"
import { holders, decide as decideHolder } from "../holders/holder/Holder.ts"
import { InstrumentId, instruments } from "../instruments/instrument/Instrument.ts"
import { judge } from "../kernel/Gates.ts"
import { refused } from "../kernel/Refusal.ts"
import type { OperationAct } from "../records/Act.ts"
import { Records } from "../records/Records.ts"
import * as Lasting from "../writes/LastingLookups.ts"
import * as Operation from "../writes/Operation.ts"
import { sentence } from "../writes/Summary.ts"
import { type Admission, admissions, decide, isAcceptedLate, isPlaced } from "./Admission.ts"
import { latest, onLedgerOf } from "./AdmissionLookups.ts"
import { against } from "./AdmissionRules.ts"
import { ending } from "./AdmissionEnding.ts"
import { idOf, offer, offerCommand, offeringOf, type ConsentTerms } from "./AdmissionSteps.ts"
import * as AdmissionView from "./AdmissionView.ts"
import { reserve } from "./PlaceSteps.ts"

/**
 * Refuses by the holder's state, which is no gate; loads the facts that the gates of the offer need.
 */
const offered = Effect.fnUntraced(function* (
  { holderId, instrumentId, ...terms }: ConsentTerms & Pick<Admission, "holderId" | "instrumentId">,
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
  summary: ({ holderId, instrumentId }) =>
    sentence`Offers holder ${holderId} the admission to instrument ${instrumentId}.`,
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
  lasts: Lasting.whileIn(admissions, (_, { operationId }) => [idOf(operationId)], [
    "offered",
    "admitted"
  ]),
  result: AdmissionView.AdmissionView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  gates: (input, act) => Effect.map(offered(input, act), ({ offering }) => against(offering)),
  plan: Effect.fn("admission.offer")(function* (input, act) {
    const { holder, offering, taken, consentCid } = yield* offered(input, act)
    yield* Effect.fromResult(judge(against(offering)))
    if (consentCid === null) throw new Error("an agreed admission consent has no contract")
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

/** Largest number of contracts that a withdrawal ends; expired offers, which nobody can accept, come last. */
const endedMax = 50

/** Checks whether an admission has a contract that lets its holder be admitted, or receive units. */
const isEndable = (admission: Admission): boolean =>
  isPlaced(admission) || isAcceptedLate(admission)

export const withdraw = Operation.defineOnLedger("admission.withdraw", {
  doc: "Withdraws an offer of admission, or revokes its credential.",
  summary: ({ holderId, instrumentId }) =>
    sentence`Withdraws the admission of holder ${holderId} to instrument ${instrumentId}.`,
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
  // Until the holder is offered the instrument again, or accepts an offer past its time.
  lasts: (pair) =>
    Effect.map(latest(pair), (admission) => admission === null || !isEndable(admission)),
  refuses: ["not-found", "state-conflict"],
  plan: Effect.fn("admission.withdraw")(function* (pair) {
    const admission = yield* latest(pair)
    if (admission === null) {
      return yield* Effect.fail(
        refused("not-found", { detail: "The holder was never offered this instrument." })
      )
    }
    const found = yield* onLedgerOf(pair)
    const endable = found.filter(isEndable)
    const expired = found.filter((other) => !isEndable(other))
    // A credential that was accepted past its time is ended too, though its admission ended before.
    if (endable.length === 0) yield* Effect.fromResult(decide(admission, { on: "withdraw" }))
    const [first, ...rest] = [...endable, ...expired].slice(0, endedMax).map(ending)
    if (first === undefined) throw new Error("an admission that may be withdrawn has no contract")
    return { commands: [first, ...rest], last: true }
  }),
  finish: Effect.fnUntraced(function* (pair) {
    const records = yield* Records
    const admission = yield* latest(pair)
    if (admission === null) throw new Error("a withdrawn admission has no record")
    // `latest` lists committed records only: this transaction changed the record, so it is read again.
    return yield* records.get(admissions, admission.admissionId).pipe(
      Effect.map(AdmissionView.of),
      Effect.catchTag("Refused", () => Effect.die(new Error("an admission vanished")))
    )
  })
})
