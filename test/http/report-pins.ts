/**
 * Every report over HTTP at points of a history, kept byte for byte: asked for again after later
 * updates, and of a host that was started anew on the same stores.
 */
import { Engine, Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Templates from "@bursar/engine-core/templates"
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, type Duration, Effect, Layer, Logger, Redacted, type Scope } from "effect"
import { HttpServer } from "effect/http"
import { TestClock } from "effect/testing"
import { expect } from "vitest"
import { holders } from "#core/holders/holder/Holder.ts"
import * as Calls from "../engine/calls.ts"
import { movedClock } from "../engine/moved-clock.ts"
import { ports, type world } from "../engine/world.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"
import * as Powers from "../operations/powers.ts"
import * as Restricting from "../operations/restricting.ts"
import * as Twins from "./twins.ts"

/** Tags of answers are the same at every host that has the key. */
const key = { id: 1, secret: new Uint8Array(32).fill(7) }

/** A store that can be opened again with what is in it, and the clock that a test moves. */
export type Place = Effect.Effect<
  {
    readonly store: Layer.Layer<Memory.Storage, unknown>
    readonly clock: Layer.Layer<never>
  },
  unknown,
  Scope.Scope
>

export const memory: Place = Effect.map(Layer.build(Memory.layer), (store) => ({
  store: Layer.succeedContext(store),
  clock: TestClock.layer() as Layer.Layer<never>
}))

/**
 * PostgreSQL, whose queues compare `run_at` with the database's clock: a step of the test's clock is
 * subtracted from every item's `run_at` and lease, otherwise a scheduled task would not become due
 * before as much real time has passed.
 */
export const postgres: Place = Effect.gen(function* () {
  const url = Redacted.make(yield* TestDatabase.url)
  const own = yield* Layer.build(PgClient.layer({ url, maxConnections: 1 }))
  const sql = Context.get(own, PgClient.PgClient)
  const moved = movedClock()
  const advance = (by: number) => {
    const step = `${by} milliseconds`
    return sql`update bursar.work set run_at = run_at - ${step}::text::interval,
      leased_until = leased_until - ${step}::text::interval`
  }
  const passing = (step: Effect.Effect<void>) =>
    Effect.gen(function* () {
      const before = moved.offset()
      yield* step
      yield* Effect.orDie(advance(moved.offset() - before))
    })
  const clock = {
    ...moved.clock,
    adjust: (by: Duration.Input) => passing(moved.clock.adjust(by)),
    setTime: (to: number) => passing(moved.clock.setTime(to))
  }
  return {
    store: Postgres.layer({ url }) as typeof Memory.layer,
    clock: Layer.succeed(Clock.Clock, clock)
  }
})

/** Lives of a venue: hosts one after the other on the same stores, ledger and clock. */
export const lives = <A>(
  place: Place,
  live: (life: <B>(use: Effect.Effect<B, unknown, Services>) => Promise<B>) => Promise<A>
): Promise<A> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const { store, ...layers } = yield* place
        const clock = (yield* Layer.build(layers.clock)) as Context.Context<never>
        const around = yield* Effect.provideContext(
          Layer.build(ports({ settings: { batchLines: 2, cursorKeys: [key] } })),
          clock
        )
        return yield* Effect.promise(() =>
          live((use) =>
            Effect.runPromise(
              use.pipe(
                Effect.provide(
                  Twins.served.pipe(
                    Layer.provideMerge(Engine.layer),
                    Layer.provideMerge(store),
                    Layer.provideMerge(Layer.succeedContext(around)),
                    Layer.provideMerge(Layer.succeedContext(clock)),
                    Layer.provideMerge(Logger.layer([])),
                    Layer.orDie
                  )
                ),
                Effect.orDie
              )
            )
          )
        )
      }).pipe(Effect.orDie)
    )
  )

/** One life of a host: the engine over its ports, and its server. */
export type Services = Layer.Success<ReturnType<typeof world>> | Twins.Services

// ---- what is asked

const zones = ["UTC", "America/Sao_Paulo", "Australia/Lord_Howe"]
const metrics = [
  "supply",
  "price",
  "holders",
  "subscriptions",
  "redemptions",
  "distributions",
  "cover"
]

