/** Restrictions: the moves of each fact and of the clock in each state, and the events. */
import { Instant } from "@bursar/engine-core/kernel"
import { describe, expect, it } from "vitest"
import {
  type Restriction,
  restrictions,
  decide,
  evolve,
  type Fact,
  RestrictionMachine
} from "#core/restraints/restriction/Restriction.ts"
import { everKept } from "#core/engine/Retention.ts"
import { ripen } from "#core/kernel/Collection.ts"
import * as Invariant from "#core/kernel/Invariant.ts"
import * as Machine from "#core/kernel/Machine.ts"
import { Result } from "effect"
import { id, party } from "./subscriptions.ts"

const at = (hour: number) => Instant.of(`2026-07-30T${String(hour).padStart(2, "0")}:00:00Z`)
const order = { authority: "Court of Zug", reference: "Z 12/26", documentHash: "ab".repeat(32) }

const active: Restriction = {
  restrictionId: id("r1"),
  holderId: id("h1"),
  party: party("h1"),
  instrumentId: id("fund-a"),
  mode: "freeze",
  reason: "pledge",
  order,
  state: "active",
  by: "olga",
  from: at(1),
  autoReleaseAt: at(9),
  liftedBy: null,
  liftReason: null,
  endedAt: null,
  supersedes: null,
  operationId: "op-1"
}
const lift = { on: "lift", at: at(5), liftedBy: ["ada", "bea"], liftReason: "paid back" } as const
const lapse = { on: "lapse", at: at(9) } as const
const carry = { on: "carry", at: at(5) } as const
const facts: ReadonlyArray<Fact> = [lift, lapse, carry]
const ended = [lift, lapse, carry].map((fact) => evolve(active, fact))

const breaches = (changes: Partial<Restriction>, self = active) =>
  Invariant.breaches(restrictions.invariants, { ...self, ...changes })

describe("a restriction", () => {
  it.each<[fact: Fact, state: Restriction["state"], at: Instant.Instant]>([
    [lift, "lifted", at(5)],
    [lapse, "lapsed", at(9)],
    [carry, "carried", at(5)]
  ])("in force: %o leads nowhere else", (fact, state, endedAt) => {
    const after = evolve(active, fact)
    expect(after).toMatchObject({ state, endedAt })
    expect(breaches({}, after)).toEqual([])
  })

  it("that has ended moves no further, and cannot be lifted again", () => {
    for (const self of ended) {
      expect(Machine.isTerminal(RestrictionMachine, self.state)).toBe(true)
      for (const fact of facts) expect(() => evolve(self, fact)).toThrow(/corrupt history/u)
      const refused = decide(self, { on: "lift" })
      expect(Result.isFailure(refused) && refused.failure).toMatchObject({
        slug: "state-conflict",
        details: { check: "RestrictionState" }
      })
    }
    expect(Result.isSuccess(decide(active, { on: "lift" }))).toBe(true)
  })

  it("never is ended by the clock before its date or not at it, or after it has ended otherwise", () => {
    const stateAt = (self: Restriction, hour: number) => ripen(restrictions, self, at(hour)).state
    expect([stateAt(active, 8), stateAt(active, 9)]).toEqual(["active", "lapsed"])
    expect(stateAt({ ...active, autoReleaseAt: null }, 23)).toBe("active")
    expect(ended.map((self) => stateAt(self, 23))).toEqual(["lifted", "lapsed", "carried"])
  })

  it("never is pruned with what the ledger has forgotten, or once it is old", () => {
    expect(everKept.has(restrictions.name)).toBe(true)
    expect(restrictions.keptBy).toBe("engine")
  })

  it("never waits for anybody: no move of it is a forward one", () => {
    for (const self of [active, ...ended]) expect(restrictions.waitingOn(self)).toEqual([])
  })

  it("never tells of its order more than that there is one, or of its end other than how", () => {
    const [set, ...more] = restrictions.announce(active, undefined)
    expect(more).toEqual([])
    expect(set).toMatchObject({
      type: "holder.restricted",
      resourceKind: "holder",
      resourceId: "h1",
      instrumentId: "fund-a",
      holderIds: ["h1"]
    })
    expect(set?.payload).toEqual({
      mode: "freeze",
      reason: "pledge",
      holderId: "h1",
      orderCited: true,
      operationId: "op-1",
      autoReleaseAt: "2026-07-30T09:00:00.000000Z",
      restrictionId: "r1"
    })
    const without = restrictions.announce({ ...active, order: null }, undefined)
    expect(without[0]?.payload).toMatchObject({ orderCited: false })
    const announced = facts.map((fact) => restrictions.announce(evolve(active, fact), fact))
    expect(announced.map((all) => all.map(({ type, payload }) => [type, payload]))).toEqual(
      ["lifted", "lapsed"]
        .map((how): unknown => [
          ["holder.unrestricted", { mode: "freeze", holderId: "h1", restrictionId: "r1", how }]
        ])
        // The successor's own opening tells of what was carried.
        .concat([[]])
    )
  })

  it.each<[what: string, changes: Partial<Restriction>, self?: Restriction]>([
    ["ends by itself though a list names its holder", { reason: "sanctions" }],
    ["ends by itself though a court ordered it", { reason: "court-order" }],
    [
      "a court ordered, and cites no order",
      { reason: "court-order", autoReleaseAt: null, order: null }
    ],
    ["has ended, and does not say when", { endedAt: null }, evolve(active, carry)],
    ["is in force, and says when it ended", { endedAt: at(5) }],
    ["lapsed, and had no date", { autoReleaseAt: null }, evolve(active, lapse)],
    ["was lifted by nobody", { liftedBy: null }, evolve(active, lift)],
    ["was lifted by one", { liftedBy: ["ada"] }, evolve(active, lift)],
    ["was lifted by one twice", { liftedBy: ["ada", "ada"] }, evolve(active, lift)],
    ["was lifted for no reason", { liftReason: null }, evolve(active, lift)],
    ["says who lifted it while it is in force", { liftedBy: ["ada", "bea"] }]
  ])("%s", (_, changes, self) => {
    expect(breaches(changes, self)).toHaveLength(1)
  })
})
