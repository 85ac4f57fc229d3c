/** A distribution on the ledger: what the venue adds and seals, what the registrar may deliver and when, and who sees it. */
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dealing from "./dealing.ts"
import * as Distributions from "./distributions.ts"
import * as Powers from "./powers.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { aborts, decimal } = Dealing
const { evidence, execute, inUnits, lineOf } = Distributions

type Run = Effect.Effect<unknown, unknown, SimulatedLedger.Participant>
type Row<S> = readonly [what: string, message: string, act: (scene: S) => Run]

const refuses = <S>(
  rows: ReadonlyArray<Row<S>>,
  arrange: Effect.Effect<S, unknown, SimulatedLedger.Participant>
) =>
  it.effect.each(rows)("%s", ([, message, act]) =>
    Effect.gen(function* () {
      const scene = yield* arrange
      expect(yield* Effect.flip(act(scene))).toMatchObject(aborts(message))
    }).pipe(Effect.provide(ledger))
  )

describe("a month's execution is refused", () => {
  const terms = (other: Partial<Distributions.Terms>) => (floor: Dealing.Floor) =>
    execute(floor, other)
  const priced = "a payout in units has a price, and no other has"
  const fraction = "the rate is a fraction"
  const executed = "the month, or a later one, is executed"
  const rows: ReadonlyArray<Row<Dealing.Floor>> = [
    ["where the month is executed", executed, (floor) => execute(floor, {}, "1969-12")],
    ["where a later month is executed", executed, (floor) => execute(floor, {}, "1970-01")],
    [
      "where the record date lies in another month",
      "the record date lies in another month",
      terms({ recordDate: Date.of("1970-01-01") })
    ],
    ["without a point", "a distribution has a point", terms({ pointCids: [] })],
    ["at a rate below 0", fraction, terms({ rate: decimal("-0.01") })],
    ["at a rate above 1", fraction, terms({ rate: decimal("1.01") })],
    ["in units without their price", priced, terms({ payout: "units" })],
    ["in units at a price of 0", priced, terms({ payout: "units", payoutPrice: Decimal.zero })],
    ["in cash with a price of units", priced, terms({ payoutPrice: Decimal.one })],
    [
      "of a rebasing instrument with a price of units",
      priced,
      terms({ payout: "none", payoutPrice: Decimal.one })
    ]
  ]
  refuses(rows, Dealing.floor)

  it.effect("after the next month is executed on the same slot", () =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const first = yield* execute(floor)
      const again = (slot: string, month: string, recordDate: string) =>
        World.act(
          floor.sessionOf("venue"),
          Templates.exercise(
            Templates.DistributionSlot,
            slot,
            "Execute",
            Distributions.termsOf(floor, { month, recordDate: Date.of(recordDate) })
          )
        )
      const slot = World.created(first, "DistributionSlot").at(-1) ?? ""
      expect(yield* Effect.flip(again(slot, "1969-12", "1969-12-31"))).toMatchObject(
        aborts("the month, or a later one, is executed")
      )
      yield* again(slot, "1970-01", "1970-01-31")
      const [left, ...more] = yield* Powers.all(
        floor.sessionOf("venue"),
        Templates.DistributionSlot
      )
      expect(left?.payload.lastMonth).toBe("1970-01")
      expect(more).toEqual([])
    }).pipe(Effect.provide(ledger))
  )
})

interface Executed {
  readonly floor: Dealing.Floor
  readonly distribution: string
}

const executed = (other: Partial<Distributions.Terms> = {}) =>
  Effect.gen(function* () {
    const floor = yield* Dealing.floor
    const distribution = Distributions.distributionOf(yield* execute(floor, other))
    return { floor, distribution }
  })