/** Every report, and the records that they are made of. */
const paths = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.list(holders, { limit: 100 })
  const instrument = "/v1/instruments/fund-a"
  return [
    `${instrument}/register`,
    `${instrument}/register?format=csv`,
    `${instrument}/movements`,
    `${instrument}/movements?format=csv`,
    `${instrument}/prices`,
    `${instrument}/policy/versions`,
    ...metrics.map((metric) => `${instrument}/series?metric=${metric}&zone=${zones[1]}`),
    "/v1/distribution-calendar?from=2026-06&to=2027-03",
    "/v1/distributions",
    "/v1/holds",
    "/v1/reserves",
    "/v1/reserves/res-1",
    "/v1/reserves/res-1/reports",
    ...found.flatMap(({ record: { holderId } }, nth) => {
      const zone = zones[nth % zones.length]
      const holder = `/v1/holders/${holderId}`
      return [
        `${holder}/movements`,
        `${holder}/movements?format=csv`,
        `${holder}/portfolio`,
        `${holder}/statements?zone=${zone}`,
        `${holder}/tax-statements/2026?zone=${zone}`
      ]
    })
  ]
})

const asking = (path: string, point: string) => `${path}${path.includes("?") ? "&" : "?"}${point}`

interface Answer {
  readonly status: number
  readonly text: string
  readonly offset: number | null
  readonly now: string | null
}

/** An answer as it is kept: status, tag and bytes, without the instant it was given at. */
const ask = Effect.fnUntraced(function* (path: string) {
  const { address } = yield* HttpServer.HttpServer
  const as = yield* Twins.token("auditor")
  const port = "port" in address ? address.port : 0
  const { head, status, text } = yield* Twins.call(
    { port, found: new Map(), storeCalls: [] },
    { path, as }
  )
  const members = /^\{.*?"offset":(?<offset>\d+)/su.exec(text)?.groups
  const now = /"now":"(?<now>[^"]+)"/u.exec(text)?.groups?.["now"] ?? null
  const tag = /^etag: .*$/mu.exec(head)?.[0] ?? "no tag"
  return {
    status,
    text: `${status} ${tag}\n${text.replace(/"now":"[^"]+"/u, '"now":"one"')}`,
    offset: members === undefined ? null : Number(members["offset"]),
    now
  } satisfies Answer
})

// ---- looks

/** Answers kept, by the path with its point. */
export type Kept = Map<string, string>

export interface Looking {
  readonly kept: Kept
  /** Of every so many reports one is asked for at a look, another each time. */
  readonly every: number
  /** True: also at each offset that was reached since the look before. */
  readonly isOfEachOffset: boolean
  looks: number
  /** Offset of the last look. */
  reached: number
  /** Reports whose answers as of an instant were compared with the answer at the offset they name. */
  readonly alike: Set<string>
}

export const looking = (looking: Pick<Looking, "every" | "isOfEachOffset">): Looking => ({
  ...{ kept: new Map(), alike: new Set(), looks: 0, reached: 0 },
  ...looking
})

const keep = (looking: Looking, path: string, { text }: Answer) => {
  const before = looking.kept.get(path)
  if (before !== undefined) expect(text, path).toBe(before)
  looking.kept.set(path, text)
}

/** A point that the engine has not read yet; of an asset that it knows nothing of unless one is named. */
const foreign = (
  by: Fund.Outsider,
  venue: Fund.Parties["venue"],
  changes: Partial<Templates.Payload<typeof Templates.OraclePoint>> = {}
) =>
  by.submit(
    Templates.create(Templates.OraclePoint, {
      oracle: by.party,
      venue,
      fund: by.party,
      registrar: by.party,
      attestors: [],
      instrumentId: "elsewhere",
      metric: "price",
      value: Decimal.of("1"),
      valuationTime: Instant.of("2026-01-01T00:00:00Z"),
      period: null,
      withholdingRate: null,
      statementRef: null,
      corrects: null,
      ...changes
    })
  )

/**
 * True within minutes of midnight in some time zone, by the clock or by the ledger: all zones
 * change day at a half hour.
 */
const isNearMidnight = (now: Instant.Instant): boolean => {
  const half = 1_800_000
  const past = Instant.toEpochMillis(now) % half
  return past > half - 120_000 || past < 90_000
}

/**
 * Asks for reports at the offset that is reached, and as of now: kept. An update of no matter for them
 * is projected first, and so nothing of the engine's own lies between the offset and the instant.
 */
