/**
 * Look-ups of the checks of holders: movements under restrictions, units without an admission,
 * places under the holder cap, locks.
 */
import { Effect, Stream } from "effect"
import { type Admission, admissions, pairOf, placed } from "../../admissions/Admission.ts"
import { type Instrument, isRecorded } from "../../instruments/instrument/Instrument.ts"
import { assetKeyOf, type Holding, holdings } from "../../instruments/register/Holding.ts"
import { afterOffset, partyMovements } from "../../instruments/register/Movement.ts"
import { type RegisterEntry, registerEntries } from "../../instruments/register/RegisterEntry.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { holderOrders, nameOf } from "../../orders/order/HolderOrder.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { reserveRedemptions } from "../../reserves/reserve-order/ReserveRedemption.ts"
import { standingSettlements } from "../../orders/standing-settlement/StandingSettlement.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import { type Query, Records } from "../../records/Records.ts"
import {
  everything,
  type Restriction,
  restrictions
} from "../../restraints/restriction/Restriction.ts"
import type { Point } from "./Check.ts"
import * as AdmissionEffect from "./checks/AdmissionEffect.ts"
import type * as HolderCap from "./checks/HolderCap.ts"
import type * as OrphanLocks from "./checks/OrphanLocks.ts"
import * as RestrictionEffect from "./checks/RestrictionEffect.ts"
import { lastRunOf } from "./LastRunLookups.ts"
import type { Run } from "./Run.ts"
import { holderIdsOf } from "./RegisterLookups.ts"

/** Number of holders, or parties, that are judged together. */
const holdersMax = 500

type InstrumentIdentity = Pick<Instrument, "instrumentId" | "registrar">

/**
 * Streams the units that left each holder of an instrument while a restriction forbade it, also where
 * the restriction has ended since; holders that were never restricted are left out. A holder with
 * several restrictions is judged once, at the first of them.
 */
export const leftAgainst = (
  { instrumentId }: InstrumentIdentity,
  { pin }: Point
): Stream.Stream<RestrictionEffect.DepartedUnits, Unavailable, Records> =>
  Stream.unwrap(
    Effect.map(Records, (records) => {
      const reach = [instrumentId, everything]
      return records.stream(restrictions, { pin, where: { reach } }).pipe(
        Stream.grouped(holdersMax),
        Stream.mapEffect((rows) =>
          Effect.gen(function* () {
            const holderId = [...new Set(rows.map(({ record }) => record.holderId))]
            const all = yield* Stream.runCollect(
              records.stream(restrictions, { pin, where: { reach, holderId } })
            )
            const firstIds = new Set(rows.map(({ record }) => record.restrictionId))
            const ofHolder = Map.groupBy(
              all.map(({ record }) => record),
              (restriction) => restriction.holderId
            )
            const judged = [...ofHolder.values()].filter(([first]) =>
              first === undefined ? false : firstIds.has(first.restrictionId)
            )
            return yield* leftOf(instrumentId, judged, pin)
          })
        ),
        Stream.flatMap((facts) => Stream.fromIterable(facts))
      )
    })
  )

/**
 * Sums the units that left these holders against their restrictions, which are sorted by creation.
 */
const leftOf = Effect.fnUntraced(function* (
  instrumentId: string,
  judged: ReadonlyArray<ReadonlyArray<Restriction>>,
  pin: Point["pin"]
) {
  const all = judged.flat()
  const earliest = all.map(({ from }) => from).toSorted(Instant.compare)[0]
  if (earliest === undefined) return []
  const records = yield* Records
  const byParty = Map.groupBy(all, ({ party }) => party as string)
  const sums = new Map<string, Decimal.Decimal>()
  yield* records
    .stream(partyMovements, {
      pin,
      where: { instrumentId: [instrumentId], party: [...byParty.keys()] },
      ranges: { at: { from: Instant.sortable(earliest) } }
    })
    .pipe(
      Stream.runForEach(({ record }) =>
        Effect.sync(() => {
          const own = byParty.get(record.party) ?? []
          const holderId = own[0]?.holderId
          if (holderId === undefined) return
          const units = RestrictionEffect.leftAgainst(own, { ...record, holderId })
          sums.set(holderId, Decimal.add(sums.get(holderId) ?? Decimal.zero, units))
        })
      )
    )
  return judged.flatMap(
    ([first]): ReadonlyArray<RestrictionEffect.DepartedUnits> =>
      first === undefined
        ? []
        : [
            {
              instrumentId,
              holderId: first.holderId,
              units: sums.get(first.holderId) ?? Decimal.zero
            }
          ]
  )
})

