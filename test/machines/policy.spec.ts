/** Versions of a policy: the moves of each fact and of the clock in each state. */
import { Instant, PlainJson } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import {
  type Instrument,
  evolve as evolveInstrument,
  instruments
} from "#core/instruments/instrument/Instrument.ts"
import { Manifest } from "#core/instruments/instrument/Manifest.ts"
import {
  evolve,
  type Fact,
  type PolicyVersion,
  policyVersions,
  PolicyVersionMachine
} from "#core/instruments/policy/PolicyVersion.ts"
import { ripen } from "#core/kernel/Collection.ts"
import * as Invariant from "#core/kernel/Invariant.ts"
import * as Machine from "#core/kernel/Machine.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import { id, party } from "./subscriptions.ts"

const at = (hour: number) => Instant.of(`2026-07-30T${String(hour).padStart(2, "0")}:00:00Z`)
const manifest = Schema.decodeUnknownSync(Manifest)(
  PlainJson.parseTrusted(JSON.stringify(bodyOf()))
)

const version = (state: PolicyVersion["state"], until: Instant.Instant | null = null) =>
  ({
    instrumentId: id<"InstrumentId">("fund-a"),
    policyVersion: 2,
    state,
    effectiveFrom: at(5),
    until,
    setBy: "olga",
    changes: [],
    manifest
  }) satisfies PolicyVersion

const supersede = { on: "supersede", until: at(9) } as const
const limit = { on: "limit", until: at(8) } as const

describe("a version of a policy", () => {
  it.each<[from: PolicyVersion["state"], fact: Fact, to: PolicyVersion["state"]]>([
    ["scheduled", { on: "begin" }, "current"],
    ["scheduled", { on: "replace" }, "withdrawn"],
    ["current", supersede, "superseded"],
    ["current", limit, "current"]
  ])("%s: %o leads nowhere else", (from, fact, to) => {
    const after = evolve(version(from), fact)
    expect(after.state).toBe(to)
    expect(Invariant.breaches(policyVersions.invariants, after)).toEqual([])
  })

  it.each<[from: PolicyVersion["state"], fact: Fact]>([
    ["scheduled", supersede],
    ["current", { on: "begin" }],
    ["current", { on: "replace" }],
    ["superseded", { on: "begin" }],
    ["superseded", { on: "replace" }],
    ["superseded", supersede],
    ["withdrawn", { on: "begin" }],
    ["withdrawn", { on: "replace" }],
    ["withdrawn", supersede]
  ])("%s: %o is a corrupt history", (from, fact) => {
    expect(() => evolve(version(from), fact)).toThrow(/corrupt history/u)
  })

  it("the clock brings it into force at its instant and out of force at the next one's, not before", () => {
    const stateAt = (self: PolicyVersion, hour: number) =>
      ripen(policyVersions, self, at(hour)).state
    expect(stateAt(version("scheduled"), 4)).toBe("scheduled")
    expect(stateAt(version("scheduled"), 5)).toBe("current")
    expect(stateAt(version("current", at(8)), 7)).toBe("current")
    expect(stateAt(version("current", at(8)), 8)).toBe("superseded")
    expect(stateAt(version("current"), 23)).toBe("current")
    expect(stateAt(version("withdrawn"), 23)).toBe("withdrawn")
  })

  it("waits for the clock alone, and only while it is scheduled", () => {
    for (const state of Object.keys(PolicyVersionMachine.states) as Array<PolicyVersion["state"]>) {
      const waits = policyVersions.waitingOn(version(state, at(9)))
      expect(waits).toEqual(
        state === "scheduled" ? [{ role: "engine", action: "policy.begin", by: at(5) }] : []
      )
      if (Machine.isTerminal(PolicyVersionMachine, state)) expect(waits).toEqual([])
    }
  })

  it("that was superseded says since when, and none ends before it begins", () => {
    expect(Invariant.breaches(policyVersions.invariants, version("superseded"))).toHaveLength(1)
    expect(Invariant.breaches(policyVersions.invariants, version("current", at(4)))).toHaveLength(1)
  })
})

describe("an instrument's terms", () => {
  const next = { policyVersion: 2, effectiveFrom: at(5), manifest: { ...manifest, holderCap: 7 } }
  const instrument: Instrument = {
    instrumentId: id("fund-a"),
    registrar: party("registrar"),
    configurations: [],
    manifest,
    policyVersion: 1,
    termsSince: at(1),
    next: null,
    backedBy: null
  }

  it("that are scheduled replace those in force at their instant, with their version", () => {
    const scheduled = evolveInstrument(instrument, { on: "schedule", next })
    const instrumentAt = (hour: number) => ripen(instruments, scheduled, at(hour))
    expect(instrumentAt(4)).toMatchObject({ policyVersion: 1, manifest: { holderCap: 2 }, next })
    expect(instrumentAt(5)).toMatchObject({
      policyVersion: 2,
      manifest: { holderCap: 7 },
      termsSince: at(5),
      next: null
    })
  })

  it("that are set at once leave nothing scheduled behind that would undo them", () => {
    const scheduled = evolveInstrument(instrument, { on: "schedule", next })
    const set = evolveInstrument(scheduled, {
      on: "set",
      policyVersion: 3,
      termsSince: at(2),
      manifest
    })
    expect(ripen(instruments, set, at(23))).toMatchObject({ policyVersion: 3, next: null })
  })

  it("that were never scheduled cannot begin", () => {
    expect(() => evolveInstrument(instrument, { on: "begin" })).toThrow(/corrupt history/u)
  })

  it("cannot be scheduled into the past of those in force, nor under a smaller number", () => {
    const breaches = (change: Partial<typeof next>) =>
      Invariant.breaches(instruments.invariants, { ...instrument, next: { ...next, ...change } })
    expect(breaches({})).toEqual([])
    expect(breaches({ effectiveFrom: at(1) })).toHaveLength(1)
    expect(breaches({ policyVersion: 1 })).toHaveLength(1)
  })
})
