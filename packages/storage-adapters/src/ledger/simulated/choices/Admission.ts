/** Choice bodies of admission: consent, offer, credential, registration, terms. */
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { define, demand } from "../Entity.ts"

const ends = () => Result.succeed({})
const made = (contractId: string) => ({ contractId })

export const admissionConsentProposal = define(Templates.AdmissionConsentProposal, {
  signatories: (self) => [self.venue],
  observers: (self) => [self.registrar],
  choices: {
    Accept: {
      controllers: (self) => [self.registrar],
      body: ({ self }, scope) => Result.map(scope.create(Templates.AdmissionConsent, self), made)
    },
    Decline: { controllers: (self) => [self.registrar], body: ends },
    Withdraw: { controllers: (self) => [self.venue], body: ends }
  }
})

export const admissionConsent = define(Templates.AdmissionConsent, {
  signatories: (self) => [self.venue, self.registrar],
  observers: (self) => [self.fund],
  choices: {
    Offer: {
      controllers: (self) => [self.venue],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { venue, registrar, instrumentId } = self
          yield* demand([
            argument.expiresAt === null || scope.now < argument.expiresAt,
            "the offer would already be past"
          ])
          const offer = { venue, registrar, instrumentId, ...argument }
          return made(yield* scope.create(Templates.AdmissionOffer, offer))
        })
    },
    Revoke: { controllers: (self) => [self.registrar], body: ends }
  }
})

export const admissionOffer = define(Templates.AdmissionOffer, {
  signatories: (self) => [self.venue],
  observers: (self) => [self.holder, self.registrar],
  choices: {
    Accept: {
      controllers: (self) => [self.holder],
      body: ({ self }, scope) =>
        Result.gen(function* () {
          const { venue: issuer, expiresAt, ...rest } = self
          yield* demand([expiresAt === null || scope.now < expiresAt, "the offer is past its time"])
          return made(yield* scope.create(Templates.Credential, { issuer, ...rest }))
        })
    },
    Decline: { controllers: (self) => [self.holder], body: ends },
    Withdraw: { controllers: (self) => [self.venue], body: ends }
  }
})

const custodian = (self: Templates.Payload<typeof Templates.HolderInvitation>) =>
  self.custodian === null ? [] : [self.custodian]

export const holderInvitation = define(Templates.HolderInvitation, {
  signatories: (self) => [self.venue],
  observers: (self) => [self.holder, ...custodian(self)],
  choices: {
    Accept: {
      controllers: (self) => [self.holder],
      body: ({ self }, scope) =>
        Result.gen(function* () {
          yield* demand([
            self.validUntil === null || scope.now < self.validUntil,
            "the invitation is past its time"
          ])
          return made(yield* scope.create(Templates.HolderRegistration, self))
        })
    },
    Decline: { controllers: (self) => [self.holder], body: ends },
    Withdraw: { controllers: (self) => [self.venue], body: ends }
  }
})

export const holderRegistration = define(Templates.HolderRegistration, {
  signatories: (self) => [self.venue, self.holder],
  observers: custodian,
  choices: {
    SetAttributes: {
      controllers: (self) => [self.venue],
      body: ({ self, argument }, scope) =>
        Result.map(scope.create(Templates.HolderRegistration, { ...self, ...argument }), made)
    },
    InviteSuccessor: {
      controllers: (self) => [self.venue],
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
    Close: { controllers: (self) => [self.venue], body: ends }
  }
})

export const signedTerms = define(Templates.SignedTerms, {
  signatories: (self) => [self.holder],
  observers: (self) => [self.venue],
  choices: {
    AcceptTerms: {
      controllers: (self) => [self.venue],
      body: ({ self }, scope) =>
        Result.map(scope.create(Templates.AcceptedTerms, { ...self, acceptedAt: scope.now }), made)
    },
    Withdraw: { controllers: (self) => [self.holder], body: ends }
  }
})

export const acceptedTerms = define(Templates.AcceptedTerms, {
  signatories: (self) => [self.venue, self.holder],
  observers: () => [],
  choices: {}
})