export const look = (looking: Looking, bystander: Fund.Outsider, every = looking.every) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    yield* foreign(bystander, ledger.venue)
    yield* Calls.catchUp
    const at = yield* ledger.ledgerEnd
    yield* TestClock.adjust("2 seconds")
    const now = yield* Instant.now
    const between = Instant.fromNanos(now - 1_000_000_000n)
    const all = yield* paths
    const turn = looking.looks++
    const chosen = all.filter((_, nth) => (nth + turn) % every === 0)
    const passed = looking.isOfEachOffset ? at - looking.reached - 1 : 0
    for (let nth = 1; nth <= passed; nth++) {
      for (const path of chosen) {
        const then = asking(path, `at=${looking.reached + nth}`)
        keep(looking, then, yield* ask(then))
      }
    }
    looking.reached = at
    for (const path of chosen) {
      const pinned = yield* ask(asking(path, `at=${at}`))
      keep(looking, asking(path, `at=${at}`), pinned)
      const then = asking(path, `asOf=${Instant.format(between)}`)
      const before = yield* ask(then)
      keep(looking, then, before)
      // The latest is repeated as of its own instant, for ever.
      const latest = yield* ask(path)
      if (latest.now !== null) keep(looking, asking(path, `asOf=${latest.now}`), latest)
      if (isNearMidnight(now)) continue
      for (const other of [before, latest]) {
        if (other.status !== 200) continue
        // A table has no member that names its offset.
        expect(other.offset ?? at, then).toBe(at)
        expect(other.text, `${then}, the latest, and at ${at}`).toBe(pinned.text)
        looking.alike.add(reportOf(path))
      }
    }
  })

/** Moves the clock on where it is near midnight in some zone. */
const leaveMidnight = Effect.gen(function* () {
  if (isNearMidnight(yield* Instant.now)) yield* TestClock.adjust("4 minutes")
})

/**
 * Reports that go on with the ledger's time alone: the clock changes nothing in them. A portfolio is
 * none, since income accrues by the day while the ledger rests.
 */
const isTimeless = (path: string): boolean =>
  /\/(?:movements|statements|tax-statements)\b/u.test(path)

/** Lets months pass in which nothing is written: what is timeless is the same now as at the offset. */
const rest = Effect.gen(function* () {
  const { ledgerEnd } = yield* Ledger.Ledger
  const at = yield* ledgerEnd
  const all = (yield* paths).filter(isTimeless)
  const before = yield* Effect.forEach(all, (path) => ask(asking(path, `at=${at}`)))
  yield* TestClock.adjust("240 days")
  for (const [nth, path] of all.entries()) {
    const { offset, text } = yield* ask(path)
    expect([null, at]).toContain(offset)
    expect(text, `${path} after a rest`).toBe(before[nth]?.text)
  }
  return all.length
})

/** Asks for everything again; returns how many answers there were with something in them. */
export const again = Effect.fnUntraced(function* ({ kept }: Looking) {
  let answered = 0
  for (const [path, before] of kept) {
    const { status, text } = yield* ask(path)
    if (status === 200) answered += 1
    if (text !== before) expect(text, path).toBe(before)
  }
  return answered
})

/** The report that a path asks for, of whichever holder, point and zone. */
const reportOf = (path: string): string =>
  path.replace(/[?&](?:at|asOf|zone)=[^&]*/gu, "").replace(/\/holders\/[^/]+/u, "/holders/one")

/** The five reports, each in every format that it has. */
export const reports = [
  "/v1/holders/one/movements",
  "/v1/holders/one/movements?format=csv",
  "/v1/holders/one/portfolio",
  "/v1/holders/one/statements",
  "/v1/holders/one/tax-statements/2026",
  "/v1/instruments/fund-a/movements",
  "/v1/instruments/fund-a/movements?format=csv",
  "/v1/instruments/fund-a/register",
  "/v1/instruments/fund-a/register?format=csv"
]

// ---- what comes later

interface Later {
  readonly stage: Fund.Parties
  readonly holders: ReadonlyArray<Cycles.Holder>
  /** A holder with units that its issuer may recover; null: there is no such agreement. */
  readonly recovered: Cycles.Holder | null
  /** Series that the oracle's points of the instrument belong to; absent: its price. */
  readonly metric?: "price" | "index"
}

/**
 * Updates of mints and of points for days long past, which the engine reads in one batch and
 * answers with no write of its own.
 */
