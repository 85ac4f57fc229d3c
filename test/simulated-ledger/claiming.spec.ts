/**
 * Orders that a market accepts: addressed to it, for its instrument and its cash, in time, into its
 * own open cycle.
 */
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { decimal, aborts } = Dealing

describe.each(["SubscriptionOrder", "RedemptionOrder"] as const)(
  "a %s would be claimed",
  (kind) => {
    type Order = Templates.Payload<typeof Templates.RedemptionOrder>
    const claimed = (
      other: (floor: Dealing.Floor) => Partial<Order>,
      cycle: (
        floor: Dealing.Floor
      ) => Effect.Effect<string | null, unknown, SimulatedLedger.Participant> = () =>
        Effect.succeed(null)
    ) =>
      Effect.gen(function* () {
        const floor = yield* Dealing.floor
        const { sessionOf, instrument, cash, market } = floor
        const { custodian, ...signed } = {
          venue: sessionOf("venue").party,
          fund: sessionOf("fund").party,
          holder: sessionOf("alice").party,
          orderId: "o1",
          instrument,
          paymentAsset: cash,
          amount: null,
          units: decimal("10"),
          custodian: null,
          expiresAt: null,
          ...other(floor)
        }
        const orderCid = yield* World.make(
          sessionOf("alice"),
          kind,
          kind === "RedemptionOrder"
            ? Templates.create(Templates.RedemptionOrder, { ...signed, custodian })
            : Templates.create(Templates.SubscriptionOrder, signed)
        )
        const cycleCid = yield* cycle(floor)
        const by = { orderCid, custodian: sessionOf("custodian").party, currency: "EUR", cycleCid }
        const claim =
          kind === "RedemptionOrder"
            ? Templates.exercise(Templates.PrimaryMarket, market, "ClaimRedemption", {
                ...by,
                redemptionId: "red-1"
              })
            : Templates.exercise(Templates.PrimaryMarket, market, "ClaimSubscription", {
                ...by,
                subscriptionId: "sub-1",
                feeRate: null,
                cashDecimals: 2
              })
        return yield* Effect.flip(World.act(sessionOf("venue"), claim))
      })

    const rows: ReadonlyArray<readonly [string, string, Parameters<typeof claimed>]> = [
      [
        "by another fund's market",
        "the order is not to this market",
        [({ sessionOf }) => ({ fund: sessionOf("bob").party })]
      ],
      [
        "for another instrument",
        "the order is for another instrument",
        [({ instrument }) => ({ instrument: { ...instrument, id: "FUND-B" } })]
      ],
      [
        "for another currency",
        "the order pays in another asset",
        [({ cash }) => ({ paymentAsset: { ...cash, id: "USD" } })]
      ],
      [
        "past its time",
        "the order is past its time",
        [() => ({ expiresAt: Instant.of("1970-01-01T00:00:00Z") })]
      ],
      [
        "into a cycle past its cut-off",
        "the cycle takes no more orders",
        [
          () => ({}),
          (floor) => Effect.tap(Dealing.openCycle(floor), () => TestClock.adjust("24 hours"))
        ]
      ],
      [
        "into another fund's cycle",
        "the cycle is another market's",
        [
          () => ({}),
          (floor) =>
            Effect.gen(function* () {
              const { instrument } = floor
              const terms = { marketId: "m2", instrument, fundHint: "custodian" } as const
              const market = yield* Dealing.marketOf(floor.sessionOf, terms)
              return yield* Dealing.openCycle({ ...floor, market })
            })
        ]
      ],
      [
        "into a cycle of the same fund that pays in another asset",
        "the cycle is another market's",
        [
          () => ({}),
          (floor) =>
            Effect.gen(function* () {
              const { instrument } = floor
              const terms = { marketId: "m2", instrument, currency: "USD" } as const
              const market = yield* Dealing.marketOf(floor.sessionOf, terms)
              return yield* Dealing.openCycle({ ...floor, market })
            })
        ]
      ],
      [
        "into another instrument's cycle",
        "the cycle is of another instrument",
        [
          () => ({}),
          (floor) =>
            Effect.gen(function* () {
              const instrument = { ...floor.instrument, id: "FUND-B" }
              const market = yield* Dealing.marketOf(floor.sessionOf, {
                marketId: "m2",
                instrument
              })
              return yield* Dealing.openCycle({ ...floor, market })
            })
        ]
      ]
    ]
    it.effect.each(rows)("%s", ([, message, [other, cycle]]) =>
      Effect.gen(function* () {
        expect(yield* claimed(other, cycle)).toMatchObject(aborts(message))
      }).pipe(Effect.provide(ledger))
    )

    if (kind === "RedemptionOrder") {
      it.effect("for another custodian", () =>
        Effect.gen(function* () {
          const other = claimed(({ sessionOf }) => ({ custodian: sessionOf("bob").party }))
          expect(yield* other).toMatchObject(aborts("the order names another custodian"))
        }).pipe(Effect.provide(ledger))
      )
    }
  }
)
