/**
 * Tipping off: two venues that differ in a restriction or a screening answer an investor alike,
 * byte for byte.
 */
import { Catalogue, Screenings } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Calls from "../engine/calls.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"
import * as Powers from "../operations/powers.ts"
import * as Reconciling from "../operations/reconciling.ts"
import * as Twins from "./twins.ts"
import { isLong } from "../long-run.ts"

// ---- a history by chance

type Who = "h1" | "h2"
type Step =
  | { readonly does: "subscribe" | "redeem"; readonly who: Who; readonly size: number }
  | { readonly does: "withdraw"; readonly who: Who }
  | { readonly does: "price"; readonly price: string }
  | { readonly does: "cycle" }
  | { readonly does: "consent"; readonly who: Who }
  | { readonly does: "wait"; readonly hours: number }

const stepBy = (...people: readonly [Who, ...Who[]]): fc.Arbitrary<Step> => {
  const who = fc.constantFrom(...people)
  const size = fc.integer({ min: 1, max: 900 })
  return fc.oneof(
    { weight: 3, arbitrary: fc.record({ does: fc.constant("subscribe" as const), who, size }) },
    { weight: 3, arbitrary: fc.record({ does: fc.constant("redeem" as const), who, size }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("withdraw" as const), who }) },
    {
      weight: 1,
      arbitrary: fc.record({
        does: fc.constant("price" as const),
        price: fc.constantFrom("1.25", "1.5", "0.8")
      })
    },
    { weight: 1, arbitrary: fc.constant({ does: "cycle" as const }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("consent" as const), who }) },
    {
      weight: 1,
      arbitrary: fc.record({
        does: fc.constant("wait" as const),
        hours: fc.integer({ min: 1, max: 30 })
      })
    }
  )
}

interface Scene {
  readonly stage: Fund.Parties
  readonly holders: Readonly<Record<"h1" | "h2" | "decoy", Cycles.Holder>>
  /** The orders made, by kind and holder. */
  readonly orders: Array<{ readonly kind: Step["does"]; readonly who: Who; readonly id: string }>
  readonly cycles: Array<string>
}

const opened = Effect.gen(function* () {
  const { stage, holders: all } = yield* Cycles.opened(["h1", "h2", "decoy"])
  const [h1, h2, decoy] = all
  if (h1 === undefined || h2 === undefined || decoy === undefined) throw new Error("no holders")
  yield* Fund.publishes(stage, "1.25", "2026-07-31T11:00:00Z")
  for (const one of [h1, h2, decoy]) yield* Powers.mints(stage, one, "100000")
  yield* Powers.agrees(stage)
  return { stage, holders: { h1, h2, decoy }, orders: [], cycles: [] } satisfies Scene as Scene
})

const nowText = Effect.map(Clock.currentTimeMillis, (millis) =>
  Instant.format(Instant.fromEpochMillis(millis))
)

/** Outcome of a step, as staff reads it. */
const play = (scene: Scene, step: Step) =>
  Effect.gen(function* () {
    const { stage, orders, cycles } = scene
    switch (step.does) {
      case "subscribe": {
        const id = `s${orders.length}`
        const claim = { id, amount: String(step.size) }
        const { why } = yield* Cycles.subscribes(stage, scene.holders[step.who], claim)
        if (why === "") orders.push({ kind: "subscribe", who: step.who, id })
        return why
      }
      case "redeem": {
        const id = `r${orders.length}`
        const redemption = { id, units: String(step.size) }
        const { why } = yield* Cycles.redeems(stage, scene.holders[step.who], redemption)
        if (why === "") orders.push({ kind: "redeem", who: step.who, id })
        return why
      }
      case "withdraw": {
        const last = orders.findLast(({ who }) => who === step.who)
        if (last === undefined) return ""
        return last.kind === "subscribe"
          ? (yield* Calls.write("subscription.withdraw", { subscriptionId: last.id }, {})).why
          : (yield* Calls.write("redemption.withdraw", { redemptionId: last.id }, {})).why
      }
      case "price":
        yield* TestClock.adjust("1 minute")
        yield* Fund.publishes(stage, step.price, yield* nowText)
        return ""
      case "cycle": {
        const id = `c${cycles.length}`
        const { why } = yield* Cycles.opens(id)
        if (why === "") cycles.push(id)
        return why
      }
      case "consent":
        return (yield* Powers.offers(step.who)).why
      case "wait":
        yield* TestClock.adjust(`${step.hours} hours`)
        yield* Calls.settle
        return ""
    }
  })

