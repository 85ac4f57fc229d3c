/** Checks of reconciliation that compare units and places with admissions. */
import { Effect, Stream } from "effect"
import { type Admission, admissions, pairOf, placed } from "../../admissions/Admission.ts"
import { compare } from "../../findings/FindingRules.ts"
import { type Instrument, isRecorded } from "../../instruments/instrument/Instrument.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import {
  afterOffset,
  type PartyMovement,
  partyMovements
} from "../../instruments/register/Movement.ts"
import { type RegisterEntry, registerEntries } from "../../instruments/register/RegisterEntry.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { type Query, Records } from "../../records/Records.ts"
import type { MovementKind } from "../../vocabulary/sets.ts"
import { lastRunOf } from "../run/LastRunLookups.ts"
import type { Run } from "../run/Run.ts"
import * as Check from "./Check.ts"
import { holderIdsOf } from "./MovementSumLookups.ts"

/** One party's units of an instrument, with the admissions of its holder. */
interface HeldUnits {
  readonly instrumentId: string
  readonly party: string
  /** Null where the party is no holder of the venue. */
  readonly holderId: string | null
  readonly units: Decimal.Decimal
  /** Whether an admission of the holder is valid at the instant of the run. */
  readonly isAdmitted: boolean
  /** Units that came by a forced transfer or a recovery; 0 where an admission is valid. */
  readonly byForce: Decimal.Decimal
  /** Whether restricted units came against the admissions since the last run; false before the first. */
  readonly isNew: boolean
}

/** Units that came by force, or by a recovery, are expected as far as the party still has them. */
export const admissionEffect = Check.define("admission-effect", {
  doc: "Finds units of parties that have no valid admission; units that came by a forced transfer or a recovery are expected.",
  rule: "holdings-without-admission",
  needs: "A party on the register of the instrument.",
  cannot: {},
  severity:
    "a warning; blocking where restricted units came without an admission since the last run",
  facts: (instrument, at) => heldUnits(instrument, at),
  differences: ({ instrumentId, holderId, party, ...held }: HeldUnits, tolerance) =>
    held.isAdmitted
      ? []
      : compare({
          instrumentId,
          subject: { resourceKind: "holder", id: holderId ?? party },
          holderId,
          severity: held.isNew ? "blocking" : "warning",
          unit: "units",
          expected: Decimal.min(held.byForce, held.units),
          actual: held.units,
          tolerance
        })
})

/** Number of parties that are judged together. */
const partiesMax = 500

/**
 * Streams the parties of an instrument's register; those without an admission with the units that
 * came to them.
 */
const heldUnits = (
  instrument: Pick<Instrument, "instrumentId" | "registrar">,
  at: Check.Point
): Stream.Stream<HeldUnits, Unavailable, Records> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const records = yield* Records
      const last = yield* lastRunOf(instrument, "admission-effect")
      return records
        .stream(registerEntries, { pin: at.pin, where: { asset: [assetKeyOf(instrument)] } })
        .pipe(
          Stream.map(({ record }) => record),
          Stream.grouped(partiesMax),
          Stream.mapEffect((entries) => heldBy(instrument, entries, { at, last })),
          Stream.flatMap((facts) => Stream.fromIterable(facts))
        )
    })
  )

interface RunPeriod {
  readonly at: Check.Point
  readonly last: Pick<Run, "asOf"> | null
}

const heldBy = Effect.fnUntraced(function* (
  instrument: Pick<Instrument, "instrumentId" | "registrar">,
  entries: ReadonlyArray<RegisterEntry>,
  { at, last }: RunPeriod
) {
  const holderIds = yield* holderIdsOf(
    entries.map(({ party }) => party),
    at
  )
  const admitted = yield* admissionsOf(instrument, [...holderIds.values()], at)
  const periodsOf = (party: string) => admitted.get(holderIds.get(party) ?? "") ?? []
  const hasAdmission = (party: string): boolean => isAdmitted(periodsOf(party), at.pin.judgedAt)
  const strangers = entries.map(({ party }) => party).filter((party) => !hasAdmission(party))
  const byForce = yield* forcedTo(instrument, strangers, at)
  const isNew = yield* againstSince(instrument, strangers, { at, last, periodsOf })
  return entries.map(
    ({ party, units }): HeldUnits => ({
      instrumentId: instrument.instrumentId,
      party,
      holderId: holderIds.get(party) ?? null,
      units,
      isAdmitted: hasAdmission(party),
      byForce: byForce.get(party) ?? Decimal.zero,
      isNew: isNew.has(party)
    })
  )
})

