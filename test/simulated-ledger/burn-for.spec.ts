/**
 * Burns by the market under the authority of venue and holder: units of its own instrument that
 * this holder gave to its fund, and no others.
 */
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { SimulatedUnderTest } from "@bursar/storage-adapters/conformance"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { decimal } = Dealing

type Asked = Templates.Argument<typeof Templates.PrimaryMarket, "BurnFor">
type Put = Parameters<typeof Dealing.allocate>[1]

/** Venue and bob speak together, as they do inside a redemption: the market must look for itself. */
const scene = Effect.gen(function* () {
  const floor = yield* Dealing.floor
  const { sessionOf, market } = floor
  const participant = yield* SimulatedLedger.Participant
  const parties = [sessionOf("venue").party, sessionOf("bob").party]
  const user = yield* participant.admin.addParty({
    hint: "both",
    kind: "local",
    rights: parties.map((party) => ({ kind: "CanActAs", party }))
  })
  const both = SimulatedUnderTest.session(participant, user)
  const put = (other: Partial<Put> = {}) =>
    Effect.gen(function* () {
      const owner = other.owner ?? "bob"
      const minted =
        owner === "alice" || owner === "bob" ? yield* Dealing.mint(floor, owner, "100") : ""
      return yield* Dealing.allocate(floor, {
        owner,
        holding: minted,
        to: "fund",
        amount: "100",
        reference: "red-1",
        ...other
      })
    })
  const burn = (unitsAllocationCid: string, other: Partial<Asked> = {}) =>
    both.submit({
      ...World.submission(
        Templates.exercise(Templates.PrimaryMarket, market, "BurnFor", {
          redemptionId: "red-1",
          holder: sessionOf("bob").party,
          unitsAllocationCid,
          units: decimal("60"),
          ...other
        })
      ),
      actAs: parties
    })
  return { ...floor, floor, put, burn }
})
type Scene = Effect.Success<typeof scene>

describe("the market burns for a redemption", () => {
  it.effect("what is asked, and gives the rest back unlocked", () =>
    Effect.gen(function* () {
      const { sessionOf, instrument, put, burn } = yield* scene
      yield* burn(yield* put())
      expect(yield* Dealing.balance(sessionOf("bob"), instrument)).toBe("40")
      for (const { lock } of yield* Dealing.holdingsOf(sessionOf("bob"))) expect(lock).toBeNull()
    }).pipe(Effect.provide(ledger))
  )

  const rows: ReadonlyArray<
    readonly [
      string,
      string,
      (at: Scene) => Effect.Effect<Partial<Put>, unknown, SimulatedLedger.Participant>,
      Partial<Record<"units", string>>
    ]
  > = [
    [
      "another holder's units",
      "the units are another holder's",
      () => Effect.succeed({ owner: "alice" }),
      {}
    ],
    [
      "units that the venue does not execute",
      "the venue does not execute the allocation",
      () => Effect.succeed({ executor: "alice", to: "venue" }),
      {}
    ],
    [
      "units on their way to another holder",
      "the units are not allocated to the fund",
      () => Effect.succeed({ to: "alice" }),
      {}
    ],
    [
      "cash",
      "the units are of another instrument",
      ({ floor }) => Effect.map(Dealing.give(floor, "bob", "100"), (holding) => ({ holding })),
      {}
    ],
    ["nothing", "nothing to burn", () => Effect.succeed({}), { units: "0" }],
    ["less than nothing", "nothing to burn", () => Effect.succeed({}), { units: "-1" }],
    [
      "more than is allocated",
      "fewer units are allocated",
      () => Effect.succeed({}),
      { units: "100.000001" }
    ]
  ]
  it.effect.each(rows)("but does not burn %s", ([, message, other, argument]) =>
    Effect.gen(function* () {
      const at = yield* scene
      const allocation = yield* at.put(yield* other(at))
      const units = argument.units === undefined ? {} : { units: decimal(argument.units) }
      expect(yield* Effect.flip(at.burn(allocation, units))).toMatchObject(Dealing.aborts(message))
    }).pipe(Effect.provide(ledger))
  )

  it.effect("but burns no units that their holder gave for less time than this took", () =>
    Effect.gen(function* () {
      const { put, burn } = yield* scene
      const allocation = yield* put()
      yield* TestClock.setTime(Instant.toEpochMillis(Dealing.farDeadline))
      const refusal = Dealing.aborts("the allocation is past its time")
      expect(yield* Effect.flip(burn(allocation))).toMatchObject(refusal)
    }).pipe(Effect.provide(ledger))
  )
})
