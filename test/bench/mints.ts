/**
 * Settled mints a second: on one reserve, whose settlements go one after another, against as many over
 * fifty reserves; and what the engine holds and a settlement names after very many mints of one reserve.
 */
import { Engine, Records, settingsDefaults } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Backed from "../operations/backed.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as Powers from "../operations/powers.ts"
import { type Services, withDatabase } from "./database.ts"
import { type Bench, figureOf, inTurns, quantity, type Row, type Side } from "./measure.ts"
import { held } from "./memory.ts"
import * as Meters from "./meter.ts"
import * as Scene from "./scene.ts"

/** Reserves that mints are spread over; fewer where there are few mints. */
const reservesOf = (count: number) => Math.min(50, Math.ceil(count / 10))
/** Admissions that a holder is offered at once, at most. */
const admissionsEach = 25
const pollMillis = 100
/** Callers that start mints at a time. */
const callers = 16
/** Commands of one transaction of an outside party. */
const commandsEach = 200
const later = Instant.of("2027-01-01T00:00:00Z")

const instrumentIdOf = (n: number) => `fund-${n}`
const reserveIdOf = (n: number) => `res-${n}`

/** Submits commands of a party in transactions of so many, and has the engine read them. */
const submits = (by: Fund.Outsider, commands: ReadonlyArray<Ledger.Command>) =>
  Effect.gen(function* () {
    for (let from = 0; from < commands.length; from += commandsEach) {
      yield* by.submit(...commands.slice(from, from + commandsEach))
    }
    yield* Calls.settle
  })

/** Makes a write and dies where it does not succeed. */
const writes = (...args: Parameters<typeof Calls.write>) =>
  Effect.flatMap(Calls.write(...args), ({ state, why }) =>
    state === "succeeded" ? Effect.void : Effect.die(new Error(`${args[0]}: ${state} ${why}`))
  )

/** An instrument that its registrar issues, to which the venue may admit holders. */
const recorded = (stage: Fund.Parties, instrumentId: string) =>
  Effect.gen(function* () {
    const { fund, registrar, venue } = stage
    const terms = { valuation: "par", oracle: null, holderCap: 100 }
    yield* writes(
      "instrument.record",
      {},
      { ...bodyOf(), ...terms, instrumentId, registrar: registrar.party }
    )
    yield* registrar.act(
      Templates.create(Templates.InstrumentConfiguration, {
        ...{ registrar: registrar.party, provider: venue, issuer: registrar.party },
        instrument: { admin: registrar.party, id: instrumentId },
        defaultIdentifier: { source: "venue", id: instrumentId, scheme: "internal" },
        ...{ additionalIdentifiers: [], holderRequirements: [], issuerRequirements: [] }
      })
    )
    yield* writes(
      "admission-consent.propose",
      { instrumentId },
      { fund: fund.party, terms: "consent" }
    )
    const { cid } = yield* Powers.saying(Templates.AdmissionConsentProposal, { instrumentId })
    yield* registrar.act(Templates.exercise(Templates.AdmissionConsentProposal, cid, "Accept", {}))
  })

/** Onboards a holder that accepts everything, admitted to instruments. */
const joins = (
  stage: Fund.Parties,
  holder: { readonly holderId: string; readonly instrumentIds: ReadonlyArray<string> }
) =>
  Effect.gen(function* () {
    const { holderId, instrumentIds } = holder
    const who = yield* Fund.outsider(holderId)
    const admissions = instrumentIds.map((instrumentId) => ({ instrumentId }))
    yield* writes(
      "holder.onboard",
      {},
      { holderId, party: who.party, taxResidences: [], admissions }
    )
    const { cid } = yield* Powers.saying(Templates.HolderInvitation, { holder: who.party })
    yield* who.act(Templates.exercise(Templates.HolderInvitation, cid, "Accept", {}))
    yield* who.act(
      Templates.create(Templates.SignedTerms, {
        ...{ venue: stage.venue, holder: who.party, holderId },
        ...{ documentHash: Fund.documentHash, signedAt: Instant.of(Fund.start) }
      })
    )
    yield* writes("accepted-terms.accept", { holderId }, {})
    const offers = yield* Cycles.active(Templates.AdmissionOffer)
    yield* submits(
      who,
      offers
        .filter(({ payload }) => payload.holder === who.party)
        .map((offer) => Templates.exercise(Templates.AdmissionOffer, offer.cid, "Accept", {}))
    )
    return { ...who, holderId }
  })