// ---- everything an investor may ask

const precheckOf = (holderId: string, orders: Scene["orders"]): ReadonlyArray<string> => [
  `act=instrument.recover&holderIds=${holderId}`,
  `act=instrument.force-transfer&moves=${holderId}:h2&documentHash=${Twins.order.documentHash}`,
  `act=admission.offer&holderId=${holderId}`,
  `act=subscription.claim&holderId=${holderId}&amount=100`,
  `act=redemption.claim&holderId=${holderId}&units=10`,
  `act=redemption.claim&holderId=${holderId}&units=1000000`,
  `act=dealing-cycle.settle&cycleId=c0`,
  ...orders.flatMap(({ kind, id }) =>
    kind === "subscribe"
      ? [
          `act=subscription.deliver&subscriptionId=${id}`,
          `act=subscription.settle&subscriptionId=${id}`
        ]
      : [`act=redemption.settle&redemptionId=${id}`]
  )
]

/** Reads that are exported as a table. */
const tables = new Set<string>(
  Catalogue.queries.flatMap((read) => ("csv" in read && read.csv !== undefined ? [read.name] : []))
)

const queriesOf = (name: string, subject: { readonly holderId: string; readonly scene: Scene }) => {
  if (name === "instruments.precheck") return precheckOf(subject.holderId, subject.scene.orders)
  if (name === "instruments.series") return ["metric=price", "metric=supply"]
  if (name === "holders.statements") return ["", "month=2026-07&zone=America/New_York"]
  if (tables.has(name)) return ["", "format=csv"]
  return [""]
}

/** Every path of every read of a role: now, page by page, and at a point of before or after. */
const pathsOf = (
  role: "investor" | "app",
  subject: {
    readonly holderId: string
    readonly scene: Scene
    readonly points: ReadonlyArray<string>
  }
): ReadonlyArray<string> => {
  const { holderId, points, scene } = subject
  let turn = 0
  return Twins.readsOf(role).flatMap((read) => {
    const route = read.route.slice("GET ".length)
    const orders = (kind: Step["does"]) =>
      scene.orders.filter((one) => one.kind === kind).map(({ id }) => id)
    const named: Readonly<Record<string, ReadonlyArray<string>>> = {
      instrumentId: ["fund-a"],
      holderId: ["h1", "h2", "h1-next"],
      subscriptionId: orders("subscribe"),
      redemptionId: orders("redeem"),
      cycleId: [...scene.cycles, "none"]
    }
    const parameter = /\{([A-Za-z]+)\}/u.exec(route)?.[1]
    const paths =
      parameter === undefined
        ? [route]
        : (named[parameter] ?? ["none"]).map((id) =>
            route.replace(`{${parameter}}`, id).replace("{year}", "2026")
          )
    return paths.flatMap((path) =>
      queriesOf(read.name, { holderId, scene }).flatMap((query) => {
        const point = read.pinned ? points[turn++ % points.length] : undefined
        return [
          [query],
          ...(point === undefined ? [] : [[query, point]]),
          ...(read.shape === "list" && query !== "format=csv" ? [[query, "limit=1"]] : [])
        ].map((parts) => {
          const queryText = parts.filter((part) => part !== "").join("&")
          return queryText === "" ? path : `${path}?${queryText}`
        })
      })
    )
  })
}

interface Told {
  readonly answers: ReadonlyMap<string, { readonly status: number; readonly text: string }>
  /** Calls to the stores for each path, in order. */
  readonly storeCalls: ReadonlyMap<string, string>
}

/** The answers to a caller, every page of them. */
const answers = (twin: Twins.Twin, as: string, paths: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const answerByPath = new Map<string, { readonly status: number; readonly text: string }>()
    const storeCalls = new Map<string, string>()
    for (const path of paths) {
      for (let page = path; ; ) {
        const { head, status, text } = yield* Twins.call(twin, { path: page, as })
        answerByPath.set(page, { status, text: `${head}\n\n${text}` })
        if (!path.includes("limit=1") || status !== 200) break
        const { next } = JSON.parse(text) as { readonly next: string | null }
        if (next === null) break
        page = `${path}&after=${encodeURIComponent(next)}`
      }
    }
    // Asked again, so that it is no matter what a write of before happened to leave in memory.
    for (const path of paths) {
      twin.storeCalls.length = 0
      yield* Twins.call(twin, { path, as })
      storeCalls.set(path, twin.storeCalls.join("\n"))
    }
    return { answers: answerByPath, storeCalls } satisfies Told as Told
  })

