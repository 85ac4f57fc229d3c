/**
 * Choice bodies of forced moves: under agreed powers and the holder's consent, after its locks are
 * released.
 */
import { Decimal, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { abort, define, demand, distinct, type Scope } from "../Entity.ts"
import { admits, sameAsset, admitsGuards } from "./Registry.ts"

type Proposal = Templates.Payload<typeof Templates.IssuerPowersAgreementProposal>
type Agreement = Templates.Payload<typeof Templates.IssuerPowersAgreement>
type ForcedMove = Templates.Argument<typeof Templates.IssuerPowersAgreement, "ForceMove">
type Consent = Templates.Payload<typeof Templates.IssuerPowersConsent>
type ConsentUse = Templates.Argument<typeof Templates.IssuerPowersConsent, "Use">
type ConsentOutcome = Templates.Outcome<typeof Templates.IssuerPowersConsent, "Use">
type Holding = Templates.Payload<typeof Templates.Holding>

const ends = () => Result.succeed({})

const isPast = (until: Consent["validUntil"], { now }: Scope): boolean =>
  until !== null && until <= now

const counterparties = (self: Agreement): ReadonlyArray<Party.Party> =>
  distinct([self.issuer, self.registrar])

const someOnce = [
  "there are powers, and none of them twice",
  ({ powers }: { readonly powers: ReadonlyArray<Templates.IssuerPower> }): boolean =>
    powers.length > 0 && new Set(powers).size === powers.length
] as const

const agreeable = [
  [
    "the registrar is the instrument's own",
    (self: Agreement) => self.instrument.admin === self.registrar
  ],
  someOnce
] as const

export const issuerPowersAgreementProposal = define(Templates.IssuerPowersAgreementProposal, {
  signatories: ["venue", "accepted"],
  observers: ["issuer", "registrar"],
  ensure: [
    ...agreeable,
    [
      "only the issuer and the registrar have accepted",
      (self) => self.accepted.every((party) => counterparties(self).includes(party))
    ]
  ],
  choices: {
    Accept: {
      controllers: ["argument.party"],
      guards: [
        "only the issuer and the registrar accept",
        "this party has accepted before",
        "the agreement would already be past"
      ],
      body: ({ self, argument: { party } }, scope) => accept(scope, self, party)
    },
    Decline: {
      controllers: ["argument.party"],
      guards: ["only the issuer and the registrar decline"],
      body: ({ self, argument: { party } }) =>
        Result.map(
          demand([
            counterparties(self).includes(party),
            "only the issuer and the registrar decline"
          ]),
          () => ({})
        )
    },
    Withdraw: { controllers: ["venue"], body: ends }
  }
})

const accept = (scope: Scope, self: Proposal, party: Party.Party) =>
  Result.gen(function* () {
    yield* demand(
      [counterparties(self).includes(party), "only the issuer and the registrar accept"],
      [!self.accepted.includes(party), "this party has accepted before"],
      [!isPast(self.until, scope), "the agreement would already be past"]
    )
    const { accepted: before, ...agreement } = self
    const accepted = [...before, party]
    return counterparties(self).every((party) => accepted.includes(party))
      ? {
          proposal: null,
          agreement: yield* scope.create(Templates.IssuerPowersAgreement, agreement)
        }
      : {
          proposal: yield* scope.create(Templates.IssuerPowersAgreementProposal, {
            ...self,
            accepted
          }),
          agreement: null
        }
  })

export const issuerPowersAgreement = define(Templates.IssuerPowersAgreement, {
  signatories: ["venue", "issuer", "registrar"],
  observers: [],
  ensure: agreeable,
  choices: {
    ForceMove: {
      controllers: ["venue"],
      guards: [
        "the agreement is past its time",
        "the agreement gives no such power",
        "the consent is another venue's",
        "each holding has its amount",
        "a forced transfer cites an order",
        "a forced transfer has no successor",
        "the receiver is not the successor"
      ],
      body: ({ self, argument }, scope) => forceMove(scope, self, argument)
    },
    End: {
      controllers: ["argument.party"],
      guards: ["only the issuer and the registrar end it"],
      body: ({ self, argument: { party } }) =>
        Result.map(
          demand([
            counterparties(self).includes(party),
            "only the issuer and the registrar end it"
          ]),
          () => ({})
        )
    }
  }
})

/**
 * Requirements of the agreement: it has the power, the cause fits it, and the consent was given to
 * it.
 */
const forceMove = (scope: Scope, self: Agreement, argument: ForcedMove) =>
  Result.gen(function* () {
    const { consentCid, holdingCids, amounts, receiverCredentialCid, cause, releases } = argument
    const power = Templates.powerOf(cause)
    const consent = yield* scope.fetch(Templates.IssuerPowersConsent, consentCid)
    const { holder: receiver } = yield* scope.fetch(Templates.Credential, receiverCredentialCid)
    yield* demand(
      [!isPast(self.until, scope), "the agreement is past its time"],
      [self.powers.includes(power), "the agreement gives no such power"],
      [consent.venue === self.venue, "the consent is another venue's"],
      [holdingCids.length === amounts.length, "each holding has its amount"]
    )
    yield* cause.kind === "forced"
      ? demand(
          [cause.orderRef !== null, "a forced transfer cites an order"],
          [cause.successor === null, "a forced transfer has no successor"]
        )
      : demand([cause.successor === receiver, "the receiver is not the successor"])
    return yield* scope.exercise(Templates.IssuerPowersConsent, consentCid, "Use", {
      instrument: self.instrument,
      issuer: self.issuer,
      power,
      portions: holdingCids.flatMap((holdingCid, index) => {
        const amount = amounts[index]
        return amount === undefined ? [] : [{ holdingCid, amount }]
      }),
      receiverCredentialCid,
      releases
    })
  })

const directed = [
  someOnce,
  [
    "it is to an issuer and to a registrar",
    ({ issuers, registrars }: Consent) => issuers.length > 0 && registrars.length > 0
  ],
  [
    "of one instrument it is to one issuer and to the instrument's own registrar",
    ({ instrument, issuers, registrars }: Consent) =>
      instrument === null ||
      (issuers.length === 1 && registrars.length === 1 && registrars[0] === instrument.admin)
  ]
] as const

export const issuerPowersConsentOffer = define(Templates.IssuerPowersConsentOffer, {
  signatories: ["venue"],
  observers: ["holder", "issuers", "registrars"],
  ensure: directed,
  choices: {
    Accept: {
      controllers: ["holder"],
      guards: ["the offer is past its time", "the consent would already be past"],
      body: ({ self }, scope) =>
        Result.gen(function* () {
          const { expiresAt, ...consent } = self
          yield* demand(
            [!isPast(expiresAt, scope), "the offer is past its time"],
            [!isPast(consent.validUntil, scope), "the consent would already be past"]
          )
          return { contractId: yield* scope.create(Templates.IssuerPowersConsent, consent) }
        })
    },
    Decline: { controllers: ["holder"], body: ends },
    Withdraw: { controllers: ["venue"], body: ends }
  }
})

export const issuerPowersConsent = define(Templates.IssuerPowersConsent, {
  signatories: ["venue", "holder"],
  observers: ["issuers", "registrars"],
  ensure: directed,
  choices: {
    Use: {
      controllers: ["venue", "argument.issuer", "argument.instrument.admin"],
      guards: [
        "the consent is past its time",
        "the consent is for another instrument",
        "the consent is to another issuer",
        "the holder has not consented to this power",
        "the credential is not the venue's",
        "a holder's units do not move to itself",
        "nothing to move",
        "a holding is named twice",
        "a lock is named twice",
        "a lock is of a holding that does not move",
        "a holding is another's",
        "a holding is of another instrument",
        ...admitsGuards,
        "a holding to release is not locked",
        "a locked holding moves only when what locks it is released with it",
        "what is released locks another holding",
        "a lock in force is released by what locks the holding",
        "a lapsed lock has no contract behind it"
      ],
      body: ({ self, argument }, scope) => use(scope, self, argument)
    },
    Withdraw: {
      controllers: ["holder"],
      guards: ["the consent is not the holder's to take back"],
      body: ({ self }) =>
        Result.map(
          demand([self.revocable, "the consent is not the holder's to take back"]),
          () => ({})
        )
    }
  }
})

/**
 * Requirements of the consent: it is in force, and the receiver is another holder who may have the
 * units.
 */
const use = (scope: Scope, self: Consent, consentUse: ConsentUse) =>
  Result.gen(function* () {
    const { instrument, issuer, power, portions, receiverCredentialCid, releases } = consentUse
    const receiver = yield* scope.fetch(Templates.Credential, receiverCredentialCid)
    yield* demand(
      [!isPast(self.validUntil, scope), "the consent is past its time"],
      [
        self.instrument === null || sameAsset(self.instrument, instrument),
        "the consent is for another instrument"
      ],
      [
        self.instrument === null || self.issuers.includes(issuer),
        "the consent is to another issuer"
      ],
      [self.powers.includes(power), "the holder has not consented to this power"],
      [receiver.issuer === self.venue, "the credential is not the venue's"],
      [receiver.holder !== self.holder, "a holder's units do not move to itself"],
      [portions.length > 0, "nothing to move"],
      [isOnce(portions), "a holding is named twice"],
      [isOnce(releases), "a lock is named twice"],
      [
        releases.every((release) =>
          portions.some(({ holdingCid }) => holdingCid === release.holdingCid)
        ),
        "a lock is of a holding that does not move"
      ]
    )
    yield* admits(receiver, { holder: receiver.holder, instrument, now: scope.now })
    const moved: Array<ConsentOutcome["moved"][number]> = []
    const released: Array<ConsentOutcome["released"][number]> = []
    for (const portion of portions) {
      const holding = yield* scope.fetch(Templates.Holding, portion.holdingCid)
      yield* demand(
        [holding.owner === self.holder, "a holding is another's"],
        [sameAsset(holding.instrument, instrument), "a holding is of another instrument"]
      )
      const release = releases.find(({ holdingCid }) => holdingCid === portion.holdingCid)
      const freed = yield* free(scope, holding, { holdingCid: portion.holdingCid, release })
      if (freed.released !== null) released.push(freed.released)
      const outcome = yield* scope.exercise(
        Templates.Credential,
        receiverCredentialCid,
        "ReceiveTransfer",
        { holdingCid: freed.holdingCid, sender: self.holder, amount: portion.amount }
      )
      moved.push({ ...portion, ...outcome })
    }
    return { moved, units: Decimal.sum(moved.map(({ amount }) => amount)), released }
  })

const isOnce = (named: ReadonlyArray<{ readonly holdingCid: string }>): boolean =>
  new Set(named.map(({ holdingCid }) => holdingCid)).size === named.length

type Release = ConsentUse["releases"][number]

/**
 * Unlocks the holding and ends the contract that locked it, so that no reference to the holding
 * remains.
 */
const free = (
  scope: Scope,
  holding: Holding,
  { holdingCid, release }: { readonly holdingCid: string; readonly release: Release | undefined }
) =>
  Result.gen(function* () {
    if (holding.lock === null) {
      yield* demand([release === undefined, "a holding to release is not locked"])
      return { holdingCid, released: null }
    }
    if (release === undefined) {
      return yield* abort("a locked holding moves only when what locks it is released with it")
    }
    const { contractId } = yield* end(scope, holding, release)
    return {
      holdingCid: contractId,
      released: { ...release, amount: holding.amount, unlockedCid: contractId }
    }
  })

/**
 * Ends the contract that locks a holding by its owner's choice, and returns the unlocked holding.
 */
const end = (
  scope: Scope,
  { owner, lock }: Holding,
  { holdingCid, lockedBy, contractId }: Release
) =>
  Result.gen(function* () {
    const fits = (locked: { readonly holdingCid: string }) =>
      demand([locked.holdingCid === holdingCid, "what is released locks another holding"])
    if (contractId === null) {
      const isLapsed =
        lockedBy === "lapsed" &&
        lock !== null &&
        lock.expiresAt !== null &&
        lock.expiresAt <= scope.now
      yield* demand([isLapsed, "a lock in force is released by what locks the holding"])
      return yield* scope.exercise(Templates.Holding, holdingCid, "Unlock", { releasers: [owner] })
    }
    switch (lockedBy) {
      case "allocation":
        yield* fits(yield* scope.fetch(Templates.Allocation, contractId))
        return yield* scope.exercise(Templates.Allocation, contractId, "Allocation_Withdraw", {})
      case "burn-request":
        yield* fits(yield* scope.fetch(Templates.BurnRequest, contractId))
        return yield* scope.exercise(Templates.BurnRequest, contractId, "Withdraw", {})
      case "transfer-offer":
        yield* fits(yield* scope.fetch(Templates.TransferOffer, contractId))
        return yield* scope.exercise(Templates.TransferOffer, contractId, "Withdraw", {})
      case "standing-commitment": {
        const { allocationCid } = yield* scope.fetch(Templates.StandingCommitment, contractId)
        yield* fits(yield* scope.fetch(Templates.Allocation, allocationCid))
        return yield* scope.exercise(Templates.StandingCommitment, contractId, "Withdraw", {})
      }
      case "lapsed":
        return yield* abort("a lapsed lock has no contract behind it")
    }
  })
