/** Facts from the ledger about amendments: proposed, declined, taken back; the reserve reads their acceptance. */
import { Effect, Option, Schema } from "effect"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records } from "../../records/Records.ts"
import { AmendmentProposal } from "../../templates/Reserve.ts"
import * as TermChange from "../../writes/TermChange.ts"
import { termsFromLedger } from "../reserve/LedgerTerms.ts"
import { reserves } from "../reserve/Reserve.ts"
import * as TermsRules from "../reserve/TermsRules.ts"
import { AmendmentId, amendments } from "./Amendment.ts"
import { amendment, inForceAt } from "./AmendmentSteps.ts"

const proposal = TypedFromLedger.of(AmendmentProposal, {
  created: Effect.fn("AmendmentProposal.created")(function* (payload, node) {
    const records = yield* Records
    const { amendmentId, reserveId, issuer } = payload
    const reserve = Option.getOrNull(yield* records.find(reserves, reserveId))
    if (reserve === null) {
      return yield* amendment.keepBreach(node, amendmentId, {
        on: "open",
        detail: "There is no such reserve."
      })
    }
    const terms = termsFromLedger(payload.terms)
    const { terms: from } = inForceAt(reserve, node.effectiveAt)
    const change = TermsRules.shownChangesOf({ from, to: terms })
    yield* LedgerRecord.open(
      amendments,
      {
        amendmentId: Schema.decodeSync(AmendmentId)(amendmentId),
        reserveId,
        instrumentId: reserve.instrumentId,
        issuer,
        state: "proposed",
        terms,
        change,
        loosens: TermChange.directionOf(change) === "loosen",
        proposedAt: node.effectiveAt,
        offset: node.offset,
        acceptedAt: null,
        effectiveAt: null,
        until: null,
        endedAt: null,
        proposalCid: node.contractId
      },
      node
    )
  }),
  exercised: {
    Decline: ({ payload }, node) =>
      amendment.moveBy(payload.amendmentId, node, { on: "decline", at: node.effectiveAt }),
    Withdraw: ({ payload }, node) =>
      amendment.moveBy(payload.amendmentId, node, { on: "withdraw", at: node.effectiveAt })
  }
})

export const fromLedger = [proposal] as const
