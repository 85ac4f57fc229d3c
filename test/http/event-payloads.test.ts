/** Events over HTTP, each with its payload and whom it is found by: cycles, failed writes, rejected actions, admissions. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import * as Calls from "../engine/calls.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"
import * as Twins from "./twins.ts"

interface Event {
  readonly kind: string
  readonly type: string
  readonly instrumentId: string | null
  readonly party: string | null
  readonly resourceKind: string
  readonly resourceId: string
  readonly payload: Readonly<Record<string, unknown>>
}

const pageOf = (twin: Twins.Twin, as: string, query: string) =>
  Effect.map(
    Twins.call(twin, { as, path: `/v1/events?limit=1000&${query}` }),
    ({ text }) => (JSON.parse(text) as { readonly value: ReadonlyArray<Event> }).value
  )

/** What a reader sees of an event, apart from ids that the ledger makes. */
const shown = ({ kind, instrumentId, payload, resourceId, resourceKind, type }: Event) => ({
  kind,
  type,
  instrumentId,
  resourceKind,
  resourceId,
  payload
})
const control = { kind: "control", instrumentId: "fund-a" }

describe("an event over HTTP", () => {
  it("of a cycle, a failed write, a rejected action and an admission has its payload, and is found by its instrument and holder alone", () =>
    Twins.within((twin) =>
      Effect.gen(function* () {
        const { stage, holders } = yield* Cycles.opened(["h1", "h2"])
        const [first] = holders
        if (first === undefined) throw new Error("a holder")
        const as = yield* Twins.token("auditor")
        const find = (query: string) => pageOf(twin, as, query)

        const [offered] = yield* find("type=admission.offered&holderId=h1")
        const [granted] = yield* find("type=admission.granted&holderId=h1")
        for (const event of [offered, granted]) {
          expect(event).toMatchObject({
            kind: "journal",
            instrumentId: "fund-a",
            party: first.party,
            resourceKind: "contract",
            payload: { holderId: "h1", contractId: event?.resourceId }
          })
          expect(Object.keys(event?.payload ?? {})).toEqual([
            "contractId",
            "holderId",
            "validUntil"
          ])
        }
        expect(granted?.resourceId).not.toBe(offered?.resourceId)

        yield* Cycles.opens("c1")
        yield* Cycles.subscribes(stage, first, { id: "s1", amount: "100000" })
        yield* Cycles.at(Cycles.friday)
        yield* Fund.publishes(stage, "1.0437", Cycles.friday)
        yield* Cycles.attests(stage, { id: "s1", units: "95812.973076", price: "1.0437" })
        expect((yield* Cycles.settles("c1")).why).toBe("")
        expect((yield* find("type=dealing-cycle.settled")).map(shown)).toEqual([
          {
            ...control,
            type: "dealing-cycle.settled",
            resourceKind: "dealing-cycle",
            resourceId: "c1",
            payload: {
              subscriptions: 1,
              redemptions: 0,
              fundNet: { amount: 100000, quantity: 95812.973076 }
            }
          }
        ])

        expect((yield* Cycles.opens("c2")).why).toBe("")
        expect((yield* Cycles.releases("c2")).why).toBe("")
        expect((yield* find("type=dealing-cycle.released")).map(shown)).toEqual([
          {
            ...control,
            type: "dealing-cycle.released",
            resourceKind: "dealing-cycle",
            resourceId: "c2",
            payload: { subscriptions: 0, redemptions: 0 }
          }
        ])
        // The writes of a cycle name its id alone.
        const writes = yield* find("instrumentId=fund-a&type=operation.succeeded")
        const kinds = new Set(writes.map(({ payload }) => payload["kind"]))
        expect(kinds).toContain("dealing-cycle.settle")
        expect(kinds).toContain("dealing-cycle.release")

        // Two at once: the second is let in at the door, and finds the order withdrawn when it runs.
        const claim = { instrumentId: "fund-a", holderId: "h2", amount: 100 }
        yield* Calls.write("subscription.claim", {}, { subscriptionId: "s2", ...claim })
        const body = {}
        const made = yield* Effect.forEach([1, 2], () =>
          Calls.submitKind("subscription.withdraw", { subscriptionId: "s2" }, body, {
            caller: Calls.operator,
            ifMatch: null
          })
        )
        yield* Calls.settle
        const operationId = String(
          (made[1]?.value as { readonly operationId: unknown }).operationId
        )
        const failed = yield* find("type=operation.failed&holderId=h2")
        expect(failed.map(shown)).toEqual([
          {
            ...control,
            type: "operation.failed",
            resourceKind: "subscription",
            resourceId: "s2",
            payload: { kind: "subscription.withdraw", role: "operator", operationId }
          }
        ])
        expect(yield* find("type=operation.failed&instrumentId=fund-a")).toEqual(failed)
        expect(yield* find("type=operation.failed&holderId=h1")).toEqual([])
        expect(yield* find("type=operation.failed&instrumentId=fund-b")).toEqual([])

        const restrictionId = "rst-1"
        const frozen = { restrictionId, mode: "freeze", reason: "court-order", order: Twins.order }
        yield* Calls.write("holder.restrict", { holderId: "h2" }, frozen)
        const lifting = yield* Calls.submitKind(
          "restriction.lift",
          { restrictionId },
          { reason: "it is over" },
          { caller: Calls.operator, ifMatch: null }
        )
        const { actionKey } = lifting.value as { readonly actionKey: string }
        yield* Calls.reject(actionKey, Calls.person("ada", "approver"))
        const rejected = yield* find("type=approval.rejected&holderId=h2")
        expect(rejected.map(shown)).toEqual([
          {
            kind: "control",
            type: "approval.rejected",
            instrumentId: null,
            resourceKind: "restriction",
            resourceId: restrictionId,
            payload: {
              state: "rejected",
              kind: "restriction.lift",
              makerRole: "operator",
              withdrawn: false
            }
          }
        ])
        expect(yield* find("type=approval.rejected&holderId=h1")).toEqual([])
        const app = yield* Twins.token("app")
        expect(yield* pageOf(twin, app, "type=approval.rejected&holderId=h2")).toEqual([])
      })
    ))
})
