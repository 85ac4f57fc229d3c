/**
 * Attributes of a holder: the requirements of each change, the attributes that it replaces, and the
 * ends by the clock.
 */
import { Instant } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import { onboard } from "#core/admissions/OnboardOperations.ts"
import { setAttributes } from "#core/holders/attribute/AttributeOperations.ts"
import * as Shape from "#core/kernel/Shape.ts"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as AttributeRules from "#core/holders/attribute/AttributeRules.ts"
import type { Attribute } from "#core/holders/attribute/Attribute.ts"

const at = (day: number) => Instant.of(`2026-07-${String(day).padStart(2, "0")}T00:00:00Z`)
const hash = (sign: string) => sign.repeat(64)
const by = { now: at(10), setBy: "cora" }

const attribute = (changes: Partial<Attribute> = {}): Attribute => ({
  name: "kyc",
  value: "passed",
  state: "valid",
  validFrom: at(1),
  validUntil: null,
  evidenceHash: hash("a"),
  setBy: "olga",
  ...changes
})

const change = (changes: Partial<AttributeRules.Change> = {}): AttributeRules.Change => ({
  name: "kyc",
  value: "passed",
  state: "valid",
  validFrom: null,
  validUntil: null,
  evidenceHash: hash("a"),
  ...changes
})

const why = (attributes: ReadonlyArray<Attribute>, ...changes: Array<AttributeRules.Change>) => {
  const judged = AttributeRules.judge(attributes, changes, by)
  return Result.isSuccess(judged)
    ? "made"
    : `${judged.failure.slug} ${judged.failure.details.check}`
}

const after = (attributes: ReadonlyArray<Attribute>, ...changes: Array<AttributeRules.Change>) =>
  AttributeRules.change(attributes, changes, by).map(
    ({ name, value, state, setBy }) => `${name} ${value} ${state} ${setBy}`
  )

describe("what stands in the way of a change", () => {
  it.each([
    ["an attribute named twice", [], [change(), change({ value: "other" })], "attribute-repeated"],
    [
      "an end before its beginning",
      [],
      [change({ validFrom: at(20), validUntil: at(20) })],
      "attribute-period"
    ],
    [
      "a verified one that is past",
      [],
      [change({ validFrom: at(1), validUntil: at(10) })],
      "attribute-in-time"
    ],
    [
      "a verification after the stated end",
      [attribute({ state: "pending", validFrom: at(1), validUntil: at(10) })],
      [change()],
      "attribute-in-time"
    ],
    [
      "a thirty-third name",
      Array.from({ length: 32 }, (_, n) => attribute({ name: `n-${n}` })),
      [change()],
      "attributes-max"
    ]
  ] as const)("%s is taken", (_, attributes, changes, check) => {
    expect(why(attributes, ...changes)).toBe(`rule-refused ${check}`)
  })

  it.each([
    ["nothing", []],
    ["what is only stated", [attribute({ state: "pending" })]],
    ["what was refused", [attribute({ state: "rejected" })]],
    ["what ran out", [attribute({ state: "expired" })]],
    ["what is revoked", [attribute({ state: "revoked" })]],
    ["another value", [attribute({ value: "other" })]]
  ] as const)("%s is revoked", (_, attributes) => {
    expect(why(attributes, change({ state: "revoked" }))).toBe("state-conflict AttributeState")
  })

  it("a change that no rule refuses is accepted", () => {
    expect(why([], change())).toBe("made")
    expect(why([attribute()], change({ state: "revoked" }))).toBe("made")
    expect(why([], change({ state: "pending", validUntil: at(10), validFrom: at(1) }))).toBe("made")
    const full = Array.from({ length: 32 }, (_, n) => attribute({ name: `n-${n}` }))
    expect(why(full, change({ name: "n-7" }))).toBe("made")
  })
})

