/** Table of how many people each kind of write needs, by whether it loosens or tightens. */
import type { BuiltInOperationKind } from "../../src/vocabulary/OperationKind.ts"

/** Number of approvers, and whether a loosening waits a delay after them. */
export interface Eyes {
  /** Distinct approvers besides the maker; 0: one person, at once. */
  readonly approvers: 0 | 1 | 2
  /** Name of the setting that delays a loosening after the last signature; null: no delay. */
  readonly delay: "loosenDelay" | null
  readonly doc: string
}

/**
 * Kinds of effect of a write, and how many approvers each takes: tighten alone, loosen together
 * (docs/domain/every-record.md#tighten-alone-loosen-together); docs/roles.md says who makes and who
 * approves each. A change that loosens any term counts as loosening (`kernel/Direction`), and needs
 * the approvers of one.
 */
export const eyes = {
  tighten: {
    approvers: 0,
    delay: null,
    doc: "Only reduces what can happen: pauses, restricts, cancels, withdraws, releases, revokes."
  },
  act: {
    approvers: 0,
    delay: null,
    doc: "Does what the terms in force let happen, judged by every gate; it changes none of them."
  },
  bind: {
    approvers: 1,
    delay: null,
    doc: "Binds or moves what is others' by the venue's word alone: their units, their cash, figures of many."
  },
  end: {
    approvers: 1,
    delay: null,
    doc: "Ends for good what others rely on; nobody can take it back."
  },
  loosen: {
    approvers: 1,
    delay: null,
    doc: "Widens what can happen, or may: terms, consents, records that acts are judged by, who is told."
  },
  "loosen-control": {
    approvers: 2,
    delay: null,
    doc: "Ends a restriction or a hold: lets happen again what somebody stopped."
  },
  "loosen-reserve": {
    approvers: 1,
    delay: "loosenDelay",
    doc: "Proposes other reserve terms: what loosens takes effect loosenDelay after its acceptance."
  }
} as const satisfies Readonly<Record<string, Eyes>>

export type Effect = keyof typeof eyes

/** The effect of every kind of write; a kind without a row does not compile. */
export const effects: Readonly<Record<BuiltInOperationKind, Effect>> = {
  "instrument.record": "loosen",
  "policy.set": "loosen",
  "admission-consent.propose": "loosen",
  "instrument.pause": "tighten",
  "holder.register": "act",
  "holder.onboard": "act",
  "holder.close": "end",
  "holder.register-successor": "loosen",
  "holder.set-attributes": "loosen",
  "admission.offer": "act",
  "admission.withdraw": "tighten",
  "accepted-terms.accept": "act",
  "subscription.claim": "act",
  "subscription.withdraw": "tighten",
  "subscription.deliver": "act",
  "subscription.settle": "act",
  "subscription.release": "tighten",
  "primary-market.propose": "loosen",
  "redemption.claim": "act",
  "redemption.withdraw": "tighten",
  "redemption.release": "tighten",
  "redemption.settle": "act",
  "dealing-cycle.open": "act",
  "dealing-cycle.settle": "bind",
  "dealing-cycle.release": "tighten",
  "standing-settlement.open": "loosen",
  "standing-settlement.settle": "act",
  "standing-settlement.pause": "tighten",
  "standing-settlement.resume": "loosen",
  "standing-settlement.close": "tighten",
  "reserve.propose": "loosen",
  "reserve.close": "end",
  "lock-agreement.propose": "loosen",
  "lock-agreement.release": "loosen",
  "mint.start": "act",
  "mint.settle": "act",
  "mint.cancel": "tighten",
  "reserve-redemption.start": "act",
  "reserve-redemption.settle": "act",
  "reserve-redemption.cancel": "tighten",
  "reserve-report.create": "act",
  "amendment.propose": "loosen-reserve",
  "amendment.withdraw": "tighten",
  "provision-settlement.propose": "loosen",
  "distribution.execute": "bind",
  "distribution.roll": "act",
  "distribution.instruct": "act",
  "standing-approval.grant": "loosen",
  "standing-approval.revoke": "tighten",
  "holder.restrict": "tighten",
  "holder.restrict-batch": "tighten",
  "restriction.lift": "loosen-control",
  "issuer-powers-agreement.propose": "loosen",
  "issuer-powers-consent.offer": "act",
  "holder.force-transfer": "bind",
  "holder.recover": "bind",
  "instrument.force-transfer": "bind",
  "instrument.recover": "bind",
  "hold.release": "loosen-control",
  "external-account.map": "loosen",
  "webhook.register": "loosen",
  "webhook.remove": "end",
  "webhook.test": "act"
}

/** Approvers and delay of a kind of write. */
export const eyesOf = (kind: BuiltInOperationKind): Eyes => eyes[effects[kind]]
