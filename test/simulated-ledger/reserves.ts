/** A backed instrument with its reserve, locks and orders on a ledger in memory: what each test of reserves starts from. */
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import type { Session } from "@bursar/storage-adapters/conformance"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Dealing from "./dealing.ts"
import * as Powers from "./powers.ts"
import * as World from "./world.ts"

const { decimal } = Dealing
const hour = 3_600_000_000

/** Time at which the tests of reserves begin. */
export const begins = Instant.of("1970-01-05T12:00:00Z")
export const setTime = (at: Instant.Instant) => TestClock.setTime(Instant.toEpochMillis(at))

type Body = Omit<Templates.Payload<typeof Templates.ReserveProposal>, "accepted">

export interface Scene extends Dealing.Floor {
  /** Cash without a price source: a unit is worth 1. */
  readonly eur: Templates.Asset
  /** Bills that the oracle prices. */
  readonly bill: Templates.Asset
}

/** Terms of two assets: cash that counts whole, and bills with a haircut and a cap. */
export const termsOf = (
  { eur, bill, sessionOf }: Pick<Scene, "eur" | "bill" | "sessionOf">,
  change: {
    readonly minCover?: string
    readonly haircut?: string
    readonly maxShare?: string | null
    readonly freshness?: number | null
  } = {}
): Templates.ReserveTerms => {
  const { minCover = "1.02", haircut = "0.05", maxShare = "0.4", freshness = hour } = change
  return {
    minCover: decimal(minCover),
    assets: [
      { asset: eur, priceSource: null, freshness: null, haircut: Decimal.zero, maxShare: null },
      {
        asset: bill,
        priceSource: sessionOf("oracle").party,
        freshness,
        haircut: decimal(haircut),
        maxShare: maxShare === null ? null : decimal(maxShare)
      }
    ]
  }
}

export const bodyOf = (scene: Scene, change: Partial<Body> = {}): Body => ({
  venue: scene.sessionOf("venue").party,
  reserveId: "res-1",
  instrument: scene.instrument,
  issuer: scene.sessionOf("registrar").party,
  holder: scene.sessionOf("custodian").party,
  unit: "EUR",
  decimals: 6,
  priceDecimals: 10,
  parValue: Decimal.one,
  initialSharePrice: null,
  loosenDelay: 24 * hour,
  terms: termsOf(scene),
  ...change
})

export const propose = (scene: Scene, change: Partial<Body> = {}) =>
  World.make(
    scene.sessionOf("venue"),
    "ReserveProposal",
    Templates.create(Templates.ReserveProposal, { ...bodyOf(scene, change), accepted: [] })
  )

export const accept = (
  { sessionOf }: Pick<Scene, "sessionOf">,
  contractId: string,
  hint: Dealing.Hint
) =>
  World.act(
    sessionOf(hint),
    Templates.exercise(Templates.ReserveProposal, contractId, "Accept", {
      party: sessionOf(hint).party
    })
  )

/** The one active contract of a template, as the venue sees it. */
export const only = <T extends Templates.Template>(session: Session, template: T) =>
  Effect.map(Powers.all(session, template), (found) => {
    const [one, ...more] = found
    if (one === undefined || more.length > 0) throw new Error(`not one ${template.typeRef.entity}`)
    return one
  })

export const reserve = ({ sessionOf }: Pick<Scene, "sessionOf">) =>
  only(sessionOf("venue"), Templates.Reserve)

/** Holdings that are locked for the reserve, in the order of what it counts. */
export const locked = (scene: Pick<Scene, "sessionOf">) =>
  Effect.gen(function* () {
    const { payload } = yield* reserve(scene)
    const holdings = yield* Powers.all(scene.sessionOf("venue"), Templates.Holding)
    return holdings.filter(({ payload: { lock } }) => lock?.context === payload.reserveId)
  })

export const lockedOf = (scene: Pick<Scene, "sessionOf">, asset: Templates.Asset) =>
  Effect.map(
    locked(scene),
    (holdings) =>
      holdings.find(({ payload }) => payload.instrument.id === asset.id)?.contractId ?? null
  )

/** Publishes a price of the bills, as of an instant. */
export const price = (
  scene: Scene,
  value: string,
  changes: Partial<Templates.Payload<typeof Templates.OraclePoint>> = {},
  by: Dealing.Hint = "oracle"
) => {
  const oracle = scene.sessionOf(by)
  return World.make(
    oracle,
    "OraclePoint",
    Templates.create(Templates.OraclePoint, {
      oracle: oracle.party,
      venue: scene.sessionOf("venue").party,
      fund: scene.sessionOf("fund").party,
      registrar: scene.bill.admin,
      attestors: [],
      instrumentId: scene.bill.id,
      metric: "price",
      value: decimal(value),
      valuationTime: begins,
      period: null,
      withholdingRate: null,
      statementRef: null,
      corrects: null,
      ...changes
    })
  )
}

