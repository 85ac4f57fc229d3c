/**
 * Suspense and cure of distribution lines: every cause of the table meets a line through the operation,
 * the ledger or the clock that brings it, and its cure makes the same amount due again.
 */
import { Records, Screenings } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { ScreeningSource } from "@bursar/engine-core/ports"
import * as Scripted from "@bursar/storage-adapters/screening"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { shownDistributions } from "#core/distributions/distribution/Distribution.ts"
import * as Calls from "../engine/calls.ts"
import { polled, world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Restricting from "./restricting.ts"

const payouts = ["cash", "units"] as const
type Payout = (typeof payouts)[number]

/** Amounts of a line in units of the instrument, beside those in cash. */
const figuresOf = (payout: Payout) =>
  payout === "cash" ? {} : { payoutUnits: Decimal.of("43.982441") }

type Does = Effect.Effect<unknown, unknown, Layer.Success<ReturnType<typeof world>>>

/** h1 with an open line of 46.17 that is due. */
const owed = (payout: Payout, before: Row["before"]) =>
  Effect.gen(function* () {
    const { stage, holders, point } = yield* Month.founded(["h1"], payout)
    const h1 = holders[0]!
    yield* before?.(h1, stage) ?? Effect.void
    const lines = [Month.lineOf(1, h1.party, figuresOf(payout))]
    const terms = { payout, payoutPrice: payout === "units" ? Decimal.of("1.0481") : null }
    yield* Month.opened(stage, point, lines, terms)
    return { stage, h1 }
  })
type Scene = Effect.Success<ReturnType<typeof owed>>

/** A month of two lines in cash, each due. */
const owedToTwo = Effect.gen(function* () {
  const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
  yield* Month.opened(
    stage,
    point,
    holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
  )
  return stage
})

const succeeding = <E, R>(write: Effect.Effect<Calls.Ended, E, R>) =>
  Effect.map(write, ({ state, why }) => {
    assert.strictEqual(state, "succeeded", why)
  })

const setting = (body: Readonly<Record<string, Calls.Json>>) =>
  succeeding(Calls.write("holder.set-attributes", { holderId: "h1" }, body))
const kyc = { name: "kyc", value: "passed", evidenceHash: "ab".repeat(32), state: "valid" }
const attribute = (members: Readonly<Record<string, Calls.Json>>) =>
  setting({ attributes: [{ ...kyc, ...members }] })
const registeredUntil = (validUntil: string) => setting({ attributes: [kyc], validUntil })

const withdraws = succeeding(
  Calls.write("admission.withdraw", { holderId: "h1", instrumentId: "fund-a" }, {})
)

const admittedUntil = (h1: Cycles.Holder, validUntil: string) =>
  Effect.andThen(withdraws, Powers.admits(h1, "fund-a", { validUntil }))

/** State of the distribution, and the one that investors and apps are shown. */
const bothStates = Effect.gen(function* () {
  const records = yield* Records
  const shown = yield* records.get(shownDistributions, "d-july")
  return [(yield* Month.distribution()).state, shown.state]
})

const ten = "2026-08-03T10:00:00Z"
const passesTen = Effect.andThen(Cycles.at("2026-08-03T10:05:00Z"), Cycles.turns)
const excepts = Restricting.restricts("h1", "receiving", {
  mode: "receive-only",
  reason: "kyc-expired"
})

interface Row {
  readonly name: string
  readonly before?: (h1: Cycles.Holder, stage: Fund.Parties) => Does
  readonly meets: (scene: Scene) => Does
  /** Reason of the suspended line; null: it stays due. */
  readonly reason: Readonly<Record<Payout, string | null>>
  readonly cures: (scene: Scene) => Does
}
const both = (reason: string | null) => ({ cash: reason, units: reason })

const rows: ReadonlyArray<Row> = [
  {
    name: "a freeze, until it is lifted",
    meets: () => Restricting.restricts("h1", "r1"),
    reason: both("restriction"),
    cures: () => Restricting.lifts("r1")
  },
  {
    name: "a freeze, until the clock ends it",
    meets: () => Restricting.restricts("h1", "r1", { autoReleaseAt: ten }),
    reason: both("restriction"),
    cures: () => passesTen
  },
  {
    name: "a freeze of a batch, until it is lifted",
    meets: () =>
      Calls.write(
        "holder.restrict-batch",
        {},
        { restrictionId: "r1", entries: [{ holderId: "h1", ...Restricting.frozen }] }
      ),
    reason: both("restriction"),
    cures: () =>
      Effect.flatMap(Restricting.all, ([first]) => Restricting.lifts(first!.restrictionId))
  },
  {
    name: "a court's freeze, until it is lifted",
    meets: () => Restricting.restricts("h1", "r1", { reason: "court-order", order: Powers.order }),
    reason: both("court-order"),
    cures: () => Restricting.lifts("r1")
  },
  {
    name: "no receive-only restriction",
    meets: () => Restricting.restricts("h1", "r1", { mode: "receive-only" }),
    reason: both(null),
    cures: () => Restricting.lifts("r1")
  },
  {
    name: "a redeem-only restriction where units are paid",
    meets: () => Restricting.restricts("h1", "r1", { mode: "redeem-only" }),
    reason: { cash: null, units: "restriction" },
    cures: () => Restricting.lifts("r1")
  },
  {
    name: "an expired registration, until it is renewed",
    before: () => registeredUntil(ten),
    meets: () => passesTen,
    reason: both("registration"),
    cures: () => registeredUntil("2027-08-03T10:00:00Z")
  },
  {
    name: "an expired registration, until the holder may receive only",
    before: () => registeredUntil(ten),
    meets: () => passesTen,
    reason: both("registration"),
    cures: () => excepts
  },
  {
    name: "an expired attribute, until it is renewed",
    before: (_, stage) => Effect.andThen(Month.requires(stage), attribute({ validUntil: ten })),
    meets: () => passesTen,
    reason: both("attribute"),
    cures: () => attribute({ validUntil: "2027-08-03T10:00:00Z" })
  },
  {
    name: "an expired attribute, until the holder may receive only",
    before: (_, stage) => Effect.andThen(Month.requires(stage), attribute({ validUntil: ten })),
    meets: () => passesTen,
    reason: both("attribute"),
    cures: () => excepts
  },
  {
    name: "an expired attribute, once its holder may no longer receive only",
    before: (_, stage) => Effect.andThen(Month.requires(stage), attribute({ validUntil: ten })),
    meets: () =>
      excepts.pipe(Effect.andThen(passesTen), Effect.andThen(Restricting.lifts("receiving"))),
    reason: both("attribute"),
    cures: () => attribute({ validUntil: "2027-08-03T10:00:00Z" })
  },
  {
    name: "a revoked attribute, until it is valid again",
    before: (_, stage) => Effect.andThen(Month.requires(stage), attribute({})),
    meets: () => attribute({ state: "revoked" }),
    reason: both("attribute"),
    cures: () => attribute({})
  },
  {
    name: "a revoked attribute, also of a holder that may receive only",
    before: (_, stage) => Effect.andThen(Month.requires(stage), attribute({})),
    meets: () => Effect.andThen(excepts, attribute({ state: "revoked" })),
    reason: both("attribute"),
    cures: () => attribute({})
  },
  {
    name: "an attribute that begins later, until it begins",
    before: (_, stage) => Effect.andThen(Month.requires(stage), attribute({})),
    meets: () => attribute({ value: "passed again", validFrom: ten }),
    reason: both("attribute"),
    cures: () => passesTen
  },
  {
    name: "two attributes that begin later, until the second begins",
    before: (_, stage) =>
      Effect.andThen(
        Month.requires(stage, ["kyc", "tax-rate"]),
        setting({ attributes: [kyc, { ...kyc, name: "tax-rate", value: "0.1" }] })
      ),
    meets: () =>
      setting({
        attributes: [
          { ...kyc, validFrom: "2026-08-03T09:55:00Z" },
          { ...kyc, name: "tax-rate", value: "0.15", validFrom: ten }
        ]
      }),
    reason: both("attribute"),
    cures: () => passesTen
  },
  ...["tax-rate", "tax-exemption", "note"].flatMap((name): ReadonlyArray<Row> => {
    const own = { name, value: name === "tax-rate" ? "0.15" : "12" }
    return [
      {
        name: `no ${name} that ran out, where the registrar requires nothing`,
        before: () => attribute({ ...own, validUntil: ten }),
        meets: () => passesTen,
        reason: both(null),
        cures: () => Effect.void
      },
      {
        name: `no ${name} that was revoked, where the registrar requires another`,
        before: (_, stage) =>
          Effect.andThen(Month.requires(stage), setting({ attributes: [kyc, { ...kyc, ...own }] })),
        meets: () => attribute({ ...own, state: "revoked" }),
        reason: both(null),
        cures: () => Effect.void
      }
    ]
  }),
  {
    name: "an expired admission, until there is another",
    before: (h1) => admittedUntil(h1, ten),
    meets: () => passesTen,
    reason: both("admission"),
    cures: ({ h1 }) => Powers.admits(h1, "fund-a")
  },
  {
    name: "a withdrawn admission, until there is another",
    meets: () => withdraws,
    reason: both("admission"),
    cures: ({ h1 }) => Powers.admits(h1, "fund-a")
  }
]

const amounts = Effect.map(Month.lines, (found) =>
  found.map(({ gross, withheld, net, payoutUnits, carryOut }) => ({
    gross,
    withheld,
    net,
    payoutUnits,
    carryOut
  }))
)

describe("a line waits for", () => {
  it.effect.each(rows.flatMap((row) => payouts.map((payout) => ({ ...row, payout }))))(
    "$name ($payout)",
    ({ before, meets, reason, cures, payout }) =>
      Effect.gen(function* () {
        const scene = yield* owed(payout, before)
        assert.deepStrictEqual(yield* Month.states, ["1 due"])
        const owing = yield* amounts
        yield* meets(scene)
        const waits = reason[payout]
        assert.deepStrictEqual(yield* Month.states, [
          waits === null ? "1 due" : `1 suspended ${waits}`
        ])
        yield* cures(scene)
        assert.deepStrictEqual(yield* Month.states, ["1 due"])
        assert.deepStrictEqual(yield* amounts, owing)
        if (payout === "cash") {
          // The engine directs the line on the ledger: it waits no longer.
          yield* Cycles.turns
          yield* Month.delivers(scene.stage, "d-july", "d-july.1")
          assert.deepStrictEqual(yield* Month.states, ["1 delivered"])
        }
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(world()))
  )

  it.effect(
    "a screening in doubt and one that is confirmed, until it is clear and unrestricted",
    () => {
      let script: Scripted.Script = Scripted.clear
      const source = Layer.succeed(
        ScreeningSource.ScreeningSource,
        Scripted.make(Effect.sync(() => script))
      )
      const answers = (found: "none" | "possible" | "confirmed") =>
        Effect.gen(function* () {
          script = { ...Scripted.clear, others: [found] }
          yield* Cycles.turns
        })
      return Effect.gen(function* () {
        yield* owed("cash", undefined)
        assert.deepStrictEqual(yield* Month.states, ["1 due"])
        script = { ...Scripted.clear, others: ["possible"] }
        yield* (yield* Screenings).rescreen("h1")
        yield* Calls.settle
        assert.deepStrictEqual(yield* Month.states, ["1 suspended screening"])
        yield* answers("confirmed")
        assert.deepStrictEqual(yield* Month.states, ["1 suspended restriction"])
        assert.deepStrictEqual((yield* Month.lines)[0]?.causes, ["restriction", "screening"])
        script = Scripted.clear
        yield* (yield* Screenings).rescreen("h1")
        yield* Calls.settle
        assert.deepStrictEqual((yield* Month.lines)[0]?.causes, ["restriction"])
        const [made] = yield* Restricting.activeOf("h1")
        yield* Restricting.lifts(made!)
        assert.deepStrictEqual(yield* Month.states, ["1 due"])
      }).pipe(Effect.provide(world({ screening: source })))
    }
  )

  it.effect("its party to become a holder, which is then paid", () =>
    Effect.gen(function* () {
      const { stage, point } = yield* Month.founded([])
      const stranger = yield* Fund.outsider("stranger")
      yield* Month.opened(stage, point, [Month.lineOf(1, stranger.party)])
      assert.deepStrictEqual(yield* Month.states, ["1 suspended no-holder"])
      yield* Cycles.joinsAs(stage, "h9", stranger)
      assert.deepStrictEqual(yield* Month.states, ["1 due"])
      const [line] = yield* Month.lines
      assert.deepInclude(line!, { holderId: "h9", party: stranger.party, predecessor: null })
    }).pipe(Effect.provide(world()))
  )

  it.effect(
    "nothing of its predecessor's: a recovery takes it to the successor, restrictions too",
    () =>
      Effect.gen(function* () {
        const { stage, holders, point } = yield* Month.founded(["h1"])
        const h1 = holders[0]!
        yield* Powers.mints(stage, h1, "100")
        yield* Powers.agrees(stage)
        yield* Powers.consents(h1)
        const next = yield* Powers.succeeds(stage, h1)
        yield* Month.opened(stage, point, [Month.lineOf(1, h1.party)])
        yield* Restricting.restricts("h1", "r1")
        const owing = yield* amounts
        yield* succeeding(Powers.recovers("h1"))
        const [line] = yield* Month.lines
        assert.deepInclude(line!, {
          holderId: next.holderId,
          party: next.party,
          predecessor: "h1",
          state: "suspended",
          causes: ["restriction"],
          directed: { party: h1.party, waits: false }
        })
        assert.deepStrictEqual(yield* amounts, owing)
        const [carriedOver] = yield* Restricting.activeOf(next.holderId)
        yield* Restricting.lifts(carriedOver!)
        assert.deepStrictEqual(yield* Month.states, ["1 due"])
      }).pipe(Effect.provide(world()))
  )

  it.effect("nobody, where its holder was paid before the ledger heard of the successor", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1"])
      const h1 = holders[0]!
      yield* Powers.mints(stage, h1, "100")
      yield* Powers.agrees(stage)
      yield* Powers.consents(h1)
      yield* Powers.succeeds(stage, h1)
      yield* Month.opened(stage, point, [Month.lineOf(1, h1.party)])
      yield* succeeding(Powers.recovers("h1"))
      yield* Month.delivers(stage, "d-july", "d-july.1")
      const [line] = yield* Month.lines
      // The record says who was paid, and not who was to be.
      assert.deepInclude(line!, {
        state: "delivered",
        holderId: "h1",
        party: h1.party,
        predecessor: null
      })
      const [breach, ...others] = yield* Fund.surprises
      assert.match(breach ?? "", /^distribution deliver: The line was h1-next::.* was paid\.$/u)
      assert.deepStrictEqual(others, [])
    }).pipe(Effect.provide(world()))
  )

  it.effect("its successor's cure, where its holder was succeeded before the line was added", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1"])
      const h1 = holders[0]!
      yield* Powers.mints(stage, h1, "100")
      yield* Powers.agrees(stage)
      yield* Powers.consents(h1)
      const next = yield* Powers.succeeds(stage, h1)
      yield* succeeding(Powers.recovers("h1"))
      yield* Month.opened(stage, point, [Month.lineOf(1, h1.party)])
      const [line] = yield* Month.lines
      assert.deepInclude(line!, { holderId: next.holderId, predecessor: "h1", state: "due" })
    }).pipe(Effect.provide(world()))
  )

  it.effect("a hold of its instrument: cured under one, its distribution is held", () =>
    Effect.gen(function* () {
      const stage = yield* owedToTwo
      yield* Month.delivers(stage, "d-july", "d-july.2")
      yield* Restricting.restricts("h1", "r1")
      yield* succeeding(
        Calls.write("instrument.pause", { instrumentId: "fund-a" }, { reason: "a question" })
      )
      assert.strictEqual((yield* Month.distribution()).state, "payable")
      yield* Restricting.lifts("r1")
      assert.deepStrictEqual(yield* Month.states, ["1 due", "2 delivered"])
      const { state, holdId } = yield* Month.distribution()
      assert.strictEqual(state, "held")
      assert.isNotNull(holdId)
    }).pipe(Effect.provide(world()))
  )

  it.effect(
    "a hold of its instrument, which investors are shown where they were shown its wait",
    () =>
      Effect.gen(function* () {
        const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
        const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
        yield* Month.opened(stage, point, lines)
        yield* Month.delivers(stage, "d-july", "d-july.2")
        yield* withdraws
        yield* succeeding(
          Calls.write("instrument.pause", { instrumentId: "fund-a" }, { reason: "a question" })
        )
        assert.deepStrictEqual(yield* bothStates, ["payable", "payable"])
        yield* Powers.admits(holders[0]!, "fund-a")
        assert.deepStrictEqual(yield* Month.states, ["1 due", "2 delivered"])
        assert.deepStrictEqual(yield* bothStates, ["held", "held"])
      }).pipe(Effect.provide(world()))
  )
})

