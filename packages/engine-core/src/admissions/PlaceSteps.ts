/** Counts, reserves and frees places under an instrument's holder cap. */
import { Effect, Option } from "effect"
import { unavailable } from "../kernel/Refusal.ts"
import type { OperationAct } from "../records/Act.ts"
import { Records } from "../records/Records.ts"
import { operations } from "../writes/OperationRecord.ts"
import type { Command } from "../templates/Template.ts"
import type { RecordedInstrument } from "../instruments/instrument/Instrument.ts"
import { type Admission, admissions } from "./Admission.ts"
import { ending } from "./AdmissionEnding.ts"
import { admissionPlaces, type AdmissionPlace, placesMax } from "./AdmissionPlaces.ts"

/** Seconds of Retry-After where too many offers are under way. */
const retryAfter = 5

/** Largest number of expired offers that are withdrawn together with a new one. */
const clearedMax = 50

/** Taken places of an instrument: admitted, offered, accepted past their time and reserved. */
interface TakenPlaces {
  readonly instrumentId: string
  readonly count: number
  readonly reserved: ReadonlyArray<AdmissionPlace>
  /** Commands that end expired offers, and what was accepted of them, in the transaction of the new offer. */
  readonly clears: ReadonlyArray<Command>
}

/**
 * Counts the places under an instrument's holder cap that are taken: admitted, offered, and reserved
 * by other operations. A reservation ends when its operation fails or its admission is listed.
 * Reservations are read before admissions, so that none is missed. Where one of them was listed while the
 * admissions were counted, they are counted again: it would count twice.
 *
 * An expired offer may have been accepted in time by a transaction that is not read yet. Where its
 * place is needed, the transaction of the new offer withdraws the expired one first: where it was
 * accepted the ledger refuses both, and the new offer is judged again. The credential of an offer that
 * was accepted past its time takes its place on the ledger as well: it is revoked where that place is
 * needed, and where its holder is offered the instrument again.
 */
export const takenOf = Effect.fnUntraced(function* (
  { instrumentId, manifest }: RecordedInstrument,
  { operationId }: Pick<OperationAct, "operationId">,
  holderId: string
) {
  const records = yield* Records
  const places = yield* records.find(admissionPlaces, instrumentId)
  const reserved = Option.match(places, {
    onNone: () => [],
    onSome: (found) => found.reserved.filter((place) => place.operationId !== operationId)
  })
  const count = (column: string, where: Readonly<Record<string, ReadonlyArray<string>>>) =>
    Effect.map(
      records.countBy(admissions, column, { where: { ...where, [column]: [instrumentId] } }),
      (found) => found.get(instrumentId) ?? 0
    )
  let unused = yield* stillReserved(reserved)
  let listed = 0
  for (let before = -1; before !== unused.length; ) {
    before = unused.length
    listed =
      (yield* count("unanswered", {})) +
      (yield* count("acceptedLate", {})) +
      (yield* count("instrumentId", { state: ["admitted"] }))
    unused = yield* stillReserved(unused)
  }
  const all = listed + unused.length
  const clears = yield* clearing({ instrumentId, holderId }, all - manifest.holderCap + 1)
  return {
    instrumentId,
    count: all - clears.length,
    reserved: unused,
    clears
  } satisfies TakenPlaces
})

/**
 * Makes the commands that end what the holder itself accepted past its time, and as many others as are
 * needed: expired offers first, then credentials of such, oldest first.
 */
const clearing = Effect.fnUntraced(function* (
  { instrumentId, holderId }: Pick<Admission, "holderId" | "instrumentId">,
  needed: number
) {
  const records = yield* Records
  const late = { acceptedLate: [instrumentId] }
  const own = yield* records.list(admissions, {
    where: { ...late, holderId: [holderId] },
    limit: clearedMax
  })
  const found = [...own]
  for (const where of [{ unanswered: [instrumentId], state: ["expired"] }, late]) {
    const limit = Math.min(needed, clearedMax) - found.length
    if (limit <= 0) break
    const more = yield* records.list(admissions, { where, limit: limit + own.length })
    const ids = new Set(own.map(({ record }) => record.admissionId))
    found.push(...more.filter(({ record }) => !ids.has(record.admissionId)).slice(0, limit))
  }
  return found.map(({ record }) => ending(record))
})

/**
 * Reservations in use: without those whose admission is recorded or whose operation has failed. An
 * operation that retention has deleted had ended, and of one that succeeded the admission is recorded.
 */
const stillReserved = Effect.fnUntraced(function* (reserved: ReadonlyArray<AdmissionPlace>) {
  if (reserved.length === 0) return []
  const records = yield* Records
  const found = yield* records.list(admissions, {
    where: { admissionId: reserved.map(({ admissionId }) => admissionId) },
    limit: reserved.length
  })
  const listed = new Set(found.map(({ record }) => record.admissionId))
  const waiting = reserved.filter(({ admissionId }) => !listed.has(admissionId))
  if (waiting.length === 0) return []
  const ids = [...new Set(waiting.map(({ operationId }) => operationId))]
  const inForce = new Set<string>(
    (yield* records.many(operations, ids))
      .filter(({ state }) => state !== "failed")
      .map(({ operationId }) => operationId)
  )
  return waiting.filter(({ operationId }) => inForce.has(operationId))
})

/**
 * Reserves a place for an offer in the transaction that plans it. Answers `Unavailable`
 * (overloaded) where too many reservations of the instrument are under way.
 */
export const reserve = Effect.fnUntraced(function* (
  takenPlaces: TakenPlaces,
  admissionId: string,
  act: OperationAct
) {
  const records = yield* Records
  const { instrumentId } = takenPlaces
  if (takenPlaces.reserved.length >= placesMax) {
    return yield* Effect.fail(
      unavailable("overloaded", "Too many offers of this instrument are under way.", retryAfter)
    )
  }
  const reserved = [...takenPlaces.reserved, { admissionId, operationId: act.operationId }]
  const before = yield* records.find(admissionPlaces, instrumentId)
  if (Option.isSome(before)) {
    yield* records.append(admissionPlaces, before.value, { on: "reserve", reserved }, act)
    return
  }
  yield* records
    .open(admissionPlaces, { instrumentId, reserved }, act)
    .pipe(Effect.catchTag("Refused", (again) => Effect.die(new Error(again.slug))))
})