/** Contracts by which the ledger judges the reserve, and the supply that the venue states. */
export const judging = (scene: Scene, pointCids: ReadonlyArray<string>, supply = "0") =>
  Effect.map(locked(scene), (holdings) => ({
    supply: decimal(supply),
    holdingCids: holdings.map(({ contractId }) => contractId),
    pointCids
  }))

/** Proposes an agreement to lock an asset. */
export const proposeLock = (
  scene: Scene,
  asset: Templates.Asset,
  amount: string,
  change: Partial<Templates.Payload<typeof Templates.LockAgreementProposal>> = {}
) =>
  World.make(
    scene.sessionOf("venue"),
    "LockAgreementProposal",
    Templates.create(Templates.LockAgreementProposal, {
      venue: scene.sessionOf("venue").party,
      lockAgreementId: `lock-${asset.id}`,
      reserveId: "res-1",
      asset,
      holder: scene.sessionOf("custodian").party,
      amount: decimal(amount),
      accepted: [],
      ...change
    })
  )

type AcceptingLock = Templates.Argument<typeof Templates.LockAgreementProposal, "Accept">

export const acceptLock = (
  scene: Scene,
  contractId: string,
  hint: Dealing.Hint,
  argument: Partial<AcceptingLock> = {}
) =>
  World.act(
    scene.sessionOf(hint),
    Templates.exercise(Templates.LockAgreementProposal, contractId, "Accept", {
      party: scene.sessionOf(hint).party,
      reserveCid: null,
      holdingCids: [],
      ...argument
    })
  )

/** Agrees to lock an asset, and locks an amount of the reserve's holder at once. */
export const lock = (scene: Scene, asset: Templates.Asset, amount = "0") =>
  Effect.gen(function* () {
    const proposal = yield* proposeLock(scene, asset, amount)
    const again = Dealing.sole(yield* acceptLock(scene, proposal, "bank"), "LockAgreementProposal")
    const holdingCids =
      amount === "0" ? [] : [yield* Dealing.give(scene, "custodian", amount, asset)]
    const { contractId: reserveCid } = yield* reserve(scene)
    return Dealing.sole(
      yield* acceptLock(scene, again, "custodian", { reserveCid, holdingCids }),
      "LockAgreement"
    )
  })

/** A reserve of the floor's instrument, accepted by its registrar, which issues it, and its holder. */
export const open = (change: (scene: Scene) => Partial<Body> = () => ({})) =>
  Effect.gen(function* () {
    const floor = yield* Dealing.floor
    yield* setTime(begins)
    const bank = floor.sessionOf("bank").party
    const scene: Scene = {
      ...floor,
      eur: { admin: bank, id: "EUR" },
      bill: { admin: bank, id: "BILL" }
    }
    const proposal = yield* propose(scene, change(scene))
    const again = Dealing.sole(yield* accept(scene, proposal, "registrar"), "ReserveProposal")
    yield* accept(scene, again, "custodian")
    return scene
  })

type StartingMint = Templates.Argument<typeof Templates.Reserve, "StartMint">
type StartingRedemption = Templates.Argument<typeof Templates.Reserve, "StartRedemption">

export interface Order {
  readonly id: string
  readonly asset: Templates.Asset
  /** Amount of the asset. */
  readonly amount: string
  readonly units: string
  readonly points: ReadonlyArray<string>
  readonly supply?: string
}

const executeBefore = Instant.add(begins, Duration.hours(24))

export const startMint = (scene: Scene, order: Order, change: Partial<StartingMint> = {}) =>
  Effect.gen(function* () {
    const { contractId } = yield* reserve(scene)
    return yield* World.make(
      scene.sessionOf("venue"),
      "MintOrder",
      Templates.exercise(Templates.Reserve, contractId, "StartMint", {
        mintId: order.id,
        depositor: scene.sessionOf("alice").party,
        asset: order.asset,
        deposit: decimal(order.amount),
        units: decimal(order.units),
        executeBefore,
        ...(yield* judging(scene, order.points, order.supply)),
        ...change
      })
    )
  })

/** Starts a mint of alice and has her name an allocation for it; returns the order that is ready. */
export const readyMint = (scene: Scene, order: Order) =>
  Effect.gen(function* () {
    const started = yield* startMint(scene, order)
    const holding = yield* Dealing.give(scene, "alice", order.amount, order.asset)
    const allocationCid = yield* Dealing.allocate(scene, {
      owner: "alice",
      holding,
      to: "custodian",
      amount: order.amount,
      reference: order.id
    })
    return yield* World.make(
      scene.sessionOf("alice"),
      "MintOrder",
      Templates.exercise(Templates.MintOrder, started, "Accept", { allocationCid })
    )
  })

type SettlingMint = Templates.Argument<typeof Templates.MintOrder, "Settle">

