/**
 * Write that executes a month's distribution: four eyes on its figures, then the ledger's Execute,
 * the lines in batches, and the Seal (docs/domain/distributions.md#execution).
 */
import { Effect, Option, Schema } from "effect"
import { assetOf, InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { judge } from "../../kernel/Gates.ts"
import * as Month from "../../kernel/Month.ts"
import { type Refused, type Unavailable, refused } from "../../kernel/Refusal.ts"
import { latestMarket } from "../../orders/primary-market/PrimaryMarketLookups.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as Templates from "../../templates/Distribution.ts"
import * as Field from "../../templates/Field.ts"
import { createAndExercise, exercise } from "../../templates/Template.ts"
import * as Amount from "../../kernel/Amount.ts"
import type { DerivedFigures, Figure, Figures } from "../../writes/Figures.ts"
import * as Operation from "../../writes/Operation.ts"
import { count, nothing, phrase, type Phrase, sentence } from "../../writes/Summary.ts"
import { operations as operationRecords } from "../../writes/OperationRecord.ts"
import { isRefused } from "../period/RateChangeRules.ts"
import { type Distribution, distributions, DistributionMachine } from "./Distribution.ts"
import { distributionContracts } from "./DistributionContract.ts"
import { slotOf } from "./DistributionLookups.ts"
import {
  type DistributionPlan,
  distributionPlans,
  type PlanMembers,
  sourceOfPlan
} from "./DistributionPlan.ts"
import { DistributionId, idLengthMax } from "./DistributionTerms.ts"
import * as DistributionView from "./DistributionView.ts"
import { executionLocks } from "./ExecutionLock.ts"
import * as Gates from "./ExecutionGates.ts"
import { type ComputedPeriod, type Execution, executionOf, pointsOf } from "./ExecutionLookups.ts"
import * as LineCauseLookups from "./LineCauseLookups.ts"
import * as LineFigureLookups from "./LineFigureLookups.ts"
import * as LineLookups from "./LineLookups.ts"
import * as Totals from "./TotalsRules.ts"

const Body = Schema.Struct({
  instrumentId: InstrumentId,
  month: Month.schema,
  /** Id of the distribution; `<instrumentId>.<month>` when the caller names none. */
  distributionId: Field.optional(DistributionId.check(Schema.isMaxLength(idLengthMax))),
  /** The latest rate of points whose rates differ, where the caller accepts it. */
  acknowledgedRate: Field.optional(Amount.rate)
})
type Body = typeof Body.Type

export const execute = Operation.defineOnLedger("distribution.execute", {
  doc: "Executes the distribution of an instrument's month: a line for each payee, on the ledger.",
  summary: ({ instrumentId, month }, { figures }) =>
    sentence`Executes the distribution of instrument ${instrumentId} for ${month}${executedFigures(figures)}.`,
  route: "POST /v1/distributions",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "distribution",
    id: (input) => idOf(input),
    href: (input) => `/v1/distributions/${idOf(input)}`,
    instrumentId: ({ instrumentId }) => instrumentId
  },
  input: Body,
  complete: (input, makeId) => ({ ...input, distributionId: idOf(input, makeId) }),
  result: DistributionView.DistributionView,
  refuses: ["already-exists", "not-found", "state-conflict", "rule-refused"],
  isLong: true,
  gates: Effect.fn("distribution.execute.gates")(function* (input, act) {
    const state = yield* stateOf(input, act)
    if (state.of === "underway") return []
    return Gates.against((yield* executionBy(input, act)).judging)
  }),
  figures: Effect.fn("distribution.execute.figures")(function* (input, act) {
    const state = yield* stateOf(input, act)
    if (state.of === "underway") return figuresOf(state.plan)
    const plan = yield* plannedBy(input, act)
    const { ledgerEnd } = yield* executionBy(input, act)
    return { ...figuresOf(plan), ...(ledgerEnd === null ? {} : { ledgerEnd }) }
  }),
  plan: Effect.fn("distribution.execute.plan")(function* (input, act) {
    const state = yield* stateOf(input, act)
    yield* take(input, act)
    return state.of === "underway" ? yield* nextStep(state, act) : yield* firstStep(input, act)
  }),
  finish: Effect.fn("distribution.execute.finish")(function* (input) {
    const records = yield* Records
    const distributionId = idOf(input)
    const found = Option.getOrNull(yield* records.find(distributions, distributionId))
    if (found === null) {
      return yield* Effect.die(new Error("a distribution that was sealed has no record"))
    }
    const counts = yield* LineLookups.countsOf([distributionId], null)
    return DistributionView.ofRole(found, counts.get(distributionId)!, "operator")
  })
})