// ---- twins

type Holder = "h1" | "h2" | "h1-next"
interface Played {
  readonly before: ReadonlyArray<Step>
  readonly after: ReadonlyArray<Step>
}
/** Every history begins with these, so that every read has something to answer. */
const always: ReadonlyArray<Step> = [
  { does: "cycle" },
  ...(["h1", "h2"] as const).flatMap(
    (who): ReadonlyArray<Step> => [
      { does: "subscribe", who, size: 500 },
      { does: "redeem", who, size: 20 }
    ]
  )
]

/** A step done in one of the two venues and not in the other. */
type Doing = (
  scene: Scene,
  world: 0 | 1,
  twin: Twins.Twin
) => Effect.Effect<unknown, unknown, Twins.Services>

/** Names of the reads that answered with a record, over all runs. */
const answered = new Set<string>()

const playedAs = (
  world: 0 | 1,
  { before, after }: Played,
  act: { readonly doing: Doing; readonly callers: ReadonlyArray<Holder | "app"> }
) =>
  Twins.within((twin) =>
    Effect.gen(function* () {
      const scene = yield* opened
      const { mark, points } = Twins.pinsOf(twin)
      const became: Array<string> = []
      for (const step of always) became.push(yield* play(scene, step))
      for (const step of before) became.push(yield* play(scene, step))
      yield* mark
      yield* act.doing(scene, world, twin)
      yield* mark
      for (const step of after) became.push(yield* play(scene, step))
      const answersBy = new Map<string, Told>()
      for (const caller of act.callers) {
        const role = caller === "app" ? "app" : "investor"
        const as = yield* Twins.token(role, caller)
        const holderId = caller === "app" ? "h1" : caller
        const paths = pathsOf(role, { holderId, points, scene })
        const all = caller === "app" ? [...paths, "/v1/events?order=desc"] : paths
        answersBy.set(caller, yield* answers(twin, as, all))
      }
      return { became, answers: answersBy }
    })
  )

/**
 * Whether the precheck allows the act; an act refused in both venues must be refused in the same
 * words.
 */
const may = (text: string): string | undefined => /"allowed":(true|false)/u.exec(text)?.[1]

/**
 * A precheck without the members that may differ for a restricted holder: that it may not act, and
 * to ask the venue.
 */
const withoutMay = (text: string): string =>
  text
    .replace(/"allowed":(?:true|false)/u, '"allowed":"may"')
    .replace(
      /("gate":"admission","check":"standing",)"ok":(?:true|false),"detail":null,"recovery":(?:null|"Ask the venue\.")/u,
      '$1"may"'
    )
    .replace(/content-length: \d+/u, "content-length: of that")

/** The paths that the two answer otherwise than each other. */
const differing = (
  [one, other]: readonly [Told | undefined, Told | undefined],
  same: (path: string, one: string, other: string) => boolean
): ReadonlyArray<string> => {
  if (one === undefined || other === undefined) throw new Error("a caller was not asked for")
  for (const [path, { status }] of one.answers) {
    if (status === 200) answered.add(path.split("?")[0] ?? "")
  }
  const paths = new Set([...one.answers.keys(), ...other.answers.keys()])
  return [...paths].flatMap((path) => {
    const [a, b] = [one.answers.get(path), other.answers.get(path)]
    const isSame =
      a !== undefined && b !== undefined && a.status === b.status && same(path, a.text, b.text)
    const isAskedSame = one.storeCalls.get(path) === other.storeCalls.get(path)
    return [
      ...(isSame ? [] : [`${path}\n${a?.text ?? "nothing"}\n${b?.text ?? "nothing"}`]),
      ...(isAskedSame
        ? []
        : [`${path} asks ${one.storeCalls.get(path)} and ${other.storeCalls.get(path)}`])
    ]
  })
}

