/** Facts from the ledger about the proposals of reserves, lock agreements and amendments, for the list of proposals. */
import { Effect, Option } from "effect"
import { missingOf } from "../agreements/Agreement.ts"
import { reading } from "../orders/proposal/ProposalFromLedger.ts"
import { Records } from "../records/Records.ts"
import { AmendmentProposal, LockAgreementProposal, ReserveProposal } from "../templates/Reserve.ts"
import { reserves } from "./reserve/Reserve.ts"

/** Finds the instrument that a reserve backs; null: there is no such reserve. */
const instrumentOf = Effect.fnUntraced(function* ({ reserveId }: { readonly reserveId: string }) {
  const records = yield* Records
  const reserve = Option.getOrNull(yield* records.find(reserves, reserveId))
  return reserve === null ? null : { instrumentId: reserve.instrumentId, registrar: reserve.issuer }
})

/**
 * Callers choose these ids, so that the kind is a part of the key; other proposals have ids of the
 * engine.
 */
const idOf = (kind: "reserve" | "lock-agreement", id: string): string => `${kind}:${id}`

export const fromLedger = [
  reading(ReserveProposal, {
    kind: "reserve",
    action: "ReserveProposal.Accept",
    idOf: ({ reserveId }) => idOf("reserve", reserveId),
    membersOf: ({ venue, reserveId, instrument, issuer, holder, accepted }) => ({
      from: venue,
      awaiting: missingOf([issuer, holder], accepted),
      expiresAt: null,
      resource: { kind: "reserve", id: reserveId },
      instrumentId: instrument.id,
      holder: null,
      registrar: issuer
    })
  }),
  reading(LockAgreementProposal, {
    kind: "lock-agreement",
    action: "LockAgreementProposal.Accept",
    idOf: ({ lockAgreementId }) => idOf("lock-agreement", lockAgreementId),
    instrumentOf,
    membersOf: ({ venue, lockAgreementId, asset, holder, accepted }) => ({
      from: venue,
      // The registrar of the asset signs before the holder can.
      awaiting: missingOf([asset.admin, holder], accepted).slice(0, 1),
      expiresAt: null,
      resource: { kind: "lock-agreement", id: lockAgreementId },
      instrumentId: null,
      holder: null,
      registrar: null
    })
  }),
  reading(AmendmentProposal, {
    kind: "amendment",
    action: "AmendmentProposal.Accept",
    instrumentOf,
    membersOf: ({ venue, amendmentId, issuer }) => ({
      from: venue,
      awaiting: [issuer],
      expiresAt: null,
      resource: { kind: "amendment", id: amendmentId },
      instrumentId: null,
      holder: null,
      registrar: null
    })
  })
] as const
