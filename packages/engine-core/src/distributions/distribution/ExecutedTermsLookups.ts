/**
 * Look-ups of the terms of a distribution that the ledger shows: from its execution's plan, or,
 * where the store has no such plan, from its contract and the instrument's policy.
 */
import { Effect, Option, Schema, Struct } from "effect"
import { instruments, isRecorded } from "../../instruments/instrument/Instrument.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Month from "../../kernel/Month.ts"
import * as Zone from "../../kernel/Zone.ts"
import type { Node } from "../../projection/FromLedger.ts"
import { Records } from "../../records/Records.ts"
import type { Distribution as Template } from "../../templates/Distribution.ts"
import type { Payload } from "../../templates/Template.ts"
import { endOfDay, exDateOf } from "../period/RecordDateRules.ts"
import { type Distribution, planned, DistributionMachine } from "./Distribution.ts"
import { type DistributionPlan, distributionPlans } from "./DistributionPlan.ts"
import { DistributionId, idLengthMax, type Totals } from "./DistributionTerms.ts"

/** Members of a distribution's contract that its lines do not change. */
export type ExecutedTerms = Omit<
  Payload<typeof Template>,
  "venue" | "lineCount" | "totals" | "sealed" | "open"
>

/** Node of an execution on the ledger: the operation that submitted it, its time and its offset. */
type ExecutionNode = Pick<Node, "operationId" | "effectiveAt" | "offset">

/** Returns the record of a distribution as it opens; null where its instrument or its id is not valid here. */
export const opening = Effect.fnUntraced(function* (executed: ExecutedTerms, node: ExecutionNode) {
  const distributionId = Schema.decodeUnknownOption(DistributionId)(executed.distributionId)
  if (Option.isNone(distributionId) || distributionId.value.length > idLengthMax) return null
  const plan = yield* planOf(executed, node)
  if (plan !== null) {
    const { operationId, standingApprovalId } = plan
    const executedBy = { operationId, standingApprovalId }
    return { ...Struct.pick(plan, planned), executedBy, ...opened(node) }
  }
  return yield* withoutPlan({ ...executed, distributionId: distributionId.value }, node)
})

const opened = ({ effectiveAt }: ExecutionNode) => ({
  state: DistributionMachine.initial,
  executedAt: effectiveAt,
  sealedAt: null,
  clearedByRun: null,
  holdId: null
})

/** Finds the plan of the operation that submitted the execution, if it is of this distribution. */
const planOf = Effect.fnUntraced(function* (
  executed: ExecutedTerms,
  { operationId }: ExecutionNode
) {
  if (operationId === null) return null
  const records = yield* Records
  const plan: DistributionPlan | null = Option.getOrNull(
    yield* records.find(distributionPlans, operationId)
  )
  return plan?.distributionId === executed.distributionId &&
    plan.month === executed.month &&
    plan.linesHash === executed.linesHash
    ? plan
    : null
})

const nothing: Totals = {
  holders: 0,
  entitlement: Decimal.zero,
  gross: Decimal.zero,
  equalisation: Decimal.zero,
  withheld: Decimal.zero,
  net: Decimal.zero,
  payoutUnits: null,
  residual: Decimal.zero,
  carried: Decimal.zero,
  suspended: Decimal.zero
}

/**
 * Opens a distribution of a store that lost its plan: pins are unknown, and the terms are those of the
 * policy in force at the end of the record date.
 */
const withoutPlan = Effect.fnUntraced(function* (
  executed: ExecutedTerms & Pick<Distribution, "distributionId">,
  node: ExecutionNode
) {
  const records = yield* Records
  const instrument = Option.getOrNull(yield* records.find(instruments, executed.instrument.id))
  const toPoint = executed.pointCids.at(-1)
  if (instrument === null || !isRecorded(instrument) || toPoint === undefined) return null
  const { instrumentId, registrar } = instrument
  const { distributionId, recordDate, payableFrom, pointCids, payoutPrice, linesHash } = executed
  const zone = instrument.manifest.businessZone ?? Zone.utc
  const recordEndsAt = endOfDay(zone, recordDate)
  const { policyVersion, manifest } = yield* inForce(instrument, recordEndsAt)
  const { valuation, currency, unitDecimals, distribution, cutOff, rateChange } = manifest
  const paysUnits = distribution.payout === "units"
  const terms: Omit<Distribution, keyof ReturnType<typeof opened> | "executedBy"> = {
    distributionId,
    instrumentId,
    month: Month.of(executed.month),
    recordDate,
    recordEndsAt,
    recordOffset: null,
    exDate: valuation === "par" ? null : exDateOf(recordDate, cutOff.days),
    paymentDate: Zone.dateAt(zone, payableFrom),
    zone,
    policyVersion,
    valuation,
    // The execution of such an instrument names the point from which the income is counted first.
    fromPoint: valuation === "par" ? null : (pointCids[0] ?? null),
    toPoint,
    pointCids,
    withholding: executed.rate,
    ratesSeen: [],
    acknowledgedRate: null,
    rateChange,
    payoutAsset: { admin: registrar, id: paysUnits ? instrumentId : currency },
    payout: distribution.payout,
    payoutPrice: paysUnits ? payoutPrice : null,
    payoutDecimals: distribution.payoutDecimals,
    linesHash,
    totals: nothing,
    executedOffset: node.offset,
    payableFrom,
    registrar,
    currency,
    unitDecimals,
    unrolled: 0
  }
  const executedBy = { operationId: node.operationId, standingApprovalId: null }
  return { ...terms, executedBy, ...opened(node) }
})
