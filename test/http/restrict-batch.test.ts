/**
 * Batches of restrictions over HTTP: many holders by one call, and restrictions by the screening
 * list, without a person.
 */
import * as Scripted from "@bursar/storage-adapters/screening"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  calls,
  checkOf,
  closes,
  events,
  faults,
  joins,
  listed,
  one,
  opens,
  order,
  pledged,
  venue
} from "./restricting.ts"
import * as Venue from "./venue.ts"

const hits = [{ who: "hit", answers: ["confirmed"] }] as const
beforeAll(() => opens(Scripted.layer({ ...Scripted.clear, named: hits })))
afterAll(() => closes())

describe("holder.restrict-batch", () => {
  const path = "/v1/holders:restrict-batch"

  it("never restricts some and not all, or leaves one without its answer", async () => {
    const [h1, h2, closed] = [await joins(), await joins(), await joins()]
    await venue().write(`/v1/holders/${closed}:close`, {})
    const entries = [
      { ...pledged, holderId: h1 },
      { ...pledged, holderId: "nobody" },
      { ...pledged, holderId: closed, instrumentId: "fund-z" },
      { ...pledged, holderId: h2, autoReleaseAt: "2026-01-01T00:00:00Z" }
    ]
    const refused = await calls(path, { entries })
    const problem = await Venue.json<Venue.Problem>(refused)
    expect([refused.status, problem.detail]).toEqual([
      422,
      "3 of 4 entries cannot be; nobody was restricted."
    ])
    expect(problem).toMatchObject({ gate: "policy", check: "entries" })
    expect(problem.errors).toEqual([
      { pointer: "/body/entries/1/holderId", detail: "There is no such holder." },
      {
        pointer: "/body/entries/2/holderId",
        detail: "A holder in state closed is not restricted any more."
      },
      { pointer: "/body/entries/2/instrumentId", detail: "There is no such instrument." },
      { pointer: "/body/entries/3/autoReleaseAt", detail: "It would have ended already." }
    ])
    const nobody = Array.from({ length: 1_000 }, (_, nth) => ({
      ...pledged,
      holderId: `no-${nth}`
    }))
    const none = await Venue.json<Venue.Problem>(await calls(path, { entries: nobody }))
    expect(none.errors).toHaveLength(1_000)
    for (const holderId of [h1, h2]) expect(await listed(`holderId=${holderId}`)).toEqual([])
    const made = await venue().write(
      path,
      {
        restrictionId: "batch-1",
        entries: [
          entries[0],
          { ...pledged, holderId: h2, instrumentId: "fund-a", reason: "court-order", order }
        ]
      },
      "risk"
    )
    expect(made).toMatchObject({ state: "succeeded" })
    expect(made["result"]).toEqual({
      restrictions: [
        { restrictionId: "batch-1", holderId: h1, instrumentId: null },
        { restrictionId: "batch-1-2", holderId: h2, instrumentId: "fund-a" }
      ]
    })
    expect(await one("batch-1-2")).toMatchObject({
      holderId: h2,
      state: "active",
      reason: "court-order",
      order,
      by: "risk-1",
      operationId: made["operationId"]
    })
    expect(await events("holder.restricted", h2)).toHaveLength(1)
    const again = await venue().write(path, {
      restrictionId: "batch-1",
      entries: [{ ...pledged, holderId: h1 }]
    })
    expect(checkOf(again)[0]).toBe("already-exists")
  })

  it("never takes nothing, more than a thousand, one holder and instrument twice, or an entry of no shape", async () => {
    const lineOf = (holderId: string, more: object = {}) => ({ ...pledged, holderId, ...more })
    expect(await faults(calls(path, { entries: [] }))).toEqual([400, "/body/entries"])
    const many = Array.from({ length: 1_001 }, (_, nth) => lineOf(`x-${nth}`))
    expect(await faults(calls(path, { entries: many }))).toEqual([400, "/body/entries"])
    const fund = { instrumentId: "fund-a" }
    expect(
      await faults(
        calls(path, {
          entries: [lineOf("x"), lineOf("y"), lineOf("x", fund), lineOf("x"), lineOf("x", fund)]
        })
      )
    ).toEqual([400, "/body/entries/3", "/body/entries/4"])
    expect(
      await faults(
        calls(path, {
          entries: [
            lineOf("x"),
            lineOf("y", { mode: "none" }),
            lineOf("z", { reason: "court-order" })
          ]
        })
      )
    ).toEqual([400, "/body/entries/1/mode", "/body/entries/2/order"])
  })
})

describe("a confirmed screening match", () => {
  it("never leaves the holder free, or tells the feed of a person", async () => {
    const holderId = await joins("hit")
    const [made, ...more] = await listed(`holderId=${holderId}`)
    expect(more).toEqual([])
    expect(made).toMatchObject({ mode: "freeze", reason: "sanctions", by: "engine" })
    const operation = await venue().read(`/v1/operations/${String(made?.["operationId"])}`)
    expect(operation.value).toMatchObject({
      kind: "holder.restrict",
      state: "succeeded",
      role: null,
      actorName: null
    })
    const [event] = await events("holder.restricted", holderId)
    expect(event?.["payload"]).toMatchObject({ reason: "sanctions", orderCited: false })
  })
})
