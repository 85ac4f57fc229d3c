/**
 * Histories of findings by chance: planted differences, statements and their corrections, runs of any
 * scope, releases and faults, walked beside books of the walk's own.
 */
import { EventQueries, Records } from "@bursar/engine-core"
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import { FactLog, Feed, type Ledger } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { createHash } from "node:crypto"
import { expect } from "vitest"
import { type Finding, findings } from "#core/findings/Finding.ts"
import { checkNames } from "#core/vocabulary/ReconciliationChecks.ts"
import { instrumentVerdicts } from "#core/reconciliation/verdict/InstrumentVerdict.ts"
import { holds } from "#core/restraints/hold/Hold.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import type * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"
import * as Stating from "./stating.ts"
import { hidingWhile, reachableWhile } from "./unreachable.ts"

const instrumentIds = ["fund-a", "fund-b"] as const
type InstrumentId = (typeof instrumentIds)[number]
const holderIds = ["h1", "h2"] as const

/** Checks that the histories give something to find. */
const found = ["register-supply", "movements-balance", "register-line", "lots-holdings"] as const
const drift = "projection-drift"
const chosen = [...found, drift] as const
type Check = (typeof chosen)[number]

// ---- a history by chance

interface Scope {
  /** Null: every instrument. */
  readonly instruments: ReadonlyArray<InstrumentId> | null
  /** Null: every check of the release. */
  readonly checks: ReadonlyArray<Check> | null
}

type Fault =
  | { readonly is: "none" | "unreachable" }
  /** The host dies once it has made so many calls that store. */
  | { readonly is: "death"; readonly after: number }

export type Step =
  | { readonly does: "wait"; readonly hours: number }
  | {
      readonly does: "plant"
      readonly on: InstrumentId
      readonly holder: 0 | 1
      readonly units: number
    }
  | {
      readonly does: "state"
      readonly on: InstrumentId
      /** By how much the statement differs from the register, for each holder. */
      readonly off: readonly [number, number]
      /** Number of steps between the moment of the statement and now. */
      readonly ago: number
      readonly day: number
    }
  | { readonly does: "switch-source"; readonly on: InstrumentId }
  | { readonly does: "switch-drift" }
  | { readonly does: "run"; readonly scope: Scope; readonly fault: Fault }
  | {
      readonly does: "release"
      readonly on: InstrumentId
      readonly accepts: "all" | "some" | "none"
    }

const on = fc.constantFrom(...instrumentIds)
const small = fc.integer({ min: -3, max: 3 })
const scope: fc.Arbitrary<Scope> = fc.record({
  instruments: fc.option(fc.subarray([...instrumentIds], { minLength: 1 }), { freq: 2 }),
  checks: fc.option(fc.subarray([...chosen], { minLength: 1 }), { freq: 1 })
})
const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ is: "none" as const }) },
  { weight: 1, arbitrary: fc.constant({ is: "unreachable" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant("death" as const),
      after: fc.integer({ min: 0, max: 40 })
    })
  }
)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("wait" as const),
      hours: fc.integer({ min: 1, max: 40 })
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("plant" as const),
      on,
      holder: fc.constantFrom(0 as const, 1 as const),
      units: small
    })
  },
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant("state" as const),
      on,
      off: fc.tuple(small, small),
      ago: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 6 })),
      day: fc.integer({ min: 0, max: 1 })
    })
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("switch-source" as const), on }) },
  { weight: 1, arbitrary: fc.constant({ does: "switch-drift" as const }) },
  { weight: 10, arbitrary: fc.record({ does: fc.constant("run" as const), scope, fault }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("release" as const),
      on,
      accepts: fc.constantFrom("all", "some", "none")
    })
  }
)
export const histories = (length: number) =>
  fc.array(step, { minLength: Math.ceil(length / 2), maxLength: length })

// ---- the books

