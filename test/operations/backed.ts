/**
 * Scene of tests of backed instruments: `fund-a`, whose registrar is its issuer, the custodian that
 * holds its reserve, and a bank that registers cash and bills. Everybody acts from a wallet.
 */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Struct } from "effect"
import { TestClock } from "effect/testing"
import { lockAgreements } from "#core/reserves/lock-agreement/LockAgreement.ts"
import { reserves } from "#core/reserves/reserve/Reserve.ts"
import * as Calls from "../engine/calls.ts"
import * as Outsiders from "../engine/outsiders.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

const { acts, does } = Outsiders

export interface Scene extends Fund.Parties {
  /** K: owns every holding of the reserve. */
  readonly custodian: Fund.Outsider
  /** Registers the assets of the reserve. */
  readonly bank: Fund.Outsider
  /** Prices the bills. */
  readonly oracle: Fund.Outsider
  readonly h1: Cycles.Holder
  readonly h2: Cycles.Holder
  /** Cash without a price source: a unit is worth 1. */
  readonly usd: Templates.Asset
  /** Bills that the oracle prices. */
  readonly bill: Templates.Asset
}

/** The instrument recorded at par, issued by its registrar; the holders h1 and h2 admitted. */
export const opened = (change: Readonly<Record<string, Calls.Json>> = {}) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(Instant.toEpochMillis(Instant.of(Fund.start)))
    const stage = yield* Fund.founded(
      { valuation: "par", holderCap: 100, ...change },
      { issuer: "registrar" }
    )
    const h1 = yield* Cycles.joins(stage, "h1")
    const h2 = yield* Cycles.joins(stage, "h2")
    const custodian = yield* Fund.outsider("custodian")
    const admin = stage.bank.party
    const scene: Scene = {
      ...{ ...stage, custodian, h1, h2 },
      usd: { admin, id: "USD" },
      bill: { admin, id: "BILL" }
    }
    return scene
  })

type Terms = Readonly<Record<string, Calls.Json>>

/** Terms of two assets: cash that counts whole, and bills with a haircut and a largest share. */
export const termsOf = (
  { bill, oracle, usd }: Pick<Scene, "bill" | "oracle" | "usd">,
  {
    minCover = 1,
    ...ofBill
  }: {
    readonly minCover?: number
    readonly haircut?: number
    readonly maxShare?: number | null
    readonly freshness?: string | null
  } = {}
): Terms => ({
  minCover,
  assets: [
    { asset: { ...usd }, priceSource: null, freshness: null, haircut: 0, maxShare: null },
    {
      asset: { ...bill },
      priceSource: oracle.party,
      freshness: "PT1H",
      haircut: 0.05,
      maxShare: 0.4,
      ...ofBill
    }
  ]
})

/** A valid body of reserve.propose. */
export const bodyOf = (
  scene: Pick<Scene, "bill" | "custodian" | "oracle" | "usd">,
  change: Readonly<Record<string, Calls.Json>> = {}
) => ({
  reserveId: "res-1",
  instrumentId: "fund-a",
  holder: scene.custodian.party,
  unit: "USD",
  decimals: 6,
  terms: termsOf(scene),
  ...change
})

export const proposes = (scene: Scene, change: Readonly<Record<string, Calls.Json>> = {}) =>
  Calls.write("reserve.propose", {}, bodyOf(scene, change))

/** The issuer or the custodian signs the reserve, or declines it. */
export const answers = (
  by: Fund.Outsider,
  choice: "Accept" | "Decline" = "Accept",
  reserveId = "res-1"
) => does(by, acts.fund[choice === "Accept" ? "acceptReserve" : "declineReserve"](reserveId))

/** The venue proposes other terms of the reserve. */
export const amends = (amendmentId: string, terms: Calls.Json) =>
  Calls.write("amendment.propose", { reserveId: "res-1" }, { amendmentId, terms })

/** The issuer answers an amendment. */
export const answersAmendment = (
  { registrar }: Pick<Scene, "registrar">,
  amendmentId: string,
  choice: "Accept" | "Decline" = "Accept"
) => {
  const act = choice === "Accept" ? "acceptAmendment" : "declineAmendment"
  return does(registrar, acts.registrar[act](amendmentId))
}

/** A reserve that its issuer and the custodian have accepted. */
export const reserved = (scene: Scene, change: Readonly<Record<string, Calls.Json>> = {}) =>
  Effect.gen(function* () {
    const proposed = yield* proposes(scene, change)
    if (proposed.state !== "succeeded") throw new Error(`no reserve: ${proposed.why}`)
    const reserveId = String(bodyOf(scene, change).reserveId)
    yield* answers(scene.registrar, "Accept", reserveId)
    yield* answers(scene.custodian, "Accept", reserveId)
  })

export const closes = (reserveId = "res-1") => Calls.write("reserve.close", { reserveId }, {})

/** The record of a reserve. */
export const reserve = (reserveId = "res-1") =>
  Effect.flatMap(Records, (records) => records.get(reserves, reserveId))

export const lockAgreement = (lockAgreementId: string) =>
  Effect.flatMap(Records, (records) => records.get(lockAgreements, lockAgreementId))

