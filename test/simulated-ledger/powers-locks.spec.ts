/** Locked units that move by force: what locks them ends with the move and is named, nothing is left to name them, and no lock opens by another's key. */
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Dealing from "./dealing.ts"
import * as Powers from "./powers.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { decimal, aborts } = Dealing

const noon = Instant.of("1970-01-02T12:00:00Z")

interface Locking {
  readonly holding: string
  readonly amount: string
  readonly name: string
}
/** Locks a part of alice's holding; returns the contract that locks it, null if there is none. */
type Lock = (
  scene: Powers.Scene,
  locking: Locking
) => Effect.Effect<string | null, unknown, SimulatedLedger.Participant>

const allocated: Lock = (scene, { holding, amount, name }) =>
  Dealing.allocate(scene.floor, { owner: "alice", holding, to: "fund", amount, reference: name })

const byBurnRequest: Lock = ({ sessionOf }, { holding, amount, name }) =>
  World.make(
    sessionOf("alice"),
    "BurnRequest",
    Templates.exercise(Templates.Holding, holding, "RequestBurn", {
      amount: decimal(amount),
      reference: { kind: "redemption", id: name },
      custodian: null,
      executeBefore: Dealing.farDeadline
    })
  )

const offered: Lock = ({ sessionOf }, { holding, amount }) =>
  World.make(
    sessionOf("alice"),
    "TransferOffer",
    Templates.exercise(Templates.Holding, holding, "OfferTransfer", {
      receiver: sessionOf("carol").party,
      amount: decimal(amount),
      executeBefore: Dealing.farDeadline
    })
  )

const committed: Lock = ({ sessionOf, market, instrument }, { holding, amount, name }) =>
  Effect.gen(function* () {
    const funding = [
      { party: sessionOf("alice").party, asset: instrument, amount: decimal(amount) }
    ]
    const standingContract = yield* World.make(
      sessionOf("venue"),
      "StandingSettlement",
      Templates.exercise(Templates.PrimaryMarket, market, "OpenStanding", {
        standingSettlementId: name,
        funding,
        deadline: null,
        expiresAt: Dealing.farDeadline
      })
    )
    return yield* World.make(
      sessionOf("alice"),
      "StandingCommitment",
      Templates.exercise(Templates.StandingSettlement, standingContract, "Commit", {
        party: sessionOf("alice").party,
        holdingCid: holding,
        amount: decimal(amount)
      })
    )
  })

/** Locked to others by the holder's own word, with nothing behind it. */
const lockedTo =
  (hint: Dealing.Hint, expiresAt: Instant.Instant | null): Lock =>
  ({ say, sessionOf }, { holding, amount, name }) =>
    Effect.as(
      say(
        ["alice", hint],
        Templates.exercise(Templates.Holding, holding, "Lock", {
          holders: [sessionOf(hint).party],
          observers: [],
          context: name,
          expiresAt,
          amount: decimal(amount)
        })
      ),
      null
    )

const kinds: ReadonlyArray<readonly [kind: Exclude<Templates.ReleasedLock, "lapsed">, lock: Lock]> =
  [
    ["allocation", allocated],
    ["burn-request", byBurnRequest],
    ["transfer-offer", offered],
    ["standing-commitment", committed]
  ]

const every: ReadonlyArray<readonly [kind: Templates.ReleasedLock, lock: Lock]> = [
  ...kinds,
  ["lapsed", lockedTo("carol", noon)]
]

/** The holding of alice's with this amount, locked or not. */
const alices = ({ sessionOf }: Powers.Scene, amount: string) =>
  Effect.map(
    Dealing.holdingsOf(sessionOf("alice")),
    (found) => found.find((one) => one.amount === decimal(amount))?.contractId ?? ""
  )

/** Alice has 400 locked and 600 free; the lock is past its time where it has one. */
const partly = (lock: Lock) =>
  Effect.gen(function* () {
    const scene = yield* Powers.scene
    const contractId = yield* lock(scene, { holding: scene.units, amount: "400", name: "red-1" })
    const locked = yield* alices(scene, "400")
    yield* TestClock.setTime(Instant.toEpochMillis(noon))
    return { scene, contractId, locked, free: yield* alices(scene, "600") }
  })

