/** Holds over HTTP: an instrument is paused by one person at once, and let go by two approvers. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect, Option, Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openFor } from "#core/restraints/hold/HoldOpeningSteps.ts"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { type Fact, type Finding, FindingId, findings, first } from "#core/findings/Finding.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as People from "./people.ts"
import * as Venue from "./venue.ts"
import * as Wallets from "./wallets.ts"

let venue: Wallets.WholeVenue
let registrar: Wallets.Wallet
let stranger: Wallets.Wallet

beforeAll(async () => {
  venue = await Wallets.open()
  registrar = await venue.wallet("registrar")
  stranger = await venue.wallet("stranger")
  await elsewhere()
})
afterAll(() => venue.close())

let count = 0
/** Commits an unrelated contract, so that the offset before it differs from the one after it. */
const elsewhere = () =>
  registrar.acts(
    Templates.create(Templates.InstrumentConfiguration, {
      registrar: registrar.party,
      provider: venue.party,
      issuer: stranger.party,
      instrument: { admin: registrar.party, id: `other-${++count}` },
      defaultIdentifier: { source: "venue", id: "other", scheme: "internal" },
      additionalIdentifiers: [],
      holderRequirements: [],
      issuerRequirements: []
    })
  )

/** A new instrument, recorded and free. */
const recorded = async (): Promise<string> => {
  const instrumentId = `fund-${++count}`
  const body = { ...bodyOf(), instrumentId, registrar: registrar.party, oracle: null }
  expect(await venue.write("/v1/instruments", body)).toMatchObject({ state: "succeeded" })
  return instrumentId
}

interface Shown {
  readonly holdId: string
  readonly state: string
  readonly findings: ReadonlyArray<string>
  readonly version: number
  readonly updatedAt: string
}

const paused = async (instrumentId: string, body: object = {}, as = "operator"): Promise<Shown> => {
  const done = await venue.write(
    `/v1/instruments/${instrumentId}:pause`,
    { reason: "a wrong price is out", ...body },
    as
  )
  expect(done).toMatchObject({ state: "succeeded", kind: "instrument.pause" })
  return done["result"] as unknown as Shown
}

const instrument = async (id: string, at = "") => {
  const { value } = await venue.read(`/v1/instruments/${id}${at}`)
  const { holds, paused } = value as { holds: ReadonlyArray<string>; paused: unknown }
  return { holds, paused }
}

const held = async (query: string, as = "auditor", claims = {}) => {
  const answer = await venue.read(`/v1/holds${query}`, as, claims)
  return (answer.value as ReadonlyArray<Shown>).map(({ holdId }) => holdId)
}

const hold = async (holdId: string) => (await venue.read(`/v1/holds/${holdId}`)).value

const asks = async (holdId: string, body: object = {}, role = "operator") =>
  People.write(venue, {
    path: `/v1/holds/${holdId}:release`,
    as: await Venue.bearer([role]),
    body: JSON.stringify(body),
    key: crypto.randomUUID()
  })

const signs = async (
  action: string,
  sub: string,
  roles: ReadonlyArray<string> = ["approver"],
  again: { readonly key?: string } = {}
) => {
  const as = await Venue.bearer(roles, { sub })
  const became = await People.decide(venue, { verb: "approve", action, as, ...again })
  await venue.settle()
  return became
}

/** Releases a hold by three people: one asks, two others sign. */
const released = async (holdId: string, body: object = {}): Promise<void> => {
  const action = People.actionOf(await asks(holdId, body))
  expect((await signs(action, "anna")).status).toBe(202)
  expect((await signs(action, "ben")).status).toBe(202)
  expect(await hold(holdId)).toMatchObject({ state: "released", releasedBy: ["anna", "ben"] })
}

const events = async (query: string) =>
  JSON.parse((await venue.read(`/v1/events?${query}`)).text).value as ReadonlyArray<
    Readonly<Record<string, unknown>>
  >