const compare = async (
  played: Played,
  act: {
    readonly doing: Doing
    readonly callers: ReadonlyArray<Holder | "app">
    /** Holders whose prechecks may differ between the venues. */
    readonly stopped?: ReadonlyArray<Holder>
    /**
     * Whether both venues permit the same acts: then the outcomes of all steps are compared too.
     */
    readonly permits: "the same" | "not the same"
  }
) => {
  const [one, other] = [await playedAs(0, played, act), await playedAs(1, played, act)]
  if (act.permits === "the same") expect(one.became).toEqual(other.became)
  for (const caller of act.callers) {
    const isStopped = act.stopped?.some((stopped) => stopped === caller) === true
    const same = (path: string, a: string, b: string) =>
      a === b ||
      (isStopped &&
        path.includes("/precheck?") &&
        may(a) !== may(b) &&
        withoutMay(a) === withoutMay(b))
    expect([
      caller,
      ...differing([one.answers.get(caller), other.answers.get(caller)], same)
    ]).toEqual([caller])
  }
}

const playedBy = (...people: readonly [Who, ...Who[]]): fc.Arbitrary<Played> =>
  fc.record({
    before: fc.array(stepBy("h1", "h2"), { maxLength: isLong ? 4 : 2 }),
    after: fc.array(stepBy(...people), { maxLength: isLong ? 3 : 2 })
  })

/** Twins of each law; the long run plays more of them. */
const numRuns = Number(process.env["TWINS"] ?? 1)
const check = <A>(arbitrary: fc.Arbitrary<A>, law: (given: A) => Promise<void>) =>
  fc.assert(fc.asyncProperty(arbitrary, law), { numRuns, endOnFailure: true })

// ---- what differs

const mode = fc.constantFrom("freeze", "receive-only", "redeem-only")
/** Why, by whom, on whose order, until when, on one instrument or on all there is. */
interface Why {
  readonly by: "operator" | "compliance" | "risk"
  readonly body: Readonly<Record<string, Calls.Json>>
}
const whys: ReadonlyArray<Why> = [
  { by: "operator", body: { reason: "sanctions" } },
  { by: "compliance", body: { reason: "court-order", order: Twins.order } },
  { by: "risk", body: { reason: "pledge", autoReleaseAt: "2027-01-01T00:00:00Z" } },
  { by: "compliance", body: { reason: "kyc-expired", instrumentId: "fund-a" } },
  { by: "risk", body: { reason: "other", restrictionId: "chosen", order: Twins.order } }
]
const why = fc.constantFrom(...whys)
const twoWhys = fc.shuffledSubarray([...whys], { minLength: 2, maxLength: 2 })

const succeeds = (ended: Effect.Effect<Calls.Ended, unknown, Twins.Services>) =>
  Effect.map(ended, ({ why: refusal }) => expect(refusal).toBe(""))
const restricts = (holderId: string, restriction: { readonly mode: string; readonly why: Why }) =>
  succeeds(
    Calls.write(
      "holder.restrict",
      { holderId },
      { mode: restriction.mode, ...restriction.why.body },
      Calls.person(restriction.why.by, restriction.why.by)
    )
  )
/** One of the two is h1; the other holder has no investor in this test. */
const oneOf = (world: 0 | 1) => (world === 0 ? "h1" : "decoy")

describe("an investor, any other, or the application that speaks for them", () => {
  it("never is told why a holder is restricted, on whose order, by whom or until when", () =>
    check(
      fc.record({ played: playedBy("h1", "h2"), mode, reasons: twoWhys }),
      ({ played, mode: as, reasons }) =>
        compare(played, {
          doing: (_, world) => restricts("h1", { mode: as, why: reasons[world] as Why }),
          callers: ["h1", "h2", "app"],
          permits: "the same"
        })
    ))

  it("never is told a hit from a restriction, or a hit from a doubt", () =>
    check(
      fc.record({
        played: playedBy("h1", "h2"),
        other: fc.constantFrom("in doubt", "not asked about"),
        why
      }),
      ({ played, other: is, why: reason }) =>
        compare(played, {
          doing: (_, world, { found }) =>
            Effect.gen(function* () {
              const screener = yield* Screenings
              const other = oneOf(world === 0 ? 1 : 0)
              found.set(oneOf(world), "confirmed").set(other, "possible")
              yield* screener.rescreen(oneOf(world))
              if (is === "in doubt") yield* screener.rescreen(other)
              yield* Calls.settle
              // In the other venue staff restricts the holder whom no hit restricted.
              yield* restricts(other, { mode: "freeze", why: reason })
            }),
          callers: ["h1", "h2", "app"],
          permits: "the same"
        })
    ))
})

// ---- who else deals in a cycle

