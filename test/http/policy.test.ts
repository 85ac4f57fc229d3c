/** Policies and prices over HTTP: terms set by four eyes on the version that was seen, points by a wallet. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bodyOf, rebasingTerms } from "../operations/instrumentBody.ts"
import * as People from "./people.ts"
import * as Venue from "./venue.ts"
import * as Wallets from "./wallets.ts"

let venue: Wallets.WholeVenue
let registrar: Wallets.Wallet
let oracle: Wallets.Wallet

beforeAll(async () => {
  venue = await Wallets.open()
  registrar = await venue.wallet("registrar")
  oracle = await venue.wallet("oracle")
})
afterAll(() => venue.close())

let count = 0
/** A new instrument, recorded; its policy is version 1. */
const recorded = async (terms: object = {}): Promise<string> => {
  const instrumentId = `fund-${++count}`
  const body = { ...bodyOf(), instrumentId, registrar: registrar.party, oracle: oracle.party }
  const operation = await venue.write("/v1/instruments", { ...body, ...terms })
  expect(operation).toMatchObject({ state: "succeeded" })
  return instrumentId
}

const sets = async (
  instrumentId: string,
  options: { readonly ifMatch?: string; readonly body?: object; readonly role?: string }
) =>
  Venue.send(venue, {
    method: "POST",
    path: `/v1/instruments/${instrumentId}/policy:set`,
    as: await Venue.bearer([options.role ?? "operator"]),
    body: JSON.stringify(options.body ?? { holderCap: 5 }),
    headers: {
      "idempotency-key": crypto.randomUUID(),
      ...(options.ifMatch === undefined ? {} : { "if-match": options.ifMatch })
    }
  })
const made = async (answer: Promise<Response>) => People.actionOf(await People.became(await answer))
const approve = async (action: string) => {
  const as = await Venue.bearer(["approver"])
  const became = await People.decide(venue, { verb: "approve", action, as })
  await venue.settle()
  return became
}
const faults = async (answer: Promise<Response>) => {
  const response = await answer
  const { errors } = await Venue.json<Venue.Problem>(response.clone())
  return [response.status, errors?.map(({ pointer }) => pointer)]
}

interface Version {
  readonly policyVersion: number
  readonly state: string
  readonly setBy: string
  readonly until: string | null
  readonly body: Readonly<Record<string, unknown>>
}
const policy = async (instrumentId: string, query = "") =>
  (await venue.read(`/v1/instruments/${instrumentId}/policy${query}`)).value as Version
const versions = async (instrumentId: string, query = "") =>
  (
    (await venue.read(`/v1/instruments/${instrumentId}/policy/versions${query}`))
      .value as ReadonlyArray<Version>
  ).map(({ policyVersion, state }) => `${policyVersion} ${state}`)

describe("terms that contradict one another", () => {
  const { distribution } = bodyOf()
  const inCash = { ...distribution, payout: "cash" }
  const records = async (change: object) =>
    await Venue.json<Venue.Problem>(
      await Venue.send(venue, {
        method: "POST",
        path: "/v1/instruments",
        as: await Venue.bearer(["operator"]),
        body: JSON.stringify({
          ...bodyOf(),
          instrumentId: `fund-${++count}`,
          registrar: registrar.party,
          ...change
        })
      })
    )

  it.each([
    ["policy payout-places", { currency: "USD", distribution: { ...inCash, payoutDecimals: 3 } }],
    ["policy payout-places", { currency: "JPY", distribution: { ...inCash, payoutDecimals: 2 } }],
    ["policy payout", { ...rebasingTerms, distribution: { ...inCash, withholding: 0 } }],
    ["policy payout", { valuation: "rebasing" }],
    [
      "policy swing-forward",
      { pricing: "historic", swing: { threshold: 0.01, up: 0.0015, down: 0.001 } }
    ]
  ])("are refused by %s, recorded or set", async (why, change) => {
    const [gate, check] = why.split(" ")
    const refused = { status: 422, gate, check }
    expect(await records(change)).toMatchObject(refused)
    const id = await recorded()
    const set = await sets(id, { ifMatch: '"1"', body: change })
    expect(await Venue.json<Venue.Problem>(set)).toMatchObject(refused)
    expect(await versions(id)).toEqual(["1 current"])
  })

  it("are judged with a currency that is set alone", async () => {
    const id = await recorded({ currency: "KWD", distribution: { ...inCash, payoutDecimals: 3 } })
    const set = await sets(id, { ifMatch: '"1"', body: { currency: "USD" } })
    expect(await Venue.json<Venue.Problem>(set)).toMatchObject({
      gate: "policy",
      check: "payout-places",
      policyVersion: 1
    })
  })
})

