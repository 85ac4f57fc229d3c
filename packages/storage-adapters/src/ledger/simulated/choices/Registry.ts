/** Choice bodies of the registry: transfers, mints and burns, and whose authority each needs. */
import { Decimal, type Instant, Rational } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { abort, define, demand, type Scope } from "../Entity.ts"

/** Guards of `admits`. */
export const admitsGuards = [
  "the credential is another holder's",
  "the credential is for another instrument",
  "the credential is not in force"
] as const

/** Guards of `divide`. */
const divideGuards = [
  "the holding is locked",
  "the amount must be positive",
  "the holding has fewer units"
] as const

type Holding = Templates.Payload<typeof Templates.Holding>
type Credential = Templates.Payload<typeof Templates.Credential>

export const sameAsset = (left: Templates.Asset, right: Templates.Asset): boolean =>
  left.admin === right.admin && left.id === right.id

/** Checks that a decimal holds a count with so much more of it. */
export const isCountable = (count: Decimal.Decimal, more: Decimal.Decimal): boolean =>
  Rational.fits(Rational.add(Rational.of(count), Rational.of(more)))

/** Checks whether the credential permits this holder this instrument now. */
export const admits = (
  credential: Credential,
  to: {
    readonly holder: string
    readonly instrument: Templates.Asset
    readonly now: Instant.Instant
  }
) =>
  demand(
    [credential.holder === to.holder, "the credential is another holder's"],
    [
      credential.registrar === to.instrument.admin && credential.instrumentId === to.instrument.id,
      "the credential is for another instrument"
    ],
    [isLive(credential, to.now), "the credential is not in force"]
  )

const isLive = (credential: Credential, now: Instant.Instant): boolean =>
  (credential.validFrom === null || credential.validFrom <= now) &&
  (credential.validUntil === null || now < credential.validUntil)

export const instrumentConfiguration = define(Templates.InstrumentConfiguration, {
  signatories: ["registrar"],
  observers: ["provider", "issuer"],
  ensure: [
    ["the registrar is the instrument's own", (self) => self.instrument.admin === self.registrar]
  ],
  choices: {
    Update: {
      controllers: ["registrar"],
      body: ({ self, argument }, scope) =>
        Result.map(
          scope.create(Templates.InstrumentConfiguration, { ...self, ...argument }),
          (contractId) => ({ contractId })
        )
    },
    Retire: { controllers: ["registrar"], body: () => Result.succeed({}) }
  }
})

/** Splits an amount into the requested `part` and the rest, if any. */
const divide = (scope: Scope, self: Holding, part: Holding) =>
  Result.gen(function* () {
    yield* demand(
      [self.lock === null, "the holding is locked"],
      [Decimal.isPositive(part.amount), "the amount must be positive"],
      [Decimal.atMost(part.amount, self.amount), "the holding has fewer units"]
    )
    const rest = Decimal.subtract(self.amount, part.amount)
    const created = yield* scope.create(Templates.Holding, part)
    const change = Decimal.isZero(rest)
      ? null
      : yield* scope.create(Templates.Holding, { ...self, amount: rest })
    return { part: created, change }
  })

/** Locked to the registrar, so that only it can release the holding, as agreed. */
const lockedFor = (
  self: Holding,
  to: {
    readonly amount: Decimal.Decimal
    readonly observers: Holding["owner"][]
    readonly context: string
  }
): Holding => ({
  ...self,
  amount: to.amount,
  lock: {
    holders: [self.registrar],
    observers: to.observers,
    context: to.context,
    expiresAt: null
  }
})

