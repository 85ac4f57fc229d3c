/** Choice bodies of settlement: requests for legs, and a fund's provision of cash. */
import { Decimal, type Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { abort, define, demand, type Scope } from "../Entity.ts"
import { sameAsset } from "./Registry.ts"

type Intent = Templates.Payload<typeof Templates.SettlementIntent>

const partiesOf = (self: Intent) => self.legs.flatMap((leg) => [leg.sender, leg.receiver])

export const settlementIntent = define(Templates.SettlementIntent, {
  signatories: (self) => [self.venue],
  observers: partiesOf,
  ensure: (self) => self.legs.length > 0 && self.allocateBefore <= self.settleBefore,
  implements: [
    {
      typeRef: Templates.AllocationRequestV1.typeRef,
      view: (self) =>
        Templates.encodeView(Templates.AllocationRequestV1, {
          settlement: {
            executor: self.venue,
            settlementRef: { id: self.reference.id, cid: null },
            requestedAt: self.requestedAt,
            allocateBefore: self.allocateBefore,
            settleBefore: self.settleBefore,
            meta: { values: {} }
          },
          transferLegs: Object.fromEntries(
            self.legs.map(({ legId, sender, receiver, amount, instrument }) => [
              legId,
              { sender, receiver, amount, instrumentId: instrument, meta: { values: {} } }
            ])
          ),
          meta: { values: {} }
        })
    }
  ],
  choices: {
    Complete: { controllers: (self) => [self.venue], body: () => Result.succeed({}) },
    AllocationRequest_Withdraw: {
      controllers: (self) => [self.venue],
      body: () => Result.succeed({})
    },
    AllocationRequest_Reject: {
      controllers: (_, { actor }) => [actor],
      body: ({ self, argument }) =>
        Result.map(
          demand([partiesOf(self).includes(argument.actor), "only a party of a leg may reject"]),
          () => ({})
        )
    }
  }
})

type Provision = Templates.Payload<typeof Templates.ProvisionSettlement>

const ends = () => Result.succeed({})

const isInTime = (until: Instant.Instant | null, now: Instant.Instant): boolean =>
  until === null || now < until

export const provisionSettlementProposal = define(Templates.ProvisionSettlementProposal, {
  signatories: (self) => [self.venue],
  observers: (self) => [self.fund],
  ensure: (self) => self.limit === null || Decimal.isPositive(self.limit),
  choices: {
    Accept: {
      controllers: (self) => [self.fund],
      body: ({ self }, scope) =>
        Result.gen(function* () {
          yield* demand([isInTime(self.until, scope.now), "the consent would already be past"])
          return { contractId: yield* scope.create(Templates.ProvisionSettlement, self) }
        })
    },
    Decline: { controllers: (self) => [self.fund], body: ends },
    Withdraw: { controllers: (self) => [self.venue], body: ends }
  }
})

export const provisionSettlement = define(Templates.ProvisionSettlement, {
  signatories: (self) => [self.venue, self.fund],
  observers: (self) => [self.cash.admin],
  choices: {
    Draw: {
      controllers: (self) => [self.venue],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { holdingCids, receiver, amount, reference, settleBefore } = argument
          yield* demand(
            [isInTime(self.until, scope.now), "the fund's consent is past its time"],
            [self.limit === null || Decimal.atMost(amount, self.limit), "more than the fund allows"]
          )
          const source = yield* named(scope, self, holdingCids)
          return yield* scope.exercise(Templates.Holding, source, "Allocate", {
            allocationId: reference,
            executor: self.venue,
            receiver,
            amount,
            settleBefore
          })
        })
    },
    End: { controllers: (self) => [self.fund], body: ends }
  }
})

/**
 * Merges the cash that the fund provided into one holding: its own, of the agreed asset, visible to
 * the venue.
 */
const named = (scope: Scope, self: Provision, holdingCids: ReadonlyArray<string>) =>
  Result.gen(function* () {
    const [first, ...others] = holdingCids
    if (first === undefined) return yield* abort("a draw names the fund's cash")
    for (const contractId of holdingCids) {
      const holding = yield* scope.fetch(Templates.Holding, contractId)
      yield* demand(
        [holding.owner === self.fund, "a holding is not the fund's"],
        [sameAsset(holding.instrument, self.cash), "a holding is of another asset"],
        [holding.provider === self.venue, "the fund has not named this cash"]
      )
    }
    if (others.length === 0) return first
    const { contractId } = yield* scope.exercise(Templates.Holding, first, "Merge", {
      holdingCids: others
    })
    return contractId
  })
