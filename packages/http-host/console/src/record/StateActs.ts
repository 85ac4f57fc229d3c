/** Writes that the state of a record allows, those that bring it nearer to its end first. */

type States = Readonly<Record<string, ReadonlyArray<string>>>

/** Acts by the kind of the record and its state; a state without acts has an empty row. */
export const actsByState = {
  subscription: {
    claimed: ["subscription.withdraw"],
    priced: ["subscription.deliver", "subscription.settle", "subscription.release"],
    delivered: ["subscription.settle"],
    closed: [],
    released: [],
    withdrawn: []
  },
  redemption: {
    claimed: ["redemption.withdraw"],
    priced: ["redemption.settle", "redemption.withdraw", "redemption.release"],
    funded: ["redemption.settle", "redemption.withdraw", "redemption.release"],
    burned: ["redemption.settle"],
    settled: [],
    withdrawn: [],
    released: []
  },
  "dealing-cycle": {
    open: ["dealing-cycle.settle", "dealing-cycle.release"],
    ended: []
  },
  "standing-settlement": {
    proposed: [],
    open: ["standing-settlement.settle", "standing-settlement.pause", "standing-settlement.close"],
    paused: ["standing-settlement.resume", "standing-settlement.close"],
    closed: [],
    expired: []
  },
  hold: { open: ["hold.release"], released: [] },
  amendment: {
    proposed: ["amendment.withdraw"],
    accepted: ["amendment.withdraw"],
    effective: [],
    superseded: [],
    declined: [],
    withdrawn: []
  },
  "lock-agreement": {
    proposed: ["lock-agreement.release"],
    active: ["lock-agreement.release"],
    declined: [],
    withdrawn: [],
    released: []
  },
  reserve: {
    proposed: ["reserve.close"],
    active: ["reserve.close"],
    declined: [],
    withdrawn: [],
    closing: ["reserve.close"],
    closed: []
  },
  "standing-approval": {
    scheduled: ["standing-approval.revoke"],
    active: ["standing-approval.revoke"],
    exhausted: [],
    lapsed: [],
    revoked: []
  },
  restriction: { active: ["restriction.lift"], lifted: [], lapsed: [], carried: [] }
} as const satisfies Readonly<Record<string, States>>

/** Orders against a reserve by the state of the reserve: one that closes is still redeemed from. */
export const ordersByReserve = {
  proposed: [],
  active: ["mint.start", "reserve-redemption.start"],
  declined: [],
  withdrawn: [],
  closing: ["reserve-redemption.start"],
  closed: []
} as const satisfies Readonly<Record<string, ReadonlyArray<string>>>

export const reserveOrdersOf = (state: string): ReadonlyArray<string> => {
  const states: Readonly<Record<string, ReadonlyArray<string>>> = ordersByReserve
  return states[state] ?? ordersByReserve.active
}

export type ActedKind = keyof typeof actsByState

/** Acts of a record's state; of a state that this build does not know, all of its kind. */
export const actsOf = (kind: ActedKind, state: string): ReadonlyArray<string> => {
  const states: States = actsByState[kind]
  return states[state] ?? [...new Set(Object.values(states).flat())]
}
