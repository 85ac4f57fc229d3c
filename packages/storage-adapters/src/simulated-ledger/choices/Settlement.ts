/** How a settlement's request ends: done, taken back by the venue, or rejected by a party to it. */
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { define, demand } from "../Entity.ts"

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
