/**
 * Distributions by chance at the level of operations: restrictions, screening, admissions, holds,
 * recoveries, deliveries, rolls and voids in any order, with instances that die in between. Books of
 * the test's own, from the ledger alone, say of every line who was paid what, once.
 */
import { Catalogue, Records, Screenings, Workers } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { ScreeningSource } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { operations } from "#core/writes/OperationRecord.ts"
import { walkSeed } from "../seeds.ts"
import * as Calls from "../engine/calls.ts"
import * as Killable from "../engine/killable.ts"
import { ports } from "../engine/world.ts"
import * as Faults from "../simulation/faults.ts"
import * as Books from "../simulation/town/distribution-books.ts"
import * as LedgerObserver from "../simulation/town/ledger-observer.ts"
import * as Executions from "./executions.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Restricting from "./restricting.ts"

const declared = {
  operations: Catalogue.operations,
  fromLedger: Catalogue.fromLedger,
  clocked: Catalogue.collections,
  timely: Catalogue.timely
}
const engineOf = (death?: Killable.Death) =>
  Killable.make(death === undefined ? declared : { ...declared, death })

const day = 86_400_000_000_000n
const cent = 10n ** 8n
const whole = 10n ** 10n
const floorOf = (value: bigint, by: bigint): bigint => value / by - (value % by < 0n ? 1n : 0n)

const holderIds = ["h1", "h2", "h3", "h4"]
const months = ["2026-07", "2026-08", "2026-09"]
const midnight = (date: string): bigint => Instant.of(`${date}T00:00:00Z`)
const at = (instant: string) => TestClock.setTime(Instant.toEpochMillis(Instant.of(instant)))
const nextOf = (month: string): string =>
  Instant.format(Instant.fromNanos(midnight(`${month}-01`) + 32n * day)).slice(0, 7)

interface Walk {
  readonly seed: number
  readonly payout: "cash" | "units"
  readonly inDoubt: Set<string>
}

/** Why a holder's lines wait, as the test itself brought it about. */
interface Model {
  readonly restrictions: Array<{
    readonly id: string
    holderId: string
    readonly isCourt: boolean
  }>
  readonly unadmitted: Set<string>
  readonly doubtful: Set<string>
  /** Successor of each holder, by recovery. */
  readonly heirs: Map<string, string>
  readonly holds: Set<string>
}

const headOf = (model: Model, holderId: string): string => {
  const next = model.heirs.get(holderId)
  return next === undefined ? holderId : headOf(model, next)
}

const causesOf = (model: Model, holderId: string): ReadonlyArray<string> => {
  const own = model.restrictions.filter((one) => one.holderId === holderId)
  return [
    ...(own.some(({ isCourt }) => !isCourt) ? ["restriction"] : []),
    ...(own.some(({ isCourt }) => isCourt) ? ["court-order"] : []),
    ...(model.unadmitted.has(holderId) ? ["admission"] : []),
    ...(model.doubtful.has(holderId) ? ["screening"] : [])
  ]
}

/** A source that has a possible hit on these holders, and none on others. */
const screening = (inDoubt: ReadonlySet<string>): ScreeningSource.Source => ({
  screens: "yes",
  listVersion: Effect.succeed("1"),
  ask: ({ holderId }) =>
    Effect.map(Instant.now, (screenedAt) => ({
      found: inDoubt.has(holderId) ? ("possible" as const) : ("none" as const),
      screenedAt,
      listVersion: "1",
      validUntil: null,
      reason: null
    }))
})

