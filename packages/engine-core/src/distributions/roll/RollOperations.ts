/** Write that rolls the delivered lines of a distribution, so that their holders may be paid again. */
import { Effect } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { refused } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import { DeliveredLine as DeliveredTemplate } from "../../templates/Distribution.ts"
import { exercise } from "../../templates/Template.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, sentence } from "../../writes/Summary.ts"
import { distributions } from "../distribution/Distribution.ts"
import { DistributionRoll } from "./DistributionRoll.ts"
import { setTimers } from "../distribution/DistributionTimerSteps.ts"
import { linesIn } from "../distribution/LineLookups.ts"
import { leaveOut, leftOutOf, refusalOf } from "../distribution/LineRefusalSteps.ts"
import * as LineWrite from "../distribution/LineWrite.ts"
import { notePlanned, resource, touchedBy } from "../distribution/LineWriteSteps.ts"

const write = "roll"

/**
 * Rolls the lines that are delivered, `ledger.batchLines` in one ledger transaction
 * (docs/domain/distributions.md#roll). Refuses `state-conflict` where a person rolls and none is
 * delivered.
 */
export const roll = Operation.defineOnLedger("distribution.roll", {
  doc: "Rolls the delivered lines of a distribution: their holders may be paid by the next one.",
  summary: (_, subject) =>
    sentence`Rolls the delivered lines of distribution ${subject.resource.id}${concerning({ instrumentId: subject.instrumentId })}.`,
  route: "POST /v1/distributions/{distributionId}:roll",
  makers: ["operator"],
  approvers: 0,
  ...LineWrite.commonMembers,
  resource,
  // Until another line of the distribution is delivered.
  lasts: ({ distributionId }) =>
    Effect.map(linesIn({ distributionId, state: "delivered" }, 1), (lines) => lines.length === 0),
  plan: Effect.fn("distribution.roll.plan")(function* (
    { distributionId },
    act,
    step,
    itemsMax = Number.POSITIVE_INFINITY
  ) {
    const records = yield* Records
    const { batchLines } = yield* Settings
    yield* records.get(distributions, distributionId)
    const leftOut = yield* leftOutOf({ distributionId, write }, act)
    const max = Math.min(batchLines, itemsMax)
    const limit = max + 1 + leftOut.lineIds.size
    const found = (yield* linesIn({ distributionId, state: "delivered" }, limit)).filter(
      ({ lineId }) => !leftOut.lineIds.has(lineId)
    )
    const lines = found.slice(0, max)
    const commands = lines.map(({ lineCid, lineId }) => {
      if (lineCid === null) throw new Error(`${lineId} is delivered and has no contract`)
      return exercise(DeliveredTemplate, lineCid, "Roll", {})
    })
    const [first, ...others] = commands
    if (first === undefined) {
      yield* notePlanned({ step, lines: 0 }, act)
      // Another roll may have rolled the lines first: the engine's own roll, or a later step, then
      // ends. So does one that the ledger refused every line.
      if (act.role === null || step > 1 || leftOut.isOwn) return null
      return yield* Effect.fail(
        refused("state-conflict", {
          check: DistributionRoll.name,
          detail: "No line of the distribution is delivered and not rolled."
        })
      )
    }
    yield* notePlanned({ step, lines: commands.length }, act)
    return {
      commands: [first, ...others],
      items: lines.map(({ lineId }) => lineId),
      last: found.length <= max && !leftOut.isOwn
    }
  }),
  divide: {
    leaveOut: ({ distributionId }, refusedItem, act) =>
      Effect.as(leaveOut({ distributionId, write }, refusedItem, act), true),
    end: Effect.fn("distribution.roll.end")(function* ({ distributionId }, act) {
      const refusal = yield* refusalOf({ distributionId, write }, act)
      if (refusal !== null) yield* setTimers([distributionId], act, { ended: "roll" })
      return refusal
    })
  },
  finish: Effect.fn("distribution.roll.finish")(function* ({ distributionId }, act) {
    yield* setTimers([distributionId], act, { ended: "roll" })
    return yield* touchedBy(act, distributionId)
  })
})
