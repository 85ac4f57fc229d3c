/**
 * Vocabulary: the lists of events, operations, refusals and reads hold the declared ones and no
 * others.
 */
import { describe, expect, it } from "vitest"
import { reads, writes } from "../../packages/engine-core/scripts/pages/declared.ts"
import { events, machines } from "#core/catalogue.ts"
import * as SearchKinds from "#core/overviews/search/SearchKinds.ts"
import { Catalogue } from "@bursar/engine-core"
import { refusals } from "#core/kernel/Refusal.ts"
import {
  askedOperationKinds,
  EventType,
  OperationKind,
  SearchKind
} from "#core/vocabulary/index.ts"
import * as given from "../vocabulary/given.ts"
import { givenReads, givenWrites } from "../vocabulary/routes.ts"

const triggers = machines.flatMap(({ opens, triggers }) => [opens, ...Object.values(triggers)])

const without = (all: ReadonlyArray<string>, some: ReadonlyArray<string>) =>
  all.filter((one) => !some.includes(one)).toSorted()

describe("events", () => {
  it("every type of event has one row in the events table, and no other has", () => {
    expect(Object.keys(events).toSorted()).toEqual(EventType.members.toSorted())
  })

  it("every event that no move announces tells of something that is no move", () => {
    const announced = triggers.flatMap(({ announces = [] }) => announces)
    expect(without(EventType.members, announced)).toEqual([
      "distribution.due",
      "holder.forced-transfer",
      "price.point",
      "reconciliation.finding",
      "reconciliation.run",
      "reserve.reported",
      "retention.pruned",
      "standing-approval.granted",
      "standing-approval.revoked",
      "statement.overdue",
      "statement.received",
      "webhook.test"
    ])
  })
})

describe("operations", () => {
  it("every kind that pulls no trigger moves a record that has no moved states", () => {
    // An operation opens for any write and a delivery with any event, so that these machines name
    // no kinds.
    const pulled = machines
      .filter(({ name }) => name !== "OperationState" && name !== "DeliveryState")
      .flatMap(({ opens, triggers }) => [opens, ...Object.values(triggers)])
      .flatMap(({ by }) => by)
    expect(without(OperationKind.members, pulled)).toEqual([
      "distribution.instruct",
      "external-account.map",
      "holder.register-successor",
      "instrument.force-transfer",
      "reserve-report.create",
      "standing-approval.grant",
      "standing-approval.revoke",
      "webhook.register",
      "webhook.remove",
      "webhook.test"
    ])
  })

  it("a route is given for every kind a caller can ask for, and for no other", () => {
    expect([...givenWrites.keys()].toSorted()).toEqual(askedOperationKinds.toSorted())
    expect([...givenWrites.keys()].toSorted()).toEqual(given.operationKinds.toSorted())
  })

  it("no kind is declared twice, and none that only the engine opens has a route", () => {
    const kinds = writes.map(({ kind }) => kind)
    expect(kinds.toSorted()).toEqual([...new Set(kinds)].toSorted())
    expect(without(kinds, [...askedOperationKinds])).toEqual([])
  })

  it("every declared write has the route, makers and approvers that are given", () => {
    const declared = writes.map(({ approvers, kind, makers, route }) => [
      kind,
      { route, makers: makers.toSorted(), approvers }
    ])
    const expected = writes.map(({ kind }) => {
      const row = givenWrites.get(kind)
      return [kind, row && { ...row, makers: row.makers.toSorted() }]
    })
    expect(declared).toEqual(expected)
  })

  it("every refusal a write names is in the table of refusals", () => {
    expect(
      without(
        writes.flatMap(({ refuses }) => refuses),
        Object.keys(refusals)
      )
    ).toEqual([])
  })
})

describe("reads", () => {
  it("every declared read has the audience that is given", () => {
    const open = ["/v1/tenants/{tenantId}", "/v1/health", "/v1/openapi.json"]
    const queries = reads.filter(({ route }) => !open.some((path) => route.endsWith(path)))
    expect(queries.map(({ audience, route }) => [route, audience])).toEqual(
      queries.map(({ route }) => [route, givenReads.get(route)])
    )
  })

  it("no route is declared twice", () => {
    const routes = reads.map(({ route }) => route)
    expect(routes.toSorted()).toEqual([...new Set(routes)].toSorted())
  })
})

describe("search", () => {
  it("has a word for every kind of record that it finds, and no other", () => {
    const kinds = [...SearchKinds.of({ queries: Catalogue.queries }).values()].map(
      ({ kind }) => kind
    )
    expect(kinds.toSorted()).toEqual(SearchKind.members.toSorted())
  })
})
