/**
 * Tighten alone, loosen together: in random histories of people no act becomes possible without the
 * signatures that it needs.
 */
import { type Caller, Catalogue, Engine, FourEyes, Records } from "@bursar/engine-core"
import { Decimal, Duration, Instant, PlainJson } from "@bursar/engine-core/kernel"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Result } from "effect"
import * as fc from "fast-check"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { standingApprovals } from "#core/distributions/standing-approval/StandingApproval.ts"
import * as StandingApprovalGates from "#core/distributions/standing-approval/StandingApprovalGates.ts"
import * as StandingApprovalLookups from "#core/distributions/standing-approval/StandingApprovalLookups.ts"
import * as HoldQueries from "#core/restraints/hold/OpenHoldLookups.ts"
import { holds } from "#core/restraints/hold/Hold.ts"
import { stops } from "#core/restraints/hold/HoldRules.ts"
import * as RestrictionQueries from "#core/restraints/restriction/RestrictionLookups.ts"
import { type Restriction, restrictions } from "#core/restraints/restriction/Restriction.ts"
import { permits, passings } from "#core/restraints/restriction/RestrictionRules.ts"
import { instruments, isRecorded, lastVersion } from "#core/instruments/instrument/Instrument.ts"
import * as Policy from "#core/instruments/policy/PolicyLookups.ts"
import { type PolicyVersion, policyVersions } from "#core/instruments/policy/PolicyVersion.ts"
import { judge, type Judgement } from "#core/kernel/Gates.ts"
import * as RedemptionGates from "#core/orders/redemption/RedemptionGates.ts"
import * as SubscriptionGates from "#core/orders/subscription/SubscriptionGates.ts"
import { approvals } from "#core/writes/Approval.ts"
import type { BuiltInOperationKind } from "#core/vocabulary/OperationKind.ts"
import { effects, eyesOf } from "../../packages/engine-core/scripts/pages/eyes.ts"
import { type OperationRecord, operations } from "#core/writes/OperationRecord.ts"
import { directionOf } from "#core/writes/TermChange.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { id, party } from "../machines/subscriptions.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import { runsOf } from "../long-run.ts"

/** A long run is a flag. */
const runs = runsOf(30)

const olga = Calls.person("olga", "operator")
const ann = Calls.person("ann", "approver")
const people: ReadonlyArray<Caller.Caller> = [
  olga,
  Calls.person("both", "operator", "approver", "compliance"),
  Calls.person("rita", "risk"),
  Calls.person("carl", "compliance"),
  ann,
  Calls.person("bob", "approver"),
  Calls.person("eve", "approver", "auditor"),
  Calls.person("mo", "monitor")
]
const auditors = ["eve"]
const approvers = ["both", "ann", "bob"]

const holderIds = ["h1", "h2"]
const instrumentIds = ["fund-a", "fund-b"]
const start = Instant.of("2026-07-31T12:00:00Z")
const hours = (count: number) => Instant.add(start, Duration.hours(count))

// ---- what people may try ------------------------------------------------------------------------

/** Terms that widen, tighten or do neither, at few values, so that histories go back and forth. */
const termChanges: ReadonlyArray<object> = [
  ...[null, 100, 10].map((most) => ({
    limits: { maxSubscription: most, maxRedemption: most, cycleCapacity: null }
  })),
  ...[null, 50, 5].map((least) => ({ minimumSubscription: least, minimumHolding: least })),
  ...[null, 2, 20].map((count) => ({
    window: { opensAt: count === null ? null : Instant.format(hours(count)), closesAt: null }
  })),
  ...[null, 8, 30].map((count) => ({
    window: { opensAt: null, closesAt: count === null ? null : Instant.format(hours(count)) }
  })),
  { deliverBeforeCash: true },
  { deliverBeforeCash: false },
  { holderCap: 1 },
  { holderCap: 9 },
  { tolerances: { figures: 0.1 } },
  { tolerances: {} },
  { legalName: "Another name" }
]

