/**
 * Backed instruments on the ledger: who agrees to a reserve and its locks, mints and redemptions that
 * settle or are refused on the ledger's own judgement, amendments and their delay, releases, reports.
 */
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dealing from "./dealing.ts"
import * as Powers from "./powers.ts"
import * as Reserves from "./reserves.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { decimal, aborts, unauthorized } = Dealing
const unfit = { _tag: "Refused", code: "TEMPLATE_PRECONDITION_VIOLATED" }

const hour = 3_600_000_000

/** The reserve of the golden vectors: 1000 of cash, 500 bills at 2.10, 1500 units outstanding. */
const based = Effect.gen(function* () {
  const scene = yield* Reserves.open()
  const eur = yield* Reserves.lock(scene, scene.eur, "1000")
  const bill = yield* Reserves.lock(scene, scene.bill, "500")
  return { scene, eur, bill, point: yield* Reserves.price(scene, "2.10") }
})

/** Supply that the venue states of the reserve of the golden vectors. */
const supply = "1500"

const shownOf = ({ ratio, state }: Templates.LedgerCover) =>
  `${ratio === null ? "null" : Decimal.format(ratio)} ${state}`

/** The report that the ledger computes now. */
const report = (
  scene: Reserves.Scene,
  points: ReadonlyArray<string>,
  outstanding: string = supply
) =>
  Effect.gen(function* () {
    const { contractId } = yield* Reserves.reserve(scene)
    yield* World.act(
      scene.sessionOf("venue"),
      Templates.exercise(Templates.Reserve, contractId, "ComputeReport", {
        reportId: "report-1",
        ...(yield* Reserves.judging(scene, points, outstanding))
      })
    )
    const reports = yield* Powers.all(scene.sessionOf("venue"), Templates.ReserveReport)
    const last = reports.at(-1)
    if (last === undefined) throw new Error("no report")
    return last.payload
  })

