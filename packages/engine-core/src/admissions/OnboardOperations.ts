/** Write that registers a holder with its attributes and offers its first admissions. */
import { Effect, Schema } from "effect"
import * as Registration from "../holders/holder/RegistrationSteps.ts"
import { StatedList } from "../holders/attribute/Attribute.ts"
import * as HolderView from "../holders/holder/HolderView.ts"
import { InstrumentId, instruments } from "../instruments/instrument/Instrument.ts"
import { condition, judge as judgeGates } from "../kernel/Gates.ts"
import type { OperationAct } from "../records/Act.ts"
import { Records } from "../records/Records.ts"
import * as Operation from "../writes/Operation.ts"
import { count, sentence } from "../writes/Summary.ts"
import { againstAtOnboarding } from "./AdmissionRules.ts"
import { idOf as idOfAdmission, offer, offerCommand, offeringOf } from "./AdmissionSteps.ts"
import { reserve } from "./PlaceSteps.ts"

/** Largest number of admissions that are offered with a registration. */
const admissionsMax = 32
const Onboarding = Schema.Struct({
  ...Registration.Registration.fields,
  attributes: StatedList.pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  admissions: Schema.Array(Schema.Struct({ instrumentId: InstrumentId, ...offer }))
    .check(Schema.isMaxLength(admissionsMax))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
})

export const onboard = Operation.defineOnLedger("holder.onboard", {
  doc: "Registers a holder with its attributes, and offers it its first admissions, all in one.",
  summary: ({ admissions = [], attributes = [] }, { resource }) =>
    sentence`Registers holder ${resource.id} with ${count(attributes.length, "attribute")} and offers it ${count(admissions.length, "admission")}.`,
  route: "POST /v1/holders:onboard",
  makers: ["operator", "app"],
  approvers: 0,
  resource: Registration.resource,
  input: Onboarding,
  complete: (input, makeId) => Registration.completed(input, makeId),
  result: HolderView.HolderView,
  shownResult: Registration.shownResult,
  refuses: ["already-exists", "not-found", "rule-refused"],
  plan: Effect.fn("holder.onboard.plan")(function* (input, act) {
    yield* Registration.judge(input, act)
    // The invitation comes first: the projection opens the holder before it reads its offers.
    const invitation = yield* Registration.invite(input, input.attributes, act)
    const offers = yield* offersOf(input, act)
    return { commands: [invitation, ...offers], last: true }
  }),
  finish: (input, act) => Registration.described(input, input.attributes, act)
})

/** Judges the admissions to be offered, reserves their places and makes their commands. */
const offersOf = (input: typeof Onboarding.Type, act: OperationAct) =>
  Effect.forEach(input.admissions, ({ instrumentId, ...terms }, nth) =>
    Effect.gen(function* () {
      const records = yield* Records
      const instrument = yield* records.get(instruments, instrumentId)
      const first = input.admissions.findIndex((entry) => entry.instrumentId === instrumentId)
      yield* Effect.fromResult(judgeGates([condition("instrument-repeated", first === nth)]))
      const { offering, taken, consentCid } = yield* offeringOf({
        holderId: Registration.holderIdOf(input),
        holder: { attributes: [], screening: null },
        instrument,
        terms,
        act
      })
      yield* Effect.fromResult(judgeGates(againstAtOnboarding(offering)))
      if (consentCid === null) throw new Error("an agreed admission consent has no contract")
      const admissionId = idOfAdmission(act.operationId, nth)
      yield* reserve(taken, admissionId, act)
      return [...taken.clears, offerCommand({ consentCid, admissionId, party: input.party, terms })]
    })
  ).pipe(Effect.map((all) => all.flat()))