describe("a distribution", () => {
  it.effect("is paid where its last due line begins to wait, and stays so when that is cured", () =>
    Effect.gen(function* () {
      const stage = yield* owedToTwo
      yield* Month.delivers(stage, "d-july", "d-july.2")
      yield* Month.rolls(["d-july.2"])
      assert.strictEqual((yield* Month.distribution()).state, "payable")
      yield* Restricting.restricts("h1", "r1")
      assert.deepStrictEqual(yield* Month.states, ["1 suspended restriction", "2 rolled"])
      assert.strictEqual((yield* Month.distribution()).state, "paid")
      yield* Restricting.lifts("r1")
      assert.deepStrictEqual(yield* Month.states, ["1 due", "2 rolled"])
      yield* Cycles.turns
      yield* Month.delivers(stage, "d-july", "d-july.1")
      yield* Month.rolls(["d-july.1"])
      assert.strictEqual((yield* Month.distribution()).state, "paid")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(Effect.provide(world()))
  )
})

describe("a distribution as investors are shown it", () => {
  it.effect("is paid once they are shown that its last line waits, not when it begins to", () =>
    Effect.gen(function* () {
      const stage = yield* owedToTwo
      yield* Month.delivers(stage, "d-july", "d-july.2")
      yield* Month.rolls(["d-july.2"])
      yield* Restricting.restricts("h1", "r1")
      assert.deepStrictEqual(yield* bothStates, ["paid", "payable"])
      yield* withdraws
      assert.deepStrictEqual(yield* bothStates, ["paid", "paid"])
    }).pipe(Effect.provide(world()))
  )
})

describe("a holder is not closed", () => {
  const closing = Effect.map(Calls.write("holder.close", { holderId: "h1" }, {}), ({ why }) => why)

  it.effect("while a line of its is not rolled, nor before its carry is paid", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1"])
      const party = holders[0]!.party
      const carry = { carryOut: Decimal.of("0.01") }
      yield* Month.opened(stage, point, [Month.lineOf(1, party, carry)])
      assert.strictEqual(yield* closing, "rule-refused policy no-open-line")
      yield* Month.delivers(stage, "d-july", "d-july.1")
      assert.strictEqual(yield* closing, "rule-refused policy no-open-line")
      yield* Month.rolls(["d-july.1"])
      assert.strictEqual(yield* closing, "rule-refused policy no-carry")
    }).pipe(Effect.provide(world()))
  )

  it.effect("while a line of its waits", () =>
    Effect.gen(function* () {
      yield* owed("cash", undefined)
      yield* withdraws
      assert.deepStrictEqual(yield* Month.states, ["1 suspended admission"])
      assert.strictEqual(yield* closing, "rule-refused policy no-open-line")
    }).pipe(Effect.provide(world()))
  )

  it.effect("for no carry that is less than the smallest amount of a payout", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1"])
      const carryOut = Decimal.of("0.0099999999")
      yield* Month.opened(stage, point, [Month.lineOf(1, holders[0]!.party, { carryOut })])
      yield* Month.delivers(stage, "d-july", "d-july.1")
      yield* Month.rolls(["d-july.1"])
      assert.strictEqual(yield* closing, "")
    }).pipe(Effect.provide(world()))
  )

  it.effect.each([
    { sold: "before", why: "" },
    { sold: "after", why: "rule-refused policy no-accrued-income" }
  ])("for no daily income of units sold before the last record date, but after ($sold)", (row) =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1", "h2", "h3"])
      yield* Powers.mints(stage, holders[0]!, "100")
      yield* Powers.mints(stage, holders[1]!, "100")
      yield* Powers.agrees(stage)
      yield* Powers.consents(holders[0]!)
      const sells = succeeding(Powers.forces("h1", "h3"))
      if (row.sold === "before") yield* sells
      yield* Cycles.at("2026-07-28T12:00:00Z")
      yield* Executions.publishes(stage, "0.01", "2026-07-28T11:00:00Z")
      yield* Cycles.at("2026-08-01T00:02:00Z")
      const month = { instrumentId: "fund-a", month: "2026-07" }
      yield* succeeding(Calls.write("distribution.execute", {}, month))
      yield* Cycles.at("2026-08-05T09:00:00Z")
      yield* Cycles.turns
      for (const { holderId, lineId } of yield* Month.lines) {
        if (holderId !== "h1") continue
        yield* Month.delivers(stage, "fund-a.2026-07", lineId)
        yield* Month.rolls([lineId])
      }
      if (row.sold === "after") yield* sells
      assert.strictEqual(yield* closing, row.why)
    }).pipe(Effect.provide(world()))
  )

  const july = { instrumentId: "fund-a", month: "2026-07" }

  it.effect(
    "while a point before the record date pays its units of that day in the next month",
    () =>
      Effect.gen(function* () {
        const { stage, holders } = yield* Executions.founded(["h1", "h2"])
        yield* Powers.mints(stage, holders[0]!, "100")
        yield* Powers.agrees(stage)
        yield* Powers.consents(holders[0]!)
        yield* Cycles.at("2026-07-29T12:00:00Z")
        yield* Executions.publishes(stage, "0.01", "2026-07-29T11:00:00Z")
        yield* Cycles.at("2026-07-30T12:00:00Z")
        yield* succeeding(Powers.forces("h1", "h2"))
        yield* Cycles.at("2026-08-01T00:02:00Z")
        yield* succeeding(Calls.write("distribution.execute", {}, july))
        yield* Cycles.at("2026-08-05T09:00:00Z")
        yield* Cycles.turns
        const [own] = yield* Month.lines
        yield* Month.delivers(stage, "fund-a.2026-07", own!.lineId)
        yield* Month.rolls([own!.lineId])
        assert.strictEqual(yield* closing, "rule-refused policy no-accrued-income")
        // The first and the second of August accrue at the point of July.
        yield* Executions.publishes(stage, "0.01", "2026-08-03T11:00:00Z")
        yield* Cycles.at("2026-09-01T00:02:00Z")
        yield* succeeding(Calls.write("distribution.execute", {}, { ...july, month: "2026-08" }))
        const lines = yield* Executions.linesOf("fund-a.2026-08")
        const paid = lines.find(({ holderId }) => holderId === "h1")
        assert.strictEqual(Decimal.formatPlain(paid!.gross), "2")
        assert.strictEqual(yield* closing, "rule-refused policy no-open-line")
      }).pipe(Effect.provide(world()))
  )

  it.effect.each([
    { sold: "2026-07-20T12:00:00Z", why: "rule-refused policy no-accrued-income" },
    { sold: "never", why: "" }
  ])("while a month of a schedule that has ended may still pay it (sold $sold)", (row) =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1", "h2"])
      yield* Powers.mints(stage, holders[1]!, "100")
      if (row.why !== "") {
        yield* Powers.mints(stage, holders[0]!, "100")
        yield* Powers.agrees(stage)
        yield* Powers.consents(holders[0]!)
      }
      yield* Cycles.at("2026-07-10T12:00:00Z")
      yield* Executions.publishes(stage, "0.01", "2026-07-10T11:00:00Z")
      if (row.why !== "") {
        yield* Cycles.at(row.sold)
        yield* succeeding(Powers.forces("h1", "h2"))
      }
      yield* Cycles.at("2026-08-02T12:00:00Z")
      const { calendar: _, ...monthly } = Executions.par.distribution
      const distribution = { ...monthly, schedule: "none", calendar: null }
      const { instrumentId } = july
      const change = { distribution }
      yield* succeeding(Calls.write("policy.set", { instrumentId }, change, Calls.operator, "1"))
      assert.strictEqual(yield* closing, row.why)
      if (row.why === "") return
      yield* succeeding(Calls.write("distribution.execute", {}, july))
      assert.strictEqual(yield* closing, "rule-refused policy no-open-line")
    }).pipe(Effect.provide(world()))
  )

  it.effect("while a distribution that owes it a line has not added all of its lines", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1", "h2"])
      yield* Powers.mints(stage, holders[0]!, "100")
      yield* Powers.agrees(stage)
      yield* Powers.consents(holders[0]!)
      yield* Cycles.at("2026-07-10T12:00:00Z")
      yield* Executions.publishes(stage, "0.01", "2026-07-10T11:00:00Z")
      yield* Cycles.at("2026-07-20T12:00:00Z")
      yield* succeeding(Powers.forces("h1", "h2"))
      yield* Cycles.at("2026-08-01T00:02:00Z")
      const started = yield* Calls.write("distribution.execute", {}, july)
      assert.strictEqual(started.state, "running")
      // The month is executed, and no line of it is there yet.
      assert.deepStrictEqual(yield* Month.lines, [])
      assert.strictEqual(yield* closing, "rule-refused policy no-accrued-income")
      assert.strictEqual((yield* Powers.ran(started, "distribution.execute")).why, "")
      assert.strictEqual(yield* closing, "rule-refused policy no-open-line")
    }).pipe(Effect.provide(world({ settings: { batchLines: 1 }, storage: polled })))
  )

  it.effect.each([
    { sold: "2026-07-20T12:00:00Z", open: "", executed: "" },
    {
      sold: "2026-08-01T12:00:00Z",
      open: "rule-refused policy no-accrued-income",
      executed: "rule-refused policy no-open-line"
    }
  ])("while a month that has ended owes it the gain of its units (sold $sold)", (row) =>
    Effect.gen(function* () {
      const terms = { ...Executions.accumulating, distribution: Executions.par.distribution }
      const { stage, holders } = yield* Executions.founded(["h1", "h2"], terms)
      yield* Powers.agrees(stage)
      yield* Powers.consents(holders[0]!)
      const price = { metric: "price" } as const
      yield* Cycles.at("2026-07-02T12:00:00Z")
      yield* Powers.mints(stage, holders[0]!, "100")
      yield* Executions.publishes(stage, "1", "2026-07-02T11:00:00Z", price)
      yield* Cycles.at("2026-07-20T12:00:00Z")
      yield* Executions.publishes(stage, "1.1", "2026-07-20T11:00:00Z", price)
      yield* Cycles.at(row.sold)
      yield* succeeding(Powers.forces("h1", "h2"))
      if (row.open === "") return assert.strictEqual(yield* closing, "")
      assert.strictEqual(yield* closing, row.open)
      yield* succeeding(Calls.write("distribution.execute", {}, july))
      assert.strictEqual(yield* closing, row.executed)
      const own = (yield* Month.lines).find(({ holderId }) => holderId === "h1")!
      yield* Cycles.at("2026-08-05T09:00:00Z")
      yield* Cycles.turns
      yield* Month.delivers(stage, "fund-a.2026-07", own.lineId)
      yield* Month.rolls([own.lineId])
      assert.strictEqual(yield* closing, "")
    }).pipe(Effect.provide(world()))
  )

  /** h1 sold its units of fund-a, and those of fund-b are recovered to its successor, who is closed. */
  const succeeded = (stage: Fund.Parties, h1: Cycles.Holder) =>
    Effect.gen(function* () {
      yield* Powers.another(stage, "fund-b")
      yield* Powers.admits(h1, "fund-b")
      yield* Powers.mints(stage, h1, "100")
      yield* Powers.mints(stage, h1, "5", "fund-b")
      for (const instrumentId of ["fund-a", "fund-b"]) {
        yield* Powers.agrees(stage, { instrumentId })
        yield* Powers.consents(h1, { instrumentId })
      }
      yield* succeeding(Powers.forces("h1", "h2", { instruments: [{ instrumentId: "fund-a" }] }))
      const { holderId } = yield* Powers.succeeds(stage, h1, { admitted: ["fund-a", "fund-b"] })
      yield* succeeding(Powers.recovers("h1"))
      return (yield* Calls.write("holder.close", { holderId }, {})).why
    })

  it.effect("before the carry of its predecessor is paid to it", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
      const h1 = holders[0]!
      const carryOut = Decimal.of("0.01")
      yield* Month.opened(stage, point, [Month.lineOf(1, h1.party, { carryOut })])
      yield* Month.delivers(stage, "d-july", "d-july.1")
      yield* Month.rolls(["d-july.1"])
      assert.strictEqual(yield* succeeded(stage, h1), "rule-refused policy no-carry")
    }).pipe(Effect.provide(world()))
  )

  it.effect("before the daily income of units that its predecessor sold is paid to it", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened({ ...Month.monthly("cash"), valuation: "par" })
      const h1 = yield* Cycles.joins(stage, "h1")
      yield* Cycles.joins(stage, "h2")
      assert.strictEqual(yield* succeeded(stage, h1), "rule-refused policy no-accrued-income")
    }).pipe(Effect.provide(world()))
  )

  it.effect.each([
    { valuation: "par", terms: {}, why: "rule-refused policy no-accrued-income" },
    { valuation: "par", terms: { schedule: "none", calendar: null }, why: "" },
    { valuation: "accumulating", terms: {}, why: "" }
  ])(
    "before the daily income of days since the record date is paid ($valuation, $terms.schedule)",
    (row) =>
      Effect.gen(function* () {
        const stage = yield* Fund.opened({
          holderCap: 100,
          valuation: row.valuation,
          distribution: { ...Month.monthly("cash").distribution, ...row.terms }
        })
        const h1 = yield* Cycles.joins(stage, "h1")
        yield* Cycles.joins(stage, "h2")
        yield* Powers.mints(stage, h1, "100")
        yield* Powers.agrees(stage)
        yield* Powers.consents(h1)
        yield* succeeding(Powers.forces("h1", "h2"))
        assert.strictEqual(yield* closing, row.why)
      }).pipe(Effect.provide(world()))
  )
})