describe("lines are refused", () => {
  const lines =
    (linesOf: (floor: Dealing.Floor) => ReadonlyArray<Distributions.Line>, expectedCount = 0) =>
    ({ floor, distribution }: Executed) =>
      Distributions.addLines(floor, distribution, linesOf(floor), expectedCount)
  const line = (other: Partial<Distributions.Line>) =>
    lines((floor) => [lineOf(floor, 1, "alice", other)])
  const numbered = "lines are numbered from 1 without a gap"
  const count = "the distribution has another number of lines"
  const carried = "a line is carried where its gross is 0, and there alone"
  const rows: ReadonlyArray<Row<Executed>> = [
    ["that come after others", count, lines((floor) => [lineOf(floor, 2, "alice")], 1)],
    [
      "that are added twice",
      count,
      ({ floor, distribution }) =>
        Effect.gen(function* () {
          const some = [lineOf(floor, 1, "alice")]
          const added = yield* Distributions.addLines(floor, distribution, some)
          yield* Distributions.addLines(floor, Distributions.distributionOf(added), some)
        })
    ],
    ["that are none", "no line to add", lines(() => [])],
    [
      "beyond 1000 at once",
      "at most 1000 lines at once",
      lines((floor) =>
        Array.from({ length: 1001 }, (_, index) => lineOf(floor, index + 1, "alice"))
      )
    ],
    ["that begin at 0", numbered, lines((floor) => [lineOf(floor, 0, "alice")])],
    [
      "that leave a number out",
      numbered,
      lines((floor) => [lineOf(floor, 1, "alice"), lineOf(floor, 3, "bob")])
    ],
    [
      "that have a number twice",
      numbered,
      lines((floor) => [lineOf(floor, 1, "alice"), lineOf(floor, 1, "bob")])
    ],
    [
      "that pay a holder twice",
      "a holder has two lines",
      lines((floor) => [lineOf(floor, 1, "alice"), lineOf(floor, 2, "alice")])
    ],
    ["of units below 0", "a line's units are below 0", line({ units: decimal("-1") })],
    [
      "with a gross below 0",
      "a line's gross is below 0",
      line({ gross: decimal("-10"), withheld: Decimal.zero, net: decimal("-10") })
    ],
    ["that are carried and pay", carried, line({ carried: "unrolled" })],
    [
      "that pay nothing and are not carried",
      carried,
      line({ ...Distributions.carriedLine, carried: null })
    ],
    [
      "with an equalisation above the gross",
      "a line's equalisation is no part of its gross",
      line({ equalisation: decimal("10.01") })
    ],
    [
      "with an equalisation below 0",
      "a line's equalisation is no part of its gross",
      line({ equalisation: decimal("-0.01") })
    ],
    ["at a rate above 1", "a line's rate is no fraction", line({ rate: decimal("1.1") })],
    [
      "that withhold more than the gross",
      "a line withholds more than its gross, or less than 0",
      line({ withheld: decimal("10.01"), net: decimal("-0.01") })
    ],
    [
      "that withhold less than 0",
      "a line withholds more than its gross, or less than 0",
      line({ withheld: decimal("-1"), net: decimal("11") })
    ],
    [
      "whose net is another than what is not withheld",
      "a line's net is not its gross without what is withheld",
      line({ net: decimal("7.01") })
    ],
    [
      "that pay units out of a payout of cash",
      "a line has units to pay where the distribution pays units, and there alone",
      line({ payoutUnits: decimal("7") })
    ],
    [
      "that sum up past what can be counted",
      "the lines sum up to more than can be counted",
      lines((floor) => [
        lineOf(floor, 1, "alice", { carryOut: decimal("9".repeat(28)) }),
        lineOf(floor, 2, "bob", { carryOut: decimal("9".repeat(28)) })
      ])
    ]
  ]
  refuses(rows, executed())

  const worth = "a line's units to pay are worth more than its net, or nothing of it"
  const ofUnits: ReadonlyArray<Row<Executed>> = [
    [
      "that pay no units out of a payout of units",
      "a line has units to pay where the distribution pays units, and there alone",
      line({ payoutUnits: null })
    ],
    ["that pay units above the net", worth, line({ payoutUnits: decimal("7.0000000001") })],
    ["that pay 0 units for a net", worth, line({ payoutUnits: Decimal.zero })],
    ["that pay units below 0", worth, line({ payoutUnits: decimal("-1") })],
    [
      "that pay units for no net",
      worth,
      line({ withheld: decimal("10"), net: Decimal.zero, payoutUnits: decimal("1") })
    ],
    [
      "that pay less than 0 units for no net",
      worth,
      line({ withheld: decimal("10"), net: Decimal.zero, payoutUnits: decimal("-1") })
    ]
  ]
  refuses(ofUnits, executed(inUnits))

  it.effect("after the seal", () =>
    Effect.gen(function* () {
      const { floor, distribution } = yield* Distributions.scene()
      const more = Distributions.addLines(floor, distribution, [lineOf(floor, 3, "carol")], 2)
      expect(yield* Effect.flip(more)).toMatchObject(aborts("the distribution is sealed"))
    }).pipe(Effect.provide(ledger))
  )
})

