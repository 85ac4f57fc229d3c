/**
 * Facts from the ledger about a holder's terms: signed by its wallet, withdrawn, countersigned by the venue.
 */
import { Effect, Option } from "effect"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node } from "../../projection/FromLedger.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { AcceptedTerms as AcceptedTermsTemplate, SignedTerms } from "../../templates/Admission.ts"
import type { Payload } from "../../templates/Template.ts"
import { type Holder, holders } from "../holder/Holder.ts"
import { activateIfComplete, transitions } from "../holder/HolderFromLedger.ts"
import { acceptedTerms, type Fact } from "./AcceptedTerms.ts"

const signed = TypedFromLedger.of(SignedTerms, {
  created: (payload, node) =>
    transitions.withRecord(payload.holderId, node, "sign", (holder) =>
      holder.party === payload.holder
        ? recordSignature(holder, payload, node)
        : // Any party may sign a contract that names a holder's id; only the holder's party counts.
          transitions.keepBreach(node, holder.holderId, {
            on: "sign",
            detail: "Another party signed terms."
          })
    ),
  exercised: {
    AcceptTerms: ({ result }, node) =>
      recordFact(node, { on: "accept", at: node.effectiveAt, acceptedCid: result.contractId }),
    Withdraw: ({ payload }, node) =>
      Effect.gen(function* () {
        yield* recordFact(node, { on: "withdraw" })
        yield* clearSignature(payload.holderId, node)
      })
  }
})

const accepted = TypedFromLedger.of(AcceptedTermsTemplate, {
  created: (payload, node) =>
    transitions.withRecord(payload.holderId, node, "accept-terms", (holder) =>
      recordAcceptance(holder, payload, node)
    )
})

export const fromLedger = [signed, accepted] as const

const recordSignature = Effect.fnUntraced(function* (
  holder: Stored<Holder>,
  { documentHash, signedAt }: Payload<typeof SignedTerms>,
  node: Node
) {
  const records = yield* Records
  yield* LedgerRecord.open(
    acceptedTerms,
    {
      signedCid: node.contractId,
      holderId: holder.holderId,
      party: holder.party,
      documentHash,
      signedAt,
      state: "signed",
      acceptedAt: null,
      acceptedCid: null
    },
    node
  )
  yield* records.append(
    holders,
    holder,
    { on: "sign", signedTermsCid: node.contractId, at: node.effectiveAt },
    node.act
  )
})

/** Records a fact of the signed terms; a contract without a record changes nothing. */
const recordFact = Effect.fnUntraced(function* (node: Node, fact: Fact) {
  const records = yield* Records
  const terms = yield* records.find(acceptedTerms, node.contractId)
  if (Option.isSome(terms)) yield* records.append(acceptedTerms, terms.value, fact, node.act)
})

const clearSignature = Effect.fnUntraced(function* (holderId: string, node: Node) {
  const records = yield* Records
  const holder = yield* records.find(holders, holderId)
  if (Option.isNone(holder) || holder.value.signedTermsCid !== node.contractId) return
  yield* records.append(
    holders,
    holder.value,
    { on: "sign", signedTermsCid: null, at: node.effectiveAt },
    node.act
  )
})

const recordAcceptance = Effect.fnUntraced(function* (
  holder: Stored<Holder>,
  { documentHash, acceptedAt }: Payload<typeof AcceptedTermsTemplate>,
  node: Node
) {
  const records = yield* Records
  const terms = { documentHash, acceptedAt, cid: node.contractId }
  const after = yield* records.append(holders, holder, { on: "accept-terms", terms }, node.act)
  yield* activateIfComplete(after, node)
})
