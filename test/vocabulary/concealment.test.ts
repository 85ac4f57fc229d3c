/** Events of restrictions are declared as concealed, so that no new one reaches investors and apps. */
import { Catalogue } from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { EventType } from "#core/vocabulary/EventType.ts"
import { Role } from "#core/vocabulary/Role.ts"
import { checkNames, isConcealedCheck } from "#core/vocabulary/ReconciliationChecks.ts"
import { operations as prechecked } from "#core/overviews/precheck/PrecheckActLookups.ts"
import { PrecheckAct } from "#core/vocabulary/sets.ts"
import { eventFor, mayReadEvent, mayReadFigures, operationFor } from "#core/writes/Concealment.ts"

const { concealed, events, operations } = Catalogue

const readers = (event: Parameters<typeof mayReadEvent>[2]) =>
  Role.members.filter((role) => mayReadEvent(concealed, role, event))
/** Names of the members of an input, at any depth. */
const namesOf = (input: Schema.Top): string => JSON.stringify(Schema.toJsonSchemaDocument(input))

const staff = Role.members.filter((role) => role !== "investor" && role !== "app")

describe("an event of a restriction", () => {
  it.each(
    EventType.members.filter((type) => {
      const { members, resourceKind } = events[type]
      return (
        resourceKind === "restriction" ||
        members.includes("restrictionId") ||
        /restrict/u.test(type)
      )
    })
  )("is concealed from investors and apps alone: %s", (type) => {
    const { resourceKind } = events[type]
    expect(
      readers({
        type,
        resourceKind: resourceKind === "any" ? "holder" : resourceKind,
        payload: {}
      })
    ).toEqual(staff)
  })

  it.each(
    operations.flatMap(({ kind, resource }) =>
      /restrict/u.test(`${kind} ${resource.kind}`) ? [[kind, resource.kind] as const] : []
    )
  )("that a write of its own announces is concealed too: %s", (_, resourceKind) => {
    for (const type of ["operation.failed", "approval.requested"] as const) {
      expect(readers({ type, resourceKind, payload: {} })).toEqual(staff)
    }
  })

  it("that a write announces by which a line is made to wait is concealed too", () => {
    for (const type of ["operation.succeeded", "operation.failed"] as const) {
      const event = { type, resourceKind: "distribution" } as const
      for (const kind of ["distribution.instruct", "distribution.roll"]) {
        expect(readers({ ...event, payload: { kind } })).toEqual(staff)
      }
      const kind = "distribution.execute"
      expect(readers({ ...event, payload: { kind } })).toEqual(Role.members)
    }
  })

  it("that a forced act or a closing announces before it is done is concealed too", () => {
    const before = EventType.members.filter((type) => /^(approval\.|operation\.failed)/u.test(type))
    for (const kind of [
      "holder.force-transfer",
      "instrument.force-transfer",
      "holder.recover",
      "instrument.recover",
      "holder.close"
    ]) {
      const event = { resourceKind: "holder", payload: { kind } } as const
      for (const type of before) expect(readers({ ...event, type })).toEqual(staff)
      // A forced transfer may void lines alone, so that not even its success shows that units moved.
      expect(readers({ ...event, type: "operation.succeeded" })).toEqual(
        kind === "holder.force-transfer" ? staff : Role.members
      )
    }
  })

  it("that a write announces which may cite an order is concealed until it is done", () => {
    const citing = operations.filter(({ input }) => /"authority"/u.test(namesOf(input)))
    expect(citing.map(({ kind }) => kind).toSorted()).toEqual([
      "holder.force-transfer",
      "holder.recover",
      "holder.restrict",
      "holder.restrict-batch",
      "instrument.force-transfer",
      "instrument.recover"
    ])
    for (const { kind, resource } of citing) {
      const event = { resourceKind: resource.kind, payload: { kind } } as const
      for (const type of ["approval.requested", "approval.signed", "operation.failed"] as const) {
        expect(readers({ ...event, type })).toEqual(staff)
      }
    }
  })

  it("that tells of lines beside them is of records which those it is concealed from do not read", () => {
    const routes = /\/(?:reconciliation-runs|standing-approvals|approvals|restrictions)(?:\/|$)/u
    const read = Catalogue.queries.filter(({ route }) => routes.test(route))
    expect(read.length).toBe(8)
    for (const { audience, route } of read) {
      const roles = ["investor", "app", "registrar"].filter((role) => role in audience)
      expect([route, roles]).toEqual([route, []])
    }
  })

  it("is all that is concealed", () => {
    const open = EventType.members.filter((type) => {
      const { resourceKind } = events[type]
      return mayReadEvent(concealed, "app", {
        type,
        resourceKind: resourceKind === "any" ? "holder" : resourceKind,
        payload: {}
      })
    })
    expect(EventType.members.filter((type) => !open.includes(type))).toEqual([
      "distribution.payable",
      "distribution.held",
      "distribution.paid",
      "holder.restricted",
      "holder.unrestricted"
    ])
  })
})

