/**
 * Policy versions, prices and holds at each point of a history by chance, against books kept by hand: of
 * what people were answered, and of the ledger's transactions.
 */
import { Decimal, Instant, type Offset } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { expect } from "vitest"
import { InstrumentId } from "#core/instruments/instrument/Instrument.ts"
import * as PolicyQueries from "#core/instruments/policy/PolicyQueries.ts"
import * as PriceQueries from "#core/instruments/price/PriceQueries.ts"
import * as InstrumentQueries from "#core/overviews/instrument/InstrumentQueries.ts"
import * as HoldQueries from "#core/restraints/hold/HoldQueries.ts"
import * as Calls from "../engine/calls.ts"
import { transactions } from "../engine/ledger-toys.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"
import * as Powers from "../operations/powers.ts"
import * as Reconciling from "../operations/reconciling.ts"
import * as Venue from "../operations/venue.ts"

const id = { instrumentId: Schema.decodeSync(InstrumentId)("fund-a") }

// ---- what happens

/** The first is the fund's oracle to begin with; no policy ever names the last. */
const sources = ["oracle", "second", "stranger"] as const
type Source = (typeof sources)[number]

const hours = fc.nat(40)
const source = fc.constantFrom(...sources)
const which = fc.nat(20)

export const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("publish" as const),
      source,
      price: fc.integer({ min: 1, max: 999 }),
      hours
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("correct" as const),
      which,
      price: fc.integer({ min: 1, max: 999 })
    })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("withdraw" as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("claim-to-correct" as const), which }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("set" as const),
      oracle: fc.constantFrom("oracle" as const, "second" as const),
      fee: fc.nat(9),
      ahead: fc.option(fc.integer({ min: 1, max: 60 }))
    })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("pause" as const), hours }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("release" as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("run" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("wait" as const), hours }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("mint" as const) }) }
)
export type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

/** A history in which each step is taken. */
export const everyStep: ReadonlyArray<Step> = [
  { do: "publish", source: "oracle", price: 100, hours: 5 },
  { do: "publish", source: "second", price: 200, hours: 3 },
  { do: "set", oracle: "second", fee: 1, ahead: 20 },
  { do: "publish", source: "stranger", price: 300, hours: 1 },
  { do: "pause", hours: 4 },
  { do: "run" },
  { do: "wait", hours: 30 },
  { do: "publish", source: "second", price: 210, hours: 0 },
  { do: "correct", which: 0, price: 101 },
  { do: "claim-to-correct", which: 1 },
  { do: "set", oracle: "oracle", fee: 2, ahead: 30 },
  { do: "set", oracle: "second", fee: 3, ahead: 10 },
  { do: "release", which: 0 },
  { do: "mint" },
  { do: "run" },
  { do: "wait", hours: 11 },
  { do: "withdraw", which: 1 },
  { do: "release", which: 1 },
  { do: "set", oracle: "oracle", fee: 4, ahead: null },
  { do: "publish", source: "oracle", price: 120, hours: 0 },
  { do: "pause", hours: 0 },
  { do: "wait", hours: 1 },
  { do: "mint" }
]

/** Acts of people at the engine: each is seen from one past its offset on, and from its instant on. */
interface Act {
  readonly offset: number
  readonly at: Instant.Instant
  readonly does:
    | {
        readonly on: "set"
        readonly oracle: string
        readonly fee: number
        readonly from: Instant.Instant | null
      }
    | { readonly on: "pause"; readonly holdId: string; readonly until: Instant.Instant }
    | {
        readonly on: "open" | "join"
        readonly holdId: string
        readonly findings: ReadonlyArray<string>
      }
    | {
        readonly on: "release"
        readonly holdId: string
        readonly accepted: ReadonlyArray<string> | null
      }
}

const hour = 3_600_000_000_000n
const addHours = (at: Instant.Instant, by: number): Instant.Instant =>
  Instant.fromNanos(at + BigInt(by) * hour)
const ended = (write: Calls.Ended) => {
  if (write.state !== "succeeded") throw new Error(`a write is ${write.state}: ${write.why}`)
}