const story = ({ inDoubt, payout, seed }: Walk) =>
  Effect.gen(function* () {
    const die = Faults.dice(seed)
    const model: Model = {
      restrictions: [],
      unadmitted: new Set(),
      doubtful: new Set(),
      heirs: new Map(),
      holds: new Set()
    }
    const terms = { ...Executions.par, distribution: { ...Executions.par.distribution, payout } }
    const { stage, holders } = yield* Executions.founded(holderIds, terms)
    // The registrar pays lines that wait, which runs would hold every payout for.
    yield* Cycles.changes(1, { tolerances: { "policy-replay": 1_000_000 } })
    const observer = LedgerObserver.make([stage.venue, stage.registrar.party])
    const books = Books.make(observer, ["fund-a"])
    const look = observer.look(0)
    for (const holder of holders)
      yield* Powers.mints(stage, holder, String(1_000 + die.roll(90_000)))
    yield* Powers.agrees(stage)
    const everybody = new Map<string, Cycles.Holder>(holders.map((one) => [one.holderId, one]))
    for (const lost of holders.slice(0, 2)) {
      yield* Powers.consents(lost)
      const heir = yield* Powers.succeeds(stage, lost, { waits: "no" })
      everybody.set(heir.holderId, heir)
    }
    const idOf = new Map(
      [...everybody.values()].map(({ holderId, party }) => [party as string, holderId])
    )
    let count = 0
    const note = (what: string) => reached.set(what, (reached.get(what) ?? 0) + 1)
    /** Whether every change of the records has been instructed on the ledger. */
    let isTold = true

    const settle = Effect.andThen(Calls.settle, look)
    /** An instance takes the due work and dies at one of its calls. */
    const dies = Effect.suspend(() => {
      const side = die.pick(["before", "after"] as const)
      const { engine } = engineOf({ at: 1 + die.roll(18), side })
      return Effect.exit(Effect.scoped(Calls.settle.pipe(Effect.provide(engine))))
    })
    const turns = (times: number) =>
      Effect.gen(function* () {
        for (let turn = 0; turn < times; turn++) {
          yield* TestClock.adjust("21 seconds")
          yield* Workers.runOnce("schedules")
          if (die.once(3)) yield* dies
          yield* settle
        }
      })
    /** Runs all due work, and instructs every change of the records on the ledger. */
    const rests = Effect.gen(function* () {
      yield* turns(6)
      isTold = true
    })

    /** A write by as many people as it needs, half of the time begun by an instance that dies. */
    const does = (kind: string, params: Readonly<Record<string, string>>, body: object) =>
      Effect.gen(function* () {
        const operation = declared.operations.find((one) => one.kind === kind)
        if (operation === undefined) throw new Error(`no operation ${kind}`)
        const call = { params, body: JSON.stringify(body), key: `walk-${++count}` }
        let answer = yield* Calls.submit(operation, Calls.operator, call)
        const actionKey = Calls.field(answer, "actionKey")
        for (const sub of ["ada", "abel"].slice(0, operation.approvers)) {
          answer = yield* Calls.approve(String(actionKey), Calls.person(sub, "approver"))
        }
        isTold = false
        if (die.once(2)) yield* dies
        for (let turn = 0; turn < 40; turn++) {
          yield* settle
          const operationId = String(Calls.field(answer, "operationId"))
          const records = yield* Records
          const { state } = yield* records.get(operations, operationId)
          if (state === "succeeded" || state === "failed") return state === "succeeded"
          yield* TestClock.adjust("11 seconds")
        }
        throw new Error(`${kind} does not end`)
      }).pipe(Effect.catchTag("Refused", () => Effect.succeed(false)))

    const anybody = (): Cycles.Holder => {
      const alive = [...everybody.values()].filter(({ holderId }) => !model.heirs.has(holderId))
      return alive[die.roll(alive.length)] ?? alive[0]!
    }

    const restricts = Effect.gen(function* () {
      const { holderId } = anybody()
      const isCourt = die.once(3)
      const id = `r${++count}`
      const order = isCourt ? { order: Powers.order } : {}
      const reason = isCourt ? "court-order" : "compliance-review"
      const body = { restrictionId: id, mode: "freeze", reason, ...order }
      if (yield* does("holder.restrict", { holderId }, body)) {
        model.restrictions.push({ id, holderId, isCourt })
      }
    })
    const activeIds = Effect.map(Restricting.all, (all) =>
      all
        .filter(({ state }) => state === "active")
        .map(({ holderId, reason, restrictionId: id }) => ({ holderId, id, reason }))
    )
    const lifts = Effect.gen(function* () {
      const one = model.restrictions[0]
      if (one === undefined) return
      // A recovery carries a restriction on under an id of its own.
      const id = (yield* activeIds).find(
        ({ holderId, reason }) =>
          holderId === one.holderId && (reason === "court-order") === one.isCourt
      )?.id
      if (id === undefined) throw new Error(`${one.id} is in force`)
      assert.isTrue(yield* does("restriction.lift", { restrictionId: id }, { reason: "seen" }))
      model.restrictions.shift()
    })
    const screeningOf = (holderId: string) =>
      Effect.map(Powers.holder(holderId), ({ screening }) => screening?.state)
    const doubts = Effect.gen(function* () {
      const { holderId } = anybody()
      if (model.doubtful.has(holderId)) return
      inDoubt.add(holderId)
      yield* (yield* Screenings).rescreen(holderId)
      yield* settle
      assert.strictEqual(yield* screeningOf(holderId), "review")
      model.doubtful.add(holderId)
      isTold = false
    })
    /** A screening in doubt is asked for again by itself. */
    const clears = Effect.gen(function* () {
      const [holderId] = model.doubtful
      if (holderId === undefined) return
      inDoubt.delete(holderId)
      for (let turn = 0; (yield* screeningOf(holderId)) === "review"; turn++) {
        assert.isBelow(turn, 100, `${holderId} stays in doubt`)
        yield* turns(4)
      }
      model.doubtful.delete(holderId)
      isTold = false
    })
    const withdraws = Effect.gen(function* () {
      const { holderId } = anybody()
      const params = { holderId, instrumentId: "fund-a" }
      if (yield* does("admission.withdraw", params, {})) model.unadmitted.add(holderId)
    })
    const admits = Effect.gen(function* () {
      const [holderId] = [...model.unadmitted].filter((id) => !model.doubtful.has(id))
      const holder = everybody.get(holderId ?? "")
      if (holderId === undefined || holder === undefined) return
      if (!(yield* does("admission.offer", { holderId }, { instrumentId: "fund-a" }))) return
      const said = { holder: holder.party, instrumentId: "fund-a" }
      const offer = yield* Powers.saying(Templates.AdmissionOffer, said)
      yield* holder.act(Templates.exercise(Templates.AdmissionOffer, offer.cid, "Accept", {}))
      model.unadmitted.delete(holderId)
    })
    const pauses = Effect.gen(function* () {
      const holdId = `p${++count}`
      const params = { instrumentId: "fund-a" }
      if (yield* does("instrument.pause", params, { holdId, reason: "a question" })) {
        model.holds.add(holdId)
      }
    })
    const releases = Effect.gen(function* () {
      const [holdId] = model.holds
      if (holdId === undefined) return
      assert.isTrue(yield* does("hold.release", { holdId }, { reason: "answered" }))
      model.holds.delete(holdId)
    })
    const recovers = Effect.gen(function* () {
      const lost = holders.slice(0, 2).find(({ holderId }) => !model.heirs.has(holderId))
      if (lost === undefined) return
      if (!(yield* does("holder.recover", { holderId: lost.holderId }, {}))) return
      const heir = `${lost.holderId}-next`
      model.heirs.set(lost.holderId, heir)
      if ((yield* allLines).some(({ predecessor }) => predecessor === lost.holderId)) {
        note("a line followed its holder")
      }
      for (const one of model.restrictions) if (one.holderId === lost.holderId) one.holderId = heir
      model.doubtful.delete(lost.holderId)
      // Its admission ended with it, and no other is offered to it.
      model.unadmitted.delete(lost.holderId)
    })
    const owed = () => [...observer.all("DistributionLine").values()]
    const delivers = Effect.gen(function* () {
      yield* look
      const lines = owed()
      const line = lines[die.roll(Math.max(1, lines.length))]
      if (line === undefined) return
      const booked = books.line(String(line.payload["lineId"]))
      const month = books.months.get(String(line.payload["distributionId"]))
      if (booked === undefined || month === undefined) throw new Error("a line is booked")
      const contract = [...observer.all("Distribution").values()].find(
        ({ payload }) => payload["distributionId"] === month.distributionId
      )
      const credential = [...observer.contractsOf(booked.payee).values()].find(
        ({ entity }) => entity === "Credential"
      )
      const isCash = month.payout === "cash" && booked.net > 0n
      const exit = yield* Effect.exit(
        stage.registrar.act(
          Templates.exercise(Templates.DistributionLine, line.cid, "Deliver", {
            distributionCid: contract?.cid ?? "",
            credentialCid: isCash ? null : (credential?.cid ?? null),
            configurationCid: null,
            evidence: isCash
              ? { reference: "wire", paidOn: Instant.date(yield* Instant.now) }
              : null
          })
        )
      )
      yield* look
      if (exit._tag === "Failure") return note("a delivery the ledger refused")
      if (!isTold) return note("a delivery before the venue's word")
      note("a delivery")
      // The ledger has the venue's word, so who was paid is who the table names.
      const payee = idOf.get(booked.payee) ?? ""
      assert.strictEqual(payee, headOf(model, idOf.get(booked.party) ?? ""), booked.lineId)
      assert.deepStrictEqual(causesOf(model, payee), [], `${booked.lineId} was paid and waits`)
      assert.strictEqual(model.holds.size, 0, `${booked.lineId} was paid under a hold`)
    })
    const rolls = Effect.suspend(() => {
      const all = [...books.months.keys()]
      const distributionId = all[die.roll(Math.max(1, all.length))]
      return distributionId === undefined
        ? Effect.void
        : does("distribution.roll", { distributionId }, {})
    })
    const voids = Effect.gen(function* () {
      const lines = (yield* allLines).filter(({ state }) => state === "suspended")
      const line = lines[die.roll(Math.max(1, lines.length))]
      if (line?.holderId == null) return
      const body = { voids: [line.lineId], order: Powers.order }
      yield* does("holder.force-transfer", { holderId: line.holderId }, body)
    })
    const allLines = Effect.suspend(() =>
      Effect.forEach([...books.months.keys()], (id) => Executions.linesOf(id))
    ).pipe(Effect.map((found) => found.flat()))

    /** Each line is in the ledger's state, and waits for the causes that the test made. */
    const checks = Effect.gen(function* () {
      yield* look
      for (const line of yield* allLines) {
        const booked = books.line(line.lineId)
        if (booked === undefined) throw new Error(`${line.lineId} is booked`)
        if (line.state !== "due" && line.state !== "suspended") {
          assert.strictEqual(line.state, booked.state, line.lineId)
          if (line.state === "delivered") assert.strictEqual(line.party, booked.payee, line.lineId)
          continue
        }
        assert.strictEqual(booked.state, "owed", line.lineId)
        const head = headOf(model, idOf.get(booked.party) ?? "")
        assert.strictEqual(line.holderId, head, line.lineId)
        assert.deepStrictEqual(line.causes, causesOf(model, head), line.lineId)
        for (const cause of line.causes) note(`a line waits for ${cause}`)
        if (!isTold || model.holds.size > 0) continue
        assert.strictEqual(idOf.get(booked.payee), head, `${line.lineId} as the ledger has it`)
        assert.strictEqual(booked.waits, line.state === "suspended", line.lineId)
      }
    })

    const points: Array<{ readonly date: bigint; readonly income: bigint }> = []
    let left = new Map<string, bigint>()
    /** Computes the expected lines of a month, by plain integers, from units on the ledger. */
    const expectedOf = (month: string) => {
      const from = month === months[0] ? midnight("2026-06-30") : midnight(`${month}-01`)
      const end = midnight(`${nextOf(month)}-01`)
      const before = books.monthsOf("fund-a").filter((one) => one.month < month)
      return new Map(
        [...everybody.values()].flatMap(({ holderId }) => {
          if (headOf(model, holderId) !== holderId) return []
          const chain = [...everybody.values()].filter(
            (one) => headOf(model, one.holderId) === holderId
          )
          let earned = 0n
          for (const [nth, { date, income }] of points.entries()) {
            const until = points[nth + 1]?.date ?? end
            const days = (until - (date < from ? from : date)) / day
            if (days <= 0n) continue
            for (const { party } of chain) {
              earned += observer.unitsBefore("fund-a", party, date + day) * income * days
            }
          }
          const carryIn = chain.reduce((sum, one) => sum + (left.get(one.holderId) ?? 0n), 0n)
          const due = floorOf(earned, whole) + carryIn
          if (due === 0n) return []
          const isUnrolled = before
            .flatMap(({ lines }) => lines)
            .some(
              ({ party, state }) =>
                (state === "owed" || state === "delivered") &&
                headOf(model, idOf.get(party) ?? "") === holderId
            )
          const gross = isUnrolled || due < cent ? 0n : floorOf(due, cent) * cent
          const withheld = floorOf((gross / cent) * 15n + 50n, 100n) * cent
          return [[holderId, { gross, net: gross - withheld, carryOut: due - gross }] as const]
        })
      )
    }
    const executes = (month: string) =>
      Effect.gen(function* () {
        yield* at(`${month}-20T12:00:00Z`)
        const income = BigInt(1 + die.roll(3_000_000)) * (die.once(6) ? -1n : 1n)
        const text = Decimal.format(Decimal.fromAtoms(income))
        yield* Executions.publishes(stage, text, `${month}-20T11:00:00Z`)
        points.push({ date: midnight(`${month}-20`), income })
        yield* at(`${nextOf(month)}-01T00:02:00Z`)
        yield* rests
        while (model.holds.size > 0) yield* releases
        yield* look
        const expected = expectedOf(month)
        const body = { instrumentId: "fund-a", month }
        assert.isTrue(yield* does("distribution.execute", {}, body), month)
        const lines = books.months.get(`fund-a.${month}`)?.lines ?? []
        const got = new Map(
          lines.map(({ carryOut, gross, net, party }) => [
            idOf.get(party) ?? party,
            { gross, net, carryOut }
          ])
        )
        assert.deepStrictEqual(got, expected, month)
        left = new Map([...expected].map(([holderId, { carryOut }]) => [holderId, carryOut]))
        // No line is delivered before the payment date.
        yield* at(`${nextOf(month)}-06T00:00:00Z`)
        yield* rests
      })

    const acts = [
      restricts,
      lifts,
      doubts,
      clears,
      withdraws,
      admits,
      pauses,
      releases,
      recovers,
      delivers,
      delivers,
      delivers,
      rolls,
      voids,
      rests,
      rests
    ]
    for (const month of months) {
      yield* executes(month)
      yield* checks
      for (let step = 0; step < 14; step++) {
        yield* acts[die.roll(acts.length)] ?? Effect.void
        yield* checks
      }
    }
    // All causes are ended, in some order, and the owed lines are paid.
    while (model.restrictions.length > 0) yield* lifts
    while (model.doubtful.size > 0) yield* clears
    for (let tries = 0; model.unadmitted.size > 0; tries++) {
      assert.isBelow(tries, 100, `${[...model.unadmitted].join()} is admitted`)
      yield* admits
    }
    while (model.holds.size > 0) yield* releases
    yield* rests
    yield* checks
    for (let tries = 0; owed().length > 0 && tries < 200; tries++) yield* delivers
    assert.deepStrictEqual(owed(), [])
    for (const distributionId of books.months.keys()) {
      yield* does("distribution.roll", { distributionId }, {})
    }
    yield* rests
    yield* checks
    const ended = (yield* allLines).map(({ state }) => state)
    assert.deepStrictEqual(
      ended.filter((state) => !["rolled", "void", "carried"].includes(state)),
      []
    )
    for (const distributionId of books.months.keys()) {
      assert.strictEqual((yield* Executions.distributionOf(distributionId)).state, "paid")
    }
    const breaches = (yield* Fund.surprises).filter(
      (surprise) => !surprise.startsWith("distribution deliver: The line was ")
    )
    assert.deepStrictEqual(breaches, [])
    for (const { state, reason } of yield* allLines) note(`${state} ${reason ?? "line"}`)
  })