/** Reserves of cash, each of an instrument of its own, and the holders that mint. */
const founded = (count: number) =>
  Effect.gen(function* () {
    yield* Scene.setClock(Fund.start)
    const stage = yield* Fund.founded({ valuation: "par" }, { issuer: "registrar" })
    const custodian = yield* Fund.outsider("custodian")
    const asset = { admin: stage.bank.party, id: "USD" }
    const numbers = Array.from({ length: count }, (_, n) => n)
    for (const n of numbers) yield* recorded(stage, instrumentIdOf(n))
    const holders: Array<Cycles.Holder> = []
    for (let from = 0; from < count; from += admissionsEach) {
      const instrumentIds = numbers.slice(from, from + admissionsEach).map(instrumentIdOf)
      holders.push(yield* joins(stage, { holderId: `h${holders.length + 1}`, instrumentIds }))
    }
    const scene = { ...stage, custodian, usd: asset, bill: asset }
    const own = { ...{ asset, priceSource: null, freshness: null }, haircut: 0, maxShare: null }
    for (const n of numbers) {
      const reserveId = reserveIdOf(n)
      yield* writes(
        "reserve.propose",
        {},
        Backed.bodyOf(scene, {
          ...{ reserveId, instrumentId: instrumentIdOf(n) },
          terms: { minCover: 1, assets: [own] }
        })
      )
      yield* Backed.answers(stage.registrar, "Accept", reserveId)
      yield* Backed.answers(custodian, "Accept", reserveId)
      const lockAgreementId = `lock-${n}`
      yield* writes("lock-agreement.propose", { reserveId }, { lockAgreementId, asset, amount: 0 })
      yield* Backed.agrees({ bank: stage.bank, custodian } as Backed.Scene, lockAgreementId)
    }
    return { ...scene, holders }
  })
type Founded = Effect.Success<ReturnType<typeof founded>>

let made = 0

const inState = (state: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly n: string }>`select count(*)::text as n from bursar.document
      where collection = 'mint' and to_offset is null and filters ->> 'state' = ${state}`
    return Number(row?.n)
  }).pipe(Effect.orDie)

/** Runs the engine until so many mints are started: a start waits for no poll then, as it would alone. */
const starts = (count: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const engine = yield* Engine.Engine
      yield* Effect.forkScoped(engine.run)
      while ((yield* inState("started")) < count) yield* Effect.sleep(pollMillis)
    })
  )