/** One finding. */
interface Line {
  readonly amount: number
  readonly state: Finding["state"]
  /** The amount that was accepted last; null: it is not accepted. */
  readonly accepted: number | null
  readonly firstRun: string
  readonly firstAt: number
  readonly lastRun: string
  readonly seenRuns: number
  readonly ageDays: number
  /** Minute of the statement that it was last found in; null: found at the run's own pin. */
  readonly comparedAt: number | null
  readonly holdId: string | null
}

interface Books {
  readonly lines: Map<string, Line>
  /** Findings behind the open hold of an instrument, and its id. */
  readonly holds: Map<InstrumentId, { readonly holdId: string; readonly behind: Set<string> }>
  /** State of the distribution of `fund-a`. */
  month: "payable" | "held"
  /** Verdicts of instruments that a run covered. */
  readonly verdicts: Map<InstrumentId, Verdict>
  /** Minute of the last comparison with the ledger, which found nothing; null: none did. */
  comparedAt: number | null
  runs: number
  opened: number
}

interface Verdict {
  readonly verdict: string
  readonly blocking: number
  readonly oldestDays: number | null
  readonly ran: ReadonlySet<string>
}

const copyOf = (books: Books): Books => ({
  ...books,
  lines: new Map(books.lines),
  holds: new Map(
    [...books.holds].map(([on, hold]) => [on, { ...hold, behind: new Set(hold.behind) }])
  ),
  verdicts: new Map(books.verdicts)
})

/** Key of a finding, from which its id is made. */
const keyOf = (check: string, subject: readonly [string, string], on: string | null): string =>
  JSON.stringify([check, ...subject, on])
const idOf = (key: string): string =>
  `fnd_${createHash("sha256").update(key).digest("hex").slice(0, 32)}`

interface Statement {
  readonly asOf: number
  readonly off: readonly [number, number]
}

/** Circumstances of a run at a moment, beside the books. */
interface Facts {
  readonly planted: Readonly<Record<InstrumentId, [number, number]>>
  /** Statements in force by day. */
  readonly stated: Readonly<Record<InstrumentId, Map<number, Statement>>>
  readonly active: Record<InstrumentId, boolean>
  isDrifting: boolean
}

/** The difference of a holder in statements that the register-line finding shows: amount, and moment. */
const worstOf = (
  { active, stated }: Facts,
  on: InstrumentId,
  acceptance: { readonly nth: 0 | 1; readonly accepted: number | null }
): { readonly amount: number; readonly asOf: number } | undefined => {
  if (!active[on]) return undefined
  const differing = [...stated[on]]
    .toSorted(([a], [b]) => b - a)
    .flatMap(([, { asOf, off }]) =>
      off[acceptance.nth] === 0 ? [] : [{ amount: off[acceptance.nth], asOf }]
    )
  const { accepted } = acceptance
  const uncovered = differing.filter(({ amount }) => accepted === null || !within(accepted, amount))
  return (uncovered.length > 0 ? uncovered : differing).toSorted(
    (a, b) => Math.abs(b.amount) - Math.abs(a.amount)
  )[0]
}

const newestOf = ({ stated, active }: Facts, on: InstrumentId): Statement | undefined =>
  active[on] ? stated[on].get(Math.max(...stated[on].keys())) : undefined

/** Differences of a check and an instrument: subject and amount. */
const differencesOf = (
  facts: Facts,
  check: Check,
  on: InstrumentId
): ReadonlyArray<readonly [readonly [string, string], number]> => {
  const ofHolders = (amounts: readonly [number, number]) =>
    holderIds.map((holderId, nth) => [["holder", holderId], amounts[nth as 0 | 1]] as const)
  const [first, second] = facts.planted[on]
  switch (check) {
    case "register-supply":
      return [[["instrument", on], -(first + second)]]
    case "movements-balance":
    case "lots-holdings":
      return ofHolders([first, second])
    default:
      return []
  }
}