describe("a forced move of locked units", () => {
  it.effect.each(every)("ends their %s, names it, and leaves nothing behind", ([lockedBy, lock]) =>
    Effect.gen(function* () {
      const { scene, contractId, locked, free } = yield* partly(lock)
      const { moved, released, units } = Powers.outcomeOf(
        yield* scene.force({
          holdingCids: [free, locked],
          amounts: [decimal("600"), decimal("400")],
          releases: [{ holdingCid: locked, lockedBy, contractId }]
        })
      )
      expect(released).toEqual([
        {
          holdingCid: locked,
          lockedBy,
          contractId,
          amount: decimal("400"),
          unlockedCid: released[0]?.unlockedCid
        }
      ])
      expect(moved.map((one) => one.holdingCid)).toEqual([free, locked])
      expect(units).toBe(decimal("1000"))
      expect(yield* Dealing.holdingsOf(scene.sessionOf("alice"))).toEqual([])
      for (const one of yield* Dealing.holdingsOf(scene.sessionOf("bob")))
        expect(one.lock).toBeNull()
      expect(yield* Dealing.balance(scene.sessionOf("bob"), scene.instrument)).toBe("1000")
      expect(yield* Powers.dangling(scene)).toEqual([])
      for (const template of [
        Templates.Allocation,
        Templates.BurnRequest,
        Templates.TransferOffer
      ]) {
        expect(yield* Powers.all(scene.sessionOf("registrar"), template)).toEqual([])
      }
      expect(yield* Powers.all(scene.sessionOf("venue"), Templates.StandingCommitment)).toEqual([])
    }).pipe(Effect.provide(ledger))
  )

  it.effect.each(every)("leaves what does not move of a released %s free", ([lockedBy, lock]) =>
    Effect.gen(function* () {
      const { scene, contractId, locked } = yield* partly(lock)
      yield* scene.force({
        holdingCids: [locked],
        amounts: [decimal("150")],
        releases: [{ holdingCid: locked, lockedBy, contractId }]
      })
      const left = yield* Dealing.holdingsOf(scene.sessionOf("alice"))
      expect(left.map((one) => one.amount).toSorted()).toEqual([decimal("250"), decimal("600")])
      for (const one of left) expect(one.lock).toBeNull()
      expect(yield* Powers.dangling(scene)).toEqual([])
    }).pipe(Effect.provide(ledger))
  )

  it.effect("T-REX: moves frozen units, and the order they were for finds none of them", () =>
    Effect.gen(function* () {
      const scene = yield* Powers.scene
      const claim = yield* Dealing.redeem(scene.floor, {
        holder: "alice",
        id: "red-1",
        units: "400"
      })
      const priced = yield* Dealing.priceAt(scene.floor, claim, {
        units: "400",
        proceeds: "417.48"
      })
      const cash = yield* Dealing.give(scene.floor, "fund", "417.48")
      const allocationCid = yield* Dealing.allocate(scene.floor, {
        owner: "fund",
        holding: cash,
        to: "alice",
        amount: "417.48",
        reference: "red-1"
      })
      const unitsAllocationCid = yield* Dealing.allocate(scene.floor, {
        owner: "alice",
        holding: scene.units,
        to: "fund",
        amount: "400",
        reference: "red-1"
      })
      const holdingCid = yield* alices(scene, "400")
      yield* scene.force({
        holdingCids: [holdingCid],
        amounts: [decimal("400")],
        releases: [{ holdingCid, lockedBy: "allocation", contractId: unitsAllocationCid }]
      })
      const settled = World.act(
        scene.sessionOf("venue"),
        Templates.exercise(Templates.PricedRedemption, priced, "Settle", {
          marketCid: scene.market,
          unitsAllocationCid,
          allocationCid,
          holdingCids: [],
          intentCid: null,
          evidence: null,
          fill: null
        })
      )
      expect(yield* Effect.flip(settled)).toMatchObject({ code: "CONTRACT_NOT_FOUND" })
      yield* World.act(
        scene.sessionOf("venue"),
        Templates.exercise(Templates.PricedRedemption, priced, "Release", {
          unitsAllocationCid: null,
          allocationCid,
          intentCid: null
        })
      )
      expect(yield* Dealing.balance(scene.sessionOf("fund"), scene.cash)).toBe("417.48")
      expect(yield* Powers.dangling(scene)).toEqual([])
    }).pipe(Effect.provide(ledger))
  )
})

const unreleased = "a locked holding moves only when what locks it is released with it"
const inForce = "a lock in force is released by what locks the holding"

