/** Operations as a poller sees them over HTTP (docs/contract/operations.md). */
import * as Memory from "@bursar/storage-adapters/memory"
import { type Context, Effect, Layer, Scope } from "effect"
import { describe, expect, it } from "vitest"
import { write } from "./people.ts"
import { bearer, json, open, send, type Venue } from "./venue.ts"

interface Seen {
  readonly operationId: string
  readonly state: "queued" | "running" | "succeeded" | "failed"
  readonly resource: { readonly id: string }
  readonly createdAt: string
  readonly startedAt: string | null
  readonly finishedAt: string | null
}

const rank = { queued: 0, running: 1, succeeded: 2, failed: 2 }
const perRecord = 100
const records = Array.from({ length: 10 }, (_, at) => `i-${at}`)

const listed = async (venue: Venue, as: string) =>
  (await json<{ value: ReadonlyArray<Seen> }>(await send(venue, { path: "/v1/operations", as })))
    .value

describe("a thousand operations on ten records", () => {
  it("never go back, begin twice, or end in another order than they were made in", async () => {
    const venue = await open()
    const as = await bearer(["operator"])
    const made = new Map<string, Array<string>>()
    for (let at = 0; at < perRecord; at++) {
      await Promise.all(
        records.map(async (id) => {
          const call = { path: `/v1/instruments/${id}:pause`, as, key: `${id}-${at}` }
          const { status, written } = await write(venue, call)
          expect(status).toBe(202)
          made.set(id, [...(made.get(id) ?? []), written?.operationId ?? ""])
        })
      )
    }
    const seen = new Map<string, Seen>()
    const look = async () => {
      const all = await listed(venue, as)
      for (const one of all) {
        const before = seen.get(one.operationId)
        expect(rank[one.state]).toBeGreaterThanOrEqual(
          before === undefined ? 0 : rank[before.state]
        )
        if (before !== undefined && before.startedAt !== null) {
          expect(one.startedAt).toBe(before.startedAt)
        }
        if (before !== undefined && before.finishedAt !== null) expect(one).toEqual(before)
        expect(one.startedAt === null).toBe(one.state === "queued")
        expect(one.finishedAt === null).toBe(rank[one.state] < 2)
        seen.set(one.operationId, one)
      }
      return all
    }
    let settled = false
    const settling = venue.settle().finally(() => {
      settled = true
    })
    while (!settled) await look()
    await settling
    const all = await look()
    expect(all.filter(({ state }) => state === "succeeded").length).toBe(1_000)
    const ends = new Map(all.map((one) => [one.operationId, one.finishedAt ?? ""]))
    for (const ids of made.values()) {
      const times = ids.map((id) => ends.get(id) ?? "")
      expect(times).toEqual(times.toSorted())
      expect(times.length).toBe(perRecord)
    }
    // Across records they run side by side: each has ended one before any has ended its last.
    const bounds = [...made.values()].map((ids) => ids.map((id) => ends.get(id) ?? "").toSorted())
    const firsts = bounds.map((times) => times[0] ?? "").toSorted()
    const lasts = bounds.map((times) => times.at(-1) ?? "").toSorted()
    expect((firsts.at(-1) ?? "") < (lasts[0] ?? "")).toBe(true)
    await venue.close()
  })
})

describe("a host that starts anew over the same store", () => {
  it("never does not know an operation, an action, or a key of the one before", async () => {
    const scope = Scope.makeUnsafe()
    const store: Context.Context<Memory.Storage> = await Effect.runPromise(
      Layer.buildWithScope(Memory.layer, scope)
    )
    const storage = Layer.succeedContext(store)
    const as = await bearer(["operator"])
    const body = '{"holderId":"r-1","text":"one","amount":1,"owner":null}'
    const post = (venue: Venue) => write(venue, { path: "/v1/holders", as, body, key: "k" })
    const release = (venue: Venue, by: string) =>
      write(venue, { path: "/v1/holds/h-1:release", as: by, body: '{"reason":"x"}' })

    const before = await open({ storage })
    const made = await post(before)
    const action = await release(before, as)
    await before.close()

    const after = await open({ storage })
    const read = await send(after, { path: made.location ?? "", as })
    expect(await json<object>(read)).toMatchObject({ value: { state: "queued" } })
    const again = await post(after)
    expect([again.status, again.location]).toEqual([200, made.location])
    await after.settle()
    const ended = await send(after, { path: made.location ?? "", as })
    expect(await json<object>(ended)).toMatchObject({ value: { state: "succeeded" } })
    const signed = await release(after, await bearer(["approver"]))
    expect([signed.status, signed.location]).toEqual([202, action.location])
    await after.close()
  })
})
