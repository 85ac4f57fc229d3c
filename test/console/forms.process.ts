/**
 * Forms of the console in a browser, against a whole venue: each entry's fault is seen, and a write is made
 * once, whatever becomes of its answers.
 */
import type { Page, Route } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { browser } from "../package/browser/headless.ts"
import * as House from "./house.ts"

describe.skipIf(browser === undefined)("a form in a browser (chromium)", () => {
  let house: House.House
  let operator: Page
  beforeAll(async () => {
    house = await House.open()
    const recorder = house.client("operator")
    const made = await recorder.write("instrument.record", House.terms("elf"))
    await house.client("approver").approve(made)
    await recorder.done(made)
    operator = await house.signedIn("operator", { path: "/console/holders" })
  })
  afterAll(async () => {
    await house.close()
  })

  const focused = (page: Page) =>
    page.evaluate("document.activeElement?.id || document.activeElement?.textContent") as Promise<
      string | undefined
    >

  it("offers the version that a policy replaces, to whoever may set one and to nobody else", async () => {
    await House.visit(operator, "instruments/elf?tab=policy")
    await operator.getByRole("button", { name: "Policy: set", exact: true }).click()
    const replaces = operator.getByLabel(/^Replaces/u)
    expect(await replaces.inputValue()).toBe("1")
    await replaces.fill("")
    await operator.getByRole("button", { name: /^Send/u }).click()
    await operator.getByText("Replaces is missing.").waitFor()
    expect(await focused(operator)).toBe("field-replaces")
    await replaces.fill("1")
    await operator.getByLabel(/^Tolerances/u).fill('{"nav": 0.10000000001}')
    await operator.getByLabel(/^Minimum subscription/u).fill("1000000.50")
    await operator.getByRole("button", { name: /^Send/u }).click()
    const refused = operator.locator("dialog .failure")
    await refused.waitFor()
    expect(await refused.innerText()).toMatch(/tolerances/u)
    await operator.getByLabel(/^Tolerances/u).fill("")
    await operator.getByRole("button", { name: /^Send/u }).click()
    const outcome = operator.getByText(/It awaits its approvers/u)
    await outcome.waitFor()
    expect(await focused(operator)).toMatch(/It awaits its approvers/u)
    await operator.getByRole("button", { name: "Close", exact: true }).click()
    await expect.poll(() => focused(operator)).toBe("Policy: set")
    const { value } = await house.client("approver").list("approvals.list", {
      where: { state: ["awaiting"] }
    })
    expect(value.map(({ request }) => request)).toEqual([
      { instrumentId: "elf", replaces: "1", minimumSubscription: "1000000.50" }
    ])
    const approver = await house.signedIn("approver")
    await House.visit(approver, "instruments/elf?tab=policy")
    expect(await approver.getByRole("button", { name: "Policy: set", exact: true }).count()).toBe(0)
    await approver.context().close()
  })

  it("shows the faults of its rows at them", async () => {
    await House.visit(operator, "restrictions")
    await operator.getByText("Restrict many holders at once").click()
    await operator.getByRole("textbox", { name: /^One row a line/u }).fill("h1,,freeze,court-order")
    await operator.getByRole("button", { name: "Holder: restrict batch", exact: true }).click()
    const dialog = operator.getByRole("dialog")
    await dialog.getByRole("button", { name: "Add a row" }).click()
    await dialog
      .getByLabel(/^Holder id/u)
      .nth(0)
      .fill("no id!")
    await dialog.getByRole("button", { name: /^Send/u }).click()
    await dialog.getByText("Row 2 is empty: fill it in, or remove it.").waitFor()
    await dialog.getByText(/Holder id has characters/u).waitFor()
    await operator.setViewportSize({ width: 320, height: 800 })
    await operator.emulateMedia({ colorScheme: "dark" })
    expect(await House.axeFindings(operator)).toEqual([])
    await operator.setViewportSize({ width: 1280, height: 900 })
    await operator.emulateMedia({ colorScheme: "light" })
    await dialog.getByRole("button", { name: "Remove row 2" }).click()
    expect(await focused(operator)).toBe("Add a row")
    await operator.keyboard.press("Escape")
    expect(house.breaches).toEqual([])
  })

  const fillIn = async (id: string) => {
    await operator.getByRole("button", { name: "Holder: register", exact: true }).click()
    await operator.getByLabel(/^Holder id/u).fill(id)
    await operator.getByLabel(/^Party/u).fill(`${id}::1220cc`)
    await operator.getByLabel(/^Classification/u).selectOption({ index: 1 })
  }

  it("is sent again with its key, also after it was left, until an answer says what came of it", async () => {
    await House.visit(operator, "holders")
    const keys: Array<string | undefined> = []
    const answers: Array<(route: Route) => Promise<void>> = [
      (route) => route.abort("connectionfailed"),
      (route) =>
        route.fulfill({
          status: 429,
          contentType: "application/problem+json",
          body: problem(429, "rate-limited")
        }),
      (route) =>
        route.fulfill({
          status: 503,
          contentType: "application/problem+json",
          body: problem(503, "overloaded")
        }),
      // The write is made, and its answer lost.
      async (route) => {
        await route.fetch()
        await route.abort("connectionreset")
      },
      (route) => route.continue()
    ]
    await operator.route("**/v1/holders", (route) => {
      if (route.request().method() !== "POST") return route.continue()
      keys.push(route.request().headers()["idempotency-key"])
      return answers.shift()?.(route)
    })
    await fillIn("h-cut")
    while (answers.length > 1) {
      const left = answers.length
      await operator.getByRole("button", { name: /^Send/u }).click()
      await expect.poll(() => answers.length).toBe(left - 1)
      await operator.locator("dialog .failure").waitFor()
    }
    await operator.keyboard.press("Escape")
    await operator.getByRole("button", { name: "Holder: register", exact: true }).click()
    await operator.getByText(/it is the same call and makes no second write/u).waitFor()
    expect(await operator.getByLabel(/^Holder id/u).inputValue()).toBe("h-cut")
    await operator.getByRole("button", { name: /^Send/u }).click()
    await operator.getByText(/The operation is/u).waitFor()
    await operator.getByRole("button", { name: "Close", exact: true }).click()
    await operator.unroute("**/v1/holders")
    expect([keys.length, new Set(keys).size]).toEqual([5, 1])
    expect(await registered("h-cut")).toBe(1)
    // The next form is another write.
    await operator.getByRole("button", { name: "Holder: register", exact: true }).click()
    expect(await operator.getByLabel(/^Holder id/u).inputValue()).toBe("")
    await operator.keyboard.press("Escape")
  })

  const registered = async (holderId: string) => {
    const { value } = await house
      .client("operator")
      .list("operations.list", { where: { kind: ["holder.register"] } })
    return value.filter(({ resource }) => resource.id === holderId).length
  }

  it("makes one write of a double click, and none by going back after it", async () => {
    await House.visit(operator, "instruments")
    await House.visit(operator, "holders")
    await fillIn("h-double")
    await operator.getByRole("button", { name: /^Send/u }).dblclick()
    await operator.getByText(/The operation is/u).waitFor()
    await operator.getByRole("button", { name: "Close", exact: true }).click()
    await operator.goBack()
    await operator.getByRole("heading", { name: "Instruments", level: 1 }).waitFor()
    await operator.goForward()
    await operator.getByRole("heading", { name: "Holders", level: 1 }).waitFor()
    expect(await registered("h-double")).toBe(1)
    expect(house.breaches).toEqual([])
  })
})

const problem = (status: number, slug: string): string =>
  JSON.stringify({
    type: `urn:bursar:problem:${slug}`,
    title: slug,
    status,
    detail: "by the test",
    instance: "/v1/holders",
    retryable: true,
    retryAfter: 1,
    gate: null,
    check: null,
    recovery: null,
    requestId: "r-1",
    errors: null
  })