describe("every state and every change", () => {
  const other = attribute({ value: "old", evidenceHash: hash("b") })
  it.each([
    ["nothing", [], "pending", ["kyc passed pending cora"]],
    ["nothing", [], "valid", ["kyc passed valid cora"]],
    ["nothing", [], "rejected", ["kyc passed rejected cora"]],
    ["pending", [attribute({ state: "pending" })], "pending", ["kyc passed pending cora"]],
    ["pending", [attribute({ state: "pending" })], "valid", ["kyc passed valid cora"]],
    ["pending", [attribute({ state: "pending" })], "rejected", ["kyc passed rejected cora"]],
    ["rejected", [attribute({ state: "rejected" })], "valid", ["kyc passed valid cora"]],
    ["valid", [attribute()], "revoked", ["kyc passed revoked cora"]],
    ["another value", [other], "pending", ["kyc old valid olga", "kyc passed pending cora"]],
    ["another value", [other], "rejected", ["kyc old valid olga", "kyc passed rejected cora"]],
    ["another value", [other], "valid", ["kyc passed valid cora"]],
    [
      "another value and this one stated",
      [other, attribute({ state: "pending" })],
      "valid",
      ["kyc passed valid cora"]
    ],
    [
      "what ran out meanwhile",
      [attribute({ state: "expired" })],
      "revoked",
      ["kyc passed expired olga"]
    ]
  ] as const)("%s (row %#) is made something else by a change to %s", (...row) => {
    const [, attributes, state, expected] = row
    expect(after(attributes, change({ state }))).toEqual(expected)
  })

  it("a verified statement keeps the period it was stated with, or takes a new one", () => {
    const stated = attribute({ state: "pending", validUntil: at(25) })
    const [kept] = AttributeRules.change([stated], [change()], by)
    expect(kept).toMatchObject({ validFrom: at(1), validUntil: at(25) })
    const [renewed] = AttributeRules.change([stated], [change({ validUntil: at(30) })], by)
    expect(renewed).toMatchObject({ validUntil: at(30) })
  })

  it("a statement on other evidence is not verified in the place of the one that was stated", () => {
    const stated = attribute({ state: "pending", validFrom: at(2) })
    const made = AttributeRules.change([stated], [change({ evidenceHash: hash("c") })], by)
    expect(made).toMatchObject([{ evidenceHash: hash("c"), validFrom: by.now }])
  })
})

describe("the clock", () => {
  const some = [
    attribute({ name: "a", validUntil: at(12) }),
    attribute({ name: "b", validUntil: at(11) }),
    attribute({ name: "c", state: "pending", validUntil: at(3) }),
    attribute({ name: "d" })
  ]
  it("a verified attribute ends at its end, and no other ends", () => {
    const states = (now: Instant.Instant) =>
      AttributeRules.expired(some, now).map(({ state }) => state)
    expect(AttributeRules.endsAt(some)).toBe(at(11))
    expect(states(Instant.fromNanos(at(11) - 1n))).toEqual(["valid", "valid", "pending", "valid"])
    expect(states(at(11))).toEqual(["valid", "expired", "pending", "valid"])
    expect(states(at(12))).toEqual(["expired", "expired", "pending", "valid"])
    expect(AttributeRules.endsAt(AttributeRules.expired(some, at(12)))).toBeNull()
  })

  it("an attribute counts from its beginning to its end", () => {
    const one = attribute({ validFrom: at(5), validUntil: at(8) })
    const counts = [4, 5, 7, 8].map((day) => AttributeRules.counts(one, at(day)))
    expect(counts).toEqual([false, true, true, false])
  })
})

describe("whether a holder's attributes let it be admitted", () => {
  const kyc = { property: "kyc", value: "" }
  it.each([
    ["none, and none asked for", [], [], true],
    ["each valid, none asked for", [attribute(), attribute({ name: "tax-rate" })], [], true],
    [
      "one stated, none asked for",
      [attribute(), attribute({ name: "accredited", state: "pending" })],
      [],
      false
    ],
    [
      "a rate of tax and a note that ended, none asked for",
      [
        attribute(),
        attribute({ name: "tax-rate", state: "revoked" }),
        attribute({ name: "b", state: "expired" })
      ],
      [],
      true
    ],
    [
      "a renewal under way",
      [attribute(), attribute({ state: "pending", value: "again" })],
      [],
      true
    ],
    ["none, one asked for", [], [kyc], false],
    ["another than is asked for", [attribute({ name: "accredited" })], [kyc], false],
    [
      "what is asked for, whatever else",
      [attribute(), attribute({ name: "b", state: "revoked" })],
      [kyc],
      true
    ],
    ["another value than is asked for", [attribute()], [{ property: "kyc", value: "full" }], false],
    ["the value that is asked for", [attribute()], [{ property: "kyc", value: "passed" }], true],
    [
      "one of two that are asked for",
      [attribute()],
      [kyc, { property: "qualified", value: "" }],
      false
    ]
  ] as const)("%s: it is judged otherwise", (_, attributes, required, valid) => {
    expect(AttributeRules.areValid(attributes, required, by.now)).toBe(valid)
  })
})