describe("a reserve", () => {
  it.effect("never is made without the word of its issuer and of its holder, once each", () =>
    Effect.gen(function* () {
      const scene = yield* Reserves.open()
      for (const [first, second] of [
        ["registrar", "custodian"],
        ["custodian", "registrar"]
      ] as const) {
        const proposal = yield* Reserves.propose(scene, { reserveId: `res-${first}` })
        const once = yield* Reserves.accept(scene, proposal, first)
        expect(World.created(once, "Reserve")).toEqual([])
        const again = Dealing.sole(once, "ReserveProposal")
        expect(yield* Effect.flip(Reserves.accept(scene, again, first))).toMatchObject(
          aborts("this party has accepted before")
        )
        expect(yield* Effect.flip(Reserves.accept(scene, again, "venue"))).toMatchObject(
          aborts("only the issuer and the holder of the reserve accept")
        )
        const declined = World.act(
          scene.sessionOf("venue"),
          Templates.exercise(Templates.ReserveProposal, again, "Decline", {
            party: scene.sessionOf("venue").party
          })
        )
        expect(yield* Effect.flip(declined)).toMatchObject(
          aborts("only the issuer and the holder of the reserve decline")
        )
        expect(World.created(yield* Reserves.accept(scene, again, second), "Reserve")).toHaveLength(
          1
        )
      }
      const issuer = scene.sessionOf("registrar").party
      const own = yield* Reserves.propose(scene, { reserveId: "res-own", holder: issuer })
      expect(
        World.created(yield* Reserves.accept(scene, own, "registrar"), "Reserve")
      ).toHaveLength(1)
    }).pipe(Effect.provide(ledger))
  )

  it.effect(
    "never is proposed on terms that are out of their range, or of another's instrument",
    () =>
      Effect.gen(function* () {
        const scene = yield* Reserves.open()
        const terms = Reserves.termsOf(scene)
        const [eur, bill] = terms.assets
        if (eur === undefined || bill === undefined) throw new Error("there are two assets")
        const termsOf = (...assets: ReadonlyArray<Templates.ReserveAssetTerms>) => ({
          terms: { ...terms, assets }
        })
        for (const change of [
          { issuer: scene.sessionOf("fund").party },
          { holder: scene.sessionOf("venue").party },
          { decimals: 11 },
          { parValue: Decimal.zero },
          { initialSharePrice: Decimal.one },
          { parValue: null, initialSharePrice: Decimal.zero },
          { terms: { ...terms, minCover: Decimal.zero } },
          termsOf(),
          termsOf(eur, eur),
          termsOf(eur, { ...bill, haircut: Decimal.one }),
          termsOf({ ...eur, asset: scene.instrument }),
          termsOf({ ...eur, haircut: Decimal.one }),
          termsOf({ ...eur, haircut: decimal("-0.1") }),
          termsOf({ ...eur, maxShare: Decimal.zero }),
          termsOf({ ...eur, maxShare: decimal("1.1") }),
          termsOf({ ...eur, freshness: 1 }),
          termsOf(
            ...Array.from({ length: 21 }, (_, i) => ({
              ...eur,
              asset: { ...eur.asset, id: `${i}` }
            }))
          )
        ]) {
          expect(yield* Effect.flip(Reserves.propose(scene, change))).toMatchObject(unfit)
        }
      }).pipe(Effect.provide(ledger))
  )

  it.effect("is proposed on terms at the edges of their range", () =>
    Effect.gen(function* () {
      const scene = yield* Reserves.open()
      const terms = Reserves.termsOf(scene)
      const [eur, ...others] = terms.assets
      if (eur === undefined) throw new Error("there are two assets")
      const most = Array.from({ length: Templates.reserveAssetsMax }, (_, i) => ({
        ...eur,
        asset: { ...eur.asset, id: `${i}` }
      }))
      const edges = [[eur], [{ ...eur, maxShare: Decimal.one }, ...others], most]
      for (const [n, assets] of edges.entries()) {
        yield* Reserves.propose(scene, { reserveId: `res-${n}`, terms: { ...terms, assets } })
      }
      const proposed = yield* Powers.all(scene.sessionOf("venue"), Templates.ReserveProposal)
      expect(proposed).toHaveLength(edges.length)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("reports the figures of the golden vectors, by its own computation", () =>
    Effect.gen(function* () {
      const { scene, point } = yield* based
      const g24 = yield* report(scene, [point])
      expect(shownOf(g24.cover)).toBe("1.0746666666 covered")
      expect([g24.cover.required, g24.cover.counted].map(Decimal.formatPlain)).toEqual([
        "1530",
        "1612"
      ])
      expect(
        g24.lines.map(({ value, counted }) => [value, counted].map(Decimal.formatPlain))
      ).toEqual([
        ["1000", "1000"],
        ["997.5", "612"]
      ])
      yield* Reserves.setTime(Instant.add(Reserves.begins, Duration.minutes(61)))
      expect(shownOf((yield* report(scene, [point])).cover)).toBe("0.6666666666 low")
      expect(shownOf((yield* report(scene, [])).cover)).toBe("0.6666666666 unknown")
      expect(shownOf((yield* report(scene, [], "0")).cover)).toBe("null covered")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never is judged by other holdings or points than all of its own", () =>
    Effect.gen(function* () {
      const { scene, point } = yield* based
      const { contractId } = yield* Reserves.reserve(scene)
      const own = yield* Reserves.judging(scene, [point], supply)
      const free = yield* Dealing.give(scene, "custodian", "1000", scene.eur)
      const lockedAs = (context: string, holdingCid: string) =>
        Effect.map(
          World.act(
            scene.sessionOf("custodian"),
            Templates.exercise(Templates.Holding, holdingCid, "Lock", {
              holders: [scene.sessionOf("custodian").party],
              observers: [scene.sessionOf("venue").party],
              context,
              expiresAt: null,
              amount: decimal("1000")
            })
          ),
          (receipt) => Dealing.sole(receipt, "Holding")
        )
      const [first = "", second = ""] = own.holdingCids
      const aliens = yield* Dealing.give(scene, "alice", "1000", scene.eur)
      const points = {
        ofOther: yield* Reserves.price(scene, "2.10", {}, "attestor"),
        ofMetric: yield* Reserves.price(scene, "2.10", { metric: "nav" }),
        ofAsset: yield* Reserves.price(scene, "2.10", { instrumentId: "EUR-2" }),
        ofVenue: yield* Reserves.price(scene, "2.10", {
          venue: scene.sessionOf("fund").party,
          attestors: [scene.sessionOf("venue").party]
        }),
        second: yield* Reserves.price(scene, "2.20")
      }
      const custodians = yield* lockedAs("res-1", free)
      for (const [change, message] of [
        [{ holdingCids: [first] }, "the holdings are not exactly what is locked"],
        [{ holdingCids: [first, first] }, "a holding is named twice"],
        [{ holdingCids: [first, second, aliens] }, "a holding is another's"],
        [{ holdingCids: [first, second, custodians] }, "a holding is not locked for the reserve"],
        [{ pointCids: [points.ofOther] }, "a point is of another source"],
        [{ pointCids: [points.ofMetric] }, "a point is no price"],
        [{ pointCids: [points.ofAsset] }, "a point is of no asset of the reserve"],
        [{ pointCids: [points.ofVenue] }, "a point is another venue's"],
        [{ pointCids: [point, points.second] }, "an asset has two points"]
      ] as const) {
        const computation = World.act(
          scene.sessionOf("venue"),
          Templates.exercise(Templates.Reserve, contractId, "ComputeReport", {
            reportId: "report-1",
            ...own,
            ...change
          })
        )
        expect([message, yield* Effect.flip(computation)]).toMatchObject([message, aborts(message)])
      }
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never is judged by figures that no decimal holds, before an order or after it", () =>
    Effect.gen(function* () {
      const { scene, point } = yield* based
      const beyond = aborts("a figure of the reserve is beyond a decimal")
      const largest = yield* Reserves.price(scene, "9999999999999999999999999999")
      expect(yield* Effect.flip(report(scene, [largest]))).toMatchObject(beyond)
      // Of 500 bills at this price a decimal holds the value, and not of 600.
      const large = yield* Reserves.price(scene, "19000000000000000000000000")
      yield* report(scene, [large])
      const bills = { asset: scene.bill, amount: "100", units: "1900000000000000000000000000" }
      const mint = { ...bills, id: "mint-1", points: [large], supply }
      expect(yield* Effect.flip(Reserves.startMint(scene, mint))).toMatchObject(beyond)
      // By one atom outstanding the value is a ratio that no decimal holds.
      const cash = { asset: scene.eur, amount: "999.999999", units: "999.999999" }
      const redemption = { ...cash, id: "r-1", supply: "1000" }
      const redeems = (pointCid: string) =>
        Reserves.startRedemption(scene, { ...redemption, points: [pointCid] })
      expect(yield* Effect.flip(redeems(large))).toMatchObject(beyond)
      yield* redeems(point)
      // Of as many units as a decimal holds the requirement is more than one holds.
      const most = report(scene, [point], "9999999999999999999999999999")
      expect(yield* Effect.flip(most)).toMatchObject(beyond)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never counts more than a decimal holds after a mint", () =>
    Effect.gen(function* () {
      const { scene, point } = yield* based
      const beyond = aborts("a count of the reserve is beyond a decimal")
      const largest = "9999999999999999999999999999"
      const cash = { asset: scene.eur, id: "mint-1", points: [point] }
      const locking = { ...cash, amount: largest, units: largest, supply }
      expect(yield* Effect.flip(Reserves.startMint(scene, locking))).toMatchObject(beyond)
      const half = "5000000000000000000000000000"
      const issuing = { ...cash, amount: "1", units: half, supply: half }
      expect(yield* Effect.flip(Reserves.startMint(scene, issuing))).toMatchObject(beyond)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never merges holdings beyond a decimal", () =>
    Effect.gen(function* () {
      const { scene } = yield* based
      const custodian = scene.sessionOf("custodian")
      const half = "5000000000000000000000000000"
      const first = yield* Dealing.give(scene, "custodian", half, scene.eur)
      const other = yield* Dealing.give(scene, "custodian", half, scene.eur)
      const merge = Templates.exercise(Templates.Holding, first, "Merge", { holdingCids: [other] })
      expect(yield* Effect.flip(World.act(custodian, merge))).toMatchObject(
        aborts("the merged amount is beyond a decimal")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never counts or ends by the venue's word alone", () =>
    Effect.gen(function* () {
      const { scene } = yield* based
      const { contractId } = yield* Reserves.reserve(scene)
      const { asset, venue } = { asset: scene.eur, venue: scene.sessionOf("venue") }
      const amount = decimal("-1000")
      for (const command of [
        Templates.exercise(Templates.Reserve, contractId, "Take", {
          supply: Decimal.zero,
          change: Decimal.zero,
          asset,
          lockedChange: amount
        }),
        Templates.exercise(Templates.Reserve, contractId, "Note", { asset, lockedChange: amount }),
        Templates.exercise(Templates.Reserve, contractId, "Amend", {
          amendmentId: "a",
          terms: Reserves.termsOf(scene)
        }),
        Templates.exercise(Templates.Reserve, contractId, "Recount", { outstanding: Decimal.zero })
      ]) {
        expect(yield* Effect.flip(World.act(venue, command))).toMatchObject(unauthorized)
      }
      const close = (empty: boolean) =>
        Effect.flatMap(Reserves.reserve(scene), (found) =>
          World.act(
            venue,
            Templates.exercise(Templates.Reserve, found.contractId, "Close", { empty })
          )
        )
      expect(yield* Effect.flip(close(true))).toMatchObject(
        aborts("assets are locked for the reserve")
      )
      yield* close(false)
      expect(yield* Effect.flip(close(false))).toMatchObject(aborts("the reserve is closing"))
    }).pipe(Effect.provide(ledger))
  )
})

describe("a reserve that closes", () => {
  const close = (scene: Reserves.Scene, empty: boolean) =>
    Effect.flatMap(Reserves.reserve(scene), ({ contractId }) =>
      World.act(
        scene.sessionOf("venue"),
        Templates.exercise(Templates.Reserve, contractId, "Close", { empty })
      )
    )

  it.effect("never ends while units are outstanding, nor takes other terms", () =>
    Effect.gen(function* () {
      const scene = yield* Reserves.open()
      yield* close(scene, false)
      const tighter = Reserves.termsOf(scene, { minCover: "1.03" })
      expect(yield* Effect.flip(Reserves.amend(scene, "tighter", tighter))).toMatchObject(
        aborts("the reserve is closing")
      )
      const recount = (units: string) =>
        Effect.flatMap(Reserves.reserve(scene), ({ contractId }) =>
          World.act(
            scene.sessionOf("registrar"),
            Templates.exercise(Templates.Reserve, contractId, "Recount", {
              outstanding: decimal(units)
            })
          )
        )
      yield* recount("5")
      expect(yield* Effect.flip(close(scene, true))).toMatchObject(
        aborts("units of the reserve are outstanding")
      )
      yield* recount("0")
      yield* close(scene, true)
      expect(yield* Powers.all(scene.sessionOf("venue"), Templates.Reserve)).toEqual([])
    }).pipe(Effect.provide(ledger))
  )
})

describe("a lock agreement", () => {
  it.effect("never locks before the asset's registrar has agreed, or what was not agreed", () =>
    Effect.gen(function* () {
      const scene = yield* Reserves.open()
      const { contractId: reserveCid } = yield* Reserves.reserve(scene)
      const holding = yield* Dealing.give(scene, "custodian", "100", scene.eur)
      const proposal = yield* Reserves.proposeLock(scene, scene.eur, "100")
      const as = { reserveCid, holdingCids: [holding] }
      expect(
        yield* Effect.flip(Reserves.acceptLock(scene, proposal, "custodian", as))
      ).toMatchObject(aborts("the asset's registrar accepts first"))
      expect(yield* Effect.flip(Reserves.acceptLock(scene, proposal, "bank", as))).toMatchObject(
        aborts("the asset's registrar locks nothing")
      )
      expect(yield* Effect.flip(Reserves.acceptLock(scene, proposal, "venue"))).toMatchObject(
        aborts("only the asset's registrar and the holder of the reserve accept")
      )
      const declined = Templates.exercise(Templates.LockAgreementProposal, proposal, "Decline", {
        party: scene.sessionOf("venue").party
      })
      expect(yield* Effect.flip(World.act(scene.sessionOf("venue"), declined))).toMatchObject(
        aborts("only the asset's registrar and the holder of the reserve decline")
      )
      const agreed = Dealing.sole(
        yield* Reserves.acceptLock(scene, proposal, "bank"),
        "LockAgreementProposal"
      )
      const less = yield* Dealing.give(scene, "custodian", "99", scene.eur)
      const bills = yield* Dealing.give(scene, "custodian", "100", scene.bill)
      const half = "5000000000000000000000000000"
      const halves = [
        yield* Dealing.give(scene, "custodian", half, scene.eur),
        yield* Dealing.give(scene, "custodian", half, scene.eur)
      ]
      for (const [holdingCids, message] of [
        [[less], "the holdings are worth another amount"],
        [halves, "the holdings are worth another amount"],
        [[], "the holdings are worth another amount"],
        [[bills], "a holding is of another asset"]
      ] as const) {
        expect([
          message,
          yield* Effect.flip(
            Reserves.acceptLock(scene, agreed, "custodian", { reserveCid, holdingCids })
          )
        ]).toMatchObject([message, aborts(message)])
      }
      const says = yield* Powers.together(scene.sessionOf)
      const others = Templates.exercise(Templates.LockAgreementProposal, agreed, "Accept", {
        party: scene.sessionOf("custodian").party,
        reserveCid,
        holdingCids: [yield* Dealing.give(scene, "alice", "100", scene.eur)]
      })
      expect(yield* Effect.flip(says(["custodian", "alice"], others))).toMatchObject(
        aborts("a holding is another's")
      )
      yield* Reserves.acceptLock(scene, agreed, "custodian", as)
      const { payload } = yield* Reserves.reserve(scene)
      expect(payload.locked).toEqual([{ asset: scene.eur, amount: decimal("100") }])
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never locks an asset that is not in the terms, or of another reserve", () =>
    Effect.gen(function* () {
      const scene = yield* Reserves.open()
      const { contractId: reserveCid } = yield* Reserves.reserve(scene)
      const agreedTo = (asset: Templates.Asset, change = {}) =>
        Effect.gen(function* () {
          const proposal = yield* Reserves.proposeLock(scene, asset, "0", change)
          const receipt = yield* Reserves.acceptLock(scene, proposal, "bank")
          return Dealing.sole(receipt, "LockAgreementProposal")
        })
      const other = yield* agreedTo({ ...scene.eur, id: "GOLD" })
      expect(
        yield* Effect.flip(Reserves.acceptLock(scene, other, "custodian", { reserveCid }))
      ).toMatchObject(aborts("the asset is not in the terms of the reserve"))
      const nothing = yield* agreedTo(scene.eur)
      const holdingCids = [yield* Dealing.give(scene, "custodian", "1", scene.eur)]
      for (const [hint, argument, message] of [
        ["bank", {}, "this party has accepted before"],
        ["custodian", {}, "the holder names the reserve"],
        ["custodian", { reserveCid, holdingCids }, "nothing is to be locked"]
      ] as const) {
        const refused = Reserves.acceptLock(scene, nothing, hint, argument)
        expect([message, yield* Effect.flip(refused)]).toMatchObject([message, aborts(message)])
      }
      const elsewhere = yield* agreedTo(scene.eur, { reserveId: "res-2" })
      expect(
        yield* Effect.flip(Reserves.acceptLock(scene, elsewhere, "custodian", { reserveCid }))
      ).toMatchObject(aborts("the reserve is another one"))
    }).pipe(Effect.provide(ledger))
  )

  it.effect("keeps one locked holding of an asset, however often more is locked", () =>
    Effect.gen(function* () {
      const { scene, eur } = yield* based
      for (const _ of [1, 2, 3]) {
        const holdingCid = yield* Dealing.give(scene, "custodian", "10", scene.eur)
        const { contractId: reserveCid } = yield* Reserves.reserve(scene)
        const lockedCid = yield* Reserves.lockedOf(scene, scene.eur)
        const lockMore = (amount: string, lockedCid: string | null, from = holdingCid) =>
          World.act(
            scene.sessionOf("custodian"),
            Templates.exercise(Templates.LockAgreement, eur, "LockMore", {
              reserveCid,
              holdingCid: from,
              amount: decimal(amount),
              lockedCid
            })
          )
        expect(yield* Effect.flip(lockMore("4", null))).toMatchObject(
          aborts("what is locked of the asset before is named, and nothing else")
        )
        expect(yield* Effect.flip(lockMore("11", lockedCid))).toMatchObject(
          aborts("the holding has less")
        )
        expect(yield* Effect.flip(lockMore("0", lockedCid))).toMatchObject(
          aborts("an amount to lock is above 0")
        )
        expect(yield* Effect.flip(lockMore("1", lockedCid, lockedCid ?? ""))).toMatchObject(
          aborts("the holding is locked")
        )
        yield* lockMore("4", lockedCid)
      }
      // A holding that venue and holder locked beside the reserve's count is not what is locked.
      const says = yield* Powers.together(scene.sessionOf)
      const beside = Dealing.sole(
        yield* says(
          ["venue", "custodian"],
          Templates.exercise(
            Templates.Holding,
            yield* Dealing.give(scene, "custodian", "1", scene.eur),
            "Lock",
            {
              holders: [scene.sessionOf("venue").party],
              observers: [],
              context: "res-1",
              expiresAt: null,
              amount: decimal("1")
            }
          )
        ),
        "Holding"
      )
      const { contractId: reserveCid } = yield* Reserves.reserve(scene)
      const withBeside = World.act(
        scene.sessionOf("custodian"),
        Templates.exercise(Templates.LockAgreement, eur, "LockMore", {
          reserveCid,
          holdingCid: yield* Dealing.give(scene, "custodian", "1", scene.eur),
          amount: decimal("1"),
          lockedCid: beside
        })
      )
      expect(yield* Effect.flip(withBeside)).toMatchObject(
        aborts("the holding is not all that is locked of the asset")
      )
      yield* says(
        ["venue", "custodian"],
        Templates.exercise(Templates.Holding, beside, "Unlock", {
          releasers: [scene.sessionOf("venue").party, scene.sessionOf("custodian").party]
        })
      )
      const holdings = yield* Reserves.locked(scene)
      const amounts = holdings.map(({ payload }) => Decimal.formatPlain(payload.amount)).toSorted()
      expect(amounts).toEqual(["1012", "500"])
      expect((yield* Reserves.freeOf(scene, "custodian"))["EUR"]).toBe("20")
    }).pipe(Effect.provide(ledger))
  )

  const release = (
    scene: Reserves.Scene,
    agreementCid: string,
    reading: {
      readonly asset: Templates.Asset
      readonly points: ReadonlyArray<string>
      readonly supply: string
      readonly last?: boolean
    }
  ) =>
    Effect.gen(function* () {
      const { contractId: reserveCid } = yield* Reserves.reserve(scene)
      const lockedCid = yield* Reserves.lockedOf(scene, reading.asset)
      const all = yield* Reserves.judging(scene, reading.points, reading.supply)
      return yield* World.act(
        scene.sessionOf("venue"),
        Templates.exercise(Templates.LockAgreement, agreementCid, "Release", {
          ...all,
          reserveCid,
          lockedCids: lockedCid === null ? [] : [lockedCid],
          holdingCids: all.holdingCids.filter((one) => one !== lockedCid),
          last: reading.last ?? false
        })
      )
    })

  it.effect("never releases what the units outstanding need", () =>
    Effect.gen(function* () {
      const { scene, eur, bill, point } = yield* based
      const points = [point]
      const bills = { asset: scene.bill, points }
      expect(yield* Effect.flip(release(scene, bill, { ...bills, supply: "981" }))).toMatchObject(
        aborts("what is left would not cover the units")
      )
      const { contractId: reserveCid } = yield* Reserves.reserve(scene)
      const all = yield* Reserves.judging(scene, points, "980")
      const lockedCid = yield* Reserves.lockedOf(scene, scene.bill)
      const nothing = Templates.exercise(Templates.LockAgreement, bill, "Release", {
        ...all,
        reserveCid,
        lockedCids: [],
        holdingCids: all.holdingCids.filter((one) => one !== lockedCid),
        last: false
      })
      expect(yield* Effect.flip(World.act(scene.sessionOf("venue"), nothing))).toMatchObject(
        aborts("the holding is not all that is locked of the asset")
      )
      yield* release(scene, bill, { ...bills, supply: "980" })
      expect((yield* Reserves.freeOf(scene, "custodian"))["BILL"]).toBe("500")
      const cash = { asset: scene.eur, points, last: true }
      expect(yield* Effect.flip(release(scene, eur, { ...cash, supply: "1" }))).toMatchObject(
        aborts("what is left would not cover the units")
      )
      expect(yield* Effect.flip(release(scene, eur, { ...cash, supply: "0" }))).toMatchObject(
        aborts("a reserve that is not closing does not end")
      )
      const { contractId } = yield* Reserves.reserve(scene)
      const close = Templates.exercise(Templates.Reserve, contractId, "Close", { empty: false })
      yield* World.act(scene.sessionOf("venue"), close)
      yield* release(scene, eur, { ...cash, supply: "0" })
      expect(yield* Powers.all(scene.sessionOf("venue"), Templates.Reserve)).toEqual([])
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never releases what units of an accumulating reserve own", () =>
    Effect.gen(function* () {
      const scene = yield* Reserves.open((floor) => ({
        parValue: null,
        terms: Reserves.termsOf(floor, { minCover: "0.9", maxShare: null })
      }))
      const eur = yield* Reserves.lock(scene, scene.eur, "1000")
      yield* Reserves.lock(scene, scene.bill, "500")
      const points = [yield* Reserves.price(scene, "2.10")]
      const reading = { asset: scene.eur, points }
      expect(yield* Effect.flip(release(scene, eur, { ...reading, supply: "1" }))).toMatchObject(
        aborts("the units of the reserve own what is locked")
      )
      yield* release(scene, eur, { ...reading, supply: "0" })
    }).pipe(Effect.provide(ledger))
  )
})

describe("a mint", () => {
  const hundred = (scene: Reserves.Scene, point: string): Reserves.Order => ({
    id: "mint-1",
    asset: scene.eur,
    amount: "100",
    units: "100",
    points: [point],
    supply
  })

  it.effect("locks its deposit with the rest, mints its units, and counts both", () =>
    Effect.gen(function* () {
      const { scene, eur, point } = yield* based
      yield* Reserves.mint(scene, eur, hundred(scene, point))
      const { payload } = yield* Reserves.reserve(scene)
      expect(Decimal.formatPlain(payload.outstanding)).toBe("1600")
      expect(
        payload.locked
          .map(({ asset, amount }) => [asset.id, Decimal.formatPlain(amount)])
          .toSorted()
      ).toEqual([
        ["BILL", "500"],
        ["EUR", "1100"]
      ])
      expect(yield* Reserves.locked(scene)).toHaveLength(2)
      expect((yield* Reserves.freeOf(scene, "alice"))["FUND-A"]).toBe("100")
      expect(shownOf((yield* report(scene, [point])).cover)).toBe("1.0955000000 covered")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never starts on other figures, prices, parties or times than its own", () =>
    Effect.gen(function* () {
      const { scene, point } = yield* based
      const order = hundred(scene, point)
      const stale = yield* Reserves.price(scene, "2.10", {
        valuationTime: Instant.subtract(Reserves.begins, Duration.minutes(61))
      })
      for (const [change, message] of [
        [{ units: decimal("101") }, "the deposit mints other units"],
        [{ units: decimal("99") }, "the deposit mints other units"],
        [{ deposit: Decimal.zero }, "a mint has a deposit"],
        [{ units: Decimal.zero }, "a mint has units"],
        [
          { depositor: scene.sessionOf("custodian").party },
          "the holder of the reserve deposits nothing"
        ],
        [{ asset: { ...scene.eur, id: "GOLD" } }, "the asset is not in the terms of the reserve"],
        [{ executeBefore: Reserves.begins }, "the order is past its time"],
        [{ supply: decimal("1698") }, "the mint would not be covered"],
        [{ asset: scene.bill, pointCids: [] }, "an asset has no price"],
        [{ asset: scene.bill, pointCids: [stale] }, "the price of the asset is stale"]
      ] as const) {
        const started = Reserves.startMint(scene, order, change)
        expect([message, yield* Effect.flip(started)]).toMatchObject([message, aborts(message)])
      }
      // 1797 units need 1832.94, of which the bills' cap is 733.176 and the cash gives 1100.
      yield* Reserves.startMint(scene, order, { supply: decimal("1697") })
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never is ready by an allocation that is not for it", () =>
    Effect.gen(function* () {
      const { scene, point } = yield* based
      const orderCid = yield* Reserves.startMint(scene, hundred(scene, point))
      const allocated = (
        change: Partial<Parameters<typeof Dealing.allocate>[1]> & {
          readonly asset?: Templates.Asset
        }
      ) =>
        Effect.gen(function* () {
          const owner = change.owner ?? "alice"
          const amount = change.amount ?? "100"
          const holding = yield* Dealing.give(scene, owner, amount, change.asset ?? scene.eur)
          return yield* Dealing.allocate(scene, {
            owner,
            holding,
            to: "custodian",
            amount,
            reference: "mint-1",
            ...change
          })
        })
      const accept = (allocationCid: string) =>
        World.act(
          scene.sessionOf("alice"),
          Templates.exercise(Templates.MintOrder, orderCid, "Accept", { allocationCid })
        )
      for (const [change, message] of [
        [{ to: "fund" }, "the allocation names another receiver"],
        [{ reference: "mint-2" }, "the allocation is for something else"],
        [{ amount: "99" }, "the allocation is of another amount"],
        [{ asset: scene.bill }, "the allocation is of another asset"],
        [{ executor: "fund" }, "the allocation is another venue's to execute"]
      ] as const) {
        const refused = accept(yield* allocated(change))
        expect([message, yield* Effect.flip(refused)]).toMatchObject([message, aborts(message)])
      }
      // A depositor that acts for bob too sees his allocation, and may not name it all the same.
      const says = yield* Powers.together(scene.sessionOf)
      const others = Templates.exercise(Templates.MintOrder, orderCid, "Accept", {
        allocationCid: yield* allocated({ owner: "bob" })
      })
      expect(yield* Effect.flip(says(["alice", "bob"], others))).toMatchObject(
        aborts("the allocation is another's")
      )
      const brief = Templates.exercise(
        Templates.Holding,
        yield* Dealing.give(scene, "alice", "100", scene.eur),
        "Allocate",
        {
          allocationId: "mint-1",
          executor: scene.sessionOf("venue").party,
          receiver: scene.sessionOf("custodian").party,
          amount: decimal("100"),
          settleBefore: Instant.add(Reserves.begins, Duration.hours(23))
        }
      )
      const ending = yield* World.make(scene.sessionOf("alice"), "Allocation", brief)
      expect(yield* Effect.flip(accept(ending))).toMatchObject(
        aborts("the allocation ends before the order")
      )
      const fitting = yield* allocated({})
      yield* Reserves.setTime(Instant.add(Reserves.begins, Duration.hours(24)))
      expect(yield* Effect.flip(accept(fitting))).toMatchObject(
        aborts("the order is past its time")
      )
      yield* Reserves.setTime(Reserves.begins)
      yield* accept(fitting)
    }).pipe(Effect.provide(ledger))
  )

  it.effect(
    "never settles once its price moved, its cover fell, its reserve closes or its time ran out",
    () =>
      Effect.gen(function* () {
        const { scene, eur, bill, point } = yield* based
        const order = hundred(scene, point)
        const started = yield* Reserves.startMint(scene, { ...order, id: "mint-0" })
        const unready = { orderCid: started, agreementCid: eur, order }
        expect(yield* Effect.flip(Reserves.settleMint(scene, unready))).toMatchObject(
          aborts("the depositor has not accepted the order")
        )
        const orderCid = yield* Reserves.readyMint(scene, order)
        const mint = { orderCid, agreementCid: eur, order }
        const at = (value: string) => Effect.map(Reserves.price(scene, value), (one) => [one])
        const credentials = scene.credentials
        const say = yield* Powers.together(scene.sessionOf)
        for (const [change, message] of [
          [{ pointCids: yield* at("1.1199999999") }, "the mint would not be covered"],
          [{ lockAgreementCid: bill }, "the lock agreement is another one"],
          [{ credentialCid: credentials.bob }, "the credential is another holder's"],
          [
            { credentialCid: yield* Powers.credentialOf(scene, say, { instrumentId: "FUND-B" }) },
            "the credential is for another instrument"
          ],
          [
            {
              credentialCid: yield* Powers.credentialOf(scene, say, {
                registrar: scene.sessionOf("bank").party
              })
            },
            "the credential is for another instrument"
          ],
          [{ lockedCid: null }, "what is locked of the asset before is named, and nothing else"],
          [
            { lockedCid: yield* Reserves.lockedOf(scene, scene.bill) },
            "a holding is of another asset"
          ]
        ] as const) {
          const refused = Reserves.settleMint(scene, mint, change)
          expect([message, yield* Effect.flip(refused)]).toMatchObject([message, aborts(message)])
        }
        // A venue that acts for another one too sees that one's credential, and may not name it all the same.
        const credentialCid = yield* Powers.credentialOf(scene, say, {}, "fund")
        const settle = yield* Reserves.settlingMint(scene, mint, { credentialCid })
        expect(yield* Effect.flip(say(["venue", "fund"], settle))).toMatchObject(
          aborts("the credential is not the venue's")
        )
        const bills = { ...order, id: "mint-2", asset: scene.bill, amount: "1", units: "2.1" }
        const roomy = { ...bills, supply: "1000" }
        const second = yield* Reserves.readyMint(scene, roomy)
        const moved = Reserves.settleMint(
          scene,
          { orderCid: second, agreementCid: bill, order: roomy },
          { pointCids: yield* at("2.0999999999") }
        )
        expect(yield* Effect.flip(moved)).toMatchObject(aborts("the price has moved"))
        yield* Reserves.setTime(Instant.add(Reserves.begins, Duration.hours(24)))
        expect(yield* Effect.flip(Reserves.settleMint(scene, mint))).toMatchObject(
          aborts("the order is past its time")
        )
        yield* Reserves.setTime(Instant.add(Reserves.begins, Duration.minutes(1)))
        const { contractId } = yield* Reserves.reserve(scene)
        const close = Templates.exercise(Templates.Reserve, contractId, "Close", { empty: false })
        yield* World.act(scene.sessionOf("venue"), close)
        expect(yield* Effect.flip(Reserves.settleMint(scene, mint))).toMatchObject(
          aborts("the reserve is closing")
        )
      }).pipe(Effect.provide(ledger))
  )

  it.effect("completes its own intent, and ends no other", () =>
    Effect.gen(function* () {
      const { scene, eur, point } = yield* based
      const order = hundred(scene, point)
      const orderCid = yield* Reserves.readyMint(scene, order)
      const intentOf = (by: Dealing.Hint, id: string) =>
        World.make(
          scene.sessionOf(by),
          "SettlementIntent",
          Templates.create(Templates.SettlementIntent, {
            venue: scene.sessionOf(by).party,
            settlementId: id,
            reference: { kind: "mint", id },
            legs: [
              {
                legId: "deposit",
                sender: scene.sessionOf("alice").party,
                receiver: scene.sessionOf("venue").party,
                instrument: scene.eur,
                amount: decimal("100")
              }
            ],
            requestedAt: Reserves.begins,
            allocateBefore: Dealing.farDeadline,
            settleBefore: Dealing.farDeadline
          })
        )
      const mint = { orderCid, agreementCid: eur, order }
      for (const [by, id, message] of [
        ["venue", "mint-2", "the intent is for something else"],
        ["fund", "mint-1", "the intent is another venue's"]
      ] as const) {
        const refused = Reserves.settleMint(scene, mint, { intentCid: yield* intentOf(by, id) })
        expect([message, yield* Effect.flip(refused)]).toMatchObject([message, aborts(message)])
      }
      yield* Reserves.settleMint(scene, mint, { intentCid: yield* intentOf("venue", "mint-1") })
      const left = yield* Powers.all(scene.sessionOf("alice"), Templates.SettlementIntent)
      expect(left.map(({ payload }) => payload.settlementId).toSorted()).toEqual([
        "mint-1",
        "mint-2"
      ])
      expect(
        left.every(
          ({ payload }) =>
            payload.settlementId !== "mint-1" || payload.venue === scene.sessionOf("fund").party
        )
      ).toBe(true)
    }).pipe(Effect.provide(ledger))
  )

  it.effect.each([
    ["mint-1", "mint-2"],
    ["mint-2", "mint-1"]
  ] as const)("never settles beside another that it fits only without: %s, then %s", (ids) =>
    Effect.gen(function* () {
      const { scene, bill, point } = yield* based
      // 40 bills mint 84 units: the cash covers 1633 units beside the bills' cap, and not 1668.
      const orderOf = (id: string): Reserves.Order => ({
        id,
        asset: scene.bill,
        amount: "40",
        units: "84",
        points: [point],
        supply
      })
      const ready = new Map<string, string>()
      for (const id of ids) ready.set(id, yield* Reserves.readyMint(scene, orderOf(id)))
      const settle = (id: string) =>
        Reserves.settleMint(scene, {
          orderCid: ready.get(id) ?? "",
          agreementCid: bill,
          order: orderOf(id)
        })
      yield* settle(ids[0])
      // The venue states the supply of before: the reserve's own count has the first one's units.
      expect(yield* Effect.flip(settle(ids[1]))).toMatchObject(
        aborts("the mint would not be covered")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never starts against units that own an asset whose price is stale", () =>
    Effect.gen(function* () {
      const scene = yield* Reserves.open((floor) => ({
        parValue: null,
        terms: Reserves.termsOf(floor, { minCover: "0.1", maxShare: null })
      }))
      yield* Reserves.lock(scene, scene.eur, "1000")
      yield* Reserves.lock(scene, scene.bill, "500")
      const at = (minutes: number) =>
        Reserves.price(scene, "2", {
          valuationTime: Instant.subtract(Reserves.begins, Duration.minutes(minutes))
        })
      const order = { id: "mint-1", asset: scene.eur, amount: "100", units: "100", supply: "2000" }
      const stale = Reserves.startMint(scene, { ...order, points: [yield* at(61)] })
      expect(yield* Effect.flip(stale)).toMatchObject(
        aborts("the price of a locked asset is stale")
      )
      yield* Reserves.startMint(scene, { ...order, points: [yield* at(60)] })
    }).pipe(Effect.provide(ledger))
  )

  it.effect("gives the deposit back where it is cancelled, and no other allocation", () =>
    Effect.gen(function* () {
      const { scene, point } = yield* based
      const orderCid = yield* Reserves.readyMint(scene, hundred(scene, point))
      const holding = yield* Dealing.give(scene, "bob", "1", scene.eur)
      const other = yield* Dealing.allocate(scene, {
        owner: "bob",
        holding,
        to: "custodian",
        amount: "1",
        reference: "mint-1"
      })
      const wrongly = Templates.exercise(Templates.MintOrder, orderCid, "Cancel", {
        allocationCid: other,
        intentCid: null
      })
      expect(yield* Effect.flip(World.act(scene.sessionOf("venue"), wrongly))).toMatchObject(
        aborts("the allocation is not the order's")
      )
      yield* World.act(
        scene.sessionOf("bob"),
        Templates.exercise(Templates.Allocation, other, "Allocation_Withdraw", {})
      )
      const order = yield* Reserves.only(scene.sessionOf("venue"), Templates.MintOrder)
      const cancel = Templates.exercise(Templates.MintOrder, orderCid, "Cancel", {
        allocationCid: order.payload.allocationCid,
        intentCid: null
      })
      yield* World.act(scene.sessionOf("venue"), cancel)
      expect((yield* Reserves.freeOf(scene, "alice"))["EUR"]).toBe("100")
      expect(yield* Powers.all(scene.sessionOf("venue"), Templates.Allocation)).toEqual([])
    }).pipe(Effect.provide(ledger))
  )
})

describe("a redemption", () => {
  const minted = Effect.gen(function* () {
    const { scene, eur, point } = yield* based
    const order = { asset: scene.eur, points: [point], supply }
    yield* Reserves.mint(scene, eur, { ...order, id: "mint-1", amount: "100", units: "100" })
    const units = (yield* Powers.all(scene.sessionOf("alice"), Templates.Holding)).find(
      ({ payload }) => payload.instrument.id === scene.instrument.id
    )
    if (units === undefined) throw new Error("alice has units")
    const bills: Reserves.Order = {
      id: "red-1",
      asset: scene.bill,
      amount: "47.619047",
      units: "100",
      points: [point],
      supply: "1600"
    }
    return { scene, units: units.contractId, bills }
  })

  it.effect("burns its units, pays them from what is locked, and goes on without cover", () =>
    Effect.gen(function* () {
      const { scene, units, bills } = yield* minted
      const order = { ...bills, supply: "100000" }
      const orderCid = yield* Reserves.startRedemption(scene, order)
      const ready = Dealing.sole(
        yield* Reserves.acceptRedemption(scene, orderCid, units),
        "ReserveRedemptionOrder"
      )
      yield* Reserves.settleRedemption(scene, { orderCid: ready, order })
      const { payload } = yield* Reserves.reserve(scene)
      expect(Decimal.formatPlain(payload.outstanding)).toBe("99900")
      const free = yield* Reserves.freeOf(scene, "alice")
      expect([free["BILL"], free["FUND-A"]]).toEqual(["47.619047", undefined])
      const amounts = (yield* Reserves.locked(scene)).map(({ payload }) =>
        Decimal.formatPlain(payload.amount)
      )
      expect(amounts.toSorted()).toEqual(["1100", "452.380953"])
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never starts or settles on other figures than the formula's", () =>
    Effect.gen(function* () {
      const { scene, units, bills } = yield* minted
      const stale = yield* Reserves.price(scene, "2.10", {
        valuationTime: Instant.subtract(Reserves.begins, Duration.minutes(61))
      })
      for (const [change, message] of [
        [{ payout: decimal("47.619048") }, "the units are paid another amount"],
        [{ payout: decimal("1") }, "the units are paid another amount"],
        [{ units: Decimal.zero }, "a redemption has units"],
        [{ payout: Decimal.zero }, "a redemption has a payout"],
        [{ executeBefore: Reserves.begins }, "the order is past its time"],
        [{ pointCids: [] }, "an asset has no price"],
        [{ pointCids: [stale] }, "the price of the asset is stale"],
        [{ units: decimal("1601") }, "fewer units are outstanding"],
        [{ units: decimal("1600"), payout: decimal("761.904761") }, "less of the asset is locked"]
      ] as const) {
        const started = Reserves.startRedemption(scene, bills, change)
        expect([message, yield* Effect.flip(started)]).toMatchObject([message, aborts(message)])
      }
      const orderCid = yield* Reserves.startRedemption(scene, bills)
      const unready = Reserves.settleRedemption(scene, { orderCid, order: bills })
      expect(yield* Effect.flip(unready)).toMatchObject(
        aborts("the owner has not accepted the order")
      )
      const cashOf = (hint: Dealing.Hint) => Dealing.give(scene, hint, "100", scene.eur)
      expect(
        yield* Effect.flip(Reserves.acceptRedemption(scene, orderCid, yield* cashOf("alice")))
      ).toMatchObject(aborts("a holding is of another instrument"))
      const says = yield* Powers.together(scene.sessionOf)
      const named = (holdingCid: string, id = orderCid) =>
        Templates.exercise(Templates.ReserveRedemptionOrder, id, "Accept", { holdingCid })
      const others = says(["alice", "bob"], named(yield* cashOf("bob")))
      expect(yield* Effect.flip(others)).toMatchObject(aborts("a holding is another's"))
      yield* Reserves.setTime(Instant.add(Reserves.begins, Duration.hours(24)))
      expect(yield* Effect.flip(Reserves.acceptRedemption(scene, orderCid, units))).toMatchObject(
        aborts("the order is past its time")
      )
      yield* Reserves.setTime(Reserves.begins)
      const ready = Dealing.sole(
        yield* Reserves.acceptRedemption(scene, orderCid, units),
        "ReserveRedemptionOrder"
      )
      const locked = yield* Reserves.only(
        scene.sessionOf("venue"),
        Templates.ReserveRedemptionOrder
      )
      const again = named(locked.payload.lockedUnitsCid ?? "", ready)
      expect(yield* Effect.flip(World.act(scene.sessionOf("alice"), again))).toMatchObject(
        aborts("the owner has accepted before")
      )
      const settle = (change: Parameters<typeof Reserves.settleRedemption>[2]) =>
        Reserves.settleRedemption(scene, { orderCid: ready, order: bills }, change)
      const dearer = yield* Reserves.price(scene, "2.11")
      expect(yield* Effect.flip(settle({ pointCids: [dearer] }))).toMatchObject(
        aborts("the price has moved")
      )
      const cash = (yield* Reserves.lockedOf(scene, scene.eur)) ?? ""
      expect(yield* Effect.flip(settle({ lockedCid: cash }))).toMatchObject(
        aborts("a holding is of another asset")
      )
      const cheaper = yield* Reserves.price(scene, "2.09")
      yield* settle({ pointCids: [cheaper] })
    }).pipe(Effect.provide(ledger))
  )

  it.effect("gives the units back where it is cancelled or declined", () =>
    Effect.gen(function* () {
      const { scene, bills } = yield* minted
      for (const ends of ["Cancel", "Decline"] as const) {
        const units = (yield* Powers.all(scene.sessionOf("alice"), Templates.Holding)).find(
          ({ payload }) => payload.instrument.id === scene.instrument.id
        )
        const orderCid = yield* Reserves.startRedemption(scene, { ...bills, id: `red-${ends}` })
        const receipt = yield* Reserves.acceptRedemption(scene, orderCid, units?.contractId ?? "")
        const ready = Dealing.sole(receipt, "ReserveRedemptionOrder")
        expect((yield* Reserves.freeOf(scene, "alice"))["FUND-A"]).toBeUndefined()
        const lockedUnitsCid = Dealing.sole(receipt, "Holding")
        const wrongly = Templates.exercise(Templates.ReserveRedemptionOrder, ready, "Cancel", {
          lockedUnitsCid: units?.contractId ?? ""
        })
        expect(yield* Effect.flip(World.act(scene.sessionOf("venue"), wrongly))).toMatchObject(
          aborts("the units are not the order's")
        )
        yield* ends === "Cancel"
          ? World.act(
              scene.sessionOf("venue"),
              Templates.exercise(Templates.ReserveRedemptionOrder, ready, "Cancel", {
                lockedUnitsCid
              })
            )
          : World.act(
              scene.sessionOf("alice"),
              Templates.exercise(Templates.ReserveRedemptionOrder, ready, "Decline", {})
            )
        expect((yield* Reserves.freeOf(scene, "alice"))["FUND-A"]).toBe("100")
      }
    }).pipe(Effect.provide(ledger))
  )
})

describe("an amendment", () => {
  it.effect("that only tightens is in force at once, and drops terms that wait", () =>
    Effect.gen(function* () {
      const { scene } = yield* based
      yield* Reserves.amend(scene, "looser", Reserves.termsOf(scene, { minCover: "1.01" }))
      const tighter = Reserves.termsOf(scene, { minCover: "1.03" })
      yield* Reserves.amend(scene, "tighter", tighter)
      const { payload } = yield* Reserves.reserve(scene)
      expect([payload.terms, payload.pending]).toEqual([tighter, null])
    }).pipe(Effect.provide(ledger))
  )

  it.effect.each([
    { minCover: "1.01" },
    { haircut: "0.04" },
    { maxShare: "0.5" },
    { maxShare: null },
    { freshness: 2 * hour },
    { freshness: null }
  ])("that loosens waits out its delay, and is then in force without an act: %o", (change) =>
    Effect.gen(function* () {
      const { scene } = yield* based
      const before = Reserves.termsOf(scene)
      const terms = Reserves.termsOf(scene, change)
      yield* Reserves.amend(scene, "looser", terms)
      const { payload } = yield* Reserves.reserve(scene)
      const effectiveAt = Instant.add(Reserves.begins, Duration.hours(24))
      expect([payload.terms, payload.pending]).toEqual([
        before,
        { amendmentId: "looser", terms, effectiveAt }
      ])
      yield* Reserves.setTime(Instant.subtract(effectiveAt, Duration.millis(1)))
      // Old enough to be stale under the terms of before, and not once its limit is longer.
      const age = "freshness" in change ? 90 : 5
      const points = [
        yield* Reserves.price(scene, "2.10", {
          valuationTime: Instant.subtract(effectiveAt, Duration.minutes(age))
        })
      ]
      // The bills' cap binds at 1500 units outstanding, and their haircut alone takes at 2500.
      const stated = "maxShare" in change ? supply : "2500"
      const { cover: early } = yield* report(scene, points, stated)
      yield* Reserves.setTime(effectiveAt)
      const { cover: late } = yield* report(scene, points, stated)
      expect(Decimal.equals(early.required, late.required)).toBe(!("minCover" in change))
      expect(Decimal.lessThan(early.counted, late.counted)).toBe(!("minCover" in change))
    }).pipe(Effect.provide(ledger))
  )

  it.effect("that loosens never joins one that waits, and is taken back until it is in force", () =>
    Effect.gen(function* () {
      const { scene } = yield* based
      const looser = Reserves.termsOf(scene, { minCover: "1.01" })
      yield* Reserves.amend(scene, "looser", looser)
      const again = Reserves.amend(scene, "again", Reserves.termsOf(scene, { minCover: "1" }))
      expect(yield* Effect.flip(again)).toMatchObject(
        aborts("other terms are pending, and these loosen")
      )
      const withdraw = (amendmentId: string) =>
        Effect.flatMap(Reserves.reserve(scene), ({ contractId }) =>
          World.act(
            scene.sessionOf("venue"),
            Templates.exercise(Templates.Reserve, contractId, "WithdrawPending", { amendmentId })
          )
        )
      expect(yield* Effect.flip(withdraw("again"))).toMatchObject(
        aborts("no such terms are pending")
      )
      yield* Reserves.setTime(Instant.add(Reserves.begins, Duration.hours(24)))
      expect(yield* Effect.flip(withdraw("looser"))).toMatchObject(aborts("the terms are in force"))
      yield* Reserves.setTime(Instant.add(Reserves.begins, Duration.hours(23)))
      yield* withdraw("looser")
      expect((yield* Reserves.reserve(scene)).payload.pending).toBeNull()
    }).pipe(Effect.provide(ledger))
  )

  it.effect(
    "never leaves out what units of an accumulating reserve own, or lets more of it be locked",
    () =>
      Effect.gen(function* () {
        const scene = yield* Reserves.open((floor) => ({
          parValue: null,
          terms: Reserves.termsOf(floor, { minCover: "0.9", maxShare: null })
        }))
        const bill = yield* Reserves.lock(scene, scene.bill)
        yield* Reserves.lock(scene, scene.eur, "1000")
        const terms = Reserves.termsOf(scene, { minCover: "0.9", maxShare: null })
        const [eur, bills] = terms.assets
        if (eur === undefined || bills === undefined) throw new Error("there are two assets")
        expect(
          yield* Effect.flip(Reserves.amend(scene, "without", { ...terms, assets: [bills] }))
        ).toMatchObject(aborts("the terms leave out an asset that is locked"))
        yield* Reserves.amend(scene, "later", { assets: [eur], minCover: decimal("0.8") })
        const { contractId: reserveCid } = yield* Reserves.reserve(scene)
        const holdingCid = yield* Dealing.give(scene, "custodian", "10", scene.bill)
        const more = World.act(
          scene.sessionOf("custodian"),
          Templates.exercise(Templates.LockAgreement, bill, "LockMore", {
            reserveCid,
            holdingCid,
            amount: decimal("10"),
            lockedCid: null
          })
        )
        expect(yield* Effect.flip(more)).toMatchObject(
          aborts("terms that are pending leave out the asset")
        )
      }).pipe(Effect.provide(ledger))
  )
})

describe("what a settlement takes", () => {
  it.effect("is as much after twenty mints as after one", () =>
    Effect.gen(function* () {
      const scene = yield* Reserves.open()
      const agreement = yield* Reserves.lock(scene, scene.eur, "1000")
      const sizes = new Set<string>()
      for (let nth = 0; nth < 20; nth++) {
        const order = { asset: scene.eur, amount: "10", units: "10", points: [] }
        const supply = String(10 * nth)
        const minted = yield* Reserves.mint(scene, agreement, { ...order, id: `m-${nth}`, supply })
        const nodes = yield* World.nodes(scene.sessionOf("venue"), minted)
        const consumed = nodes.filter((node) => node._tag === "Exercised" && node.consuming)
        if (nth > 0) sizes.add(`${nodes.length} ${consumed.length}`)
        expect(yield* Reserves.locked(scene)).toHaveLength(1)
      }
      expect(sizes.size, [...sizes].join(", ")).toBe(1)
    }).pipe(Effect.provide(ledger))
  )
})
