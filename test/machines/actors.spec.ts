/**
 * Actors of moves: every move of every machine is listed under the actor that makes it, so that a
 * new actor of a record is noticed.
 */
import { describe, expect, it } from "vitest"
import { machines } from "#core/catalogue.ts"
import { OperationKind } from "#core/vocabulary/OperationKind.ts"

/** The moves of an actor, each as its machine and its trigger; `opens` is how a record begins. */
const movesOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  ledger: [
    "Admission opens",
    "Admission accept",
    "Admission decline",
    "Admission revoke",
    "AdmissionConsent opens",
    "AdmissionConsent agree",
    "AdmissionConsent decline",
    "AdmissionConsent end",
    "Holder opens",
    "Holder activate",
    "Holder renew",
    "PrimaryMarket opens",
    "PrimaryMarket agree",
    "PrimaryMarket decline",
    "PrimaryMarket end",
    "Subscription price",
    "Subscription deliver",
    "Redemption price",
    "Redemption fund",
    "Redemption burn",
    "StandingSettlement commit",
    "StandingSettlement close",
    "DistributionLine suspend",
    "DistributionLine cure",
    "DistributionLine deliver",
    "Subscription opens",
    "Redemption opens",
    "ProvisionSettlement opens",
    "ProvisionSettlement agree",
    "ProvisionSettlement decline",
    "ProvisionSettlement end",
    "IssuerPowersAgreement opens",
    "IssuerPowersAgreement agree",
    "IssuerPowersAgreement decline",
    "IssuerPowersAgreement end",
    "IssuerPowersConsent opens",
    "IssuerPowersConsent grant",
    "IssuerPowersConsent decline",
    "IssuerPowersConsent revoke",
    "Reserve opens",
    "Reserve accept",
    "Reserve activate",
    "Reserve decline",
    "Amendment opens",
    "Amendment decline",
    "Amendment tighten",
    "Amendment loosen",
    "Amendment overtake",
    "Amendment supersede",
    "LockAgreement opens",
    "LockAgreement accept",
    "LockAgreement activate",
    "LockAgreement decline",
    "ReserveOrder opens",
    "ReserveOrder allocate",
    "ReserveOrder reallocate",
    "ReserveOrder release",
    "ReserveOrder decline"
  ],
  clock: [
    "PolicyVersion begin",
    "PolicyVersion supersede",
    "Admission expire",
    "Holder lapse",
    "Attribute expire",
    "Screening ask",
    "Screening age",
    "PrimaryMarket end",
    "StandingSettlement expire",
    "DistributionLine suspend",
    "DistributionLine cure",
    "ProvisionSettlement end",
    "Restriction lapse",
    "IssuerPowersAgreement end",
    "IssuerPowersConsent expire",
    "Amendment begin",
    "Amendment supersede",
    "ReserveOrder expire",
    "Approval lapse"
  ],
  screening: [
    "Holder activate",
    "Screening ask",
    "Screening clear",
    "Screening doubt",
    "Screening confirm",
    "Screening age",
    "DistributionLine suspend",
    "DistributionLine cure",
    "Restriction opens"
  ],
  run: ["Distribution clear", "Distribution hold", "Distribution pay", "Hold opens"],
  maker: ["Approval opens", "Approval withdraw"],
  approver: ["Approval sign", "Approval approve", "Approval reopen", "Approval reject"],
  worker: [
    "Operation take",
    "Operation succeed",
    "Operation fail",
    "Delivery take",
    "Delivery exhaust",
    "Approval void"
  ],
  "accepted-terms.accept": ["Holder activate"],
  "admission-consent.propose": ["AdmissionConsent opens", "AdmissionConsent replace"],
  "admission.offer": ["Admission opens"],
  "admission.withdraw": ["Admission withdraw", "Admission revoke", "DistributionLine suspend"],
  "amendment.propose": ["Amendment opens"],
  "amendment.withdraw": ["Amendment withdraw"],
  "dealing-cycle.open": ["DealingCycle opens"],
  "dealing-cycle.release": [
    "Subscription withdraw",
    "Subscription release",
    "Redemption withdraw",
    "Redemption release",
    "DealingCycle release"
  ],
  "dealing-cycle.settle": ["Subscription exchange", "Redemption exchange", "DealingCycle settle"],
  "distribution.execute": ["Distribution opens", "Distribution hold", "DistributionLine opens"],
  "distribution.roll": ["Distribution pay", "DistributionLine roll"],
  "hold.release": ["Hold release"],
  "holder.close": ["Holder close"],
  "holder.force-transfer": ["DistributionLine void"],
  "holder.onboard": ["Holder opens", "Attribute opens", "Screening opens", "Screening ask"],
  "holder.recover": [
    "Admission withdraw",
    "Admission revoke",
    "Holder succeed",
    "Restriction opens",
    "Restriction carry"
  ],
  "holder.register": ["Holder opens", "Screening opens", "Screening ask"],
  "holder.restrict": ["DistributionLine suspend", "DistributionLine cure", "Restriction opens"],
  "holder.restrict-batch": [
    "DistributionLine suspend",
    "DistributionLine cure",
    "Restriction opens"
  ],
  "holder.set-attributes": [
    "Attribute opens",
    "Attribute verify",
    "Attribute reject",
    "Attribute revoke",
    "DistributionLine suspend",
    "DistributionLine cure"
  ],
  "instrument.pause": ["Distribution hold", "Hold opens"],
  "instrument.record": ["PolicyVersion opens"],
  "instrument.recover": [
    "Admission withdraw",
    "Admission revoke",
    "Holder succeed",
    "Restriction opens",
    "Restriction carry"
  ],
  "issuer-powers-agreement.propose": [
    "IssuerPowersAgreement opens",
    "IssuerPowersAgreement replace"
  ],
  "issuer-powers-consent.offer": ["IssuerPowersConsent opens", "IssuerPowersConsent replace"],
  "lock-agreement.propose": ["LockAgreement opens"],
  "lock-agreement.release": [
    "LockAgreement withdraw",
    "Amendment withdraw",
    "LockAgreement release",
    "Reserve empty"
  ],
  "mint.cancel": ["ReserveOrder cancel", "ReserveOrder release"],
  "mint.settle": ["ReserveOrder settle"],
  "mint.start": ["ReserveOrder opens"],
  "policy.set": ["PolicyVersion opens", "PolicyVersion replace", "PolicyVersion supersede"],
  "primary-market.propose": ["PrimaryMarket opens", "PrimaryMarket replace"],
  "provision-settlement.propose": ["ProvisionSettlement opens", "ProvisionSettlement replace"],
  "redemption.claim": ["Redemption opens"],
  "redemption.release": ["Redemption release"],
  "redemption.settle": ["Redemption settle", "Redemption exchange"],
  "redemption.withdraw": ["Redemption withdraw"],
  "reserve-redemption.cancel": ["ReserveOrder cancel", "ReserveOrder release"],
  "reserve-redemption.settle": ["ReserveOrder settle"],
  "reserve-redemption.start": ["ReserveOrder opens"],
  "reserve.close": ["Reserve withdraw", "Amendment withdraw", "Reserve close", "Reserve empty"],
  "reserve.propose": ["Reserve opens"],
  "restriction.lift": ["DistributionLine suspend", "DistributionLine cure", "Restriction lift"],
  "standing-settlement.close": ["StandingSettlement close"],
  "standing-settlement.open": ["StandingSettlement opens"],
  "standing-settlement.pause": ["StandingSettlement pause"],
  "standing-settlement.resume": ["StandingSettlement resume"],
  "standing-settlement.settle": ["StandingSettlement settle"],
  "subscription.claim": ["Subscription opens"],
  "subscription.deliver": ["Subscription deliver"],
  "subscription.release": ["Subscription release"],
  "subscription.settle": ["Subscription settle", "Subscription exchange"],
  "subscription.withdraw": ["Subscription withdraw"],
  "webhook.remove": ["Delivery cancel"]
}

/** Machines that any write or any event opens, by any actor. */
const openedByAny = ["OperationState", "DeliveryState"]

const pulled = machines.flatMap(({ name, opens, triggers }) =>
  Object.entries(openedByAny.includes(name) ? triggers : { opens, ...triggers }).flatMap(
    ([on, { by }]) => by.map((actor) => ({ actor, move: `${name.replace(/State$/u, "")} ${on}` }))
  )
)

describe("who moves a record", () => {
  it.each(Object.entries(movesOf))("%s pulls its triggers, and no others", (actor, moves) => {
    const own = pulled.filter((one) => one.actor === actor).map(({ move }) => move)
    expect(own.toSorted()).toEqual(moves.toSorted())
  })

  it("every actor of a move is in this table, and is the operation of somebody or one of seven", () => {
    const actors = Object.keys(movesOf)
    expect([...new Set(pulled.map(({ actor }) => actor))].toSorted()).toEqual(actors.toSorted())
    expect(actors.filter((actor) => !OperationKind.has(actor))).toEqual([
      "ledger",
      "clock",
      "screening",
      "run",
      "maker",
      "approver",
      "worker"
    ])
  })
})