/** Plays a history, and calls `after` each step with all that was done by then. */
export const play = <E, R>(
  steps: ReadonlyArray<Step>,
  after: (played: Played) => Effect.Effect<unknown, E, R>
) =>
  Effect.gen(function* () {
    const { holders, stage } = yield* Cycles.opened(["h1"])
    const [h1] = holders
    if (h1 === undefined) throw new Error("nobody joined")
    yield* Powers.mints(stage, h1, "100")
    const parties: Readonly<Record<Source, Fund.Outsider>> = {
      oracle: stage.oracle,
      second: yield* Fund.outsider("second"),
      stranger: yield* Fund.outsider("stranger")
    }
    const ledger = yield* Ledger.Ledger
    const acts: Array<Act> = []
    const played: Played = {
      acts,
      first: stage.oracle.party,
      begun: yield* Instant.now,
      staged: yield* ledger.ledgerEnd
    }
    let version = 1
    let pauses = 0
    /** Findings of each hold of a run. */
    const stopped = new Map<string, number>()
    const noting = (does: Act["does"]) =>
      Effect.gen(function* () {
        acts.push({ offset: yield* ledger.ledgerEnd, at: yield* Instant.now, does })
      })
    /** Notes the holds that a run opened, or added findings to: the one of the step, or of a release. */
    const runs = Effect.gen(function* () {
      for (const { findings, holdId, source: by } of yield* Reconciling.openHolds) {
        if (by === "manual" || stopped.get(holdId) === findings.length) continue
        yield* noting({ on: stopped.has(holdId) ? "join" : "open", holdId, findings })
        stopped.set(holdId, findings.length)
      }
    })
    const points = Effect.map(Cycles.active(Templates.OraclePoint), (found) =>
      found.map(({ cid, payload }) => {
        const by = Object.values(parties).find(({ party }) => party === payload.oracle)
        if (by === undefined) throw new Error("a point of nobody's")
        return { cid, payload, by }
      })
    )
    const pointOf = (step: { readonly which: number }) =>
      Effect.map(points, (found) => found[step.which % Math.max(1, found.length)])
    const stated = (price: number, valuationTime: Instant.Instant) => ({
      value: Decimal.of(`${price}.5`),
      valuationTime,
      period: null,
      withholdingRate: null,
      statementRef: null
    })
    const publishes = (
      by: Fund.Outsider,
      point: ReturnType<typeof stated>,
      corrects: string | null
    ) =>
      by.act(
        Templates.create(Templates.OraclePoint, {
          oracle: by.party,
          venue: stage.venue,
          fund: stage.fund.party,
          registrar: stage.registrar.party,
          attestors: [],
          instrumentId: "fund-a",
          metric: "price",
          ...point,
          corrects: corrects as never
        })
      )
    const does = Effect.fnUntraced(function* (one: Step) {
      const now = yield* Instant.now
      switch (one.do) {
        case "publish":
          return yield* publishes(
            parties[one.source],
            stated(one.price, addHours(now, -one.hours)),
            null
          )
        case "correct": {
          const point = yield* pointOf(one)
          if (point === undefined) return
          const { by, cid, payload } = point
          return yield* by.act(
            Templates.exercise(
              Templates.OraclePoint,
              cid,
              "Correct",
              stated(one.price, Instant.of(String(payload.valuationTime)))
            )
          )
        }
        case "withdraw": {
          const point = yield* pointOf(one)
          if (point === undefined) return
          return yield* point.by.act({
            _tag: "Exercise",
            target: Templates.OraclePoint.typeRef,
            contractId: point.cid,
            choice: "Archive",
            arg: {}
          })
        }
        case "claim-to-correct": {
          const point = yield* pointOf(one)
          if (point === undefined) return
          return yield* publishes(point.by, stated(7, now), point.cid)
        }
        case "set": {
          const oracle = parties[one.oracle].party
          const from = one.ahead === null ? null : addHours(now, one.ahead)
          yield* noting({ on: "set", oracle, fee: one.fee, from })
          ended(
            yield* Cycles.changes(version, {
              oracle,
              fees: { subscription: one.fee / 1000, redemption: 0 },
              ...(from === null ? {} : { effectiveFrom: Instant.format(from) })
            })
          )
          version += 1
          return
        }
        case "pause": {
          const [holdId, until] = [`hold-${++pauses}`, addHours(now, one.hours)]
          yield* noting({ on: "pause", holdId, until })
          return ended(
            yield* Calls.write("instrument.pause", id, {
              holdId,
              reason: `question ${holdId}`,
              until: Instant.format(until)
            })
          )
        }
        case "release": {
          const open = yield* Reconciling.openHolds
          const hold = open[one.which % Math.max(1, open.length)]
          if (hold === undefined) return
          const { findings, holdId } = hold
          const accepts = findings.length > 0
          yield* noting({ on: "release", holdId, accepted: accepts ? findings : null })
          return ended(
            yield* Calls.write(
              "hold.release",
              { holdId },
              accepts ? { accept: [...findings], reason: "it is known" } : {}
            )
          )
        }
        case "run":
          yield* Reconciling.plant(
            { registrar: stage.registrar.party, instrumentId: "fund-a", party: h1.party },
            "1"
          )
          return yield* Reconciling.run()
        case "wait":
          yield* TestClock.adjust(`${one.hours} hours`)
          return yield* Calls.settle
        case "mint":
          return yield* Powers.mints(stage, h1, "10")
      }
    })
    for (const one of steps) {
      yield* does(one)
      yield* runs
      yield* TestClock.adjust("1 minute")
      yield* after(played)
    }
    return played
  })

