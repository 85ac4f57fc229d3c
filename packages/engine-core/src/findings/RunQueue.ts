/**
 * Work queue of the reconciliation runs that start by themselves: each item names an instrument and
 * what starts its run (docs/domain/reconciliation.md#runs-that-start-by-themselves).
 */
import type { WorkItem } from "../ports/storage/WorkQueue.ts"
import type { RunTrigger } from "../vocabulary/sets.ts"

export const queue = "reconciliation"

/** Triggers of runs that start by themselves. */
export type OwnTrigger = Exclude<RunTrigger, "manual">

export interface RunRequest {
  readonly trigger: OwnTrigger
  /** Null: a run of every instrument. */
  readonly instrumentId: string | null
  /**
   * Id of the record that asks for the run: a sealed distribution, a released hold or a statement that
   * arrived, or the day of the daily run.
   */
  readonly causedBy: string
}

/** All items are of one resource: runs of a venue follow one another, in the order of the queue. */
const resource = "venue"

/** The item of a request, to be queued in the transaction that asks; of equal ones the queue keeps one. */
export const itemOf = ({ trigger, instrumentId, causedBy }: RunRequest): WorkItem => ({
  queue,
  itemId: `${trigger}/${causedBy}`,
  resource,
  payload: instrumentId ?? everyInstrument,
  delay: 0
})

/** Payload of a run of every instrument; no instrument has an empty id. */
const everyInstrument = ""

const ownTriggers: ReadonlyArray<string> = [
  "schedule",
  "release",
  "statement"
] satisfies ReadonlyArray<OwnTrigger>

const isOwnTrigger = (text: string): text is OwnTrigger => ownTriggers.includes(text)

/** Decodes an item of the queue; a text that no version wrote is a defect. */
export const requestOf = ({
  itemId,
  payload
}: Pick<WorkItem, "itemId" | "payload">): RunRequest => {
  const at = itemId.indexOf("/")
  const trigger = itemId.slice(0, at)
  if (!isOwnTrigger(trigger)) throw new Error(`a run is asked for by nothing known: ${itemId}`)
  const instrumentId = payload === everyInstrument ? null : payload
  return { trigger, instrumentId, causedBy: itemId.slice(at + 1) }
}
