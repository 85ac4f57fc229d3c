/** A month of distributions on a ledger in memory, and the acts of the venue and the registrar on it. */
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import type * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

export type Terms = Templates.Argument<typeof Templates.DistributionSlot, "Execute">
export type Line = Templates.DistributedLine
export type Delivering = Templates.Argument<typeof Templates.DistributionLine, "Deliver">

const { decimal } = Dealing

/** First instant of the payment date, 1970-01-03 in UTC. */
export const payableFrom = Instant.of("1970-01-03T00:00:00Z")

export const setTime = (instant: Instant.Instant) =>
  TestClock.setTime(Instant.toEpochMillis(instant))

/** Terms of a payout of cash for December 1969. */
export const termsOf = (floor: Dealing.Floor, other: Partial<Terms> = {}): Terms => ({
  distributionId: "dist-1",
  fund: floor.sessionOf("fund").party,
  month: "1969-12",
  recordDate: Date.of("1969-12-31"),
  payableFrom,
  pointCids: [floor.point],
  rate: decimal("0.3"),
  payout: "cash",
  payoutPrice: null,
  linesHash: "cd".repeat(32),
  ...other
})

export const inUnits = { payout: "units", payoutPrice: decimal("1") } as const

/** Line of a holder: 10.00 gross, of which 3.00 are withheld. */
export const lineOf = (
  floor: Dealing.Floor,
  number: number,
  holder: Dealing.Hint,
  other: Partial<Line> = {}
): Line => ({
  number: number,
  holder: floor.sessionOf(holder).party,
  custodian: null,
  units: decimal("1000"),
  entitlement: decimal("10.004"),
  carryIn: decimal("0"),
  carriedFrom: null,
  gross: decimal("10"),
  equalisation: decimal("0"),
  rate: decimal("0.3"),
  rateSource: "default",
  withheld: decimal("3"),
  net: decimal("7"),
  carryOut: decimal("0.004"),
  payoutUnits: null,
  carried: null,
  waits: false,
  ...other
})

export const carriedLine: Partial<Line> = {
  gross: Decimal.zero,
  withheld: Decimal.zero,
  net: Decimal.zero,
  carryOut: decimal("10.004"),
  carried: "unrolled"
}

export const totalsOf = (lines: ReadonlyArray<Line>): Templates.DistributionTotals => {
  const sum = (figure: (line: Line) => Decimal.Decimal | null) =>
    Decimal.sum(lines.map((line) => figure(line) ?? Decimal.zero))
  return {
    entitlement: sum(({ entitlement }) => entitlement),
    carryIn: sum(({ carryIn }) => carryIn),
    gross: sum(({ gross }) => gross),
    equalisation: sum(({ equalisation }) => equalisation),
    withheld: sum(({ withheld }) => withheld),
    net: sum(({ net }) => net),
    carryOut: sum(({ carryOut }) => carryOut),
    payoutUnits: sum(({ payoutUnits }) => payoutUnits)
  }
}

export const slotOf = (
  { sessionOf, instrument }: Dealing.Floor,
  lastMonth: string | null = null
): Templates.Payload<typeof Templates.DistributionSlot> => ({
  venue: sessionOf("venue").party,
  instrument,
  lastMonth
})

/** Executes a month as the first of its instrument. */
export const execute = (
  floor: Dealing.Floor,
  other: Partial<Terms> = {},
  lastMonth: string | null = null
) =>
  World.act(
    floor.sessionOf("venue"),
    Templates.createAndExercise(
      Templates.DistributionSlot,
      slotOf(floor, lastMonth),
      "Execute",
      termsOf(floor, other)
    )
  )

/** Contract of the distribution that an act left on the ledger. */
export const distributionOf = (receipt: Ledger.Receipt): string =>
  World.created(receipt, "Distribution").at(-1) ?? ""

export const addLines = (
  { sessionOf }: Dealing.Floor,
  distribution: string,
  lines: ReadonlyArray<Line>,
  expectedCount = 0
) =>
  World.act(
    sessionOf("venue"),
    Templates.exercise(Templates.Distribution, distribution, "AddLines", { expectedCount, lines })
  )

export const seal = (
  { sessionOf }: Dealing.Floor,
  distribution: string,
  lines: ReadonlyArray<Line>,
  other: Partial<Templates.Argument<typeof Templates.Distribution, "Seal">> = {}
) =>
  World.act(
    sessionOf("venue"),
    Templates.exercise(Templates.Distribution, distribution, "Seal", {
      lineCount: lines.length,
      totals: totalsOf(lines),
      ...other
    })
  )

export const turn = (
  { sessionOf }: Dealing.Floor,
  distribution: string,
  choice: "Open" | "Close"
) =>
  World.act(
    sessionOf("venue"),
    Templates.exercise(Templates.Distribution, distribution, choice, {})
  )

export const evidence = { reference: "E2E-1", paidOn: Date.of("1970-01-03") }

export const deliver = (
  { sessionOf }: Dealing.Floor,
  by: Pick<Delivering, "distributionCid"> & Partial<Delivering> & { readonly line: string }
) => {
  const { line, ...argument } = by
  return World.act(
    sessionOf("registrar"),
    Templates.exercise(Templates.DistributionLine, line, "Deliver", {
      credentialCid: null,
      configurationCid: null,
      evidence: null,
      ...argument
    })
  )
}

export const direct = (
  { sessionOf }: Dealing.Floor,
  line: string,
  to: Templates.Argument<typeof Templates.DistributionLine, "Direct">
) =>
  World.make(
    sessionOf("venue"),
    "DistributionLine",
    Templates.exercise(Templates.DistributionLine, line, "Direct", to)
  )

/** Executes a month with these lines, seals and opens it. */
export const openMonth = (
  floor: Dealing.Floor,
  lines: ReadonlyArray<Line>,
  other: Partial<Terms> = {}
) =>
  Effect.gen(function* () {
    const executed = yield* execute(floor, other)
    const added =
      lines.length === 0 ? executed : yield* addLines(floor, distributionOf(executed), lines)
    const sealed = yield* seal(floor, distributionOf(added), lines)
    const opened = yield* turn(floor, distributionOf(sealed), "Open")
    return {
      slot: World.created(executed, "DistributionSlot").at(-1) ?? "",
      distribution: distributionOf(opened),
      lineCids: World.created(added, "DistributionLine")
    }
  })

/** Alice and Bob have a line each in a month that is open and payable. */
export const scene = (
  other: Partial<Terms> = {},
  figures: Partial<Line> = {}
): Effect.Effect<Scene, unknown, SimulatedLedger.Participant> =>
  Effect.gen(function* () {
    const floor = yield* Dealing.floor
    const lines = [lineOf(floor, 1, "alice", figures), lineOf(floor, 2, "bob", figures)]
    const { slot, distribution, lineCids } = yield* openMonth(floor, lines, other)
    const [alice = "", bob = ""] = lineCids
    yield* setTime(payableFrom)
    return { floor, slot, distribution, lines, alice, bob }
  })

export interface Scene {
  readonly floor: Dealing.Floor
  readonly slot: string
  readonly distribution: string
  readonly lines: ReadonlyArray<Line>
  /** Contracts of the lines of Alice and of Bob. */
  readonly alice: string
  readonly bob: string
}
