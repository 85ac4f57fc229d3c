/**
 * Neutral refusal: the application that acts for investors reads the same refusal for a restriction
 * as for a screening.
 */
import { FourEyes, Screenings } from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import * as Calls from "../engine/calls.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Twins from "./twins.ts"

interface Refusal {
  readonly status: number
  readonly gate: string | null
  readonly check: string | null
  readonly detail: string
  readonly recovery: string | null
  readonly party: string | null
}
interface Written {
  readonly state: string
  readonly operationId: string
  readonly problem: Refusal | null
}
interface Event {
  readonly type: string
  readonly resourceId: string
  readonly payload: { readonly kind?: string }
}

const neutral = {
  type: "urn:bursar:problem:rule-refused",
  title: "A business rule refuses this.",
  status: 422,
  detail: "A business rule refuses this.",
  requestId: "the-same",
  gate: "admission",
  check: "standing",
  recovery: "Ask the venue.",
  packageName: null,
  party: null,
  contractId: null,
  reason: null,
  retryAfter: null,
  retryable: false,
  projectionOffset: null,
  ledgerEnd: null,
  code: null,
  policyVersion: null,
  errors: null
}

const claim = (holderId: string, subscriptionId: string) => ({
  path: "/v1/subscriptions",
  key: subscriptionId,
  body: { subscriptionId, instrumentId: "fund-a", holderId, amount: 100 }
})
const frozen = { mode: "freeze", reason: "court-order", order: Twins.order }

/** The value of an answer, or the whole problem of a refusal. */
const read = <A>(twin: Twins.Twin, as: string, path: string) =>
  Effect.map(
    Twins.call(twin, { as, path }),
    ({ text }) => (JSON.parse(text) as { readonly value: A }).value
  )

const opened = Effect.gen(function* () {
  yield* Cycles.opened(["h1", "h2", "h3"])
  const [app, auditor, operator, compliance] = [
    yield* Twins.token("app"),
    yield* Twins.token("auditor"),
    yield* Twins.token("operator"),
    yield* Twins.token("compliance")
  ]
  return { app, auditor, operator, compliance }
})

/** h1 is restricted, h2 is on a list: which restricts it too; h3 is being looked at. */
const stopped = (twin: Twins.Twin) =>
  Effect.gen(function* () {
    yield* Calls.write("holder.restrict", { holderId: "h1" }, frozen)
    twin.found.set("h2", "confirmed").set("h3", "possible")
    const screener = yield* Screenings
    for (const holderId of ["h2", "h3"]) yield* screener.rescreen(holderId)
    yield* Calls.settle
  })