/** A run as the books see it. */
interface Ran {
  readonly runId: string
  readonly at: number
  readonly scope: Scope
  readonly isReached: boolean
  /** True: a run that started by itself, which a comparison of a short time ago may serve. */
  readonly isBrief: boolean
  /** Ids of the holds that the run opened, which its record alone has. */
  readonly holdIds: ReadonlyMap<InstrumentId, string>
}

/** Expected outcome of a run, in the form of its record. */
interface Came {
  readonly verdict: string
  readonly opened: ReadonlyArray<InstrumentId>
  readonly isCleared: boolean
}

/** A comparison with the ledger that found nothing serves brief runs for so many minutes. */
const servesMinutes = 15

const within = (accepted: number, amount: number): boolean =>
  Math.sign(accepted) === Math.sign(amount) && Math.abs(amount) <= Math.abs(accepted)

/** Enters a run into the books. */
const enter = (
  books: Books,
  facts: Facts,
  { runId, at, scope, isReached, isBrief, holdIds }: Ran
): Came => {
  const covered = scope.instruments ?? instrumentIds
  const asks = (check: Check): boolean => scope.checks?.includes(check) ?? true
  const isDriftOpen = driftNames.some(
    (name) => books.lines.get(keyOf(drift, ["contract", name], null))?.state === "open"
  )
  // The distribution of `fund-a` is unpaid throughout: its runs compare always.
  const isServed =
    isBrief &&
    !covered.includes("fund-a") &&
    !isDriftOpen &&
    books.comparedAt !== null &&
    at < books.comparedAt + servesMinutes
  const isDrifting = facts.isDrifting && !isServed
  if (isReached && asks(drift) && !isDrifting && !isServed) books.comparedAt = at
  const sees = new Map<string, { amount: number; comparedAt: number | null }>()
  if (isReached) {
    for (const on of covered) {
      for (const check of found.filter(asks)) {
        for (const [subject, amount] of differencesOf(facts, check, on)) {
          if (amount !== 0) sees.set(keyOf(check, subject, on), { amount, comparedAt: null })
        }
        if (check !== "register-line") continue
        for (const [nth, holderId] of holderIds.entries()) {
          const key = keyOf(check, ["holder", holderId], on)
          const accepted = books.lines.get(key)?.accepted ?? null
          const worst = worstOf(facts, on, { nth: nth as 0 | 1, accepted })
          if (worst !== undefined) sees.set(key, { amount: worst.amount, comparedAt: worst.asOf })
        }
      }
    }
    if (asks(drift) && isDrifting) {
      for (const name of driftNames) {
        sees.set(keyOf(drift, ["contract", name], null), { amount: 1, comparedAt: null })
      }
    }
  }
  const isGrounded = asks(drift) ? isReached && !isDrifting : !isDriftOpen
  for (const [key, { amount, comparedAt }] of sees) {
    const before = books.lines.get(key)
    const firstAt = before?.firstAt ?? at
    const isCovered = before?.accepted !== undefined && before.accepted !== null
    const stays = isCovered && within(before.accepted ?? 0, amount)
    books.lines.set(key, {
      amount,
      comparedAt,
      state: stays ? "accepted" : "open",
      accepted: stays ? before.accepted : null,
      firstRun: before?.firstRun ?? runId,
      firstAt,
      lastRun: runId,
      seenRuns: (before?.seenRuns ?? 0) + 1,
      ageDays: Math.floor((at - firstAt) / (24 * 60)),
      holdId: before?.holdId ?? null
    })
  }
  for (const [key, line] of books.lines) {
    const [check, , , instrumentId] = JSON.parse(key) as [
      Check,
      string,
      string,
      InstrumentId | null
    ]
    if (line.state === "cleared" || sees.has(key) || !isReached || !isGrounded) continue
    if (!asks(check)) continue
    if (instrumentId === null ? scope.instruments !== null : !covered.includes(instrumentId))
      continue
    // A statement that was found to differ is compared again, or was corrected, while its source is active.
    const isLeft =
      line.comparedAt !== null &&
      (instrumentId === null || newestOf(facts, instrumentId) === undefined)
    if (!isLeft) books.lines.set(key, { ...line, state: "cleared", accepted: null })
  }
  const opened: Array<InstrumentId> = []
  for (const on of covered) {
    const stops = [...sees.keys()].filter(
      (key) => key.endsWith(`"${on}"]`) && books.lines.get(key)?.state === "open"
    )
    if (stops.length === 0) continue
    const hold = books.holds.get(on) ?? { holdId: holdIds.get(on) ?? "?", behind: new Set() }
    if (!books.holds.has(on)) opened.push(on)
    for (const key of stops) {
      hold.behind.add(key)
      const line = books.lines.get(key)
      if (line !== undefined) books.lines.set(key, { ...line, holdId: hold.holdId })
    }
    books.holds.set(on, hold)
  }
  const isWhole = scope.checks === null || checkNames.every((name) => asks(name as Check))
  const isCleared =
    books.month === "held" &&
    covered.includes("fund-a") &&
    !books.holds.has("fund-a") &&
    isReached &&
    isGrounded &&
    isWhole
  if (covered.includes("fund-a") && books.holds.has("fund-a")) books.month = "held"
  if (isCleared) books.month = "payable"
  books.runs += 1
  books.opened += opened.length
  const hasRun = isReached && !(asks(drift) && isDrifting)
  for (const on of covered) {
    const ran = new Set<string>(books.verdicts.get(on)?.ran ?? [])
    for (const name of scope.checks ?? checkNames) {
      const isRun = isReached && (name !== drift || !isDrifting)
      if (isRun) ran.add(name)
      else ran.delete(name)
    }
    const own = [...books.lines].flatMap(([key, line]) => (key.endsWith(`"${on}"]`) ? [line] : []))
    const open = own.filter(({ state }) => state === "open")
    const oldest = Math.min(...open.map(({ firstAt }) => firstAt))
    books.verdicts.set(on, {
      verdict:
        open.length > 0
          ? "blocked"
          : ran.size < checkNames.length
            ? "incomplete"
            : own.some(({ state }) => state === "accepted")
              ? "findings"
              : "clear",
      blocking: open.length,
      oldestDays: open.length === 0 ? null : Math.floor((at - oldest) / (24 * 60)),
      ran
    })
  }
  const lineStates = [...sees.keys()].map((key) => books.lines.get(key)?.state)
  const verdict = lineStates.includes("open")
    ? "blocked"
    : !hasRun
      ? "incomplete"
      : lineStates.length > 0
        ? "findings"
        : "clear"
  return { verdict, opened, isCleared }
}

