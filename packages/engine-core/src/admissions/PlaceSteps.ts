/** Reserves a place under the holder cap for an offer before the ledger shows it, and frees it. */
import { Effect, Option } from "effect"
import { unavailable } from "../kernel/Refusal.ts"
import type { OperationAct } from "../records/Act.ts"
import { Records } from "../records/Records.ts"
import { operations } from "../writes/OperationRecord.ts"
import { AdmissionOffer } from "../templates/Admission.ts"
import { type Command, exercise } from "../templates/Template.ts"
import type { Recorded } from "../instruments/instrument/Instrument.ts"
import { admissions } from "./Admission.ts"
import { admissionPlaces, type Place, placesMax } from "./AdmissionPlaces.ts"

/** Retry-After in seconds when too many offers are under way. */
const fullFor = 5

/** How many offers that have run out are taken off the ledger with one that needs their places. */
const clearedMax = 50

/** Taken places of an instrument, and those among them that operations have reserved. */
export interface Taken {
  readonly instrumentId: string
  readonly count: number
  readonly reserved: ReadonlyArray<Place>
  /** Offers that have run out, and leave the ledger in the same transaction as the new one comes. */
  readonly clears: ReadonlyArray<Command>
}

/**
 * How many places under an instrument's holder cap are taken: admitted, offered, and reserved by
 * another operation. A reserved place is given back when its operation fails, and is the admission's
 * own once that is listed. What is reserved is asked first: an offer that comes to be listed in
 * between may count twice for this one look, never not at all.
 *
 * An offer that has run out may have been accepted in time though nobody has read it yet. Where its
 * place is needed, the transaction that takes it withdraws the offer first: if it was accepted the
 * ledger refuses both, and the new offer is judged again.
 */
export const takenOf = Effect.fnUntraced(function* (
  { instrumentId, manifest }: Recorded,
  { operationId }: Pick<OperationAct, "operationId">
) {
  const records = yield* Records
  const places = yield* records.find(admissionPlaces, instrumentId)
  const reserved = Option.match(places, {
    onNone: () => [],
    onSome: (found) => found.reserved.filter((place) => place.operationId !== operationId)
  })
  const standing = yield* stillReserved(reserved)
  const count = (column: string, where: Readonly<Record<string, ReadonlyArray<string>>>) =>
    Effect.map(
      records.countBy(admissions, column, { where: { ...where, [column]: [instrumentId] } }),
      (found) => found.get(instrumentId) ?? 0
    )
  const all =
    (yield* count("unanswered", {})) +
    (yield* count("instrumentId", { state: ["admitted"] })) +
    standing.length
  const clears = yield* clearing(instrumentId, all - manifest.holderCap + 1)
  return {
    instrumentId,
    count: all - clears.length,
    reserved: standing,
    clears
  } satisfies Taken
})

/** Takes as many offers off the ledger as are needed and have run out, the oldest first. */
const clearing = Effect.fnUntraced(function* (instrumentId: string, needed: number) {
  if (needed <= 0) return []
  const records = yield* Records
  const found = yield* records.list(admissions, {
    where: { unanswered: [instrumentId], state: ["expired"] },
    limit: Math.min(needed, clearedMax)
  })
  return found.flatMap(({ record: { offerCid } }) =>
    offerCid === null ? [] : [exercise(AdmissionOffer, offerCid, "Withdraw", {})]
  )
})

/** The reservations without those whose admission is recorded by now or whose operation failed. */
const stillReserved = Effect.fnUntraced(function* (reserved: ReadonlyArray<Place>) {
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
  const failed = new Set(
    (yield* records.many(operations, ids))
      .filter(({ state }) => state === "failed")
      .map(({ operationId }) => operationId)
  )
  return waiting.filter(({ operationId }) => !failed.has(operationId))
})

/** Takes a place for an offer, in the transaction that plans it. */
export const reserve = Effect.fnUntraced(function* (
  taken: Taken,
  admissionId: string,
  act: OperationAct
) {
  const records = yield* Records
  const { instrumentId } = taken
  if (taken.reserved.length >= placesMax) {
    return yield* Effect.fail(
      unavailable("overloaded", "Too many offers of this instrument are under way.", fullFor)
    )
  }
  const reserved = [...taken.reserved, { admissionId, operationId: act.operationId }]
  const before = yield* records.find(admissionPlaces, instrumentId)
  if (Option.isSome(before)) {
    yield* records.record(admissionPlaces, before.value, { on: "reserve", reserved }, act)
    return
  }
  yield* records
    .open(admissionPlaces, { instrumentId, reserved }, act)
    .pipe(Effect.catchTag("Refused", (again) => Effect.die(new Error(again.slug))))
})