describe("lines that are added", () => {
  it.effect("make a contract each, but for those that pay nothing", () =>
    Effect.gen(function* () {
      const { floor, distribution } = yield* executed()
      const lines = [
        lineOf(floor, 1, "alice", { custodian: floor.sessionOf("custodian").party }),
        lineOf(floor, 2, "bob", Distributions.carriedLine),
        lineOf(floor, 3, "carol", { waits: true })
      ]
      const added = yield* Distributions.addLines(floor, distribution, lines)
      const found = yield* Powers.all(floor.sessionOf("registrar"), Templates.DistributionLine)
      expect(
        found
          .map(({ payload }) => [payload.lineId, payload.custodian, payload.waits] as const)
          .toSorted()
      ).toEqual([
        ["dist-1.1", floor.sessionOf("custodian").party, false],
        ["dist-1.3", null, true]
      ])
      const [left] = yield* Powers.all(floor.sessionOf("registrar"), Templates.Distribution)
      expect(left?.contractId).toBe(Distributions.distributionOf(added))
      expect(left?.payload).toMatchObject({
        lineCount: 3,
        totals: {
          gross: decimal("20"),
          withheld: decimal("6"),
          net: decimal("14"),
          entitlement: decimal("30.012"),
          carryOut: decimal("10.012")
        }
      })
    }).pipe(Effect.provide(ledger))
  )

  it.effect("are named with their contracts in the result of the act", () =>
    Effect.gen(function* () {
      const { floor, distribution } = yield* executed()
      const lines = [
        lineOf(floor, 1, "alice", Distributions.carriedLine),
        lineOf(floor, 2, "bob"),
        lineOf(floor, 3, "carol")
      ]
      const added = yield* Distributions.addLines(floor, distribution, lines)
      const [exercised] = (yield* World.nodes(floor.sessionOf("venue"), added)).filter(
        (node) => node._tag === "Exercised"
      )
      const result = Templates.decodeResult(
        Templates.Distribution,
        "AddLines",
        exercised?.result ?? null
      )
      const [second, third] = World.created(added, "DistributionLine")
      expect(result).toMatchObject({
        _tag: "Success",
        success: {
          distribution: Distributions.distributionOf(added),
          lines: [
            { number: 2, contractId: second },
            { number: 3, contractId: third }
          ]
        }
      })
    }).pipe(Effect.provide(ledger))
  )

  it.effect("come 500 at once, and go on where those before ended", () =>
    Effect.gen(function* () {
      const { floor, distribution } = yield* executed()
      const many = Array.from({ length: 501 }, (_, index) => ({
        ...lineOf(floor, index + 1, "alice"),
        holder:
          `${String(index).padStart(4, "0")}${floor.sessionOf("alice").party}` as Distributions.Line["holder"]
      }))
      const first = yield* Distributions.addLines(floor, distribution, many.slice(0, 500))
      const added = yield* Distributions.addLines(
        floor,
        Distributions.distributionOf(first),
        many.slice(500),
        500
      )
      yield* Distributions.seal(floor, Distributions.distributionOf(added), many)
    }).pipe(Effect.provide(ledger))
  )
})