describe("policy.set", () => {
  it.each([
    ["none", undefined],
    ["any", "*"],
    ["a list", '"1", "2"'],
    ["a weak tag", 'W/"1"']
  ])("with an If-Match of %s would replace terms that nobody saw", async (_, ifMatch) => {
    const id = await recorded()
    const answer = sets(id, ifMatch === undefined ? {} : { ifMatch })
    expect(await faults(answer)).toEqual([400, ["/header/if-match"]])
  })

  it("never does not take from the body what If-Match says, nor a term that there is not", async () => {
    const id = await recorded()
    const ifMatch = '"1"'
    expect(await faults(sets(id, { ifMatch, body: { replaces: "1" } }))).toEqual([
      400,
      ["/body/replaces"]
    ])
    expect(await faults(sets(id, { ifMatch, body: { feez: {} } }))).toEqual([400, ["/body/feez"]])
    expect(await faults(sets(id, { ifMatch, body: { tolerances: { "nav-prize": 1 } } }))).toEqual([
      400,
      ["/body/tolerances/nav-prize"]
    ])
  })

  it.each(['"1"', "1"])(
    "If-Match %s: changes what it says, once another has approved",
    async (ifMatch) => {
      const id = await recorded()
      const before = (await policy(id)).body
      const body = {
        fees: { subscription: 0.01, redemption: 0 },
        window: { opensAt: "2026-01-01T00:00:00Z" },
        deliverBeforeCash: true,
        guardrail: { up: 0.1, down: 0.05 }
      }
      const action = await made(sets(id, { ifMatch, body }))
      expect(await policy(id)).toMatchObject({ policyVersion: 1, state: "current" })
      expect((await approve(action)).status).toBe(202)
      const after = await policy(id)
      expect(after).toMatchObject({ policyVersion: 2, state: "current", until: null })
      expect(after.body).toEqual({
        ...before,
        ...body,
        window: { opensAt: "2026-01-01T00:00:00.000000Z", closesAt: null }
      })
      expect((await venue.read(`/v1/instruments/${id}`)).value).toMatchObject({
        policyVersion: 2,
        fees: body.fees,
        navGuardrail: body.guardrail
      })
      expect(await versions(id)).toEqual(["2 current", "1 superseded"])
      expect(await versions(id, "?state=superseded")).toEqual(["1 superseded"])
      expect((await venue.read(`/v1/instruments/${id}/policy/versions?state=gone`)).status).toBe(
        400
      )
    }
  )

  it("of two that were made on one version only the first approved holds", async () => {
    const id = await recorded()
    const [one, two] = [
      await made(sets(id, { ifMatch: '"1"', body: { holderCap: 5 } })),
      await made(sets(id, { ifMatch: '"1"', body: { holderCap: 6 } }))
    ]
    expect((await approve(one)).status).toBe(202)
    const late = await approve(two)
    expect([late.status, late.slug]).toEqual([409, "state-conflict"])
    expect(JSON.parse(late.text)).toMatchObject({ check: "PolicyVersionState", policyVersion: 2 })
    expect((await policy(id)).body).toMatchObject({ holderCap: 5 })
  })

  it("is approved by an approver's own call, whose If-Match is not asked for", async () => {
    const id = await recorded()
    await made(sets(id, { ifMatch: '"1"' }))
    const answer = await Venue.send(venue, {
      method: "POST",
      path: `/v1/instruments/${id}/policy:set`,
      as: await Venue.bearer(["approver"]),
      body: JSON.stringify({ holderCap: 5 })
    })
    expect(answer.status).toBe(202)
    await venue.settle()
    expect((await policy(id)).policyVersion).toBe(2)
  })

  it("of a time to come is shown as scheduled, with its end set on the one in force", async () => {
    const id = await recorded()
    const effectiveFrom = "2100-01-01T00:00:00.000000Z"
    await approve(await made(sets(id, { ifMatch: '"1"', body: { holderCap: 9, effectiveFrom } })))
    expect(await versions(id)).toEqual(["2 scheduled", "1 current"])
    expect(await policy(id)).toMatchObject({ policyVersion: 1, until: effectiveFrom })
    await approve(await made(sets(id, { ifMatch: '"2"', body: { holderCap: 8 } })))
    expect(await versions(id)).toEqual(["3 current", "2 withdrawn", "1 superseded"])
  })

  it("is signed for what it loosens and tightens, and its version keeps that", async () => {
    const id = await recorded()
    const body = { holderCap: 1, deliverBeforeCash: true, limits: { maxRedemption: 2.5 } }
    const action = await made(sets(id, { ifMatch: '"1"', body }))
    const { value } = await venue.read(`/v1/approvals/${action}`)
    const figures = {
      direction: "loosen",
      "/holderCap": "tighten: 2 -> 1",
      "/limits/maxRedemption": "tighten: null -> 2.5",
      "/deliverBeforeCash": "loosen: false -> true"
    }
    const changes = [
      { path: "/holderCap", from: 2, to: 1, direction: "tighten" },
      { path: "/limits/maxRedemption", from: null, to: 2.5, direction: "tighten" },
      { path: "/deliverBeforeCash", from: false, to: true, direction: "loosen" }
    ]
    expect(value).toMatchObject({ state: "awaiting", figures, changes })
    const listed = (await venue.read("/v1/approvals?kind=policy.set&state=awaiting"))
      .value as ReadonlyArray<{ readonly actionKey: string }>
    expect(listed.find(({ actionKey }) => actionKey === action)).toMatchObject({ changes })
    expect((await approve(action)).status).toBe(202)
    expect((await venue.read(`/v1/approvals/${action}`)).value).toMatchObject({ changes: [] })
    expect(await policy(id)).toMatchObject({ policyVersion: 2, direction: "loosen", changes })
    const [ran] = (await venue.read("/v1/operations?kind=policy.set"))
      .value as ReadonlyArray<object>
    expect(ran).toMatchObject({ state: "succeeded", actionKey: action, figures })
    const first = await venue.read(`/v1/instruments/${id}/policy/versions?state=superseded`)
    expect(first.value).toMatchObject([{ policyVersion: 1, direction: null, changes: [] }])
  })

  it("that only tightens says so, and one that comes to nothing", async () => {
    const id = await recorded()
    await approve(await made(sets(id, { ifMatch: '"1"', body: { holderCap: 1 } })))
    expect(await policy(id)).toMatchObject({ direction: "tighten" })
    const action = await made(sets(id, { ifMatch: '"2"', body: { holderCap: 1 } }))
    expect((await venue.read(`/v1/approvals/${action}`)).value).toMatchObject({
      figures: { direction: "none" }
    })
    await approve(action)
    expect(await policy(id)).toMatchObject({ policyVersion: 3, direction: null, changes: [] })
  })

  it("that its time has passed, or whose terms contradict each other, is refused where it does", async () => {
    const id = await recorded()
    const refusalOf = async (body: object) => {
      const answer = await sets(id, { ifMatch: '"1"', body })
      const problem = await Venue.json<Venue.Problem & { gate: string; check: string }>(answer)
      return [problem.status, problem.gate, problem.check, problem.errors?.[0]?.pointer ?? null]
    }
    expect(await refusalOf({ effectiveFrom: "2020-01-01T00:00:00Z" })).toEqual([
      422,
      "policy",
      "effective-ahead",
      null
    ])
    expect(await refusalOf({ unitDecimals: 4, effectiveFrom: "2100-01-01T00:00:00Z" })).toEqual([
      422,
      "policy",
      "fixed-at-once",
      null
    ])
    expect(await refusalOf({ parValue: 1 })).toEqual([400, null, null, "/body/parValue"])
  })

  it("is nobody's but the operator's, and is read by whom the instrument concerns", async () => {
    const id = await recorded()
    for (const role of ["risk", "compliance", "auditor", "app", "registrar", "investor"]) {
      expect((await sets(id, { ifMatch: '"1"', role })).status).toBe(403)
    }
    const path = `/v1/instruments/${id}/policy`
    const status = async (role: string, claims = {}) =>
      (await venue.read(path, role, claims)).status
    for (const role of [
      "operator",
      "approver",
      "risk",
      "compliance",
      "auditor",
      "investor",
      "app"
    ]) {
      expect(await status(role)).toBe(200)
    }
    expect(await status("registrar", { party: registrar.party })).toBe(200)
    expect(await status("registrar", { party: oracle.party })).toBe(404)
    expect(await status("monitor")).toBe(403)
    expect((await venue.read("/v1/instruments/nobody/policy")).status).toBe(404)
    expect((await venue.read("/v1/instruments/nobody/policy/versions")).status).toBe(404)
  })
})