/**
 * Streams the parties of an instrument's register; those without an admission with the units that
 * came to them.
 */
export const held = (
  instrument: InstrumentIdentity,
  at: Point
): Stream.Stream<AdmissionEffect.HeldUnits, Unavailable, Records> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const records = yield* Records
      const last = yield* lastRunOf(instrument, AdmissionEffect.check)
      return records
        .stream(registerEntries, { pin: at.pin, where: { asset: [assetKeyOf(instrument)] } })
        .pipe(
          Stream.map(({ record }) => record),
          Stream.grouped(holdersMax),
          Stream.mapEffect((entries) => heldBy(instrument, entries, { at, last })),
          Stream.flatMap((facts) => Stream.fromIterable(facts))
        )
    })
  )

interface RunPeriod {
  readonly at: Point
  readonly last: Pick<Run, "asOf"> | null
}

const heldBy = Effect.fnUntraced(function* (
  instrument: InstrumentIdentity,
  entries: ReadonlyArray<RegisterEntry>,
  { at, last }: RunPeriod
) {
  const holderIds = yield* holderIdsOf(
    entries.map(({ party }) => party),
    at
  )
  const admitted = yield* admissionsOf(instrument, [...holderIds.values()], at)
  const periodsOf = (party: string) => admitted.get(holderIds.get(party) ?? "") ?? []
  const isAdmitted = (party: string): boolean =>
    AdmissionEffect.isAdmitted(periodsOf(party), at.pin.judgedAt)
  const strangers = entries.map(({ party }) => party).filter((party) => !isAdmitted(party))
  const byForce = yield* forcedTo(instrument, strangers, at)
  const isNew = yield* againstSince(instrument, strangers, { at, last, periodsOf })
  return entries.map(
    ({ party, units }): AdmissionEffect.HeldUnits => ({
      instrumentId: instrument.instrumentId,
      party,
      holderId: holderIds.get(party) ?? null,
      units,
      isAdmitted: isAdmitted(party),
      byForce: byForce.get(party) ?? Decimal.zero,
      isNew: isNew.has(party)
    })
  )
})

/** Loads the admissions of holders to an instrument, ended ones included, by holder. */
const admissionsOf = Effect.fnUntraced(function* (
  { instrumentId }: InstrumentIdentity,
  holderIds: ReadonlyArray<string>,
  { pin }: Point
) {
  if (holderIds.length === 0) return new Map<string, ReadonlyArray<Admission>>()
  const records = yield* Records
  const pair = holderIds.map((holderId) => pairOf({ holderId, instrumentId }))
  const found = yield* Stream.runCollect(records.stream(admissions, { pin, where: { pair } }))
  return Map.groupBy(
    found.map(({ record }) => record),
    ({ holderId }) => holderId
  )
})

/** Streams the movements that brought units of an instrument to these parties. */
const arrivals = (
  { instrumentId, registrar }: InstrumentIdentity,
  parties: ReadonlyArray<string>,
  { kinds, ...query }: Pick<Query, "pin" | "after"> & { readonly kinds?: ReadonlyArray<string> }
) =>
  Stream.unwrap(
    Effect.map(Records, (records) => {
      const where = {
        instrumentId: [instrumentId],
        party: parties,
        ...(kinds === undefined ? {} : { kind: kinds })
      }
      return records.stream(partyMovements, { ...query, where }).pipe(
        Stream.map(({ record }) => record),
        Stream.filter(
          (movement) =>
            movement.registrar === registrar &&
            movement.to === movement.party &&
            movement.from !== movement.party
        )
      )
    })
  )

/** Sums the units that came to parties by force, by party. */
const forcedTo = Effect.fnUntraced(function* (
  instrument: InstrumentIdentity,
  parties: ReadonlyArray<string>,
  { pin }: Point
) {
  const sums = new Map<string, Decimal.Decimal>()
  if (parties.length === 0) return sums
  yield* Stream.runForEach(
    arrivals(instrument, parties, { pin, kinds: AdmissionEffect.forced }),
    ({ party, units }) =>
      Effect.sync(() => sums.set(party, Decimal.add(sums.get(party) ?? Decimal.zero, units)))
  )
  return sums
})

