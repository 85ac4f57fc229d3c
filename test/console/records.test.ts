/** Pages of records, computed without a browser: acts by state against the machines, columns, facts. */
import { describe, expect, it } from "vitest"
import { machines } from "#core/catalogue.ts"
import { gates } from "#core/kernel/Refusal.ts"
import * as Order from "../../packages/http-host/console/src/orders/Order.ts"
import * as Columns from "../../packages/http-host/console/src/record/Columns.ts"
import * as Cures from "../../packages/http-host/console/src/record/Cures.ts"
import * as Fact from "../../packages/http-host/console/src/record/Fact.ts"
import * as StateActs from "../../packages/http-host/console/src/record/StateActs.ts"
import { membersOf, table } from "./interface.ts"

describe("acts by state", () => {
  const machineOf: Readonly<Record<StateActs.ActedKind, string>> = {
    subscription: "SubscriptionState",
    redemption: "RedemptionState",
    "dealing-cycle": "DealingCycleState",
    "standing-settlement": "StandingSettlementState",
    hold: "HoldState",
    restriction: "RestrictionState"
  }
  const kinds = Object.keys(StateActs.actsByState) as ReadonlyArray<StateActs.ActedKind>

  it.each(kinds)("of a %s are those that its machine's moves have, in every state", (kind) => {
    const machine = machines.find(({ name }) => name === machineOf[kind])
    if (machine === undefined) throw new Error(`no machine of ${kind}`)
    const states = Object.keys(machine.moves)
    expect(Object.keys(StateActs.actsByState[kind]).toSorted()).toEqual(states.toSorted())
    for (const [state, moves] of Object.entries(machine.moves)) {
      const acts = Object.keys(moves as object).flatMap((trigger) =>
        (machine.triggers[trigger]?.by ?? []).filter((by) => by.startsWith(`${kind}.`))
      )
      expect([state, StateActs.actsOf(kind, state).toSorted()]).toEqual([
        state,
        [...new Set(acts)].toSorted()
      ])
    }
  })

  it("of a state that this build does not know are all of its kind, which the service judges", () => {
    expect(StateActs.actsOf("restriction", "suspended")).toEqual(["restriction.lift"])
    expect(StateActs.actsOf("subscription", "parked").toSorted()).toEqual([
      "subscription.deliver",
      "subscription.release",
      "subscription.settle",
      "subscription.withdraw"
    ])
  })

  it("are writes that there are, and each of an order has its sentence", () => {
    const acts = kinds.flatMap((kind) => Object.values(StateActs.actsByState[kind]).flat())
    expect(acts.filter((act) => table.writes[act] === undefined)).toEqual([])
    const ofOrders = acts.filter((act) => /^(?:subscription|redemption)\./u.test(act))
    expect(ofOrders.filter((act) => Order.actSays[act] === undefined)).toEqual([])
  })
})

describe("the pages of orders", () => {
  const shown = (kind: Order.OrderKind) => [
    ...Columns.membersOf(Order.orderColumns[kind]),
    ...Order.orderSheets.flatMap(({ rows }) => rows.map(({ member }) => member))
  ]
  it("show members that an order of either kind has", () => {
    const has = new Set([...membersOf("subscriptions.get"), ...membersOf("redemptions.get")])
    for (const kind of ["subscription", "redemption"] as const) {
      expect(shown(kind).filter((member) => !has.has(member))).toEqual([])
      const listed = membersOf(`${kind}s.list`)
      const columns = Columns.membersOf(Order.orderColumns[kind])
      expect(columns.filter((member) => !listed.has(member))).toEqual([])
    }
  })

  const base = { claimedAt: "2026-07-31T12:00:00Z", pricedAt: "2026-07-31T13:00:00Z" }

  it("show what is ahead, and of an order that has ended nothing that never came", () => {
    expect(Order.stepsOf("subscription", base).map(({ at, name }) => [name, at !== null])).toEqual([
      ["claimed", true],
      ["priced", true],
      ["delivered", false],
      ["closed", false]
    ])
    const released = { ...base, endedAs: "released", endedAt: "2026-07-31T14:00:00Z" }
    for (const kind of ["subscription", "redemption"] as const) {
      const steps = Order.stepsOf(kind, released)
      expect(steps.map(({ name }) => name)).toEqual(["claimed", "priced", "released"])
      expect(Order.presentStep(steps)).toBe(2)
    }
  })

  it("reckon what is still due to the last place, and of an order without a price nothing", () => {
    const cash = (expected: string | null) =>
      Order.cashOf({ cash: { expected, matched: "0.0000000001", lines: [] } })
    expect(cash("9007199254740993.0000000002")?.due).toBe("9007199254740993.0000000001")
    expect(cash(null)?.due).toBe(null)
    expect(Order.cashOf({})).toBe(null)
  })

  it("have no fact for what a record does not have", () => {
    const facts = Fact.groupsOf({ amount: "1", currency: "USD", fee: null }, Order.orderSheets)
    expect(facts).toEqual([
      {
        title: "Figures",
        facts: [{ member: "amount", name: null, value: "1", unit: "USD" }]
      }
    ])
    expect(Order.contractFacts({ lot: null, allocation: null })).toEqual([])
  })
})

describe("what cures a refusal", () => {
  const judged = { instrumentId: "../x?y", holderId: "h 1" }
  it("is a page whose read there is, and an id in its address is one segment", () => {
    for (const gate of gates) {
      const cure = Cures.cureOf({ gate, check: "not-held" }, judged)
      if (cure === null) continue
      expect(table.reads[cure.read]).toBeDefined()
      expect(cure.path).not.toMatch(/\.\.\/|x\?y| /u)
    }
  })

  it("is nothing where the state of the record refuses, or nothing names the record", () => {
    expect(Cures.cureOf({ gate: "policy", check: "SubscriptionState" }, judged)).toBe(null)
    const none = { instrumentId: null, holderId: null }
    expect(Cures.cureOf({ gate: "hold", check: "not-held" }, none)).toBe(null)
    expect(Cures.cureOf({ gate: "a-gate-to-come", check: "not-held" }, judged)).toBe(null)
  })
})
