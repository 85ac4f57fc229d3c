/** How pages stay current, without a browser: the feed, the cache of reads, and the session under them. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as fc from "fast-check"
import { afterEach, describe, expect, it, vi } from "vitest"
import { Vocabulary } from "@bursar/engine-core"
import * as Cache from "../../packages/http-host/console/src/reads/Cache.ts"
import * as Clock from "../../packages/http-host/console/src/reads/Clock.ts"
import * as Following from "../../packages/http-host/console/src/reads/Following.ts"
import * as Kinds from "../../packages/http-host/console/src/reads/Kinds.ts"
import * as Session from "../../packages/http-host/console/src/shell/Session.ts"
import * as SignIn from "../../packages/http-host/console/src/shell/SignIn.ts"
import * as Upgrade from "../../packages/http-host/console/src/shell/Upgrade.ts"
import * as Segments from "../../packages/http-host/console/src/words/Segments.ts"
import { type Document, tableOf } from "../../packages/http-host/scripts/console-interface.ts"
import { root } from "../architecture/sources.ts"

const document: Document = JSON.parse(
  readFileSync(join(root, "packages/http-host/openapi.json"), "utf8")
)
const table = tableOf(document)

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
  Session.end(null)
})

interface Event {
  readonly seq: number
  readonly kind: string
  readonly at: string | null
  readonly resourceKind: string
}

/** A feed as the interface has it: a cursor is bound to its filters, and `from` compares `at`. */
class FeedOfTest {
  readonly events: Array<Event> = []
  ask(query: Readonly<Record<string, unknown>>) {
    const from = String(query["from"])
    const [bound, place] = query["after"] === undefined ? [from, "0"] : cursorOf(query["after"])
    if (bound !== from) throw new Error("400: the cursor is of another query")
    const value = this.events
      .filter(({ at, seq }) => seq > Number(place) && (at ?? "") >= from)
      .slice(0, 3)
    return { value, next: `${from}|${value.at(-1)?.seq ?? place}` }
  }
}
const cursorOf = (after: unknown) => String(after).split("|")

describe("the feed", () => {
  const kinds = ["holder", "hold", "mint"] as const
  const step = fc.oneof(
    fc.record({ is: fc.constant("event"), kind: fc.constantFrom(...kinds), lag: fc.nat(60_000) }),
    fc.constant({ is: "fails" } as const),
    fc.constant({ is: "lost" } as const),
    fc.constant({ is: "answers" } as const)
  )

  it("marks stale what each event names, whatever fails between and however late the ledger tells of it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), fc.nat(8), async (steps, before) => {
        let now = Date.UTC(2026, 0, 1)
        const feed = new FeedOfTest()
        const commit = (resourceKind: string, lag: number) =>
          feed.events.push({
            seq: feed.events.length + 1,
            kind: lag === 0 ? "control" : "journal",
            at: new Date(now - lag).toISOString(),
            resourceKind
          })
        for (let count = 0; count < before; count += 1) commit("holder", 100_000)
        const stale = new Set<string>()
        const expected = new Set<string>()
        const waiting = [...steps]
        let isEnded = false
        let quiet = 0
        await Following.follow<Event>({
          ask: async (query, wait) => {
            now += 1_000
            const next = waiting.shift()
            if (next?.is === "fails") throw new Error("no answer")
            if (next?.is === "lost") throw new Error("410")
            if (next?.is === "event") {
              commit(next.kind, next.lag)
              expected.add(next.kind)
            }
            const page = feed.ask(query)
            if (next === undefined && page.value.length === 0) quiet += 1
            isEnded = quiet > 1
            return { hasWaited: wait, page }
          },
          now: () => now,
          isEnded: () => isEnded,
          pace: () => "wait",
          pause: () => Promise.resolve(),
          take: () => undefined,
          markStale: (all) => all.forEach((kind) => stale.add(kind)),
          readAnew: () => kinds.forEach((kind) => stale.add(kind)),
          live: () => undefined,
          away: () => undefined,
          againAfter: (error) => (String(error).includes("4") ? null : 1)
        })
        expect([...expected].filter((kind) => !stale.has(kind))).toEqual([])
      }),
      { seed: 7, numRuns: 300 }
    )
  })

  it.each(Object.keys(table.reads))("makes %s stale by kinds that events have", (name) => {
    const all = Kinds.kindsOf(name)
    expect(all.length).toBeGreaterThan(0)
    const words: ReadonlyArray<string> = ["*", ...Vocabulary.ResourceKind.members]
    expect(all.filter((kind) => !words.includes(kind))).toEqual([])
  })
})

