/** Forged cursors (security test 13), over the wire: 400 at the parameter, never 500, never a record. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { tables } from "../tables.ts"
import { bearer, json, type Listed, open, type Problem, send, type Venue } from "../venue.ts"
import { isLong } from "../../long-run.ts"

const lists = [
  "/v1/holders?limit=1",
  "/v1/holders?limit=1&text=one",
  "/v1/holders?limit=1&text=two",
  "/v1/holders?limit=1&text=two&text=one",
  "/v1/holders?limit=1&at=0",
  "/v1/holders?limit=1&updatedFrom=2020-01-01T00:00:00Z",
  "/v1/holders?limit=1&updatedTo=2099-01-01T00:00:00Z",
  "/v1/operations?limit=1",
  "/v1/operations?limit=1&state=succeeded",
  "/v1/approvals?limit=1",
  "/v1/approvals?limit=1&state=awaiting",
  "/v1/events?limit=1",
  "/v1/events?limit=1&order=desc",
  "/v1/events?limit=1&kind=control",
  "/v1/events?limit=1&resourceKind=hold",
  "/v1/events?limit=1&from=2020-01-01T00:00:00Z"
] as const

// Switched off in a copy and seen red: the MAC in Cursor.ts (a flipped byte then ends in a 500).
describe("a cursor over the wire", () => {
  let venue: Venue
  let operator = ""
  const issued = new Map<string, string>()
  beforeAll(async () => {
    venue = await open({ tables })
    operator = await bearer(["operator"])
    for (const holderId of ["a", "b", "c"]) {
      const body = JSON.stringify({
        holderId,
        text: holderId === "b" ? "two" : "one",
        amount: 1,
        owner: null
      })
      await send(venue, { method: "POST", path: "/v1/holders", as: operator, body })
      await venue.settle()
      const held = { path: `/v1/holds/h-${holderId}:release`, body: '{"reason":"r"}' }
      await send(venue, { method: "POST", as: operator, ...held })
    }
    for (const path of lists) {
      const { next } = await json<Listed>(await send(venue, { path, as: operator }))
      if (next !== null) issued.set(path, next)
    }
  })
  afterAll(() => venue.close())

  const refused = async (path: string, after: string, what: string) => {
    const answer = await send(venue, {
      path: `${path}&after=${encodeURIComponent(after)}`,
      as: operator
    })
    expect([what, answer.status]).toEqual([what, 400])
    const { errors, type } = await json<Problem>(answer)
    expect(type).toBe("urn:bursar:problem:invalid-request")
    expect(errors?.map(({ pointer }) => pointer)).toEqual(["/query/after"])
  }

  it("goes on where it was issued, and is refused on every other list, filter, order and point", async () => {
    expect(issued.size).toBeGreaterThan(12)
    for (const [from, after] of issued) {
      for (const path of lists) {
        if (path !== from) await refused(path, after, `${from} on ${path}`)
      }
      expect((await send(venue, { path: `${from}&after=${after}`, as: operator })).status).toBe(200)
    }
  })

  it.each(["/v1/holders?limit=1", "/v1/events?limit=1"])(
    "of %s with a byte flipped, cut short or made longer is refused",
    async (path) => {
      const after = issued.get(path) ?? ""
      const bytes = Buffer.from(after, "base64url")
      expect(bytes.length).toBeGreaterThan(40)
      // The long run does so to each of its bytes.
      for (let at = 0; at < bytes.length; at += isLong ? 1 : 5) {
        const forged = Buffer.from(bytes)
        forged.writeUInt8(forged.readUInt8(at) ^ (1 << (at % 8)), at)
        await refused(path, forged.toString("base64url"), `byte ${at}`)
        await refused(path, bytes.subarray(0, at).toString("base64url") || "A", `cut at ${at}`)
      }
      for (const more of ["A", "=", " ", "\n", "%", after, "é"]) {
        await refused(path, after + more, `with ${JSON.stringify(more)}`)
      }
    }
  )

  it("that is somebody's own JSON, ten kilobytes, empty or any text is refused", async () => {
    const json = Buffer.from(JSON.stringify({ list: "holders.list", after: "a" }))
    const forged = Buffer.concat([Buffer.from([1, 0]), json, Buffer.alloc(16)])
    // Deterministic texts: the ten thousand random ones are in the core's own test of cursors.
    const texts = Array.from({ length: isLong ? 300 : 40 }, (_, index) =>
      Buffer.from(`${index * 7_919}:${"x".repeat(index % 90)}`).toString("base64url")
    )
    for (const path of ["/v1/holders?limit=1", "/v1/events?limit=1"]) {
      for (const text of [
        json.toString("base64url"),
        forged.toString("base64url"),
        "A".repeat(513),
        "A".repeat(7_000),
        "",
        "null",
        "../../etc/passwd",
        "' or 1=1 --",
        ...texts
      ]) {
        await refused(path, text, text.slice(0, 40))
      }
    }
  })
})