export interface Played {
  readonly acts: ReadonlyArray<Act>
  /** The oracle of the first version of the policy. */
  readonly first: string
  readonly begun: Instant.Instant
  /** Offset by which everybody had come together. */
  readonly staged: number
}

// ---- the books

/** A point of the books: transactions up to an offset, acts that are seen, the instant it is judged at. */
interface Seen {
  readonly transactions: ReadonlyArray<Ledger.Transaction>
  readonly acts: ReadonlyArray<Act>
  readonly now: Instant.Instant
}

interface Version {
  readonly version: number
  readonly oracle: string
  readonly fee: number
  readonly from: Instant.Instant | null
  until: Instant.Instant | null
  state: "scheduled" | "current" | "superseded" | "withdrawn"
}

/** Lets an instant pass: what is scheduled by then begins, and ends what was in force. */
const pass = (versions: ReadonlyArray<Version>, now: Instant.Instant) => {
  for (const one of versions) {
    if (one.state !== "scheduled" || one.from === null || one.from > now) continue
    for (const other of versions) if (other.state === "current") other.state = "superseded"
    one.state = "current"
  }
}

const versionsOf = ({ first }: Played, { acts, now }: Seen): ReadonlyArray<Version> => {
  const versions: Array<Version> = [
    { version: 1, oracle: first, fee: 0, from: null, until: null, state: "current" }
  ]
  for (const { at, does } of acts) {
    if (does.on !== "set") continue
    pass(versions, at)
    const { fee, from, oracle } = does
    for (const one of versions) {
      if (one.state === "scheduled") one.state = "withdrawn"
      if (one.state !== "current") continue
      one.until = from ?? at
      if (from === null) one.state = "superseded"
    }
    const state = from === null ? ("current" as const) : ("scheduled" as const)
    versions.push({
      version: versions.length + 1,
      oracle,
      fee,
      from: from ?? at,
      until: null,
      state
    })
  }
  pass(versions, now)
  return versions
}

interface Point {
  readonly cid: string
  readonly source: string
  readonly price: bigint
  readonly valued: string
  readonly corrects: string | null
  correctedBy: string | null
  isLive: boolean
}

/** Ten places, as the ledger writes every figure. */
const atomsOf = (figure: unknown): bigint => BigInt(String(figure).replace(".", ""))