// ---- the engine beside them

const driftNames = [Templates.key(Templates.Holding.typeRef), "holding"] as const

/** An engine whose ledger hides a holding, is unreachable, or whose host dies, while a test says so. */
const faulty = () => {
  const switches = { isUp: true, isDrifting: false, callsLeft: Number.POSITIVE_INFINITY }
  const spends = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      if (switches.callsLeft <= 0) return Effect.die(new Error("the host died"))
      switches.callsLeft -= 1
      return effect
    })
  const tamper = (port: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] =>
    hidingWhile(() => switches.isDrifting)(reachableWhile(() => switches.isUp)(port))
  const storage = Layer.mergeAll(
    Layer.effect(
      FactLog,
      Effect.map(FactLog, (log) => ({ ...log, append: (rows) => spends(log.append(rows)) }))
    ),
    Layer.effect(
      Feed,
      Effect.map(Feed, (feed) => ({
        ...feed,
        take: (now) => spends(feed.take(now)),
        append: (...args: Parameters<typeof feed.append>) => spends(feed.append(...args))
      }))
    )
  ).pipe(Layer.provideMerge(Memory.layer))
  return { switches, world: world({ tamper, storage }) }
}
type Switches = ReturnType<typeof faulty>["switches"]

const minuteOf = Effect.map(Instant.now, (now) => Math.round(Instant.toEpochMillis(now) / 60_000))
const instantOf = (minute: number) => Instant.fromEpochMillis(minute * 60_000)

