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
  restriction: { active: ["restriction.lift"], lifted: [], lapsed: [], carried: [] }
} as const satisfies Readonly<Record<string, States>>

export type ActedKind = keyof typeof actsByState

/** Acts of a record's state; of a state that this build does not know, all of its kind. */
export const actsOf = (kind: ActedKind, state: string): ReadonlyArray<string> => {
  const states: States = actsByState[kind]
  return states[state] ?? [...new Set(Object.values(states).flat())]
}
