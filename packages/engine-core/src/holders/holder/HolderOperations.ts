/** Writes of a holder: register; and the steps that onboarding shares with it. */
import { Effect, Schema } from "effect"
import { check, judge as judgeGates } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Party from "../../kernel/Party.ts"
import { Crypto } from "../../ports/Crypto.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { HolderInvitation } from "../../templates/Admission.ts"
import * as Field from "../../templates/Field.ts"
import { create } from "../../templates/Template.ts"
import * as Operation from "../../writes/Operation.ts"
import * as AttributeRules from "../attribute/AttributeRules.ts"
import { AttributeMachine } from "../attribute/AttributeMachine.ts"
import * as Screenings from "../screening/AskRunner.ts"
import { HolderId, holders } from "./Holder.ts"
import { type Attribute, Details, type Stated } from "./HolderDetails.ts"
import * as HolderView from "./HolderView.ts"
import { judgeNew } from "./NewHolderSteps.ts"

export const Registering = Schema.Struct({
  /** Made by the engine when the caller names none. */
  holderId: Field.optional(HolderId),
  party: Party.schema,
  custodian: Field.optional(Party.schema),
  /** How long the registration holds; without it, until it is closed. */
  validUntil: Field.optional(Instant.schema),
  ...Details.fields
})
export type Registering = typeof Registering.Type

export const resource = {
  kind: "holder",
  id: (input: Named) => holderIdOf(input),
  href: (input: Named) => `/v1/holders/${holderIdOf(input)}`,
  holderId: (input: Named) => holderIdOf(input)
} as const
type Named = Pick<Registering, "holderId">

export const register = Operation.defineOnLedger("holder.register", {
  doc: "Registers a holder: its party is invited, and accepts from its own wallet.",
  route: "POST /v1/holders",
  makers: ["operator", "app"],
  approvers: 0,
  resource,
  input: Registering,
  complete: (input, makeId) => completed(input, makeId),
  result: HolderView.HolderView,
  refuses: ["already-exists", "rule-refused"],
  plan: Effect.fn("holder.register.plan")(function* (input, act) {
    yield* judge(input, act)
    return { commands: [yield* invite(input, [], act)], last: true }
  }),
  finish: (input, act) => described(input, [], act)
})

export const completed = <I extends { readonly holderId: HolderId | null }>(
  input: I,
  makeId: () => string
): I => (input.holderId === null ? { ...input, holderId: idOf(makeId()) } : input)

export const idOf = Schema.decodeSync(HolderId)

export const holderIdOf = ({ holderId }: Named): HolderId => {
  if (holderId === null) throw new Error("a holder is registered under an id")
  return holderId
}

/** Beside that a registration ends after it begins. */
export const judge = Effect.fnUntraced(function* (input: Registering, act: OperationAct) {
  yield* judgeNew({ holderId: holderIdOf(input), party: input.party }, act)
  const isInTime = input.validUntil === null || Instant.isAfter(input.validUntil, act.now)
  yield* Effect.fromResult(judgeGates([check("valid-until", isInTime)]))
})

/** The ledger keeps a digest of the attributes, never the attributes. */
export const invite = Effect.fnUntraced(function* (
  input: Registering,
  attributes: ReadonlyArray<Stated>,
  act: OperationAct
) {
  const crypto = yield* Crypto
  return create(HolderInvitation, {
    venue: act.venue,
    holderId: holderIdOf(input),
    holder: input.party,
    custodian: input.custodian,
    predecessor: null,
    attributesDigest: crypto.sha256(
      AttributeRules.digestText(
        attributes.map((one) => ({ ...one, state: AttributeMachine.initial }))
      )
    ),
    validUntil: input.validUntil
  })
})

/** Adds to the record what the caller stated and the ledger does not hold. */
export const described = Effect.fnUntraced(function* (
  input: Registering,
  attributes: ReadonlyArray<Stated>,
  act: OperationAct
) {
  const records = yield* Records
  const holder = yield* records
    .get(holders, holderIdOf(input))
    .pipe(
      Effect.catchTag("Refused", () =>
        Effect.die(new Error("an invited holder was not read off the ledger"))
      )
    )
  const { legalName, lei, classification, taxResidences } = input
  const after = yield* records.record(
    holders,
    holder,
    {
      on: "describe",
      at: act.now,
      legalName,
      lei,
      classification,
      taxResidences,
      attributes: attributes.map((attribute) => pending(attribute, act))
    },
    act
  )
  return HolderView.of(yield* Screenings.ask(after, act))
})

/** Nobody has verified the evidence yet. */
const pending = (stated: Stated, act: OperationAct): Attribute => ({
  ...stated,
  state: AttributeMachine.initial,
  validFrom: stated.validFrom ?? act.now,
  setBy: act.actor
})

export const operations = [register] as const
