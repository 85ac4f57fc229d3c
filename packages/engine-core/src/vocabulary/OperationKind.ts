/** Kinds of write, named by the record and the verb. */
import type { OwnDottedWord } from "./OwnWord.ts"
import * as ValueSet from "./ValueSet.ts"

/** Kinds of write that a caller can ask for; each has one route. */
const requestable = [
  "instrument.record",
  "policy.set",
  "admission-consent.propose",
  "instrument.pause",
  "holder.register",
  "holder.onboard",
  "holder.close",
  "holder.register-successor",
  "holder.set-attributes",
  "admission.offer",
  "admission.withdraw",
  "accepted-terms.accept",
  "subscription.claim",
  "subscription.withdraw",
  "subscription.deliver",
  "subscription.settle",
  "subscription.release",
  "primary-market.propose",
  "redemption.claim",
  "redemption.withdraw",
  "redemption.release",
  "redemption.settle",
  "dealing-cycle.open",
  "dealing-cycle.settle",
  "dealing-cycle.release",
  "standing-settlement.open",
  "standing-settlement.settle",
  "standing-settlement.pause",
  "standing-settlement.resume",
  "standing-settlement.close",
  "reserve.propose",
  "reserve.close",
  "lock-agreement.propose",
  "lock-agreement.release",
  "mint.start",
  "mint.cancel",
  "reserve-redemption.start",
  "reserve-redemption.cancel",
  "reserve-report.create",
  "amendment.propose",
  "amendment.withdraw",
  "provision-settlement.propose",
  "distribution.execute",
  "distribution.roll",
  "standing-approval.grant",
  "standing-approval.revoke",
  "holder.restrict",
  "holder.restrict-batch",
  "restriction.lift",
  "issuer-powers-agreement.propose",
  "issuer-powers-consent.offer",
  "holder.force-transfer",
  "holder.recover",
  "instrument.force-transfer",
  "instrument.recover",
  "hold.release",
  "external-account.map",
  "webhook.register",
  "webhook.remove",
  "webhook.test"
] as const

/** Kinds that only the engine opens, once a record is ready for them; they have no route. */
export const engineOpened = [
  "mint.settle",
  "reserve-redemption.settle",
  "distribution.instruct"
] as const

/** A kind of the engine's, written out: declarations name it, where an inferred one would be inlined into each. */
export type BuiltInOperationKind = (typeof requestable)[number] | (typeof engineOpened)[number]
/** A kind of the engine's, or of a room that a venue adds. */
export type OperationKind = BuiltInOperationKind | OwnDottedWord

export const OperationKind: ValueSet.RoomSet<OperationKind, BuiltInOperationKind> =
  ValueSet.openToDottedWords("OperationKind", "What a write does, as <record>.<verb>.", [
    ...requestable,
    ...engineOpened
  ])

/** Kind of an operation that people ask for. */
export type AskedOperationKind = (typeof requestable)[number]

/** Kind of an operation that the engine opens by itself. */
export type EngineOpenedOperationKind = (typeof engineOpened)[number] | OwnDottedWord

/** The kinds a caller can ask for: all but those the engine opens by itself. */
export const askedOperationKinds: ReadonlyArray<AskedOperationKind> = requestable
