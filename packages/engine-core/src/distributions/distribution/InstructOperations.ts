/**
 * Write that instructs the registrar on the ledger which lines it may deliver, opened by the engine
 * alone (docs/domain/distributions.md#instructions-on-the-ledger).
 */
import { Effect, Option } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { Records } from "../../records/Records.ts"
import * as Timely from "../../records/Timely.ts"
import {
  Distribution as DistributionTemplate,
  DistributionLine as LineTemplate
} from "../../templates/Distribution.ts"
import { type Command, exercise } from "../../templates/Template.ts"
import * as Operation from "../../writes/Operation.ts"
import { roll } from "../roll/RollOperations.ts"
import { distributions } from "./Distribution.ts"
import { distributionContracts } from "./DistributionContract.ts"
import { type DistributionLine, distributionLines } from "./DistributionLine.ts"
import { distributionTimers } from "./DistributionTimer.ts"
import { setTimers } from "./DistributionTimerSteps.ts"
import * as LineWrite from "./LineWrite.ts"
import { notePlanned, resource, touchedBy } from "./LineWriteSteps.ts"

/**
 * Closes a distribution that is held. For one that is cleared, directs the lines whose contracts
 * differ from the records in wait or payee, and opens the distribution after the last of them, so
 * that no line that waits can be delivered in between. Sends no command where ledger and records
 * agree, as after a hold that was released before this operation ran.
 */
const instruct = Operation.defineForEngine("distribution.instruct", {
  doc: "Tells the registrar on the ledger which lines of a distribution it may deliver, and to whom.",
  ...LineWrite.declared,
  resource,
  plan: Effect.fn("distribution.instruct.plan")(function* ({ distributionId }, act, step) {
    const records = yield* Records
    const { batchLines } = yield* Settings
    yield* records.get(distributions, distributionId)
    const timer = Option.getOrNull(yield* records.find(distributionTimers, distributionId))
    const contract = Option.getOrNull(yield* records.find(distributionContracts, distributionId))
    if (timer === null || timer.instructAt === null || contract === null) return null
    const { cid, isOpen } = contract
    if (!timer.mayDeliver) {
      if (!isOpen) return null
      yield* notePlanned({ step, lines: 0 }, act)
      return { commands: [exercise(DistributionTemplate, cid, "Close", {})], last: true }
    }
    const found = yield* records.list(distributionLines, {
      where: { undirected: [distributionId] },
      limit: batchLines + 1
    })
    const directed = found.slice(0, batchLines).map(({ record }) => direct(record))
    const last = found.length <= batchLines
    const opening = last && !isOpen ? [exercise(DistributionTemplate, cid, "Open", {})] : []
    const [first, ...others]: ReadonlyArray<Command> = [...directed, ...opening]
    if (first === undefined) return null
    yield* notePlanned({ step, lines: directed.length }, act)
    return { commands: [first, ...others], last }
  }),
  finish: Effect.fn("distribution.instruct.finish")(function* ({ distributionId }, act) {
    yield* setTimers([distributionId], act, { ended: "instruct" })
    return yield* touchedBy(act, distributionId)
  })
})

const direct = ({ custodian, lineCid, lineId, party, state }: DistributionLine): Command => {
  if (lineCid === null) throw new Error(`${lineId} is owed and has no contract`)
  return exercise(LineTemplate, lineCid, "Direct", {
    holder: party,
    custodian,
    waits: state === "suspended"
  })
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