describe("figures of a precheck", () => {
  it.each(PrecheckAct.members)(
    "are concealed from investors and apps unless no restriction reaches them: %s",
    (act) => {
      const open: ReadonlyArray<string> = [
        "subscription.claim",
        "subscription.deliver",
        "subscription.settle",
        "redemption.claim",
        "redemption.settle",
        "dealing-cycle.settle",
        "instrument.force-transfer",
        "mint.start",
        "reserve-redemption.start"
      ]
      const able = Role.members.filter((role) => mayReadFigures(prechecked[act], role))
      expect(able).toEqual(open.includes(act) ? Role.members : staff)
    }
  )
})

describe("a check that reads restrictions, cited orders or suspended lines", () => {
  it("is marked as concealed, as every check of a room is", () => {
    expect(checkNames.filter(isConcealedCheck)).toEqual([
      "distribution-unpaid",
      "suspended-lines",
      "restriction-effect",
      "policy-replay"
    ])
    expect(isConcealedCheck("x-own")).toBe(true)
  })

  /** Payload of an event as a role reads it, as JSON text; null: it is concealed. */
  const read = (role: Role, type: EventType, payload: string) => {
    const event = {
      type,
      resourceKind: "reconciliation-run",
      payload: PlainJson.parseTrusted(payload)
    } as const
    const shown = eventFor(concealed, role, event)
    return shown === null ? null : PlainJson.stringify(shown.payload)
  }

  it.each([
    [
      "reconciliation.finding",
      '{"counts":{"claim-aging":2,"register-line":1,"restriction-effect":1}}',
      '{"counts":{"claim-aging":2}}'
    ],
    // A blocked instrument looks the same whether the check that blocks it is concealed or not.
    ["reconciliation.finding", '{"counts":{"register-supply":1}}', null],
    ["reconciliation.finding", '{"counts":{"restriction-effect":1}}', null],
    ["reconciliation.finding", '{"counts":{"suspended-lines":1}}', null],
    ["reconciliation.finding", '{"counts":{"x-own":1}}', null],
    [
      "reconciliation.run",
      '{"trigger":"manual","verdict":"findings","findings":1,"shown":{"verdict":"clear","findings":0}}',
      '{"trigger":"manual","verdict":"clear","findings":0}'
    ],
    // Events that were stored before findings were counted apart.
    ["reconciliation.run", '{"trigger":"manual","verdict":"findings","findings":1}', null],
    [
      "reconciliation.run",
      '{"trigger":"manual","verdict":"clear","findings":0}',
      '{"trigger":"manual","verdict":"clear","findings":0}'
    ],
    [
      "reconciliation.hold",
      '{"runId":"r","blocks":["distribution"],"findings":2}',
      '{"runId":"r","blocks":["distribution"],"findings":0}'
    ],
    [
      "hold.released",
      '{"source":"reconciliation","operationId":"o","accepted":2}',
      '{"source":"reconciliation","operationId":"o","accepted":0}'
    ]
  ] as const)("is named and counted by no event to an app: %s %s", (type, payload, shown) => {
    expect(read("app", type, payload)).toBe(shown)
    expect(read("operator", type, payload)).toBe(payload)
  })
})

describe("the result of a registration that was stored before its view for apps", () => {
  const result = {
    ...{ holderId: "h1", state: "pending", version: 2 },
    screening: { state: "clear", answeredBy: "carl" },
    waitingOn: [
      { party: "p", action: "HolderInvitation.Accept" },
      { role: "compliance", action: "screening.adjudicate" }
    ],
    attributes: [{ name: "professional", state: "pending", setBy: "olga" }]
  }
  const stored = { kind: "holder.onboard", problem: null, result } as const

  it.each(["app", "investor"] as const)("shows no screening and no staff to an %s", (role) => {
    const shown = operationFor(stored as never, role) as unknown as typeof stored
    expect(shown.result).toEqual({
      ...{ holderId: "h1", state: "pending", version: 2 },
      ...{ screening: null, waitingOn: [{ party: "p", action: "HolderInvitation.Accept" }] },
      attributes: [{ name: "professional", state: "pending", setBy: "venue" }]
    })
    expect(operationFor(stored as never, "auditor")).toBe(stored)
  })

  it("is of every kind of write that declares such a view", () => {
    for (const operation of Catalogue.operations) {
      const { kind } = operation
      const shown = operationFor({ ...stored, kind } as never, "app") as unknown as typeof stored
      const isWithout = (shown.result.screening as unknown) === null
      expect(isWithout, kind).toBe(
        "shownResult" in operation && operation.shownResult !== undefined
      )
    }
  })
})
