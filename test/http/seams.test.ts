/** The seams between the engine and HTTP: verbs, decimals, envelopes, streams. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bearer, json, type Listed, open, type Venue } from "./venue.ts"

let venue: Venue
let operator: string
beforeAll(async () => {
  venue = await open()
  operator = await bearer(["operator"])
})
afterAll(() => venue.close())

const call = (method: string, path: string, body?: string, headers: Record<string, string> = {}) =>
  fetch(`${venue.url}${path}`, {
    method,
    headers: {
      authorization: operator,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers
    },
    ...(body === undefined ? {} : { body })
  })

describe("colon verbs", () => {
  const verbs = [
    ["POST", "/v1/holders:onboard", '{"holderId":"h-1"}', "holder.onboard"],
    ["POST", "/v1/holds/ho.l~d-1:release", '{"reason":"r"}', "hold.release"],
    ["POST", "/v1/instruments/i-1/policy:set", "{}", "policy.set"],
    ["POST", "/v1/instruments/i-1:pause", undefined, "instrument.pause"]
  ] as const
  it.each(verbs)(
    "%s %s reaches its own operation and no other",
    async (method, path, body, kind) => {
      const response = await call(method, path, body)
      expect(response.status).toBe(202)
      expect(await response.json()).toMatchObject({ kind })
    }
  )

  it("an encoded verb, a doubled verb or a verb of another case runs nothing", async () => {
    for (const path of [
      "/v1/instruments/i-1%3Apause",
      "/v1/instruments/i-1:pause:pause",
      "/v1/instruments/i-1:Pause",
      "/v1/instruments/i-1:",
      "/v1/holders:",
      "/v1/holdersX",
      "/v1/holders%3Aonboard"
    ]) {
      const response = await call("POST", path, "{}")
      expect([path, response.status]).toEqual([path, 404])
    }
  })
})

describe("decimals", () => {
  it("cross HTTP, the store and back with every digit", async () => {
    const amount = "1234567890123456789012345678.0123456789"
    const made = await call(
      "POST",
      "/v1/holders",
      `{"holderId":"dec-1","text":"one","amount":${amount},"owner":null}`
    )
    expect(made.status).toBe(202)
    expect(await made.text()).toContain(`"amount":${amount}`)
    await venue.settle()
    const read = await call("GET", "/v1/holders/dec-1")
    expect(read.status).toBe(200)
    expect(await read.text()).toContain(`"amount":${amount}`)
  })
})

describe("the read envelope", () => {
  it("of one record has offset, ledgerTime, now and value", async () => {
    const body = await json<object>(await call("GET", "/v1/holders/dec-1"))
    expect(Object.keys(body)).toEqual(["offset", "ledgerTime", "now", "value"])
  })

  it("of a list without a limit is the same as of its pages together", async () => {
    for (let i = 0; i < 7; i++) {
      await call(
        "POST",
        "/v1/holders",
        `{"holderId":"n-${i}","text":"two","amount":${i},"owner":null}`
      )
    }
    await venue.settle()
    const whole = await json<Listed>(await call("GET", "/v1/holders?text=two"))
    expect(whole.next).toBeNull()
    expect(whole.value).toHaveLength(7)
    const paged: Array<unknown> = []
    let after = ""
    for (let page = 0; page < 4; page++) {
      const { value, next } = await json<Listed>(
        await call("GET", `/v1/holders?text=two&limit=3${after}`)
      )
      paged.push(...value)
      if (next === null) break
      after = `&after=${encodeURIComponent(next)}`
    }
    expect(paged).toEqual(whole.value)
  })
})