export const holding = define(Templates.Holding, {
  signatories: ["registrar", "owner", "lock.holders"],
  observers: ["provider", "lock.observers"],
  ensure: [
    ["the amount is above 0", (self) => Decimal.isPositive(self.amount)],
    ["the registrar is the instrument's own", (self) => self.instrument.admin === self.registrar]
  ],
  implements: [
    {
      typeRef: Templates.HoldingV1.typeRef,
      view: (self) =>
        Templates.encodeView(Templates.HoldingV1, {
          owner: self.owner,
          instrumentId: self.instrument,
          amount: self.amount,
          lock:
            self.lock === null
              ? null
              : {
                  holders: self.lock.holders,
                  expiresAt: self.lock.expiresAt,
                  expiresAfter: null,
                  context: self.lock.context
                },
          meta: { values: self.meta }
        })
    }
  ],
  choices: {
    Transfer: {
      controllers: ["owner", "argument.newOwner"],
      guards: [
        "a restricted holding needs the receiver's credential",
        "the credential is not the provider's",
        ...admitsGuards,
        ...divideGuards
      ],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { newOwner, amount, credentialCid } = argument
          if (self.restricted) {
            if (credentialCid === null)
              return yield* abort("a restricted holding needs the receiver's credential")
            const credential = yield* scope.fetch(Templates.Credential, credentialCid)
            yield* demand([
              credential.issuer === self.provider,
              "the credential is not the provider's"
            ])
            yield* admits(credential, {
              holder: newOwner,
              instrument: self.instrument,
              now: scope.now
            })
          }
          const moved = { ...self, owner: newOwner, amount, meta: {} }
          const { part, change } = yield* divide(scope, self, moved)
          return { received: part, change }
        })
    },
    Lock: {
      controllers: ["owner", "argument.holders"],
      guards: ["a lock needs a holder", ...divideGuards],
      body: ({ self, argument: { amount, ...lock } }, scope) =>
        Result.gen(function* () {
          yield* demand([lock.holders.length > 0, "a lock needs a holder"])
          const { part, change } = yield* divide(scope, self, { ...self, amount, lock })
          return { locked: part, change }
        })
    },
    Merge: {
      controllers: ["owner"],
      guards: [
        "the holding is locked",
        "a holding to merge is locked",
        "a holding to merge is of another kind",
        "the merged amount is beyond a decimal"
      ],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          yield* demand([self.lock === null, "the holding is locked"])
          let amount = self.amount
          for (const contractId of argument.holdingCids) {
            const other = yield* scope.fetch(Templates.Holding, contractId)
            yield* demand(
              [other.lock === null, "a holding to merge is locked"],
              [
                other.owner === self.owner &&
                  other.provider === self.provider &&
                  other.restricted === self.restricted &&
                  sameAsset(other.instrument, self.instrument),
                "a holding to merge is of another kind"
              ],
              [isCountable(amount, other.amount), "the merged amount is beyond a decimal"]
            )
            yield* scope.archive(Templates.Holding, contractId)
            amount = Decimal.add(amount, other.amount)
          }
          return { contractId: yield* scope.create(Templates.Holding, { ...self, amount }) }
        })
    },
    Allocate: {
      controllers: ["owner"],
      guards: ["the settlement is already past", ...divideGuards],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { allocationId, executor, receiver, amount, settleBefore } = argument
          yield* demand([scope.now < settleBefore, "the settlement is already past"])
          const locked = lockedFor(self, {
            amount,
            observers: [executor, receiver],
            context: allocationId
          })
          const { part, change } = yield* divide(scope, self, locked)
          const allocation = yield* scope.create(Templates.Allocation, {
            registrar: self.registrar,
            sender: self.owner,
            receiver,
            executor,
            reference: allocationId,
            holdingCid: part,
            instrument: self.instrument,
            amount,
            settleBefore
          })
          return { allocation, change }
        })
    },
    OfferTransfer: {
      controllers: ["owner"],
      guards: ["the offer would already be past", ...divideGuards],
      body: ({ self, argument: { receiver, amount, executeBefore } }, scope) =>
        Result.gen(function* () {
          yield* demand([scope.now < executeBefore, "the offer would already be past"])
          const locked = lockedFor(self, {
            amount,
            observers: [receiver],
            context: "transfer-offer"
          })
          const { part, change } = yield* divide(scope, self, locked)
          const offer = yield* scope.create(Templates.TransferOffer, {
            registrar: self.registrar,
            provider: self.provider,
            sender: self.owner,
            receiver,
            holdingCid: part,
            instrument: self.instrument,
            amount,
            executeBefore
          })
          return { offer, change }
        })
    },
    RequestBurn: {
      controllers: ["owner"],
      guards: ["the request would already be past", ...divideGuards],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { amount, executeBefore, custodian } = argument
          yield* demand([scope.now < executeBefore, "the request would already be past"])
          const locked = lockedFor(self, {
            amount,
            observers: custodian === null ? [] : [custodian],
            context: argument.reference.id
          })
          const { part, change } = yield* divide(scope, self, locked)
          const burnRequest = yield* scope.create(Templates.BurnRequest, {
            ...argument,
            registrar: self.registrar,
            provider: self.provider,
            holder: self.owner,
            instrument: self.instrument,
            holdingCid: part,
            requestedAt: scope.now
          })
          return { burnRequest, change }
        })
    },
    Unlock: {
      controllers: ["argument.releasers"],
      guards: ["the holding is not locked", "the owner and every lock holder must release"],
      body: ({ self, argument: { releasers } }, scope) =>
        Result.gen(function* () {
          const { lock } = self
          if (lock === null) return yield* abort("the holding is not locked")
          const expired = lock.expiresAt !== null && lock.expiresAt <= scope.now
          const needed = expired ? [self.owner] : [self.owner, ...lock.holders]
          yield* demand([
            needed.every((party) => releasers.includes(party)),
            "the owner and every lock holder must release"
          ])
          return { contractId: yield* scope.create(Templates.Holding, { ...self, lock: null }) }
        })
    },
    Burn: {
      controllers: ["registrar", "owner", "lock.holders"],
      body: () => Result.succeed({})
    }
  }
})

