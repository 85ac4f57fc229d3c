/**
 * Own records (security test 1): whatever route it takes, an investor of one holder never reads another's.
 *
 * Each switched off in a copy and seen red: the own holder in `demand` of Sight.ts (another's by its
 * id), in `scope` (lists, a place that is another's, no holder in the sign-in) and in `scopeNaming`
 * (filters); what a cursor is bound to, in Cursor.ts (a place that is another's).
 */
import { Catalogue, type Read } from "@bursar/engine-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  bearer,
  json,
  type Listed,
  open,
  type Problem,
  send,
  slugOf,
  type Venue
} from "../venue.ts"
import {
  cycleId,
  distributionId,
  holderIds,
  instrumentId,
  lineIds,
  move,
  orderIds,
  standingSettlementId
} from "./two-holders.ts"

/**
 * Ids of each parameter of a path: of holder a, of holder b, and one that never existed. A path
 * with a new parameter fails until its ids are added.
 */
const ids: Readonly<Record<string, Readonly<Record<"a" | "b" | "never", string>>>> = {
  holderId: { ...holderIds, never: "holder-zzzz" },
  subscriptionId: { a: orderIds.a[0], b: orderIds.b[0], never: "order-zz" },
  // Each holder's redemptions bear the names of its subscriptions.
  redemptionId: { a: orderIds.a[0], b: orderIds.b[0], never: "order-zz" },
  instrumentId: { a: instrumentId, b: instrumentId, never: "fund-z" },
  cycleId: { a: cycleId, b: cycleId, never: "cycle-z" },
  // One distribution has a line of each.
  distributionId: { a: distributionId, b: distributionId, never: "d-zz" },
  lineId: { a: lineIds.a, b: lineIds.b, never: `${distributionId}.9` },
  year: { a: "2026", b: "2026", never: "2026" },
  standingSettlementId: { a: standingSettlementId, b: standingSettlementId, never: "standing-z" }
}

/**
 * Lists whose rows do not name a holder, or of which the story leaves none: that an investor sees its
 * own is said where they are tested, in register.test.ts, dealing-cycles.test.ts and distributions.test.ts of this folder's
 * parent, in operations/standing.spec.ts and operations/distribution-calendar.spec.ts.
 */
const unnamed = [
  "holders.movements",
  "holders.statements",
  "dealing-cycles.list",
  "standing-settlements.list",
  "distributions.list",
  "distribution-calendar.list"
]
const pathOf = (read: Read.Read, whose: "a" | "b" | "never") =>
  read.route.slice("GET ".length).replaceAll(/\{([A-Za-z]+)\}/g, (_, name: string) => {
    const id = ids[name]?.[whose]
    if (id === undefined) throw new Error(`this test knows no ${name}`)
    return id
  })

/**
 * Parameters of a query that a read requires, so that the caller's right alone decides the answer.
 */
const requiredQuery: Readonly<Record<string, string>> = {
  "instruments.precheck": "&act=subscription.claim&amount=1"
}

const own = Catalogue.queries.filter(({ audience }) => audience.investor === "own")
const named = own.filter(({ route }) =>
  /\{(holderId|subscriptionId|redemptionId|lineId)\}/.test(route)
)
const lists = own.filter(({ shape }) => shape === "list")
const filtered = own.filter(({ params, route }) => {
  const fields: object =
    "fields" in params && typeof params.fields === "object" ? (params.fields ?? {}) : {}
  return "holderId" in fields && !route.includes("{holderId}")
})

