/** Conditional reads (RFC 9110): ETag, If-None-Match, and 304 to the caller's own copy. */
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { matches } from "#host/wire/Conditional.ts"
import { bearer, open, raw, send, type Sent, type Venue } from "./venue.ts"

let venue: Venue
let operator: string
let auditor: string
let investor: (holder: string) => Promise<string>

const writes = async (holderId: string, text = "one", at: Venue = venue) => {
  const body = JSON.stringify({ holderId, text, amount: 1, owner: null })
  const sent = await send(at, { method: "POST", path: "/v1/holders", as: operator, body })
  expect(sent.status).toBe(202)
  await at.settle()
}

const headOf = ({ headers, status }: Response) => ({
  status,
  etag: headers.get("etag"),
  stored: headers.get("cache-control"),
  vary: headers.get("vary")
})
const read = async (sent: Sent, at: Venue = venue) => {
  const response = await send(at, sent)
  return { ...headOf(response), headers: response.headers, text: await response.text() }
}
const tagOf = async (sent: Sent): Promise<string> => {
  const { etag } = await read(sent)
  expect(etag).toMatch(/^W\/"[\w-]{22}"$/)
  return etag ?? ""
}

beforeAll(async () => {
  venue = await open({ settings: { cursorKeys: [{ id: 1, secret: new Uint8Array(32).fill(3) }] } })
  operator = await bearer(["operator"])
  auditor = await bearer(["auditor"])
  investor = (holder) => bearer(["investor"], { holder, sub: `investor-of-${holder}` })
  for (const id of ["h-1", "h-2", "h-3"]) await writes(id)
})
afterAll(() => venue.close())

describe("an ETag", () => {
  const page = "/v1/holders?limit=2"
  const answers: ReadonlyArray<readonly [string, Sent, number, boolean]> = [
    ["the last page of a list", { path: "/v1/holders?limit=9" }, 200, true],
    ["a page before others", { path: page }, 200, true],
    ["a record", { path: "/v1/holders/h-1" }, 200, true],
    ["a page at an offset", { path: "/v1/holders?limit=1&at=0" }, 200, true],
    ["a list without a limit, which is streamed", { path: "/v1/holders" }, 200, false],
    ["the state of the host", { path: "/v1/health" }, 200, false],
    ["a record that is not there", { path: "/v1/holders/none" }, 404, false],
    ["a bad request", { path: "/v1/holders?x=1" }, 400, false],
    ["a call without a bearer", { path: page, as: "Bearer none" }, 401, false],
    ["a role that may not", { path: "/v1/approvals?limit=1", as: "investor" }, 403, false],
    ["a method of no route", { path: page, method: "PUT" }, 405, false],
    ["a defect", { path: "/v1/holders/broken" }, 500, false]
  ]
  it.each(answers)("and private, no-cache: %s", async (_, sent, status, isTagged) => {
    const as = sent.as === "investor" ? await investor("h-1") : (sent.as ?? operator)
    const request = { ...sent, as }
    const { etag, text: __, headers: ___, ...head } = await read(request)
    expect({ ...head, isTagged: etag !== null }).toEqual({
      status,
      isTagged,
      stored: isTagged ? "private, no-cache" : "no-store",
      vary: isTagged ? "Authorization" : null
    })
    // If-None-Match is compared after all checks: a refusal stays one, an answer without an ETag is 200.
    const again = await read({ ...request, headers: { "if-none-match": "*" } })
    expect(again.status).toBe(isTagged ? 304 : status)
  })

  it("is missing from an answer that is polled, and from a page that is not an outsider's last", async () => {
    const { headers } = await send(venue, {
      method: "POST",
      path: "/v1/holders:onboard",
      as: operator,
      body: '{"holderId":"o"}'
    })
    const operation = headers.get("location") ?? ""
    expect((await read({ path: operation, as: operator })).etag).toBeNull()
    const app = await bearer(["app"])
    for (const holderId of ["o-1", "o-2"]) {
      const body = JSON.stringify({ holderId })
      await send(venue, { method: "POST", path: "/v1/holders:onboard", as: app, body })
    }
    await venue.settle()
    const tagsOf = async (as: string) => [
      (await read({ path: "/v1/operations?limit=1", as })).etag !== null,
      (await read({ path: "/v1/operations?limit=9", as })).etag !== null
    ]
    expect(await tagsOf(operator)).toEqual([true, true])
    expect(await tagsOf(app)).toEqual([false, true])
  })

  it("of a page is another at each instance without a key that all share", async () => {
    const tags = new Set<string | null>()
    for (const _ of [1, 2]) {
      const instance = await open()
      tags.add((await read({ path: "/v1/holders?limit=1", as: operator }, instance)).etag)
      await instance.close()
    }
    expect(tags.size).toBe(2)
    expect(tags.has(null)).toBe(false)
  })
})