/** A blocking finding of a run, and the hold that stands on it. */
const found = async (instrumentId: string, checks: ReadonlyArray<string>) =>
  venue.run(
    Effect.gen(function* () {
      const records = yield* Records
      const now = yield* Instant.now
      const runId = `run-${instrumentId}`
      const act = { cause: { by: "run", runId } as const, now }
      const amount = Decimal.of("12.5")
      return yield* records.transact(
        Effect.gen(function* () {
          const on = yield* records.get(instruments, instrumentId)
          const opened = yield* Effect.forEach(checks, (check) =>
            records.open(
              findings,
              first(
                {
                  findingId: Schema.decodeSync(FindingId)(`${instrumentId}-${check}`),
                  check,
                  instrumentId,
                  subject: { resourceKind: "instrument", id: instrumentId },
                  holderId: null
                },
                {
                  runId,
                  severity: "blocking",
                  expected: Decimal.zero,
                  actual: amount,
                  difference: amount,
                  unit: "units",
                  tolerance: Decimal.zero,
                  explained: { amount: Decimal.zero, by: [] },
                  unexplained: amount,
                  asOf: { offset: Offset.zero, instant: now },
                  comparedAt: null,
                  statementId: null,
                  missingDates: [],
                  entry: null
                }
              ),
              act
            )
          )
          const input = { instrument: on, findings: opened, runId }
          const cover = { reserveId: "res-1", ratio: Decimal.of("0.9"), minCover: Decimal.one }
          const low = yield* openFor({ ...input, source: "cover", cover }, act)
          const held = yield* openFor({ ...input, source: "reconciliation" }, act)
          return Option.getOrThrow(Option.orElse(held, () => low)).holdId
        })
      )
    }).pipe(Effect.provide(NodeCrypto.layer))
  )

