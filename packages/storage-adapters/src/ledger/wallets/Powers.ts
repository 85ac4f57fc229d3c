/** Plans of issuer, registrar and holder for issuer powers: accept, decline, revoke. */
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Policy from "./Policy.ts"
import * as World from "./World.ts"

const isPast = (until: Instant.Instant | null, { now }: World.World): boolean =>
  until !== null && Instant.atOrAfter(now, until)

/** The issuer or the registrar accepts powers over an instrument, in any order. */
export const agreements =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.IssuerPowersAgreementProposal).flatMap(
      ({ contractId, payload }) => {
        const { issuerPowersAgreementId, instrument, issuer, registrar, accepted } = payload
        const isAwaited =
          [issuer, registrar].includes(world.party) && !accepted.includes(world.party)
        if (!isAwaited || isPast(payload.until, world)) return []
        const to = { template: Templates.IssuerPowersAgreementProposal, contractId } as const
        const argument = { party: world.party }
        const details = {
          issuerPowersAgreementId,
          instrumentId: instrument.id,
          powers: payload.powers.join(" ")
        }
        switch (Policy.judge(policy, [contractId, issuerPowersAgreementId, instrument.id])) {
          case "accept":
            return [World.answer("accept-powers", { ...to, choice: "Accept" }, argument, details)]
          case "reject":
            return [World.answer("decline-powers", { ...to, choice: "Decline" }, argument, details)]
          case "wait":
            return []
        }
      }
    )

/** The issuer or the registrar ends the agreement with this id, or of this instrument. */
export const endAgreement =
  (id: string): World.Plan =>
  (world) =>
    World.find(world, Templates.IssuerPowersAgreement)
      .filter(
        ({ contractId, payload }) =>
          [contractId, payload.issuerPowersAgreementId, payload.instrument.id].includes(id) &&
          [payload.issuer, payload.registrar].includes(world.party)
      )
      .map(({ contractId, payload: { issuerPowersAgreementId } }) =>
        World.answer(
          "end-powers",
          { template: Templates.IssuerPowersAgreement, contractId, choice: "End" },
          { party: world.party },
          { issuerPowersAgreementId }
        )
      )

/** A holder answers whether its units may be moved by an issuer's powers. */
export const consents =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.IssuerPowersConsentOffer).flatMap(({ contractId, payload }) => {
      const { holder, holderId, issuerPowersConsentId, instrument } = payload
      const late = isPast(payload.expiresAt, world) || isPast(payload.validUntil, world)
      if (holder !== world.party || late) return []
      const to = { template: Templates.IssuerPowersConsentOffer, contractId } as const
      const details = {
        holderId,
        issuerPowersConsentId,
        instrumentId: instrument?.id ?? "all",
        powers: payload.powers.join(" ")
      }
      // Judged by the consent's own ids: a policy that lists a holderId or an instrumentId does not
      // cover forced moves.
      switch (Policy.judge(policy, [contractId, issuerPowersConsentId])) {
        case "accept":
          return [World.answer("grant-consent", { ...to, choice: "Accept" }, {}, details)]
        case "reject":
          return [World.answer("refuse-consent", { ...to, choice: "Decline" }, {}, details)]
        case "wait":
          return []
      }
    })

/** A holder revokes the consent with this id, where it may do so alone. */
export const revokeConsent =
  (id: string): World.Plan =>
  (world) =>
    World.find(world, Templates.IssuerPowersConsent)
      .filter(
        ({ contractId, payload }) =>
          [contractId, payload.issuerPowersConsentId].includes(id) &&
          payload.holder === world.party &&
          payload.revocable
      )
      .map(({ contractId, payload: { issuerPowersConsentId } }) =>
        World.answer(
          "revoke-consent",
          { template: Templates.IssuerPowersConsent, contractId, choice: "Withdraw" },
          {},
          { issuerPowersConsentId }
        )
      )