/** Tally of the outcomes that the walks of this file have to reach. */
const reached = new Map<string, number>()

/** The first seeds are always the same, the last is of the seed of the run. */
const seeds = [
  ...Array.from({ length: Number(process.env["WALKS"] ?? 4) }, (_, nth) => 5 + nth),
  walkSeed(0)
]

describe("a distribution's lines", () => {
  it.effect.each(seeds)(
    "are never paid twice, lost, or paid to another than their causes say, seed %s",
    (seed) => {
      const inDoubt = new Set<string>()
      const payout = seed % 2 === 0 ? "units" : "cash"
      const source = Layer.succeed(ScreeningSource.ScreeningSource, screening(inDoubt))
      return story({ seed, payout, inDoubt }).pipe(
        Effect.provide(engineOf().engine),
        Effect.provide(ports({ settings: { batchLines: 2, lease: 9_000 }, screening: source }))
      )
    }
  )

  it("meet every cause, and are delivered, rolled, voided and carried", () => {
    const expected = [
      "a delivery",
      "a delivery before the venue's word",
      "a delivery the ledger refused",
      "a line followed its holder",
      "a line waits for admission",
      "a line waits for court-order",
      "a line waits for restriction",
      "a line waits for screening",
      "carried below-smallest",
      "carried unrolled",
      "rolled line",
      "void line"
    ]
    expect([...reached.keys()].toSorted()).toEqual(expected)
  })
})