/** Mints of 10 each that are ready to settle, spread over the first reserves. */
const readied = (scene: Founded, options: { readonly count: number; readonly over: number }) =>
  Effect.gen(function* () {
    const { bank, custodian, holders, usd, venue } = scene
    const from = made
    made += options.count
    const mints = Array.from({ length: options.count }, (_, n) => {
      const reserve = n % options.over
      const holder = holders[Math.floor(reserve / admissionsEach)]
      if (holder === undefined) throw new Error("each reserve has a holder that mints")
      return { mintId: `m-${from + n}`, reserveId: reserveIdOf(reserve), holder }
    })
    yield* Effect.forEach(
      mints,
      ({ holder: { holderId }, mintId, reserveId }) => {
        const body = { mintId, holderId, asset: { ...usd }, deposit: 10 }
        const by = { caller: Calls.operator, ifMatch: null }
        return Calls.submitKind("mint.start", { reserveId }, body, by)
      },
      { concurrency: callers, discard: true }
    )
    yield* starts(options.count)
    const amount = Decimal.of("10")
    yield* submits(
      bank,
      mints.map(({ holder }) =>
        Templates.createAndExercise(
          Templates.Holding,
          {
            ...{ registrar: bank.party, owner: bank.party, provider: venue, instrument: usd },
            ...{ amount, restricted: false, lock: null, label: "", meta: {} }
          },
          "OfferTransfer",
          { receiver: holder.party, amount, executeBefore: later }
        )
      )
    )
    const offers = yield* Cycles.active(Templates.TransferOffer)
    const orders = new Map(
      (yield* Cycles.active(Templates.MintOrder)).map(({ cid, payload }) => [payload.mintId, cid])
    )
    for (const holder of holders) {
      const own = mints.filter((mint) => mint.holder === holder)
      yield* submits(
        holder,
        offers
          .filter(({ payload }) => payload.receiver === holder.party)
          .map(({ cid }) =>
            Templates.exercise(Templates.TransferOffer, cid, "Accept", { credentialCid: null })
          )
      )
      const free = (yield* Cycles.active(Templates.Holding)).filter(
        ({ payload }) =>
          payload.owner === holder.party &&
          payload.lock === null &&
          payload.instrument.id === usd.id
      )
      yield* submits(
        holder,
        own.map(({ mintId }, n) =>
          Templates.exercise(Templates.Holding, free[n]?.cid ?? "", "Allocate", {
            ...{ allocationId: mintId, executor: venue, receiver: custodian.party, amount },
            settleBefore: later
          })
        )
      )
      const allocations = new Map(
        (yield* Cycles.active(Templates.Allocation)).map(({ cid, payload }) => [
          payload.reference,
          cid
        ])
      )
      yield* submits(
        holder,
        own.map(({ mintId }) =>
          Templates.exercise(Templates.MintOrder, orders.get(mintId) ?? "", "Accept", {
            allocationCid: allocations.get(mintId) ?? ""
          })
        )
      )
    }
  })

/**
 * Runs the engine until every mint that was made has settled; measured from the first settlement on, so that
 * the turn in which the scheduler finds the first of them is not counted. Those that are still ready are
 * counted, since a count of the settled ones would take longer the more there are.
 */
const settles = Effect.scoped(
  Effect.gen(function* () {
    const engine = yield* Engine.Engine
    const ready = yield* inState("ready")
    yield* Effect.forkScoped(engine.run)
    let first: { readonly at: number; readonly left: number } | undefined
    for (;;) {
      const left = yield* inState("ready")
      const at = performance.now()
      if (left < ready) first ??= { at, left }
      if (left === 0) {
        const settled = yield* inState("settled")
        if (settled !== made) {
          return yield* Effect.die(new Error(`${settled} of ${made} mints have settled`))
        }
        return { units: first?.left ?? 0, millis: at - (first?.at ?? at) }
      }
      yield* Effect.sleep(pollMillis)
    }
  })
)

/** Milliseconds from a submission until its update is visible, on a ledger across a network. */
const networkMillis = 50

const compared = (options: {
  readonly count: number
  readonly rounds: number
  readonly faults: SimulatedLedger.Faults.Faults
  readonly delayMillis: number
}) =>
  Effect.gen(function* () {
    const { count, delayMillis, faults, rounds } = options
    made = 0
    const reserves = reservesOf(count)
    const scene = yield* founded(reserves)
    const meter = Meters.of(yield* SqlClient.SqlClient)
    const delayed = delayMillis === 0 ? {} : { visibilityDelay: Duration.millis(delayMillis) }
    const over = (some: number): Side<never, Services> => ({
      meter,
      prepare: () => Effect.orDie(readied(scene, { count, over: some })),
      run: () =>
        Effect.acquireUseRelease(
          Effect.sync(() => faults.replace(delayed)),
          () => settles,
          () => Effect.sync(() => faults.replace({}))
        )
    })
    return yield* inTurns({ rounds, ours: over(reserves), bound: over(1) })
  })