const sourceOf = { "fund-a": "admin-a", "fund-b": "admin-b" } as const

/** Two instruments with two holders and their sources; the month of `fund-a` is payable. */
const founded = Effect.gen(function* () {
  const { stage, holders, point } = yield* Month.founded(holderIds)
  yield* Powers.another(stage, "fund-b")
  for (const holder of holders) {
    yield* Powers.admits(holder, "fund-b")
    for (const on of instrumentIds) yield* Powers.mints(stage, holder, "1000", on)
  }
  yield* Stating.alone
  const sourced = Effect.fnUntraced(function* (on: InstrumentId, state: "active" | "inactive") {
    return yield* Stating.source(sourceOf[on], { calendar: [], instruments: [on], state })
  })
  for (const on of instrumentIds) yield* sourced(on, "active")
  const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
  const payableFrom = Instant.of("2027-07-01T00:00:00Z")
  yield* Month.executes(stage, Month.termsOf(stage, point, { payableFrom }))
  yield* Month.adds("d-july", lines)
  yield* Month.seals("d-july", lines)
  return { stage, holders, sourced }
})

/** Findings, holds and verdicts, as they are stored. */
const stored = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(findings, { limit: 1_000 })
  const open = yield* records.list(holds, { where: { state: ["open"] }, limit: 100 })
  const verdicts = yield* records.list(instrumentVerdicts, { limit: 10 })
  const feed = yield* EventQueries.EventQueries
  const { value } = yield* feed.page({ caller: Calls.operator, params: {}, limit: 1_000 })
  const count = (name: string) => value.filter(({ type }) => type === name).length
  return {
    findings: Object.fromEntries(
      rows.map(({ record }) => [
        record.findingId as string,
        {
          amount: Decimal.formatPlain(record.unexplained),
          state: record.state,
          severity: record.severity,
          accepted:
            record.accepted === null ? null : Decimal.formatPlain(record.accepted.unexplained),
          firstRun: record.firstSeenRunId,
          lastRun: record.runId,
          seenRuns: record.seenRuns,
          ageDays: record.ageDays,
          comparedAt: record.comparedAt?.instant ?? null,
          holdId: record.holdId
        }
      ])
    ),
    holds: Object.fromEntries(
      open.map(({ record }) => [
        record.instrumentId as string,
        { holdId: record.holdId as string, behind: record.findings.toSorted() }
      ])
    ),
    month: (yield* Month.distribution()).state,
    verdicts: Object.fromEntries(
      verdicts.map(({ record: { instrumentId, verdict, open, oldestDays, ran } }) => [
        instrumentId as string,
        { verdict, blocking: open.blocking, oldestDays, ran: ran.toSorted() }
      ])
    ),
    runs: count("reconciliation.run"),
    opened: count("reconciliation.hold")
  }
})

/** The same of the books. */
const booked = (books: Books): Effect.Success<typeof stored> =>
  ({
    findings: Object.fromEntries(
      [...books.lines].map(([key, { amount, accepted, comparedAt, firstAt: _, ...line }]) => [
        idOf(key),
        {
          ...line,
          // Of a drift the number that is kept is one more than the ledger's.
          amount: String(key.startsWith(`["${drift}`) ? -amount : amount),
          severity: "blocking",
          accepted: accepted === null ? null : String(accepted),
          comparedAt: comparedAt === null ? null : instantOf(comparedAt)
        }
      ])
    ),
    holds: Object.fromEntries(
      [...books.holds].map(([on, { holdId, behind }]) => [
        on,
        { holdId, behind: [...behind].map(idOf).toSorted() }
      ])
    ),
    month: books.month,
    verdicts: Object.fromEntries(
      [...books.verdicts].map(([on, { ran, ...verdict }]) => [
        on,
        { ...verdict, ran: [...ran].toSorted() }
      ])
    ),
    runs: books.runs,
    opened: books.opened
  }) as Effect.Success<typeof stored>

