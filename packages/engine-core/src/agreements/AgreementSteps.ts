/** Steps of an agreement that the ledger reports: its proposal, answers, contract and end. */
import { Effect, Option, Record } from "effect"
import type * as Instant from "../kernel/Instant.ts"
import type * as Party from "../kernel/Party.ts"
import * as LedgerRecord from "../projection/LedgerRecord.ts"
import type { Node } from "../projection/FromLedger.ts"
import * as Snapshot from "../projection/Snapshot.ts"
import { Records } from "../records/Records.ts"
import type { ResourceKind } from "../vocabulary/ResourceKind.ts"
import type { Agreement, Life, AgreementRecord } from "./Agreement.ts"

/** Members that a record opens with and that the terms in its contract do not hold. */
export type OpeningMembers<C extends string, A extends string> = Pick<
  Life,
  "state" | "proposedAt" | "offset" | "endedAt" | "proposalCid"
> &
  Readonly<Record<C, string | null>> &
  Readonly<Record<A, Instant.Instant | null>>

interface Exercise<P> {
  readonly payload: P
}

/**
 * Handlers for the typed readings of an agreement: its area binds them to the creations and choices
 * of its own two templates, and adds handlers for choices that only its templates have.
 *
 * `record` makes the record that a proposal or a contract opens, from the payload and the opening.
 */
export const of = <R extends AgreementRecord<C, A>, C extends string, A extends string, P>(
  { collection, machine, names }: Agreement<R, C, A>,
  area: {
    readonly resourceKind: ResourceKind | (string & {})
    idOf(payload: P): string
    record(payload: P, opening: OpeningMembers<C, A>): R
  }
) => {
  const { idOf } = area
  const follow = LedgerRecord.transitionsOf({
    collection,
    machine,
    resourceKind: area.resourceKind
  })
  const { initial } = machine

  /** Opens the record when its proposal is created. */
  const proposed = Effect.fnUntraced(function* (payload: P, node: Node) {
    const records = yield* Records
    const self = area.record(payload, {
      state: initial,
      proposedAt: node.effectiveAt,
      offset: node.offset,
      endedAt: null,
      proposalCid: node.contractId,
      ...Record.singleton(names.cid, null),
      ...Record.singleton(names.agreedAt, null)
    })
    // The first of two signatures creates the proposal again: the record is open by then.
    const isKnown =
      self.acceptedBy !== undefined && Option.isSome(yield* records.find(collection, idOf(payload)))
    if (!isKnown) yield* LedgerRecord.open(collection, self, node)
  })

  /**
   * Opens the record as agreed when a projection begins from a snapshot that holds its contract. Outside
   * a snapshot the last signature has moved the record, and the contract's creation changes nothing.
   */
  const fromSnapshot = Effect.fnUntraced(function* (payload: P, node: Node) {
    if (!Snapshot.isOf(node)) return
    const self = area.record(payload, {
      state: "agreed",
      proposedAt: node.effectiveAt,
      offset: node.offset,
      endedAt: null,
      proposalCid: null,
      ...Record.singleton(names.cid, node.contractId),
      ...Record.singleton(names.agreedAt, node.effectiveAt)
    })
    yield* LedgerRecord.open(collection, self, node)
  })

  /** Records a party's signature: the last one made the contract, an earlier one a new proposal. */
  const accepted = (
    payload: P,
    node: Node,
    made: {
      readonly contract: string | null
      /** Absent where only one party is asked. */
      readonly by?: { readonly party: Party.Party; readonly proposal: string | null }
    }
  ): LedgerRecord.LedgerEffect => {
    const { by, contract: cid } = made
    if (cid !== null) {
      const party = by === undefined ? {} : { party: by.party }
      return follow.moveBy(idOf(payload), node, {
        on: "agree",
        ...party,
        cid,
        at: node.effectiveAt
      })
    }
    if (by === undefined || by.proposal === null) {
      return Effect.die(new Error("an acceptance made neither a proposal nor an agreement"))
    }
    // A step towards agreement: what may be agreed may be accepted.
    const { party, proposal: proposalCid } = by
    return follow.move(idOf(payload), node, "agree", () => ({ on: "accept", party, proposalCid }))
  }

  const declined = ({ payload }: Exercise<P>, node: Node): LedgerRecord.LedgerEffect =>
    follow.moveBy(idOf(payload), node, { on: "decline", at: node.effectiveAt })

  /** Records that the venue withdrew its proposal to replace it with a newer one. */
  const withdrawn = ({ payload }: Exercise<P>, node: Node): LedgerRecord.LedgerEffect =>
    follow.moveBy(idOf(payload), node, { on: "replace", at: node.effectiveAt })

  const isEndedByClock = machine.triggers.end.by.includes("clock")

  /**
   * Ends the agreement. An agreement that the clock may have ended before is left unchanged; where
   * only the ledger ends it, a second end is recorded as a breach.
   */
  const ended = ({ payload }: Exercise<P>, node: Node): LedgerRecord.LedgerEffect => {
    const fact = { on: "end", at: node.effectiveAt } as const
    return isEndedByClock
      ? follow.end(idOf(payload), node, fact, "ended")
      : follow.moveBy(idOf(payload), node, fact)
  }

  /** Ends the agreement and names the contract under which orders opened before its end settle. */
  const succeeded = (payload: P, node: Node, cid: string): LedgerRecord.LedgerEffect =>
    follow.moveBy(idOf(payload), node, { on: "end", cid, at: node.effectiveAt })

  return { accepted, declined, ended, fromSnapshot, proposed, succeeded, withdrawn }
}

/**
 * Fact of a party's signature on the proposal of a record with a longer life than an agreement: the last
 * one made its contract, an earlier one another proposal.
 */
export const signatureOf = (
  made: {
    readonly party: Party.Party
    readonly contract: string | null
    readonly proposal: string | null
  },
  { effectiveAt }: Pick<Node, "effectiveAt">
) => {
  const { party, contract: cid, proposal: proposalCid } = made
  if (cid !== null) return { on: "activate", party, cid, at: effectiveAt } as const
  if (proposalCid !== null) return { on: "accept", party, proposalCid } as const
  throw new Error("an acceptance made neither a proposal nor a contract")
}
