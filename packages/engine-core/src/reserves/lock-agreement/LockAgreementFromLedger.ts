/** Facts from the ledger about lock agreements: proposed, signed by the asset's registrar and the holder, released. */
import { Effect, Option, Schema } from "effect"
import * as AgreementSteps from "../../agreements/AgreementSteps.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node } from "../../projection/FromLedger.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records } from "../../records/Records.ts"
import {
  LockAgreement as LockAgreementTemplate,
  LockAgreementProposal
} from "../../templates/Reserve.ts"
import type { Payload } from "../../templates/Template.ts"
import { reserves } from "../reserve/Reserve.ts"
import {
  type LockAgreement,
  LockAgreementId,
  lockAgreements,
  LockAgreementMachine
} from "./LockAgreement.ts"

type AgreementPayload = Payload<typeof LockAgreementTemplate>

const agreement = LedgerRecord.transitionsOf({
  collection: lockAgreements,
  machine: LockAgreementMachine,
  resourceKind: "lock-agreement"
})

const proposal = TypedFromLedger.of(LockAgreementProposal, {
  created: Effect.fn("LockAgreementProposal.created")(function* (payload, node) {
    const records = yield* Records
    // The first of two signatures creates the proposal again: the record is open by then.
    if (Option.isSome(yield* records.find(lockAgreements, payload.lockAgreementId))) return
    yield* opened(payload, node, {
      state: "proposed",
      asked: payload.amount,
      acceptedBy: payload.accepted,
      activatedAt: null,
      proposalCid: node.contractId,
      agreementCid: null
    })
  }),
  exercised: {
    Accept: ({ payload, argument: { party }, result }, node) => {
      const { proposal, agreement: contract } = result
      const fact = AgreementSteps.signatureOf({ party, contract, proposal }, node)
      return agreement.moveBy(payload.lockAgreementId, node, fact)
    },
    Decline: ({ payload }, node) =>
      agreement.moveBy(payload.lockAgreementId, node, { on: "decline", at: node.effectiveAt }),
    Withdraw: ({ payload }, node) =>
      agreement.moveBy(payload.lockAgreementId, node, { on: "withdraw", at: node.effectiveAt })
  }
})

const agreed = TypedFromLedger.of(LockAgreementTemplate, {
  // Outside a snapshot the last signature has moved the record.
  created: (payload, node) =>
    Snapshot.isOf(node)
      ? opened(payload, node, {
          state: "active",
          asked: null,
          acceptedBy: [...new Set([payload.asset.admin, payload.holder])],
          activatedAt: node.effectiveAt,
          proposalCid: null,
          agreementCid: node.contractId
        })
      : Effect.void,
  exercised: {
    Release: ({ payload }, node) =>
      agreement.moveBy(payload.lockAgreementId, node, { on: "release", at: node.effectiveAt })
  }
})

export const fromLedger = [proposal, agreed] as const

const opened = Effect.fnUntraced(function* (
  { lockAgreementId, reserveId, asset, holder }: AgreementPayload,
  node: Node,
  opening: Pick<
    LockAgreement,
    "state" | "acceptedBy" | "activatedAt" | "proposalCid" | "agreementCid"
  > & { readonly asked: Decimal.Decimal | null }
) {
  const records = yield* Records
  const reserve = Option.getOrNull(yield* records.find(reserves, reserveId))
  if (reserve === null) {
    return yield* agreement.keepBreach(node, lockAgreementId, {
      on: "open",
      detail: "There is no such reserve."
    })
  }
  const { instrumentId, issuer } = reserve
  yield* LedgerRecord.open(
    lockAgreements,
    {
      lockAgreementId: Schema.decodeSync(LockAgreementId)(lockAgreementId),
      ...{ reserveId, instrumentId, issuer, asset, holder },
      proposedAt: node.effectiveAt,
      offset: node.offset,
      endedAt: null,
      ...opening
    },
    node
  )
})
