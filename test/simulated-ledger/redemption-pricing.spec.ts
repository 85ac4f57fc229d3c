/** By which figures an oracle may price a redemption. */
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { decimal, aborts } = Dealing

type Pricing = Templates.Argument<typeof Templates.RedemptionClaim, "Price">
type Figures = readonly [
  what: string,
  message: string,
  ordered: { readonly units: string } | { readonly amount: string },
  figures: (
    floor: Dealing.Floor
  ) => Effect.Effect<Partial<Pricing>, unknown, SimulatedLedger.Participant>
]
const figures =
  (units: string, proceeds: string): Figures[3] =>
  () =>
    Effect.succeed({ units: decimal(units), proceeds: decimal(proceeds) })
const pointOf =
  (by: Omit<Parameters<typeof Dealing.publish>[1], "value">): Figures[3] =>
  ({ sessionOf }) =>
    Effect.map(Dealing.publish(sessionOf, { value: Dealing.price, ...by }), (pointCid) => ({
      pointCid
    }))

const mispriced: ReadonlyArray<Figures> = [
  [
    "another instrument's point",
    "the point is of another instrument",
    { units: "1000" },
    pointOf({ instrumentId: "FUND-B" })
  ],
  [
    "another oracle's point",
    "the point is another oracle's",
    { units: "1000" },
    pointOf({ oracle: "attestor" })
  ],
  [
    "a point of another register's instrument",
    "the point is of another register",
    { units: "1000" },
    pointOf({ registrar: "bank" })
  ],
  [
    "other units than ordered",
    "other units than ordered",
    { units: "1000" },
    figures("999", "1000")
  ],
  [
    "another amount than ordered",
    "another amount than ordered",
    { amount: "1000" },
    figures("1000", "999")
  ],
  [
    "more cash than the units' price",
    "the proceeds are more than the units' price",
    { units: "1000" },
    figures("1000", "1043.71")
  ],
  [
    "too few units for the amount",
    "the proceeds are more than the units' price",
    { amount: "1043.71" },
    figures("1000", "1043.71")
  ],
  ["nothing paid", "a redemption pays something", { units: "1000" }, figures("1000", "0")],
  [
    "no price",
    "price and units are positive",
    { units: "1000" },
    () => Effect.succeed({ price: decimal("0") })
  ],
  [
    "a price that counts beyond every amount",
    "the units are worth more than can be counted",
    { units: "1000" },
    () => Effect.succeed({ price: decimal("1000000000000000000000000000") })
  ]
]

describe("the oracle's price of a redemption is refused for", () => {
  it.effect.each(mispriced)("%s", ([, message, ordered, other]) =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const { sessionOf, point, price } = { ...floor, price: Dealing.price }
      const claim = yield* Dealing.redeem(floor, { holder: "alice", id: "red-1", ...ordered })
      const act = Templates.exercise(Templates.RedemptionClaim, claim, "Price", {
        pointCid: point,
        price,
        units: decimal("1000"),
        proceeds: decimal("1043.7"),
        ...(yield* other(floor))
      })
      expect(yield* Effect.flip(World.act(sessionOf("oracle"), act))).toMatchObject(aborts(message))
    }).pipe(Effect.provide(ledger))
  )
})
