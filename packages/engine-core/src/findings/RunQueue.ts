/**
 * Work queues of the reconciliation runs that start by themselves: each item names an instrument, or
 * all of them, and what starts its run (docs/domain/reconciliation.md#runs-that-start-by-themselves).
 */
import type { WorkItem } from "../ports/storage/WorkQueue.ts"
import type { RunTrigger } from "../vocabulary/sets.ts"

/** Queue of the runs of one instrument. */
export const queue = "reconciliation"

/**
 * Queue of the runs of all instruments, and of those of several that a crash may have left unfinished.
 * A queue of its own, so that a long run keeps no run of one instrument waiting.
 */
export const longQueue = "reconciliation-long"

/** Triggers of runs that start by themselves. */
export type OwnTrigger = Exclude<RunTrigger, "manual">

interface RunRequest {
  readonly trigger: OwnTrigger
  /** Null: a run of every instrument. */
  readonly instrumentId: string | null
  /**
   * Id of the record that asks for the run: a sealed distribution, a released hold or a statement that
   * arrived, or the day of the daily run.
   */
  readonly causedBy: string
}

/** The run of a call that is to be continued, should its host end before it. */
interface Continuation {
  readonly trigger: "manual"
  readonly runId: string
}

/**
 * The item of a request, to be queued in the transaction that asks; of equal ones the queue keeps one.
 * Runs of one instrument follow one another, in the order of the queue, and so do those of all.
 */
export const itemOf = ({ trigger, instrumentId, causedBy }: RunRequest): WorkItem => ({
  queue: instrumentId === null ? longQueue : queue,
  itemId: `${trigger}/${causedBy}`,
  resource: instrumentId === null ? "venue" : `instrument:${instrumentId}`,
  payload: instrumentId ?? everyInstrument,
  delay: 0
})

/** The item that continues the run of a call, due after so many milliseconds. */
export const continuationOf = (runId: string, { delay }: Pick<WorkItem, "delay">): WorkItem => ({
  queue: longQueue,
  itemId: `manual/${runId}`,
  resource: `run:${runId}`,
  payload: everyInstrument,
  delay
})

/** Payload of a run of every instrument; no instrument has an empty id. */
const everyInstrument = ""

const ownTriggers: ReadonlyArray<string> = [
  "schedule",
  "release",
  "statement"
] satisfies ReadonlyArray<OwnTrigger>

const isOwnTrigger = (text: string): text is OwnTrigger => ownTriggers.includes(text)

/** Decodes an item of the queues; a text that no version wrote is a defect. */
export const requestOf = ({
  itemId,
  payload
}: Pick<WorkItem, "itemId" | "payload">): RunRequest | Continuation => {
  const at = itemId.indexOf("/")
  const trigger = itemId.slice(0, at)
  const causedBy = itemId.slice(at + 1)
  if (trigger === "manual") return { trigger, runId: causedBy }
  if (!isOwnTrigger(trigger)) throw new Error(`a run is asked for by nothing known: ${itemId}`)
  const instrumentId = payload === everyInstrument ? null : payload
  return { trigger, instrumentId, causedBy }
}
