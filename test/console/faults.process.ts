/**
 * The console in a browser where something goes wrong or changes meanwhile: no page shows a figure of before
 * as current, or of another filter or point as its own, and none loses a form.
 */
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { browser } from "../package/browser/headless.ts"
import * as House from "./house.ts"

describe.skipIf(browser === undefined)("a page of the console (chromium)", () => {
  let house: House.House
  let operator: Page
  beforeAll(async () => {
    house = await House.open()
    await register("h-first")
    operator = await house.signedIn("operator", { path: "/console/holders" })
    await operator.getByRole("link", { name: "h-first", exact: true }).waitFor()
  })
  afterAll(async () => {
    await house.close()
  })

  const register = async (holderId: string) => {
    const client = house.client("operator")
    const body = { holderId, party: `${holderId}::1220cc`, classification: "entity" } as const
    return client.done(await client.write("holder.register", body))
  }
  const record = (instrumentId: string) =>
    house.client("operator").write("instrument.record", House.terms(instrumentId))
  const focused = (page: Page) =>
    page.evaluate("document.activeElement?.textContent") as Promise<string | undefined>

  it("shows what others do, as they do it", async () => {
    await expect.poll(() => operator.locator(".light").innerText()).toContain("live")
    for (const id of ["h-second", "h-third"]) {
      await register(id)
      await operator.getByRole("link", { name: id, exact: true }).waitFor()
    }
    expect(await operator.locator(".light").innerText()).toContain("live")
  })

  it("shows no row of another filter while its own are read, and takes the focus with a step to a page", async () => {
    let go: () => void = () => undefined
    const held = new Promise<void>((resolve) => (go = resolve))
    await operator.route(/\/v1\/holders\?.*state=closed/u, async (route) => {
      await held
      await route.continue()
    })
    await operator.getByRole("button", { name: "closed", exact: true }).click()
    await operator.locator("main").getByText("Reading …").waitFor()
    expect(await operator.getByRole("link", { name: "h-first", exact: true }).count()).toBe(0)
    go()
    await operator.getByText(/No holder fits the filter/u).waitFor()
    await operator.getByRole("button", { name: "Clear filters" }).click()
    await operator.getByRole("link", { name: "h-first", exact: true }).click()
    await operator.getByRole("heading", { name: /h-first/u, level: 1 }).waitFor()
    await expect.poll(() => focused(operator)).toMatch(/h-first/u)
  })

  it("of the past says what of it has no past, and judges no deadline by the present", async () => {
    const { actionKey } = await record("past")
    const { offset } = (await house.client("operator").reading("holders.get", {
      holderId: "h-first"
    })) as unknown as { readonly offset: number }
    await House.visit(operator, `approvals/${actionKey}?at=${offset}`)
    await operator.getByText(/Not of the past, .*approvals/u).waitFor()
    await House.visit(operator, `holders?at=${offset}`)
    await operator.getByRole("link", { name: "h-first", exact: true }).waitFor()
    await expect.poll(() => operator.getByText(/Not of the past/u).count()).toBe(0)
    await expect.poll(() => operator.locator(".point.pinned time").count()).toBe(1)
    expect(await operator.getByRole("button", { name: "Holder: register" }).count()).toBe(0)
    await operator.getByRole("button", { name: "Back to latest" }).click()
    await operator.getByRole("button", { name: "Holder: register", exact: true }).waitFor()
  })

  it("whose host was upgraded keeps a form, and reloads once where there is none", async () => {
    const page = await house.signedIn("operator", { path: "/console/holders" })
    await page.route(/\/console\/assets\/EventsPage-/u, (route) => route.fulfill({ status: 404 }))
    await page.getByRole("button", { name: "Holder: register", exact: true }).click()
    await page.getByLabel(/^Holder id/u).fill("h-kept")
    await page.keyboard.press("Escape")
    await go(page, "events")
    await page.getByText(/What you typed is still in its form/u).waitFor()
    await page.getByRole("button", { name: "Go back" }).click()
    await page.getByRole("button", { name: "Holder: register", exact: true }).click()
    expect(await page.getByLabel(/^Holder id/u).inputValue()).toBe("h-kept")
    await page.getByRole("button", { name: "Close", exact: true }).click()
    await go(page, "events")
    await page.getByRole("button", { name: /Sign in with/u }).waitFor()
    await page.context().close()
  })

  it.each([
    ["another issuer", "code=x&state=S&iss=https://other.test", /not one to this sign-in/u],
    ["a doubled code", "code=x&code=y&state=S&iss=I", /not one to this sign-in/u],
    ["a forged state", "code=x&state=forged&iss=I", /not one to this sign-in/u],
    ["a code that is not its own", "code=x&state=S&iss=I", /gave no token/u]
  ])(
    "keeps nothing of an answer with %s to a sign-in of its own, and says so",
    async (_, answer, words) => {
      const { issuer } = house.provider
      const page = await house.page()
      // Answered by nothing, the navigation leaves the page as it is.
      await page.route(`${issuer}/auth*`, (route) => route.fulfill({ status: 204 }))
      await page.getByRole("button", { name: /Sign in with/u }).click()
      const state = await begun(page)
      const query = answer.replace("state=S", `state=${state}`).replace("iss=I", `iss=${issuer}`)
      await page.goto(`${house.venue.url}/console/sign-in?${query}`)
      await page.getByRole("alert").getByText(words).waitFor()
      expect([await page.evaluate("sessionStorage.length"), new URL(page.url()).search]).toEqual([
        0,
        ""
      ])
      await page.context().close()
    }
  )

  it("has every text of others as text, and their words as they came", async () => {
    const name = `<img src=x onerror="document.title='run'"> \u202Eevil\u202C ${"x".repeat(4096)}`
    const made = await record("markup")
    await house.client("approver").approve(made)
    await house.client("operator").done(made)
    await operator.route(/\/v1\/instruments\/markup(?:\?|$)/u, async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as { value: object }
      const value = {
        ...answer.value,
        legalName: name,
        valuation: "a-word-to-come",
        navFeedState: "another-word",
        waitingOn: [
          {
            party: null,
            role: "a-role-to-come",
            action: "a.move.to-come",
            by: null,
            actionKey: null,
            resource: null
          }
        ]
      }
      await route.fulfill({ response, json: { ...answer, value } })
    })
    await House.visit(operator, "instruments/markup")
    const text = await operator.locator("main").innerText()
    expect(text.includes(name)).toBe(true)
    for (const word of ["a-word-to-come", "another word", "a: move: to come"]) {
      expect(text).toContain(word)
    }
    expect(await operator.locator("main img").count()).toBe(0)
    expect(await operator.title()).toBe("Instrument markup")
    for (const path of ["holders/javascript%3Aalert(1)", "holders/a%2F..%2F..%2Fapprovals"]) {
      await House.visit(operator, path)
      await operator.locator(".failure").first().waitFor()
    }
    expect(house.breaches).toEqual([])
  })
})

/** State of the sign-in that a page has begun. */
const begun = async (page: Page): Promise<string> => {
  const read = () =>
    page.evaluate('sessionStorage.getItem("bursar.sign-in")') as Promise<string | null>
  await expect.poll(read).not.toBeNull()
  return (JSON.parse(String(await read())) as { readonly state: string }).state
}

/** Goes to a page that may not be drawn. */
const go = (page: Page, path: string) =>
  page.evaluate(`(() => {
    const link = document.createElement("a")
    link.href = ${JSON.stringify(`/console/${path}`)}
    document.body.append(link)
    link.click()
    link.remove()
  })()`)
