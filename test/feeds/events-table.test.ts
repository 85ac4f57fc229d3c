/** Members of events, and those that a monitor's view leaves out. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { events } from "#core/catalogue.ts"
import {
  hiddenMembers,
  hiddenResources,
  type Redactable,
  redact,
  sight
} from "#core/feeds/Redaction.ts"
import * as Decimal from "#core/kernel/Decimal.ts"
import * as Instant from "#core/kernel/Instant.ts"
import * as PlainJson from "#core/kernel/PlainJson.ts"
import { announcing } from "#core/records/EventDeclaration.ts"
import { type BuiltInEventType, kindOf } from "#core/vocabulary/EventType.ts"
import { EventType, ResourceKind } from "#core/vocabulary/index.ts"

const makeEvent = announcing(events)

/** The record an event is about, where its type does not begin with that record's name. */
const aboutOthers: Readonly<Partial<Record<EventType, ResourceKind | "any">>> = {
  "reconciliation.run": "reconciliation-run",
  "reconciliation.finding": "reconciliation-run",
  "reconciliation.hold": "hold",
  "statement.received": "external-statement",
  "statement.overdue": "external-source",
  "distribution.due": "scheduled-distribution",
  "reserve.minted": "mint",
  "reserve.redeemed": "reserve-redemption",
  "settlement.proposed": "contract",
  "price.point": "contract",
  "admission.offered": "contract",
  "admission.granted": "contract"
}
/**
 * Events of these kinds have the record of their operation, action or pruning, whatever its type.
 */
const aboutAny = ["operation.", "approval.", "retention."]

describe("an event", () => {
  it.each(EventType.members.map((type) => [type] as const))(
    "%s is about the record that its type names",
    (type) => {
      const named = type.slice(0, type.indexOf("."))
      const expected =
        aboutOthers[type] ?? (aboutAny.some((area) => type.startsWith(area)) ? "any" : named)
      expect(events[type].resourceKind).toBe(expected)
    }
  )
})

describe("payloads", () => {
  it.each<[type: BuiltInEventType, members: ReadonlyArray<string>]>([
    ["approval.requested", ["state", "kind", "makerRole"]],
    ["approval.signed", ["state", "kind", "makerRole"]],
    ["approval.approved", ["state", "kind", "makerRole"]],
    ["approval.rejected", ["state", "kind", "makerRole", "withdrawn"]],
    ["approval.lapsed", ["state", "kind", "makerRole"]],
    ["reconciliation.run", ["trigger", "verdict", "findings", "shown"]],
    ["standing-approval.granted", ["action", "rateChange"]],
    [
      "holder.restricted",
      ["mode", "reason", "holderId", "orderCited", "operationId", "autoReleaseAt", "restrictionId"]
    ],
    ["operation.succeeded", ["kind", "role", "operationId"]],
    ["operation.failed", ["kind", "role", "operationId"]],
    ["retention.pruned", ["counts", "before"]]
  ])("%s carries exactly what is given for it", (type, members) => {
    expect(events[type].members).toEqual(members)
  })

  it("a payload is written as the wire writes it: all places of a figure, instants in UTC", () => {
    const { payload, type } = makeEvent("holder.recovered", {
      operationId: "op_1",
      from: { holderId: "h-1" },
      to: { holderId: "h-2" },
      quantity: Decimal.of("95812.973076")
    })
    expect(type).toBe("holder.recovered")
    expect(PlainJson.stringify(payload)).toBe(
      '{"operationId":"op_1","from":{"holderId":"h-1"},"to":{"holderId":"h-2"},"quantity":95812.9730760000}'
    )
    const restricted = makeEvent("holder.restricted", {
      mode: "freeze",
      reason: "other",
      holderId: "h-1",
      orderCited: false,
      operationId: "op_1",
      autoReleaseAt: Instant.of("2026-01-01T00:00:00Z"),
      restrictionId: "r-1"
    })
    expect(PlainJson.stringify(restricted.payload)).toContain(
      '"autoReleaseAt":"2026-01-01T00:00:00'
    )
  })

  it("a word outside its set is a bug and throws", () => {
    expect(() =>
      makeEvent("approval.requested", {
        // @ts-expect-error no action is ever in this state
        state: "priced",
        kind: "reserve.propose",
        makerRole: "operator"
      })
    ).toThrow()
  })
})

const plain: fc.Arbitrary<PlainJson.Plain> = fc.letrec<{
  value: PlainJson.Plain
  object: { readonly [member: string]: PlainJson.Plain }
}>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.string(),
    fc.integer().map((n) => new PlainJson.PlainNumber(`${n}`)),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object")
  ),
  object: fc.dictionary(
    fc.oneof(fc.constantFrom(...hiddenMembers, "state", "month"), fc.string()),
    tie("value"),
    { maxKeys: 4 }
  )
})).value

const event = (changes: Partial<Redactable> = {}): fc.Arbitrary<Redactable> =>
  fc.record({
    kind: fc.constant(changes.kind ?? "control"),
    party: fc.constantFrom("alice::1220", null),
    resourceKind: fc.constantFrom(...ResourceKind.members),
    resourceId: fc.string(),
    payload: plain
  })

/** Every member at any depth. */
const membersOf = (value: unknown): ReadonlyArray<string> =>
  typeof value === "object" && value !== null && !PlainJson.isPlainNumber(value)
    ? [
        ...(Array.isArray(value) ? [] : Object.keys(value)),
        ...Object.values(value).flatMap(membersOf)
      ]
    : []

describe("a monitor", () => {
  it("never sees a hidden member, at any depth, nor a party, nor the id of a hidden record", () => {
    fc.assert(
      fc.property(event(), (whole) => {
        const redacted = redact(whole)
        expect(redacted?.party).toBeNull()
        expect(membersOf(redacted?.payload).filter((member) => hiddenMembers.has(member))).toEqual(
          []
        )
        expect(redacted?.resourceId).toBe(
          hiddenResources.has(whole.resourceKind) ? null : whole.resourceId
        )
      })
    )
  })

  it("sees the rest as it was, and seeing twice hides nothing more", () => {
    fc.assert(
      fc.property(event(), (whole) => {
        const redacted = redact(whole)
        if (redacted === null) throw new Error("a control event is seen")
        expect(redact(redacted)).toEqual(redacted)
        if (membersOf(whole.payload).every((member) => !hiddenMembers.has(member))) {
          expect(redacted.payload).toEqual(whole.payload)
        }
      })
    )
  })

  it("sees no journal event", () => {
    fc.assert(fc.property(event({ kind: "journal" }), (whole) => redact(whole) === null))
    for (const type of EventType.members) {
      expect(sight(type, events[type]) === null).toBe(kindOf(type) === "journal")
    }
  })

  it("sees ids of exactly the kinds of record that are given", () => {
    expect(ResourceKind.members.filter((kind) => !hiddenResources.has(kind)).toSorted()).toEqual(
      "instrument, dealing-cycle, standing-settlement, reserve, amendment, distribution, scheduled-distribution, standing-approval, reconciliation-run, external-statement, external-source, primary-market, hold, webhook"
        .split(", ")
        .toSorted()
    )
    expect([...hiddenMembers].toSorted()).toEqual(
      "holderId, reason, orderCited, name, email, quantity, amount".split(", ").toSorted()
    )
  })
})