const bodyOf = ({ instruments, checks }: Scope): string =>
  JSON.stringify({
    scope: {
      ...(instruments === null ? {} : { instrumentIds: instruments }),
      ...(checks === null ? {} : { checks })
    }
  })

/** The open hold of each instrument. */
const holdIds = Effect.map(
  Reconciling.openHolds,
  (open) =>
    new Map(open.map((hold) => [String(hold.instrumentId) as InstrumentId, hold.holdId as string]))
)

interface Scene extends Effect.Success<typeof founded> {
  readonly facts: Facts
  readonly switches: Switches
  /** Minutes at which something was done: a statement may be of any of them. */
  readonly moments: Array<{ readonly minute: number; readonly units: Units }>
  readonly units: Units
}
type Units = Record<InstrumentId, [number, number]>

const unitsAt = ({ moments, units }: Scene, ago: number, now: number) => {
  const past = ago === 0 ? undefined : moments.at(-ago)
  return past ?? { minute: now, units }
}

const copied = (units: Units): Units => ({
  "fund-a": [...units["fund-a"]],
  "fund-b": [...units["fund-b"]]
})

/** Has the outside world do a step that is no run. */
const acts = Effect.fnUntraced(function* (scene: Scene, step: Step) {
  const { facts, units, holders, stage, sourced, switches } = scene
  const now = yield* minuteOf
  switch (step.does) {
    case "wait":
      return yield* TestClock.adjust(`${step.hours} hours`)
    case "plant": {
      // A unit is minted first: the ledger moves on, so that no statement of before shows what is planted.
      const holder = holders[step.holder] as Cycles.Holder
      yield* Powers.mints(stage, holder, "1", step.on)
      units[step.on][step.holder] += 1
      if (step.units === 0) return
      const registrar = stage.registrar.party
      const line = { registrar, instrumentId: step.on, party: holder.party }
      yield* Reconciling.plant(line, String(step.units))
      units[step.on][step.holder] += step.units
      facts.planted[step.on][step.holder] += step.units
      return
    }
    case "state": {
      const { minute, units: held } = unitsAt(scene, step.ago, now)
      const { off, on: instrumentId, day } = step
      const source = yield* sourced(
        instrumentId,
        facts.active[instrumentId] ? "active" : "inactive"
      )
      yield* Stating.states(source, {
        instrumentId,
        businessDate: Date.of(day === 0 ? "2026-07-31" : "2026-08-03"),
        asOf: instantOf(minute),
        lines: holderIds.map((account, nth) => ({
          account,
          quantity: String(held[instrumentId][nth as 0 | 1] + off[nth as 0 | 1])
        }))
      })
      facts.stated[instrumentId].set(day, { asOf: minute, off })
      return
    }
    case "switch-source":
      facts.active[step.on] = !facts.active[step.on]
      return yield* sourced(step.on, facts.active[step.on] ? "active" : "inactive")
    case "switch-drift":
      facts.isDrifting = !facts.isDrifting
      switches.isDrifting = facts.isDrifting
      return
  }
  return
})

/** Runs, and enters the expected outcome of the run; returns the books afterwards. */
const runs = Effect.fnUntraced(function* (
  { facts, switches }: Scene,
  books: Books,
  { scope, fault }: Extract<Step, { does: "run" }>
) {
  const at = yield* minuteOf
  const isReached = fault.is !== "unreachable"
  switches.isUp = isReached
  if (fault.is === "death") switches.callsLeft = fault.after
  const ended = yield* Effect.exit(Reconciling.run(bodyOf(scope)))
  switches.isUp = true
  switches.callsLeft = Number.POSITIVE_INFINITY
  if (ended._tag === "Failure") {
    expect([fault.is, String(ended.cause)]).toEqual(["death", expect.stringContaining("died")])
    // The lock of the host that died ends with its lease.
    yield* TestClock.adjust("10 minutes")
    return books
  }
  const { value } = ended.value
  const next = copyOf(books)
  const came = enter(next, facts, {
    ...{ runId: value.runId, at, scope, isReached, isBrief: false },
    holdIds: yield* holdIds
  })
  expect({
    verdict: value.verdict,
    opened: value.holdsOpened.toSorted(),
    cleared: value.distributionsCleared
  }).toEqual({
    verdict: came.verdict,
    opened: came.opened.map((on) => next.holds.get(on)?.holdId).toSorted(),
    cleared: came.isCleared ? ["d-july"] : []
  })
  return next
})

