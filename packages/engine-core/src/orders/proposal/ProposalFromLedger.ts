/** Facts from the ledger about proposals: the ledger contracts that are proposals, the parties they await, their ends. */
import { Effect, Option, Result, Schema } from "effect"
import { holderParties } from "../../holders/holder/Holder.ts"
import { instruments } from "../../instruments/instrument/Instrument.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, FromLedger } from "../../projection/FromLedger.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records } from "../../records/Records.ts"
import { AdmissionConsentProposal, AdmissionOffer, SignedTerms } from "../../templates/Admission.ts"
import type * as Field from "../../templates/Field.ts"
import { PrimaryMarketProposal } from "../../templates/Market.ts"
import { IssuerPowersAgreementProposal, IssuerPowersConsentOffer } from "../../templates/Powers.ts"
import { BurnRequest, MintRequest } from "../../templates/Registry.ts"
import { ProvisionSettlementProposal } from "../../templates/Settlement.ts"
import { decodePayload, type Payload, type Template } from "../../templates/Template.ts"
import { ResourceKind } from "../../vocabulary/ResourceKind.ts"
import type { ProposalKind } from "../../vocabulary/sets.ts"
import type { WaitingAction } from "../../vocabulary/WaitingAction.ts"
import { type ProposalEnd, type Proposal, proposals } from "./Proposal.ts"

/** Members of a proposal that its contract states. */
interface ProposalMembers {
  readonly from: Party.Party
  readonly awaiting: ReadonlyArray<Party.Party>
  readonly expiresAt: Instant.Instant | null
  readonly resource: { readonly kind: ResourceKind; readonly id: string }
  readonly instrumentId: string | null
  /** Party of the holder that it is about. */
  readonly holder: Party.Party | null
  /** Id of the holder that the contract names; it must be the holder of that party. */
  readonly holderId?: string
  /** Registrar that the contract names. */
  readonly registrar: Party.Party | null
}

interface ProposalDeclaration<T extends Template> {
  readonly kind: ProposalKind
  readonly action: WaitingAction
  /** Members of the proposal; undefined: the contract proposes nothing of this venue. */
  readonly membersOf: (payload: Payload<T>, node: Node) => ProposalMembers | undefined
  /** Id of a proposal whose contract each signature replaces; without it, the contract id. */
  readonly idOf?: (payload: Payload<T>) => string
  /** Finds the instrument that the proposal is about, where its contract does not name it; null: none. */
  readonly instrumentOf?: (
    payload: Payload<T>
  ) => Effect.Effect<
    Pick<ProposalMembers, "instrumentId" | "registrar"> | null,
    Unavailable,
    Records
  >
}

const endings: Readonly<Record<string, ProposalEnd>> = {
  Accept: "accepted",
  AcceptTerms: "accepted",
  Decline: "declined",
  Reject: "declined",
  Withdraw: "withdrawn"
}

/**
 * Makes the reading of a template: every consuming choice ends the proposal, except a signature that
 * creates its next contract. That contract is read after the choice.
 */
export const reading = <T extends Template>(
  template: T,
  declaration: ProposalDeclaration<T>
): FromLedger => {
  const { created } = TypedFromLedger.of(template, {
    created: (payload, node) => proposed(declaration, payload, node)
  })
  return {
    template: template.typeRef,
    ...(created === undefined ? {} : { created }),
    exercised: (choice, payload, node, { consuming, result }) => {
      const typed = decodePayload(template, payload)
      if (!consuming || Result.isFailure(typed) || isSignature(result)) return Effect.void
      const id = declaration.idOf?.(typed.success) ?? node.contractId
      return ended(id, endings[choice] ?? "ended", node)
    }
  }
}

/** Result of an acceptance that leaves others awaited: the next contract. */
const Signature = Schema.Struct({ proposal: Schema.String })
const isSignature = Schema.is(Signature)

const proposed = Effect.fnUntraced(function* <T extends Template>(
  { kind, action, membersOf, idOf, instrumentOf }: ProposalDeclaration<T>,
  payload: Payload<T>,
  node: Node
) {
  const records = yield* Records
  const stating = membersOf(payload, node)
  if (stating === undefined) return
  const instrument = instrumentOf === undefined ? {} : yield* instrumentOf(payload)
  if (instrument === null) return
  const members: ProposalMembers = { ...stating, ...instrument }
  const { holder, holderId: _, instrumentId, registrar, ...proposalMembers } = members
  const proposalId = idOf?.(payload) ?? node.contractId
  const existing = yield* records.find(proposals, proposalId)
  if (Option.isSome(existing)) {
    if (existing.value.cid === node.contractId) return
    const fact = { on: "sign", cid: node.contractId, awaiting: proposalMembers.awaiting } as const
    yield* records.append(proposals, existing.value, fact, node.act)
    return
  }
  const subject = yield* subjectOf(members)
  if (subject === undefined) return
  const proposal: Proposal = {
    proposalId,
    kind,
    action,
    ...proposalMembers,
    ...subject,
    cid: node.contractId,
    at: node.effectiveAt,
    ended: null
  }
  yield* LedgerRecord.open(proposals, proposal, node)
})

/**
 * Finds the holder and the instrument of a proposal. Any party can create such a contract, so one with a
 * holder or an instrument that is not recorded, or with another registrar than the instrument's, is
 * ignored: undefined.
 */