/**
 * Id of a distribution: the one that the caller named, else instrument and month, so that a later
 * call for the same month names the same distribution. Where that would be too long, an id is
 * generated.
 */
const idOf = (input: Body, makeId: () => string = prechecked): DistributionId => {
  const { distributionId, instrumentId, month } = input
  if (distributionId !== null) return distributionId
  const own = `${instrumentId}.${month}`
  return decodeId(own.length <= idLengthMax ? own : makeId())
}

const decodeId = Schema.decodeSync(DistributionId)

/** Placeholder id in a precheck, which makes no distribution and shows no id. */
const prechecked = (): string => "precheck"

// ---- state of the month

/** State of a month that is not sealed: not executed, or executed with lines still to add. */
type State =
  | { readonly of: "new" }
  | {
      readonly of: "underway"
      readonly plan: DistributionPlan
      readonly contract: { readonly cid: string; readonly lineCount: number }
    }

const conflict = (detail: string, recovery?: string) =>
  Effect.fail(
    refused("state-conflict", {
      check: DistributionMachine.name,
      detail,
      ...(recovery === undefined ? {} : { recovery })
    })
  )

/**
 * Loads the progress of the month's execution. Refuses `state-conflict` where it is executed, or
 * another operation is at work on the instrument, and `already-exists` for the id of another month.
 */
const stateOf = Effect.fnUntraced(function* (
  input: Body,
  act: OperationAct
): Effect.fn.Return<State, Refused<"already-exists" | "state-conflict"> | Unavailable, Records> {
  const records = yield* Records
  const { instrumentId, month } = input
  const named = Option.getOrNull(yield* records.find(distributions, idOf(input)))
  const [listed] = yield* records.list(distributions, {
    where: { instrumentId: [instrumentId], month: [month] },
    limit: 1
  })
  const isSame = named?.instrumentId === instrumentId && named.month === month
  const existing = isSame ? named : (listed?.record ?? null)
  if (existing !== null && existing.sealedAt !== null) {
    return yield* conflict(`The distribution ${existing.distributionId} of ${month} is executed.`)
  }
  const lock = Option.getOrNull(yield* records.find(executionLocks, instrumentId))
  if (lock !== null && (yield* isAtWork(lock.operationId, act))) {
    return yield* conflict(`The distribution ${lock.distributionId} is being executed.`)
  }
  if (existing === null) {
    if (named === null) return { of: "new" }
    return yield* Effect.fail(
      refused("already-exists", { detail: "A distribution of this id exists." })
    )
  }
  if (!isSame) {
    return yield* conflict(
      `The execution of ${month} has not added all lines.`,
      `Name distributionId ${existing.distributionId} to go on with it.`
    )
  }
  return yield* underway(existing)
})

/** Checks whether another operation is queued or running. */
const isAtWork = Effect.fnUntraced(function* (operationId: string, act: OperationAct) {
  if (operationId === act.operationId) return false
  const records = yield* Records
  const found = Option.getOrNull(yield* records.find(operationRecords, operationId))
  return found !== null && (found.state === "queued" || found.state === "running")
})

const underway = Effect.fnUntraced(function* ({
  distributionId,
  executedBy: { operationId }
}: Stored<Distribution>) {
  const records = yield* Records
  const plan =
    operationId === null
      ? null
      : Option.getOrNull(yield* records.find(distributionPlans, operationId))
  if (plan === null) {
    return yield* conflict(
      `The execution of ${distributionId} was planned before the history of this projection.`
    )
  }
  const contract = Option.getOrNull(yield* records.find(distributionContracts, distributionId))
  if (contract === null) {
    return yield* Effect.die(new Error(`the distribution ${distributionId} has no contract`))
  }
  return { of: "underway" as const, plan, contract }
})

/**
 * Takes the lock of the instrument in the transaction that plans a step, so that two operations can
 * neither begin its months nor add the same lines before the ledger has answered.
 */
const take = Effect.fnUntraced(function* (input: Body, act: OperationAct) {
  const records = yield* Records
  const { instrumentId } = input
  const { operationId } = act
  const lock = Option.getOrNull(yield* records.find(executionLocks, instrumentId))
  const distributionId = idOf(input)
  if (lock === null) {
    yield* records
      .open(executionLocks, { instrumentId, distributionId, operationId }, act)
      .pipe(Effect.catchTag("Refused", (refusal) => Effect.die(new Error(refusal.slug))))
  } else if (lock.operationId !== operationId) {
    yield* records.append(executionLocks, lock, { on: "take", distributionId, operationId }, act)
  }
})

// ---- figures

/**
 * Memo of executions by act, so that plan, gates and figures of one judgement compute the lines
 * once. Each attempt of a transaction makes a new act, and plan, gates and figures only read.
 */
const executions = new WeakMap<OperationAct, Execution>()