describe("a page", () => {
  it("names no kinds of its own for the read of a record, by which it would stay stale", () => {
    const source = join(import.meta.dirname, "../../packages/http-host/console/src")
    const pages = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".tsx")
    )
    expect(pages.length).toBeGreaterThan(30)
    const narrowed = pages.filter((file) =>
      /valueRead\([^]{0,200}?\),\s+kinds: \["(?!\*)/u.test(readFileSync(join(source, file), "utf8"))
    )
    expect(narrowed).toEqual([])
  })
})

describe("a read on the screen", () => {
  let count = 0
  /** A read whose answers come when the test says so. */
  const held = (kinds: ReadonlyArray<string>) => {
    const answers: Array<(value: string) => void> = []
    const read: Cache.Read<string> = {
      key: ["held", (count += 1)],
      kinds,
      load: () => new Promise((resolve) => answers.push(resolve))
    }
    return { answers, read }
  }

  it("is read once more where an event came before its first answer", async () => {
    const { answers, read } = held(["hold"])
    let shown: string | undefined
    const leave = Cache.watch(read, ({ value }) => (shown = value))
    await expect.poll(() => answers.length).toBe(1)
    Cache.markStale(new Set(["hold"]))
    Cache.markStale(new Set(["mint"]))
    answers[0]?.("of before")
    await expect.poll(() => answers.length).toBe(2)
    answers[1]?.("of after")
    await expect.poll(() => shown).toBe("of after")
    leave()
    expect(answers.length).toBe(2)
  })

  it("of a point of the past is never read anew", async () => {
    const { answers, read } = held([])
    const leave = Cache.watch(read, () => undefined)
    await expect.poll(() => answers.length).toBe(1)
    answers[0]?.("past")
    await Promise.resolve()
    Cache.readAnew()
    const { answers: others, read: other } = held(["*"])
    const leaveOther = Cache.watch(other, () => undefined)
    await expect.poll(() => others.length).toBe(1)
    expect(answers.length).toBe(1)
    leave()
    leaveOther()
  })
})

const encoded = (claims: object): string => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
  return `${part({ alg: "ES256" })}.${part(claims)}.sig`
}