const unlock = (
  scope: Scope,
  {
    holdingCid,
    sender,
    registrar
  }: {
    readonly holdingCid: string
    readonly registrar: Holding["registrar"]
    readonly sender: Holding["owner"]
  }
) =>
  scope.exercise(Templates.Holding, holdingCid, "Unlock", {
    releasers: [sender, registrar]
  })

const moveUnlocked = (
  scope: Scope,
  movement: Parameters<typeof unlock>[1] & {
    readonly receiver: Holding["owner"]
    readonly amount: Decimal.Decimal
  },
  credentialCid: string | null
) =>
  Result.gen(function* () {
    const { contractId } = yield* unlock(scope, movement)
    const { received } = yield* scope.exercise(Templates.Holding, contractId, "Transfer", {
      newOwner: movement.receiver,
      amount: movement.amount,
      credentialCid
    })
    return { received }
  })

export const allocation = define(Templates.Allocation, {
  signatories: ["registrar", "sender"],
  observers: ["executor", "receiver"],
  implements: [
    {
      typeRef: Templates.AllocationV1.typeRef,
      view: (self) =>
        Templates.encodeView(Templates.AllocationV1, {
          allocation: {
            settlement: {
              executor: self.executor,
              settlementRef: { id: self.reference, cid: null },
              requestedAt: self.settleBefore,
              allocateBefore: self.settleBefore,
              settleBefore: self.settleBefore,
              meta: { values: {} }
            },
            transferLegId: self.reference,
            transferLeg: {
              sender: self.sender,
              receiver: self.receiver,
              amount: self.amount,
              instrumentId: self.instrument,
              meta: { values: {} }
            }
          },
          holdingCids: [self.holdingCid],
          meta: { values: {} }
        })
    }
  ],
  choices: {
    Allocation_ExecuteTransfer: {
      controllers: ["executor", "sender", "receiver"],
      guards: ["the allocation is past its time"],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          yield* demand([scope.now < self.settleBefore, "the allocation is past its time"])
          return yield* moveUnlocked(scope, self, argument.credentialCid)
        })
    },
    Allocation_Cancel: {
      controllers: ["executor", "sender", "receiver"],
      body: ({ self }, scope) => unlock(scope, self)
    },
    Allocation_Withdraw: {
      controllers: ["sender"],
      body: ({ self }, scope) => unlock(scope, self)
    }
  }
})

export const transferOffer = define(Templates.TransferOffer, {
  signatories: ["registrar", "sender"],
  observers: ["receiver", "provider"],
  choices: {
    Accept: {
      controllers: ["receiver"],
      guards: ["the offer is past its time"],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          yield* demand([scope.now < self.executeBefore, "the offer is past its time"])
          return yield* moveUnlocked(scope, self, argument.credentialCid)
        })
    },
    Reject: {
      controllers: ["receiver"],
      body: ({ self }, scope) => unlock(scope, self)
    },
    Withdraw: {
      controllers: ["sender"],
      body: ({ self }, scope) => unlock(scope, self)
    }
  }
})