describe("an instrument that is paused", () => {
  it.each(["operator", "risk"])("is not held at once, by one %s alone", async (role) => {
    const id = await recorded()
    expect(await instrument(id)).toEqual({ holds: [], paused: null })
    const until = "2100-01-01T00:00:00.000000Z"
    const one = await paused(id, { until }, role)
    expect(one).toMatchObject({ state: "open", source: "manual", blocks: ["all"], findings: [] })
    expect(one).toMatchObject({ instrumentId: id, by: `${role}-1`, runId: null, until })
    expect(await instrument(id)).toEqual({
      holds: [one.holdId],
      paused: {
        holdId: one.holdId,
        reason: "a wrong price is out",
        since: expect.any(String),
        until,
        by: `${role}-1`
      }
    })
    expect(await events(`type=instrument.paused&instrumentId=${id}`)).toMatchObject([
      {
        resourceKind: "instrument",
        resourceId: id,
        payload: { holdId: one.holdId, blocks: ["all"], until }
      }
    ])
  })

  it.each(["approver", "compliance", "auditor", "app", "registrar", "investor"])(
    "is paused by %s, who may not",
    async (role) => {
      const id = await recorded()
      const answer = await People.write(venue, {
        path: `/v1/instruments/${id}:pause`,
        as: await Venue.bearer([role]),
        body: '{"reason":"a guess"}'
      })
      expect([answer.status, answer.slug]).toEqual([403, "permission-denied"])
    }
  )

  it.each([
    ["without a reason", {}, "/body/reason"],
    ["with an empty one", { reason: "" }, "/body/reason"],
    ["with an endless one", { reason: "x".repeat(501) }, "/body/reason"],
    ["until no instant", { reason: "r", until: "soon" }, "/body/until"],
    ["with what there is not", { reason: "r", blocks: ["all"] }, "/body/blocks"]
  ])("is paused %s", async (_, body, pointer) => {
    const id = await recorded()
    const as = await Venue.bearer(["operator"])
    const path = `/v1/instruments/${id}:pause`
    const answer = await People.write(venue, { path, as, body: JSON.stringify(body) })
    expect([answer.status, answer.slug]).toEqual([400, "invalid-request"])
    expect(JSON.parse(answer.text).errors).toMatchObject([{ pointer }])
  })

  it("that does not exist is not found, and a hold's id is taken once", async () => {
    const as = await Venue.bearer(["risk"])
    const body = '{"reason":"r"}'
    const none = await People.write(venue, { path: "/v1/instruments/none:pause", as, body })
    expect([none.status, none.slug]).toEqual([404, "not-found"])
    const id = await recorded()
    await paused(id, { holdId: "hold-of-mine" })
    const again = await People.write(venue, {
      path: `/v1/instruments/${id}:pause`,
      as,
      body: '{"reason":"r","holdId":"hold-of-mine"}'
    })
    expect([again.status, again.slug]).toEqual([409, "already-exists"])
  })

  it("never shows another hold than its oldest, or loses the others' when one is released", async () => {
    const id = await recorded()
    const one = await paused(id, { reason: "the first" })
    const two = await paused(id, { reason: "the second" }, "risk")
    const both = await instrument(id)
    expect(both).toMatchObject({
      holds: [one.holdId, two.holdId],
      paused: { holdId: one.holdId, reason: "the first" }
    })
    await released(one.holdId)
    expect(await instrument(id)).toMatchObject({
      holds: [two.holdId],
      paused: { holdId: two.holdId, reason: "the second" }
    })
    await released(two.holdId)
    expect(await instrument(id)).toEqual({ holds: [], paused: null })
    const three = await paused(id, { reason: "the third" })
    expect(await instrument(id)).toMatchObject({ holds: [three.holdId] })
  })

  it("never is shown paused before it was, or free while it was held", async () => {
    const id = await recorded()
    const point = async () => {
      const { text } = await venue.read(`/v1/instruments/${id}`)
      const { now, offset } = JSON.parse(text) as { now: string; offset: number }
      await elsewhere()
      return [`asOf=${now}`, `at=${offset}`] as const
    }
    await elsewhere()
    const before = await point()
    const { holdId } = await paused(id)
    await elsewhere()
    const within = await point()
    await released(holdId)
    await elsewhere()
    const after = await point()
    const shown = async (at: string) => {
      const { value } = await venue.read(`/v1/instruments?${at}`)
      const rows = value as ReadonlyArray<{ instrumentId: string; paused: unknown }>
      const row = rows.find(({ instrumentId }) => instrumentId === id)
      const open = await held(`?instrumentId=${id}&state=open&${at}`)
      return [(await instrument(id, `?${at}`)).holds, row?.paused ?? null, open]
    }
    for (const at of [...before, ...after]) expect(await shown(at), at).toEqual([[], null, []])
    for (const at of within) {
      const paused = expect.objectContaining({ holdId })
      expect(await shown(at), at).toEqual([[holdId], paused, [holdId]])
      const { value } = await venue.read(`/v1/holds/${holdId}?${at}`)
      expect(value).toMatchObject({ state: "open", releasedAt: null, releasedBy: [] })
    }
    for (const at of before) {
      expect((await venue.read(`/v1/holds/${holdId}?${at}`)).status).toBe(404)
    }
  })
})