describe("a forced move of locked units is refused", () => {
  it.effect.each(every)("silently out of their %s", ([, lock]) =>
    Effect.gen(function* () {
      const { scene, locked } = yield* partly(lock)
      const tried = scene.force({ holdingCids: [locked], amounts: [decimal("1")] })
      expect(yield* Effect.flip(tried)).toMatchObject(aborts(unreleased))
    }).pipe(Effect.provide(ledger))
  )

  it.effect.each(kinds)("by ending the %s of another holding", ([lockedBy, lock]) =>
    Effect.gen(function* () {
      const { scene, locked, free } = yield* partly(lock)
      const other = yield* lock(scene, { holding: free, amount: "300", name: "red-2" })
      const tried = scene.force({
        holdingCids: [locked],
        amounts: [decimal("1")],
        releases: [{ holdingCid: locked, lockedBy, contractId: other }]
      })
      expect(yield* Effect.flip(tried)).toMatchObject(
        aborts("what is released locks another holding")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect.each(kinds)("as though their %s had lapsed", ([, lock]) =>
    Effect.gen(function* () {
      const { scene, contractId, locked } = yield* partly(lock)
      const lapsed = (contractId: string | null) =>
        scene.force({
          holdingCids: [locked],
          amounts: [decimal("1")],
          releases: [{ holdingCid: locked, lockedBy: "lapsed", contractId }]
        })
      expect(yield* Effect.flip(lapsed(null))).toMatchObject(aborts(inForce))
      expect(yield* Effect.flip(lapsed(contractId))).toMatchObject(
        aborts("a lapsed lock has no contract behind it")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect.each(kinds)("although nothing is named that is their %s", ([lockedBy, lock]) =>
    Effect.gen(function* () {
      const { scene, locked } = yield* partly(lock)
      const releases = [{ holdingCid: locked, lockedBy, contractId: null }]
      const tried = scene.force({ holdingCids: [locked], amounts: [decimal("1")], releases })
      expect(yield* Effect.flip(tried)).toMatchObject(aborts(inForce))
    }).pipe(Effect.provide(ledger))
  )

  const kept: ReadonlyArray<readonly [string, Lock]> = [
    ["that is a reserve's", lockedTo("venue", null)],
    ["that its holder gave to another for good", lockedTo("carol", null)],
    ["a moment before it lapses", lockedTo("carol", Instant.of("1970-01-02T12:00:00.000001Z"))]
  ]
  it.effect.each(kept)("out of a lock %s", ([, lock]) =>
    Effect.gen(function* () {
      const { scene, locked } = yield* partly(lock)
      const releases = [{ holdingCid: locked, lockedBy: "lapsed", contractId: null } as const]
      const asIs = { holdingCids: [locked], amounts: [decimal("1")] }
      expect(yield* Effect.flip(scene.force(asIs))).toMatchObject(aborts(unreleased))
      expect(yield* Effect.flip(scene.force({ ...asIs, releases }))).toMatchObject(aborts(inForce))
    }).pipe(Effect.provide(ledger))
  )

  it.effect("out of a lapsed lock under another lock's name", () =>
    Effect.gen(function* () {
      const { scene, locked } = yield* partly(lockedTo("carol", noon))
      const tried = scene.force({
        holdingCids: [locked],
        amounts: [decimal("1")],
        releases: [{ holdingCid: locked, lockedBy: "allocation", contractId: null }]
      })
      expect(yield* Effect.flip(tried)).toMatchObject(aborts(inForce))
    }).pipe(Effect.provide(ledger))
  )

  it.effect("out of a settlement that another than the venue executes", () =>
    Effect.gen(function* () {
      const { scene, contractId, locked } = yield* partly((at, { holding, amount, name }) =>
        Dealing.allocate(at.floor, {
          owner: "alice",
          holding,
          to: "carol",
          executor: "custodian",
          amount,
          reference: name
        })
      )
      const tried = scene.force({
        holdingCids: [locked],
        amounts: [decimal("1")],
        releases: [{ holdingCid: locked, lockedBy: "allocation", contractId }]
      })
      expect(yield* Effect.flip(tried)).toMatchObject({ code: "CONTRACT_NOT_FOUND" })
    }).pipe(Effect.provide(ledger))
  )

  it.effect("beside a lock that is named for free units, for units that stay, or twice", () =>
    Effect.gen(function* () {
      const { scene, contractId, locked, free } = yield* partly(allocated)
      const one = { lockedBy: "allocation", contractId } as const
      const forcing = (holdingCid: string, ...releases: ReadonlyArray<Powers.Release>) =>
        Effect.flip(scene.force({ holdingCids: [holdingCid], amounts: [decimal("1")], releases }))
      expect(yield* forcing(free, { ...one, holdingCid: free })).toMatchObject(
        aborts("a holding to release is not locked")
      )
      const own = { ...one, holdingCid: locked }
      expect(yield* forcing(free, own)).toMatchObject(
        aborts("a lock is of a holding that does not move")
      )
      expect(yield* forcing(locked, own, own)).toMatchObject(aborts("a lock is named twice"))
    }).pipe(Effect.provide(ledger))
  )
})
