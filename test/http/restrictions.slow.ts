/**
 * Restrictions over HTTP: set by one person at once, lifted by two, read by the roles with the
 * right to.
 */
import { Workers } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as People from "./people.ts"
import {
  calls,
  checkOf,
  closes,
  envelope,
  events,
  faults,
  idsOf,
  joins,
  lifting,
  lifts,
  listed,
  one,
  opens,
  order,
  pledged,
  restricts,
  type Row,
  venue
} from "./restricting.ts"
import * as Venue from "./venue.ts"
import { until } from "../waiting.ts"

beforeAll(() => opens())
afterAll(() => closes())

describe("holder.restrict", () => {
  it("never is done by others than those who may, or waits for anybody", async () => {
    const holderId = await joins()
    for (const role of ["approver", "auditor", "investor", "app", "registrar", "monitor"]) {
      const refused = await calls(`/v1/holders/${holderId}:restrict`, pledged, role)
      expect([role, refused.status]).toEqual([role, 403])
    }
    expect(await listed(`holderId=${holderId}`)).toEqual([])
    for (const role of ["operator", "risk", "compliance"]) {
      const made = await calls(`/v1/holders/${holderId}:restrict`, pledged, role)
      expect(made.status).toBe(202)
      expect(await Venue.json<Row>(made)).toMatchObject({ state: "queued", actionKey: null })
    }
    await venue().settle()
    const all = await listed(`holderId=${holderId}`)
    expect(all.map(({ by, state }) => [by, state])).toEqual([
      ["operator-1", "active"],
      ["risk-1", "active"],
      ["compliance-1", "active"]
    ])
  })

  it("never keeps less than it was told, or tells the feed more than that an order is cited", async () => {
    const holderId = await joins()
    const made = await restricts(holderId, {
      restrictionId: "z-court",
      instrumentId: "fund-a",
      mode: "receive-only",
      reason: "court-order",
      order
    })
    expect(made).toMatchObject({
      restrictionId: "z-court",
      holderId,
      instrumentId: "fund-a",
      mode: "receive-only",
      reason: "court-order",
      order,
      state: "active",
      by: "compliance-1",
      autoReleaseAt: null,
      liftedBy: null,
      liftReason: null,
      endedAt: null,
      supersedes: null,
      version: 1,
      waitingOn: []
    })
    // In force from the call's own now; the record is of when that was written.
    expect(String(made["from"]) <= String(made["createdAt"])).toBe(true)
    expect(await one("z-court")).toMatchObject(made)
    const [event, ...more] = await events("holder.restricted", holderId)
    expect(more).toEqual([])
    expect(event).toMatchObject({ resourceKind: "holder", resourceId: holderId })
    expect(event?.["payload"]).toEqual({
      mode: "receive-only",
      reason: "court-order",
      holderId,
      orderCited: true,
      operationId: made["operationId"],
      autoReleaseAt: null,
      restrictionId: "z-court"
    })
    const feeds = await Promise.all(
      ["/v1/events?limit=200", "/v1/audit-log?limit=200"].map((path) =>
        venue().read(path, "operator")
      )
    )
    for (const { text } of feeds) expect(text.includes("z-court")).toBe(true)
    const said = [...feeds.map(({ text }) => text), ...venue().logs].join()
    for (const secret of Object.values(order)) expect(said.includes(secret)).toBe(false)
    expect(venue().logs.length).toBeGreaterThan(0)
  })

  it.each<[what: string, body: object, pointer: string]>([
    ["an unknown mode", { mode: "frozen" }, "/body/mode"],
    ["an unknown reason", { reason: "sanction" }, "/body/reason"],
    ["no mode", { mode: undefined }, "/body/mode"],
    [
      "an end, though a list names it",
      { reason: "sanctions", autoReleaseAt: "2100-01-01T00:00:00Z" },
      "/body/autoReleaseAt"
    ],
    [
      "an end, though a court says so",
      { reason: "court-order", order, autoReleaseAt: "2100-01-01T00:00:00Z" },
      "/body/autoReleaseAt"
    ],
    ["a court's order that is not cited", { reason: "court-order" }, "/body/order"],
    ["an order of nobody", { order: { ...order, authority: "" } }, "/body/order/authority"],
    [
      "an order of a name too long",
      { order: { ...order, authority: "x".repeat(201) } },
      "/body/order/authority"
    ],
    [
      "an order of a number too long",
      { order: { ...order, reference: "x".repeat(201) } },
      "/body/order/reference"
    ],
    [
      "a digest that is none",
      { order: { ...order, documentHash: "c0ffee" } },
      "/body/order/documentHash"
    ],
    ["a member there is not", { state: "lifted" }, "/body/state"],
    ["an id that a carried one might have", { restrictionId: "a~b" }, "/body/restrictionId"],
    ["an id too long to number", { restrictionId: "a".repeat(59) }, "/body/restrictionId"]
  ])("takes %s", async (_, body, pointer) => {
    const answer = calls("/v1/holders/somebody:restrict", { ...pledged, ...body })
    expect(await faults(answer)).toEqual([400, pointer])
  })

  it("never takes an end that has passed, a holder or an instrument there is not, or an id twice", async () => {
    const holderId = await joins()
    const path = `/v1/holders/${holderId}:restrict`
    const past = await venue().write(path, { ...pledged, autoReleaseAt: "2026-01-01T00:00:00Z" })
    expect(checkOf(past)).toEqual(["rule-refused", "policy", "auto-release-at"])
    expect(checkOf(await venue().write("/v1/holders/nobody:restrict", pledged))[0]).toBe(
      "not-found"
    )
    const nothing = await venue().write(path, { ...pledged, instrumentId: "fund-z" })
    expect(checkOf(nothing)[0]).toBe("not-found")
    await restricts(holderId, { ...pledged, restrictionId: "twice-1" })
    const twice = await venue().write(path, { ...pledged, restrictionId: "twice-1" })
    expect(checkOf(twice)[0]).toBe("already-exists")
    expect(await idsOf(`holderId=${holderId}`)).toEqual(["twice-1"])
  })

  it("never restricts a holder that has ended, or a holder ends that is restricted", async () => {
    const holderId = await joins()
    const { restrictionId } = await restricts(holderId, { ...pledged, mode: "receive-only" })
    const closing = `/v1/holders/${holderId}:close`
    const kept = await venue().write(closing, {})
    expect(checkOf(kept)).toEqual(["rule-refused", "restriction", "no-restriction"])
    await lifts(restrictionId)
    expect(await venue().write(closing, {})).toMatchObject({ state: "succeeded" })
    const late = await venue().write(`/v1/holders/${holderId}:restrict`, pledged)
    expect(checkOf(late)).toEqual(["state-conflict", null, "HolderState"])
  })
})

