/** The list of work and its counts over HTTP: who is answered, and where its rows lead. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as Venue from "./venue.ts"
import * as Wallets from "./wallets.ts"

let venue: Wallets.WholeVenue

const paths = ["/v1/work?limit=5", "/v1/work-counts"] as const

const named = (path: string, role: string) => `${path}${path.includes("?") ? "&" : "?"}role=${role}`

const read = async (path: string, role: string) => {
  const response = await Venue.send(venue, { path, as: await Venue.bearer([role]) })
  const text = await response.text()
  return { status: response.status, etag: response.headers.get("etag"), text }
}

const valueOf = (text: string): unknown => JSON.parse(text).value

const pauses = async (instrumentId: string) => {
  const registrar = await venue.wallet(`registrar-of-${instrumentId}`)
  const body = { ...bodyOf(), instrumentId, registrar: registrar.party, oracle: null }
  expect(await venue.write("/v1/instruments", body)).toMatchObject({ state: "succeeded" })
  const paused = await venue.write(`/v1/instruments/${instrumentId}:pause`, {
    reason: "a question"
  })
  expect(paused).toMatchObject({ state: "succeeded" })
}

beforeAll(async () => {
  venue = await Wallets.open()
  await pauses("fund-w")
})
afterAll(() => venue.close())

describe("the list of work and its counts", () => {
  it.each(paths)("are answered anew each time, as all that the clock judges: %s", async (path) => {
    const first = await read(path, "operator")
    expect(first).toMatchObject({ status: 200, etag: null })
    expect(await read("/v1/open-orders?limit=5", "operator")).toMatchObject({ etag: null })
    await pauses(path === paths[0] ? "fund-x" : "fund-y")
    const next = await read(path, "operator")
    expect(valueOf(next.text)).not.toEqual(valueOf(first.text))
  })

  it.each(paths)("lead to the hold that waits for operators and for risk: %s", async (path) => {
    for (const role of ["operator", "risk"]) {
      const { text } = await read(path, role)
      expect(text).toContain(path === paths[0] ? '"href":"/v1/holds/' : '"resourceKind":"hold"')
    }
    const { value } = JSON.parse((await read(paths[0], "risk")).text)
    const { status } = await read(value[0].resource.href, "risk")
    expect(status).toBe(200)
  })

  it.each(paths)(
    "are of the person's own roles, and of the role that an auditor names: %s",
    async (path) => {
      expect(await read(path, "auditor")).toMatchObject({
        status: 400,
        text: expect.stringContaining("/query/role")
      })
      expect(await read(named(path, "risk"), "auditor")).toMatchObject({ status: 200 })
      expect(await read(named(path, "risk"), "operator")).toMatchObject({ status: 403 })
      for (const role of ["app", "registrar", "investor", "monitor"]) {
        expect(await read(path, role), role).toMatchObject({ status: 403 })
      }
    }
  )
})
