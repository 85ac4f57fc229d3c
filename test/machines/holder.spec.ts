/** Commands on a holder in every state, and the record after each fact. */
import { Instant, Party, RecordId } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import { describe, expect, test } from "vitest"
import {
  type Holder,
  holders,
  decide,
  evolve,
  type Fact,
  type HolderMachine,
  isReady
} from "#core/holders/holder/Holder.ts"
import * as Collection from "#core/kernel/Collection.ts"
import * as Invariant from "#core/kernel/Invariant.ts"
import type * as Machine from "#core/kernel/Machine.ts"

const at = Instant.of("2026-07-31T12:00:00Z")
const until = Instant.of("2027-07-31T12:00:00Z")
const party = Party.of("holder::1220aa")

const pending = (changes: Partial<Holder> = {}): Holder => ({
  holderId: Result.getOrThrow(RecordId.parse<"HolderId">("h1")),
  party,
  state: "pending",
  custodian: null,
  legalName: null,
  lei: null,
  classification: null,
  taxResidences: [],
  registeredAt: at,
  acceptedAt: null,
  validUntil: null,
  attributes: [],
  attributesFrom: null,
  screening: null,
  terms: null,
  successor: null,
  predecessor: null,
  consents: [],
  externalAccounts: [],
  closedAs: null,
  endedAt: null,
  invitationCid: "0001",
  registrationCid: null,
  signedTermsCid: null,
  told: { version: 1, at },
  ...changes
})

const accept: Fact = { on: "accept", registrationCid: "0002", at, validUntil: until }
const terms = { documentHash: "ab".repeat(32), acceptedAt: at, cid: "0003" }
const acceptTerms: Fact = { on: "accept-terms", terms }
const screened = (state: "pending" | "clear" | "review"): Fact => ({
  on: "screen",
  screening: { state, screenedAt: at, listVersion: "1", validUntil: null }
})
const after = (...facts: ReadonlyArray<Fact>) => facts.reduce(evolve, pending())
const active = after(accept, acceptTerms, { on: "activate" })

const records: Record<Machine.State<typeof HolderMachine>, Holder> = {
  pending: pending(),
  active,
  lapsed: evolve(active, { on: "lapse" }),
  succeeded: evolve(active, { on: "succeed", at }),
  closed: evolve(active, { on: "close", at })
}

const outcome = (self: Holder, on: "accept-terms" | "admit") => {
  const decided = decide(self, { on })
  return Result.isSuccess(decided) ? "admitted" : decided.failure.slug
}

describe("every state and every command", () => {
  test.each([
    ["pending", "admitted", "state-conflict"],
    ["active", "admitted", "admitted"],
    ["lapsed", "admitted", "state-conflict"],
    ["succeeded", "state-conflict", "state-conflict"],
    ["closed", "state-conflict", "state-conflict"]
  ] as const)("%s: signing terms or being admitted is judged differently", (state, sign, admit) => {
    expect(records[state].state).toBe(state)
    expect(outcome(records[state], "accept-terms")).toBe(sign)
    expect(outcome(records[state], "admit")).toBe(admit)
  })
})

describe("when a pending holder is ready", () => {
  test.each<[string, Holder, boolean]>([
    ["nothing", pending(), false],
    ["only its registration", after(accept), false],
    ["only its terms", after(acceptTerms), false],
    ["both, where nobody screens", after(accept, acceptTerms), true],
    ["both, its screening asked for", after(accept, acceptTerms, screened("pending")), false],
    ["both, its screening in doubt", after(accept, acceptTerms, screened("review")), false],
    ["both, its screening clear", after(accept, acceptTerms, screened("clear")), true],
    ["both, but active already", active, false]
  ])("%s is judged differently", (_, self, ready) => {
    expect(isReady(self)).toBe(ready)
  })
})

describe("what a fact leaves behind", () => {
  test("an accepted registration drops its invitation and keeps its end", () => {
    expect(after(accept)).toMatchObject({
      invitationCid: null,
      registrationCid: "0002",
      acceptedAt: at,
      validUntil: until,
      state: "pending"
    })
  })

  test("a new registration makes a lapsed holder active again", () => {
    const renewed = evolve(records.lapsed, {
      on: "renew",
      registrationCid: "0009",
      at,
      validUntil: null
    })
    expect(renewed).toMatchObject({ state: "active", registrationCid: "0009", validUntil: null })
  })

  test("countersigned terms leave no signature pending", () => {
    const signed: Fact = { on: "sign", signedTermsCid: "0007" }
    expect(after(signed).signedTermsCid).toBe("0007")
    expect(after(signed, acceptTerms)).toMatchObject({ terms, signedTermsCid: null })
  })

  test("what the venue records of a holder is kept, and moves it to no other state", () => {
    const described: Fact = {
      on: "describe",
      legalName: "A Fund",
      lei: null,
      classification: "fund",
      taxResidences: [],
      attributes: []
    }
    expect(evolve(active, described)).toMatchObject({ legalName: "A Fund", state: "active" })
  })

  test("every fact makes a record that keeps the invariants", () => {
    for (const [state, self] of Object.entries(records)) {
      expect([state, Invariant.breaches(holders.invariants, self)]).toEqual([state, []])
    }
  })
})

describe("the clock", () => {
  test("a registration lapses at the very instant it runs out", () => {
    const ripe = (now: Instant.Instant) => Collection.ripen(holders, active, now).state
    expect(ripe(Instant.fromNanos(until - 1n))).toBe("active")
    expect(ripe(until)).toBe("lapsed")
    expect(Collection.ripen(holders, { ...active, validUntil: null }, until).state).toBe("active")
  })
})

describe("whose move it is", () => {
  const moves = (self: Holder) => holders.waitingOn(self).map(({ action }) => action)
  test.each<[string, Holder, ReadonlyArray<string>]>([
    ["invited", pending(), ["HolderInvitation.Accept", "SignedTerms"]],
    ["registered", after(accept), ["SignedTerms"]],
    ["signed", after(accept, { on: "sign", signedTermsCid: "0007" }), ["accepted-terms.accept"]],
    ["declined", after({ on: "decline" }), ["holder.close", "SignedTerms"]],
    ["active", active, []],
    ["lapsed", records.lapsed, ["holder.set-attributes"]],
    ["succeeded", records.succeeded, []],
    ["closed", records.closed, []]
  ])("%s waits on somebody else", (_, self, expected) => {
    expect(moves(self)).toEqual(expected)
  })
})