const anyState = fc.constantFrom("pending", "valid", "rejected", "revoked" as const)
const anyChange = fc.record({
  name: fc.constantFrom("kyc", "accredited"),
  value: fc.constantFrom("yes", "no"),
  state: anyState,
  validFrom: fc.constant(null),
  validUntil: fc.option(fc.integer({ min: 11, max: 28 }).map(at)),
  evidenceHash: fc.constantFrom(hash("a"), hash("b"))
})

describe("under any changes", () => {
  it("a name has one attribute that counts and one that is stated, and a history one digest", () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 20 }), (changes) => {
        let attributes: ReadonlyArray<Attribute> = []
        for (const [day, one] of changes.entries()) {
          const now = at(10 + Math.floor(day / 2))
          attributes = AttributeRules.expired(attributes, now)
          const digest = AttributeRules.digestText(attributes)
          expect(AttributeRules.digestText(attributes.toReversed())).toBe(digest)
          const judged = AttributeRules.judge(attributes, [one], { now, setBy: "cora" })
          if (Result.isFailure(judged)) continue
          attributes = AttributeRules.change(attributes, [one], { now, setBy: "cora" })
          const kinds = attributes.map(({ name, state }) =>
            state === "pending" || state === "rejected" ? `${name} stated` : `${name} counts`
          )
          expect(new Set(kinds).size).toBe(kinds.length)
          expect(
            attributes.some(
              ({ name, value, state }) =>
                name === one.name && value === one.value && state === one.state
            )
          ).toBe(true)
          const laterDigest = AttributeRules.digestText(AttributeRules.expired(attributes, at(28)))
          expect(laterDigest).toBe(AttributeRules.digestText(attributes))
        }
      })
    )
  })
})

describe("the values that the engine computes with", () => {
  const decoders = {
    set: Shape.decoder<unknown>(setAttributes.input),
    onboard: Shape.decoder<unknown>(onboard.input)
  }
  /** Pointers to the faults of a request that states this attribute beside a sound one. */
  const pointers = (profile: object, state?: string) => {
    const evidenceHash = hash("a")
    const stated = [{ name: "kyc", value: "passed" }, profile].map((one) => ({
      ...one,
      evidenceHash,
      ...(state === undefined ? {} : { state })
    }))
    const members =
      state === undefined
        ? { holderId: "h1", party: "alice::1220aa", legalName: "Alice", attributes: stated }
        : { holderId: "h1", attributes: stated }
    const decoder = state === undefined ? decoders.onboard : decoders.set
    return Result.match(
      decoder.decode(members, () => "/body"),
      {
        onSuccess: () => [],
        onFailure: ({ details }) => (details.errors ?? []).map(({ pointer }) => pointer)
      }
    )
  }
  const value = "/body/attributes/1/value"

  it.each([
    ["tax-rate", "0", true],
    ["tax-rate", "0.15", true],
    ["tax-rate", "1", true],
    ["tax-rate", "1.0000000001", false],
    ["tax-rate", "-0.1", false],
    ["tax-rate", "15%", false],
    ["tax-rate", "1e-1", false],
    ["tax-exemption", "04", true],
    ["tax-exemption", "4", false],
    ["tax-exemption", "004", false],
    ["tax-exemption", "0a", false],
    ["other-rate", "15%", true],
    ["constructor", "15%", true]
  ])("never are taken in another form: %s of %s", (name, stated, isTaken) => {
    const expected = isTaken ? [] : [value]
    expect(pointers({ name, value: stated })).toEqual(expected)
    expect(pointers({ name, value: stated }, "pending")).toEqual(expected)
    expect(pointers({ name, value: stated }, "valid")).toEqual(expected)
    // One that was stored before is taken out by its value.
    expect(pointers({ name, value: stated }, "rejected")).toEqual([])
    expect(pointers({ name, value: stated }, "revoked")).toEqual([])
  })
})