/** A text without random ids and the ledger's own counts, which differ with every order. */
const blind = (text: string): string =>
  text
    .replaceAll(/"(uid|updateId|[A-Za-z]*Cid|cid|id)":"[0-9a-f]{64,}"/gu, '"$1":"one"')
    .replaceAll(/"offset":\d+/gu, '"offset":"one"')
    // With a fixed clock the writes of one instant are distinguished by their microseconds.
    .replaceAll(/(:\d\d)\.\d{6}Z"/gu, '$1Z"')
    .replaceAll(/"red_[0-9a-f]{32}"/gu, '"what is left over"')

/** The units that others give back in one cycle, order by order. */
type Others = ReadonlyArray<number>

/**
 * Everything that h1 reads of its cycle and of its order in it, from its claim to a gate that deals
 * half of the redemptions: the other holders redeem the units of `others`, in as many orders.
 */
const toldOfCycle = (own: number, others: Others) =>
  Twins.within((twin) =>
    Effect.gen(function* () {
      const scene = yield* opened
      const { h1, h2, decoy } = scene.holders
      const as = yield* Twins.token("investor", "h1")
      const differences: Array<string> = []
      const look = Effect.gen(function* () {
        for (const path of [
          "/v1/dealing-cycles",
          "/v1/dealing-cycles/c0",
          "/v1/redemptions",
          "/v1/open-orders"
        ]) {
          const { status, text } = yield* Twins.call(twin, { path, as })
          const { value } = JSON.parse(text) as { readonly value?: unknown }
          differences.push(`${status} ${path} ${blind(JSON.stringify(value))}`)
        }
        yield* TestClock.adjust("1 minute")
      })
      yield* Cycles.opens("c0")
      const orders = [
        { by: h1, id: "own", units: own },
        ...others.map((units, index) => ({
          by: index % 2 === 0 ? h2 : decoy,
          id: `other-${index}`,
          units
        }))
      ]
      const total = orders.reduce((sum, { units }) => sum + units, 0)
      const limits = { cycleCapacity: total / 2 }
      yield* succeeds(Cycles.changes(1, { limits }))
      for (const { by, id, units } of orders) {
        yield* succeeds(Cycles.redeems(scene.stage, by, { id, units: String(units) }))
        if (id === "own") yield* look
      }
      yield* look
      yield* Cycles.at(Cycles.friday)
      yield* look
      yield* Fund.publishes(scene.stage, "1", Cycles.friday)
      for (const { id, units } of orders.toReversed()) {
        const figure = String(units)
        yield* Cycles.pays(scene.stage, { id, units: figure, price: "1", proceeds: figure })
      }
      yield* look
      yield* Cycles.paysIn(scene.stage, scene.stage.fund, String(total))
      yield* Cycles.allocates(scene.stage, scene.stage.fund, {
        assetId: "USD",
        amount: String(total),
        to: scene.stage.fund,
        reference: "c0"
      })
      yield* succeeds(Cycles.settles("c0"))
      yield* look
      return differences
    })
  )

/** How far another holder's order comes before its cycle is released. */
type Course = "claimed" | "priced" | "withdrawn" | "subscribed"

interface Release {
  readonly own: "claimed" | "priced"
  readonly when: "before its cut-off" | "after its cut-off"
}

/**
 * Everything that h1 reads of a cycle that is released with its order in it, which may be priced:
 * other holders' orders take their courses beside it.
 */
const toldOfRelease = (release: Release, others: ReadonlyArray<Course>) =>
  Twins.within((twin) =>
    Effect.gen(function* () {
      const scene = yield* opened
      const { h1, h2, decoy } = scene.holders
      const as = yield* Twins.token("investor", "h1")
      const seen: Array<string> = []
      const look = Effect.gen(function* () {
        for (const path of ["/v1/dealing-cycles", "/v1/dealing-cycles/c0"]) {
          const { head, status, text } = yield* Twins.call(twin, { path, as })
          const { value } = JSON.parse(text) as { readonly value?: unknown }
          const etag = /^etag:/mu.test(head) ? "with" : "without"
          seen.push(`${status} ${etag} an ETag ${path} ${blind(JSON.stringify(value))}`)
        }
        yield* TestClock.adjust("1 minute")
      })
      yield* Cycles.opens("c0")
      const orders = [
        { by: h1, id: "own", course: release.own as Course },
        ...others.map((course, index) => ({
          by: index % 2 === 0 ? h2 : decoy,
          id: `other-${index}`,
          course
        }))
      ]
      for (const { by, id, course } of orders) {
        yield* succeeds(
          course === "subscribed"
            ? Cycles.subscribes(scene.stage, by, { id, amount: "10" })
            : Cycles.redeems(scene.stage, by, { id, units: "10" })
        )
      }
      yield* look
      for (const { id, course } of orders) {
        if (course !== "withdrawn") continue
        yield* succeeds(Calls.write("redemption.withdraw", { redemptionId: id }, {}))
      }
      yield* look
      if (release.when === "after its cut-off") {
        yield* Cycles.at(Cycles.friday)
        yield* Fund.publishes(scene.stage, "1", Cycles.friday)
        for (const { id, course } of orders.toReversed()) {
          if (course !== "priced") continue
          yield* Cycles.pays(scene.stage, { id, units: "10", price: "1", proceeds: "10" })
        }
        yield* look
      }
      yield* succeeds(Calls.write("dealing-cycle.release", { cycleId: "c0" }, {}))
      yield* look
      return seen
    })
  )

describe("an investor with an order in a dealing cycle", () => {
  it("is told the same of a released one, version and time included, whatever others did in it", () =>
    check(
      fc.record({
        release: fc.constantFrom<Release>(
          { own: "claimed", when: "before its cut-off" },
          { own: "claimed", when: "after its cut-off" },
          { own: "priced", when: "after its cut-off" }
        ),
        others: fc.array(fc.constantFrom<Course>("claimed", "priced", "withdrawn", "subscribed"), {
          minLength: 1,
          maxLength: 5
        })
      }),
      async ({ release, others }) => {
        const alone = await toldOfRelease(release, [])
        const beside = await toldOfRelease(release, others)
        expect(alone.filter((text) => !text.startsWith("200 "))).toEqual([])
        expect(alone.at(-1)).toContain('"endedAs":"released"')
        // Opened, claimed and ended; past its cut-off and priced, if it was.
        const version =
          release.when === "before its cut-off" ? 3 : release.own === "claimed" ? 4 : 5
        expect(alone.at(-1)).toContain(`"version":${version},`)
        expect(beside).toEqual(alone)
      }
    ))

  it("is told the same of it, however many others deal in it", () =>
    check(
      fc.record({
        own: fc.integer({ min: 1, max: 400 }),
        others: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 2, maxLength: 5 })
      }),
      async ({ own, others }) => {
        const one = await toldOfCycle(own, [others.reduce((sum, units) => sum + units, 0)])
        const many = await toldOfCycle(own, others)
        expect(one.filter((text) => !text.startsWith("200 "))).toEqual([])
        expect(one.join("\n")).toContain("what is left over")
        expect(many).toEqual(one)
      }
    ))
})