const executionBy = Effect.fnUntraced(function* (input: Body, act: OperationAct) {
  const memo = executions.get(act)
  if (memo !== undefined) return memo
  const execution = yield* executionOf(input, act)
  executions.set(act, execution)
  return execution
})

/** Judges the execution, and returns its plan. Refuses `rule-refused` by the first condition that does not hold. */
const plannedBy = Effect.fnUntraced(function* (input: Body, act: OperationAct) {
  const { computed, instrument, judging } = yield* executionBy(input, act)
  yield* Effect.fromResult(judge(Gates.against(judging)))
  if (computed === null) throw new Error("an execution that passes its gates has figures")
  return planOf(input, { computed, judging, instrument })
})

/** Figures of an execution that its summary names; before there are any, none. */
const executedFigures = ({ lines, net }: Figures): Phrase =>
  lines === undefined || net === undefined
    ? nothing
    : phrase`: ${net} net in ${count(Number(lines), "line")}`

/** Figures that the approvers sign; the tolerance is zero. */
const figuresOf = (plan: PlanMembers): DerivedFigures => {
  const { totals } = plan
  const figures: Readonly<Record<string, Figure | null>> = {
    month: plan.month,
    recordDate: plan.recordDate,
    fromPoint: plan.fromPoint,
    toPoint: plan.toPoint,
    points: Decimal.fromInteger(plan.pointCids.length),
    rate: plan.withholding,
    payout: plan.payout,
    payoutPrice: plan.payoutPrice,
    lines: Decimal.fromInteger(totals.holders),
    unrolled: Decimal.fromInteger(plan.unrolled),
    entitlement: totals.entitlement,
    gross: totals.gross,
    equalisation: totals.equalisation,
    withheld: totals.withheld,
    net: totals.net,
    payoutUnits: totals.payoutUnits,
    carried: totals.carried,
    residual: totals.residual,
    linesHash: plan.linesHash,
    policyVersion: String(plan.policyVersion)
  }
  return {
    figures: Object.fromEntries(
      Object.entries(figures).flatMap(([name, figure]) => (figure === null ? [] : [[name, figure]]))
    ),
    tolerance: Decimal.zero
  }
}

interface PlanInputs extends Pick<Execution, "instrument" | "judging"> {
  readonly computed: ComputedPeriod
}

const planOf = (input: Body, { computed, judging, instrument }: PlanInputs): PlanMembers => {
  const { figures, fromPrice, payoutPrice, period, source, toPrice } = computed
  const { totals } = figures
  const { currency, distribution, unitDecimals, valuation } = period.terms.manifest
  const { instrumentId, registrar } = instrument
  const rates = judging.ratesSeen.at(-1) ?? distribution.withholding
  return {
    distributionId: idOf(input),
    instrumentId,
    month: period.month,
    recordDate: period.recordDate,
    recordEndsAt: period.recordEndsAt,
    recordOffset: source.recordOffset,
    exDate: period.exDate,
    paymentDate: period.paymentDate,
    zone: period.zone,
    policyVersion: period.terms.policyVersion,
    valuation,
    fromPoint: period.fromPoint?.contractId ?? null,
    toPoint: period.toPoint.contractId,
    pointCids: pointsOf(period, source),
    withholding: valuation === "rebasing" ? Decimal.zero : rates,
    ratesSeen: judging.ratesSeen,
    acknowledgedRate: input.acknowledgedRate,
    rateChange: isRefused(judging.rateChange) ? "refuse" : "alert",
    payoutAsset:
      distribution.payout === "units" ? assetOf(instrument) : { admin: registrar, id: currency },
    payout: distribution.payout,
    payoutPrice,
    payoutDecimals: distribution.payoutDecimals,
    linesHash: figures.linesHash,
    totals: {
      holders: totals.holders,
      entitlement: totals.entitlement,
      gross: totals.gross,
      equalisation: totals.equalisation,
      withheld: totals.withheld,
      net: totals.net,
      payoutUnits: payoutPrice === null ? null : (totals.payoutUnits ?? Decimal.zero),
      residual: Totals.residualOf(totals),
      carried: totals.carryOut,
      suspended: Decimal.zero
    },
    executedOffset: source.executedOffset,
    payableFrom: period.payableFrom,
    registrar,
    currency,
    unitDecimals,
    unrolled: figures.unrolled,
    standingApprovalId: judging.scheduled?.approval?.standingApprovalId ?? null,
    executedAt: source.executedAt,
    fromPrice,
    toPrice,
    points: source.points,
    previous: source.previous,
    unrolledIn: source.unrolledIn,
    partyOffsets: source.partyOffsets,
    carryIn: totals.carryIn,
    steps: figures.steps
  }
}

// ---- steps

