/**
 * Write that instructs the registrar on the ledger which lines it may deliver, opened by the engine
 * alone (docs/domain/distributions.md#instructions-on-the-ledger).
 */
import { Effect, Option } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { type Refused, refused } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import * as Timely from "../../records/Timely.ts"
import {
  Distribution as DistributionTemplate,
  DistributionLine as LineTemplate
} from "../../templates/Distribution.ts"
import { type Command, exercise } from "../../templates/Template.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, sentence } from "../../writes/Summary.ts"
import { roll } from "../roll/RollOperations.ts"
import { distributions } from "./Distribution.ts"
import { distributionContracts } from "./DistributionContract.ts"
import {
  type DistributionLine,
  directionOf,
  distributionLines,
  isUndirected,
  waitsOnLedger
} from "./DistributionLine.ts"
import { distributionTimers } from "./DistributionTimer.ts"
import { setTimers } from "./DistributionTimerSteps.ts"
import { leaveOut, leftOutOf, refusalOf } from "./LineRefusalSteps.ts"
import * as LineWrite from "./LineWrite.ts"
import { notePlanned, resource, touchedBy } from "./LineWriteSteps.ts"

const write = "instruct"

/**
 * Closes a distribution that is held. For one that is cleared, directs the lines whose contracts
 * differ from the records in wait or payee, and opens the distribution after the last of them, so
 * that no line that waits can be delivered in between. Lines that the ledger refuses are left out, and
 * one of them that may be delivered although it must not keeps the distribution closed, and closes one
 * that is open. Sends no command where ledger and records agree, as after a hold that was released before this operation ran.
 */
const instruct = Operation.defineForEngine("distribution.instruct", {
  doc: "Tells the registrar on the ledger which lines of a distribution it may deliver, and to whom.",
  summary: (_, subject) =>
    sentence`Tells the registrar which lines of distribution ${subject.resource.id}${concerning({ instrumentId: subject.instrumentId })} it may deliver.`,
  ...LineWrite.commonMembers,
  resource,
  plan: Effect.fn("distribution.instruct.plan")(function* (
    { distributionId },
    act,
    step,
    itemsMax = Number.POSITIVE_INFINITY
  ) {
    const records = yield* Records
    const { batchLines } = yield* Settings
    yield* records.get(distributions, distributionId)
    const timer = Option.getOrNull(yield* records.find(distributionTimers, distributionId))
    const contract = Option.getOrNull(yield* records.find(distributionContracts, distributionId))
    if (timer === null || timer.instructAt === null || contract === null) return null
    const { cid, isOpen } = contract
    const leftOut = yield* leftOutOf({ distributionId, write }, act)
    const close = exercise(DistributionTemplate, cid, "Close", {})
    if (!timer.mayDeliver) {
      if (!isOpen) return null
      yield* notePlanned({ step, lines: 0 }, act)
      return { commands: [close], last: !leftOut.isOwn }
    }
    const max = Math.min(batchLines, itemsMax)
    const found = yield* records.list(distributionLines, {
      where: { undirected: [distributionId] },
      limit: max + 1 + leftOut.lineIds.size
    })
    const undirected = found.map(({ record }) => record)
    const sendable = undirected.filter(({ lineId }) => !leftOut.lineIds.has(lineId))
    const lines = sendable.slice(0, max)
    const isRest = sendable.length <= max
    const left = yield* records.many(distributionLines, [...leftOut.lineIds])
    const refusedLines = left.filter(isUndirected)
    const isSafe = refusedLines.every(waitsOnLedger)
    if (isOpen && !isSafe) {
      yield* notePlanned({ step, lines: 0 }, act)
      return { commands: [close], last: false }
    }
    const mayOpen = isRest && !isOpen && isSafe
    const isOpening = mayOpen && lines.length < itemsMax
    const opening = isOpening ? [exercise(DistributionTemplate, cid, "Open", {})] : []
    yield* notePlanned({ step, lines: lines.length }, act)
    const [first, ...others]: ReadonlyArray<Command> = [...lines.map(direct), ...opening]
    if (first === undefined) return null
    return {
      commands: [first, ...others],
      items: [...lines.map(({ lineId }) => lineId), ...(isOpening ? [distributionId] : [])],
      last: isRest && mayOpen === isOpening && !leftOut.isOwn
    }
  }),
  divide: {
    leaveOut: ({ distributionId }, refusedItem, act) =>
      // The opening of the distribution itself is no line.
      refusedItem.item === distributionId
        ? Effect.succeed(false)
        : Effect.as(leaveOut({ distributionId, write }, refusedItem, act), true),
    end: Effect.fn("distribution.instruct.end")(function* ({ distributionId }, act) {
      const refusal = yield* refusalOf({ distributionId, write }, act)
      if (refusal === null) return null
      yield* setTimers([distributionId], act, { ended: "instruct" })
      const records = yield* Records
      const timer = Option.getOrNull(yield* records.find(distributionTimers, distributionId))
      const contract = Option.getOrNull(yield* records.find(distributionContracts, distributionId))
      const isKeptClosed = timer?.mayDeliver === true && contract?.isOpen === false
      return isKeptClosed ? saidClosed(refusal) : refusal
    })
  },
  finish: Effect.fn("distribution.instruct.finish")(function* ({ distributionId }, act) {
    yield* setTimers([distributionId], act, { ended: "instruct" })
    return yield* touchedBy(act, distributionId)
  })
})

/** Says in the refusal of lines that nothing of the distribution can be delivered because of them. */
const saidClosed = ({ details }: Refused<"ledger-rejected">) =>
  refused("ledger-rejected", {
    ...details,
    detail: `${details.detail ?? ""} The distribution stays closed until the ledger directs what could be paid against its record.`
  })

const direct = (line: DistributionLine): Command => {
  const { lineCid, lineId } = line
  if (lineCid === null) throw new Error(`${lineId} is owed and has no contract`)
  return exercise(LineTemplate, lineCid, "Direct", directionOf(line))
}

/** Writes of a distribution that the engine opens by itself. */
export const timely = [
  Timely.define({
    name: "distribution.instruct",
    doc: "Tells the registrar on the ledger what the records of a distribution now say.",
    collection: distributionTimers,
    operation: instruct,
    at: ({ instructAt }) => instructAt ?? undefined,
    request: ({ distributionId }) => ({ distributionId })
  }),
  Timely.define({
    name: "distribution.roll",
    doc: "Rolls the delivered lines of a distribution an hour after the last due one was delivered.",
    collection: distributionTimers,
    operation: roll,
    at: ({ rollAt }) => rollAt ?? undefined,
    request: ({ distributionId }) => ({ distributionId })
  })
]
