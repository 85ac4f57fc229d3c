/**
 * Idempotency: one write for any number of equal calls, in any form of the same JSON
 * (docs/contract/idempotency.md).
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Became, decide, operationsOf, write } from "./people.ts"
import { bearer, json, open, type Problem, send, type Venue } from "./venue.ts"

let venue: Venue
let operator: string
let other: string
let approver: string
beforeAll(async () => {
  venue = await open()
  operator = await bearer(["operator"])
  other = await bearer(["operator"], { sub: "operator-2" })
  approver = await bearer(["approver"])
})
afterAll(() => venue.close())

const note = (id: string, amount = "1") =>
  `{"holderId":"${id}","text":"one","amount":${amount},"owner":null}`
const post = (body: string, key?: string, as = operator) =>
  write(venue, { path: "/v1/holders", as, body, ...(key === undefined ? {} : { key }) })
const countOf = async (id: string) =>
  (await operationsOf(venue, operator)).filter(({ resource }) => resource.id === id).length
const statuses = (all: ReadonlyArray<Became>, status: number) =>
  all.filter((one) => one.status === status)

describe("fifty calls at once", () => {
  it("under one key are one operation: one 202 and 49 times 200", async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => post(note("p-1"), "p-1")))
    expect(statuses(all, 202).length).toBe(1)
    expect(statuses(all, 200).length).toBe(49)
    expect(new Set(all.map(({ location }) => location)).size).toBe(1)
    expect(new Set(all.map(({ written }) => written?.operationId)).size).toBe(1)
    expect(await countOf("p-1")).toBe(1)
    for (const one of statuses(all, 200)) expect(one.replayed).toBe("true")
    for (const one of statuses(all, 202)) expect(one.replayed).toBeNull()
  })

  it("under one key with two bodies are one operation, and the other body is refused", async () => {
    const bodies = Array.from({ length: 50 }, (_, index) => note("p-2", index % 2 ? "2" : "1"))
    const all = await Promise.all(bodies.map((body) => post(body, "p-2")))
    expect(statuses(all, 202).length).toBe(1)
    // The winner's body is the one that its operation has; its twins are 200, the others refused.
    expect(statuses(all, 200).length).toBe(24)
    expect(statuses(all, 422).map(({ slug }) => slug)).toEqual(
      Array.from({ length: 25 }, () => "idempotency-key-reused")
    )
    expect(await countOf("p-2")).toBe(1)
  })

  it("without a key are one operation", async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => post(note("p-3"))))
    expect([statuses(all, 202).length, statuses(all, 200).length]).toEqual([1, 49])
  })
})

describe("a call sent again", () => {
  it.each([
    ["spacing", ' { "holderId" : "f-1",\n\t"text":"one", "amount":1,"owner":null } '],
    ["the order of members", '{"owner":null,"amount":1,"text":"one","holderId":"f-1"}'],
    ["the form of a number", note("f-1", "1.000")],
    ["an escape", '{"holderId":"\\u0066-1","text":"one","amount":1,"owner":null}']
  ])("is another write because of %s", async (_, body) => {
    const first = await post(note("f-1"), "f-1")
    const again = await post(body, "f-1")
    expect([again.status, again.location]).toEqual([200, first.location])
  })

  it("with null for an absent member, or with a query it did not have, is another write", async () => {
    await post(note("f-2"), "f-2")
    const more = note("f-2").replace("}", ',"terms":{"lines":[]}}')
    expect((await post(more, "f-2")).slug).toBe("idempotency-key-reused")
  })

  it("never is another write because its key is quoted, as structured headers are", async () => {
    const first = await post(note("q-1"), "q-1")
    const quoted = await post(note("q-1"), '"q-1"')
    const escaped = await post(note("q-2"), '"q\\\\2\\""')
    const plain = await post(note("q-2"), 'q\\2"')
    expect([quoted.status, quoted.location]).toEqual([200, first.location])
    expect([escaped.status, plain.status, plain.location]).toEqual([202, 200, escaped.location])
  })

  it("on another route under the same key is refused", async () => {
    await post(note("r-1"), "r-1")
    const onboard = { path: "/v1/holders:onboard", as: operator, body: '{"holderId":"r-1"}' }
    expect((await write(venue, { ...onboard, key: "r-1" })).slug).toBe("idempotency-key-reused")
    const pause = { path: "/v1/instruments/r-1:pause", as: operator, key: "r-1" }
    expect((await write(venue, pause)).slug).toBe("idempotency-key-reused")
    const release = { path: "/v1/holds/r-1:release", as: operator, body: '{"reason":"x"}' }
    expect((await write(venue, { ...release, key: "r-1" })).slug).toBe("idempotency-key-reused")
  })

  it("on another record under the same key is refused", async () => {
    const pause = (id: string) =>
      write(venue, { path: `/v1/instruments/${id}:pause`, as: operator, key: "r-2" })
    expect((await pause("r-2")).status).toBe(202)
    expect((await pause("r-3")).slug).toBe("idempotency-key-reused")
  })

  it("by another caller is an operation of its own", async () => {
    const mine = await post(note("o-1"), "o-1")
    const theirs = await post(note("o-1"), "o-1", other)
    expect([mine.status, theirs.status]).toEqual([202, 202])
    expect(theirs.location).not.toBe(mine.location)
  })

  it("after it ended answers the operation as it is now", async () => {
    await post(note("e-1"), "e-1")
    await venue.settle()
    const again = await post(note("e-1"), "e-1")
    expect([again.status, again.written?.state, again.retryAfter]).toEqual([200, "succeeded", null])
  })

  it("after it failed answers the failed operation", async () => {
    await post(note("e-2"), "e-2")
    await post(note("e-2"), "e-3")
    await venue.settle()
    const again = await post(note("e-2"), "e-3")
    expect([again.status, again.written?.state]).toEqual([200, "failed"])
    expect(again.written?.problem?.type).toBe("urn:bursar:problem:already-exists")
  })
})

describe("a call that is refused", () => {
  const keyed = { "idempotency-key": "free" }
  const refusals: ReadonlyArray<readonly [number, () => Promise<Response>]> = [
    [400, () => send(venue, { ...said, body: '{"holderId":1}', headers: keyed })],
    [401, () => send(venue, { ...said, as: "Bearer x", body: note("free"), headers: keyed })],
    [403, async () => send(venue, { ...said, as: await bearer(["feed"]), headers: keyed })],
    [404, () => send(venue, { ...said, path: "/v1/approvals/ak_x:approve", as: approver })],
    [413, () => send(venue, { ...said, body: "x".repeat(1024 * 1024 + 1), headers: keyed })],
    [
      415,
      () => send(venue, { ...said, body: "x", headers: { ...keyed, "content-type": "text/plain" } })
    ]
  ]
  const said = {
    method: "POST",
    path: "/v1/holders",
    get as() {
      return operator
    }
  }
  it.each(refusals)("with %i leaves its key free", async (status, call) => {
    const before = (await operationsOf(venue, operator)).length
    expect((await call()).status).toBe(status)
    expect((await operationsOf(venue, operator)).length).toBe(before)
  })

  it("never has taken its key", async () => {
    expect((await post(note("free"), "free")).status).toBe(202)
  })

  it("never is judged before its key: a reused key is told last", async () => {
    await post(note("first"), "first")
    const reused = await write(venue, {
      path: "/v1/approvals/ak_absent:approve",
      as: operator,
      key: "first"
    })
    // The role is judged before the key, the key before the record.
    expect(reused.slug).toBe("permission-denied")
    const signer = await bearer(["operator", "approver"])
    const absent = { verb: "approve", action: "ak_absent", as: signer } as const
    expect((await decide(venue, absent)).slug).toBe("not-found")
    await post(note("second"), "second", signer)
    expect((await decide(venue, { ...absent, key: "second" })).slug).toBe("idempotency-key-reused")
    expect((await decide(venue, { ...absent, verb: "reject", key: "second" })).slug).toBe(
      "idempotency-key-reused"
    )
  })
})

describe("an operation that has not ended", () => {
  it("never does not say when to look again, on its 202, on its replay and on every read", async () => {
    const made = await post(note("w-1"), "w-1")
    const again = await post(note("w-1"), "w-1")
    const read = () => send(venue, { path: made.location ?? "", as: operator })
    expect([made.retryAfter, again.retryAfter]).toEqual(["1", "1"])
    expect((await read()).headers.get("retry-after")).toBe("1")
    await venue.settle()
    const ended = await read()
    expect(ended.headers.get("retry-after")).toBeNull()
    expect(await json<object>(ended)).toMatchObject({ value: { state: "succeeded" } })
  })
})

describe("the problem of an operation", () => {
  it("never has the id of the call that reads it, or of the one that repeated it", async () => {
    const call = (key: string, id: string) =>
      send(venue, {
        method: "POST",
        path: "/v1/holders",
        as: operator,
        body: note("w-2"),
        headers: { "idempotency-key": key, "x-request-id": id }
      })
    await call("w-2", "one")
    const made = await call("w-3", "two")
    await call("w-3", "three")
    await venue.settle()
    const path = made.headers.get("location") ?? ""
    const read = await send(venue, { path, as: operator, headers: { "x-request-id": "four" } })
    expect(read.headers.get("x-request-id")).toBe("four")
    const { value } = await json<{ value: { problem: Problem } }>(read)
    expect(value.problem.requestId).toBe("two")
  })
})