/** Loads the admissions of holders to an instrument, ended ones included, by holder. */
const admissionsOf = Effect.fnUntraced(function* (
  { instrumentId }: Pick<Instrument, "instrumentId" | "registrar">,
  holderIds: ReadonlyArray<string>,
  { pin }: Check.Point
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
  { instrumentId, registrar }: Pick<Instrument, "instrumentId" | "registrar">,
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
  instrument: Pick<Instrument, "instrumentId" | "registrar">,
  parties: ReadonlyArray<string>,
  { pin }: Check.Point
) {
  const sums = new Map<string, Decimal.Decimal>()
  if (parties.length === 0) return sums
  yield* Stream.runForEach(
    arrivals(instrument, parties, { pin, kinds: forced }),
    ({ party, units }) =>
      Effect.sync(() => sums.set(party, Decimal.add(sums.get(party) ?? Decimal.zero, units)))
  )
  return sums
})

/** Finds the parties that got units against their admissions since the last run; none before the first. */
const againstSince = Effect.fnUntraced(function* (
  instrument: Pick<Instrument, "instrumentId" | "registrar">,
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
        if (isAgainst(periodsOf(movement.party), movement)) {
          found.add(movement.party)
        }
      })
  )
  return found
})

/** Period of an admission: it is valid from its acceptance to its end, whichever comes first. */
type Period = Pick<Admission, "admittedAt" | "validFrom" | "validUntil" | "endedAt">

/** Units that came to a party. */
type Arrival = Pick<PartyMovement, "kind" | "at" | "restricted">

/** Kinds of movements that bring units to a party without an admission. */
const forced: ReadonlyArray<MovementKind> = ["forced-transfer", "recovery"]

/** Checks whether an admission had begun at an instant and had not ended before it. */
const isOpen = ({ admittedAt, validFrom, validUntil, endedAt }: Period, at: Instant.Instant) =>
  admittedAt !== null &&
  [admittedAt, validFrom].every((from) => from === null || Instant.atOrBefore(from, at)) &&
  [validUntil, endedAt].every((end) => end === null || Instant.atOrBefore(at, end))

/** Checks whether one of a holder's admissions is valid at an instant; at its end it is not. */
export const isAdmitted = (admissions: ReadonlyArray<Period>, at: Instant.Instant): boolean =>
  admissions.some(
    (admission) => isOpen(admission, at) && admission.validUntil !== at && admission.endedAt !== at
  )

/**
 * Checks whether restricted units came to a party by themselves, while none of its admissions was valid:
 * the ledger should have asked the receiver for a credential. Units that anybody may hold are against no
 * admission, so that no transfer which the registrar allows stops the payments of an instrument. What
 * came at the instant of an end may have come before it, and is not against the admission.
 */
export const isAgainst = (
  admissions: ReadonlyArray<Period>,
  { kind, at, restricted }: Arrival
): boolean =>
  restricted && !forced.includes(kind) && !admissions.some((admission) => isOpen(admission, at))

/** The number of places that are taken in one instrument, and the cap of the policy in force. */
interface TakenPlaces {
  readonly instrumentId: string
  readonly holderCap: number
  /** Number of admissions that are admitted or offered, and of credentials accepted past their time. */
  readonly takenCount: number
}

export const holderCap = Check.define("holder-cap", {
  doc: "Warns of more admitted and offered holders than the cap of the policy has places.",
  rule: "holders-against-the-cap",
  needs: "An instrument whose terms are recorded.",
  cannot: {},
  facts: (instrument, at) => Stream.fromIterableEffect(takenPlaces(instrument, at)),
  differences: (places: TakenPlaces, tolerance) =>
    places.takenCount <= places.holderCap
      ? []
      : compare({
          instrumentId: places.instrumentId,
          subject: { resourceKind: "instrument", id: places.instrumentId },
          holderId: null,
          severity: "warning",
          unit: "holders",
          expected: Decimal.fromInteger(places.holderCap),
          actual: Decimal.fromInteger(places.takenCount),
          tolerance
        })
})

/** Counts the places that are taken in a recorded instrument. */
const takenPlaces = Effect.fnUntraced(function* (instrument: Instrument, { pin }: Check.Point) {
  if (!isRecorded(instrument)) return []
  const { instrumentId, manifest } = instrument
  const records = yield* Records
  const where = { instrumentId: [instrumentId], state: [...placed] }
  const counts = yield* records.countBy(admissions, "instrumentId", { pin, where })
  const late = yield* records.countBy(admissions, "acceptedLate", {
    pin,
    where: { acceptedLate: [instrumentId] }
  })
  const { holderCap } = manifest
  const takenCount = (counts.get(instrumentId) ?? 0) + (late.get(instrumentId) ?? 0)
  const places: TakenPlaces = { instrumentId, holderCap, takenCount }
  return [places]
})
