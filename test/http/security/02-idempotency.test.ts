/**
 * Security test 2 (API1): a caller that sends another caller's idempotency key and body reaches none
 * of the other's data.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { actionOf, type Became, decide, write } from "../people.ts"
import { bearer, open, send, type Venue } from "../venue.ts"

let venue: Venue
let alice: string
let mallory: string
beforeAll(async () => {
  venue = await open()
  alice = await bearer(["app"], { sub: "alice", name: "Alice Anders", email: "alice@a.test" })
  mallory = await bearer(["app"], { sub: "mallory" })
})
afterAll(() => venue.close())

const body = '{"holderId":"stolen","text":"one","amount":1,"owner":null}'
const post = (as: string, key?: string, path = "/v1/holders") =>
  write(venue, { path, as, body, ...(key === undefined ? {} : { key }) })

/** Texts of one caller's operation and record that an answer to another caller must not contain. */
const bytesOf = ({ written, location }: Became): ReadonlyArray<string> =>
  [written?.operationId, location, "alice", "Alice Anders", "alice@a.test"].flatMap((one) =>
    typeof one === "string" ? [one] : []
  )

// Switched off to see it red: the subject in the key's scope (`scopeOf` in writes/KeyedCall.ts).
describe("another's key and body on an ordinary write", () => {
  it.each([
    ["a key that was sent", "alices-key"],
    ["the key that a body makes", undefined]
  ])("answer with the other's operation: %s", async (_, key) => {
    const hers = await post(alice, key)
    const theirs = await post(mallory, key)
    expect([hers.status, theirs.status, theirs.replayed]).toEqual([202, 202, null])
    for (const byte of bytesOf(hers)) expect(theirs.text).not.toContain(byte)
    expect(theirs.written?.actor).toBe("mallory")
    // An app reads its own operations and no other's.
    const read = await send(venue, { path: hers.location ?? "", as: mallory })
    expect(read.status).toBe(404)
  })

  it("never tell by a refusal that the key is in use", async () => {
    await post(alice, "used-by-alice")
    const other = body.replace("stolen", "mine")
    const theirs = await write(venue, {
      path: "/v1/holders",
      as: mallory,
      body: other,
      key: "used-by-alice"
    })
    expect([theirs.status, theirs.slug]).toEqual([202, null])
  })

  it("never are kept apart by no more than a slash that both subs can have", async () => {
    const one = await bearer(["app"], { sub: "a/b" })
    const two = await bearer(["app"], { sub: "a" })
    const first = await post(one, "k")
    const second = await post(two, "b/k")
    expect([first.status, second.status]).toEqual([202, 202])
    expect(second.location).not.toBe(first.location)
  })

  it("never reach the engine's own writes by a sub that is called like the engine", async () => {
    for (const [sub, status] of [
      ["engine", 401],
      ["engine:venue-1", 202],
      ["venue-1", 202]
    ] as const) {
      const theirs = await post(await bearer(["app"], { sub }), "k-engine")
      expect([sub, theirs.status]).toEqual([sub, status])
    }
  })
})

describe("another's key on a four-eyes write", () => {
  const release = (as: string, key: string) =>
    write(venue, { path: "/v1/holds/h-9:release", as, body: '{"reason":"x"}', key })

  it("never answers another maker with the first one's action", async () => {
    const hers = await release(await bearer(["operator"], { sub: "olga" }), "o-key")
    const theirs = await release(await bearer(["risk"], { sub: "rick" }), "o-key")
    expect([hers.status, theirs.status]).toEqual([202, 202])
    expect(actionOf(theirs)).not.toBe(actionOf(hers))
  })

  it("never lets who only rejects read by its key what another's rejection was", async () => {
    const made = await release(await bearer(["operator"], { sub: "oona" }), "oona-key")
    const action = actionOf(made)
    const ann = await bearer(["approver"], { sub: "ann" })
    const bob = await bearer(["approver"], { sub: "bob" })
    const reject = { verb: "reject", action, body: '{"reason":"no"}', key: "r-key" } as const
    expect((await decide(venue, { ...reject, as: ann })).status).toBe(200)
    // The same key and body, another subject: it is told the state, as anybody is.
    const theirs = await decide(venue, { ...reject, as: bob })
    expect([theirs.status, theirs.slug, theirs.replayed]).toEqual([409, "approval-rejected", null])
    expect(theirs.text).not.toContain("ann")
  })
})