describe("prices", () => {
  const published = (instrumentId: string, value: string, metric = "price") =>
    oracle.acts(
      Templates.create(Templates.OraclePoint, {
        oracle: oracle.party,
        venue: venue.party,
        fund: oracle.party,
        registrar: registrar.party,
        attestors: [],
        instrumentId,
        metric,
        value: Decimal.of(value),
        valuationTime: Instant.of("2026-07-31T20:00:00Z"),
        period: null,
        withholdingRate: Decimal.of("0.15"),
        statementRef: "nav-2026-07-31",
        corrects: null
      })
    )
  const prices = async (instrumentId: string, query = "") =>
    (await venue.read(`/v1/instruments/${instrumentId}/prices${query}`)).value as ReadonlyArray<
      Readonly<Record<string, unknown>>
    >
  const head = async (instrumentId: string) => {
    const { text } = await venue.read(`/v1/instruments/${instrumentId}/prices`)
    return String((JSON.parse(text) as { offset: number }).offset)
  }

  it("that a wallet corrects stay, each with what it corrects, and one is official", async () => {
    const id = await recorded()
    await published(id, "1.0437")
    const before = await head(id)
    const found = await oracle.sees(Templates.OraclePoint)
    const first = found.find(({ payload }) => payload.instrumentId === id)?.contractId ?? ""
    await oracle.acts(
      Templates.exercise(Templates.OraclePoint, first, "Correct", {
        value: Decimal.of("1.05"),
        valuationTime: Instant.of("2026-07-31T20:00:00Z"),
        period: null,
        withholdingRate: Decimal.of("0.15"),
        statementRef: "nav-2026-07-31-b"
      })
    )
    const [wrong, right, ...none] = await prices(id)
    expect(none).toEqual([])
    expect(wrong).toMatchObject({ price: 1.0437, official: false, correctedBy: right?.contractId })
    expect(right).toMatchObject({
      price: 1.05,
      official: true,
      corrects: first,
      withholding: 0.15,
      statementId: "nav-2026-07-31-b",
      source: oracle.party,
      incomePerUnit: null
    })
    expect(await prices(id, `?at=${before}`)).toMatchObject([
      { price: 1.0437, official: true, correctedBy: null }
    ])
    expect(await prices(id, "?from=2026-08-01T00:00:00Z")).toEqual([])
    const events = await venue.read(`/v1/events?type=price.point&instrumentId=${id}`)
    expect(JSON.parse(events.text).value).toHaveLength(2)
  })

  it("at par carry the income, and of a rebasing instrument its index", async () => {
    const par = await recorded({ valuation: "par" })
    await published(par, "0.000096553", "income")
    expect(await prices(par)).toMatchObject([{ price: 1, incomePerUnit: 0.000096553 }])
    const rebasing = await recorded(rebasingTerms)
    await published(rebasing, "1.73222", "index")
    expect(await prices(rebasing)).toMatchObject([{ price: 1.73222, incomePerUnit: null }])
  })
})