/** Plans the ledger's Execute, and keeps the plan that later steps compute their lines from. */
const firstStep = Effect.fnUntraced(function* (input: Body, act: OperationAct) {
  const planned = yield* plannedBy(input, act)
  const records = yield* Records
  const { operationId } = act
  const before = Option.getOrNull(yield* records.find(distributionPlans, operationId))
  if (before === null) {
    yield* records
      .open(distributionPlans, { operationId, ...planned }, act)
      .pipe(Effect.catchTag("Refused", (refusal) => Effect.die(new Error(refusal.slug))))
  } else {
    yield* records.append(distributionPlans, before, { on: "set", planned }, act)
  }
  const slot = yield* slotOf(planned.instrumentId, null)
  const market = yield* latestMarket(planned.instrumentId)
  const argument = {
    distributionId: planned.distributionId,
    fund: market?.state === "agreed" ? market.fund : null,
    month: planned.month,
    recordDate: planned.recordDate,
    payableFrom: planned.payableFrom,
    pointCids: planned.pointCids,
    rate: planned.withholding,
    payout: planned.valuation === "rebasing" ? ("none" as const) : payoutOf(planned),
    payoutPrice: planned.payoutPrice,
    linesHash: planned.linesHash
  }
  const command =
    slot === null
      ? createAndExercise(
          Templates.DistributionSlot,
          {
            venue: act.venue,
            instrument: { admin: planned.registrar, id: planned.instrumentId },
            lastMonth: null
          },
          "Execute",
          argument
        )
      : exercise(Templates.DistributionSlot, slot.slotCid, "Execute", argument)
  return { commands: [command] as const, last: false }
})

const payoutOf = ({ payout }: PlanMembers): "units" | "cash" => {
  if (payout === "units" || payout === "cash") return payout
  throw new Error(`a distribution is paid in units or in cash, not in ${payout}`)
}

type UnderwayExecution = Extract<State, { readonly of: "underway" }>

/** Plans the lines that the ledger does not have yet, or the Seal once it has all. */
const nextStep = Effect.fnUntraced(function* (
  { contract, plan }: UnderwayExecution,
  { now }: OperationAct
) {
  let lines = 0
  for (const step of plan.steps) {
    if (lines === contract.lineCount) return yield* linesStep({ contract, plan, step, now })
    lines += step.lines
  }
  const { totals } = plan
  if (contract.lineCount !== totals.holders) {
    throw new Error(`${plan.distributionId} has ${contract.lineCount} lines, which end no step`)
  }
  const seal = exercise(Templates.Distribution, contract.cid, "Seal", {
    lineCount: totals.holders,
    totals: {
      entitlement: totals.entitlement,
      carryIn: plan.carryIn,
      gross: totals.gross,
      equalisation: totals.equalisation,
      withheld: totals.withheld,
      net: totals.net,
      carryOut: totals.carried,
      payoutUnits: totals.payoutUnits ?? Decimal.zero
    }
  })
  return { commands: [seal] as const, last: true }
})

const linesStep = Effect.fnUntraced(function* ({
  contract,
  plan,
  step,
  now
}: Pick<UnderwayExecution, "contract" | "plan"> & {
  readonly step: DistributionPlan["steps"][number]
  readonly now: OperationAct["now"]
}) {
  const lines = yield* LineFigureLookups.linesOf(sourceOfPlan(plan), step)
  const { instrumentId, payout } = plan
  const owed = lines.map(({ payee: { party } }) => ({ party, instrumentId, payout }))
  const judged = yield* LineCauseLookups.judgeAll(owed, now)
  const command = exercise(Templates.Distribution, contract.cid, "AddLines", {
    expectedCount: contract.lineCount,
    lines: lines.map((line, index) => ({
      ...distributed(line),
      // A carried line has no contract and so cannot wait.
      waits: line.figures.carried === null && (judged[index]?.causes ?? []).length > 0,
      number: contract.lineCount + index + 1
    }))
  })
  return { commands: [command] as const, last: false }
})

type UnnumberedLine = Omit<Templates.DistributedLine, "number" | "waits">

const distributed = ({ figures, payee }: LineFigureLookups.PayeeLine): UnnumberedLine => ({
  holder: payee.party,
  custodian: payee.custodian,
  units: figures.units,
  entitlement: figures.entitlement,
  carryIn: figures.carryIn,
  carriedFrom: payee.carriedFrom,
  gross: figures.gross,
  equalisation: figures.equalisation,
  rate: figures.rate,
  rateSource: payee.rateSource,
  withheld: figures.withheld,
  net: figures.net,
  carryOut: figures.carryOut,
  payoutUnits: figures.payoutUnits,
  carried: figures.carried
})

export const operations = [execute] as const