describe("restriction.lift", () => {
  const as = (sub: string, ...roles: ReadonlyArray<string>) => Venue.bearer(roles, { sub })
  const made = async (id: string) =>
    People.actionOf(
      await People.write(venue(), {
        path: lifting(id),
        as: await as("olga", "operator", "approver"),
        body: `{"reason":"paid back"}`
      })
    )
  const signs = async (action: string, sub: string, ...roles: ReadonlyArray<string>) => {
    const by = await as(sub, ...roles)
    const { status, slug, written } = await People.decide(venue(), {
      verb: "approve",
      action,
      as: by
    })
    await venue().settle()
    return [status, slug ?? written?.signedBy]
  }

  it("never is signed by its maker, by one person twice, or by an auditor", async () => {
    const { restrictionId } = await restricts(await joins())
    const action = await made(restrictionId)
    const signed = [
      await signs(action, "olga", "operator", "approver"),
      await signs(action, "ada", "approver"),
      await signs(action, "ada", "approver"),
      await signs(action, "aud", "auditor", "approver")
    ]
    expect(signed).toEqual([
      [403, "same-approver"],
      [202, ["ada"]],
      [200, ["ada"]],
      [403, "auditor-never-approves"]
    ])
    expect(await one(restrictionId)).toMatchObject({
      state: "active",
      version: 1,
      liftedBy: null,
      waitingOn: [{ role: "approver", actionKey: action }]
    })
    expect(await signs(action, "bea", "approver")).toEqual([202, ["ada", "bea"]])
    expect(await one(restrictionId)).toMatchObject({
      state: "lifted",
      version: 2,
      liftedBy: ["ada", "bea"],
      liftReason: "paid back"
    })
  })

  it("never is made by others than those who may, says not why, or lifts what is lifted", async () => {
    const holderId = await joins()
    const { restrictionId } = await restricts(holderId)
    for (const role of ["approver", "risk", "auditor", "investor", "app", "registrar"]) {
      const refused = await calls(lifting(restrictionId), { reason: "paid back" }, role)
      expect([role, refused.status]).toEqual([role, 403])
    }
    expect(await faults(calls(lifting(restrictionId), {}))).toEqual([400, "/body/reason"])
    expect(await faults(calls(lifting(restrictionId), { reason: "" }))).toEqual([
      400,
      "/body/reason"
    ])
    expect((await calls(lifting("nothing-1"), { reason: "paid back" })).status).toBe(404)
    const [first, second] = [
      await made(restrictionId),
      await calls(lifting(restrictionId), { reason: "other" }, "compliance")
    ]
    const { actionKey } = await Venue.json<{ readonly actionKey: string }>(second)
    for (const sub of ["ada", "bea"]) await signs(first, sub, "approver")
    expect(await one(restrictionId)).toMatchObject({ state: "lifted" })
    await signs(actionKey, "ada", "approver")
    expect(await signs(actionKey, "bea", "approver")).toEqual([409, "state-conflict"])
    expect((await calls(lifting(restrictionId), { reason: "again" })).status).toBe(409)
    const ends = await events("holder.unrestricted", holderId)
    expect(ends.map(({ payload }) => payload)).toEqual([
      { mode: "freeze", holderId, restrictionId, how: "lifted" }
    ])
  })

  it("never is signed by people who were not shown what passes again, or though nothing does", async () => {
    const figuresOf = async (id: string) => {
      const { value } = await venue().read(`/v1/approvals/${await made(id)}`, "auditor")
      return (value as { readonly figures: Row }).figures
    }
    const holderId = await joins()
    const pledge = await restricts(holderId, { ...pledged, instrumentId: "fund-a" })
    const said = { holderId, instrumentId: "fund-a", mode: "freeze", reason: "pledge" }
    expect(await figuresOf(pledge.restrictionId)).toEqual({
      ...said,
      direction: "loosen",
      "/fund-a/order-in": "loosen",
      "/fund-a/units-in": "loosen",
      "/fund-a/units-out": "loosen",
      "/fund-a/units-back": "loosen",
      "/fund-a/cash-in": "loosen"
    })
    await restricts(holderId, { mode: "redeem-only", reason: "kyc-expired" })
    const { restrictionId } = await restricts(holderId, { ...pledged, instrumentId: "fund-a" })
    expect(await figuresOf(restrictionId)).toEqual({ ...said, direction: "none" })
  })

  it("never ends another restriction of the holder along with it", async () => {
    const holderId = await joins()
    const { restrictionId } = await restricts(holderId)
    const other = await restricts(holderId)
    await lifts(restrictionId)
    expect(await idsOf(`holderId=${holderId}&state=active`)).toEqual([other.restrictionId])
  })
})