describe("an application", () => {
  // Seen red without `refusalFor` at the door.
  it("never is refused otherwise for a restriction than for a hit or a doubt, or staff as vaguely as it", () =>
    Twins.within((twin) =>
      Effect.gen(function* () {
        const { app, operator } = yield* opened
        yield* stopped(twin)
        const answers: Array<string> = []
        for (const holderId of ["h1", "h2", "h3"]) {
          const first = claim(holderId, "sub-1")
          const { head, status, text } = yield* Twins.call(twin, { ...first, as: app })
          expect(status).toBe(422)
          expect(JSON.parse(text)).toEqual(neutral)
          // The remaining calls of the rate limit decrease with each answer.
          answers.push(`${head.replaceAll(/^x-ratelimit-.*$/gmu, "")}\n${text}`)
        }
        expect(new Set(answers).size).toBe(1)
        const gates: Array<unknown> = []
        for (const holderId of ["h1", "h2", "h3"]) {
          const second = claim(holderId, "sub-2")
          const { text } = yield* Twins.call(twin, { ...second, as: operator })
          const { check, gate } = JSON.parse(text) as Refusal
          gates.push([gate, check])
        }
        expect(gates).toEqual([
          ["restriction", "may-subscribe"],
          ["restriction", "may-subscribe"],
          ["screening", "screening-clear"]
        ])
      })
    ))

  // Seen red without `operationFor` in the list, in the read of one, in the repeated call, and in the
  // answer that a call waited for.
  it("never reads in its operation what stopped it, or staff reads less than was kept", () =>
    Twins.within(
      (twin) =>
        Effect.gen(function* () {
          const { app, auditor, compliance } = yield* opened
          // The restriction is queued before the claim: it is let in at the door and refused as it runs.
          yield* Twins.call(twin, {
            path: "/v1/holders/h1:restrict",
            key: "restrict",
            as: compliance,
            body: frozen
          })
          const made = yield* Twins.call(twin, { ...claim("h1", "sub-1"), as: app })
          expect(made.status).toBe(202)
          yield* Calls.settle
          const { operationId } = JSON.parse(made.text) as Written
          const path = `/v1/operations/${operationId}`
          const one = yield* read<Written>(twin, app, path)
          expect(one).toMatchObject({ state: "failed", problem: neutral })
          const [listed, ...more] = yield* read<ReadonlyArray<Written>>(twin, app, "/v1/operations")
          expect([listed, more]).toEqual([one, []])
          const again = yield* Twins.call(twin, { ...claim("h1", "sub-1"), as: app })
          expect([again.status, JSON.parse(again.text)]).toEqual([200, one])
          // A call that has waited for the end is answered with the operation anew.
          const { current } = yield* FourEyes
          const awaited = { status: 202, value: null, location: path, replayed: false } as const
          const late = yield* current(
            { ...awaited, retryAfter: 1, awaitedOperation: operationId },
            { sub: "app-1", name: null, email: null, roles: ["app"], holderId: null, party: null }
          )
          expect(JSON.parse(PlainJson.stringify(late.value))).toEqual(one)
          const kept = yield* read<Written>(twin, auditor, path)
          expect(kept.problem).toMatchObject({ gate: "restriction", check: "may-subscribe" })
          expect(kept.problem?.party).not.toBeNull()
        }),
      { operationsAtOnce: 1 }
    ))

  // Seen red without `mayReadEvent` on the feed, and with the whole view of a holder.
  it("never learns of a restriction from the feed, or of a screening from its holder", () =>
    Twins.within((twin) =>
      Effect.gen(function* () {
        const { app, auditor, operator } = yield* opened
        const before = yield* read<object>(twin, app, "/v1/holders/h2")
        yield* stopped(twin)
        const restrictionId = "chosen"
        yield* Calls.write("holder.restrict", { holderId: "h1" }, { ...frozen, restrictionId })
        yield* Calls.write("restriction.lift", { restrictionId }, { reason: "it is over" })
        const eventsOf = (as: string) =>
          Effect.map(read<ReadonlyArray<Event>>(twin, as, "/v1/events?limit=500"), (events) =>
            events.filter(
              ({ type, payload }) => /restrict/u.test(type) || /restrict/u.test(payload.kind ?? "")
            )
          )
        const types = (yield* eventsOf(operator)).map(({ type }) => type)
        expect(new Set(types)).toEqual(
          new Set([
            "approval.approved",
            "approval.requested",
            "approval.signed",
            "holder.restricted",
            "holder.unrestricted",
            "operation.succeeded"
          ])
        )
        expect(yield* eventsOf(app)).toEqual([])
        // A caller with a role of the staff besides sees all events.
        const both = yield* Twins.token(["app", "operator"])
        expect((yield* eventsOf(both)).map(({ type }) => type)).toEqual(types)
        expect(yield* read(twin, app, "/v1/holders/h2")).toEqual(before)
        expect(yield* read(twin, auditor, "/v1/holders/h2")).toMatchObject({
          screening: { state: "match" }
        })
      })
    ))

  // Seen red where a page is filtered after it is read: the page is short and its place moves.
  it("never learns from the length or the place of a page of the feed that a holder was restricted", () =>
    Twins.within((twin) =>
      Effect.gen(function* () {
        const { app, operator } = yield* opened
        const pageOf = (as: string, query: string) =>
          Effect.map(Twins.call(twin, { as, path: `/v1/events?${query}` }), ({ text }) => {
            const { next, value } = JSON.parse(text) as {
              readonly value: ReadonlyArray<Event>
              readonly next: string
            }
            return { next, value }
          })
        const last = (yield* pageOf(app, "holderId=h1&limit=1000")).next
        const at = (yield* pageOf(app, "order=desc&limit=1")).next
        const restrictionId = "chosen"
        yield* Calls.write("holder.restrict", { holderId: "h1" }, { ...frozen, restrictionId })
        yield* Calls.write("restriction.lift", { restrictionId }, { reason: "it is over" })
        yield* Calls.write("subscription.claim", {}, claim("h1", "sub-1").body)
        const seen = yield* pageOf(operator, "holderId=h1&order=desc&limit=9")
        expect(seen.value.map(({ payload, type }) => [type, payload.kind])).toEqual(
          expect.arrayContaining([
            ["operation.succeeded", "subscription.claim"],
            ["operation.succeeded", "restriction.lift"],
            ["approval.approved", "restriction.lift"]
          ])
        )
        const [first, ...more] = (yield* pageOf(app, `holderId=h1&limit=1&after=${last}`)).value
        expect([first?.type, first?.payload.kind, more]).toEqual([
          "operation.succeeded",
          "subscription.claim",
          []
        ])
        // Newest first: the page is full of what the application sees, whatever lies between.
        const newest = yield* pageOf(app, "order=desc&limit=9")
        expect(newest.value.length).toBe(9)
        expect(newest.value.some(({ payload }) => /restrict/u.test(payload.kind ?? ""))).toBe(false)
        expect(at).not.toBe(newest.next)
      })
    ))
})

describe("an ETag", () => {
  const pathsOf = (holderId: string): ReadonlyArray<string> => [
    `/v1/holders/${holderId}`,
    `/v1/holders/${holderId}/portfolio`,
    `/v1/holders/${holderId}/admissions?limit=9`,
    `/v1/holders/${holderId}/movements?limit=9`,
    "/v1/holders?limit=9",
    "/v1/holders?limit=1",
    "/v1/subscriptions?limit=9",
    "/v1/redemptions?limit=9",
    "/v1/dealing-cycles?limit=9",
    "/v1/standing-settlements?limit=9",
    "/v1/instruments?limit=9"
  ]

  it("neither changes nor comes or goes for a holder or an application by a restriction or a screening", () =>
    Twins.within((twin) =>
      Effect.gen(function* () {
        const { app } = yield* opened
        const holders = ["h1", "h2", "h3"]
        const tags = Effect.gen(function* () {
          const found = new Map<string, string | undefined>()
          for (const holderId of holders) {
            for (const as of [app, yield* Twins.token("investor", holderId)]) {
              for (const path of pathsOf(holderId)) {
                const { head, status } = yield* Twins.call(twin, { path, as })
                expect(status).toBe(200)
                const asker = as === app ? "app" : holderId
                found.set(`${asker} ${path}`, /^etag: .*$/mu.exec(head)?.[0])
              }
            }
          }
          return found
        })
        const before = yield* tags
        yield* stopped(twin)
        expect(yield* tags).toEqual(before)
        const tagged = [...before.values()].filter((tag) => tag !== undefined)
        expect(tagged.length).toBeGreaterThan(before.size / 2)
      })
    ))
})
