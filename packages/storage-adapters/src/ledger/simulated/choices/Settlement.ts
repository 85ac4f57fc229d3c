/** Choice bodies of settlement: requests for legs, and a fund's provision of cash. */
import { Decimal, type Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { abort, define, demand, type Scope } from "../Entity.ts"
import { sameAsset } from "./Registry.ts"

type Intent = Templates.Payload<typeof Templates.SettlementIntent>

const partiesOf = (self: Intent) => self.legs.flatMap((leg) => [leg.sender, leg.receiver])

export const settlementIntent = define(Templates.SettlementIntent, {
  signatories: ["venue"],
  observers: ["legs.sender", "legs.receiver"],
  ensure: [
    ["it has a leg", (self) => self.legs.length > 0],
    [
      "it settles no earlier than its allocations end",
      (self) => self.allocateBefore <= self.settleBefore
    ]
  ],
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
    Complete: { controllers: ["venue"], body: () => Result.succeed({}) },
    AllocationRequest_Withdraw: {
      controllers: ["venue"],
      body: () => Result.succeed({})
    },
    AllocationRequest_Reject: {
      controllers: ["argument.actor"],
      guards: ["only a party of a leg may reject"],
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
  signatories: ["venue"],
  observers: ["fund"],
  ensure: [["a limit is above 0", (self) => self.limit === null || Decimal.isPositive(self.limit)]],
  choices: {
    Accept: {
      controllers: ["fund"],
      guards: ["the consent would already be past"],
      body: ({ self }, scope) =>
        Result.gen(function* () {
          yield* demand([isInTime(self.until, scope.now), "the consent would already be past"])
          return { contractId: yield* scope.create(Templates.ProvisionSettlement, self) }
        })
    },
    Decline: { controllers: ["fund"], body: ends },
    Withdraw: { controllers: ["venue"], body: ends }
  }
})

export const provisionSettlement = define(Templates.ProvisionSettlement, {
  signatories: ["venue", "fund"],
  observers: ["cash.admin"],
  choices: {
    Draw: {
      controllers: ["venue"],
      guards: [
        "the fund's consent is past its time",
        "more than the fund allows",
        "a draw names the fund's cash",
        "a holding is not the fund's",
        "a holding is of another asset",
        "the fund has not named this cash"
      ],
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
    End: { controllers: ["fund"], body: ends }
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