describe("an investor of one holder", () => {
  let venue: Venue
  let investor = ""
  let other = ""
  let operator = ""
  beforeAll(async () => {
    venue = await open({ tables: Catalogue })
    const collections = await move(venue)
    expect(collections).toContain("subscription")
    investor = await bearer(["investor"], { holder: holderIds.a, sub: "ines" })
    other = await bearer(["investor"], { holder: holderIds.b, sub: "ivan" })
    operator = await bearer(["operator"])
  })
  afterAll(() => venue.close())

  const ask = (path: string, as = investor) => send(venue, { path, as })
  const withoutRequestId = async (answer: Response) => {
    const { requestId: _, ...rest } = await json<Problem>(answer)
    return { status: answer.status, rest }
  }

  it("and the routes of this test are those whose declarations say own", () => {
    expect(named.length).toBeGreaterThan(2)
    expect(lists.length).toBeGreaterThan(2)
    expect(filtered.map(({ name }) => name)).toContain("subscriptions.list")
  })

  it.each(named.map((read) => [read.name, read] as const))(
    "asks %s for another's and is told what one is told of what never was",
    async (_, read) => {
      expect((await ask(pathOf(read, "a"))).status).toBe(200)
      expect((await ask(pathOf(read, "b"), operator)).status).toBe(200)
      const theirs = await withoutRequestId(await ask(pathOf(read, "b")))
      expect(theirs).toEqual(await withoutRequestId(await ask(pathOf(read, "never"))))
      expect(theirs.status).toBe(404)
      // At a point that cannot be answered it learns no more.
      expect(await withoutRequestId(await ask(`${pathOf(read, "b")}?at=999`))).toEqual(
        await withoutRequestId(await ask(`${pathOf(read, "never")}?at=999`))
      )
    }
  )

  it.each(lists.map((read) => [read.name, read] as const))(
    "lists %s, in pages and in streams, without a word of another's",
    async (_, read) => {
      for (const query of ["", "?limit=1000", "?limit=1"]) {
        const answer = await ask(`${pathOf(read, "a")}${query}`)
        const text = await answer.text()
        expect([answer.status, query]).toEqual([200, query])
        for (const theirs of [holderIds.b, ...orderIds.b, "holder-b::"]) {
          expect(text).not.toContain(theirs)
        }
        if (!unnamed.includes(read.name)) expect(text).toContain(holderIds.a)
      }
      if (unnamed.includes(read.name)) return
      const all = await (await ask(pathOf(read, "a"), operator)).text()
      if (!read.route.includes("{")) expect(all).toContain(holderIds.b)
    }
  )

  it.each(filtered.map((read) => [read.name, read] as const))(
    "names another in a filter of %s and is denied, alone or beside itself",
    async (_, read) => {
      const [path, rest] = [pathOf(read, "a"), requiredQuery[read.name] ?? ""]
      const theirs = await withoutRequestId(await ask(`${path}?holderId=${holderIds.b}${rest}`))
      // A list denies another's name; what is judged for one holder knows nobody of another's name.
      const never = await withoutRequestId(
        await ask(`${path}?holderId=${ids["holderId"]?.never ?? ""}${rest}`)
      )
      expect(theirs).toEqual(never)
      expect(theirs.status).toBe(read.shape === "list" ? 403 : 404)
      const both = await ask(`${path}?holderId=${holderIds.a}&holderId=${holderIds.b}${rest}`)
      expect([400, 403]).toContain(both.status)
      expect((await ask(`${path}?holderId=${holderIds.a}${rest}`)).status).toBe(200)
    }
  )

  it("goes on from nobody's place but its own", async () => {
    const first = async (as: string) =>
      (await json<Listed>(await ask("/v1/subscriptions?limit=1", as))).next ?? ""
    const next = (after: string) => ask(`/v1/subscriptions?limit=1&after=${after}`)
    for (const theirs of [await first(other), await first(operator)]) {
      const answer = await next(theirs)
      expect([answer.status, await slugOf(answer)]).toEqual([400, "invalid-request"])
    }
    const mine = await json<Listed>(await next(await first(investor)))
    expect(mine.value.map(({ subscriptionId }) => subscriptionId)).toEqual([orderIds.a[1]])
  })

  it("reads no operation and no approval, nor the feed", async () => {
    for (const path of [
      "/v1/operations",
      "/v1/operations/op_1",
      "/v1/approvals",
      "/v1/approvals/ak_1",
      "/v1/events"
    ]) {
      expect([path, (await ask(path)).status]).toEqual([path, 403])
    }
  })

  it("without a holder in its sign-in reads none", async () => {
    const nobody = await bearer(["investor"])
    for (const read of own) {
      const rest = requiredQuery[read.name]?.replace("&", `?holderId=${holderIds.a}&`) ?? ""
      const { status } = await ask(`${pathOf(read, "a")}${rest}`, nobody)
      expect([read.name, status === 403 || status === 404]).toEqual([read.name, true])
    }
  })
})