/** Releases the hold of an instrument where the books permit it; a run follows. */
const releases = Effect.fnUntraced(function* (
  { facts }: Scene,
  books: Books,
  { on: instrumentId, accepts }: Extract<Step, { does: "release" }>
) {
  const hold = books.holds.get(instrumentId)
  if (hold === undefined) return books
  const at = yield* minuteOf
  const behind = [...hold.behind].toSorted()
  const named = accepts === "all" ? behind : accepts === "none" ? [] : behind.slice(1)
  const { state } = yield* Calls.write(
    "hold.release",
    { holdId: hold.holdId },
    named.length === 0 ? {} : { accept: named.map(idOf), reason: "known" }
  )
  const isLeft = behind.some(
    (key) => books.lines.get(key)?.state === "open" && !named.includes(key)
  )
  expect(state).toBe(isLeft ? "refused" : "succeeded")
  if (isLeft) return books
  const next = copyOf(books)
  for (const key of named) {
    const line = next.lines.get(key)
    if (line?.state === "open") {
      next.lines.set(key, { ...line, state: "accepted", accepted: line.amount })
    }
  }
  next.holds.delete(instrumentId)
  const last = (yield* Reconciling.allRuns).at(-1)
  const came = enter(next, facts, {
    ...{ runId: last?.runId ?? "none", at, isReached: true, isBrief: true },
    scope: { instruments: [instrumentId], checks: null },
    holdIds: yield* holdIds
  })
  expect([last?.trigger, last?.verdict]).toEqual(["release", came.verdict])
  return next
})

/** Walks a history; after each step all stored records equal the books. */
export const walk = (steps: ReadonlyArray<Step>) => {
  const { switches, world } = faulty()
  return Effect.gen(function* () {
    const begun = yield* founded
    const units = (): Units => ({ "fund-a": [1_000, 1_000], "fund-b": [1_000, 1_000] })
    const scene: Scene = {
      ...begun,
      switches,
      moments: [],
      units: units(),
      facts: {
        planted: { "fund-a": [0, 0], "fund-b": [0, 0] },
        stated: { "fund-a": new Map(), "fund-b": new Map() },
        active: { "fund-a": true, "fund-b": true },
        isDrifting: false
      }
    }
    // The run that followed the seal.
    const whole = new Set<string>(checkNames)
    const clear = { verdict: "clear", blocking: 0, oldestDays: null, ran: whole }
    let books: Books = {
      lines: new Map(),
      holds: new Map(),
      month: "payable",
      verdicts: new Map([["fund-a", clear]]),
      runs: 1,
      comparedAt: null,
      opened: 0
    }
    expect(yield* stored).toEqual(booked(books))
    for (const [nth, step] of steps.entries()) {
      yield* TestClock.adjust("1 minute")
      scene.moments.push({ minute: yield* minuteOf, units: copied(scene.units) })
      yield* TestClock.adjust("1 minute")
      if (step.does === "run") books = yield* runs(scene, books, step)
      else if (step.does === "release") books = yield* releases(scene, books, step)
      else yield* acts(scene, step)
      expect({ nth, step, ...(yield* stored) }).toEqual({ nth, step, ...booked(books) })
    }
  }).pipe(Effect.provide(world))
}

/** Walks histories of at most so many steps, a number of them. */
export const walked = (options: { readonly length: number; readonly count: number }) =>
  fc.assert(
    fc.asyncProperty(histories(options.length), (steps) => Calls.runCase(walk(steps))),
    { numRuns: options.count, endOnFailure: true }
  )