describe("a restriction that was set and lifted", () => {
  it("never is seen at or as of a point outside, or not between", async () => {
    const holderId = await joins()
    const before = await envelope()
    const { restrictionId } = await restricts(holderId, { ...pledged, instrumentId: "fund-b" })
    await joins()
    const between = await envelope()
    await lifts(restrictionId)
    await joins()
    const after = await envelope()
    for (const [point, state] of [
      [before, 404],
      [between, "active"],
      [after, "lifted"]
    ] as const) {
      const where = JSON.stringify(point)
      for (const query of [`at=${point.offset}`, `asOf=${point.now}`]) {
        const found = await one(restrictionId, `?${query}`)
        expect(typeof found === "number" ? found : found["state"], where).toBe(state)
        const inForce = await idsOf(`holderId=${holderId}&state=active&${query}`)
        expect(inForce, where).toEqual(state === "active" ? [restrictionId] : [])
      }
    }
  })

  it("never is missed by a keeper who asks from the last change it saw", async () => {
    const holderId = await joins()
    const made = await restricts(holderId)
    const window = async (from: unknown, to = "2100-01-01T00:00:00Z") =>
      idsOf(`holderId=${holderId}&updatedFrom=${String(from)}&updatedTo=${to}`)
    const set = made["updatedAt"]
    expect(await window(set)).toEqual([made.restrictionId])
    await lifts(made.restrictionId)
    const { updatedAt } = (await one(made.restrictionId)) as Row
    expect(Instant.isBefore(Instant.of(String(set)), Instant.of(String(updatedAt)))).toBe(true)
    expect(await window(updatedAt)).toEqual([made.restrictionId])
    expect(await window(set, String(updatedAt))).toEqual([])
  })
})

