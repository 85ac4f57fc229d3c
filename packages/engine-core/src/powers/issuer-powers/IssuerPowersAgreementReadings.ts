/**
 * Readings of issuer powers agreements: answers of issuer and registrar, and the agreement's end.
 */
import { Effect, Option } from "effect"
import * as Follow from "../../projection/Follow.ts"
import * as Once from "../../projection/Once.ts"
import type { Node } from "../../projection/Reading.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import { Records } from "../../records/Records.ts"
import {
  IssuerPowersAgreementProposal,
  IssuerPowersAgreement as IssuerPowersAgreementTemplate
} from "../../templates/Powers.ts"
import type { Payload } from "../../templates/Template.ts"
import { type IssuerPowersAgreement, issuerPowersAgreements } from "./IssuerPowersAgreement.ts"
import { IssuerPowersAgreementMachine } from "./IssuerPowersAgreementMachine.ts"

const agreement = Follow.of({
  collection: issuerPowersAgreements,
  machine: IssuerPowersAgreementMachine,
  resourceKind: "issuer-powers-agreement"
})

const said = (
  payload: Payload<typeof IssuerPowersAgreementTemplate>,
  { effectiveAt, offset }: Node
): Pick<
  IssuerPowersAgreement,
  Exclude<
    keyof IssuerPowersAgreement,
    "state" | "acceptedBy" | "from" | "endedAt" | "proposalCid" | "agreementCid"
  >
> => ({
  issuerPowersAgreementId: payload.issuerPowersAgreementId,
  instrumentId: payload.instrument.id,
  issuer: payload.issuer,
  registrar: payload.registrar,
  powers: payload.powers,
  consentRevocable: payload.consentRevocable,
  until: payload.until,
  proposedAt: effectiveAt,
  offset
})

const proposal = TypedReading.of(IssuerPowersAgreementProposal, {
  created: Effect.fn("IssuerPowersAgreementProposal.created")(function* (payload, node) {
    const records = yield* Records
    const known = yield* records.find(issuerPowersAgreements, payload.issuerPowersAgreementId)
    // An acceptance makes the proposal anew, and was read before what it made.
    if (Option.isSome(known)) return
    yield* Once.open(
      issuerPowersAgreements,
      {
        ...said(payload, node),
        state: IssuerPowersAgreementMachine.initial,
        acceptedBy: payload.accepted,
        from: null,
        endedAt: null,
        proposalCid: node.contractId,
        agreementCid: null
      },
      node
    )
  }),
  exercised: {
    Accept: ({ payload, argument: { party }, result }, node) => {
      const { proposal: proposalCid, agreement: agreementCid } = result
      const id = payload.issuerPowersAgreementId
      if (agreementCid !== null) {
        return agreement.moved(id, node, "agree", () => ({
          on: "agree",
          party,
          agreementCid,
          at: node.effectiveAt
        }))
      }
      return proposalCid === null
        ? Effect.die(new Error("an acceptance made neither a proposal nor an agreement"))
        : agreement.found(id, node, "accept", (self) =>
            agreement.allows(self, "agree")
              ? agreement.noted(self, node, { on: "accept", party, proposalCid })
              : agreement.surprise(node, id, {
                  on: "accept",
                  detail: `The agreement is ${self.state}.`
                })
          )
    },
    Decline: ({ payload }, node) =>
      agreement.moved(payload.issuerPowersAgreementId, node, "decline", () => ({
        on: "decline",
        at: node.effectiveAt
      })),
    Withdraw: ({ payload }, node) =>
      agreement.moved(payload.issuerPowersAgreementId, node, "replace", () => ({
        on: "replace",
        at: node.effectiveAt
      }))
  }
})

const agreed = TypedReading.of(IssuerPowersAgreementTemplate, {
  // Elsewhere the last acceptance of its proposal has agreed it.
  created: Effect.fn("IssuerPowersAgreement.created")(function* (payload, node) {
    if (!Snapshot.isOf(node)) return
    yield* Once.open(
      issuerPowersAgreements,
      {
        ...said(payload, node),
        state: "agreed",
        acceptedBy: [...new Set([payload.issuer, payload.registrar])],
        from: node.effectiveAt,
        endedAt: null,
        proposalCid: null,
        agreementCid: node.contractId
      },
      node
    )
  }),
  exercised: {
    // One that is put away past its date has ended already.
    End: ({ payload }, node) =>
      agreement.found(payload.issuerPowersAgreementId, node, "end", (self) =>
        self.state === "ended"
          ? Effect.void
          : agreement.moved(payload.issuerPowersAgreementId, node, "end", () => ({
              on: "end",
              at: node.effectiveAt
            }))
      )
  }
})

export const readings = [proposal, agreed] as const
