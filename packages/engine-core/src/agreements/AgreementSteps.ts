/** Steps of an agreement that the ledger reports: its proposal, answers, contract and end. */
import { Effect, Option, Record } from "effect"
import type * as Instant from "../kernel/Instant.ts"
import type * as Party from "../kernel/Party.ts"
import * as Follow from "../projection/Follow.ts"
import * as Once from "../projection/Once.ts"
import type { Node } from "../projection/Reading.ts"
import * as Snapshot from "../projection/Snapshot.ts"
import { Records } from "../records/Records.ts"
import type { ResourceKind } from "../vocabulary/ResourceKind.ts"
import type { Agreement, Life, Of } from "./Agreement.ts"

/** What a record opens with that its contract's terms do not say. */
export type Opening<C extends string, A extends string> = Pick<
  Life,
  "state" | "proposedAt" | "offset" | "endedAt" | "proposalCid"
> &
  Readonly<Record<C, string | null>> &
  Readonly<Record<A, Instant.Instant | null>>

interface Read<P> {
  readonly payload: P
}

/**
 * The readings of an agreement, to be put under its templates' own names. Where the ledger names more
 * choices, the agreement's area reads those beside them.
 *
 * `record` makes the record that a proposal or a contract opens, of its payload and the opening.
 */
export const of = <R extends Of<C, A>, C extends string, A extends string, P>(
  { collection, machine, names }: Agreement<R, C, A>,
  area: {
    readonly resourceKind: ResourceKind | (string & {})
    idOf(payload: P): string
    record(payload: P, opening: Opening<C, A>): R
  }
) => {
  const { idOf } = area
  const follow = Follow.of({ collection, machine, resourceKind: area.resourceKind })
  const { initial } = machine

  /** The proposal came into sight. */
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
    // Of two signatures the first makes the proposal anew, and was read before what it made.
    const isKnown =
      self.acceptedBy !== undefined && Option.isSome(yield* records.find(collection, idOf(payload)))
    if (!isKnown) yield* Once.open(collection, self, node)
  })

  /** The contract stands where a projection begins. Elsewhere the last signature has agreed it. */
  const found = Effect.fnUntraced(function* (payload: P, node: Node) {
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
    yield* Once.open(collection, self, node)
  })

  /** A party signed: what its signature made is the agreement, or the proposal anew. */
  const accepted = (
    payload: P,
    node: Node,
    made: {
      readonly contract: string | null
      /** Absent where only one party is asked. */
      readonly by?: { readonly party: Party.Party; readonly proposal: string | null }
    }
  ): Follow.Reads => {
    const { by, contract: cid } = made
    if (cid !== null) {
      const party = by === undefined ? {} : { party: by.party }
      return follow.stepped(idOf(payload), node, {
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
    return follow.moved(idOf(payload), node, "agree", () => ({ on: "accept", party, proposalCid }))
  }

  const declined = ({ payload }: Read<P>, node: Node): Follow.Reads =>
    follow.stepped(idOf(payload), node, { on: "decline", at: node.effectiveAt })

  /** The venue took its proposal back, to make a newer one. */
  const withdrawn = ({ payload }: Read<P>, node: Node): Follow.Reads =>
    follow.stepped(idOf(payload), node, { on: "replace", at: node.effectiveAt })

  /** A party ended it. What is only put away past its date has been ended by the clock. */
  const ended = ({ payload }: Read<P>, node: Node): Follow.Reads =>
    follow.ended(idOf(payload), node, { on: "end", at: node.effectiveAt }, "ended")

  /** A party ended it, and another contract goes on for what was begun under it. */
  const succeeded = (payload: P, node: Node, cid: string): Follow.Reads =>
    follow.stepped(idOf(payload), node, { on: "end", cid, at: node.effectiveAt })

  return { accepted, declined, ended, found, proposed, succeeded, withdrawn }
}
