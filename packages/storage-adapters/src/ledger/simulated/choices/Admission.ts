/** Choice bodies of admission: consent, offer, credential, registration, terms. */
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { define, demand, type Scope } from "../Entity.ts"

const ends = () => Result.succeed({})
const made = (contractId: string) => ({ contractId })

export const admissionConsentProposal = define(Templates.AdmissionConsentProposal, {
  signatories: ["venue"],
  observers: ["registrar"],
  choices: {
    Accept: {
      controllers: ["registrar"],
      body: ({ self }, scope) => Result.map(scope.create(Templates.AdmissionConsent, self), made)
    },
    Decline: { controllers: ["registrar"], body: ends },
    Withdraw: { controllers: ["venue"], body: ends }
  }
})

export const admissionConsent = define(Templates.AdmissionConsent, {
  signatories: ["venue", "registrar"],
  observers: ["fund"],
  choices: {
    Offer: {
      controllers: ["venue"],
      guards: ["the offer would already be past"],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { venue, registrar, instrumentId } = self
          yield* demand([isInTime(argument, scope), "the offer would already be past"])
          const offer = { venue, registrar, instrumentId, ...argument }
          return made(yield* scope.create(Templates.AdmissionOffer, offer))
        })
    },
    Revoke: { controllers: ["registrar"], body: ends }
  }
})

/** Checks that an offer may still be accepted, and that its credential would not already be past. */
const isInTime = (
  offer: Pick<Templates.Payload<typeof Templates.AdmissionOffer>, "expiresAt" | "validUntil">,
  { now }: Scope
): boolean =>
  (offer.expiresAt === null || now < offer.expiresAt) &&
  (offer.validUntil === null || now < offer.validUntil)

export const admissionOffer = define(Templates.AdmissionOffer, {
  signatories: ["venue"],
  observers: ["holder", "registrar"],
  choices: {
    Accept: {
      controllers: ["holder"],
      guards: ["the offer is past its time"],
      body: ({ self }, scope) =>
        Result.gen(function* () {
          const { venue: issuer, expiresAt: _, ...rest } = self
          yield* demand([isInTime(self, scope), "the offer is past its time"])
          return made(yield* scope.create(Templates.Credential, { issuer, ...rest }))
        })
    },
    Decline: { controllers: ["holder"], body: ends },
    Withdraw: { controllers: ["venue"], body: ends }
  }
})

export const holderInvitation = define(Templates.HolderInvitation, {
  signatories: ["venue"],
  observers: ["holder", "custodian"],
  choices: {
    Accept: {
      controllers: ["holder"],
      guards: ["the invitation is past its time"],
      body: ({ self }, scope) =>
        Result.gen(function* () {
          yield* demand([
            self.validUntil === null || scope.now < self.validUntil,
            "the invitation is past its time"
          ])
          return made(yield* scope.create(Templates.HolderRegistration, self))
        })
    },
    Decline: { controllers: ["holder"], body: ends },
    Withdraw: { controllers: ["venue"], body: ends }
  }
})

export const holderRegistration = define(Templates.HolderRegistration, {
  signatories: ["venue", "holder"],
  observers: ["custodian"],
  choices: {
    SetAttributes: {
      controllers: ["venue"],
      body: ({ self, argument }, scope) =>
        Result.map(scope.create(Templates.HolderRegistration, { ...self, ...argument }), made)
    },
    InviteSuccessor: {
      controllers: ["venue"],
      guards: ["the successor is another party"],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          yield* demand([argument.holder !== self.holder, "the successor is another party"])
          return made(
            yield* scope.create(Templates.HolderInvitation, {
              ...self,
              ...argument,
              predecessor: self.holderId
            })
          )
        })
    },
    Close: { controllers: ["venue"], body: ends }
  }
})

export const signedTerms = define(Templates.SignedTerms, {
  signatories: ["holder"],
  observers: ["venue"],
  choices: {
    AcceptTerms: {
      controllers: ["venue"],
      body: ({ self }, scope) =>
        Result.map(scope.create(Templates.AcceptedTerms, { ...self, acceptedAt: scope.now }), made)
    },
    Withdraw: { controllers: ["holder"], body: ends }
  }
})

export const acceptedTerms = define(Templates.AcceptedTerms, {
  signatories: ["venue", "holder"],
  observers: [],
  choices: {}
})