export const settleMint = (
  scene: Scene,
  readyMint: ReadyMint,
  change: Partial<SettlingMint> = {}
) =>
  Effect.flatMap(settlingMint(scene, readyMint, change), (settle) =>
    World.act(scene.sessionOf("venue"), settle)
  )

interface ReadyMint {
  readonly orderCid: string
  readonly agreementCid: string
  readonly order: Order
}

/** The choice by which a venue settles a mint of alice. */
export const settlingMint = (
  scene: Scene,
  readyMint: ReadyMint,
  change: Partial<SettlingMint> = {}
) =>
  Effect.gen(function* () {
    const { contractId: reserveCid } = yield* reserve(scene)
    return Templates.exercise(Templates.MintOrder, readyMint.orderCid, "Settle", {
      reserveCid,
      lockAgreementCid: readyMint.agreementCid,
      credentialCid: scene.credentials.alice,
      configurationCid: null,
      depositCredentialCid: null,
      intentCid: null,
      lockedCid: yield* lockedOf(scene, readyMint.order.asset),
      ...(yield* judging(scene, readyMint.order.points, readyMint.order.supply)),
      ...change
    })
  })

/** Mints against a deposit of alice, from its start to its settlement. */
export const mint = (scene: Scene, agreementCid: string, order: Order) =>
  Effect.gen(function* () {
    const orderCid = yield* readyMint(scene, order)
    return yield* settleMint(scene, { orderCid, agreementCid, order })
  })

export const startRedemption = (
  scene: Scene,
  order: Order,
  change: Partial<StartingRedemption> = {}
) =>
  Effect.gen(function* () {
    const { contractId } = yield* reserve(scene)
    return yield* World.make(
      scene.sessionOf("venue"),
      "ReserveRedemptionOrder",
      Templates.exercise(Templates.Reserve, contractId, "StartRedemption", {
        reserveRedemptionId: order.id,
        owner: scene.sessionOf("alice").party,
        asset: order.asset,
        payout: decimal(order.amount),
        units: decimal(order.units),
        executeBefore,
        ...(yield* judging(scene, order.points, order.supply)),
        ...change
      })
    )
  })

export const acceptRedemption = (scene: Scene, orderCid: string, holdingCid: string) =>
  World.act(
    scene.sessionOf("alice"),
    Templates.exercise(Templates.ReserveRedemptionOrder, orderCid, "Accept", { holdingCid })
  )

type SettlingRedemption = Templates.Argument<typeof Templates.ReserveRedemptionOrder, "Settle">

export const settleRedemption = (
  scene: Scene,
  mint: { readonly orderCid: string; readonly order: Order },
  change: Partial<SettlingRedemption> = {}
) =>
  Effect.gen(function* () {
    const { contractId: reserveCid } = yield* reserve(scene)
    return yield* World.act(
      scene.sessionOf("venue"),
      Templates.exercise(Templates.ReserveRedemptionOrder, mint.orderCid, "Settle", {
        reserveCid,
        payoutCredentialCid: null,
        // A contract that is not there: nothing is locked of the asset.
        lockedCid: (yield* lockedOf(scene, mint.order.asset)) ?? "00",
        ...(yield* judging(scene, mint.order.points, mint.order.supply)),
        ...change
      })
    )
  })

/** Proposes other terms, and has the issuer accept them. */
export const amend = (scene: Scene, amendmentId: string, terms: Templates.ReserveTerms) =>
  Effect.gen(function* () {
    const issuer = scene.sessionOf("registrar")
    const proposal = yield* World.make(
      scene.sessionOf("venue"),
      "AmendmentProposal",
      Templates.create(Templates.AmendmentProposal, {
        venue: scene.sessionOf("venue").party,
        amendmentId,
        reserveId: "res-1",
        issuer: issuer.party,
        holder: scene.sessionOf("custodian").party,
        terms
      })
    )
    const { contractId: reserveCid } = yield* reserve(scene)
    return yield* World.act(
      issuer,
      Templates.exercise(Templates.AmendmentProposal, proposal, "Accept", { reserveCid })
    )
  })

/** Units and cash that a party holds free, by asset id. */
export const freeOf = (scene: Scene, hint: Dealing.Hint) =>
  Effect.map(Powers.all(scene.sessionOf(hint), Templates.Holding), (holdings) => {
    const owned = holdings.filter(
      ({ payload }) => payload.owner === scene.sessionOf(hint).party && payload.lock === null
    )
    const sums = new Map<string, Decimal.Decimal>()
    for (const { payload } of owned) {
      const before = sums.get(payload.instrument.id) ?? Decimal.zero
      sums.set(payload.instrument.id, Decimal.add(before, payload.amount))
    }
    return Object.fromEntries([...sums].map(([id, sum]) => [id, Decimal.formatPlain(sum)]))
  })
