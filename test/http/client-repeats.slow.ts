/**
 * The law of repeating a read, by the client: an answer says with what it is asked for again, and
 * another instance on the same database answers it byte for byte, but for its `now`.
 */
import { Catalogue, Engine, type Read, Records } from "@bursar/engine-core"
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Client from "@bursar/http-host/client"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import type * as Memory from "@bursar/storage-adapters/memory"
import { Clock, Context, type Duration, Effect, Layer, Logger, Schema, Stream } from "effect"
import { FetchHttpClient, HttpServer } from "effect/http"
import { TestClock } from "effect/testing"
import { beforeAll, describe, expect, it } from "vitest"
import * as Calls from "../engine/calls.ts"
import { ports } from "../engine/world.ts"
import * as Reserves from "../machines/reserves.ts"
import * as Bank from "../operations/bank.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Month from "../operations/distributions.ts"
import * as Fund from "../operations/fund.ts"
import * as Navs from "../operations/navs.ts"
import * as Reconciling from "../operations/reconciling.ts"
import * as Twins from "./twins.ts"

const instance = () => Layer.fresh(Twins.served.pipe(Layer.provideMerge(Layer.fresh(Engine.layer))))

/** Time as the test sets it, while what sleeps, such as the database's own writers, wakes by itself. */
const clock = Layer.effect(
  Clock.Clock,
  Effect.map(TestClock.testClockWith(Effect.succeed), (set) => ({
    ...set,
    sleep: (duration: Duration.Duration) => set.withLive(Effect.sleep(duration))
  }))
).pipe(Layer.provide(TestClock.layer()))

/** Two instances on one PostgreSQL database, which know each other's cursors. */
const layer = Layer.mergeAll(
  ports({
    storage: TestDatabase.layer as Layer.Layer<Memory.Storage>,
    settings: { cursorKeys: [{ id: 1, secret: new Uint8Array(32).fill(7) }] }
  }),
  Logger.layer([])
).pipe(Layer.provideMerge(clock))

const clientOf = (server: HttpServer.HttpServer["Service"]) =>
  Effect.map(Twins.token("auditor"), (authorization) => {
    const { port } = server.address as { readonly port: number }
    const baseUrl = `http://127.0.0.1:${port}`
    return Client.overFetch({ baseUrl, authorization: Effect.succeed(authorization) })
  })