/** The bank gives a party an amount of an asset that it registers; returns the holding. */
export const gives = (
  scene: Pick<Scene, "bank" | "venue">,
  to: Fund.Outsider,
  { amount, asset }: { readonly amount: string; readonly asset: Templates.Asset }
) =>
  Effect.gen(function* () {
    const { bank: registrar, venue } = scene
    yield* Cycles.issues({ registrar, to, venue }, { instrumentId: asset.id, amount })
    return (yield* Fund.newestContract(Templates.Holding)).cid
  })

export const farDeadline = Instant.of("2027-01-01T00:00:00Z")

/** The venue asks for an agreement to lock an asset for the reserve, and how much of it at once. */
export const proposesLock = ({
  amount = 0,
  asset,
  id,
  reserveId = "res-1"
}: Locking & { readonly amount?: number; readonly id: string }) =>
  Calls.write(
    "lock-agreement.propose",
    { reserveId },
    { lockAgreementId: id, asset: { ...asset }, amount }
  )

export const releasesLock = (lockAgreementId: string, reserveId = "res-1") =>
  Calls.write("lock-agreement.release", { reserveId, lockAgreementId }, {})

/** An agreement `lock-<asset id>` in force, under which the custodian has locked an amount. */
export const locked = (
  scene: Scene,
  locking: Locking & { readonly amount?: string; readonly id?: string }
) =>
  Effect.gen(function* () {
    const { amount, asset, id = `lock-${asset.id}` } = locking
    const proposed = yield* proposesLock({ ...Struct.omit(locking, ["amount"]), id })
    if (proposed.state !== "succeeded") throw new Error(`no lock agreement: ${proposed.why}`)
    yield* agrees(scene, id)
    if (amount !== undefined) yield* locks(scene, { ...locking, amount })
  })

/** The custodian locks an amount of an asset under the agreement in force. */
export const locks = (
  scene: Scene,
  { amount, asset, reserveId = "res-1" }: Locking & { readonly amount: string }
) =>
  Effect.gen(function* () {
    yield* gives(scene, scene.custodian, { amount, asset })
    const agreements = yield* Cycles.active(Templates.LockAgreement)
    const agreement = agreements.find(
      ({ payload }) => payload.reserveId === reserveId && payload.asset.id === asset.id
    )
    if (agreement === undefined) throw new Error(`${asset.id}: no agreement`)
    const addition = { lockAgreementId: agreement.cid, reference: scene.custodian.nextReference() }
    const act = acts.custodian.lockMore({ ...addition, amount: Decimal.of(amount) })
    yield* does(scene.custodian, act)
  })

interface Locking {
  readonly asset: Templates.Asset
  readonly reserveId?: string
}

/** The holding that is locked of an asset for a reserve, by the ledger; null: none. */
export const lockedOf = ({ asset, reserveId = "res-1" }: Locking) =>
  Effect.map(Cycles.active(Templates.Holding), (found) => {
    const holding = found.find(
      ({ payload: { instrument, lock } }) =>
        lock !== null && lock.context === reserveId && instrument.id === asset.id
    )
    return holding?.cid ?? null
  })

/** The oracle publishes a price of the bills, or of another asset, as of now or an instant. */
export const prices = (
  scene: Scene,
  value: string,
  changes: Partial<Templates.Payload<typeof Templates.OraclePoint>> = {}
) =>
  Effect.gen(function* () {
    const now = yield* Instant.now
    const { bill, fund, oracle, venue } = scene
    yield* oracle.act(
      Templates.create(Templates.OraclePoint, {
        ...{ oracle: oracle.party, venue, fund: fund.party },
        registrar: bill.admin,
        attestors: [],
        instrumentId: bill.id,
        metric: "price",
        value: Decimal.of(value),
        valuationTime: now,
        period: null,
        withholdingRate: null,
        statementRef: null,
        corrects: null,
        ...changes
      })
    )
  })

/** The bank, which registers the asset, and then the custodian sign an agreement to lock it. */
export const agrees = (
  scene: Scene,
  lockAgreementId: string,
  holdingCids: ReadonlyArray<string> = []
) =>
  Effect.gen(function* () {
    yield* signsLock(scene.bank, lockAgreementId)
    yield* signsLock(scene.custodian, lockAgreementId, holdingCids)
  })

/**
 * A party signs an agreement to lock an asset; its holder names the holdings that it locks at once, which a
 * wallet would choose itself.
 */
export const signsLock = (
  by: Fund.Outsider,
  lockAgreementId: string,
  holdingCids: ReadonlyArray<string> = []
) =>
  Effect.gen(function* () {
    const { cid, payload } = yield* Powers.saying(Templates.LockAgreementProposal, {
      lockAgreementId
    })
    const { reserveCid } = yield* reserve(payload.reserveId)
    yield* by.act(
      Templates.exercise(Templates.LockAgreementProposal, cid, "Accept", {
        party: by.party,
        reserveCid: by.party === payload.holder ? reserveCid : null,
        holdingCids
      })
    )
  })

/** A party declines an agreement to lock an asset. */
export const declinesLock = (by: Fund.Outsider, lockAgreementId: string) =>
  does(by, acts.registrar.declineLock(lockAgreementId))
