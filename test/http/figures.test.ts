/** Approving figures over the wire: what an approver is shown, what If-Match says, what a move refuses. */
import { Operation } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Client from "@bursar/http-host/client"
import { Effect, Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { actionOf, became, operationsOf, write } from "./people.ts"
import { NoteId, tables } from "./tables.ts"
import { bearer, json, open, type Problem, send, type Venue } from "./venue.ts"

/** The price as the world moves it, between two signatures or before the run. */
let price = 100

const buy = Operation.define("reserve.close", {
  doc: "Buys ten at the price of the moment.",
  route: "POST /v1/reserves/{reserveId}:close",
  makers: ["operator"],
  approvers: 2,
  resource: {
    kind: "reserve",
    id: ({ reserveId }) => reserveId,
    href: ({ reserveId }) => `/v1/reserves/${reserveId}`
  },
  input: Schema.Struct({ reserveId: NoteId }),
  result: Schema.Struct({ total: Decimal.schema }),
  refuses: [],
  figures: () =>
    Effect.sync(() => ({
      figures: { total: Decimal.fromInteger(10 * price), point: `point-${price}` },
      tolerance: Decimal.zero
    })),
  run: () => Effect.sync(() => ({ total: Decimal.fromInteger(10 * price) }))
})

let venue: Venue
const actions: Record<string, string> = {}
beforeAll(async () => {
  venue = await open({ tables: { ...tables, operations: [...tables.operations, buy] } })
  for (const [name, ...roles] of [
    ["olga", "operator"],
    ["ann", "approver"],
    ["bob", "approver"]
  ] as const) {
    actions[name] = await bearer(roles, { sub: name })
  }
})
afterAll(() => venue.close())

let ids = 0
const make = async () => {
  price = 100
  const path = `/v1/reserves/r-${++ids}:close`
  return actionOf(await write(venue, { path, as: actions["olga"] ?? "", body: "{}" }))
}

interface View {
  readonly state: string
  readonly figures: unknown
  readonly figuresHash: string
  readonly signedBy: ReadonlyArray<string>
  readonly signatures: ReadonlyArray<{ readonly sub: string; readonly figuresHash: string }>
}
const read = async (action: string): Promise<View> =>
  (
    await json<{ value: View }>(
      await send(venue, { path: `/v1/approvals/${action}`, as: actions["ann"] ?? "" })
    )
  ).value

const approve = async (
  action: string,
  as: "ann" | "bob",
  headers: Readonly<Record<string, string>> = {}
) => {
  const path = `/v1/approvals/${action}:approve`
  const response = await send(venue, { method: "POST", path, as: actions[as] ?? "", headers })
  return response.status >= 400
    ? { status: response.status, problem: await json<Problem>(response) }
    : await became(response)
}

const refusal = { gate: "four-eyes", check: "figures-moved" }

describe("the figures of an action", () => {
  it("never are not what its maker is answered and its approvers read", async () => {
    const action = await make()
    const { figures, figuresHash, signatures, state } = await read(action)
    expect(figures).toEqual({ point: "point-100", total: "1000" })
    expect([state, signatures]).toEqual(["awaiting", []])
    expect(figuresHash).toMatch(/^[0-9a-f]{64}$/)
  })

  it("that moved between two signatures: the second one does not count", async () => {
    const action = await make()
    const before = await read(action)
    expect((await approve(action, "ann", { "if-match": `"${before.figuresHash}"` })).status).toBe(
      202
    )
    price = 101
    const second = await approve(action, "bob", { "if-match": before.figuresHash })
    expect(second).toMatchObject({
      status: 422,
      problem: { ...refusal, recovery: expect.any(String) }
    })
    const moved = await read(action)
    expect(moved).toMatchObject({
      state: "awaiting",
      signedBy: [],
      signatures: [],
      figures: { point: "point-101", total: "1010" }
    })
    // The action does not run until both approvers have signed the new figures.
    const stale = await approve(action, "bob", { "if-match": `"${before.figuresHash}"` })
    expect(stale).toMatchObject({ status: 422, problem: refusal })
    const fresh = { "if-match": `"${moved.figuresHash}"` }
    expect((await approve(action, "ann", fresh)).status).toBe(202)
    expect((await read(action)).signatures).toMatchObject([
      { sub: "ann", figuresHash: moved.figuresHash }
    ])
    const last = await approve(action, "bob", fresh)
    expect(last).toMatchObject({ status: 202, written: { figuresHash: moved.figuresHash } })
  })

  it("that moved before it ran send it back to its signers", async () => {
    const action = await make()
    await approve(action, "ann")
    price = 100
    const last = await approve(action, "bob")
    expect(last.status).toBe(202)
    price = 102
    await venue.settle()
    expect(await read(action)).toMatchObject({
      state: "awaiting",
      signedBy: [],
      figures: { point: "point-102", total: "1020" }
    })
    const ran = (await operationsOf(venue, actions["olga"] ?? "")).find(
      ({ actionKey }) => actionKey === action
    )
    expect(ran).toMatchObject({ state: "failed", problem: refusal })
    // A call that was sent again because its answer was lost is for the figures before.
    expect(await approve(action, "ann")).toMatchObject({ status: 422, problem: refusal })
    const fresh = { "if-match": (await read(action)).figuresHash }
    await approve(action, "ann", fresh)
    await approve(action, "bob", fresh)
    await venue.settle()
    expect(
      (await operationsOf(venue, actions["olga"] ?? ""))
        .filter(({ actionKey }) => actionKey === action)
        .map(({ state }) => state)
        .toSorted()
    ).toEqual(["failed", "succeeded"])
  })

  it.each([
    ["under a key", { "idempotency-key": "again" }],
    ["without one", {}]
  ] as const)("refused once are not signed by the same call sent again %s", async (_, sent) => {
    price = 100
    const action = await make()
    price = 101
    expect(await approve(action, "ann", sent)).toMatchObject({ status: 422, problem: refusal })
    expect(await approve(action, "ann", sent)).toMatchObject({ status: 422, problem: refusal })
    expect((await read(action)).signedBy).toEqual([])
    const seen = { ...sent, "if-match": (await read(action)).figuresHash }
    expect((await approve(action, "ann", seen)).status).toBe(202)
    expect((await approve(action, "bob", { "idempotency-key": `new-${action}` })).status).toBe(202)
  })

  it.each(["*", '"a", "b"', 'W/"a"', '"'])(
    "is named by an If-Match that names nothing: %s",
    async (tag) => {
      const action = await make()
      expect(await approve(action, "ann", { "if-match": tag })).toMatchObject({
        status: 400,
        problem: { errors: [{ pointer: "/header/if-match" }] }
      })
      expect((await read(action)).signedBy).toEqual([])
    }
  )

  it("that were never shown leave what others signed", async () => {
    const action = await make()
    await approve(action, "ann")
    expect(await approve(action, "bob", { "if-match": "0".repeat(64) })).toMatchObject({
      status: 422,
      problem: refusal
    })
    expect((await read(action)).signedBy).toEqual(["ann"])
  })

  it("never are named where a write has none, and it is signed", async () => {
    const path = `/v1/instruments/i-${++ids}/policy:set`
    const action = actionOf(await write(venue, { path, as: actions["olga"] ?? "" }))
    expect(await read(action)).toMatchObject({ figures: null, figuresHash: null })
    expect(await approve(action, "ann", { "if-match": "a" })).toMatchObject({
      status: 422,
      problem: refusal
    })
    expect((await approve(action, "ann")).status).toBe(202)
  })

  it("signed with the client are those that were seen, and no others", async () => {
    const action = await make()
    const clientOf = (authorization = "") =>
      Client.overFetch({ baseUrl: venue.url, authorization: Effect.succeed(authorization) })
    const [ann, bob] = [clientOf(actions["ann"]), clientOf(actions["bob"])]
    const get = Client.read("approvals.get")
    const shownAction = (await Effect.runPromise(bob.one(get, { actionKey: action }))).value
    await Effect.runPromise(ann.approve(shownAction))
    price = 101
    const refused = await Effect.runPromise(Effect.flip(bob.approve(shownAction)))
    expect(refused).toMatchObject({ slug: "rule-refused", problem: refusal })
    const moved = (await Effect.runPromise(bob.one(get, { actionKey: action }))).value
    expect(moved.signedBy).toEqual([])
    // One who saw the figures before they moved does not sign those of now either.
    expect(await Effect.runPromise(Effect.flip(ann.approve(shownAction)))).toMatchObject({
      problem: refusal
    })
    const signed = await Effect.runPromise(ann.approve(moved, { key: null }))
    expect([signed.state, signed.signedBy]).toEqual(["awaiting", ["ann"]])
    const last = await Effect.runPromise(bob.approve(moved))
    expect(last).toMatchObject({ state: "queued", figuresHash: moved.figuresHash })
  })
})