describe("If-None-Match", () => {
  const etag = 'W/"a-1_b"'
  it.each([
    [etag, true],
    ['"a-1_b"', true],
    [`"x", ${etag}`, true],
    [`${etag},"x"`, true],
    [`W/"x" \t,\t"y" , ${etag} `, true],
    [`,, ${etag} ,`, true],
    ["*", true],
    [" * ", true],
    [`"a,b", ${etag}`, true],
    [`"é", ${etag}`, true],
    ["", false],
    [",", false],
    ['"x"', false],
    ['W/"a-1_"', false],
    ['W/"a-1_bc"', false],
    ['w/"a-1_b"', false],
    ["a-1_b", false],
    ['"a-1_b', false],
    ['W/ "a-1_b"', false],
    [`x, ${etag}`, false],
    [`${etag} "x"`, false],
    [`"a b", ${etag}`, false],
    [`*, ${etag}`, false],
    ['"x,*,y"', false],
    ['"x, W/"a-1_b""', false]
  ])("%s", (given, isMatched) => {
    expect(matches(given, etag)).toBe(isMatched)
    expect(matches(given, '"a-1_b"')).toBe(isMatched)
  })
  it("that is not sent matches nothing", () => expect(matches(undefined, etag)).toBe(false))

  it("is read as one list, however many lines it is sent in", async () => {
    const tag = await tagOf({ path: "/v1/holders/h-1", as: operator })
    const sent = (method: string, ...tags: ReadonlyArray<string>) =>
      raw(
        venue.port,
        [
          `${method} /v1/holders/h-1 HTTP/1.1`,
          "Host: x",
          `Authorization: ${operator}`,
          ...tags.map((text) => `If-None-Match: ${text}`),
          "Connection: close",
          "",
          ""
        ].join("\r\n")
      )
    expect(await sent("GET", '"x"', tag)).toMatch(/^HTTP\/1.1 304 /)
    expect(await sent("GET", '"x"', '"y"')).toMatch(/^HTTP\/1.1 200 /)
    for (const method of ["GET", "HEAD"]) {
      const [head = "", body] = (await sent(method, tag)).split("\r\n\r\n")
      expect([method, body]).toEqual([method, ""])
      expect(head).not.toMatch(
        /^(content-(type|length|encoding)|transfer-encoding|last-modified):/im
      )
    }
  })

  it("that matches has the headers of the whole answer, but for those of its body", async () => {
    for (const method of ["GET", "HEAD"]) {
      for (const path of ["/v1/holders/h-1", "/v1/holders?limit=2"]) {
        const request = { method, path, as: operator }
        const whole = await read(request)
        const current = await read({ ...request, headers: { "if-none-match": whole.etag ?? "" } })
        expect([current.status, current.text]).toEqual([304, ""])
        const named = ({ headers }: typeof whole) => Object.fromEntries(headers)
        const {
          "content-length": _,
          "content-type": __,
          "x-request-id": ___,
          "x-ratelimit-remaining": ____,
          date: _____,
          ...kept
        } = named(whole)
        expect(named(current)).toMatchObject(kept)
        expect(Object.keys(named(current)).toSorted()).toEqual(
          [...Object.keys(kept), "date", "x-ratelimit-remaining", "x-request-id"].toSorted()
        )
      }
    }
  })

  it("says nothing to a write", async () => {
    const sent = { method: "POST", path: "/v1/holders:onboard", as: operator }
    const body = '{"holderId":"w-1"}'
    const headers = { "if-none-match": "*" }
    const { etag, status, stored } = await read({ ...sent, body, headers })
    expect({ etag, status, stored }).toEqual({ etag: null, status: 202, stored: "no-store" })
  })
})

