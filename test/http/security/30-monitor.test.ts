/**
 * Monitor (security test 30): reads events of every type, without the members that name a holder or
 * show an amount.
 */
import { Records } from "@bursar/engine-core"
import { Instant, PlainJson } from "@bursar/engine-core/kernel"
import { Arbitrary, Effect, Result, Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { events } from "#core/catalogue.ts"
import { kindOf } from "#core/vocabulary/EventType.ts"
import { type BuiltInEventType, EventType } from "#core/vocabulary/EventType.ts"
import { ResourceKind } from "#core/vocabulary/ResourceKind.ts"
import { tables } from "../tables.ts"
import { bearer, json, open, send, slugOf, type Venue } from "../venue.ts"

/**
 * The hidden members, written down here apart from the engine's own
 * (docs/contract/event-feed.md#monitor).
 */
const removed = ["holderId", "reason", "orderCited", "name", "email", "quantity", "amount"]
const hidden = [
  "holder",
  "subscription",
  "redemption",
  "restriction",
  "lock-agreement",
  "mint",
  "reserve-redemption",
  "issuer-powers-agreement",
  "external-account",
  "contract",
  "exercise",
  "operation",
  "distribution-line",
  "finding",
  "proposal"
]

interface Seen {
  readonly seq: number
  readonly kind: string
  readonly type: string
  readonly party: string | null
  readonly resourceKind: string
  readonly resourceId: string | null
  readonly payload: unknown
}

const holderId = "holder-secret"
const party = "secret-party::1220aa"

/** A payload such as the type declares, and then every member that a monitor must not see, deep. */
const payloadOf = Effect.fnUntraced(function* (type: BuiltInEventType) {
  const payload = events[type].payload as Schema.Codec<unknown, PlainJson.Plain>
  const samples = yield* Arbitrary.sampleEffect(Arbitrary.schema(payload), { count: 100, seed: 7 })
  // Texts of any characters are among them, `__proto__` too; the feed holds what JSON may.
  const plain = samples
    .map((sample) => Schema.encodeSync(payload)(sample))
    .find((one) => {
      const text = JSON.stringify(one)
      const printable = !/\\u0000|\\ud[89a-f]/u.test(text)
      return printable && Result.isSuccess(PlainJson.parse(PlainJson.stringify(one)))
    })
  const planted = Object.fromEntries(removed.map((member) => [member, "planted-secret"]))
  return {
    ...(plain as { readonly [member: string]: PlainJson.Plain }),
    ...planted,
    deep: [{ more: planted }]
  }
})

// Switched off in a copy, one at a time, and seen red. In Redaction.ts: the party, the ids of hidden
// kinds, the payload's hidden members, and those that lie deep. In EventQueries.ts: the holder filter,
// `kind=journal`, a resourceId at all, of a hidden kind, and without a kind. Journal events are kept
// away in both files: with either off all is green, with both off they are seen, and it is red.
describe("a monitor", () => {
  let venue: Venue
  let monitor = ""
  let operator = ""
  let shownEvents: ReadonlyArray<Seen> = []
  let all: ReadonlyArray<Seen> = []
  beforeAll(async () => {
    venue = await open({ tables })
    monitor = await bearer(["monitor"])
    operator = await bearer(["operator"])
    await venue.run(
      Effect.gen(function* () {
        const records = yield* Records
        const now = yield* Instant.now
        for (const [index, type] of EventType.members.entries()) {
          const declared = events[type].resourceKind
          const payload = yield* payloadOf(type)
          for (const resourceKind of declared === "any" ? ResourceKind.members : [declared]) {
            yield* records.transact(
              records.announce([
                {
                  type,
                  resourceKind,
                  resourceId: `id-of-${resourceKind}`,
                  instrumentId: "fund-a",
                  party,
                  holderIds: [holderId],
                  payload,
                  ...(kindOf(type) === "journal"
                    ? { journal: { at: now, offset: index as never, source: `${type}:${index}` } }
                    : {})
                }
              ])
            )
          }
        }
      })
    )
    const read = async (as: string) =>
      (
        await json<{ value: ReadonlyArray<Seen> }>(
          await send(venue, { path: "/v1/events?limit=1000", as })
        )
      ).value
    shownEvents = await read(monitor)
    all = await read(operator)
  })
  afterAll(() => venue.close())

  it.each(EventType.members.map((type) => [type] as const))("sees of %s what it may", (type) => {
    const theirs = all.filter((one) => one.type === type)
    expect(theirs.length).toBeGreaterThan(0)
    const mine = shownEvents.filter((one) => one.type === type)
    if (kindOf(type) === "journal") return expect(mine).toEqual([])
    expect(mine.map(({ seq }) => seq)).toEqual(theirs.map(({ seq }) => seq))
    for (const one of mine) {
      const text = JSON.stringify(one)
      for (const secret of ["planted-secret", holderId, party]) expect(text).not.toContain(secret)
      for (const member of removed) expect(text).not.toContain(`"${member}"`)
      expect(one.party).toBeNull()
      expect(one.resourceId).toBe(
        hidden.includes(one.resourceKind) ? null : `id-of-${one.resourceKind}`
      )
    }
  })

  it("is refused the holder filter and the journal, alone or beside control", async () => {
    for (const query of [
      "holderId=x",
      `holderId=${holderId}`,
      "kind=journal",
      "kind=control&kind=journal"
    ]) {
      const answer = await send(venue, { path: `/v1/events?${query}`, as: monitor })
      expect([query, answer.status, await slugOf(answer)]).toEqual([
        query,
        403,
        "permission-denied"
      ])
    }
    expect(
      (await send(venue, { path: `/v1/events?holderId=${holderId}`, as: operator })).status
    ).toBe(200)
  })

  it("guesses no id of a record whose ids are hidden", async () => {
    for (const kind of ResourceKind.members) {
      const path = `/v1/events?resourceId=id-of-${kind}&resourceKind=${kind}`
      const answer = await send(venue, { path, as: monitor })
      expect([kind, answer.status]).toEqual([kind, hidden.includes(kind) ? 400 : 200])
      await answer.text()
    }
    for (const query of [
      "resourceId=id-of-hold",
      "resourceId=x&resourceKind=hold&resourceKind=holder"
    ]) {
      const answer = await send(venue, { path: `/v1/events?${query}`, as: monitor })
      expect([query, answer.status]).toEqual([query, 400])
      const { errors } = await json<{ errors: ReadonlyArray<{ pointer: string }> }>(answer)
      expect(errors.map(({ pointer }) => pointer)).toEqual(["/query/resourceId"])
    }
  })

  it("sees all again under a role that may, and nothing under one that reads no feed", async () => {
    const both = await bearer(["monitor", "auditor"])
    const { value } = await json<{ value: ReadonlyArray<Seen> }>(
      await send(venue, { path: "/v1/events?limit=1000", as: both })
    )
    expect(value.length).toBe(all.length)
    for (const role of ["investor", "compliance", "feed", "registrar"]) {
      const answer = await send(venue, { path: "/v1/events", as: await bearer([role]) })
      expect([role, answer.status]).toEqual([role, 403])
      await answer.text()
    }
  })

  it("and the filters of the feed are refused by name where they make no sense", async () => {
    for (const [query, pointer] of [
      ["from=2026-01-02T00:00:00Z&to=2026-01-02T00:00:00Z", "/query/from"],
      ["from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "/query/from"],
      ["kind=Journal", "/query/kind"],
      ["type=hold.opened", "/query/type"],
      ["type=hold.released,webhook.test", "/query/type"],
      ["resourceKind=holds", "/query/resourceKind"],
      ["order=newest", "/query/order"],
      ["order=asc&order=asc", "/query/order"],
      ["instrumentId=a&instrumentId=b", "/query/instrumentId"],
      ["limit=0", "/query/limit"],
      ["limit=1001", "/query/limit"],
      ["at=1", "/query/at"],
      ["updatedFrom=2026-01-02T00:00:00Z", "/query/updatedFrom"],
      ["format=csv", "/query/format"]
    ] as const) {
      const answer = await send(venue, { path: `/v1/events?${query}`, as: operator })
      expect([query, answer.status]).toEqual([query, 400])
      const { errors } = await json<{ errors: ReadonlyArray<{ pointer: string }> }>(answer)
      expect([query, errors[0]?.pointer]).toEqual([query, pointer])
    }
  })
})
