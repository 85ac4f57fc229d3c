/** A recovery and an act that gives its holder units, in both orders: after the recovery the ledger takes no such act. */
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dealing from "./dealing.ts"
import * as Powers from "./powers.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)

/** Alice's order for 100, its cash allocated, priced at one. */
const ordered = (scene: Powers.Scene) =>
  Effect.gen(function* () {
    const { floor } = scene
    const cash = yield* Dealing.give(floor, "alice", "100")
    const claim = yield* Dealing.subscribe(
      floor,
      { holder: "alice", id: "s1", amount: "100" },
      { feeRate: null, cashDecimals: 2 }
    )
    const allocation = yield* Dealing.allocate(floor, {
      owner: "alice",
      holding: cash,
      to: "fund",
      amount: "100",
      reference: "s1"
    })
    const lot = yield* Dealing.attest(floor, claim, "95")
    return { ...scene, allocation, lot }
  })
type Ordered = Effect.Success<ReturnType<typeof ordered>>

const settle = ({ allocation, floor, lot }: Ordered) =>
  Templates.exercise(Templates.Lot, lot, "Settle", {
    marketCid: floor.market,
    allocationCid: allocation,
    credentialCid: floor.credentials.alice,
    configurationCid: null,
    intentCid: null,
    refund: null
  })

const deliver = ({ floor, lot }: Ordered, marketCid: string | null) =>
  Templates.exercise(Templates.Lot, lot, "Deliver", {
    marketCid,
    credentialCid: floor.credentials.alice,
    configurationCid: null,
    executeBefore: null
  })

/** Acts that give alice units, prepared by the venue while she was admitted. */
const acts = {
  "a settlement": (scene: Ordered) => Effect.succeed(settle(scene)),
  "a delivery by the market": (scene: Ordered) =>
    Effect.succeed(deliver(scene, scene.floor.market)),
  "a delivery by the registrar": (scene: Ordered) => Effect.succeed(deliver(scene, null)),
  "a second request to the registrar": (scene: Ordered) =>
    Effect.gen(function* () {
      const { sessionOf } = scene.floor
      const first = yield* World.act(sessionOf("venue"), deliver(scene, null))
      yield* World.act(
        sessionOf("registrar"),
        Templates.exercise(Templates.MintRequest, Dealing.sole(first, "MintRequest"), "Reject", {})
      )
      return Templates.exercise(
        Templates.DeliveredLot,
        Dealing.sole(first, "DeliveredLot"),
        "Redeliver",
        { credentialCid: scene.floor.credentials.alice, executeBefore: null }
      )
    })
} as const

/** All of alice's units to bob, her successor, and the end of her admission, in one transaction. */
const recover = ({ agreement, floor, forcing }: Ordered) =>
  World.act(
    floor.sessionOf("venue"),
    Templates.exercise(
      Templates.IssuerPowersAgreement,
      agreement,
      "ForceMove",
      forcing({
        cause: { kind: "recovery", orderRef: null, successor: floor.sessionOf("bob").party }
      })
    ),
    Templates.exercise(Templates.Credential, floor.credentials.alice, "Revoke", {})
  )

const held = ({ floor }: Ordered, hint: "alice" | "bob") =>
  Dealing.balance(floor.sessionOf(hint), floor.instrument)

describe("a recovery beside an act that was judged before it", () => {
  for (const [name, planned] of Object.entries(acts)) {
    it.effect(`${name} after the recovery is stale`, () =>
      Effect.gen(function* () {
        const scene = yield* Effect.flatMap(Powers.scene, ordered)
        const act = yield* planned(scene)
        yield* recover(scene)
        expect(yield* Effect.flip(World.act(scene.floor.sessionOf("venue"), act))).toMatchObject({
          _tag: "Refused",
          code: "CONTRACT_NOT_FOUND"
        })
        expect([yield* held(scene, "alice"), yield* held(scene, "bob")]).toEqual(["0", "1000"])
      }).pipe(Effect.provide(ledger))
    )

    it.effect(`${name} before the recovery leaves it as it was judged`, () =>
      Effect.gen(function* () {
        const scene = yield* Effect.flatMap(Powers.scene, ordered)
        yield* World.act(scene.floor.sessionOf("venue"), yield* planned(scene))
        yield* recover(scene)
        expect(yield* held(scene, "bob")).toBe("1000")
      }).pipe(Effect.provide(ledger))
    )
  }
})