const pointsOf = ({ transactions: all }: Seen): ReadonlyArray<Point> => {
  const points = new Map<string, Point>()
  for (const event of all.flatMap(({ events }) => events)) {
    if (event.template.entity !== "OraclePoint") continue
    const { contractId: cid } = event
    if (event._tag === "Created") {
      const payload = event.payload as Readonly<Record<string, string | null>>
      const named = payload["corrects"] ?? null
      const isCorrection = named !== null && points.get(named)?.correctedBy === cid
      points.set(cid, {
        cid,
        source: String(payload["oracle"]),
        price: atomsOf(payload["value"]),
        valued: String(Date.parse(String(payload["valuationTime"]))),
        corrects: isCorrection ? named : null,
        correctedBy: null,
        isLive: true
      })
      continue
    }
    const point = points.get(cid)
    if (point === undefined) throw new Error("nobody published this")
    if (event.choice === "Correct") {
      point.correctedBy = String((event.result as { readonly contractId: string }).contractId)
    } else point.isLive = false
  }
  return [...points.values()]
}

interface Held {
  readonly holdId: string
  readonly source: string
  readonly until: string | null
  findings: ReadonlyArray<string>
  state: "open" | "released"
  override: ReadonlyArray<string> | null
}

const holdsOf = ({ acts }: Seen): ReadonlyArray<Held> => {
  const holds = new Map<string, Held>()
  for (const { does } of acts) {
    if (does.on === "set") continue
    const { holdId } = does
    const hold = holds.get(holdId)
    switch (does.on) {
      case "pause":
      case "open":
        holds.set(holdId, {
          holdId,
          source: does.on === "pause" ? "manual" : "reconciliation",
          until: does.on === "pause" ? millisOf(does.until) : null,
          findings: does.on === "pause" ? [] : does.findings,
          state: "open",
          override: null
        })
        break
      case "join":
        if (hold !== undefined) hold.findings = does.findings
        break
      case "release":
        if (hold === undefined) throw new Error(`${holdId} was never opened`)
        hold.state = "released"
        hold.override = does.accepted
    }
  }
  return [...holds.values()]
}

/** Milliseconds: the engine tells writes of one millisecond apart by counting them. */
const millisOf = (at: Instant.Instant): string => String(Instant.toEpochMillis(at))

const expected = (played: Played, seen: Seen) => {
  const versions = versionsOf(played, seen)
  const inForce = versions.find(({ state }) => state === "current")
  const named = versions.filter(({ state }) => state === "current" || state === "superseded")
  const holds = holdsOf(seen)
  const open = holds.filter(({ state }) => state === "open")
  const from = ({ from: at }: Version) => millisOf(at ?? played.begun)
  return {
    inForce: {
      version: inForce?.version,
      oracle: inForce?.oracle,
      fee: inForce?.fee,
      state: inForce?.state,
      until: inForce?.until == null ? null : millisOf(inForce.until)
    },
    versions: versions.toReversed().map(({ from: at, until, ...version }) => ({
      ...version,
      // The first began with the instrument, before the books did.
      from: at === null ? null : from({ ...version, from: at, until }),
      until: until === null ? null : millisOf(until)
    })),
    prices: pointsOf(seen)
      .filter(({ source }) => named.some(({ oracle }) => oracle === source))
      .map((point) => ({
        ...point,
        official: point.source === inForce?.oracle && point.isLive && point.correctedBy === null
      })),
    holds: holds.map((hold) => ({
      ...hold,
      releasedBy: hold.state === "open" ? [] : ["ada", "abel"]
    })),
    instrument: {
      policyVersion: inForce?.version ?? null,
      holds: open.map(({ holdId }) => holdId),
      paused: open.find(({ source }) => source === "manual")?.holdId ?? null
    }
  }
}

// ---- what the engine shows

interface Asked {
  readonly at?: Offset.Offset
  readonly asOf?: Instant.Instant
}

const feeOf = (fees: { readonly subscription: Decimal.Decimal } | null): number =>
  fees === null ? Number.NaN : Number(Decimal.atoms(fees.subscription) / 10n ** 7n)