describe("a copy", () => {
  it("is current until its own bytes change, and a page before others until anything does", async () => {
    const paths = ["/v1/holders/h-1", "/v1/holders?holderId=h-1&limit=9", "/v1/holders?limit=2"]
    const tags = await Promise.all(paths.map((path) => tagOf({ path, as: operator })))
    const statuses = async () => {
      const all: Array<number> = []
      for (const [index, path] of paths.entries()) {
        const headers = { "if-none-match": tags[index] ?? "" }
        all.push((await read({ path, as: operator, headers })).status)
      }
      return all
    }
    expect(await statuses()).toEqual([304, 304, 304])
    await writes("z-9")
    // The cursor of the first page leads to the records of before.
    expect(await statuses()).toEqual([304, 304, 200])
  })

  it("of an investor is current whatever is written for others", async () => {
    const as = await investor("h-2")
    const request = { path: "/v1/holders?limit=9", as }
    const tag = await tagOf(request)
    await writes("z-8")
    expect(await tagOf(request)).toBe(tag)
    expect((await read({ ...request, headers: { "if-none-match": tag } })).status).toBe(304)
  })

  it("of a page leads on to the records of its own point", async () => {
    const request = { path: "/v1/holders?limit=2", as: operator }
    const whole = await read(request)
    await new Promise((done) => setTimeout(done, 5))
    expect(
      (await read({ ...request, headers: { "if-none-match": whole.etag ?? "" } })).status
    ).toBe(304)
    const { next } = JSON.parse(whole.text) as { readonly next: string }
    const following = await read({ path: `/v1/holders?limit=99&after=${next}`, as: operator })
    expect([following.status, following.text]).toEqual([200, expect.stringContaining("z-9")])
  })
})

/** The bytes of an answer without `now` and the cursor, which a validator does not compare. */
const compared = (text: string) =>
  text.replace(/"now":"[^"]+"/, "").replace(/"next":"[^"]+"\}$/, '"next":"cursor"}')

describe("a copy of another caller", () => {
  it("is never current, unless the caller would read the same bytes", async () => {
    const callers = [
      operator,
      auditor,
      ...(await Promise.all(["h-1", "h-2", "a-1", "none"].map(investor))),
      await bearer(["investor", "auditor"], { holder: "h-1" })
    ]
    const paths = [
      "/v1/holders?limit=1",
      "/v1/holders?limit=99",
      "/v1/holders/h-1",
      "/v1/holders/a-1"
    ]
    /** Every tag that any caller ever received for a path, with the bytes it came with. */
    const copies = new Map<string, Map<string, string>>(paths.map((path) => [path, new Map()]))
    const caller = fc.constantFrom(...callers)
    const path = fc.constantFrom(...paths)
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ as: caller, path, isAll: fc.boolean() }) },
      { weight: 1, arbitrary: fc.constantFrom("a-1", "b-1", "c-1", "d-1") }
    )
    const written = new Set<string>()
    let current = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
        for (const move of steps) {
          if (typeof move === "string") {
            if (!written.has(move)) await writes(move)
            written.add(move)
            continue
          }
          const { as, path: target, isAll } = move
          const own = await read({ path: target, as })
          const answers = copies.get(target) ?? new Map<string, string>()
          const tags = [...answers.keys()].slice(isAll ? 0 : -1)
          const again = await read({ path: target, as, headers: { "if-none-match": tags.join() } })
          if (again.status === 304) {
            current += 1
            expect(tags).toContain(again.etag)
            expect(answers.get(again.etag ?? "")).toBe(compared(own.text))
          }
          if (own.status !== 200) expect([own.etag, again.status]).toEqual([null, own.status])
          else expect(again.status).toBe(tags.includes(own.etag ?? "none") ? 304 : 200)
          if (own.etag !== null) {
            expect(answers.get(own.etag) ?? compared(own.text)).toBe(compared(own.text))
            answers.set(own.etag, compared(own.text))
          }
        }
      }),
      { numRuns: 15, endOnFailure: true }
    )
    expect(current).toBeGreaterThan(20)
  })
})

describe("a web page of another origin", () => {
  it("may send and read tags, and the answer varies with its origin too", async () => {
    const origin = "https://app.example"
    const served = await open({ origins: [origin] })
    await writes("h-1", "one", served)
    const request = { path: "/v1/holders/h-1", as: operator, headers: { origin } }
    const whole = await read(request, served)
    const headers = { origin, "if-none-match": whole.etag ?? "" }
    const current = await read({ ...request, headers }, served)
    expect(current.status).toBe(304)
    for (const { vary, headers: found } of [whole, current]) {
      expect(vary).toBe("Authorization, Origin")
      expect(found.get("access-control-expose-headers")).toContain("ETag")
    }
    const allowed = await send(served, { ...request, method: "OPTIONS" })
    expect(allowed.headers.get("access-control-allow-headers")).toContain("If-None-Match")
    expect(allowed.headers.get("access-control-allow-headers")).toContain("Prefer")
    const { headers: page } = await read({ path: "/docs" }, served)
    expect(page.get("vary")).toBe("accept-encoding, Origin")
    await served.close()
  })
})