type Step =
  | { readonly do: "restrict"; readonly who: number; readonly entries: ReadonlyArray<Entry> }
  | { readonly do: "lift" | "release"; readonly who: number; readonly nth: number }
  | {
      readonly do: "pause"
      readonly who: number
      readonly instrument: number
      readonly inHours: number | null
    }
  | {
      readonly do: "set"
      readonly who: number
      readonly instrument: number
      readonly said: object
      readonly inHours: number | null
    }
  | {
      readonly do: "grant"
      readonly who: number
      readonly instrument: number
      readonly inHours: number | null
    }
  | { readonly do: "revoke"; readonly who: number; readonly nth: number }
  | { readonly do: "sign" | "reject"; readonly who: number; readonly nth: number }
  | { readonly do: "wait"; readonly hours: number }
interface Entry {
  readonly holder: number
  readonly instrument: number | null
  readonly mode: string
  readonly reason: string
  readonly inHours: number | null
}

const who = fc.nat({ max: people.length - 1 })
const maker = fc.constantFrom(0, 0, 1, 1, 2, 3, 4)
const signer = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(1, 4, 5) },
  { weight: 1, arbitrary: who }
)
const instrument = fc.nat({ max: 1 })
/** Mostly the latest, or little would ever be signed by all it needs. */
const nth = fc.constantFrom(0, 0, 0, 0, 1, 2)
const entry: fc.Arbitrary<Entry> = fc.record({
  holder: fc.nat({ max: 1 }),
  instrument: fc.constantFrom(null, 0, 1),
  mode: fc.constantFrom("freeze", "receive-only", "redeem-only"),
  reason: fc.constantFrom("sanctions", "compliance-review", "holder-request"),
  inHours: fc.constantFrom(null, 1, 6)
})
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("restrict" as const),
      who: maker,
      entries: fc.array(entry, { minLength: 1, maxLength: 2 })
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("lift" as const, "release" as const),
      who: maker,
      nth
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("pause" as const),
      who: maker,
      instrument,
      inHours: fc.constantFrom(null, 2)
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("set" as const),
      who: maker,
      instrument,
      said: fc.constantFrom(...termChanges),
      inHours: fc.constantFrom(null, null, 1, 5)
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("grant" as const),
      who: maker,
      instrument,
      inHours: fc.constantFrom(null, 2)
    })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("revoke" as const), who: maker, nth }) },
  { weight: 14, arbitrary: fc.record({ do: fc.constant("sign" as const), who: signer, nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reject" as const), who: signer, nth }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("wait" as const), hours: fc.constantFrom(1, 3, 7) })
  }
)

const settle = Effect.flatMap(Engine.Engine, (engine) => engine.settle)
let keys = 0

const call = (
  kind: string,
  caller: Caller.Caller,
  call: {
    readonly params?: Readonly<Record<string, string>>
    readonly body: object
    readonly ifMatch?: number
  }
) => {
  const operation = Catalogue.operations.find((one) => one.kind === kind)
  if (operation === undefined) throw new Error(`no operation ${kind}`)
  const params = call.params ?? {}
  return Effect.flatMap(FourEyes, (door) =>
    door.submit(operation, {
      caller,
      identity: Calls.identity(),
      key: `k${++keys}`,
      ifMatch: call.ifMatch === undefined ? null : String(call.ifMatch),
      path: operation.route
        .slice(operation.route.indexOf(" ") + 1)
        .replaceAll(/\{([a-zA-Z]+)\}/g, (_, name: string) => params[name] ?? ""),
      query: "",
      body: Result.getOrThrow(PlainJson.parse(JSON.stringify(call.body))),
      params
    })
  )
}

const endOf = (inHours: number | null, now: Instant.Instant): string | null =>
  inHours === null ? null : Instant.format(Instant.add(now, Duration.hours(inHours)))

const bodyFor = ({ holder, instrument, mode, reason, inHours }: Entry, now: Instant.Instant) => ({
  instrumentId: instrument === null ? null : instrumentIds[instrument],
  mode,
  reason,
  autoReleaseAt: reason === "sanctions" ? null : endOf(inHours, now),
  holderId: holderIds[holder]
})

const person = (nth: number) => people[nth] as Caller.Caller

const rows = Effect.gen(function* () {
  const records = yield* Records
  const limit = 1_000
  const recordsOf = <A>(found: ReadonlyArray<{ readonly record: A }>) =>
    found.map(({ record }) => record)
  return {
    restrictions: recordsOf(yield* records.list(restrictions, { limit })),
    holds: recordsOf(yield* records.list(holds, { limit })),
    versions: recordsOf(yield* records.list(policyVersions, { limit })),
    standingApprovals: recordsOf(yield* records.list(standingApprovals, { limit })),
    approvals: recordsOf(yield* records.list(approvals, { limit })),
    operations: recordsOf(yield* records.list(operations, { limit }))
  }
})
type Rows = Effect.Success<typeof rows>

const restrict = (said: Extract<Step, { do: "restrict" }>, now: Instant.Instant) => {
  const [first, ...others] = said.entries.map((one) => bodyFor(one, now))
  if (first !== undefined && others.length === 0) {
    const { holderId = "", ...body } = first
    return call("holder.restrict", person(said.who), { params: { holderId }, body })
  }
  return call("holder.restrict-batch", person(said.who), {
    body: { entries: [first, ...others] }
  })
}

/** An honest caller has seen the last version; terms that are set on an older one are refused. */
const set = (said: Extract<Step, { do: "set" }>, now: Instant.Instant) =>
  Effect.gen(function* () {
    const instrumentId = instrumentIds[said.instrument] ?? ""
    const found = yield* Effect.flatMap(Records, (records) =>
      records.get(instruments, instrumentId)
    )
    if (!isRecorded(found)) throw new Error("recorded")
    const effectiveFrom = endOf(said.inHours, now)
    return yield* call("policy.set", person(said.who), {
      params: { instrumentId },
      body: { ...said.said, effectiveFrom },
      ifMatch: lastVersion(found)
    })
  })

const tried = (said: Step, rowsBefore: Rows, now: Instant.Instant) =>
  Effect.gen(function* () {
    const at = <A>(all: ReadonlyArray<A>, nth: number) => all.toReversed()[nth]
    switch (said.do) {
      case "wait":
        yield* TestClock.adjust(said.hours * 3_600_000)
        return
      case "restrict":
        yield* restrict(said, now)
        return
      case "pause": {
        const instrumentId = instrumentIds[said.instrument] ?? ""
        const params = { instrumentId }
        // Announced, no more: when it comes, nothing is let happen again.
        const until = endOf(said.inHours, now)
        yield* call("instrument.pause", person(said.who), {
          params,
          body: { reason: "look", until }
        })
        return
      }
      case "set":
        yield* set(said, now)
        return
      case "lift": {
        const restrictionId = at(rowsBefore.restrictions, said.nth)?.restrictionId ?? "none"
        const params = { restrictionId }
        yield* call("restriction.lift", person(said.who), { params, body: { reason: "over" } })
        return
      }
      case "grant": {
        const instrumentId = instrumentIds[said.instrument]
        const from = endOf(said.inHours, now)
        const body = { instrumentId, from, until: Instant.format(hours(5_000)) }
        yield* call("standing-approval.grant", person(said.who), { body })
        return
      }
      case "revoke": {
        const standingApprovalId =
          at(rowsBefore.standingApprovals, said.nth)?.standingApprovalId ?? "none"
        const params = { standingApprovalId }
        yield* call("standing-approval.revoke", person(said.who), { params, body: {} })
        return
      }
      case "release": {
        const params = { holdId: at(rowsBefore.holds, said.nth)?.holdId ?? "none" }
        yield* call("hold.release", person(said.who), { params, body: {} })
        return
      }
      case "sign":
      case "reject": {
        const open = rowsBefore.approvals.filter(({ state }) => state === "awaiting")
        const actionKey = at(open, said.nth)?.actionKey ?? "ak_none"
        yield* said.do === "sign"
          ? Calls.approve(actionKey, person(said.who))
          : Calls.reject(actionKey, person(said.who))
      }
    }
  })

// ---- what may happen, by what judges it ----------------------------------------------------------

const sizes = ["1", "7", "40", "75", "500"].map((size) => Decimal.of(size))
const passes = (objections: ReadonlyArray<Judgement>) => Result.isSuccess(judge(objections))

interface Act {
  readonly holderId: string | null
  readonly instrumentId: string
  readonly name: string
}
const keyOf = ({ holderId, instrumentId, name }: Act) => `${holderId}/${instrumentId}/${name}`

/** Every act of the grid that may happen now, read as the engine's own gates read it. */
const permitted = Effect.gen(function* () {
  const records = yield* Records
  const now = yield* Instant.now
  const acts = new Map<string, Act>()
  const add = (act: Act, may: boolean) => {
    if (may) acts.set(keyOf(act), act)
  }
  for (const instrumentId of instrumentIds) {
    const found = yield* records.get(instruments, instrumentId)
    if (!isRecorded(found)) throw new Error("recorded")
    const terms = yield* Policy.inForce(found, now)
    const held = yield* HoldQueries.openOn([instrumentId])
    const restricted = yield* RestrictionQueries.inForce({ holderIds, instrumentId })
    const all = { holderId: null, instrumentId }
    for (const block of ["deal", "distribution", "mint"] as const) {
      add({ ...all, name: block }, !held.some((hold) => stops(hold, block)))
    }
    const approval = yield* StandingApprovalLookups.openOf(instrumentId)
    add(
      { ...all, name: "execute unattended" },
      passes([StandingApprovalGates.againstUse(approval, Decimal.of("100"))])
    )
    add({ ...all, name: "deliver before cash" }, terms.deliverBeforeCash)
    for (const taken of [0, 1, 5]) {
      add({ ...all, name: `offer after ${taken}` }, taken < terms.manifest.holderCap)
    }
    for (const tolerance of ["0", "0.05", "0.1"]) {
      const figures = terms.tolerances.figures ?? Decimal.zero
      add({ ...all, name: `figures off by ${tolerance}` }, Decimal.of(tolerance) <= figures)
    }
    for (const holderId of holderIds) {
      const holder = {
        holderId: id<"HolderId">(holderId),
        state: "active",
        screening: null,
        party: party(holderId)
      } as const
      const common = {
        holds: held,
        restrictions: restricted,
        now,
        terms,
        instrument: { ...found, configurations: ["00aa"] },
        holder,
        payment: "wire",
        cashDecimals: 2,
        market: null
      } as const
      for (const passing of passings) {
        add(
          { holderId, instrumentId, name: passing },
          permits(restricted, { holderId, instrumentId, passing })
        )
      }
      for (const size of sizes) {
        const claiming = {
          ...common,
          admission: { state: "admitted", validFrom: null, credentialCid: "00" },
          amount: size,
          units: null,
          worth: size,
          buys: size,
          moves: size,
          attestors: ["attestor"]
        } as const
        add(
          { holderId, instrumentId, name: `subscribe ${size}` },
          passes(SubscriptionGates.againstClaim(claiming, []))
        )
        const redeeming = {
          ...common,
          amount: null,
          units: size,
          oracle: "oracle",
          free: Decimal.of("500"),
          heldUnits: Decimal.of("500"),
          leaving: Decimal.zero,
          lastPrice: null
        }
        add(
          { holderId, instrumentId, name: `redeem ${size}` },
          passes(RedemptionGates.againstClaim(redeeming, []))
        )
      }
    }
  }
  return acts
})

// ---- why it may ---------------------------------------------------------------------------------

type Why = "lift" | "release" | "policy" | "grant" | "begin" | "lapse" | "scheduled" | "window"

const isAbout = (restriction: Pick<Restriction, "holderId" | "instrumentId">, act: Act) =>
  restriction.holderId === act.holderId &&
  (restriction.instrumentId ?? act.instrumentId) === act.instrumentId

/** An operation that widens carries the approvals that its direction needs, of the right people. */
const isSigned = (one: OperationRecord, records: Rows): boolean => {
  const action = records.approvals.find(({ actionKey }) => actionKey === one.actionKey)
  if (action === undefined) return false
  const subs = new Set(action.signatures.map(({ sub }) => sub))
  return (
    effects[one.kind as BuiltInOperationKind].startsWith("loosen") &&
    subs.size >= eyesOf(one.kind as BuiltInOperationKind).approvers &&
    !subs.has(action.maker) &&
    [...subs].every((sub) => approvers.includes(sub) && !auditors.includes(sub))
  )
}

const isAfter = (
  at: Instant.Instant | null,
  span: { from: Instant.Instant; to: Instant.Instant }
) => at !== null && at > span.from && at <= span.to

/** The earlier notice or signatures because of which an act may happen from now on. */
const whyOf = (
  act: Act,
  input: {
    readonly records: Rows
    readonly ran: ReadonlyArray<OperationRecord>
    readonly span: { readonly from: Instant.Instant; readonly to: Instant.Instant }
  }
): Why | undefined => {
  const { records, ran, span } = input
  const signed = (operationKind: string, resourceId: string) =>
    ran.some(
      (one) =>
        one.kind === operationKind && one.resource.id === resourceId && isSigned(one, records)
    )
  const loosening = (version: PolicyVersion) =>
    version.instrumentId === act.instrumentId && directionOf(version.changes) === "loosen"
  if (
    records.restrictions.some(
      (one) => isAbout(one, act) && signed("restriction.lift", one.restrictionId)
    )
  ) {
    return "lift"
  }
  if (
    records.holds.some(
      (one) => one.instrumentId === act.instrumentId && signed("hold.release", one.holdId)
    )
  ) {
    return "release"
  }
  if (act.name === "execute unattended") {
    const own = records.standingApprovals.filter(
      ({ instrumentId, state }) => instrumentId === act.instrumentId && state === "active"
    )
    if (own.some((one) => signed("standing-approval.grant", one.standingApprovalId))) return "grant"
    return own.some((one) => isAfter(one.from, span)) ? "begin" : undefined
  }
  if (
    signed("policy.set", act.instrumentId) &&
    records.versions.some((one) => one.state === "current" && loosening(one))
  ) {
    return "policy"
  }
  if (records.restrictions.some((one) => isAbout(one, act) && isAfter(one.autoReleaseAt, span))) {
    return "lapse"
  }
  if (records.versions.some((one) => loosening(one) && isAfter(one.effectiveFrom, span))) {
    return "scheduled"
  }
  const ruling = records.versions.find(
    ({ instrumentId, state }) => instrumentId === act.instrumentId && state === "current"
  )
  return isAfter(ruling?.manifest.window.opensAt ?? null, span) ? "window" : undefined
}

const recorded = (instrumentId: string) =>
  Effect.gen(function* () {
    const distribution = {
      ...bodyOf().distribution,
      schedule: "monthly",
      calendar: { frequency: "monthly", recordDay: 31, paymentLagDays: 0 }
    }
    const body = { ...bodyOf(), instrumentId, distribution }
    const made = yield* call("instrument.record", olga, { body })
    yield* Calls.approve(String(Calls.field(made, "actionKey")), ann)
    yield* settle
  })

const opened = Effect.gen(function* () {
  yield* TestClock.setTime(Instant.toEpochMillis(start))
  yield* Effect.forEach(instrumentIds, recorded)
  const participant = yield* SimulatedLedger.Participant
  for (const holderId of holderIds) {
    const added = yield* participant.admin.addParty({ hint: holderId, kind: "local" })
    const body = { holderId, party: added.party, taxResidences: [] }
    yield* call("holder.register", olga, { body })
    yield* settle
  }
})

const timesSeen: Record<Why, number> = {
  lift: 0,
  release: 0,
  policy: 0,
  grant: 0,
  begin: 0,
  lapse: 0,
  scheduled: 0,
  window: 0
}

const checked = (steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    yield* opened
    let before = yield* permitted
    for (const one of steps) {
      const from = yield* Instant.now
      const rowsBefore = yield* rows
      // A refused act must change nothing, which is compared as well.
      yield* Effect.result(tried(one, rowsBefore, from))
      yield* settle
      const after = yield* permitted
      const now = yield* rows
      const done = new Set(
        rowsBefore.operations
          .filter(({ state }) => state === "succeeded")
          .map((row) => row.operationId)
      )
      const ran = now.operations.filter(
        (row) => row.state === "succeeded" && !done.has(row.operationId)
      )
      const span = { from, to: yield* Instant.now }
      for (const act of after.values()) {
        if (before.has(keyOf(act))) continue
        const why = whyOf(act, { records: now, ran, span })
        expect(why, `${keyOf(act)} widened by ${one.do} for no reason`).toBeDefined()
        if (why !== undefined) timesSeen[why] += 1
      }
      for (const row of ran) {
        if (effects[row.kind as BuiltInOperationKind] !== "tighten") continue
        const fresh = [...after.keys()].filter((key) => !before.has(key))
        expect(fresh, `${row.kind} widened`).toEqual([])
      }
      before = after
    }
  })