/** Finds the parties that got units against their admissions since the last run; none before the first. */
const againstSince = Effect.fnUntraced(function* (
  instrument: InstrumentIdentity,
  parties: ReadonlyArray<string>,
  {
    at: { pin },
    last,
    periodsOf
  }: RunPeriod & { readonly periodsOf: (party: string) => ReadonlyArray<Admission> }
) {
  const found = new Set<string>()
  if (last === null || parties.length === 0) return found
  yield* Stream.runForEach(
    arrivals(instrument, parties, { pin, after: afterOffset(last.asOf) }),
    (movement) =>
      Effect.sync(() => {
        if (AdmissionEffect.isAgainst(periodsOf(movement.party), movement)) {
          found.add(movement.party)
        }
      })
  )
  return found
})

/** Counts the places that admitted and offered holders take in a recorded instrument. */
export const places = (
  instrument: Instrument,
  { pin }: Point
): Stream.Stream<HolderCap.Places, Unavailable, Records> => {
  if (!isRecorded(instrument)) return Stream.empty
  const { instrumentId, manifest } = instrument
  return Stream.fromEffect(
    Effect.gen(function* () {
      const records = yield* Records
      const where = { instrumentId: [instrumentId], state: [...placed] }
      const counts = yield* records.countBy(admissions, "instrumentId", { pin, where })
      return {
        instrumentId,
        holderCap: manifest.holderCap,
        taken: counts.get(instrumentId) ?? 0
      }
    })
  )
}

/** Streams the locked holdings of an instrument whose lock names an order of the venue. */
export const locks = (
  instrument: InstrumentIdentity,
  at: Point
): Stream.Stream<OrphanLocks.Lock, Unavailable, Records> =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records.stream(holdings, { pin: at.pin, where: { asset: [assetKeyOf(instrument)] } }).pipe(
        Stream.map(({ record }) => record),
        Stream.filter(({ lock }) => lock !== null),
        Stream.grouped(holdersMax),
        Stream.mapEffect((locked) => ownLocks(instrument, locked, at)),
        Stream.flatMap((facts) => Stream.fromIterable(facts))
      )
    )
  )

/**
 * Selects the locks that name an order of the venue, by its id or by the id of the order that its
 * owner signed.
 */
const ownLocks = Effect.fnUntraced(function* (
  { instrumentId }: InstrumentIdentity,
  locked: ReadonlyArray<Holding>,
  at: Point
) {
  const records = yield* Records
  const { pin } = at
  const signedIds = locked.flatMap(({ lock, owner: party }) =>
    (["subscription", "redemption"] as const).map((kind) =>
      nameOf({ kind, party, orderId: lock?.context ?? "" })
    )
  )
  const signed = yield* records.many(holderOrders, [...new Set(signedIds)], pin)
  const contexts = locked.map(({ lock }) => lock?.context ?? "")
  const claimed = signed.flatMap(({ claimedAs }) => claimedAs ?? [])
  const ids = [...new Set([...contexts, ...claimed])]
  const isLive = new Map<string, boolean>()
  const add = (id: string, endedAt: Instant.Instant | null): void => {
    isLive.set(id, endedAt === null || isLive.get(id) === true)
  }
  for (const self of yield* records.many(subscriptions, ids, pin)) {
    add(self.subscriptionId, self.endedAt)
  }
  for (const self of yield* records.many(redemptions, ids, pin)) {
    add(self.redemptionId, self.endedAt)
  }
  for (const self of yield* records.many(standingSettlements, ids, pin)) {
    add(self.standingSettlementId, self.endedAt)
  }
  for (const self of yield* records.many(reserveRedemptions, ids, pin)) {
    add(self.reserveRedemptionId, self.endedAt)
  }
  const signedBy = Map.groupBy(signed, ({ party, orderId }) => `${party}/${orderId}`)
  const holderIds = yield* holderIdsOf(
    locked.map(({ owner }) => owner),
    at
  )
  return locked.flatMap(({ amount, contractId, lock, owner }): ReadonlyArray<OrphanLocks.Lock> => {
    const context = lock?.context ?? ""
    const own = signedBy.get(`${owner}/${context}`) ?? []
    const lives = [
      isLive.get(context),
      ...own.map(({ claimedAs, state }) =>
        claimedAs === null ? state === "signed" : isLive.get(claimedAs)
      )
    ].filter((live) => live !== undefined)
    if (lives.length === 0) return []
    const holderId = holderIds.get(owner) ?? null
    return [{ instrumentId, contractId, holderId, units: amount, isLive: lives.includes(true) }]
  })
})