describe("a restriction with a date", () => {
  it("never is in force past it, before and after its end is noted", async () => {
    const holderId = await joins()
    // A busy machine needs longer to set one than the shortest of them lasts.
    let ended: Row = {}
    let autoReleaseAt = ""
    for (let millis = 400; ended["state"] !== "succeeded" && millis < 60_000; millis *= 2) {
      autoReleaseAt = Instant.format(Instant.fromEpochMillis(Date.now() + millis))
      ended = await venue().write(`/v1/holders/${holderId}:restrict`, { ...pledged, autoReleaseAt })
    }
    const { restrictionId } = ended["result"] as { readonly restrictionId: string }
    const shown = async (query = "") => (await one(restrictionId, query)) as Row
    await until(async () => (await shown())["state"] !== "active")
    expect(Instant.atOrAfter(await Effect.runPromise(Instant.now), Instant.of(autoReleaseAt))).toBe(
      true
    )
    const { createdAt, ...lapsed } = await shown()
    expect(lapsed).toMatchObject({ state: "lapsed", endedAt: autoReleaseAt })
    expect(await idsOf(`holderId=${holderId}&state=lapsed`)).toEqual([restrictionId])
    expect(await idsOf(`holderId=${holderId}&state=active`)).toEqual([])
    const noticed = async () => {
      await venue().run(Workers.runOnce("schedules"))
      return (await events("holder.unrestricted", holderId)).map(({ payload }) => payload)
    }
    await until(async () => (await noticed()).length > 0)
    expect(await noticed()).toEqual([{ mode: "freeze", holderId, restrictionId, how: "lapsed" }])
    expect(await shown()).toMatchObject({ state: "lapsed", version: 2 })
    expect(await shown(`?asOf=${String(createdAt)}`)).toMatchObject({ state: "active", version: 1 })
  })
})

describe("the list of restrictions", () => {
  it("never shows others than were asked for, or in another order than they were set", async () => {
    const [h1, h2] = [await joins(), await joins()]
    const a = await restricts(h1, { mode: "freeze", reason: "deceased" })
    const b = await restricts(h1, {
      mode: "redeem-only",
      reason: "bankruptcy",
      instrumentId: "fund-a"
    })
    const c = await restricts(h2, {
      mode: "receive-only",
      reason: "bankruptcy",
      instrumentId: "fund-a"
    })
    await lifts(a.restrictionId)
    const mine = new Set<unknown>([a, b, c].map(({ restrictionId }) => restrictionId))
    const found = async (query: string) => (await idsOf(query)).filter((id) => mine.has(id))
    const [ia, ib, ic] = [a.restrictionId, b.restrictionId, c.restrictionId]
    expect(await found("")).toEqual([ia, ib, ic])
    expect(await found(`holderId=${h1}`)).toEqual([ia, ib])
    expect(await found("state=lifted")).toEqual([ia])
    expect(await found("state=active&state=lapsed")).toEqual([ib, ic])
    expect(await found("instrumentId=fund-a")).toEqual([ib, ic])
    expect(await found("mode=receive-only&mode=freeze")).toEqual([ia, ic])
    expect(await found("reason=bankruptcy&mode=redeem-only")).toEqual([ib])
    expect((await venue().read("/v1/restrictions?state=open")).status).toBe(400)
  })

  it("never is read by those who are never told, or hidden from those who are", async () => {
    const { restrictionId } = await restricts(await joins())
    for (const path of ["/v1/restrictions", `/v1/restrictions/${restrictionId}`]) {
      for (const role of ["operator", "approver", "risk", "compliance", "auditor"]) {
        expect([role, (await venue().read(path, role)).status]).toEqual([role, 200])
      }
      for (const role of ["investor", "app", "registrar", "monitor", "feed"]) {
        expect([role, (await venue().read(path, role)).status]).toEqual([role, 403])
      }
    }
  })
})