// ---- histories that are always told, each with one way in which more may happen ------------------

const by = { olga: 0, both: 1, rita: 2, carl: 3, ann: 4, bob: 5, eve: 6, mo: 7 } as const
const sign = (...signers: ReadonlyArray<keyof typeof by>): ReadonlyArray<Step> =>
  signers.map((name) => ({ do: "sign", who: by[name], nth: 0 }))
const wait = (count: number): Step => ({ do: "wait", hours: count })
const restricting = (change: Partial<Entry>): Step => ({
  do: "restrict",
  who: by.rita,
  entries: [
    {
      holder: 0,
      instrument: null,
      mode: "freeze",
      reason: "holder-request",
      inHours: null,
      ...change
    }
  ]
})
const setting = (said: object, inHours: number | null = null): Step => ({
  do: "set",
  who: by.olga,
  instrument: 0,
  said,
  inHours
})
const most = (maxSubscription: number | null) => ({
  limits: { maxSubscription, maxRedemption: maxSubscription, cycleCapacity: null }
})
const opening = (count: number) => ({
  window: { opensAt: Instant.format(hours(count)), closesAt: null }
})

const widenings: Readonly<Record<Why, ReadonlyArray<Step>>> = {
  lift: [
    restricting({}),
    { do: "lift", who: by.carl, nth: 0 },
    ...sign("eve", "mo", "ann", "ann", "both")
  ],
  release: [
    { do: "pause", who: by.rita, instrument: 0, inHours: 1 },
    wait(3),
    { do: "release", who: by.both, nth: 0 },
    ...sign("both", "eve", "ann", "bob")
  ],
  policy: [setting(most(10)), ...sign("ann"), setting(most(null)), ...sign("bob")],
  // A grantor may not sign its own grant, and one person ends it.
  grant: [
    { do: "grant", who: by.both, instrument: 0, inHours: null },
    ...sign("both", "eve", "ann"),
    { do: "revoke", who: by.rita, nth: 0 },
    { do: "grant", who: by.olga, instrument: 0, inHours: null },
    ...sign("bob")
  ],
  begin: [{ do: "grant", who: by.olga, instrument: 0, inHours: 2 }, ...sign("ann"), wait(3)],
  // A shorter one beside it, or a batch over it, ends no earlier what stands.
  lapse: [
    restricting({ inHours: 6 }),
    restricting({ inHours: 1 }),
    wait(1),
    ...sign("ann"),
    wait(4),
    wait(1)
  ],
  // Replaced before its time by the same, later and then at once: it widens when it was signed to.
  scheduled: [
    setting(most(10)),
    ...sign("ann"),
    setting(most(null), 1),
    ...sign("ann"),
    setting({ deliverBeforeCash: true }, 5),
    ...sign("bob"),
    wait(3),
    wait(3)
  ],
  window: [setting(opening(2)), ...sign("ann"), wait(3)]
}

describe("what may happen", () => {
  it("grows by nothing but what the people it needs have signed, or what said so when it was made", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40, size: "max" }), (steps) =>
        Calls.runCase(checked(steps).pipe(Effect.provide(world())))
      ),
      { numRuns: runs, examples: Object.values(widenings).map((steps) => [[...steps]]) }
    )
    // The property would hold of an engine that refuses everything: so each widening has to happen
    // at least once.
    for (const [why, count] of Object.entries(timesSeen)) expect(count, why).toBeGreaterThan(0)
  })
})
