/** Snapshot that a projection begins with: the active contracts, without their history. */
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import type * as Party from "../kernel/Party.ts"
import type { Active } from "../ports/Ledger.ts"
import type { Act } from "../records/Act.ts"
import type { EventType } from "../vocabulary/EventType.ts"
import type { Node } from "./FromLedger.ts"
import type { FromLedgerIndex } from "./FromLedgerIndex.ts"

/** The update that a snapshot's facts name as their cause. */
export const updateId = "snapshot"

/**
 * Checks whether a contract is read from the snapshot. Its record then begins with that contract:
 * its proposal was archived before, and the update that accepted the proposal is never read.
 */
export const isOf = ({ act }: Pick<Node, "act">): boolean =>
  act.cause.by === "update" && act.cause.updateId === updateId

/**
 * Returns the position of an active contract whose record is opened after the snapshot: its creation,
 * under the act that opens the record, at the offset of that act.
 */
export const nodeOf = (
  origin: { readonly act: Act; readonly venue: Party.Party; readonly nodeId: number },
  { contractId, createdAt }: Pick<Active, "contractId" | "createdAt">
): Node => ({
  ...origin,
  offset: offsetOf(origin.act),
  updateId: `${updateId}:${contractId}`,
  operationId: null,
  effectiveAt: createdAt,
  ledgerTime: createdAt,
  contractId
})

/** Returns the offset at which an act opens records of contracts that were read before. */
export const offsetOf = ({ cause, offset }: Act): Offset.Offset =>
  cause.by === "update" ? cause.offset : (offset ?? Offset.zero)

/**
 * Source of the journal event of a node: announcements of one source are published once. All contracts
 * of a snapshot share its offset, and a record that is opened later from one of them has no node, so
 * that the contract stands in for it.
 */
export const sourceOf = (
  node: Pick<Node, "act" | "contractId" | "nodeId" | "offset">,
  type: EventType
): string => `${node.offset}:${isOf(node) ? node.contractId : node.nodeId}:${type}`

/**
 * Sorts the contracts of a snapshot, which has no order of its own, as they would have been read: those
 * whose readings say `inSnapshot` before all others, the rest by the time of their creation.
 */
export const inOrder = (
  active: ReadonlyArray<Active>,
  fromLedger: Pick<FromLedgerIndex["Service"], "of">
): ReadonlyArray<Active> => {
  const rankOf = ({ template }: Active): number =>
    Math.min(...fromLedger.of(template).map(({ inSnapshot }) => ranks[inSnapshot ?? "last"]), 2)
  return active
    .map((contract) => ({ contract, rank: rankOf(contract) }))
    .toSorted(
      (left, right) =>
        left.rank - right.rank ||
        Instant.compare(left.contract.createdAt, right.contract.createdAt) ||
        left.contract.nodeId - right.contract.nodeId ||
        (left.contract.contractId < right.contract.contractId ? -1 : 1)
    )
    .map(({ contract }) => contract)
}

const ranks = { first: 0, second: 1, last: 2 } as const

/** Most milliseconds by which the ledger's effective times may lie ahead of its clock. */
const toleranceMillis = 60_000

/**
 * Instants of a snapshot that is taken at `now`; its ledger time is not before `atLeast` (sortable text),
 * the one that the projection had reached.
 */
export const timesOf = (
  active: ReadonlyArray<Pick<Active, "createdAt">>,
  { now, atLeast }: { readonly now: Instant.Instant; readonly atLeast: string | null }
) => {
  const latest = active.reduce<Instant.Instant | null>(
    (max, { createdAt }) => (max === null || createdAt > max ? createdAt : max),
    atLeast === null ? null : Instant.of(atLeast)
  )
  return {
    /** The latest creation, and `now` where nothing is active. */
    effectiveAt: latest ?? now,
    ledgerTime: latest === null ? null : Instant.sortable(latest),
    /** No update of the snapshot can be effective later. */
    horizonTime: Instant.sortable(
      Instant.fromEpochMillis(Instant.toEpochMillis(now) + toleranceMillis)
    )
  }
}
