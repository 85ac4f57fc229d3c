/**
 * The console in a browser, against a whole venue: people sign in, see what waits, and sign what they saw.
 * Without a browser on this machine the tests are skipped by name.
 */
import { mkdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { root } from "../architecture/sources.ts"
import { browser } from "../package/browser/headless.ts"
import * as House from "./house.ts"

const pictures = process.env["BURSAR_PICTURES"]

describe.skipIf(browser === undefined)("the console in a browser (chromium)", () => {
  let house: House.House
  beforeAll(async () => {
    house = await House.open()
  })
  afterAll(async () => {
    await house.close()
  })

  it("leads an approver from the sign-in to an action, whose signature runs it", async () => {
    const operator = house.client("operator")
    const made = await operator.write("instrument.record", House.terms("elf"))
    const page = await house.signedIn("approver")
    await page.getByRole("heading", { name: "Approvals", level: 1 }).waitFor()
    await page.getByRole("link", { name: /elf/u }).first().click()
    await page.getByRole("button", { name: /^Sign/u }).first().click()
    await page.getByText(/Signed by all/u).waitFor()
    const { state } = await operator.done(made)
    expect(state).toBe("succeeded")
    expect(house.breaches).toEqual([])
  })

  it("keeps no token in the address, in the tab's storage or beyond it", async () => {
    const page = await house.signedIn("risk")
    const kept = await page.evaluate(`({
      href: location.href,
      tab: { ...sessionStorage },
      beyond: { ...localStorage },
      cookie: document.cookie
    })`)
    expect(kept).toEqual({
      href: `${house.venue.url}/console/holds`,
      tab: {},
      beyond: {},
      cookie: ""
    })
    expect(house.venue.logs.filter((line) => /eyJ|code=/u.test(line))).toEqual([])
  })

  it.each([
    ["a forged answer", "sign-in?code=forged&state=forged", "not begun in this tab"],
    ["an answer without a state", "sign-in?code=forged", "Sign in with"],
    [
      "a refusal of the provider",
      "sign-in?error=access_denied&state=forged",
      "not begun in this tab"
    ]
  ])("keeps nothing of %s, and says so", async (_, path, words) => {
    const page = await house.page({ path: `/console/${path}` })
    await page.getByRole("button", { name: /Sign in with/u }).waitFor({ timeout: 20_000 })
    expect(await page.locator("body").innerText()).toContain(words)
    expect(new URL(page.url()).search).toBe("")
  })

  it("returns to the page that was asked for, and nowhere else", async () => {
    const page = await house.signedIn("risk", { path: "/console/open-orders?state=ready" })
    await page.getByRole("heading", { name: "Open orders", level: 1 }).waitFor()
    expect(page.url()).toBe(`${house.venue.url}/console/open-orders?state=ready`)
    expect(
      await page.getByRole("button", { name: "ready", exact: true }).getAttribute("aria-pressed")
    ).toBe("true")
  })

  it("offers the monitor the feed and verdicts, and an investor no page", async () => {
    const monitor = await house.signedIn("monitor")
    await monitor.getByRole("heading", { name: "Live feed", level: 1 }).waitFor()
    expect(await monitor.locator("nav.pages a").allInnerTexts()).toEqual([
      "Reconciliation",
      "Live feed"
    ])
    await monitor.goto(`${house.venue.url}/console/`)
    const investor = await house.page()
    await investor.getByRole("button", { name: /Sign in with/u }).click()
    await investor
      .getByRole("button", { name: /Ines Investor/u })
      .first()
      .click()
    await investor.getByText(/This is the console of the venue's staff/u).waitFor()
    expect(await investor.locator("nav").count()).toBe(0)
  })

  it("runs a reconciliation from the page of verdicts, and shows each of its checks", async () => {
    const page = await house.signedIn("risk", { path: "/console/reconciliation" })
    await page.getByRole("button", { name: "Run all instruments now" }).click()
    await page.getByRole("link", { name: /^run_/u }).first().click()
    await page.getByRole("heading", { name: /^Reconciliation run/u, level: 1 }).waitFor()
    await page.getByRole("cell", { name: /^Register supply/u }).waitFor()
    expect(house.breaches).toEqual([])
  })

  it("pauses an instrument on its page, whose hold then says what it blocks and how it ends", async () => {
    const page = await house.signedIn("risk", { path: "/console/instruments/elf?tab=holds" })
    await page.getByRole("button", { name: "Instrument: pause", exact: true }).click()
    await page.getByLabel(/^Reason/u).fill("The register of yesterday was restated.")
    await page.getByRole("button", { name: /^Send/u }).click()
    await page.getByText(/The operation is/u).waitFor()
    await page.getByRole("button", { name: "Close", exact: true }).click()
    await page
      .getByRole("link", { name: /^hold_/u })
      .first()
      .click()
    await page.getByRole("heading", { name: /^Hold hold_/u, level: 1 }).waitFor()
    await page.getByText("The register of yesterday was restated.").waitFor()
    await page.getByText(/Two approvers sign it/u).waitFor()
    await page.getByRole("link", { name: "elf", exact: true }).first().click()
    await page
      .getByText(/^Paused since/u)
      .first()
      .waitFor()
    expect(house.breaches).toEqual([])
  })

  it("finds the audit log of a whole venue chained, and its own record there", async () => {
    const page = await house.signedIn("auditor", { path: "/console/audit-log" })
    await page.getByText(/recomputed here: records \d+ to \d+ are chained/u).waitFor()
    await House.visit(page, "venue")
    await page.getByRole("heading", { name: "Signing in", level: 2 }).waitFor()
    expect(house.breaches).toEqual([])
  })

  it("names the faults of a form at their fields, those that the service finds too", async () => {
    const page = await house.signedIn("operator", { path: "/console/holders" })
    await page.getByRole("button", { name: "Holder: register", exact: true }).click()
    await page.getByRole("button", { name: /^Send/u }).click()
    await page.getByText("Party is missing.").waitFor()
    await page.getByLabel(/^Holder id/u).fill("h-twice")
    await page.getByLabel(/^Party/u).fill("not a party")
    await page.getByRole("button", { name: /^Send/u }).click()
    await page.locator(".entry.wrong", { hasText: "Party" }).waitFor()
    expect(house.breaches).toEqual([])
  })

  it("is without a finding of axe, in light and dark, wide and narrow", async () => {
    const source = readFileSync(
      createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
      "utf8"
    )
    for (const [width, scheme] of [
      [1280, "light"],
      [320, "dark"]
    ] as const) {
      const page = await house.signedIn("approver", { width, scheme })
      for (const path of [
        "approvals",
        "instruments/elf",
        "open-orders",
        "operations",
        "events",
        "reconciliation",
        "subscriptions",
        "external-sources",
        "external-statements",
        "distribution-calendar",
        "distributions",
        "holders",
        "restrictions",
        "dealing-cycles",
        "reserves",
        "venue"
      ]) {
        await House.visit(page, path)
        await page.evaluate(source)
        const found = await page.evaluate(async () => {
          const { axe } = globalThis as unknown as {
            readonly axe: {
              run: (options: object) => Promise<{
                violations: ReadonlyArray<{ id: string; nodes: ReadonlyArray<{ html: string }> }>
              }>
            }
          }
          const { violations } = await axe.run({
            runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]
          })
          return violations.map(
            ({ id, nodes }) =>
              `${id}: ${nodes
                .map(({ html }) => html)
                .join(" ")
                .slice(0, 300)}`
          )
        })
        expect([path, width, found]).toEqual([path, width, []])
      }
      await page.context().close()
    }
  })

  it.runIf(pictures !== undefined)("is looked at", async () => {
    mkdirSync(pictures ?? "", { recursive: true })
    const operator = house.client("operator")
    for (const id of [
      "glf-1",
      "glf-2",
      "a-very-long-instrument-id-that-a-table-must-bear-without-breaking-its-columns-0123456789"
    ]) {
      await operator.write("instrument.record", House.terms(id))
    }
    await operator.write("policy.set", {
      instrumentId: "elf",
      minimumSubscription: "1000000.50",
      replaces: 1
    } as never)
    await operator
      .write("holder.register", {
        holderId: "h-1",
        party: "investor::1220cc",
        classification: "entity"
      } as never)
      .catch(console.error)
    await operator
      .write("webhook.register", {
        webhookId: "w-1",
        url: "https://receiver.example/bursar",
        events: ["reconciliation.hold"],
        secret: "whsec_ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJmqu8zd7v8="
      } as never)
      .catch(console.error)
    const paths = (
      process.env["BURSAR_PATHS"] ??
      "work,approvals,open-orders,instruments,instruments/elf,operations,events,audit-log"
    ).split(",")
    const action = await house
      .client("approver")
      .list("approvals.list", { where: { state: ["awaiting"] } as never })
    const one = (action.value[0] as { readonly actionKey: string } | undefined)?.actionKey
    for (const [width, scheme] of [
      [1280, "light"],
      [390, "light"],
      [1280, "dark"],
      [390, "dark"]
    ] as const) {
      const page = await house.signedIn("approver", {
        width,
        scheme,
        height: width === 390 ? 844 : 900
      })
      for (const path of [...paths, ...(one === undefined ? [] : [`approvals/${one}`])]) {
        await House.visit(page, path)
        if (width === 1280 && scheme === "light" && path.startsWith("approvals/")) {
          await page.screenshot({ path: join(root, "packages/http-host/docs/console-action.png") })
        }
        await page.screenshot({
          path: join(
            pictures ?? "",
            `${path.replaceAll("/", "_").slice(0, 40)}-${width}-${scheme}.png`
          ),
          fullPage: width !== 390
        })
      }
      await page.context().close()
    }
    expect(house.breaches).toEqual([])
  })
})
