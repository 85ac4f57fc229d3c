/** Facts from the ledger about a distribution: executed, its lines added, sealed, opened and closed. */
import { Effect, Option, Result, Schema, Stream } from "effect"
import { itemOf as runItemOf } from "../../findings/RunQueue.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Month from "../../kernel/Month.ts"
import { shownBy } from "../../projection/ActiveContracts.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, FromLedger } from "../../projection/FromLedger.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import type { Act } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  Distribution as DistributionTemplate,
  DistributionSlot as SlotTemplate,
  type DistributionTotals
} from "../../templates/Distribution.ts"
import { decodePayload } from "../../templates/Template.ts"
import { countUse } from "../standing-approval/StandingApprovalSteps.ts"
import {
  type Distribution,
  distributions,
  shownDistributions,
  DistributionMachine,
  type Fact
} from "./Distribution.ts"
import {
  type DistributionContract,
  type Fact as ContractFact,
  distributionContracts
} from "./DistributionContract.ts"
import { type DistributionSlot, distributionSlots } from "./DistributionSlot.ts"
import type { DistributionId, Totals } from "./DistributionTerms.ts"
import { type ExecutedTerms, opening } from "./ExecutedTermsLookups.ts"
import { addLines, netSuspended } from "./LineFromLedger.ts"
import { awaitingTerms } from "../../instruments/instrument/AwaitingTermsSteps.ts"
import { openShown } from "./SnapshotSteps.ts"

/** Records a fact on the projection of a distribution for investors and apps. Only inside `transact`. */
const recordShown = Effect.fnUntraced(function* (
  { distributionId }: Pick<Distribution, "distributionId">,
  fact: Fact,
  act: Act
) {
  const records = yield* Records
  const shown = Option.getOrNull(yield* records.find(shownDistributions, distributionId))
  if (shown === null) throw new Error(`the distribution ${distributionId} is shown to nobody`)
  yield* records.append(shownDistributions, shown, fact, act)
})

const executed = LedgerRecord.transitionsOf({
  collection: distributions,
  machine: DistributionMachine,
  resourceKind: "distribution"
})

const slotMoves = TypedFromLedger.of(SlotTemplate, {
  // An update has the month in the choice that made the contract.
  created: Effect.fn("DistributionSlot.created")(function* (payload, node) {
    if (!Snapshot.isOf(node)) return
    const instrumentId = Schema.decodeUnknownOption(InstrumentId)(payload.instrument.id)
    if (Option.isNone(instrumentId)) return
    const { lastMonth } = payload
    yield* openSlot(
      {
        instrumentId: instrumentId.value,
        slotCid: node.contractId,
        lastMonth: lastMonth === null ? null : Month.of(lastMonth)
      },
      node
    )
  }),
  exercised: {
    Execute: Effect.fn("DistributionSlot.Execute")(function* ({ payload, argument, result }, node) {
      const { instrument } = payload
      const { fund } = argument
      const terms = { ...argument, instrument, registrar: instrument.admin, fund }
      const record = yield* open(terms, result.distribution, node)
      if (record === null) return
      yield* moveSlot(record, result.slot, node)
      yield* usesApproval(record, node)
    })
  }
})

const slot: FromLedger = {
  ...slotMoves,
  whole: Effect.fn("DistributionSlot.whole")(function* ({ act, events, from }) {
    if (from === "update") return
    const shownOf = shownBy(events)
    const slots = yield* Stream.runCollect(shownOf(SlotTemplate))
    const instrumentIds = slots.flatMap(({ payload }) =>
      Result.match(decodePayload(SlotTemplate, payload), {
        onFailure: () => [],
        onSuccess: ({ instrument }) => [instrument.id]
      })
    )
    for (const instrumentId of new Set(instrumentIds)) {
      yield* openShown(instrumentId, shownOf, act)
    }
  })
}

const distribution = TypedFromLedger.of(DistributionTemplate, {
  exercised: {
    AddLines: ({ payload, argument, result }, node) =>
      executed.withRecord(payload.distributionId, node, "add", (self) =>
        Effect.gen(function* () {
          yield* addLines(self, { lines: argument.lines, contracts: result.lines }, node)
          const lineCount = argument.expectedCount + argument.lines.length
          yield* index(self, node, { on: "add", cid: result.distribution, lineCount })
        })
      ),
    Seal: ({ payload, argument, result }, node) =>
      executed.withRecord(payload.distributionId, node, "seal", (self) =>
        Effect.gen(function* () {
          yield* index(self, node, { on: "seal", cid: result.contractId })
          const suspended = yield* netSuspended(self.distributionId)
          const totals = sealedTotals(self, argument.totals, {
            holders: argument.lineCount,
            suspended
          })
          const fact = { on: "seal", at: node.effectiveAt, totals } as const
          yield* executed.record(self, node, fact)
          yield* recordShown(self, fact, node.act)
          yield* askForRun(self)
        })
      ),
    Open: ({ payload, result }, node) =>
      executed.withRecord(payload.distributionId, node, "open", (self) =>
        index(self, node, { on: "open", cid: result.contractId })
      ),
    Close: ({ payload, result }, node) =>
      executed.withRecord(payload.distributionId, node, "close", (self) =>
        index(self, node, { on: "close", cid: result.contractId })
      )
  }
})

