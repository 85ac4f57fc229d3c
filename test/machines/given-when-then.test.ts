/** Given-when-then: passes where the machine does as expected, and fails otherwise. */
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import * as Machine from "#core/kernel/Machine.ts"
import { unless } from "#core/kernel/Refusal.ts"
import { given, givenState } from "#core/testing/index.ts"

const DoorMachine = Machine.declare("DoorState", {
  doc: "A door.",
  states: { open: "It is open.", shut: "It is shut." },
  triggers: { shut: { by: ["run"] } },
  initial: "open",
  opens: { by: ["clock"] },
  moves: { open: { shut: "shut" }, shut: {} }
})

interface Door {
  readonly state: Machine.State<typeof DoorMachine>
  readonly guests: number
}
interface Fact {
  readonly on: "shut"
}

const door = given({
  decide: (self: Door, on: "shut") =>
    Result.gen(function* () {
      yield* Machine.admit(DoorMachine, self, on)
      yield* unless([self.guests > 0, "rule-refused", { check: "guests" }])
      return { on } satisfies Fact
    }),
  evolve: (self: Door, { on }: Fact): Door => ({
    ...self,
    state: Machine.follow(DoorMachine, self.state, on)
  })
})

const empty: Door = { state: "open", guests: 0 }

describe("given a record, when a command is asked", () => {
  it("then the fact it makes, and the record that leaves", () => {
    door(empty).when("shut").thenFact({ on: "shut" })
    door(empty).when("shut").thenRecord({ state: "shut" })
    expect(() => door(empty).when("shut").thenRecord({ state: "open" })).toThrow()
    expect(() => door(empty).when("shut").thenRefused("rule-refused")).toThrow()
  })

  it("then the refusal that comes first, with what it tells", () => {
    const full = { ...empty, guests: 1 }
    door(full).when("shut").thenRefused("rule-refused", { check: "guests" })
    expect(() => door(full).when("shut").thenRefused("rule-refused", { check: "lock" })).toThrow()
    expect(() => door(full).when("shut").thenRefused("state-conflict")).toThrow()
    expect(() => door(full).when("shut").thenFact({ on: "shut" })).toThrow()
  })

  it("after its facts", () => {
    door(empty, { on: "shut" }).when("shut").thenRefused("state-conflict", { check: "DoorState" })
  })
})

describe("given a state, when a trigger is pulled", () => {
  it("then the state it leads to, or a refusal", () => {
    givenState(DoorMachine, "open").when("shut").thenState("shut")
    givenState(DoorMachine, "shut").when("shut").thenRefused()
    expect(() => givenState(DoorMachine, "open").when("shut").thenState("open")).toThrow()
    expect(() => givenState(DoorMachine, "open").when("shut").thenRefused()).toThrow()
    expect(() => givenState(DoorMachine, "shut").when("shut").thenState("shut")).toThrow()
  })
})