describe("the release of a hold", () => {
  it("never happens with fewer than two approvers besides its maker", async () => {
    const { holdId } = await paused(await recorded())
    expect(await hold(holdId)).toMatchObject({
      waitingOn: [
        { role: "operator", action: "hold.release", actionKey: null },
        { role: "risk", action: "hold.release", actionKey: null }
      ]
    })
    const action = People.actionOf(await asks(holdId, {}, "risk"))
    const { waitingOn } = (await hold(holdId)) as { waitingOn: ReadonlyArray<unknown> }
    expect(waitingOn[2]).toMatchObject({ role: "approver", action: "approve", actionKey: action })
    const maker = await signs(action, "risk-1", ["risk", "approver"])
    expect([maker.status, maker.slug]).toEqual([403, "same-approver"])
    const auditor = await signs(action, "aida", ["approver", "auditor"])
    expect([auditor.status, auditor.slug]).toEqual([403, "auditor-never-approves"])
    expect((await signs(action, "anna")).written).toMatchObject({ state: "awaiting" })
    expect((await signs(action, "anna")).written).toMatchObject({ signedBy: ["anna"] })
    expect(await hold(holdId)).toMatchObject({ state: "open" })
    expect((await signs(action, "ben")).written).toMatchObject({ kind: "hold.release" })
    expect(await hold(holdId)).toMatchObject({
      state: "released",
      releasedBy: ["anna", "ben"],
      releasedAt: expect.any(String),
      override: null,
      waitingOn: []
    })
    expect(await events(`type=hold.released&resourceKind=hold&resourceId=${holdId}`)).toMatchObject(
      [{ payload: { source: "manual", accepted: 0, operationId: expect.any(String) } }]
    )
  })

  it.each(["approver", "compliance", "auditor", "app", "registrar"])(
    "is made by %s, who may not",
    async (role) => {
      const { holdId } = await paused(await recorded())
      const answer = await asks(holdId, {}, role)
      expect([answer.status, answer.slug]).toEqual([403, "permission-denied"])
    }
  )

  it("of one that is released, or does not exist, is refused", async () => {
    const { holdId } = await paused(await recorded())
    await released(holdId)
    const again = await asks(holdId)
    expect([again.status, again.slug]).toEqual([409, "state-conflict"])
    expect(JSON.parse(again.text)).toMatchObject({ check: "HoldState" })
    const none = await asks("none")
    expect([none.status, none.slug]).toEqual([404, "not-found"])
  })

  it("runs once, when two of it were made", async () => {
    const { holdId } = await paused(await recorded())
    const [one, two] = [
      People.actionOf(await asks(holdId)),
      People.actionOf(await asks(holdId, {}, "risk"))
    ]
    await signs(one, "anna")
    await signs(two, "anna")
    await signs(one, "ben")
    const late = await signs(two, "ben")
    expect([late.status, late.slug]).toEqual([409, "state-conflict"])
    expect(await hold(holdId)).toMatchObject({ state: "released", version: 2 })
  })
})