const subjectOf = Effect.fnUntraced(function* (
  members: Pick<ProposalMembers, "holder" | "holderId" | "instrumentId" | "registrar">
) {
  const records = yield* Records
  const holder =
    members.holder === null ? Option.none() : yield* records.find(holderParties, members.holder)
  const instrument =
    members.instrumentId === null
      ? Option.none()
      : yield* records.find(instruments, members.instrumentId)
  if (members.holder !== null && Option.isNone(holder)) return undefined
  if (
    members.holderId !== undefined &&
    !(Option.isSome(holder) && holder.value.holderId === members.holderId)
  ) {
    return undefined
  }
  if (members.instrumentId !== null) {
    if (Option.isNone(instrument)) return undefined
    if (members.registrar !== null && instrument.value.registrar !== members.registrar)
      return undefined
  }
  return {
    holderId: Option.isSome(holder) ? holder.value.holderId : null,
    instrumentId: Option.isSome(instrument) ? instrument.value.instrumentId : null,
    registrar: Option.isSome(instrument) ? instrument.value.registrar : null
  }
})

const ended = (
  proposalId: string,
  as: ProposalEnd,
  node: Node
): Effect.Effect<void, Unavailable, Records> =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.find(proposals, proposalId)
    if (Option.isNone(found) || found.value.cid !== node.contractId) return
    yield* records.append(proposals, found.value, { on: "end", as }, node.act)
  })

/** Returns the record that a burn or mint refers to; a kind that the engine does not know becomes `contract`. */
const resourceOf = ({ kind, id }: Field.Reference): ProposalMembers["resource"] => ({
  kind: ResourceKind.has(kind) ? kind : "contract",
  id
})

export const fromLedger = [
  reading(AdmissionConsentProposal, {
    kind: "admission-consent",
    action: "AdmissionConsentProposal.Accept",
    membersOf: ({ venue, registrar, instrumentId }) => ({
      from: venue,
      awaiting: [registrar],
      expiresAt: null,
      resource: { kind: "instrument", id: instrumentId },
      instrumentId,
      holder: null,
      registrar
    })
  }),
  reading(AdmissionOffer, {
    kind: "admission-offer",
    action: "AdmissionOffer.Accept",
    membersOf: ({ venue, registrar, instrumentId, holder, expiresAt }) => ({
      from: venue,
      awaiting: [holder],
      expiresAt,
      resource: { kind: "instrument", id: instrumentId },
      instrumentId,
      holder,
      registrar
    })
  }),
  reading(SignedTerms, {
    kind: "accepted-terms",
    action: "accepted-terms.accept",
    membersOf: ({ holder, holderId }, { venue }) => ({
      from: holder,
      awaiting: [venue],
      expiresAt: null,
      resource: { kind: "holder", id: holderId },
      instrumentId: null,
      holder,
      holderId,
      registrar: null
    })
  }),
  reading(PrimaryMarketProposal, {
    kind: "primary-market",
    action: "PrimaryMarketProposal.Accept",
    idOf: ({ marketId }) => marketId,
    membersOf: ({ venue, instrument, fund, registrar, accepted, until }) => ({
      from: venue,
      awaiting: [...new Set([fund, registrar])].filter((party) => !accepted.includes(party)),
      expiresAt: until,
      resource: { kind: "primary-market", id: instrument.id },
      instrumentId: instrument.id,
      holder: null,
      registrar
    })
  }),
  reading(ProvisionSettlementProposal, {
    kind: "provision-settlement",
    action: "ProvisionSettlementProposal.Accept",
    membersOf: ({ venue, fund, instrumentId, until }) => ({
      from: venue,
      awaiting: [fund],
      expiresAt: until,
      resource: { kind: "instrument", id: instrumentId },
      instrumentId,
      holder: null,
      registrar: null
    })
  }),
  reading(IssuerPowersAgreementProposal, {
    kind: "issuer-powers-agreement",
    action: "IssuerPowersAgreementProposal.Accept",
    idOf: ({ issuerPowersAgreementId }) => issuerPowersAgreementId,
    membersOf: ({ venue, instrument, issuer, registrar, accepted, until }) => ({
      from: venue,
      awaiting: [...new Set([issuer, registrar])].filter((party) => !accepted.includes(party)),
      expiresAt: until,
      resource: { kind: "issuer-powers-agreement", id: instrument.id },
      instrumentId: instrument.id,
      holder: null,
      registrar
    })
  }),
  reading(IssuerPowersConsentOffer, {
    kind: "issuer-powers-consent",
    action: "IssuerPowersConsentOffer.Accept",
    membersOf: ({ venue, holder, holderId, instrument, expiresAt, validUntil }) => ({
      from: venue,
      awaiting: [holder],
      expiresAt:
        expiresAt === null || validUntil === null
          ? (expiresAt ?? validUntil)
          : Instant.min(expiresAt, validUntil),
      resource: { kind: "holder", id: holderId },
      instrumentId: instrument?.id ?? null,
      holder,
      holderId,
      registrar: instrument?.admin ?? null
    })
  }),
  reading(BurnRequest, {
    kind: "burn-request",
    action: "BurnRequest.Accept",
    membersOf: ({ registrar, holder, instrument, reference, executeBefore }) => ({
      from: holder,
      awaiting: [registrar],
      expiresAt: executeBefore,
      resource: resourceOf(reference),
      instrumentId: instrument.id,
      holder,
      registrar
    })
  }),
  reading(MintRequest, {
    kind: "mint-request",
    action: "MintRequest.Accept",
    membersOf: ({ requester, holder, instrument, reference, executeBefore }, { venue }) =>
      requester === venue
        ? {
            from: requester,
            awaiting: [instrument.admin],
            expiresAt: executeBefore,
            resource: resourceOf(reference),
            instrumentId: instrument.id,
            holder,
            registrar: instrument.admin
          }
        : undefined
  })
] as const