describe("the session", () => {
  const issuer = "https://issuer.test"
  const tenant = {
    tenantId: "v",
    displayName: "Venue",
    signIn: { issuer, audience: "urn:venue", clientId: "venue-web", scopes: ["openid"] }
  }
  const settings = { tenantId: "v", version: "0", roles: "/roles", roleNames: null }
  const tokenOf = (sub: string, more: object = {}) =>
    encoded({ sub, roles: ["operator"], aud: "urn:venue", exp: 4_000_000_000, ...more })
  const begin = (sub = "olga", refresh: string | null = "refresh-1") =>
    Session.start({ tenant, settings, tokens: { access: tokenOf(sub), refresh } })

  /** A provider whose token endpoint answers when, and what, the test says. */
  const provider = (answer: () => Response | Promise<Response>) => {
    const fetching = vi.fn(async (input: string | URL | Request) => {
      const url = input instanceof Request ? input.url : String(input)
      return url.includes(".well-known")
        ? Response.json({
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`
          })
        : answer()
    })
    vi.stubGlobal("fetch", fetching)
    return fetching
  }
  const tokens = (sub: string) =>
    Response.json({ access_token: tokenOf(sub), token_type: "bearer", refresh_token: "refresh-2" })

  it("stays ended where a renewal was in flight, be it answered or refused", async () => {
    for (const answer of [
      tokens("olga"),
      Response.json({ error: "invalid_grant" }, { status: 400 })
    ]) {
      let give: (response: Response) => void = () => undefined
      const calls = vi.fn()
      provider(() => {
        calls()
        return new Promise((resolve) => (give = resolve))
      })
      begin()
      const renewal = Session.renew()
      await expect.poll(() => calls.mock.calls.length).toBe(1)
      Session.end("You are signed out of the console.")
      give(answer)
      expect(await renewal).toBe(false)
      expect(Session.person.value).toBeNull()
      expect(Session.needsPerson.value).toBe(false)
      expect(Session.notice.value).toBe("You are signed out of the console.")
      expect(() => Session.authorization()).toThrow("Nobody is signed in")
    }
  })

  it.each([
    ["the network", () => Promise.reject(new TypeError("Failed to fetch"))],
    ["a 503 of the provider", () => new Response("busy", { status: 503 })],
    [
      "an error of the provider's server",
      () => Response.json({ error: "server_error" }, { status: 500 })
    ],
    ["a 429 of the provider", () => new Response("slowly", { status: 429 })]
  ])("is not ended by a renewal that %s breaks", async (_, answer) => {
    const fetching = provider(answer)
    begin()
    expect(await Session.renew()).toBe(false)
    expect(Session.needsPerson.value).toBe(false)
    fetching.mockImplementation(provider(() => tokens("olga")).getMockImplementation() as never)
    expect(await Session.renew()).toBe(true)
    expect(Session.person.value?.sub).toBe("olga")
  })

  it("asks the person where the provider refuses to renew", async () => {
    provider(() => Response.json({ error: "invalid_grant" }, { status: 400 }))
    begin()
    expect(await Session.renew()).toBe(false)
    expect(Session.needsPerson.value).toBe(true)
    expect(Session.person.value?.sub).toBe("olga")
  })

  it("drops what it has read for another person, and keeps it for the same", () => {
    const drop = vi.fn()
    Session.onEnd(drop)
    begin("olga")
    begin("olga")
    expect(drop).not.toHaveBeenCalled()
    begin("anna")
    expect(drop).toHaveBeenCalledTimes(1)
    expect(Session.person.value?.sub).toBe("anna")
  })

  it("takes no token for another service", () => {
    expect(() =>
      Session.start({
        tenant,
        settings,
        tokens: { access: tokenOf("olga", { aud: ["urn:other"] }), refresh: null }
      })
    ).toThrow("for another service")
    expect(Session.person.value).toBeNull()
  })

  it("renews by the venue's clock, whatever this machine's says", async () => {
    const hour = 3_600_000
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1, 12) })
    for (const off of [-hour, 0, hour]) {
      Clock.note({ headers: new Headers({ date: new Date(Date.now() + off).toUTCString() }) })
      expect(Clock.isWrong()).toBe(off !== 0)
      const renewal = provider(() => tokens("olga"))
      const end = (Date.now() + off + hour) / 1000
      Session.start({
        tenant,
        settings,
        tokens: { access: tokenOf("olga", { exp: end }), refresh: "refresh-1" }
      })
      await vi.advanceTimersByTimeAsync(hour - 120_000)
      expect(renewal).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(70_000)
      expect(renewal).toHaveBeenCalled()
      Session.end(null)
    }
    Clock.note({ headers: new Headers({ date: new Date().toUTCString() }) })
  })

  it("renews no token at once that lasts longer than a timer of the platform", async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) })
    const renewal = provider(() => tokens("olga"))
    begin()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(renewal).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBeGreaterThan(0)
  })

  it("says what a failed sign-in is, and takes no busy provider for a refusal", () => {
    const busy = SignIn.failureOf(new TypeError("Failed to fetch"))
    expect(busy).toBeInstanceOf(SignIn.NotReached)
    expect(SignIn.sentenceOf(busy)).toMatch(/not reached.*sign in again/u)
  })
})

describe("an address", () => {
  it("has one segment for each id, whatever its letters", () => {
    const base = "https://venue.test/v1/holders/"
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "binary" }), (id) => {
        if (/^\.{0,2}$/u.test(id) || !id.isWellFormed()) return
        const { host, pathname, search } = new URL(base + Segments.segmentOf(id))
        expect([host, search, pathname.split("/").length]).toEqual(["venue.test", "", 4])
        expect(decodeURIComponent(pathname.slice("/v1/holders/".length))).toBe(id)
      }),
      { examples: [["javascript:alert(1)"], ["../../v1/approvals"], ["a%2Fb"], ["a/b?c#d"]] }
    )
    for (const id of ["", ".", ".."]) expect(() => Segments.segmentOf(id)).toThrow("no id")
  })
})

describe("a file that is missing after an upgrade", () => {
  it.each([
    ["Failed to fetch dynamically imported module: https://venue.test/x.js", true],
    ["error loading dynamically imported module: https://venue.test/x.js", true],
    ["Importing a module script failed.", true],
    ["Failed to fetch", false]
  ])("is told by %s, or not", (message, is) => {
    expect(Upgrade.isMissingFile(new TypeError(message))).toBe(is)
  })

  it("reloads the page once, and once more after a page was loaded", () => {
    const marks = new Map<string, string>()
    const storage = {
      getItem: (name: string) => marks.get(name) ?? null,
      setItem: (name: string, value: string) => void marks.set(name, value),
      removeItem: (name: string) => void marks.delete(name)
    }
    expect(Upgrade.isFirst(storage)).toBe(true)
    Upgrade.mark(storage)
    expect(Upgrade.isFirst(storage)).toBe(false)
    Upgrade.clear(storage)
    expect(Upgrade.isFirst(storage)).toBe(true)
  })
})