/** Queues the reconciliation run that clears or holds a sealed distribution. */
const askForRun = ({ distributionId, instrumentId }: Distribution) =>
  Effect.flatMap(Records, (records) =>
    records.enqueue([runItemOf({ trigger: "schedule", instrumentId, causedBy: distributionId })])
  )

export const fromLedger = [slot, awaitingTerms(distribution)] as const

/**
 * Opens a distribution and the index of its contract; null where the contract is recorded as a
 * breach, because a distribution of its id exists, or its instrument is not recorded here.
 */
const open = Effect.fnUntraced(function* (terms: ExecutedTerms, cid: string, node: Node) {
  const records = yield* Records
  const isTaken = Option.isSome(yield* records.find(distributions, terms.distributionId))
  const record = isTaken ? null : yield* opening(terms, node)
  if (record === null) {
    yield* executed.keepBreach(node, terms.distributionId, {
      on: "open",
      detail: isTaken
        ? "A distribution of this id exists."
        : "Its instrument is not recorded, it has no point, or its id is not valid."
    })
    return null
  }
  const { distributionId } = record
  yield* LedgerRecord.open(
    distributionContracts,
    { distributionId, cid, lineCount: 0, isSealed: false, isOpen: false },
    node
  )
  yield* LedgerRecord.open(shownDistributions, record, node)
  return yield* LedgerRecord.open(distributions, record, node)
})

/**
 * Counts the use of the standing approval that an execution came under; executions by people use
 * none.
 */
const usesApproval = (self: Stored<Distribution>, node: Node) => {
  const { distributionId, totals, executedBy } = self
  const { standingApprovalId } = executedBy
  return standingApprovalId === null
    ? Effect.void
    : countUse(
        { standingApprovalId, distributionId, net: totals.net, at: node.effectiveAt },
        node.act
      )
}

/** Records the month that an instrument executed last, and the contract of its slot. */
const moveSlot = Effect.fnUntraced(function* (
  { instrumentId, distributionId, month }: Distribution,
  slotCid: string,
  node: Node
) {
  const records = yield* Records
  const before = Option.getOrNull(yield* records.find(distributionSlots, instrumentId))
  const last = { slotCid, lastMonth: Month.of(month), distributionId }
  if (before === null) yield* LedgerRecord.open(distributionSlots, { instrumentId, ...last }, node)
  else yield* records.append(distributionSlots, before, { on: "execute", ...last }, node.act)
})

/**
 * Opens the slot that a snapshot shows; of several of an instrument the one of the latest month, so that
 * no month is executed twice.
 */
const openSlot = Effect.fnUntraced(function* (
  shownSlot: Pick<DistributionSlot, "instrumentId" | "slotCid" | "lastMonth">,
  node: Node
) {
  const records = yield* Records
  const { instrumentId, slotCid, lastMonth } = shownSlot
  const before = Option.getOrNull(yield* records.find(distributionSlots, instrumentId))
  if (before === null) {
    yield* LedgerRecord.open(distributionSlots, { ...shownSlot, distributionId: null }, node)
    return
  }
  yield* executed.keepBreach(node, instrumentId, {
    on: "open",
    detail: "The instrument has another distribution slot."
  })
  if (lastMonth === null) return
  if (before.lastMonth !== null && !Month.isAfter(lastMonth, before.lastMonth)) return
  const fact = { on: "execute", slotCid, lastMonth, distributionId: null } as const
  yield* records.append(distributionSlots, before, fact, node.act)
})

const index = Effect.fnUntraced(function* (
  { distributionId }: { readonly distributionId: DistributionId },
  node: Node,
  fact: ContractFact
) {
  const records = yield* Records
  const before = Option.getOrNull(yield* records.find(distributionContracts, distributionId))
  if (before === null) throw new Error(`the distribution ${distributionId} has no contract`)
  yield* records.append<DistributionContract, ContractFact>(
    distributionContracts,
    before,
    fact,
    node.act
  )
})

/** Totals as the ledger sealed them; the residual, which is not on the ledger, is the plan's. */
const sealedTotals = (
  { totals, payoutPrice }: Stored<Distribution>,
  sealed: DistributionTotals,
  counts: Pick<Totals, "holders" | "suspended">
): Totals => ({
  ...counts,
  entitlement: sealed.entitlement,
  gross: sealed.gross,
  equalisation: sealed.equalisation,
  withheld: sealed.withheld,
  net: sealed.net,
  payoutUnits: payoutPrice === null ? null : sealed.payoutUnits,
  residual: totals.residual ?? Decimal.zero,
  carried: sealed.carryOut
})