/** The value of a call of the client, and the bytes of the answer without their `now`. */
const heard = <A, E, R>(call: Effect.Effect<A, E, R>) => {
  let text = ""
  const recordingFetch: typeof fetch = async (...args) => {
    const response = await fetch(...args)
    text = await response.clone().text()
    return response
  }
  return call.pipe(
    Effect.provideService(FetchHttpClient.Fetch, recordingFetch),
    Effect.map((answer) => ({ answer, bytes: text.replace(/"now":"[^"]+"/, '"now":""') }))
  )
}

/** Records of every kind that a pinned read shows. */
const story = Effect.gen(function* () {
  const { holders, stage } = yield* Cycles.opened(["h2", "h1"], { distribution })
  yield* Fund.publishes(stage, "1.0437", Fund.start)
  const { cid } = yield* Fund.newestContract(Templates.Credential)
  yield* stage.registrar.act(
    Templates.exercise(Templates.Credential, cid, "Receive", {
      amount: Decimal.of("1000"),
      reference: { kind: "opening", id: "opening" },
      configurationCid: null
    })
  )
  yield* claims("s1", "h1")
  yield* claims("s2", "h2")
  const back = { redemptionId: "r1", instrumentId, holderId: "h1", payment: "wire", units: 10 }
  yield* done(Calls.write("redemption.claim", {}, back))
  yield* done(Cycles.opens("c1"))
  const asset = Cycles.cash(stage)
  const [funder] = holders
  if (funder === undefined) throw new Error("nobody funds")
  const funding = [{ party: funder.party, asset, amount: 1000 }]
  const standingSettlement = { standingSettlementId: "t1", instrumentId, funding }
  yield* done(Calls.write("standing-settlement.open", {}, standingSettlement))
  const point = yield* Fund.newestContract(Templates.OraclePoint)
  yield* Month.executes(stage, Month.termsOf(stage, point.cid))
  const payees = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
  yield* Month.adds("d-july", payees)
  const approval = { standingApprovalId: "sa1", instrumentId, until: "2027-06-30T00:00:00Z" }
  yield* done(Calls.write("standing-approval.grant", {}, approval))
  // A register that is off by five units is a finding of the run.
  const planted = { registrar: stage.registrar.party, instrumentId, party: holders[1]?.party ?? "" }
  yield* Reconciling.plant(planted, "5")
  ids["runId"] = (yield* Reconciling.run()).value.runId
  ids["findingId"] = yield* Reconciling.anyFinding
  const businessDate = Fund.start.slice(0, "2026-07-31".length)
  yield* Navs.states({ businessDate, official: "1.0437" })
  ids["externalStatementId"] = yield* Navs.states({ businessDate, official: "1.05" })
  yield* restricts("x1")
  yield* pauses("p1")
  const records = yield* Records
  yield* records.transact(Reserves.plant({ issuer: stage.registrar.party, instrumentId }))
  return { holders, stage }
})
type Story = Effect.Success<typeof story>

const instrumentId = "fund-a"

const distribution = {
  schedule: "monthly",
  withholding: 0.15,
  payoutDecimals: 2,
  payout: "units",
  calendar: { frequency: "monthly", recordDay: 31, paymentLagDays: 5 }
}

const done = <E, R>(write: Effect.Effect<Calls.Ended, E, R>) =>
  Effect.tap(write, ({ state, why }) => Effect.sync(() => expect([state, why]).toEqual(ended)))
const ended = ["succeeded", ""]

const claims = (subscriptionId: string, holderId: string) => {
  const claim = { subscriptionId, instrumentId, holderId, payment: "wire", amount: 100 }
  return done(Calls.write("subscription.claim", {}, claim))
}
const restricts = (restrictionId: string) => {
  const restriction = { restrictionId, mode: "receive-only", reason: "pledge" }
  return done(Calls.write("holder.restrict", { holderId: "h2" }, restriction))
}
const pauses = (holdId: string) =>
  done(Calls.write("instrument.pause", { instrumentId }, { holdId, reason: "to see" }))

/** Writes after the answers, on the ledger and in the engine's own records. */
const more = ({ stage }: Story) =>
  Effect.gen(function* () {
    yield* done(Calls.write("restriction.lift", { restrictionId: "x1" }, { reason: "seen" }))
    yield* Fund.publishes(stage, "1.05", "2026-07-31T12:00:01Z")
    yield* claims("s3", "h1")
    yield* done(Calls.write("dealing-cycle.release", { cycleId: "c1" }, {}))
    yield* Cycles.joins(stage, "h3")
    yield* restricts("x2")
    yield* pauses("p2")
    // The list of statements has no offset that moves: only another statement changes it.
    yield* Bank.states({
      id: "later",
      instrumentId,
      entries: [{ amount: "1", direction: "credit" }]
    })
  })

/** Ids of the story; those of its run, its finding and its corrected NAV come with it. */
const ids: Record<string, string> = {
  instrumentId,
  holderId: "h1",
  subscriptionId: "s1",
  redemptionId: "r1",
  cycleId: "c1",
  standingSettlementId: "t1",
  distributionId: "d-july",
  lineId: "d-july.1",
  year: "2026",
  standingApprovalId: "sa1",
  restrictionId: "x1",
  holdId: "p1",
  ...Reserves.ids,
  externalSourceId: Bank.sourceOf(instrumentId)
}

/** Parameters that a read requires besides the ids of its path. */
const besides: Readonly<Record<string, Readonly<Record<string, string | ReadonlyArray<string>>>>> =
  {
    "instruments.series": { metric: "supply" },
    "instruments.precheck": { act: "subscription.claim", holderId: "h1", amount: "1000" },
    // An auditor names the role whose work it reads.
    "work.list": { role: ["operator"] },
    "work-counts.list": { role: ["operator"] }
  }

const paramsOf = ({ name, params, route }: Read.Read): unknown => {
  const named = [...route.matchAll(/\{([a-zA-Z]+)\}/g)].map(([, id = ""]) => [id, ids[id]])
  return Schema.decodeUnknownSync(params)({ ...Object.fromEntries(named), ...besides[name] })
}

/** A declared read, called by its shape. */
const asks = (client: Client.Client, read: Read.Read, pointAndPage: Client.PointAndPage) =>
  read.shape === "list"
    ? heard(client.list(read, paramsOf(read) as never, pointAndPage))
    : heard(client.one(read, paramsOf(read) as never, pointAndPage))

const pinned: ReadonlyArray<Read.Read> = Catalogue.queries.filter((read) => read.pinned)

/** One page, the whole list, one value: how a read of its shape may be asked. */
const waysOf = ({ shape }: Read.Read): ReadonlyArray<Client.PointAndPage> =>
  shape === "list" ? [{}, { limit: 1 }] : [{}]

/** One answer, and what the other instance said later to the same read: at the latest, and repeated. */
interface Told {
  readonly name: string
  readonly pointAndPage: Client.PointAndPage
  readonly bytes: string
  readonly latest: string
  readonly all: string
  /** Null where the record is not in the ledger's history of then: the engine wrote it later. */
  readonly ledger: string | null
}

/** Every pinned read from one instance, then writes, then the same from the other. */
const walked = (here: Client.Client, there: Client.Client) =>
  Effect.gen(function* () {
    const played = yield* story
    const answers = yield* Effect.forEach(
      pinned.flatMap((read) => waysOf(read).map((pointAndPage) => ({ read, pointAndPage }))),
      ({ pointAndPage, read }) =>
        Effect.map(asks(here, read, pointAndPage), (heard) => ({ read, ...heard }))
    )
    yield* done(Calls.write("hold.release", { holdId: "p1" }, {}))
    const pages = yield* here.pages(subscriptions, {}, { limit: 1 }).pipe(
      // Writes an order between two pages, which is on neither.
      Stream.tap(() => claims(`between-${++between}`, "h1")),
      Stream.runCollect
    )
    yield* more(played)
    const repeats = yield* Effect.forEach(answers, ({ answer, bytes, read }) =>
      Effect.gen(function* () {
        const { pointAndPage } = answer
        const latest = yield* asks(there, read, pointAndPage)
        const all = yield* asks(there, read, Client.repeat(answer))
        const ledger = yield* asks(there, read, Client.repeat(answer, "ledger")).pipe(
          Effect.map(({ bytes }) => bytes),
          Effect.catchIf(isNotFound, () => Effect.succeed(null))
        )
        const { name } = read
        return {
          name,
          pointAndPage,
          bytes,
          latest: latest.bytes,
          all: all.bytes,
          ledger
        } satisfies Told
      })
    )
    const again = yield* Effect.forEach(pages, (page) =>
      there.list(subscriptions, {}, Client.repeat(page))
    )
    const [first] = pages
    if (first === undefined) throw new Error("no page")
    const whole = yield* Stream.runCollect(there.pages(subscriptions, {}, Client.repeat(first)))
    const operations = Client.read("operations.list")
    const unpinned = yield* here.list(operations, {})
    const refused = yield* Effect.flip(there.list(operations, {}, Client.repeat(unpinned)))
    return { repeats, pages, again, whole, refused }
  })
const subscriptions = Client.read("subscriptions.list")
let between = 0

const isNotFound = (error: Client.CallError): boolean =>
  error._tag === "CallRefused" && error.slug === "not-found"

const instances = Effect.gen(function* () {
  const built = yield* Layer.build(instance())
  const other = yield* Layer.build(instance())
  const here = yield* clientOf(Context.get(built, HttpServer.HttpServer))
  const there = yield* clientOf(Context.get(other, HttpServer.HttpServer))
  return yield* Effect.provide(walked(here, there), built)
})

let found: Effect.Success<typeof instances>
beforeAll(async () => {
  found = await Effect.runPromise(instances.pipe(Effect.provide(layer), Effect.scoped))
})

/** Reads of records that the ledger dates alone. */
const ofLedger = [
  "instruments.prices",
  "instruments.series",
  "instruments.register",
  "instruments.movements",
  "holders.movements",
  "holders.portfolio",
  "holders.statements",
  "holders.tax-statement",
  "holders.admissions",
  "subscriptions.get",
  "redemptions.get"
]

/** All of a page but when it was answered, and to what. */
const shown = <A>({ ledgerTime, next, offset, value }: Client.Page<A>) => ({
  ledgerTime,
  next,
  offset,
  value
})

/** The story's statement states prices, whose lines no write changes: test/reads/statement-lines.prop.ts has cash. */
const linesOfPrices = "external-statements.lines"

describe("an answer of the client, repeated at another instance after further writes", () => {
  it("is the same bytes but now, for every pinned read", () => {
    expect(new Set(found.repeats.map(({ name }) => name)).size).toBe(pinned.length)
    for (const { all, pointAndPage, bytes, latest, name } of found.repeats) {
      expect([name, pointAndPage, all]).toEqual([name, pointAndPage, bytes])
      const isChanged = name !== linesOfPrices
      expect([name, pointAndPage, latest !== bytes]).toEqual([name, pointAndPage, isChanged])
    }
  })

  it("is the same bytes by its offset where the ledger dates all of it, and not where the engine wrote", () => {
    const dated = found.repeats.filter(
      ({ pointAndPage, name }) => pointAndPage.limit === undefined && ofLedger.includes(name)
    )
    expect(dated.map(({ name }) => name)).toEqual(
      pinned.map(({ name }) => name).filter((name) => ofLedger.includes(name))
    )
    for (const { bytes, ledger, name } of dated) expect([name, ledger]).toEqual([name, bytes])
    const restriction = found.repeats.find(({ name }) => name === "restrictions.get")
    expect(restriction?.ledger).toBeNull()
  })

  it("is the same page, next included, whichever page of a list it was", () => {
    expect(found.pages).toHaveLength(2)
    expect(found.again.map((page) => shown(page))).toEqual(found.pages.map((page) => shown(page)))
  })

  it("is the whole list, page by page, from the first of its pages", () => {
    expect(found.whole.map((page) => shown(page))).toEqual(found.pages.map((page) => shown(page)))
  })

  it("is refused where a read takes no point, by the name of what it does not take", () => {
    expect(found.refused).toMatchObject({
      slug: "invalid-request",
      problem: { errors: [{ pointer: "/query/asOf" }] }
    })
  })
})

describe("what an answer is asked for again with", () => {
  const envelope = { offset: Offset.of(7), now: Instant.of("2026-07-31T12:00:00Z") }
  const { now, offset } = envelope
  const then = Instant.of("2026-07-30T12:00:00Z")
  const cursor = { limit: 2, after: "cursor" }
  it.each<[string, Client.PointAndPage | undefined, Client.PointAndPage, Client.PointAndPage]>([
    ["of the latest, whose envelope was kept", undefined, { asOf: now }, { at: offset }],
    ["of the latest", {}, { asOf: now }, { at: offset }],
    ["of a page", { limit: 2 }, { limit: 2, asOf: now }, { limit: 2, at: offset }],
    ["of a later page", cursor, cursor, cursor],
    ["asked as of an instant", { asOf: then }, { asOf: then }, { at: offset }],
    ["asked at an offset", { at: offset }, { at: offset }, { at: offset }],
    [
      "of what changed since",
      { updatedFrom: then },
      { updatedFrom: then, asOf: now },
      { updatedFrom: then, at: offset }
    ]
  ])("holds for an answer %s", (_, pointAndPage, all, ledger) => {
    const answer = pointAndPage === undefined ? envelope : { ...envelope, pointAndPage }
    expect(Client.repeat(answer)).toEqual(all)
    expect(Client.repeat(answer, "ledger")).toEqual(ledger)
  })
})
