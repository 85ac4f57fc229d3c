/** What the parts of every page compute, without a browser: forms with their keys, faults and entries. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as OpenForms from "../../packages/http-host/console/src/kit/OpenForms.ts"
import {
  enteredOf,
  faultAt,
  type Field,
  type FieldKind,
  formFields
} from "../../packages/http-host/console/src/kit/Schema.ts"
import { rowKeys } from "../../packages/http-host/console/src/kit/RowKeys.ts"
import * as Instants from "../../packages/http-host/console/src/words/Instants.ts"
import * as Problems from "../../packages/http-host/console/src/words/Problems.ts"
import {
  type Document,
  schemasOf,
  tableOf
} from "../../packages/http-host/scripts/console-interface.ts"
import { root } from "../architecture/sources.ts"

const document: Document = JSON.parse(
  readFileSync(join(root, "packages/http-host/openapi.json"), "utf8")
)
const table = tableOf(document)
const schemas = schemasOf(document)

describe("an open form", () => {
  const step = fc.constantFrom(
    "open",
    "type",
    "sent",
    "refused",
    "not-taken",
    "unknown",
    "made",
    "close",
    "clear"
  )

  it("keeps its key and what was typed while any call may have taken effect, so that no second write is made", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 14 }), (steps) => {
        let count = 0
        const forms = OpenForms.make(() => `key-${(count += 1)}`)
        // The key and the values that the form must have, as long as it is kept.
        let key = "key-1"
        let values = {}
        let inFlight = 0
        let isLost = false
        expect(forms.open("f")).toEqual({ key, values, isUncertain: false, isOther: false })
        for (const each of steps) {
          const drop = () => {
            key = `key-${count + 1}`
            values = {}
            inFlight = 0
            isLost = false
          }
          if (each === "type") {
            values = { a: String(steps.length) }
            forms.type("f", key, values)
          } else if (each === "sent") {
            forms.sent("f", key)
            inFlight += 1
          } else if (each === "refused" || each === "not-taken" || each === "unknown") {
            forms.failed("f", key, each)
            inFlight = Math.max(0, inFlight - 1)
            if (each !== "not-taken") isLost = each === "unknown"
          } else if (each === "made") {
            forms.made("f", key)
            drop()
          } else if (each === "clear") {
            forms.clear()
            drop()
          } else if (each === "close") {
            forms.close("f")
            if (!isLost && inFlight === 0) drop()
          }
          const form = { key, values, isUncertain: isLost || inFlight > 0, isOther: false }
          expect(forms.open("f", {})).toEqual(form)
        }
        // An answer to a form that was dropped changes no later one.
        const before = forms.open("f")
        forms.made("f", "key-0")
        forms.type("f", "key-0", { b: "x" })
        expect(forms.open("f")).toEqual(before)
      })
    )
    expect(OpenForms.nameOf("k", { a: 1, b: 2 })).toBe(OpenForms.nameOf("k", { b: 2, a: 1 }))
    expect(OpenForms.nameOf("k", { a: 1 })).not.toBe(OpenForms.nameOf("k", { a: 2 }))
  })

  it("begins anew where the page gives other entries, unless a call of it may have taken effect", () => {
    let count = 0
    const forms = OpenForms.make(() => `key-${(count += 1)}`)
    const [two, one] = [{ entries: ["a", "b"], by: "x" }, { entries: ["a"] }]
    expect(forms.open("f", two)).toMatchObject({ key: "key-1", values: two })
    expect(forms.open("f", { by: "x", entries: ["a", "b"] }).key).toBe("key-1")
    expect(forms.open("f", one)).toEqual({
      key: "key-2",
      values: one,
      isUncertain: false,
      isOther: false
    })
    forms.type("f", "key-2", { entries: ["c"] })
    expect(forms.open("f", one).values).toEqual({ entries: ["c"] })
    forms.sent("f", "key-2")
    forms.failed("f", "key-2", "unknown")
    expect(forms.open("f", two)).toEqual({
      key: "key-2",
      values: { entries: ["c"] },
      isUncertain: true,
      isOther: true
    })
    forms.failed("f", "key-2", "refused")
    expect(forms.open("f", two)).toMatchObject({ key: "key-3", values: two })
  })

  it("has work where something was typed or a call is out, and none besides", () => {
    const forms = OpenForms.make(() => "key")
    forms.open("f", { replaces: "1" })
    expect(forms.hasWork()).toBe(false)
    forms.sent("f", "key")
    expect(forms.hasWork()).toBe(true)
    forms.failed("f", "key", "refused")
    expect(forms.hasWork()).toBe(false)
    forms.type("f", "key", { a: "x" })
    expect(forms.hasWork()).toBe(true)
  })

  it.each([
    ["a refusal by a rule", { _tag: "CallRefusal", status: 409, slug: "rule-refused" }, "refused"],
    ["a fault of its input", { _tag: "InputFault" }, "not-taken"],
    ["too many calls", { _tag: "CallRefusal", status: 429, slug: "rate-limited" }, "not-taken"],
    ["a token that has ended", { _tag: "CallRefusal", status: 401 }, "not-taken"],
    ["a form that is wrong", { _tag: "CallRefusal", status: 400 }, "not-taken"],
    [
      "a key that an earlier call took effect under",
      { _tag: "CallRefusal", status: 422, slug: "idempotency-key-reused" },
      "unknown"
    ],
    ["a failure of the server", { _tag: "CallRefusal", status: 503 }, "unknown"],
    ["no answer", { _tag: "NoAnswer" }, "unknown"],
    ["an answer that is no JSON", { _tag: "AnswerNotJson", status: 404 }, "unknown"],
    ["a session that ended", new Error("Nobody is signed in."), "unknown"]
  ] as const)("learns of its calls by %s", (_, failure, outcome) => {
    expect(OpenForms.outcomeOf(failure)).toBe(outcome)
  })
})

describe("the rows of a list", () => {
  it.each([
    ["holders.list", { holderId: "h-1", state: "active" }, { holderId: "h-2", state: "active" }],
    [
      "holders.admissions",
      { holderId: "h-1", instrumentId: "fund-a", state: "offered" },
      { holderId: "h-1", instrumentId: "fund-b", state: "offered" }
    ],
    ["reconciliation-verdict.list", { instrumentId: "a" }, { instrumentId: "b" }]
  ] as const)("of %s keep their key where another comes before them", (read, row, other) => {
    const [alone] = rowKeys(read, [row])
    expect(rowKeys(read, [other, { ...row, state: "other" }])[1]).toBe(alone)
    expect(rowKeys(read, [other])[0]).not.toBe(alone)
    expect(new Set(rowKeys(read, [row, row, other])).size).toBe(3)
  })

  it("keep it where their record names another later", () => {
    const row = { findingId: "f-1", holdId: null }
    expect(rowKeys("findings.list", [{ ...row, holdId: "h-1" }])).toEqual(
      rowKeys("findings.list", [row])
    )
  })
})

describe("the fields of a write", () => {
  it.each(Object.entries(table.writes).filter(([kind]) => !kind.startsWith("approvals.")))(
    "%s name the version that it replaces, where its call does",
    (kind, { matches }) => {
      const required = formFields(schemas, { kind, fixed: {} }).filter(
        ({ isRequired, name }) => isRequired && name === "replaces"
      )
      expect(required.length).toBe(matches ? 1 : 0)
      expect(formFields(schemas, { kind, fixed: { replaces: "1" } })).not.toContainEqual(
        expect.objectContaining({ name: "replaces" })
      )
    }
  )

  it("are offered to whoever makes the write, and not to whoever only signs it", () => {
    expect(table.writes["policy.set"]?.roles).toEqual(["operator"])
    expect(table.writes["standing-approval.revoke"]?.roles).toEqual([
      "operator",
      "approver",
      "risk"
    ])
    const signed = Object.entries(table.writes).filter(
      ([, { approvers, roles }]) => approvers > 0 && roles.includes("approver")
    )
    expect(signed).toEqual([])
  })
})

const field = (name: string, kind: FieldKind, isRequired = false): Field => ({
  name,
  isRequired,
  mayBeNull: false,
  description: null,
  kind
})

describe("the entries of a form", () => {
  const rows = field("rows", {
    is: "list",
    item: {
      is: "group",
      fields: [
        field("x", { is: "decimal" }, true),
        field("inner", { is: "list", item: { is: "decimal" } })
      ]
    }
  })

  it("have the row of a fault that a refusal names, since no empty row is left out", () => {
    const { faults, input } = enteredOf([rows], { rows: [{}, { x: "1" }] })
    expect([...faults]).toEqual([["/rows/0", "is empty: fill it in, or remove it"]])
    expect((input as { rows: ReadonlyArray<unknown> }).rows[1]).toEqual({ x: "1" })
    const texts = field("texts", { is: "list", item: { is: "text", pattern: null, longest: null } })
    expect([...enteredOf([texts], { texts: ["a", " "] }).faults.keys()]).toEqual(["/texts/1"])
  })

  it("are each shown their fault, however deep the row lies", () => {
    const { faults } = enteredOf([rows], { rows: [{ x: "1" }, { x: "z", inner: ["1", "y"] }] })
    expect([...faults.keys()]).toEqual(["/rows/1/x", "/rows/1/inner/1"])
    expect(faultAt(faults, "/rows/1/x", { is: "decimal" })).toBeDefined()
    expect(faultAt(faults, "/rows/0/x", { is: "decimal" })).toBeUndefined()
    expect(faultAt(faults, "/rows/1/inner/1", { is: "decimal" })).toBeDefined()
    // A group shows the faults of its fields at them, and a text of JSON has them itself.
    expect(faultAt(faults, "/rows", { is: "list" })).toBeUndefined()
    expect(faultAt(new Map([["/t/price", "is wrong"]]), "/t", { is: "json" })).toBe("is wrong")
    expect(faultAt(new Map([["/tt/price", "is wrong"]]), "/t", { is: "json" })).toBeUndefined()
  })

  it("keep every digit of a number within JSON", () => {
    const json = [field("tolerances", { is: "json" })]
    const text =
      '{"price": 0.10000000000000000001, "cash": 1.0, "whole": 900719925474099312, "n": 7}'
    expect(enteredOf(json, { tolerances: text })).toEqual({
      input: {
        tolerances: {
          price: "0.10000000000000000001",
          cash: "1.0",
          whole: 900719925474099312n,
          n: 7n
        }
      },
      faults: new Map()
    })
  })

  it.each([
    ["an instant", "2026-07-31T12:00:00Z", "UTC", "2026-07-31T12:00:00Z"],
    ["a time of the zone", "2026-07-31 14:30", "Europe/Zurich", "2026-07-31T12:30:00Z"],
    [
      "an hour that the zone skips",
      "2026-03-29 02:30",
      "Europe/Zurich",
      "is skipped in Europe/Zurich: beside it are 01:30 (2026-03-29T00:30:00Z) and 03:30 (2026-03-29T01:30:00Z)"
    ],
    [
      "an hour that the zone has twice",
      "2026-10-25T02:30",
      "Europe/Zurich",
      "is there twice in Europe/Zurich: as 2026-10-25T00:30:00Z and as 2026-10-25T01:30:00Z. Enter one of these"
    ],
    ["a day that is none", "2026-02-30T12:00:00Z", "UTC", "is no date and time of the calendar"],
    [
      "words",
      "tomorrow",
      "UTC",
      "is no instant: 2026-07-31T12:00:00Z, or a time without Z in the page's zone"
    ]
  ])("take %s as it is meant, or refuse it", (_, text, zone, expected) => {
    const one = Instants.entered(text, zone)
    expect("at" in one ? one.at : one.fault).toBe(expected)
    const { faults, input } = enteredOf(
      [field("from", { is: "instant" })],
      { from: text },
      { pointer: "", zone }
    )
    expect("at" in one ? input : [...faults.values()]).toEqual(
      "at" in one ? { from: expected } : [expected]
    )
  })
})

describe("a refusal", () => {
  it("says each of its faults with its pointer", () => {
    const errors = [
      { pointer: "/body/lines/0/x", detail: "is wrong" },
      { pointer: "/body/y", detail: "is none" }
    ]
    const problem = { title: "t", detail: "d", recovery: null, requestId: "r", errors }
    expect(Problems.saidOf({ problem }).faults).toEqual(errors)
  })
})