describe("an order whose units were asked for and not minted", () => {
  const mintRequested = Effect.gen(function* () {
    const scene = yield* Effect.flatMap(Powers.scene, ordered)
    const delivered = yield* World.act(scene.floor.sessionOf("venue"), deliver(scene, null))
    const request = Dealing.sole(delivered, "MintRequest")
    return { ...scene, request, lot: Dealing.sole(delivered, "DeliveredLot") }
  })
  const release = (
    { floor, lot }: Effect.Success<typeof mintRequested>,
    mintRequestCid: string | null
  ) =>
    World.act(
      floor.sessionOf("venue"),
      Templates.exercise(Templates.DeliveredLot, lot, "Release", { mintRequestCid })
    )

  it.effect("ends with its request, in one transaction", () =>
    Effect.gen(function* () {
      const scene = yield* mintRequested
      yield* release(scene, scene.request)
      expect(yield* Powers.all(scene.floor.sessionOf("venue"), Templates.MintRequest)).toEqual([])
      expect(yield* Powers.all(scene.floor.sessionOf("venue"), Templates.DeliveredLot)).toEqual([])
    }).pipe(Effect.provide(ledger))
  )

  it.effect("stays where the registrar has minted meanwhile", () =>
    Effect.gen(function* () {
      const scene = yield* mintRequested
      yield* World.act(
        scene.floor.sessionOf("registrar"),
        Templates.exercise(Templates.MintRequest, scene.request, "Accept", {
          credentialCid: scene.floor.credentials.alice,
          configurationCid: null
        })
      )
      expect(yield* Effect.flip(release(scene, scene.request))).toMatchObject({
        _tag: "Refused",
        code: "CONTRACT_NOT_FOUND"
      })
    }).pipe(Effect.provide(ledger))
  )

  it.effect("takes back no other order's request", () =>
    Effect.gen(function* () {
      const scene = yield* mintRequested
      const { floor } = scene
      const other = yield* World.make(
        floor.sessionOf("venue"),
        "MintRequest",
        Templates.create(Templates.MintRequest, {
          requester: floor.sessionOf("venue").party,
          holder: floor.sessionOf("bob").party,
          instrument: floor.instrument,
          amount: Dealing.decimal("1"),
          reference: { kind: "test", id: "other" },
          executeBefore: null
        })
      )
      expect(yield* Effect.flip(release(scene, other))).toMatchObject(
        Dealing.aborts("the mint request is another lot's")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("does not end where the market has minted its units", () =>
    Effect.gen(function* () {
      const scene = yield* Effect.flatMap(Powers.scene, ordered)
      const delivered = yield* World.act(
        scene.floor.sessionOf("venue"),
        deliver(scene, scene.floor.market)
      )
      const release = Templates.exercise(
        Templates.DeliveredLot,
        Dealing.sole(delivered, "DeliveredLot"),
        "Release",
        { mintRequestCid: null }
      )
      expect(yield* Effect.flip(World.act(scene.floor.sessionOf("venue"), release))).toMatchObject(
        Dealing.aborts("the units are already minted")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("is asked for under no credential but the holder's own", () =>
    Effect.gen(function* () {
      const scene = yield* Effect.flatMap(Powers.scene, ordered)
      const { floor, lot } = scene
      const under = (credentialCid: string | null) =>
        World.act(
          floor.sessionOf("venue"),
          Templates.exercise(Templates.Lot, lot, "Deliver", {
            marketCid: null,
            credentialCid,
            configurationCid: null,
            executeBefore: null
          })
        )
      expect(yield* Effect.flip(under(floor.credentials.bob))).toMatchObject(
        Dealing.aborts("the credential is another holder's")
      )
      expect(yield* Effect.flip(under(null))).toMatchObject(
        Dealing.aborts("the delivery names no credential of the holder")
      )
    }).pipe(Effect.provide(ledger))
  )
})
