/**
 * Steps of registering a holder, shared by its registration and its onboarding: gates, invitation,
 * stated details.
 */
import { Effect, Schema } from "effect"
import { condition, judge as judgeGates } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import { Crypto } from "../../ports/Crypto.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { HolderInvitation } from "../../templates/Admission.ts"
import * as Field from "../../templates/Field.ts"
import { create } from "../../templates/Template.ts"
import * as AttributeRules from "../attribute/AttributeRules.ts"
import { AttributeMachine, type Attribute, type StatedAttribute } from "../attribute/Attribute.ts"
import * as Screenings from "../screening/AskRunner.ts"
import { HolderId } from "./HolderId.ts"
import { holders } from "./Holder.ts"
import { statedDetails } from "./HolderDetails.ts"
import * as HolderView from "./HolderView.ts"
import { judgeNew } from "./NewHolderSteps.ts"

export const Registration = Schema.Struct({
  /** Made by the engine when the caller names none. */
  holderId: Field.optional(HolderId),
  party: Party.schema,
  custodian: Field.optional(Party.schema),
  /** End of the registration; without it, the registration holds until it is closed. */
  validUntil: Field.optional(Instant.schema),
  ...statedDetails
})
export type Registration = typeof Registration.Type

/** Resource of the operations that register a holder. */
export const resource = {
  kind: "holder",
  id: (input: NamedHolder) => holderIdOf(input),
  href: (input: NamedHolder) => `/v1/holders/${holderIdOf(input)}`,
  holderId: (input: NamedHolder) => holderIdOf(input)
} as const
type NamedHolder = Pick<Registration, "holderId">

/** Gives a registration without a holder id one that the engine made. */
export const completed = <I extends { readonly holderId: HolderId | null }>(
  input: I,
  makeId: () => string
): I => (input.holderId === null ? { ...input, holderId: idOf(makeId()) } : input)

/** Reads a holder id that the engine made; throws where the text is none. */
export const idOf = Schema.decodeSync(HolderId)

export const holderIdOf = ({ holderId }: NamedHolder): HolderId =>
  RecordId.made(holderId, "a holder")

/**
 * Judges a registration: the id and the party are free, and its end lies ahead. Refuses with
 * already-exists or rule-refused.
 */
export const judge = Effect.fnUntraced(function* (input: Registration, act: OperationAct) {
  yield* judgeNew({ holderId: holderIdOf(input), party: input.party }, act)
  const isInTime = input.validUntil === null || Instant.isAfter(input.validUntil, act.now)
  yield* Effect.fromResult(judgeGates([condition("valid-until", isInTime)]))
})

/**
 * Makes the command that invites the holder. The ledger keeps a digest of the attributes, never the
 * attributes.
 */
export const invite = Effect.fnUntraced(function* (
  input: Registration,
  attributes: ReadonlyArray<StatedAttribute>,
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
        attributes.map((attribute) => ({ ...attribute, state: AttributeMachine.initial }))
      )
    ),
    validUntil: input.validUntil
  })
})

/**
 * Adds the details that the caller stated, and that the ledger does not hold, to the holder's record;
 * asks for the first screening.
 */
export const described = Effect.fnUntraced(function* (
  input: Registration,
  attributes: ReadonlyArray<StatedAttribute>,
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
  const after = yield* records.append(
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

/** Reads a registered holder as its investor and an app do, without its screening. */
export const shownResult = Effect.fnUntraced(function* (input: NamedHolder) {
  const records = yield* Records
  return yield* records.get(holders, holderIdOf(input)).pipe(
    Effect.map(HolderView.ofOwn),
    Effect.catchTag("Refused", () => Effect.die(new Error("a registered holder has no record")))
  )
})

/** A stated attribute whose evidence is not verified. */
const pending = (attribute: StatedAttribute, act: OperationAct): Attribute => ({
  ...attribute,
  state: AttributeMachine.initial,
  validFrom: attribute.validFrom ?? act.now,
  setBy: act.actor
})