const updates = Effect.fnUntraced(function* (
  { holders: all, metric = "price", stage }: Later,
  count: number
) {
  const credentials = yield* Effect.forEach(all, ({ party }) =>
    Powers.saying(Templates.Credential, { holder: party })
  )
  for (let nth = 0; nth < count; nth++) {
    const { cid } = credentials[nth % credentials.length]!
    yield* nth % 4 === 3
      ? foreign(stage.oracle, stage.venue, {
          fund: stage.fund.party,
          registrar: stage.registrar.party,
          instrumentId: "fund-a",
          metric,
          valuationTime: Instant.fromNanos(
            Instant.of("2026-06-30T12:00:00Z") + BigInt(nth) * 3_600_000_000_000n
          )
        })
      : stage.registrar.submit(
          Templates.exercise(Templates.Credential, cid, "Receive", {
            amount: Decimal.of("0.000001"),
            reference: { kind: "opening", id: `later-${nth}` },
            configurationCid: null
          })
        )
  }
  yield* Calls.catchUp
})

const succeeds = (ended: Calls.Ended) => expect([ended.state, ended.why]).toEqual(["succeeded", ""])

/** Later updates that a report of the past must not show: terms, people, prices, ends of months and years. */
const happens = Effect.fnUntraced(function* (event: Later, count: number) {
  const { recovered, stage } = event
  const others = event.holders.filter((one) => one !== recovered)
  const [first, second = first] = others
  if (first === undefined || second === undefined) throw new Error("there is no other holder")
  yield* updates(event, count)
  if (recovered !== null) {
    const next = yield* Powers.succeeds(stage, recovered, { id: "heir" })
    yield* Powers.consents(next)
    succeeds(yield* Powers.recovers(recovered.holderId))
  }
  const attribute = (name: string, value: string) => ({
    ...{ name, value, evidenceHash: "ab".repeat(32), state: "valid" }
  })
  succeeds(
    yield* Calls.write(
      "holder.set-attributes",
      { holderId: first.holderId },
      { attributes: [attribute("tax-exemption", "02"), attribute("tax-rate", "0.5")] }
    )
  )
  const points = yield* Cycles.active(Templates.OraclePoint)
  const own = points.filter(({ payload }) => payload.oracle === stage.oracle.party)
  const [corrected, withdrawn] = [own[0], own[1]]
  if (corrected !== undefined) {
    yield* stage.oracle.act(
      Templates.exercise(Templates.OraclePoint, corrected.cid, "Correct", {
        value: Decimal.of("1"),
        valuationTime: Instant.of(String(corrected.payload.valuationTime)),
        period: null,
        withholdingRate: null,
        statementRef: null
      })
    )
  }
  if (withdrawn !== undefined) {
    const { cid: contractId } = withdrawn
    const target = Templates.OraclePoint.typeRef
    yield* stage.oracle.act({ _tag: "Exercise", target, contractId, choice: "Archive", arg: {} })
  }
  const other = yield* Fund.outsider("another-oracle")
  succeeds(yield* Cycles.changes(1, { oracle: other.party, display: { displayName: "=1+1" } }))
  succeeds(yield* Restricting.restricts(second.holderId, "later"))
  succeeds(
    yield* Calls.write("instrument.pause", { instrumentId: "fund-a" }, { reason: "a question" })
  )
  yield* Cycles.at("2027-09-05T12:00:00Z")
  yield* updates({ ...event, holders: others }, 4)
})

// ---- the law

export interface History {
  /** Plays it, and calls `each` after every act. */
  readonly play: (
    each: Effect.Effect<unknown, unknown, Services>
  ) => Effect.Effect<Later, unknown, Services>
}

/**
 * Plays a history and looks at its reports; asks for all of them again after so many later updates, and
 * of a host that was started anew. Returns how many were answered each time.
 */
export const keeps = async (
  history: History,
  options: {
    readonly place: Place
    readonly updates: number
  } & Pick<Looking, "every" | "isOfEachOffset">
) => {
  const looks = looking(options)
  const counts = await lives(options.place, async (life) => {
    const after = await life(
      Effect.gen(function* () {
        const bystander = yield* Fund.outsider("bystander")
        const later = yield* history.play(look(looks, bystander))
        yield* Calls.settle
        yield* leaveMidnight
        yield* look(looks, bystander, 1)
        expect(yield* rest).toBeGreaterThan(0)
        yield* happens(later, options.updates)
        return yield* again(looks)
      })
    )
    return { after, anew: await life(again(looks)) }
  })
  const answered = [...looks.kept.values()].filter((text) => text.startsWith("200 ")).length
  const payments = [...looks.kept].filter(
    ([path, text]) => path.includes("/tax-statements/") && text.includes('"lineId"')
  )
  return {
    ...counts,
    answered,
    payments: payments.length,
    /** Of the five reports, those whose answers as of an instant and at its offset were the same. */
    alike: reports.filter((report) => looks.alike.has(report))
  }
}
