/** Search over HTTP: who is admitted, what is refused at `q`, and what the audit log says of each. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as Wallets from "./wallets.ts"

let venue: Wallets.WholeVenue
beforeAll(async () => {
  venue = await Wallets.open({})
  const registrar = await venue.wallet("registrar")
  const recorded = await venue.write("/v1/instruments", {
    ...bodyOf(),
    registrar: registrar.party,
    oracle: registrar.party,
    display: { displayName: "Grüne Fonds", symbol: "100%_GF" }
  })
  expect(recorded).toMatchObject({ state: "succeeded" })
})
afterAll(() => venue.close())

const search = (query: string, role = "operator") => venue.read(`/v1/search?${query}`, role)

interface Logged {
  readonly action: string
  readonly actor: string
  readonly role: string
  readonly route: string
  readonly detail: Readonly<Record<string, unknown>>
}

describe("search over HTTP", () => {
  it("finds what is written, literally, for the venue's people alone", async () => {
    for (const role of ["operator", "approver", "risk", "auditor"]) {
      const { status, value } = await search(`q=${encodeURIComponent("100%_g")}`, role)
      expect([status, value]).toMatchObject([
        200,
        [{ resource: { href: "/v1/instruments/fund-a" }, matched: { field: "symbol" } }]
      ])
    }
    expect((await search("q=fund-a", "compliance")).status).toBe(200)
    for (const role of ["app", "investor", "monitor", "feed", "registrar"]) {
      expect((await search("q=fund-a", role)).status).toBe(403)
    }
  })

  it("refuses at q what is no text of 2 to 100 characters", async () => {
    const refused = ["q=", "q=a", "q=%25", "q=_", "q=a%00b", `q=${"a".repeat(101)}`, "q=%20%20", ""]
    for (const query of refused) {
      const { status, text } = await search(query)
      expect([query, status]).toEqual([query, 400])
      expect(text).toContain("/query/q")
    }
    for (const q of ["%25%25", "a%CC%81%CC%81b", "a".repeat(100), "%F0%9F%98%80%F0%9F%98%80"]) {
      expect((await search(`q=${q}`)).status).toBe(200)
    }
    for (const query of [
      "q=fund-a&at=0",
      "q=fund-a&asOf=2026-01-01T00:00:00Z",
      "q=fund-a&kind=x"
    ]) {
      expect((await search(query)).status).toBe(400)
    }
  })

  it("is logged with its kinds and the number of its results, and never with its text", async () => {
    await search("q=secretive&limit=5")
    await search("q=fund-a&kind=instrument&kind=holder&limit=5")
    await search("q=fund-a&kind=instrument")
    const { text } = await venue.read(
      "/v1/audit-log?action=search.read&order=desc&limit=3",
      "auditor"
    )
    expect(text).not.toContain("secretive")
    const { value } = JSON.parse(text) as { readonly value: ReadonlyArray<Logged> }
    expect(value.map(({ detail }) => detail)).toEqual([
      { kinds: "instrument", results: 1 },
      { kinds: "holder instrument", results: 1 },
      { kinds: "every", results: 0 }
    ])
    expect(value[0]).toMatchObject({ role: "operator", route: "/v1/search", action: "search.read" })
  })
})
