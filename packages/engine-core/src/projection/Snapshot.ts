/** Snapshot that a projection begins with: the active contracts, without their history. */
import type { Node } from "./Reading.ts"

/** The update that a snapshot's facts name as their cause. */
export const updateId = "snapshot"

/**
 * Whether a contract is read off the snapshot. One that others made is then all there is of its record:
 * its proposal was archived before, and the update that accepted it will never be read.
 */
export const isOf = ({ act }: Pick<Node, "act">): boolean =>
  act.cause.by === "update" && act.cause.updateId === updateId
