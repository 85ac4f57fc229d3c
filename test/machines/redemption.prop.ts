/** Any sequence of commands and ledger facts on a redemption: burned units are paid or owed, never rewound. */
import { Result } from "effect"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import * as Invariant from "#core/kernel/Invariant.ts"
import { cashStands } from "#core/orders/order/Order.ts"
import * as Machine from "#core/kernel/Machine.ts"
import {
  type Redemption,
  redemptions,
  type Command,
  decide,
  evolve,
  type Fact,
  RedemptionMachine
} from "#core/orders/redemption/Redemption.ts"
import * as Red from "./redemptions.ts"
import { line } from "./subscriptions.ts"

const outside = [
  "price",
  "request-burn",
  "accept-burn",
  "reject-burn",
  "units",
  "units-back",
  "cash",
  "cash-back"
] as const

/** Next step of a walk: a command of the venue, or an act of an outside party. */
type Step =
  | { readonly ask: Command["on"]; readonly cash: ReadonlyArray<ReturnType<typeof line>> }
  | { readonly outside: (typeof outside)[number] }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      ask: fc.constantFrom("withdraw", "settle", "settle", "exchange", "release"),
      cash: fc.constantFrom(
        [],
        [line(1, "1282.07")],
        [line(2, "1282.07")],
        [line(1, "1000"), line(2, "282.07")],
        [line(1, "1000"), line(1, "282.07")],
        [line(3, "1")],
        [line(4, "1282.08")]
      )
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      outside: fc.constantFrom(...outside, "price", "request-burn", "accept-burn", "cash")
    })
  }
)

/** The facts a command leads to once the ledger has carried it out. */
const factsOf = (command: Command): ReadonlyArray<Fact> => {
  switch (command.on) {
    case "settle":
      return [Red.settle, { on: "match", lines: command.cash }]
    case "exchange":
      return [Red.exchange]
    default:
      return [{ on: command.on, at: Red.onValueDate }]
  }
}

const commandOf = (ask: Command["on"], cash: ReadonlyArray<ReturnType<typeof line>>): Command =>
  ask === "settle" || ask === "exchange" ? { on: ask, cash } : { on: ask }

/** Facts that the ledger permits, and the projection folds, when an outside party acts. */
const outsideFacts = (self: Redemption, what: (typeof outside)[number]): ReadonlyArray<Fact> => {
  const ledger = self.payment === "ledger"
  const ended = Machine.isTerminal(RedemptionMachine, self.state)
  const unburned = self.state === "priced" || self.state === "funded"
  switch (what) {
    case "price":
      return self.state === "claimed" ? [Red.price] : []
    case "request-burn":
      if (!unburned || self.burnRequestCid !== null) return []
      return self.state === "priced" ? [Red.fund] : [{ on: "request-burn", burnRequestCid: "0006" }]
    case "accept-burn":
      return self.burnRequestCid === null || self.state !== "funded" ? [] : [Red.burn]
    case "reject-burn":
      return self.burnRequestCid === null ? [] : [Red.takenBack]
    case "units":
      return ledger && !ended && self.state !== "burned" && self.unitsAllocation === null
        ? [Red.units]
        : []
    case "units-back":
      return self.unitsAllocation === null ? [] : [{ on: "allocate-units", allocation: null }]
    case "cash":
      return ledger && !ended && self.allocation === null ? [Red.cash] : []
    case "cash-back":
      return self.allocation === null ? [] : [{ on: "allocate-cash", allocation: null }]
  }
}

const walked = (start: Redemption, steps: ReadonlyArray<Step>): Redemption =>
  steps.reduce((self, next) => {
    const facts =
      "outside" in next
        ? outsideFacts(self, next.outside)
        : Result.match(decide(self, commandOf(next.ask, next.cash)), {
            onFailure: () => [],
            onSuccess: factsOf
          })
    const after = facts.reduce((before, fact) => {
      const made = evolve(before, fact)
      expect(Invariant.breaches(redemptions.invariants, made)).toEqual([])
      return made
    }, self)
    // No command sequence moves a burned redemption but settle, and that only to its end.
    if (self.state === "burned" && after.state !== "burned") {
      expect(after.state).toBe("settled")
      expect("ask" in next && next.ask).toBe("settle")
    }
    // A settled redemption is paid in full, and its units are burned.
    if (after.state === "settled" && self.state !== "settled") {
      expect(after.cash.matched).toBe(after.cash.expected)
      expect(after.burnedAt).not.toBeNull()
      if (self.payment === "ledger") expect(cashStands(self)).toBe(true)
      // Units go once: by request, or with the payment.
      expect(self.state === "burned" || self.burnRequestCid === null).toBe(true)
    }
    // A record in a final state does not change.
    if (Machine.isTerminal(RedemptionMachine, self.state)) expect(after).toEqual(self)
    // A record waits on a party or role exactly until it has ended.
    expect(redemptions.waitingOn(after).length === 0).toBe(
      Machine.isTerminal(RedemptionMachine, after.state)
    )
    return after
  }, start)

/** Some walks begin where the venue has something to settle, so that every end is reached often. */
const beginnings: ReadonlyArray<ReadonlyArray<(typeof outside)[number]>> = [
  [],
  ["price"],
  ["price", "units", "cash"],
  ["price", "request-burn", "accept-burn"],
  ["price", "request-burn", "accept-burn", "cash"]
]

const walks = fc.tuple(
  fc.constantFrom(...beginnings),
  fc.array(step, { maxLength: 30 }),
  fc.constantFrom(Red.claimed(), Red.claimedOnLedger())
)

const endOf = ([beginning, steps, start]: typeof walks extends fc.Arbitrary<infer W> ? W : never) =>
  walked(start, [...beginning.map((what) => ({ outside: what })), ...steps])

test("no walk takes back a burn, pays less than is owed, burns twice or leaves an end", () => {
  fc.assert(
    fc.property(walks, (walk) => void endOf(walk)),
    { numRuns: 3_000 }
  )
})

test("the walks reach every state in both ways of payment, so that they prove something", () => {
  // By a seed: whether chance comes by a rare state differs from run to run.
  const reached = fc
    .sample(walks, { seed: 1, numRuns: 3_000 })
    .map(endOf)
    .map(({ payment, state }) => `${payment} ${state}`)
  expect([...new Set(reached)].toSorted()).toEqual(
    Object.keys(RedemptionMachine.states)
      .flatMap((state) => [`ledger ${state}`, `wire ${state}`])
      .toSorted()
  )
})