/** Three months that stopped at different steps: lines added, sealed, open. */
const stopped = Effect.gen(function* () {
  const floor = yield* Dealing.floor
  const lines = [lineOf(floor, 1, "alice"), lineOf(floor, 2, "bob")]
  const addedTo = (distributionId: string) =>
    Effect.gen(function* () {
      const first = yield* execute(floor, { distributionId })
      const added = yield* Distributions.addLines(floor, Distributions.distributionOf(first), lines)
      return Distributions.distributionOf(added)
    })
  return {
    floor,
    lines,
    added: yield* addedTo("dist-1"),
    sealed: Distributions.distributionOf(
      yield* Distributions.seal(floor, yield* addedTo("dist-2"), lines)
    ),
    open: (yield* Distributions.openMonth(floor, lines, { distributionId: "dist-3" })).distribution
  }
})
type Stopped = Effect.Success<typeof stopped>

describe("a distribution is not sealed, opened or closed", () => {
  const count = "the distribution has another number of lines"
  const totals = "the lines sum up to other totals"
  const sealing =
    (other: Parameters<typeof Distributions.seal>[3]) =>
    ({ floor, added, lines }: Stopped) =>
      Distributions.seal(floor, added, lines, other)
  const figures = Object.keys(Distributions.totalsOf([])) as ReadonlyArray<
    keyof Templates.DistributionTotals
  >
  const rows: ReadonlyArray<Row<Stopped>> = [
    ["with fewer lines than were approved", count, sealing({ lineCount: 3 })],
    ["with more lines than were approved", count, sealing({ lineCount: 1 })],
    ...figures.map(
      (figure): Row<Stopped> => [
        `where the lines sum up to another ${figure}`,
        totals,
        ({ floor, added, lines }) => {
          const summed = Distributions.totalsOf(lines)
          const other = { ...summed, [figure]: Decimal.add(summed[figure], Decimal.fromAtoms(1n)) }
          return Distributions.seal(floor, added, lines, { totals: other })
        }
      ]
    ),
    [
      "by a second seal",
      "the distribution is sealed",
      ({ floor, sealed, lines }) => Distributions.seal(floor, sealed, lines)
    ],
    [
      "before its seal",
      "a distribution opens once it is sealed",
      ({ floor, added }) => Distributions.turn(floor, added, "Open")
    ],
    [
      "where it is open",
      "the distribution is open",
      ({ floor, open }) => Distributions.turn(floor, open, "Open")
    ],
    [
      "where it is not open",
      "the distribution is not open",
      ({ floor, sealed }) => Distributions.turn(floor, sealed, "Close")
    ]
  ]
  refuses(rows, stopped)
})

const delivering =
  (other: Partial<Distributions.Delivering> & { readonly line?: string } = {}) =>
  ({ floor, distribution, alice }: Distributions.Scene) =>
    Distributions.deliver(floor, {
      distributionCid: distribution,
      line: alice,
      evidence,
      ...other
    })