// ---- what an application may do is refused as its precheck says

/** Verdict on an act: `let`, or the first check that refuses it. */
type Verdict = "let" | `${string} ${string}`

interface Claim {
  readonly act: "subscription.claim" | "redemption.claim"
  readonly holderId: "h1" | "h2"
  readonly size: number
}

const claims: fc.Arbitrary<Claim> = fc.record({
  act: fc.constantFrom("subscription.claim" as const, "redemption.claim" as const),
  holderId: fc.constantFrom("h1" as const, "h2" as const),
  // The largest sizes exceed the units of the holder.
  size: fc.constantFrom(1, 50, 100_001, 900_000)
})

/** Refused whoever its holder is, and refused first for a restriction where there is one. */
const short: Claim = { act: "redemption.claim", holderId: "h1", size: 900_000 }

const verdictOf = (gates: ReadonlyArray<{ gate: string; check: string; ok: boolean }>): Verdict => {
  const first = gates.find(({ ok }) => !ok)
  return first === undefined ? "let" : `${first.gate} ${first.check}`
}

/**
 * The verdict of a role's precheck of a claim, and the outcome of the claim made right after it.
 */
const precheckAndClaim = (
  twin: Twins.Twin,
  as: string,
  { act, holderId, size }: Claim,
  nth: number
) =>
  Effect.gen(function* () {
    const member = act === "subscription.claim" ? "amount" : "units"
    const said = yield* Twins.call(twin, {
      path: `/v1/instruments/fund-a/precheck?act=${act}&holderId=${holderId}&${member}=${size}`,
      as
    })
    const { value } = JSON.parse(said.text) as {
      readonly value: { readonly gates: Parameters<typeof verdictOf>[0] }
    }
    const kind = act === "subscription.claim" ? "subscription" : "redemption"
    const done = yield* Twins.call(twin, {
      path: `/v1/${kind}s`,
      as,
      key: `claim-${nth}`,
      body: { instrumentId: "fund-a", holderId, payment: "wire", [member]: size }
    })
    const problem = JSON.parse(done.text) as { readonly gate?: string; readonly check?: string }
    return {
      precheck: verdictOf(value.gates),
      act: done.status === 202 ? "let" : `${problem.gate} ${problem.check}`
    } satisfies Readonly<Record<"precheck" | "act", Verdict>>
  })

