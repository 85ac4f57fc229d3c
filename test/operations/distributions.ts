/** A month of fund-a as the ledger shows it: executed by the venue, delivered by the registrar. */
import { Records } from "@bursar/engine-core"
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Stream } from "effect"
import { distributions } from "#core/distributions/distribution/Distribution.ts"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import * as Calls from "../engine/calls.ts"
import { totalsOf } from "../simulated-ledger/distributions.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"

export type Line = Templates.DistributedLine
type Terms = Templates.Argument<typeof Templates.DistributionSlot, "Execute">

export const payableFrom = "2026-08-03T00:00:00Z"

/** The venue acts on the ledger as a step of this operation, and the engine reads what it did. */
export const venueActs = (
  commands: readonly [Ledger.Command, ...ReadonlyArray<Ledger.Command>],
  operationId = "op_test"
) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    const offset = yield* ledger.ledgerEnd
    const receipt = yield* ledger.submit({
      // Of where the ledger is: it names the update, which venues of one history name alike.
      commandId: `${operationId}:${offset}` as Ledger.CommandId,
      commands,
      dedup: { _tag: "Since", offset }
    })
    yield* Calls.settle
    return receipt
  }).pipe(Effect.orDie)

/** Line of 54.32 gross, of which 8.15 are withheld. */
export const lineOf = (
  number: number,
  holder: Templates.DistributedLine["holder"],
  other: Partial<Line> = {}
): Line => ({
  number: number,
  holder,
  custodian: null,
  units: Decimal.of("12345.678901"),
  entitlement: Decimal.of("54.3209871644"),
  carryIn: Decimal.zero,
  carriedFrom: null,
  gross: Decimal.of("54.32"),
  equalisation: Decimal.zero,
  rate: Decimal.of("0.15"),
  rateSource: "default",
  withheld: Decimal.of("8.15"),
  net: Decimal.of("46.17"),
  carryOut: Decimal.of("0.0009871644"),
  payoutUnits: null,
  carried: null,
  waits: false,
  ...other
})

export const carried = (number: number, holder: Line["holder"]): Line =>
  lineOf(number, holder, {
    gross: Decimal.zero,
    withheld: Decimal.zero,
    net: Decimal.zero,
    carryOut: Decimal.of("54.3209871644"),
    carried: "unrolled"
  })

export const termsOf = (
  stage: Fund.Parties,
  pointCid: string,
  other: Partial<Terms> = {}
): Terms => ({
  distributionId: "d-july",
  fund: stage.fund.party,
  month: "2026-07",
  recordDate: Date.of("2026-07-31"),
  payableFrom: Instant.of(payableFrom),
  pointCids: [pointCid],
  rate: Decimal.of("0.15"),
  payout: "cash",
  payoutPrice: null,
  linesHash: "cd".repeat(32),
  ...other
})

/** Current contract of a distribution. */
export const contractOf = (distributionId: string) =>
  Effect.map(Cycles.active(Templates.Distribution), (found) => {
    const contract = found.find(({ payload }) => payload.distributionId === distributionId)
    if (contract === undefined) throw new Error(`no contract of ${distributionId}`)
    return contract.cid
  })

export const executes = (stage: Fund.Parties, terms: Terms, operationId?: string) =>
  venueActs(
    [
      Templates.createAndExercise(
        Templates.DistributionSlot,
        { venue: stage.venue, instrument: stage.asset, lastMonth: null },
        "Execute",
        terms
      )
    ],
    operationId
  )

export const adds = (distributionId: string, lines: ReadonlyArray<Line>, expectedCount = 0) =>
  Effect.flatMap(contractOf(distributionId), (cid) =>
    venueActs([
      Templates.exercise(Templates.Distribution, cid, "AddLines", { expectedCount, lines })
    ])
  )

export const seals = (distributionId: string, lines: ReadonlyArray<Line>) =>
  Effect.flatMap(contractOf(distributionId), (cid) =>
    venueActs([
      Templates.exercise(Templates.Distribution, cid, "Seal", {
        lineCount: lines.length,
        totals: totalsOf(lines)
      })
    ])
  )

export const turns = (distributionId: string, choice: "Open" | "Close") =>
  Effect.flatMap(contractOf(distributionId), (cid) =>
    venueActs([Templates.exercise(Templates.Distribution, cid, choice, {})])
  )

export const lineContract = (lineId: string) =>
  Effect.map(Cycles.active(Templates.DistributionLine), (found) => {
    const contract = found.find(({ payload }) => payload.lineId === lineId)
    if (contract === undefined) throw new Error(`no contract of ${lineId}`)
    return contract.cid
  })

