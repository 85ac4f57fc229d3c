/**
 * A whole venue with its console, for tests in a browser: the demo's identity provider as a program of its
 * own, the venue on its ledger with wallets, and people who sign in on pages.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Host from "@bursar/http-host"
import * as PlainClient from "@bursar/http-host/plain-client"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { chromium } from "playwright-core"
import { expect } from "vitest"
import { audience, people } from "#host/demo/People.ts"
import { buildIfStale } from "../../packages/http-host/scripts/console.ts"
import { root } from "../architecture/sources.ts"
import * as Wallets from "../http/wallets.ts"
import { browser } from "../package/browser/headless.ts"

export type PersonName = keyof typeof people

interface Provider {
  readonly issuer: string
  readonly tokens: string
  readonly keys: string
}

/** What a page did that it must not: it is judged when the house is closed. */
export interface Breach {
  readonly what: "policy" | "elsewhere" | "error"
  readonly text: string
}

export interface House {
  readonly venue: Wallets.WholeVenue
  readonly provider: Provider
  readonly browser: Browser
  readonly breaches: ReadonlyArray<Breach>
  /** The plain client of a person, outside of any page. */
  readonly client: (name: PersonName) => PlainClient.Client
  /** A window of its own for a person who signs in, on a page of the console. */
  readonly signedIn: (name: PersonName, options?: PageOptions) => Promise<Page>
  readonly page: (options?: PageOptions) => Promise<Page>
  readonly close: () => Promise<void>
}

interface PageOptions {
  readonly path?: string
  readonly width?: number
  readonly height?: number
  readonly scheme?: "light" | "dark"
}

const startProvider = (folder: string): Promise<{ child: ChildProcess; provider: Provider }> =>
  new Promise((resolve, reject) => {
    const program = join(root, "packages/http-host/src/demo/identity.ts")
    const child = spawn(process.execPath, [program, "--port", "0", "--data", folder], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    child.stdout?.once("data", (line: Buffer) =>
      resolve({ child, provider: JSON.parse(line.toString()) as Provider })
    )
    child.once("exit", (code) => reject(new Error(`the provider ended with ${code}`)))
  })

/** Milliseconds between two looks of the venue for what it has to do. */
const settleEvery = 100

export const open = async (): Promise<House> => {
  await buildIfStale()
  const folder = mkdtempSync(join(tmpdir(), "console-"))
  const { child, provider } = await startProvider(folder)
  const venue = await Wallets.open({
    console: { origins: [], roles: "/roles", roleNames: null },
    trust: {
      issuer: provider.issuer,
      audience,
      jwks: Host.Jwks.layerRemote(Host.Jwks.fetchFrom(new URL(provider.keys)))
    }
  })
  const settling = setInterval(() => void venue.settle(), settleEvery)
  const started = await chromium.launch({
    executablePath: browser ?? "",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
  })
  const { secrets } = JSON.parse(readFileSync(join(folder, "identity.json"), "utf8")) as {
    readonly secrets: Readonly<Record<string, string>>
  }
  const tokens = new Map<PersonName, Promise<string>>()
  const takeToken = async (name: PersonName): Promise<string> => {
    const { sub } = people[name]
    const basic = Buffer.from(`${sub}:${secrets[sub]}`).toString("base64")
    const answer = await fetch(provider.tokens, {
      method: "POST",
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ grant_type: "client_credentials" })
    })
    return `Bearer ${((await answer.json()) as { readonly access_token: string }).access_token}`
  }
  const tokenOf = (name: PersonName): Promise<string> => {
    const token = tokens.get(name) ?? takeToken(name)
    tokens.set(name, token)
    return token
  }
  const breaches: Array<Breach> = []
  const contexts: Array<BrowserContext> = []
  const origins = new Set([venue.url, new URL(provider.issuer).origin])
  const page = async ({
    height = 900,
    path = "/console/",
    scheme = "light",
    width = 1280
  }: PageOptions = {}) => {
    const context = await started.newContext({ viewport: { width, height }, colorScheme: scheme })
    contexts.push(context)
    const made = await context.newPage()
    made.on("request", (request) => {
      const { origin, protocol } = new URL(request.url())
      if (protocol !== "data:" && !origins.has(origin)) {
        breaches.push({ what: "elsewhere", text: request.url() })
      }
    })
    made.on("console", (message) => {
      if (/Content Security Policy|TrustedHTML|TrustedScript/u.test(message.text())) {
        breaches.push({ what: "policy", text: message.text() })
      }
    })
    made.on("pageerror", (error) => breaches.push({ what: "error", text: String(error.stack) }))
    await made.goto(venue.url + path)
    return made
  }
  return {
    venue,
    provider,
    browser: started,
    breaches,
    client: (name) => PlainClient.make({ baseUrl: venue.url, authorization: () => tokenOf(name) }),
    page,
    signedIn: async (name, options) => {
      const made = await page(options)
      await made.getByRole("button", { name: /Sign in with/u }).click()
      await made.getByRole("button", { name: people[name].name }).first().click()
      await made.getByText(people[name].name, { exact: true }).first().waitFor()
      return made
    },
    close: async () => {
      clearInterval(settling)
      await Promise.all(contexts.map((context) => context.close()))
      await started.close()
      await venue.close()
      child.kill("SIGTERM")
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** Goes to a page as a link does: a reload would end the session. */
export const visit = async (page: Page, path: string): Promise<void> => {
  // A text: the page's own types are not those of this program.
  await page.evaluate(`(() => {
    const link = document.createElement("a")
    link.href = ${JSON.stringify(`/console/${path}`)}
    document.body.append(link)
    link.click()
    link.remove()
  })()`)
  await page.waitForURL((url) => url.href.endsWith(`/console/${path}`))
  await page.locator("main h1").waitFor()
  await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0)
}

/** Terms of a fund that an operator records. */
export const terms = (instrumentId: string) =>
  ({
    instrumentId,
    registrar: "registrar::1220aa",
    oracle: "oracle::1220bb",
    valuation: "accumulating",
    currency: "USD",
    unitDecimals: 6,
    holderCap: 100,
    distribution: { schedule: "none", withholding: "0.15", payoutDecimals: 2, payout: "units" },
    cutOff: { time: "16:00", days: ["monday", "tuesday"], zone: "America/New_York" },
    pricing: "historic",
    fees: { subscription: "0.0025", redemption: "0" },
    residual: "refund",
    legalName: `Example Liquidity Fund ${instrumentId}`
  }) as const

let axe: string | undefined

/** Findings of axe on a page as it is now, by WCAG 2.2 AA, each with the markup that it is of. */
export const axeFindings = async (page: Page): Promise<ReadonlyArray<string>> => {
  axe ??= readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
  // Run by the debugger: the policy of the page refuses an added script.
  await page.evaluate(axe)
  return page.evaluate(async () => {
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
}