describe("an application's act and its precheck", () => {
  it("say the same, and of a holder that may not act nothing that another is not told", () =>
    check(
      fc.record({ all: fc.array(claims, { minLength: 3, maxLength: 8 }), mode, why }),
      ({ all, mode: as, why: reason }) => {
        const played = (isRestricted: boolean) =>
          Twins.within((twin) =>
            Effect.gen(function* () {
              yield* opened
              if (isRestricted) yield* restricts("h1", { mode: as, why: reason })
              const app = yield* Twins.token("app", "app")
              const verdicts: Array<Readonly<Record<"precheck" | "act", Verdict>>> = []
              for (const [nth, one] of [short, ...all].entries()) {
                verdicts.push(yield* precheckAndClaim(twin, app, one, nth))
                yield* Calls.settle
              }
              return verdicts
            })
          )
        return Promise.all([played(true), played(false)]).then(([frozen, free]) => {
          for (const { act, precheck } of [...frozen, ...free]) expect(act).toBe(precheck)
          for (const [nth, { act }] of frozen.entries()) {
            // A refusal that does not come from the restriction has the same words for both holders.
            const other = free[nth]?.act
            if (other !== "let") expect(act).toBe(other)
            else expect(["let", "admission standing"]).toContain(act)
          }
        })
      }
    ))
})

