/** Steps of an agreement that the ledger reports: its proposal, answers, contract and end. */
import { Effect, Option, Record } from "effect"
import type * as Instant from "../kernel/Instant.ts"
import type * as Party from "../kernel/Party.ts"
import * as LedgerRecord from "../projection/LedgerRecord.ts"
import type { Node } from "../projection/FromLedger.ts"
import { Records } from "../records/Records.ts"
import type { Agreement, Life, AgreementRecord } from "./Agreement.ts"

/** Members that a record opens with and that the terms in its contract do not hold. */
type OpeningMembers<C extends string, A extends string> = Pick<
  Life,
  "state" | "proposedAt" | "offset" | "endedAt" | "proposalCid"
> &
  Readonly<Record<C, string | null>> &
  Readonly<Record<A, Instant.Instant | null>>

/** The same, of a declared agreement. */
export type OpeningOf<G> =
  G extends Agreement<infer _, infer C, infer A> ? OpeningMembers<C, A> : never

const followOf = <R extends AgreementRecord<C, A>, C extends string, A extends string>({
  collection,
  machine
}: Agreement<R, C, A>) =>
  LedgerRecord.transitionsOf({ collection, machine, resourceKind: collection.name })

/** Members that the record of a proposal opens with. */
export const proposing = <R extends AgreementRecord<C, A>, C extends string, A extends string>(
  { machine, names }: Agreement<R, C, A>,
  { contractId, effectiveAt, offset }: Node
): OpeningMembers<C, A> => ({
  state: machine.initial,
  proposedAt: effectiveAt,
  offset,
  endedAt: null,
  proposalCid: contractId,
  ...Record.singleton(names.cid, null),
  ...Record.singleton(names.agreedAt, null)
})

/** Opens the record when its proposal is created. */
export const proposed = Effect.fnUntraced(function* <
  R extends AgreementRecord<C, A>,
  C extends string,
  A extends string
>({ collection }: Agreement<R, C, A>, self: R, node: Node) {
  const records = yield* Records
  // The first of two signatures creates the proposal again: the record is open by then.
  const isKnown =
    self.acceptedBy !== undefined &&
    Option.isSome(yield* records.find(collection, collection.id(self)))
  if (!isKnown) yield* LedgerRecord.open(collection, self, node)
})

/** Members that the record of an agreement opens with where a snapshot holds its contract. */
export const agreeing = <R extends AgreementRecord<C, A>, C extends string, A extends string>(
  { names }: Agreement<R, C, A>,
  { contractId, effectiveAt, offset }: Node
): OpeningMembers<C, A> => ({
  state: "agreed",
  proposedAt: effectiveAt,
  offset,
  endedAt: null,
  proposalCid: null,
  ...Record.singleton(names.cid, contractId),
  ...Record.singleton(names.agreedAt, effectiveAt)
})

/** Opens the record of an agreement whose contract a snapshot holds. */
export const openAgreed = <R extends AgreementRecord<C, A>, C extends string, A extends string>(
  { collection }: Agreement<R, C, A>,
  self: R,
  node: Node
): LedgerRecord.LedgerEffect => Effect.asVoid(LedgerRecord.open(collection, self, node))

/** Records a party's signature: the last one made the contract, an earlier one a new proposal. */
export const accepted = <R extends AgreementRecord<C, A>, C extends string, A extends string>(
  agreement: Agreement<R, C, A>,
  id: string,
  node: Node,
  newAgreement: {
    readonly contract: string | null
    /** Absent where only one party is asked. */
    readonly by?: { readonly party: Party.Party; readonly proposal: string | null }
  }
): LedgerRecord.LedgerEffect => {
  const { by, contract: cid } = newAgreement
  if (cid !== null) {
    const party = by === undefined ? {} : { party: by.party }
    const fact = { on: "agree", ...party, cid, at: node.effectiveAt } as const
    return followOf(agreement).moveBy(id, node, fact)
  }
  if (by === undefined || by.proposal === null) {
    return Effect.die(new Error("an acceptance made neither a proposal nor an agreement"))
  }
  // A step towards agreement: what may be agreed may be accepted.
  const { party, proposal: proposalCid } = by
  const fact = { on: "accept", party, proposalCid } as const
  return followOf(agreement).move(id, node, "agree", () => fact)
}

export const declined = <R extends AgreementRecord<C, A>, C extends string, A extends string>(
  agreement: Agreement<R, C, A>,
  id: string,
  node: Node
): LedgerRecord.LedgerEffect =>
  followOf(agreement).moveBy(id, node, { on: "decline", at: node.effectiveAt })

/** Records that the venue withdrew its proposal to replace it with a newer one. */
export const withdrawn = <R extends AgreementRecord<C, A>, C extends string, A extends string>(
  agreement: Agreement<R, C, A>,
  id: string,
  node: Node
): LedgerRecord.LedgerEffect =>
  followOf(agreement).moveBy(id, node, { on: "replace", at: node.effectiveAt })

/**
 * Ends the agreement. An agreement that the clock may have ended before is left unchanged; where
 * only the ledger ends it, a second end is recorded as a breach.
 */
export const ended = <R extends AgreementRecord<C, A>, C extends string, A extends string>(
  agreement: Agreement<R, C, A>,
  id: string,
  node: Node
): LedgerRecord.LedgerEffect => {
  const follow = followOf(agreement)
  const fact = { on: "end", at: node.effectiveAt } as const
  return agreement.machine.triggers.end.by.includes("clock")
    ? follow.end(id, node, fact, "ended")
    : follow.moveBy(id, node, fact)
}

/** Ends the agreement and names the contract under which orders opened before its end settle. */
export const succeeded = <R extends AgreementRecord<C, A>, C extends string, A extends string>(
  agreement: Agreement<R, C, A>,
  id: string,
  node: Node,
  cid: string
): LedgerRecord.LedgerEffect =>
  followOf(agreement).moveBy(id, node, { on: "end", cid, at: node.effectiveAt })

/**
 * Fact of a party's signature on the proposal of a record with a longer life than an agreement: the last
 * one made its contract, an earlier one another proposal.
 */
export const signatureOf = (
  newAgreement: {
    readonly party: Party.Party
    readonly contract: string | null
    readonly proposal: string | null
  },
  { effectiveAt }: Pick<Node, "effectiveAt">
) => {
  const { party, contract: cid, proposal: proposalCid } = newAgreement
  if (cid !== null) return { on: "activate", party, cid, at: effectiveAt } as const
  if (proposalCid !== null) return { on: "accept", party, proposalCid } as const
  throw new Error("an acceptance made neither a proposal nor a contract")
}