export const mintRequest = define(Templates.MintRequest, {
  signatories: ["requester"],
  observers: ["instrument.admin", "holder"],
  ensure: [["the amount is above 0", (self) => Decimal.isPositive(self.amount)]],
  choices: {
    Accept: {
      controllers: ["instrument.admin"],
      guards: [
        "the request is past its time",
        "the credential is not the requester's",
        ...admitsGuards
      ],
      body: ({ self, argument: { credentialCid, configurationCid } }, scope) =>
        Result.gen(function* () {
          const { amount, reference, executeBefore } = self
          yield* demand([
            executeBefore === null || scope.now < executeBefore,
            "the request is past its time"
          ])
          const credential = yield* scope.fetch(Templates.Credential, credentialCid)
          yield* demand([
            credential.issuer === self.requester,
            "the credential is not the requester's"
          ])
          yield* admits(credential, { ...self, now: scope.now })
          return yield* scope.exercise(Templates.Credential, credentialCid, "Receive", {
            amount,
            reference,
            configurationCid
          })
        })
    },
    Reject: { controllers: ["instrument.admin"], body: () => Result.succeed({}) },
    Withdraw: { controllers: ["requester"], body: () => Result.succeed({}) }
  }
})

export const burnRequest = define(Templates.BurnRequest, {
  signatories: ["registrar", "holder"],
  observers: ["provider", "custodian"],
  ensure: [
    ["the amount is above 0", (self) => Decimal.isPositive(self.amount)],
    ["the registrar is the instrument's own", (self) => self.instrument.admin === self.registrar]
  ],
  choices: {
    Accept: {
      controllers: ["registrar"],
      guards: ["the request is past its time"],
      body: ({ self }, scope) =>
        Result.gen(function* () {
          yield* demand([scope.now < self.executeBefore, "the request is past its time"])
          yield* scope.exercise(Templates.Holding, self.holdingCid, "Burn", {})
          return {}
        })
    },
    Reject: {
      controllers: ["registrar"],
      body: ({ self }, scope) => unlock(scope, { ...self, sender: self.holder })
    },
    Withdraw: {
      controllers: ["holder"],
      body: ({ self }, scope) => unlock(scope, { ...self, sender: self.holder })
    }
  }
})

/** Checks whether the instrument requires credentials; its own configuration may waive them. */
const isRestricted = (scope: Scope, self: Credential, configurationCid: string | null) =>
  Result.gen(function* () {
    if (configurationCid === null) return true
    const { instrument, holderRequirements } = yield* scope.fetch(
      Templates.InstrumentConfiguration,
      configurationCid
    )
    yield* demand([
      sameAsset(instrument, { admin: self.registrar, id: self.instrumentId }),
      "the configuration is of another instrument"
    ])
    return holderRequirements.length > 0
  })

export const credential = define(Templates.Credential, {
  signatories: ["issuer", "holder"],
  observers: ["registrar"],
  choices: {
    Receive: {
      controllers: ["registrar"],
      guards: [...admitsGuards, "the configuration is of another instrument"],
      body: ({ self, argument: { amount, reference, configurationCid } }, scope) =>
        Result.gen(function* () {
          const instrument = { admin: self.registrar, id: self.instrumentId }
          yield* admits(self, { holder: self.holder, instrument, now: scope.now })
          const minted = yield* scope.create(Templates.Holding, {
            registrar: self.registrar,
            owner: self.holder,
            provider: self.issuer,
            instrument,
            amount,
            restricted: yield* isRestricted(scope, self, configurationCid),
            lock: null,
            label: "",
            meta: { "bursar/reference-kind": reference.kind, "bursar/reference-id": reference.id }
          })
          return { holding: minted }
        })
    },
    ReceiveTransfer: {
      controllers: ["argument.sender"],
      guards: ["the holding is not the sender's", "the holding is of another instrument"],
      body: ({ self, contractId, argument: { holdingCid, sender, amount } }, scope) =>
        Result.gen(function* () {
          const from = yield* scope.fetch(Templates.Holding, holdingCid)
          yield* demand(
            [from.owner === sender, "the holding is not the sender's"],
            [
              sameAsset(from.instrument, { admin: self.registrar, id: self.instrumentId }),
              "the holding is of another instrument"
            ]
          )
          return yield* scope.exercise(Templates.Holding, holdingCid, "Transfer", {
            newOwner: self.holder,
            amount,
            credentialCid: contractId
          })
        })
    },
    Revoke: { controllers: ["issuer"], body: () => Result.succeed({}) },
    Renounce: { controllers: ["holder"], body: () => Result.succeed({}) }
  }
})
