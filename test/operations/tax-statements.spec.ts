/** Tax statements: a person's year, by the day a payment counts on, over a chain of successors. */
import { Date, Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { Atomically, Documents, Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Fund from "./fund.ts"
import * as Minting from "./minting.ts"
import * as Powers from "./powers.ts"
import * as Rebasing from "./rebasing.ts"
import * as Reconciling from "./reconciling.ts"
import * as Reports from "./reports.ts"

const head = Effect.gen(function* () {
  const ledger = yield* Ledger.Ledger
  return Offset.of(yield* ledger.ledgerEnd)
})

const plain = Decimal.formatPlain

/** Each payment of a statement: its day, its holder, its figures. */
const rowsOf = ({ currencies }: Effect.Success<ReturnType<typeof Reports.taxOf>>) =>
  currencies.flatMap(({ rows }) =>
    rows.flatMap(({ incomeCode, exemptionCode, rate, payments }) =>
      payments.map(({ holderId, paidOn, gross, withheld, net }) =>
        [
          paidOn,
          holderId,
          incomeCode,
          exemptionCode,
          plain(rate),
          plain(gross),
          plain(withheld),
          plain(net)
        ].join(" ")
      )
    )
  )

const delivers = (stage: Fund.Parties, lineId: string, paidOn: string) =>
  Effect.gen(function* () {
    const line = (yield* Cycles.active(Templates.DistributionLine)).find(
      ({ payload }) => payload.lineId === lineId
    )
    const [distribution] = yield* Cycles.active(Templates.Distribution)
    yield* stage.registrar.act(
      Templates.exercise(Templates.DistributionLine, line!.cid, "Deliver", {
        ...{ distributionCid: distribution!.cid, credentialCid: null, configurationCid: null },
        evidence: { reference: lineId, paidOn: Date.of(paidOn) }
      })
    )
  })

/** The registrar delivers the only line, in units. */
const deliversUnits = (stage: Fund.Parties, to: Cycles.Holder) =>
  Effect.gen(function* () {
    const [line] = yield* Cycles.active(Templates.DistributionLine)
    const [distribution] = yield* Cycles.active(Templates.Distribution)
    const [configuration] = yield* Cycles.active(Templates.InstrumentConfiguration)
    const credential = yield* Powers.saying(Templates.Credential, { holder: to.party })
    yield* stage.registrar.act(
      Templates.exercise(Templates.DistributionLine, line!.cid, "Deliver", {
        distributionCid: distribution!.cid,
        credentialCid: credential.cid,
        configurationCid: configuration!.cid,
        evidence: null
      })
    )
  })

const exempt = (holderId: string, value: string, state: "valid" | "revoked") =>
  Calls.write(
    "holder.set-attributes",
    { holderId },
    { attributes: [{ name: "tax-exemption", value, state, evidenceHash: "ab".repeat(32) }] }
  )

/** Lines of 54.32 gross for each of these holders, due from August 2026 on. */
const owed = (ids: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { stage, holders, point } = yield* Month.founded(ids)
    for (const holder of holders) yield* Powers.mints(stage, holder, "10")
    yield* Month.opened(
      stage,
      point,
      holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
    )
    return { stage, holders }
  })

describe("a tax statement's year", () => {
  it.effect(
    "portfolio-performance 5305: counts cash on the day the evidence names, whenever it comes",
    () =>
      Effect.gen(function* () {
        const { stage } = yield* owed(["h1", "h2", "h3"])
        yield* Cycles.at("2027-01-02T12:00:00Z")
        yield* delivers(stage, "d-july.1", "2026-12-31")
        const line = "54.32 8.15 46.17"
        assert.deepStrictEqual(rowsOf(yield* Reports.taxOf("h1", 2026)), [
          `2026-12-31 h1   0.15 ${line}`
        ])
        assert.deepStrictEqual(rowsOf(yield* Reports.taxOf("h1", 2027)), [])
        const early = yield* head
        yield* Cycles.at("2027-01-31T23:58:00Z")
        yield* delivers(stage, "d-july.2", "2026-12-31")
        assert.strictEqual((yield* Reports.taxOf("h2", 2026)).final, false)
        yield* Cycles.at("2027-02-01T00:01:00Z")
        yield* delivers(stage, "d-july.3", "2026-12-31")
        assert.deepStrictEqual(rowsOf(yield* Reports.taxOf("h2", 2026)).length, 1)
        const last = yield* Reports.taxOf("h2", 2026)
        assert.strictEqual(last.final, true)
        // Evidence of the 32nd day counts on the day of its delivery, since the year is final.
        assert.deepStrictEqual(rowsOf(yield* Reports.taxOf("h3", 2026)), [])
        assert.deepStrictEqual(rowsOf(yield* Reports.taxOf("h3", 2027)), [
          `2027-02-01 h3   0.15 ${line}`
        ])
        const before = yield* Reports.taxOf("h2", 2026, {}, { point: { at: early } })
        assert.deepStrictEqual([rowsOf(before), before.final], [[], false])
        for (const shown of [last, before]) Reports.keepBasis(shown)
      }).pipe(Effect.provide(world()))
  )

  it.effect("has cash whose evidence names a day before the record date by its delivery", () =>
    Effect.gen(function* () {
      const { stage } = yield* owed(["h1", "h2"])
      yield* Cycles.at("2026-08-04T12:00:00Z")
      yield* delivers(stage, "d-july.1", "2026-07-30")
      yield* delivers(stage, "d-july.2", "2026-07-31")
      const rows = yield* Effect.forEach(["h1", "h2"], (id) =>
        Effect.map(Reports.taxOf(id, 2026), rowsOf)
      )
      assert.deepStrictEqual(
        rows.flat().map((row) => row.slice(0, 13)),
        ["2026-08-04 h1", "2026-07-31 h2"]
      )
      assert.deepStrictEqual(
        (yield* Month.lines).map(({ evidence, paidOn }) => [evidence?.paidOn, paidOn]),
        [
          [Date.of("2026-07-30"), Date.of("2026-08-04")],
          [Date.of("2026-07-31"), Date.of("2026-07-31")]
        ]
      )
      assert.deepStrictEqual(yield* Fund.surprises, [
        "distribution deliver: The evidence names 2026-07-30, before the record date 2026-07-31."
      ])
      yield* Reconciling.run()
      assert.isTrue(
        (yield* Reconciling.found).some((text) => text.startsWith("policy-replay d-july.1 open"))
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect(
    "G48: units delivered at 04:30 UTC on January 1 are of 2026 in New York and of 2027 in UTC",
    () =>
      Effect.gen(function* () {
        const { stage, holders, point } = yield* Month.founded(["h1"], "units")
        const [h1] = holders
        const payout = { payoutUnits: Decimal.of("46.17") }
        yield* Month.opened(stage, point, [Month.lineOf(1, h1!.party, payout)], {
          payout: "units",
          payoutPrice: Decimal.one
        })
        yield* Cycles.at("2027-01-01T04:30:00Z")
        yield* deliversUnits(stage, h1!)
        const days = (zone: string, year: number) =>
          Effect.map(Reports.taxOf("h1", year, { zone }), (found) =>
            rowsOf(found).map((text) => text.slice(0, 10))
          )
        assert.deepStrictEqual(yield* days("America/New_York", 2026), ["2026-12-31"])
        assert.deepStrictEqual(yield* days("America/New_York", 2027), [])
        assert.deepStrictEqual(yield* days("UTC", 2026), [])
        assert.deepStrictEqual(yield* days("UTC", 2027), ["2027-01-01"])
        const [month] = (yield* Reports.statements("h1", { zone: "America/New_York" })).slice(-1)
        assert.strictEqual(month?.instruments[0]?.paid[0]?.paidOn, Date.of("2026-12-31"))
        yield* Calls.write("holder.register", {}, { holderId: "late", party: stage.attestor.party })
        // Units need no evidence: the year is final a minute after its end.
        assert.strictEqual((yield* Reports.taxOf("h1", 2026)).final, true)
        assert.strictEqual(
          (yield* Reports.taxOf("h1", 2026, { zone: "America/New_York" })).final,
          false
        )
      }).pipe(Effect.provide(world()))
  )

  it.effect(
    "counts units by the ledger's time, never by the date of a delivery that is dated early",
    () => {
      const faults = SimulatedLedger.Faults.make()
      return Effect.gen(function* () {
        const { stage, holders, point } = yield* Month.founded(["h1"], "units")
        const line = Month.lineOf(1, holders[0]!.party, { payoutUnits: Decimal.of("46.17") })
        yield* Month.opened(stage, point, [line], { payout: "units", payoutPrice: Decimal.one })
        yield* Cycles.at("2027-01-01T00:00:05Z")
        yield* Powers.mints(stage, holders[0]!, "1")
        faults.replace({ skew: { minMillis: -20_000, maxMillis: -20_000 } })
        yield* Cycles.at("2027-01-01T00:00:10Z")
        yield* deliversUnits(stage, holders[0]!)
        assert.deepStrictEqual(rowsOf(yield* Reports.taxOf("h1", 2026)), [])
        assert.strictEqual(rowsOf(yield* Reports.taxOf("h1", 2027))[0]?.slice(0, 10), "2027-01-01")
      }).pipe(Effect.provide(world({ faults })))
    }
  )

  it.effect("to come has no rows and is not final", () =>
    Effect.gen(function* () {
      yield* owed(["h1"])
      const statement = yield* Reports.taxOf("h1", 2031)
      assert.deepStrictEqual(
        [
          statement.year,
          statement.version,
          statement.corrects,
          statement.final,
          statement.currencies,
          statement.disposals,
          statement.basis
        ],
        [2031, 1, null, false, [], [], []]
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect("names the exemption that was valid when a line was paid, not before or after", () =>
    Effect.gen(function* () {
      const { stage } = yield* owed(["h1", "h2", "h3"])
      yield* Cycles.at("2026-09-01T12:00:00Z")
      yield* delivers(stage, "d-july.1", "2026-08-31")
      for (const holderId of ["h1", "h2"]) yield* exempt(holderId, "02", "valid")
      yield* delivers(stage, "d-july.2", "2026-08-31")
      const before = yield* Reports.taxOf("h2", 2026)
      yield* exempt("h2", "02", "revoked")
      yield* exempt("h3", "03", "valid")
      yield* exempt("h3", "04", "valid")
      yield* delivers(stage, "d-july.3", "2026-08-31")
      const codes = (statement: typeof before) =>
        statement.currencies[0]!.rows.map((row) => row.exemptionCode)
      assert.deepStrictEqual(codes(yield* Reports.taxOf("h1", 2026)), [null])
      assert.deepStrictEqual(codes(yield* Reports.taxOf("h2", 2026)), ["02"])
      assert.deepStrictEqual(codes(yield* Reports.taxOf("h3", 2026)), ["04"])
      assert.deepStrictEqual(codes(before), ["02"])
      // Versions that were pruned are lost: the earliest that is kept is taken for them.
      yield* Cycles.at("2026-12-01T12:00:00Z")
      yield* Calls.write(
        "holder.set-attributes",
        { holderId: "h3" },
        { attributes: [{ name: "kyc", value: "1", state: "valid", evidenceHash: "ab".repeat(32) }] }
      )
      const { run } = yield* Atomically
      const documents = yield* Documents
      const through = yield* head
      yield* run(documents.prune({ collection: "holder", through, limit: 1_000 }))
      assert.deepStrictEqual(codes(yield* Reports.taxOf("h3", 2026)), ["04"])
    }).pipe(Effect.provide(world()))
  )
})

describe("a person", () => {
  it.effect(
    "G39: whose line was due when it was recovered has one statement, asked of either holder",
    () =>
      Effect.gen(function* () {
        const { stage, holders } = yield* owed(["h1", "h2"])
        const [h1, h2] = holders
        yield* Powers.agrees(stage)
        yield* Powers.consents(h1!)
        const next = yield* Powers.succeeds(stage, h1!)
        const alone = yield* Reports.taxOf("h1", 2026)
        assert.deepStrictEqual(alone.holderIds, ["h1"])
        assert.deepStrictEqual((yield* Reports.taxOf(next.holderId, 2026)).holderIds, [
          next.holderId
        ])
        assert.strictEqual((yield* Powers.recovers("h1")).why, "")
        // The venue tells the registrar on the ledger who is paid.
        yield* Cycles.turns
        yield* delivers(stage, "d-july.1", "2026-08-04")
        yield* delivers(stage, "d-july.2", "2026-08-04")
        const statement = yield* Reports.taxOf("h1", 2026)
        assert.deepStrictEqual(statement.holderIds, ["h1", "h1-next"])
        assert.deepStrictEqual(rowsOf(statement), ["2026-08-04 h1-next   0.15 54.32 8.15 46.17"])
        assert.deepStrictEqual(yield* Reports.taxOf(next.holderId, 2026), statement)
        // The units went from one wallet of the person to the other: nothing was disposed of.
        assert.deepStrictEqual(statement.disposals, [])
        assert.deepStrictEqual(
          statement.transfersOut.map(({ kind, units }) => `${kind} ${plain(units)}`),
          ["recovery 10"]
        )
        assert.deepStrictEqual((yield* Reports.taxOf(h2!.holderId, 2026)).holderIds, ["h2"])
        Reports.keepBasis(statement)
      }).pipe(Effect.provide(world()))
  )

  it.effect(
    "is never made of a forced transfer, which moves the lots on and disposes of none",
    () =>
      Effect.gen(function* () {
        const { stage, holders } = yield* owed(["h1", "h2"])
        yield* Powers.agrees(stage)
        yield* Powers.consents(holders[0]!)
        const done = yield* Powers.forces("h1", "h2")
        assert.strictEqual(done.why, "")
        const statement = yield* Reports.taxOf("h1", 2026)
        assert.deepStrictEqual(statement.holderIds, ["h1"])
        assert.deepStrictEqual(
          statement.transfersOut.map(({ units, cost, kind }) => [plain(units), cost, kind]),
          [["10", null, "forced-transfer"]]
        )
        assert.deepStrictEqual(statement.disposals, [])
        assert.deepStrictEqual((yield* Reports.taxOf("h2", 2026)).disposals, [])
      }).pipe(Effect.provide(world()))
  )
})

describe("a disposal of many lots", () => {
  it.effect("has a part of each, also of those that one transfer brought", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened({ holderCap: 100 }, "2026-08-30T12:00:00Z")
      const h1 = yield* Cycles.joins(stage, "h1")
      const h2 = yield* Cycles.joins(stage, "h2")
      const lots = 35
      for (let n = 0; n < lots; n++) yield* Powers.mints(stage, h1, "1")
      yield* Powers.mints(stage, h1, "100")
      yield* Cycles.at("2026-10-01T12:00:00Z")
      yield* Powers.mints(stage, h2, "1")
      yield* Reports.burns(stage, h2, "0.5")
      yield* Cycles.at("2026-10-02T12:00:00Z")
      yield* Reports.gives(h1, h2, `${lots}.5`)
      yield* Cycles.at("2026-10-03T12:00:00Z")
      yield* Reports.burns(stage, h2, `${lots}.5`)
      const linesOf = (id: string, month: string) =>
        Effect.map(Reports.taxOf(id, 2026), ({ disposals, transfersOut }) =>
          [
            ...disposals.map((part) => ({ ...part, on: part.disposedOn })),
            ...transfersOut.map((part) => ({ ...part, on: part.movedOn }))
          ]
            .filter(({ on }) => on === month)
            .map(({ acquiredOn, units }) => `${acquiredOn} ${plain(units)}`)
        )
      const parts = [...Array.from({ length: lots }, () => "2026-08-30 1"), "2026-08-30 0.5"]
      assert.deepStrictEqual(yield* linesOf("h1", "2026-10-02"), parts)
      // The oldest lots go first, and these came in by the transfer.
      assert.deepStrictEqual(yield* linesOf("h2", "2026-10-01"), ["2026-10-01 0.5"])
      assert.deepStrictEqual(yield* linesOf("h2", "2026-10-03"), parts)
    }).pipe(Effect.provide(world()))
  )
})

describe("G44: a disposal of units of a rebasing instrument", () => {
  /** 995 shown units for 1000.00 at index 1.7, and two days later the index 1.7314. */
  const bought = (change: Rebasing.Terms = {}) =>
    Effect.gen(function* () {
      const scene = yield* Rebasing.opened(change)
      yield* Rebasing.indexed(scene, "1.7", "2026-07-31T11:00:00Z")
      yield* Rebasing.claims("subscription", "s1", { amount: 1000 })
      yield* Rebasing.prices(scene)
      assert.deepStrictEqual(yield* Rebasing.buys(scene, "s1"), [])
      yield* Cycles.at("2026-08-03T12:00:00Z")
      yield* Rebasing.indexed(scene, "1.7314", "2026-08-03T11:00:00Z")
      return scene
    })

  const redeems = (scene: Rebasing.Scene, id: string, terms: Rebasing.Terms) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Rebasing.claims("redemption", id, terms)).why, "")
      yield* Rebasing.prices(scene)
      assert.deepStrictEqual(yield* Rebasing.sells(scene, id), [])
    })

  /** Each disposal: its reference, its base units, what they cost and what they brought. */
  const disposals = ({ disposals: all }: Effect.Success<ReturnType<typeof Reports.taxOf>>) =>
    all.map(({ acquiredOn, cost, proceeds, reference, units }) =>
      [
        ...[reference?.id ?? "none", acquiredOn, plain(units)],
        ...[cost, proceeds].map((figure) => (figure === null ? "none" : plain(figure)))
      ].join(" ")
    )

  it.effect("takes base units of the lot, and never loses a cent of its cost or proceeds", () =>
    Effect.gen(function* () {
      const scene = yield* bought()
      yield* redeems(scene, "r1", { units: 500 })
      yield* redeems(scene, "r2", { units: 513.378235 })
      const statement = yield* Reports.taxOf("h1", 2026)
      assert.deepStrictEqual(disposals(statement), [
        "r1 2026-07-31 288.7836432944 493.4 497.5",
        "r2 2026-07-31 296.5104743527 506.6 510.81"
      ])
      assert.strictEqual(Reports.keepBasis(statement), 4)
      assert.strictEqual(yield* Reports.keepTaxLaws("America/New_York", [2026]), 0)
      assert.isAbove(yield* Reports.keepLaws("America/New_York"), 0)
    }).pipe(Effect.provide(world()))
  )

  it.effect("costs what the person paid whose units were recovered, in one statement of both", () =>
    Effect.gen(function* () {
      const scene = yield* bought()
      const [h1] = scene.holders
      yield* Powers.agrees(scene.stage)
      yield* Powers.consents(h1!)
      const next = yield* Powers.succeeds(scene.stage, h1!)
      assert.strictEqual((yield* Powers.recovers("h1")).why, "")
      yield* redeems({ ...scene, holders: [next] }, "r1", { holderId: next.holderId, units: 500 })
      const statement = yield* Reports.taxOf("h1", 2026)
      assert.deepStrictEqual(statement.holderIds, ["h1", next.holderId])
      assert.deepStrictEqual(disposals(statement), ["r1 2026-07-31 288.7836432944 493.4 497.5"])
      assert.strictEqual(yield* Reports.keepTaxLaws("UTC", [2026]), 0)
      assert.isAbove(yield* Reports.keepLaws("UTC"), 0)
    }).pipe(Effect.provide(world()))
  )
})

describe("a disposal by a redemption from a reserve", () => {
  it.effect("costs its share of the deposit, and brings the payout at the asset's price", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.opened()
      yield* Minting.mintsFor(scene, { mintId: "m-1", asset: scene.usd, deposit: 10 })
      yield* Minting.redeems(scene, { reserveRedemptionId: "r-1", asset: scene.usd, units: 4 })
      const order = yield* Minting.redemption("r-1")
      assert.strictEqual(order.state, "settled")
      yield* TestClock.adjust("1 minute")
      // The holder burns another unit in the order's name, which pays nothing for it.
      const held = (yield* Cycles.active(Templates.Holding)).find(
        ({ payload }) =>
          payload.owner === scene.h1.party &&
          payload.instrument.id === "fund-a" &&
          payload.lock === null
      )
      yield* scene.h1.act(
        Templates.exercise(Templates.Holding, held!.cid, "RequestBurn", {
          amount: Decimal.one,
          reference: { kind: "reserve-redemption", id: "r-1" },
          custodian: null,
          executeBefore: Instant.of("2030-01-01T00:00:00Z")
        })
      )
      const request = yield* Powers.saying(Templates.BurnRequest, { holder: scene.h1.party })
      yield* scene.registrar.act(
        Templates.exercise(Templates.BurnRequest, request.cid, "Accept", {})
      )
      const statement = yield* Reports.taxOf(
        "h1",
        Number(Instant.format(yield* Instant.now).slice(0, 4))
      )
      assert.deepStrictEqual(
        statement.disposals.map(({ cost, proceeds, reference, units }) =>
          [units, cost, proceeds]
            .map((figure) => (figure === null ? "none" : plain(figure)))
            .concat(reference?.id ?? "none")
            .join(" ")
        ),
        ["4 4 4 r-1", "1 1 none r-1"]
      )
      Reports.keepBasis(statement)
    }).pipe(Effect.provide(world()))
  )
})
