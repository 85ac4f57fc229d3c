/** Steps of amendments that the ledger reports: accepted, and withdrawn while they wait. */
import { Effect, Option, Schema } from "effect"
import * as Instant from "../../kernel/Instant.ts"
import type { Direction } from "../../kernel/Direction.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node } from "../../projection/FromLedger.ts"
import { Records } from "../../records/Records.ts"
import * as TermChange from "../../writes/TermChange.ts"
import type { Reserve } from "../reserve/Reserve.ts"
import type { StoredTerms } from "../reserve/ReserveTerms.ts"
import * as TermsRules from "../reserve/TermsRules.ts"
import { AmendmentId, amendments, AmendmentMachine, makeEvent } from "./Amendment.ts"

export const amendment = LedgerRecord.transitionsOf({
  collection: amendments,
  machine: AmendmentMachine,
  resourceKind: "amendment"
})

/** Terms in force at an instant, and the amendment by which they came into force. */
export const inForceAt = (
  { terms, pending, amendmentId }: Pick<Reserve, "terms" | "pending" | "amendmentId">,
  at: Instant.Instant
): { readonly terms: StoredTerms; readonly amendmentId: string | null } =>
  pending !== null && Instant.atOrAfter(at, pending.effectiveAt) ? pending : { terms, amendmentId }

/** Terms that wait at an instant; null: none. */
const waitingAt = ({ pending }: Pick<Reserve, "pending">, at: Instant.Instant) =>
  pending !== null && Instant.isBefore(at, pending.effectiveAt) ? pending : null

/**
 * Moves the amendments of a reserve as one of them is accepted, and returns the terms that the
 * reserve has from then on. An amendment that only tightens is in force at once, ends the terms in
 * force and drops those that wait; any other waits for the delay (docs/domain/reserves.md#terms).
 */
export const accepted = Effect.fnUntraced(function* (
  self: Reserve,
  { amendmentId, terms }: { readonly amendmentId: string; readonly terms: StoredTerms },
  node: Node
) {
  const at = node.effectiveAt
  const inForce = inForceAt(self, at)
  const change = TermsRules.shownChangesOf({ from: inForce.terms, to: terms })
  const direction = TermChange.directionOf(change) ?? "tighten"
  if (direction === "loosen") {
    const effectiveAt = Instant.add(at, self.loosenDelay)
    yield* amendment.moveBy(amendmentId, node, { on: "loosen", change, effectiveAt, at })
    yield* limited(inForce.amendmentId, effectiveAt, node)
    yield* announced(self, { amendmentId, direction, effectiveAt })
    return { ...inForce, pending: { amendmentId, terms, effectiveAt } }
  }
  yield* amendment.moveBy(amendmentId, node, { on: "tighten", change, at })
  yield* ended(inForce.amendmentId, "supersede", node)
  yield* ended(waitingAt(self, at)?.amendmentId ?? null, "overtake", node)
  yield* announced(self, { amendmentId, direction, effectiveAt: at })
  return { terms, amendmentId, pending: null }
})

/**
 * Opens the amendment whose terms wait in a reserve that a snapshot shows: it was accepted
 * `loosenDelay` before they come into force. The time of its proposal is unknown.
 */
export const waiting = Effect.fnUntraced(function* (self: Reserve, node: Node) {
  const { issuer, instrumentId, loosenDelay, pending, reserveId, terms: from } = self
  if (pending === null) return
  const { amendmentId, effectiveAt, terms } = pending
  const acceptedAt = Instant.subtract(effectiveAt, loosenDelay)
  yield* LedgerRecord.open(
    amendments,
    {
      amendmentId: Schema.decodeSync(AmendmentId)(amendmentId),
      reserveId,
      instrumentId,
      issuer,
      state: "accepted",
      terms,
      change: TermsRules.shownChangesOf({ from, to: terms }),
      loosens: true,
      proposedAt: acceptedAt,
      offset: node.offset,
      acceptedAt,
      effectiveAt,
      until: null,
      endedAt: null,
      proposalCid: null
    },
    node
  )
})

/** Ends an amendment whose terms the venue took back, and lets those in force go on. */
export const withdrawn = Effect.fnUntraced(function* (
  self: Reserve,
  amendmentId: string,
  node: Node
) {
  yield* amendment.moveBy(amendmentId, node, { on: "withdraw", at: node.effectiveAt })
  yield* limited(inForceAt(self, node.effectiveAt).amendmentId, null, node)
})

/**
 * Ends the amendment whose terms wait in a reserve that ends, so that the clock brings none into
 * force. Returns whether any waited.
 */
export const reserveEnded = Effect.fnUntraced(function* (self: Reserve, node: Node) {
  const waiting = waitingAt(self, node.effectiveAt)
  if (waiting !== null) yield* withdrawn(self, waiting.amendmentId, node)
  return waiting !== null
})

/** Ends an amendment as others take its place; one that a snapshot did not hold has no record. */
const ended = Effect.fnUntraced(function* (
  id: string | null,
  on: "supersede" | "overtake",
  node: Node
) {
  if (id === null) return
  const records = yield* Records
  if (Option.isNone(yield* records.find(amendments, id))) return
  yield* amendment.moveBy(id, node, { on, at: node.effectiveAt })
})

/** Sets the end of the amendment whose terms are in force; null: the reserve opened with them. */
const limited = Effect.fnUntraced(function* (
  id: string | null,
  until: Instant.Instant | null,
  node: Node
) {
  if (id === null) return
  const records = yield* Records
  const found = Option.getOrNull(yield* records.find(amendments, id))
  if (found !== null) yield* amendment.record(found, node, { on: "limit", until })
})

const announced = (
  self: Reserve,
  payload: {
    readonly amendmentId: string
    readonly direction: Direction
    readonly effectiveAt: Instant.Instant
  }
) =>
  Effect.flatMap(Records, (records) =>
    records.announce([
      {
        ...makeEvent("reserve.amended", payload),
        resourceKind: "reserve",
        resourceId: self.reserveId,
        instrumentId: self.instrumentId,
        party: self.issuer,
        holderIds: []
      }
    ])
  )