describe("a hold that a run opened", () => {
  it("never blocks more than distribution, or pauses the instrument", async () => {
    const id = await recorded()
    const holdId = await found(id, ["planted-first"])
    expect(await hold(holdId)).toMatchObject({
      source: "reconciliation",
      blocks: ["distribution"],
      findings: [`${id}-planted-first`],
      runId: `run-${id}`,
      by: null,
      reason: "Blocking findings: planted-first."
    })
    expect(await instrument(id)).toEqual({ holds: [holdId], paused: null })
    expect(await events(`type=reconciliation.hold&instrumentId=${id}`)).toMatchObject([
      {
        resourceKind: "hold",
        resourceId: holdId,
        payload: { runId: `run-${id}`, blocks: ["distribution"], findings: 1 }
      }
    ])
  })

  it("for want of cover lets redemptions pass, and names the reserve", async () => {
    const id = await recorded()
    const holdId = await found(id, ["reserve-cover"])
    expect(await hold(holdId)).toMatchObject({
      source: "cover",
      blocks: ["mint", "distribution"],
      cover: { reserveId: "res-1", ratio: 0.9, minCover: 1 }
    })
    expect(await events(`type=reserve.cover-low&instrumentId=${id}`)).toMatchObject([
      {
        resourceKind: "reserve",
        resourceId: "res-1",
        payload: { ratio: 0.9, minCover: 1, holdId, runId: `run-${id}` }
      }
    ])
  })

  it("never is released while a blocking finding behind it is open and unnamed", async () => {
    const id = await recorded()
    const holdId = await found(id, ["planted-first", "planted-second"])
    const refused = await asks(holdId, { accept: [`${id}-planted-second`], reason: "known" })
    expect([refused.status, refused.slug]).toEqual([422, "rule-refused"])
    expect(JSON.parse(refused.text)).toMatchObject({
      gate: "hold",
      check: "findings-cleared",
      errors: [{ pointer: "/body/accept", detail: expect.stringContaining(`${id}-planted-first`) }]
    })
    await venue.run(cleared(`${id}-planted-first`))
    await released(holdId, { accept: [`${id}-planted-second`], reason: "known" })
    expect(await hold(holdId)).toMatchObject({
      override: { findings: [`${id}-planted-second`], reason: "known" }
    })
    expect(await venue.run(stateOf(`${id}-planted-second`))).toMatchObject({
      state: "accepted",
      accepted: { reason: "known", holdId, unexplained: Decimal.of("12.5") }
    })
    expect(await venue.run(stateOf(`${id}-planted-first`))).toMatchObject({
      state: "cleared",
      accepted: null
    })
    expect(await events(`type=hold.released&resourceKind=hold&resourceId=${holdId}`)).toMatchObject(
      [{ payload: { source: "reconciliation", accepted: 1 } }]
    )
  })

  it("is released once its findings are cleared, by naming none", async () => {
    const id = await recorded()
    const holdId = await found(id, ["planted-first"])
    await venue.run(cleared(`${id}-planted-first`))
    await released(holdId, { accept: [`${id}-planted-first`], reason: "in case" })
    expect(await hold(holdId)).toMatchObject({ override: null })
  })

  it("never is released by naming a finding that is none of its own, without a reason, or one twice", async () => {
    const id = await recorded()
    const holdId = await found(id, ["planted-first"])
    const own = `${id}-planted-first`
    const strange = await asks(holdId, { accept: [own, "fnd-of-another"], reason: "r" })
    expect([strange.status, strange.slug]).toEqual([422, "rule-refused"])
    expect(JSON.parse(strange.text)).toMatchObject({
      gate: "hold",
      check: "findings-of-hold",
      errors: [{ pointer: "/body/accept/1" }]
    })
    const pointers = async (body: object) => {
      const answer = await asks(holdId, body)
      expect([answer.status, answer.slug]).toEqual([400, "invalid-request"])
      const { errors } = JSON.parse(answer.text) as Venue.Problem
      return errors?.map(({ pointer }) => pointer)
    }
    expect(await pointers({ accept: [own] })).toEqual(["/body/reason"])
    expect(await pointers({ accept: [own, own], reason: "r" })).toEqual(["/body/accept"])
    const many = Array.from({ length: 1_001 }, (_, nth) => `f-${nth}`)
    expect(await pointers({ accept: many, reason: "r" })).toEqual(["/body/accept"])
  })

  it("never is released for more of a finding than its approvers were shown", async () => {
    const id = await recorded()
    const holdId = await found(id, ["planted-first"])
    const own = `${id}-planted-first`
    const action = People.actionOf(await asks(holdId, { accept: [own], reason: "known" }))
    const shown = async () => (await venue.read(`/v1/approvals/${action}`)).value
    expect(await shown()).toMatchObject({
      figures: {
        blocks: "distribution",
        accepted: "1",
        [`unexplained ${own}`]: "12.5",
        [`unit ${own}`]: "units"
      }
    })
    expect((await signs(action, "anna")).status).toBe(202)
    const amount = Decimal.of("99.5")
    const more = { actual: amount, difference: amount, unexplained: amount }
    await venue.run(moved(own, (seen) => ({ on: "see", seen: { ...seen, ...more } })))
    const late = await signs(action, "ben")
    expect([late.status, late.slug]).toEqual([422, "rule-refused"])
    expect(await hold(holdId)).toMatchObject({ state: "open" })
    expect(await shown()).toMatchObject({ figures: { [`unexplained ${own}`]: "99.5" } })
    // Under the key of the figures before, an approval signs no others.
    expect((await signs(action, "anna")).status).toBe(422)
    for (const sub of ["anna", "ben"]) {
      const anew = { key: `moved-${action}-${sub}` }
      expect((await signs(action, sub, ["approver"], anew)).status).toBe(202)
    }
    expect(await hold(holdId)).toMatchObject({ state: "released", releasedBy: ["anna", "ben"] })
    expect(await venue.run(stateOf(own))).toMatchObject({ accepted: { unexplained: amount } })
  })

  it("never is released though a finding came back between two signatures", async () => {
    const id = await recorded()
    const holdId = await found(id, ["planted-first"])
    await venue.run(cleared(`${id}-planted-first`))
    const action = People.actionOf(await asks(holdId))
    await signs(action, "anna")
    await venue.run(cameBack(`${id}-planted-first`))
    const late = await signs(action, "ben")
    expect([late.status, late.slug]).toEqual([422, "rule-refused"])
    expect(await hold(holdId)).toMatchObject({ state: "open" })
  })
})

