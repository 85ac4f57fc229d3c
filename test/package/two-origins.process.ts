/**
 * Clients on pages of a real browser, of another origin than the venue's: they work as they are where the
 * deployment lists the page's origin, and nowhere else. Without a browser on this machine,
 * `other-origin.test.ts` alone plays the leave that a browser asks.
 *
 * Seen red: with the propagation of Effect's tracing on, which adds `b3` to every call.
 */
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { root } from "../architecture/sources.ts"
import * as Toy from "../http/venue.ts"
import * as Wallets from "../http/wallets.ts"
import { bundle } from "./browser/bundle.ts"
import { browser, pageServer, type PageServer } from "./browser/headless.ts"
import { visited } from "./browser/visited.ts"

let listed: PageServer
let elsewhere: PageServer

beforeAll(async () => {
  listed = await pageServer()
  elsewhere = await pageServer()
})
afterAll(async () => {
  await listed.close()
  await elsewhere.close()
})

/** A page's program with the call of its function. */
const program = async (file: string, baseUrl: string): Promise<string> => {
  const path = JSON.stringify(join(root, "test/package/browser", file))
  const { code } = await bundle(`export { visit } from ${path}`)
  const maker = await Toy.bearer(["operator"])
  const approver = await Toy.bearer(["approver"])
  return `(() => { ${code}; return program.visit(${JSON.stringify({ baseUrl, maker, approver })}) })()`
}

/** Runs what a venue has to do while a page calls it. */
const working = async <A>(venue: Toy.Venue, visit: () => Promise<A>): Promise<A> => {
  const runner = setInterval(() => void venue.settle(), 50)
  try {
    return await visit()
  } finally {
    clearInterval(runner)
    await venue.close()
  }
}

describe.skipIf(browser === undefined)("a page in a browser (chromium)", () => {
  it("calls a venue of another origin by the plain client", async () => {
    const venue = await Wallets.open({ origins: [listed.origin] })
    await working(venue, async () => {
      const page = await program("plain-page.ts", venue.url)
      expect(await elsewhere.play(page)).toEqual({
        error: "NoAnswer: POST /v1/instruments has no answer"
      })
      expect(await listed.play(page)).toEqual(visited)
    })
  })

  it("calls a venue of another origin by the client for Effect", async () => {
    const venue = await Toy.open({ origins: [listed.origin] })
    await working(venue, async () => {
      const page = await program("page.ts", venue.url)
      expect(await listed.play(page)).toMatchObject({
        ended: "succeeded",
        amount: ["9999999999999999999999999999.0000000001"],
        events: true
      })
    })
  })
})