describe("a line of cash is not delivered", () => {
  const rows: ReadonlyArray<Row<Distributions.Scene>> = [
    [
      "by the distribution of another month",
      "the line is of another distribution",
      ({ floor, alice }) =>
        Effect.gen(function* () {
          const other = yield* Distributions.openMonth(floor, [], { distributionId: "dist-2" })
          const distributionCid = other.distribution
          yield* Distributions.deliver(floor, { distributionCid, line: alice, evidence })
        })
    ],
    [
      "by a distribution of that name of another instrument",
      "the line is of another distribution",
      ({ floor, alice }) =>
        Effect.gen(function* () {
          const instrument = { ...floor.instrument, id: "FUND-B" }
          const other = yield* Distributions.openMonth({ ...floor, instrument }, [])
          const distributionCid = other.distribution
          yield* Distributions.deliver(floor, { distributionCid, line: alice, evidence })
        })
    ],
    [
      "by another venue's distribution",
      "the line is of another distribution",
      ({ floor, alice }) =>
        Effect.gen(function* () {
          const venue = floor.sessionOf("custodian")
          const withVenue = {
            ...floor,
            sessionOf: (hint: Dealing.Hint) => (hint === "venue" ? venue : floor.sessionOf(hint))
          }
          const other = yield* Distributions.openMonth(withVenue, [])
          const distributionCid = other.distribution
          yield* Distributions.deliver(floor, { distributionCid, line: alice, evidence })
        })
    ],
    [
      "while the distribution is closed",
      "the distribution is not open",
      (scene) =>
        Effect.gen(function* () {
          const closed = yield* Distributions.turn(scene.floor, scene.distribution, "Close")
          yield* delivering({ distributionCid: Distributions.distributionOf(closed) })(scene)
        })
    ],
    [
      "before it is payable",
      "the distribution is not payable yet",
      (scene) =>
        Effect.gen(function* () {
          const { floor } = scene
          const payableFrom = Instant.of("1970-01-03T00:00:00.001Z")
          const other = yield* Distributions.openMonth(floor, [lineOf(floor, 1, "carol")], {
            distributionId: "dist-2",
            payableFrom
          })
          const [line = ""] = other.lineCids
          const distributionCid = other.distribution
          yield* delivering({ distributionCid, line })(scene)
        })
    ],
    [
      "while it waits",
      "the line waits",
      (scene) =>
        Effect.gen(function* () {
          const holder = scene.floor.sessionOf("alice").party
          const to = { holder, custodian: null, waits: true }
          const line = yield* Distributions.direct(scene.floor, scene.alice, to)
          yield* delivering({ line })(scene)
        })
    ],
    [
      "without evidence of the payment",
      "a payment of cash has its evidence",
      delivering({ evidence: null })
    ],
    [
      "by evidence of a day that has begun nowhere",
      "the day of the payment has not begun",
      delivering({ evidence: { ...evidence, paidOn: Date.of("1970-01-04") } })
    ],
    [
      "by evidence without a reference",
      "the payment has no reference",
      delivering({ evidence: { ...evidence, reference: "" } })
    ],
    [
      "to a credential",
      "what pays no units takes no credential",
      (scene) => delivering({ credentialCid: scene.floor.credentials.alice })(scene)
    ],
    [
      "by the instrument's configuration",
      "what pays no units takes no credential",
      (scene) => delivering({ configurationCid: scene.floor.credentials.alice })(scene)
    ]
  ]
  refuses(rows, Distributions.scene())

  it.effect("twice, or after it is void", () =>
    Effect.gen(function* () {
      const scene = yield* Distributions.scene()
      yield* delivering()(scene)
      yield* World.act(
        scene.floor.sessionOf("venue"),
        Templates.exercise(Templates.DistributionLine, scene.bob, "Void", {
          orderRef: "ab".repeat(32)
        })
      )
      for (const line of [scene.alice, scene.bob]) {
        expect(yield* Effect.flip(delivering({ line })(scene))).toMatchObject({
          _tag: "Refused",
          code: "CONTRACT_NOT_FOUND"
        })
      }
      expect(
        yield* Powers.all(scene.floor.sessionOf("venue"), Templates.DeliveredLine)
      ).toHaveLength(1)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("on a distribution that is not sealed", () =>
    Effect.gen(function* () {
      const { floor, distribution } = yield* executed()
      const lines = [lineOf(floor, 1, "alice")]
      const added = yield* Distributions.addLines(floor, distribution, lines)
      yield* Distributions.setTime(Distributions.payableFrom)
      const early = Distributions.deliver(floor, {
        distributionCid: Distributions.distributionOf(added),
        line: Dealing.sole(added, "DistributionLine"),
        evidence
      })
      expect(yield* Effect.flip(early)).toMatchObject(aborts("the distribution is not sealed"))
    }).pipe(Effect.provide(ledger))
  )
})

describe("a line of cash is delivered", () => {
  it.effect("with evidence of a day that has begun in UTC+14", () =>
    Effect.gen(function* () {
      const scene = yield* Distributions.scene()
      const tomorrow = { ...evidence, paidOn: Date.of("1970-01-04") }
      yield* Distributions.setTime(Instant.of("1970-01-03T09:59:59.999Z"))
      expect(yield* Effect.flip(delivering({ evidence: tomorrow })(scene))).toMatchObject(
        aborts("the day of the payment has not begun")
      )
      yield* Distributions.setTime(Instant.of("1970-01-03T10:00:00Z"))
      yield* delivering({ evidence: tomorrow })(scene)
      const [delivered] = yield* Powers.all(scene.floor.sessionOf("alice"), Templates.DeliveredLine)
      expect(delivered?.payload).toMatchObject({
        lineId: "dist-1.1",
        net: decimal("7"),
        evidence: tomorrow,
        holdingCid: null,
        deliveredAt: Instant.of("1970-01-03T10:00:00Z")
      })
    }).pipe(Effect.provide(ledger))
  )

  it.effect("without evidence where all of it is withheld, and not with any", () =>
    Effect.gen(function* () {
      const all = { withheld: decimal("10"), net: Decimal.zero }
      const scene = yield* Distributions.scene({}, all)
      expect(yield* Effect.flip(delivering()(scene))).toMatchObject(
        aborts("what pays no cash has no evidence")
      )
      yield* delivering({ evidence: null })(scene)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("to whom the venue directs it, once it waits no more", () =>
    Effect.gen(function* () {
      const scene = yield* Distributions.scene()
      const { floor } = scene
      const holder = floor.sessionOf("carol").party
      const custodian = floor.sessionOf("custodian").party
      const waiting = yield* Distributions.direct(floor, scene.alice, {
        holder,
        custodian,
        waits: true
      })
      const line = yield* Distributions.direct(floor, waiting, { holder, custodian, waits: false })
      yield* delivering({ line })(scene)
      for (const party of ["carol", "custodian"] as const) {
        const [delivered] = yield* Powers.all(floor.sessionOf(party), Templates.DeliveredLine)
        expect(delivered?.payload).toMatchObject({
          lineId: "dist-1.1",
          holder,
          gross: decimal("10")
        })
      }
      expect(yield* Powers.all(floor.sessionOf("alice"), Templates.DeliveredLine)).toEqual([])
    }).pipe(Effect.provide(ledger))
  )
})

const units = { payoutUnits: decimal("6.5") }

const delivers =
  (other: Parameters<typeof delivering>[0] = {}) =>
  (scene: Distributions.Scene) =>
    delivering({ credentialCid: scene.floor.credentials.alice, evidence: null, ...other })(scene)

/** A credential that Alice and an issuer sign together, over the floor's own. */
const credentialOf = (
  { floor }: Distributions.Scene,
  other: Parameters<typeof Powers.credentialOf>[2],
  issuer: Dealing.Hint = "venue"
) =>
  Effect.flatMap(Powers.together(floor.sessionOf), (say) =>
    Powers.credentialOf(floor, say, other, issuer)
  )

describe("a line of units is not delivered", () => {
  const rows: ReadonlyArray<Row<Distributions.Scene>> = [
    [
      "without a credential",
      "units are delivered to a credential",
      delivers({ credentialCid: null })
    ],
    ["with evidence of cash", "what pays no cash has no evidence", delivers({ evidence })],
    [
      "to another holder's credential",
      "the credential is another holder's",
      (scene) => delivers({ credentialCid: scene.floor.credentials.bob })(scene)
    ],
    [
      "to a credential that another venue issued",
      "the credential is not the venue's",
      (scene) =>
        Effect.flatMap(credentialOf(scene, {}, "custodian"), (credentialCid) =>
          delivers({ credentialCid })(scene)
        )
    ],
    [
      "to a credential for another instrument",
      "the credential is for another instrument",
      (scene) =>
        Effect.flatMap(credentialOf(scene, { instrumentId: "FUND-B" }), (credentialCid) =>
          delivers({ credentialCid })(scene)
        )
    ],
    [
      "to a credential that has ended",
      "the credential is not in force",
      (scene) =>
        Effect.flatMap(
          credentialOf(scene, { validUntil: Distributions.payableFrom }),
          (credentialCid) => delivers({ credentialCid })(scene)
        )
    ]
  ]
  refuses(rows, Distributions.scene(inUnits, units))
})

describe("a line of units is delivered", () => {
  it.effect("as units of the holder that name their distribution", () =>
    Effect.gen(function* () {
      const scene = yield* Distributions.scene(inUnits, units)
      yield* delivers()(scene)
      const [holding, ...more] = yield* Dealing.holdingsOf(scene.floor.sessionOf("alice"))
      expect(more).toEqual([])
      expect(holding).toMatchObject({
        instrument: scene.floor.instrument,
        amount: decimal("6.5"),
        restricted: true,
        meta: { "bursar/reference-kind": "distribution", "bursar/reference-id": "dist-1" }
      })
      const [delivered] = yield* Powers.all(scene.floor.sessionOf("alice"), Templates.DeliveredLine)
      expect(delivered?.payload.holdingCid).toBe(holding?.contractId)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("without a credential where all of it is withheld, and not to one", () =>
    Effect.gen(function* () {
      const all = { withheld: decimal("10"), net: Decimal.zero, payoutUnits: Decimal.zero }
      const scene = yield* Distributions.scene(inUnits, all)
      expect(yield* Effect.flip(delivers()(scene))).toMatchObject(
        aborts("what pays no units takes no credential")
      )
      yield* delivers({ credentialCid: null })(scene)
      expect(yield* Dealing.holdingsOf(scene.floor.sessionOf("alice"))).toEqual([])
    }).pipe(Effect.provide(ledger))
  )

  it.effect("at a price above 1 up to the worth of the net", () =>
    Effect.gen(function* () {
      const { floor, distribution } = yield* executed({ ...inUnits, payoutPrice: decimal("1.05") })
      const line = (payoutUnits: string) => [
        lineOf(floor, 1, "alice", { payoutUnits: decimal(payoutUnits) })
      ]
      const above = Distributions.addLines(floor, distribution, line("6.6666666667"))
      expect(yield* Effect.flip(above)).toMatchObject(
        aborts("a line's units to pay are worth more than its net, or nothing of it")
      )
      yield* Distributions.addLines(floor, distribution, line("6.6666666666"))
    }).pipe(Effect.provide(ledger))
  )
})

describe("a rebasing instrument's line", () => {
  it.effect("is delivered with neither credential nor evidence", () =>
    Effect.gen(function* () {
      const scene = yield* Distributions.scene(
        { payout: "none", rate: Decimal.zero },
        { rate: Decimal.zero, withheld: Decimal.zero, net: decimal("10") }
      )
      expect(yield* Effect.flip(delivering()(scene))).toMatchObject(
        aborts("what pays no cash has no evidence")
      )
      expect(
        yield* Effect.flip(
          delivering({ evidence: null, credentialCid: scene.floor.credentials.alice })(scene)
        )
      ).toMatchObject(aborts("what pays no units takes no credential"))
      yield* delivering({ evidence: null })(scene)
    }).pipe(Effect.provide(ledger))
  )
})

describe("who acts on a distribution, and who sees it", () => {
  it.effect(
    "never anybody but the venue executes, adds, seals, opens, closes, directs, voids or rolls",
    () =>
      Effect.gen(function* () {
        const scene = yield* Distributions.scene()
        const { floor, slot, distribution, alice, bob, lines } = scene
        yield* delivering({ line: bob })(scene)
        const [delivered] = yield* Powers.all(floor.sessionOf("venue"), Templates.DeliveredLine)
        const on = Templates.exercise
        const acts = [
          on(Templates.DistributionSlot, slot, "Execute", Distributions.termsOf(floor)),
          on(Templates.Distribution, distribution, "AddLines", { expectedCount: 2, lines }),
          on(Templates.Distribution, distribution, "Seal", {
            lineCount: 2,
            totals: Distributions.totalsOf(lines)
          }),
          on(Templates.Distribution, distribution, "Open", {}),
          on(Templates.Distribution, distribution, "Close", {}),
          on(Templates.DistributionLine, alice, "Direct", {
            holder: floor.sessionOf("carol").party,
            custodian: null,
            waits: false
          }),
          on(Templates.DistributionLine, alice, "Void", { orderRef: "ab".repeat(32) }),
          on(Templates.DeliveredLine, delivered?.contractId ?? "", "Roll", {})
        ]
        const say = yield* Powers.together(floor.sessionOf)
        const others = Dealing.hints.filter((hint) => hint !== "venue")
        for (const act of acts) {
          // All others together see every contract but the slot, so that their authority is judged.
          expect(yield* Effect.flip(say(others, act))).toMatchObject({
            code:
              act.target.entity === "DistributionSlot"
                ? "CONTRACT_NOT_FOUND"
                : "DAML_AUTHORIZATION_ERROR"
          })
        }
        for (const act of acts.slice(4))
          yield* World.act(floor.sessionOf("venue"), act).pipe(Effect.ignore)
        expect(yield* Powers.all(floor.sessionOf("venue"), Templates.DeliveredLine)).toEqual([])
      }).pipe(Effect.provide(ledger))
  )

  it.effect("never anybody but the registrar delivers", () =>
    Effect.gen(function* () {
      const scene = yield* Distributions.scene()
      const say = yield* Powers.together(scene.floor.sessionOf)
      const others = Dealing.hints.filter((hint) => hint !== "registrar")
      const act = Templates.exercise(Templates.DistributionLine, scene.alice, "Deliver", {
        distributionCid: scene.distribution,
        credentialCid: null,
        configurationCid: null,
        evidence
      })
      expect(yield* Effect.flip(say(others, act))).toMatchObject(Dealing.unauthorized)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never shows a holder its line, or that it waits, before it is delivered", () =>
    Effect.gen(function* () {
      const scene = yield* Distributions.scene(inUnits, units)
      const { floor } = scene
      const activeOf = (hint: Dealing.Hint) => Dealing.active(floor.sessionOf(hint))
      const before = [yield* activeOf("alice"), yield* activeOf("carol")]
      const directed = yield* World.act(
        floor.sessionOf("venue"),
        Templates.exercise(Templates.DistributionLine, scene.alice, "Direct", {
          holder: floor.sessionOf("alice").party,
          custodian: floor.sessionOf("custodian").party,
          waits: false
        })
      )
      const line = Dealing.sole(directed, "DistributionLine")
      for (const hint of ["alice", "custodian", "carol"] as const) {
        expect(yield* World.nodes(floor.sessionOf(hint), directed)).toEqual([])
      }
      expect([yield* activeOf("alice"), yield* activeOf("carol")]).toEqual(before)
      const delivered = yield* delivers({ line })(scene)
      const shown = yield* World.nodes(floor.sessionOf("alice"), delivered)
      expect(
        shown.map((node) =>
          node._tag === "Exercised"
            ? `${node.template.entity}.${node.choice}`
            : node.template.entity
        )
      ).toEqual(["Credential.Receive", "Holding", "DeliveredLine"])
      expect(
        (yield* World.nodes(floor.sessionOf("custodian"), delivered)).map(
          ({ template }) => template.entity
        )
      ).toEqual(["DeliveredLine"])
      expect(yield* World.nodes(floor.sessionOf("carol"), delivered)).toEqual([])
    }).pipe(Effect.provide(ledger))
  )

  it.effect("leaves nothing on the ledger of a line that is rolled or void", () =>
    Effect.gen(function* () {
      const scene = yield* Distributions.scene()
      const { floor } = scene
      yield* delivering()(scene)
      const [delivered] = yield* Powers.all(floor.sessionOf("venue"), Templates.DeliveredLine)
      const rolled = yield* World.act(
        floor.sessionOf("venue"),
        Templates.exercise(Templates.DeliveredLine, delivered?.contractId ?? "", "Roll", {}),
        Templates.exercise(Templates.DistributionLine, scene.bob, "Void", {
          orderRef: "ab".repeat(32)
        })
      )
      expect(World.created(rolled, "DeliveredLine")).toEqual([])
      for (const template of [Templates.DistributionLine, Templates.DeliveredLine] as const) {
        expect(yield* Powers.all(floor.sessionOf("registrar"), template)).toEqual([])
      }
    }).pipe(Effect.provide(ledger))
  )
})
