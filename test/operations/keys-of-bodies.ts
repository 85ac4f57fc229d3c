/** Table of the keys of bodies: how long one of each kind of write names the write that it made. */
import type { OperationKind } from "#core/vocabulary/OperationKind.ts"

/** A key of a body: for its window, until what the write made has left its state, or of no caller. */
type BodyKey =
  | { readonly key: "for-good"; readonly why: string }
  | { readonly key: "until-left" }
  | { readonly key: "no-route" }

const untilLeft = { key: "until-left" } as const
const noRoute = { key: "no-route" } as const
const forGood = (why: string) => ({ key: "for-good", why }) as const
const anEnd = forGood("an end")
const moved = forGood("units moved once; another move of the same units has a key")
const oneHolder = forGood("an id of a holder is used once")

export const keysOfBodies: Readonly<Record<OperationKind, BodyKey>> = {
  "instrument.record": forGood("an instrument is recorded once"),
  "policy.set": untilLeft,
  "admission-consent.propose": untilLeft,
  "instrument.pause": untilLeft,
  "holder.register": oneHolder,
  "holder.onboard": oneHolder,
  "holder.close": anEnd,
  "holder.register-successor": forGood("a holder has one successor"),
  "holder.set-attributes": untilLeft,
  "admission.offer": untilLeft,
  "admission.withdraw": untilLeft,
  "accepted-terms.accept": untilLeft,
  "subscription.claim": untilLeft,
  "subscription.withdraw": anEnd,
  "subscription.deliver": forGood("a step forward of one order"),
  "subscription.settle": anEnd,
  "subscription.release": anEnd,
  "primary-market.propose": untilLeft,
  "redemption.claim": untilLeft,
  "redemption.withdraw": anEnd,
  "redemption.release": anEnd,
  "redemption.settle": anEnd,
  "dealing-cycle.open": untilLeft,
  "dealing-cycle.settle": anEnd,
  "dealing-cycle.release": anEnd,
  "standing-settlement.open": untilLeft,
  "standing-settlement.settle": forGood("an order is settled once"),
  "standing-settlement.pause": untilLeft,
  "standing-settlement.resume": untilLeft,
  "standing-settlement.close": anEnd,
  "reserve.propose": untilLeft,
  "reserve.close": anEnd,
  "lock-agreement.propose": untilLeft,
  "lock-agreement.release": anEnd,
  "mint.start": untilLeft,
  "mint.cancel": anEnd,
  "mint.settle": noRoute,
  "reserve-redemption.start": untilLeft,
  "reserve-redemption.cancel": anEnd,
  "reserve-redemption.settle": noRoute,
  "reserve-report.create": untilLeft,
  "amendment.propose": untilLeft,
  "amendment.withdraw": anEnd,
  "provision-settlement.propose": untilLeft,
  "distribution.execute": forGood("a month of an instrument is executed once"),
  "distribution.instruct": noRoute,
  "distribution.roll": untilLeft,
  "standing-approval.grant": untilLeft,
  "standing-approval.revoke": anEnd,
  "holder.restrict": untilLeft,
  "holder.restrict-batch": untilLeft,
  "restriction.lift": anEnd,
  "issuer-powers-agreement.propose": untilLeft,
  "issuer-powers-consent.offer": untilLeft,
  "holder.force-transfer": moved,
  "holder.recover": moved,
  "instrument.force-transfer": moved,
  "instrument.recover": moved,
  "hold.release": anEnd,
  "external-account.map": forGood("a number of an account is mapped once"),
  "webhook.register": untilLeft,
  "webhook.remove": anEnd,
  "webhook.test": forGood("a trial that leaves nothing")
}