describe("holds that are read", () => {
  it("never are not those that were asked for, or not the oldest first", async () => {
    const id = await recorded()
    const one = await paused(id)
    const run = await found(id, ["planted-first"])
    const two = await paused(id)
    await released(two.holdId)
    const all = [one.holdId, run, two.holdId]
    expect(await held(`?instrumentId=${id}`)).toEqual(all)
    expect(await held(`?instrumentId=${id}&state=open&state=released`)).toEqual(all)
    expect(await held(`?instrumentId=${id}&state=released`)).toEqual([two.holdId])
    expect(await held(`?instrumentId=${id}&source=reconciliation&source=cover`)).toEqual([run])
    expect((await venue.read(`/v1/holds?source=other`)).status).toBe(400)
    const { updatedAt } = (await hold(two.holdId)) as Shown
    expect(await held(`?instrumentId=${id}&updatedFrom=${updatedAt}`)).toEqual([two.holdId])
    expect(await held(`?instrumentId=${id}&updatedTo=${updatedAt}`)).toEqual([one.holdId, run])
    const { text } = await venue.read(`/v1/holds?instrumentId=${id}&limit=2`)
    const { next } = JSON.parse(text) as { readonly next: string }
    expect(await held(`?instrumentId=${id}&limit=2&after=${next}`)).toEqual([two.holdId])
  })

  it("never are kept from those who may read them, or shown to those who may not", async () => {
    const id = await recorded()
    const { holdId } = await paused(id)
    for (const role of ["operator", "approver", "risk", "auditor", "app"]) {
      expect(await held(`?instrumentId=${id}`, role)).toEqual([holdId])
    }
    for (const role of ["compliance", "investor", "monitor", "feed"]) {
      expect((await venue.read(`/v1/holds/${holdId}`, role)).status).toBe(403)
      expect((await venue.read("/v1/holds", role)).status).toBe(403)
    }
    const near = { party: registrar.party }
    expect(await held(`?instrumentId=${id}`, "registrar", near)).toEqual([holdId])
    expect((await venue.read(`/v1/holds/${holdId}`, "registrar", near)).status).toBe(200)
    const far = { party: stranger.party }
    expect(await held("", "registrar", far)).toEqual([])
    const out = await venue.read(`/v1/holds/${holdId}`, "registrar", far)
    const none = await venue.read("/v1/holds/none", "registrar", far)
    const said = ({ text }: { readonly text: string }) => {
      const { requestId: _, ...problem } = JSON.parse(text) as Venue.Problem
      return problem
    }
    expect(said(out)).toEqual(said(none))
    expect(out.status).toBe(404)
  })
})

const moved = (findingId: string, factOf: (self: Finding) => Fact) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    const act = { cause: { by: "run", runId: "run-2" } as const, now }
    yield* records.transact(
      Effect.flatMap(records.get(findings, findingId), (self) =>
        records.append(findings, self, factOf(self), act)
      )
    )
  })

const cleared = (findingId: string) => moved(findingId, () => ({ on: "clear", runId: "run-2" }))

const cameBack = (findingId: string) => moved(findingId, (seen) => ({ on: "reopen", seen }))

const stateOf = (findingId: string) =>
  Effect.flatMap(Records, (records) => records.get(findings, findingId))