describe("an investor", () => {
  const restricted =
    (as: string, reason: Why, then: "lifted" | "left"): Doing =>
    (_, world) =>
      Effect.gen(function* () {
        const call = { ...reason, body: { ...reason.body, restrictionId: "r-1" } }
        yield* restricts(oneOf(world), { mode: as, why: call })
        if (then === "left") return
        const lift = { restrictionId: "r-1" }
        yield* succeeds(Calls.write("restriction.lift", lift, { reason: "it is over" }))
      })

  it("never learns that a holder is restricted, but by being told that it may not act and no more", () =>
    check(fc.record({ played: playedBy("h2"), mode, why }), ({ played, mode: as, why: reason }) =>
      compare(played, {
        doing: restricted(as, reason, "left"),
        callers: ["h1", "h2"],
        stopped: ["h1"],
        permits: "not the same"
      })
    ))

  it("never learns that a holder was restricted once it is not any more", () =>
    check(
      fc.record({ played: playedBy("h1", "h2"), mode, why }),
      ({ played, mode: as, why: reason }) =>
        compare(played, {
          doing: restricted(as, reason, "lifted"),
          callers: ["h1", "h2"],
          permits: "the same"
        })
    ))

  it("never learns that a recovery carried a restriction", () =>
    check(fc.record({ played: playedBy("h2"), mode, why }), ({ played, mode: as, why: reason }) =>
      compare(played, {
        doing: (scene, world) =>
          Effect.gen(function* () {
            const both = [scene.holders.h1, scene.holders.decoy]
            for (const one of both) {
              yield* Powers.consents(one)
              yield* Powers.succeeds(scene.stage, one)
            }
            yield* restricts(oneOf(world), { mode: as, why: reason })
            for (const { holderId } of both) yield* succeeds(Powers.recovers(holderId))
          }),
        callers: ["h1", "h1-next", "h2"],
        stopped: ["h1", "h1-next"],
        permits: "not the same"
      })
    ))

  it("never learns of a forced act that awaits its approvers or was rejected, nor does an application", () =>
    check(fc.record({ played: playedBy("h2") }), ({ played }) =>
      compare(played, {
        doing: (scene, world) =>
          Effect.gen(function* () {
            const both = [scene.holders.h1, scene.holders.decoy]
            for (const one of both) {
              yield* Powers.consents(one)
              yield* Powers.succeeds(scene.stage, one)
            }
            const holderId = oneOf(world)
            const { order } = Twins
            const moves = [{ holderId, toHolderId: "h2" }]
            const fund = { instrumentId: "fund-a" }
            const actions = [
              yield* Calls.openAction(
                "holder.force-transfer",
                { holderId },
                { toHolderId: "h2", order }
              ),
              yield* Calls.openAction("instrument.force-transfer", fund, { moves, order }),
              yield* Calls.openAction("holder.recover", { holderId }, { order }),
              yield* Calls.openAction("instrument.recover", fund, { holderIds: [holderId], order })
            ]
            yield* Calls.reject(String(actions[0]), Calls.person("ada", "approver"))
          }),
        callers: ["h1", "h2", "app"],
        permits: "the same"
      })
    ))

  it("never reads which check found that a restricted holder moved units, nor does an application", () =>
    Twins.within((twin) =>
      Effect.gen(function* () {
        const scene = yield* opened
        yield* restricts("h1", { mode: "freeze", why: whys[0] as Why })
        yield* TestClock.adjust("1 second")
        yield* Powers.gives(scene.holders.h1, scene.holders.h2, "5")
        yield* Calls.settle
        yield* Reconciling.run()
        const findings = yield* Reconciling.findings
        const [found] = findings.filter(({ check }) => check === "restriction-effect")
        if (found === undefined) throw new Error("the run found no movement")
        const texts = (role: "operator" | "investor" | "app", paths: ReadonlyArray<string>) =>
          Effect.gen(function* () {
            const as = yield* Twins.token(role, "h1")
            const { answers: all } = yield* answers(twin, as, paths)
            return [...all.values()].map(({ text }) => text).join("\n")
          })
        const staff = ["/v1/events?order=desc", "/v1/holds", "/v1/reconciliation-verdict"]
        const isTold = yield* texts("operator", staff)
        expect(isTold).toContain('{"restriction-effect":1}')
        expect(isTold).toContain("Blocking findings: restriction-effect.")
        expect(isTold).toContain(found.findingId)
        const points = [`asOf=${yield* nowText}`]
        for (const role of ["investor", "app"] as const) {
          const paths = pathsOf(role, { holderId: "h1", points, scene })
          const shownTexts = yield* texts(role, role === "app" ? [...paths, ...staff] : paths)
          expect(shownTexts).not.toContain("restriction-effect")
          expect(shownTexts).not.toContain(found.findingId)
          if (role === "app")
            expect(shownTexts).toContain('"open":{"blocking":0,"warning":0,"info":0}')
        }
      })
    ))

  it("is shown no screening by an application's operation that registered a holder", () =>
    Twins.within((twin) =>
      Effect.gen(function* () {
        yield* opened
        const app = yield* Twins.token("app")
        const { party } = yield* Fund.outsider("newcomer")
        const body = { holderId: "newcomer", party, legalName: "Newcomer" }
        const made = yield* Twins.call(twin, { path: "/v1/holders", as: app, key: "new", body })
        const { operationId } = JSON.parse(made.text) as { readonly operationId: string }
        const read = (as: string, path: string) =>
          Effect.map(Twins.call(twin, { path, as }), ({ text }) => {
            const answer = JSON.parse(text) as { readonly value: Readonly<Record<string, unknown>> }
            return answer.value
          })
        yield* Calls.settle
        const { result } = yield* read(app, `/v1/operations/${operationId}`)
        expect(result).toMatchObject({ holderId: "newcomer", screening: null })
        const all = yield* read(yield* Twins.token("operator"), `/v1/operations/${operationId}`)
        expect(all["result"]).toMatchObject({ holderId: "newcomer", screening: expect.anything() })
      })
    ))

  it("never reads something that none of these asked for", () => {
    const routes = Twins.readsOf("investor").map(({ route }) => route.slice("GET ".length))
    const isAnswered = (route: string) => {
      const pattern = new RegExp(`^${route.replaceAll(/\{[A-Za-z]+\}/gu, "[^/]+")}$`, "u")
      return [...answered].some((path) => pattern.test(path))
    }
    // No standing settlement is open here: whoever asks after one is told that there is none.
    // Distributions have twins of their own, in distribution-twins.slow.ts.
    expect(routes.filter((route) => !isAnswered(route))).toEqual([
      "/v1/standing-settlements/{standingSettlementId}",
      "/v1/distributions/{distributionId}",
      "/v1/distributions/{distributionId}/export",
      "/v1/distributions/{distributionId}/lines",
      "/v1/distributions/{distributionId}/lines/{lineId}"
    ])
  })
})