const shown = Effect.fnUntraced(function* (point: Asked) {
  const { value: inForce } = yield* Venue.read(PolicyQueries.get, id, { point })
  const { value: versions } = yield* Venue.list(PolicyQueries.list, id, { point })
  const { value: prices } = yield* Venue.list(PriceQueries.list, id, { point })
  const { value: holds } = yield* Venue.list(HoldQueries.list, {}, { point })
  const { value: instrument } = yield* Venue.read(InstrumentQueries.get, id, { point })
  return {
    inForce: {
      version: inForce.policyVersion,
      oracle: inForce.body.oracle,
      fee: feeOf(inForce.body.fees),
      state: inForce.state,
      until: inForce.until === null ? null : millisOf(inForce.until)
    },
    versions: versions.map(({ body, effectiveFrom, policyVersion, state, until }) => ({
      version: policyVersion,
      oracle: body.oracle,
      fee: feeOf(body.fees),
      from: policyVersion === 1 ? null : millisOf(effectiveFrom),
      until: until === null ? null : millisOf(until),
      state
    })),
    prices: prices.map((price) => ({
      cid: price.contractId as string,
      source: price.source as string,
      price: Decimal.atoms(price.price),
      valued: millisOf(price.valuationTime),
      corrects: price.corrects,
      correctedBy: price.correctedBy,
      isLive: price.isLive,
      official: price.official
    })),
    holds: holds.map((hold) => ({
      holdId: hold.holdId as string,
      source: hold.source,
      until: hold.until === null ? null : millisOf(hold.until),
      findings: hold.findings,
      state: hold.state,
      override: hold.override === null ? null : hold.override.findings,
      releasedBy: hold.releasedBy
    })),
    instrument: {
      policyVersion: instrument.policyVersion,
      holds: instrument.holds,
      paused: instrument.paused?.holdId ?? null
    }
  }
})
type Shown = Effect.Success<ReturnType<typeof shown>>

const textOf = (value: Shown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? `${one}` : one))

/** The last offset as it is shown now, to be compared with what it shows later. */
export const look = (looks: Map<number, string>) =>
  Effect.gen(function* () {
    const { ledgerEnd } = yield* Ledger.Ledger
    const at = yield* ledgerEnd
    const text = textOf(yield* shown({ at }))
    expect(looks.get(at) ?? text, `at ${at}, where nothing was projected since`).toBe(text)
    looks.set(at, text)
  })

/** Compares every offset since all came together, and an instant after each act; returns how many differ. */
export const agree = Effect.fnUntraced(function* (
  played: Played,
  looks: ReadonlyMap<number, string>
) {
  const all = yield* transactions
  let now = Instant.fromNanos(0n)
  const texts = new Set<string>()
  const times: Array<readonly [offset: number, time: Instant.Instant]> = []
  for (const [nth, { effectiveAt, offset }] of all.entries()) {
    now = Instant.max(now, effectiveAt)
    times.push([offset, now])
    if (offset < played.staged) continue
    const seen = {
      transactions: all.slice(0, nth + 1),
      acts: played.acts.filter((act) => act.offset < offset),
      now
    }
    const found = yield* shown({ at: offset })
    expect(found, `at ${offset}`).toEqual(expected(played, seen))
    const text = textOf(found)
    texts.add(text)
    const before = looks.get(offset)
    if (before !== undefined) expect(text, `at ${offset} as it was read before`).toBe(before)
  }
  for (const { at } of played.acts) {
    // Half a minute after an act the next is half a minute away.
    const asOf = Instant.fromNanos(at + 30_000_000_000n)
    const late = times.findIndex(([, time]) => time > asOf)
    const reached = late < 0 ? all.length : late
    const seen = {
      transactions: all.slice(0, reached),
      acts: played.acts.filter((act) => act.at <= asOf),
      now: asOf
    }
    const found = yield* Effect.result(shown({ asOf }))
    if (Result.isFailure(found)) throw new Error(`as of ${Instant.format(asOf)}: refused`)
    expect(found.success, `as of ${Instant.format(asOf)}`).toEqual(expected(played, seen))
    texts.add(textOf(found.success))
  }
  return texts.size
})
