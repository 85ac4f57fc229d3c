/**
 * Work queue of the reconciliation runs that start by themselves: each item names an instrument and
 * what starts its run (docs/domain/reconciliation.md#runs-that-start-by-themselves).
 */
import type { WorkItem } from "../ports/storage/WorkQueue.ts"
import type { RunTrigger } from "../vocabulary/sets.ts"

export const queue = "reconciliation"

/** Triggers of runs that nobody calls for. */
export type OwnTrigger = Extract<RunTrigger, "schedule" | "release">

export interface RunRequest {
  readonly trigger: OwnTrigger
  readonly instrumentId: string
  /** Id of the record whose fact asks for the run: a sealed distribution, a released hold. */
  readonly causedBy: string
}

/** All items are of one resource: runs of a venue follow one another, in the order of the queue. */
const resource = "venue"

/** The item of a request; repeated for the same record, the queue keeps one. */
export const itemOf = ({ trigger, instrumentId, causedBy }: RunRequest): WorkItem => ({
  queue,
  itemId: `${trigger}/${causedBy}`,
  resource,
  payload: instrumentId,
  delay: 0
})

const isOwnTrigger = (text: string): text is OwnTrigger => text === "schedule" || text === "release"

/** Decodes an item of the queue; a text that no version wrote is a defect. */
export const requestOf = ({
  itemId,
  payload
}: Pick<WorkItem, "itemId" | "payload">): RunRequest => {
  const at = itemId.indexOf("/")
  const trigger = itemId.slice(0, at)
  if (!isOwnTrigger(trigger)) throw new Error(`a run is asked for by nothing known: ${itemId}`)
  return { trigger, instrumentId: payload, causedBy: itemId.slice(at + 1) }
}