export const evidence = { reference: "wire 1", paidOn: Date.of("2026-08-03") }

/** The registrar delivers a line that was paid by wire, on the day that the evidence names. */
export const delivers = (
  stage: Fund.Parties,
  distributionId: string,
  lineId: string,
  paidOn = evidence.paidOn
) =>
  Effect.gen(function* () {
    const cid = yield* lineContract(lineId)
    yield* stage.registrar.act(
      Templates.exercise(Templates.DistributionLine, cid, "Deliver", {
        distributionCid: yield* contractOf(distributionId),
        credentialCid: null,
        configurationCid: null,
        evidence: { ...evidence, paidOn }
      })
    )
  })

/** The same, where the wire is of the present day. */
export const deliversToday = (stage: Fund.Parties, distributionId: string, lineId: string) =>
  Effect.flatMap(Instant.now, (now) => delivers(stage, distributionId, lineId, Instant.date(now)))

export const directs = (
  lineId: string,
  argument: Templates.Argument<typeof Templates.DistributionLine, "Direct">
) =>
  Effect.flatMap(lineContract(lineId), (cid) =>
    venueActs([Templates.exercise(Templates.DistributionLine, cid, "Direct", argument)])
  )

export const voids = (lineId: string) =>
  Effect.flatMap(lineContract(lineId), (cid) =>
    venueActs([
      Templates.exercise(Templates.DistributionLine, cid, "Void", { orderRef: "cd".repeat(32) })
    ])
  )

/** The venue rolls these delivered lines in one transaction. */
export const rolls = (lineIds: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const active = yield* Cycles.active(Templates.DeliveredLine)
    const [first, ...rest] = active
      .filter(({ payload }) => lineIds.includes(payload.lineId))
      .map(({ cid }) => Templates.exercise(Templates.DeliveredLine, cid, "Roll", {}))
    if (first === undefined) throw new Error("no delivered line")
    yield* venueActs([first, ...rest])
  })

export const distribution = (id = "d-july") =>
  Effect.flatMap(Records, (records) => records.get(distributions, id))

export const lines = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* Stream.runCollect(records.stream(distributionLines, {}))
  return found.map(({ record }) => record)
})

/** Each line as its number, its state and its reason. */
export const states = Effect.map(lines, (found) =>
  found.map(
    ({ number, state, reason }) => `${number} ${state}${reason === null ? "" : ` ${reason}`}`
  )
)

/** Terms of fund-a: monthly, with a payment on the record date. */
export const monthly = (payout: Terms["payout"]) => ({
  holderCap: 100,
  distribution: {
    schedule: "monthly",
    withholding: 0.15,
    payoutDecimals: 2,
    payout,
    calendar: { frequency: "monthly", recordDay: 31, paymentLagDays: 0 }
  }
})

/** Fund-a pays cash unless said otherwise, with an official price and these holders admitted. */
export const founded = (holderIds: ReadonlyArray<string>, payout: Terms["payout"] = "cash") =>
  Effect.gen(function* () {
    const stage = yield* Fund.opened(monthly(payout))
    const holders = []
    for (const holderId of holderIds) holders.push(yield* Cycles.joins(stage, holderId))
    yield* Fund.publishes(stage, "1.0481", "2026-07-31T10:00:00Z")
    const point = yield* Fund.newestContract(Templates.OraclePoint)
    return { stage, holders, point: point.cid }
  })

/** The registrar requires these attributes of holders from now on. */
export const requires = (stage: Fund.Parties, names: ReadonlyArray<string> = ["kyc"]) =>
  Effect.gen(function* () {
    const { cid } = yield* Fund.newestContract(Templates.InstrumentConfiguration)
    yield* stage.registrar.act(
      Templates.exercise(Templates.InstrumentConfiguration, cid, "Update", {
        defaultIdentifier: { source: "venue", id: "fund-a", scheme: "internal" },
        additionalIdentifiers: [],
        holderRequirements: names.map((property) => ({
          issuer: stage.venue,
          property,
          value: ""
        })),
        issuerRequirements: []
      })
    )
  })

/** The month of these lines, executed, sealed and so cleared by a run, and open to the registrar. */
export const opened = (
  stage: Fund.Parties,
  point: string,
  lines: ReadonlyArray<Line>,
  other: Partial<Terms> = {}
) =>
  Effect.gen(function* () {
    yield* Cycles.at("2026-08-03T09:00:00Z")
    yield* executes(stage, termsOf(stage, point, other))
    yield* adds("d-july", lines)
    yield* seals("d-july", lines)
    yield* turns("d-july", "Open")
  })