export const bench: Bench = async ({ rounds, size: count = 500 }) => {
  const row = async (delayMillis: number, note: string) => {
    const faults = SimulatedLedger.Faults.make()
    const turns = await withDatabase((database) =>
      Scene.on(database, { settings: settingsDefaults, faults })(
        compared({ count, rounds, faults, delayMillis })
      )
    )
    const across = delayMillis === 0 ? "" : ` on a ledger of ${delayMillis} ms`
    return {
      bench: `${count} mints settled over ${reservesOf(count)} reserves${across}`,
      unit: "mints/s",
      against: "as many on one reserve, where they settle one after another",
      goal: 3,
      note: `from the first settlement to the last of those that are ready as the engine starts; ${note}`,
      ...turns
    }
  }
  return [
    await row(0, "the ledger is in this process and answers at once"),
    await row(networkMillis, "an update is visible so long after its submission")
  ]
}

/** Contracts that the last settlement named to the ledger. */
const named = Effect.gen(function* () {
  const records = yield* Records
  const [last] = yield* records.list(operations, {
    where: { kind: ["mint.settle"] },
    direction: "desc",
    limit: 1
  })
  const text = JSON.stringify(last?.record.step?.commands ?? [])
  return new Set(text.match(/"00[0-9a-f]{20,}"/gu)).size
})

/** Mints after which the heap and the last settlement are looked at. */
const checkpoints = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000]
/** Mints that are ready at a time. */
const batch = 1_000

/** Live heap after so many mints, and the number of contracts that the last settlement named. */
interface Checkpoint {
  readonly mints: number
  readonly bytes: number
  readonly named: number
}

/** Settles mints of one reserve; prints what each checkpoint shows as it comes. */
const many = (size: number) =>
  Effect.gen(function* () {
    made = 0
    const scene = yield* founded(1)
    const found: Array<Checkpoint> = []
    for (const mints of [...checkpoints.filter((count) => count < size), size]) {
      while (made < mints) {
        yield* readied(scene, { count: Math.min(batch, mints - made), over: 1 })
        yield* settles
      }
      const checkpoint = { mints, bytes: yield* held, named: yield* named }
      found.push(checkpoint)
      console.log(describe(checkpoint))
    }
    return found
  })

const describe = ({ bytes, mints, named }: Checkpoint): string =>
  `${mints.toLocaleString("en-US")} mints: ${(bytes / 2 ** 20).toFixed(1)} MiB held, ${named} contracts named`

/** Heap and inputs after very many mints of one reserve. */
const manyOf = async (
  ledger: "memory" | "postgres",
  options: { readonly size: number; readonly note: string }
): Promise<ReadonlyArray<Row>> => {
  const { note, size } = options
  const found = await withDatabase((database) =>
    Scene.on(database, { settings: settingsDefaults, ledger })(many(size))
  )
  const [first, last] = [found[0], found.at(-1)]
  if (first === undefined || last === undefined) throw new Error("no checkpoint was reached")
  const name = last.mints.toLocaleString("en-US")
  const against = `after ${first.mints.toLocaleString("en-US")} of them`
  const rowOf = (ours: number, bound: number) => ({
    ...{ against, goal: null, ours: quantity(ours), bound: quantity(bound) },
    ratio: figureOf([ours / bound]),
    note: `${note}; ${found.map(describe).join("; ")}`
  })
  return [
    {
      bench: `heap after ${name} settled mints of one reserve`,
      unit: "MiB",
      ...rowOf(last.bytes / 2 ** 20, first.bytes / 2 ** 20)
    },
    {
      bench: `contracts that a settlement names after ${name} mints of one reserve`,
      unit: "contracts",
      ...rowOf(last.named, first.named)
    }
  ]
}

export const whole = {
  bench: (({ size = 100_000 }) =>
    manyOf("postgres", {
      size,
      note: "decoded versions are remembered up to 10,000; the ledger is in the database"
    })) satisfies Bench
}

/** The same with the ledger in this process, for what the simulated ledger itself holds. */
export const inProcess = {
  bench: (({ size = 10_000 }) =>
    manyOf("memory", { size, note: "the ledger is in this process" })) satisfies Bench
}
