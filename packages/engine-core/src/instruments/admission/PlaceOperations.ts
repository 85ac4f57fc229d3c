/** How an offer takes its place under the holder cap before the ledger shows it, and who gives one back. */
import { Effect, Option } from "effect"
import { unavailable } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { operations } from "../../writes/OperationRecord.ts"
import { admissions, placed } from "./Admission.ts"
import { admissionPlaces, type Place, placesMax } from "./AdmissionPlaces.ts"

/** Seconds after which so many offers are likely on the ledger. */
const fullFor = 5

/** The places of an instrument that are taken, and those of them that only an operation holds. */
export interface Taken {
  readonly instrumentId: string
  readonly count: number
  readonly reserved: ReadonlyArray<Place>
}

/**
 * How many places under an instrument's holder cap are taken: admitted, offered, and reserved by
 * another operation. A reserved place is given back when its operation fails, and is the admission's
 * own once that is listed. What is reserved is asked first: an offer that comes to be listed in
 * between may count twice for this one look, never not at all.
 */
export const takenOf = Effect.fnUntraced(function* (
  instrumentId: string,
  { operationId }: Pick<OperationAct, "operationId">
) {
  const records = yield* Records
  const places = yield* records.find(admissionPlaces, instrumentId)
  const reserved = Option.match(places, {
    onNone: () => [],
    onSome: (found) => found.reserved.filter((place) => place.operationId !== operationId)
  })
  const standing = yield* stillReserved(reserved)
  const listed = yield* records.countBy(admissions, "instrumentId", {
    where: { instrumentId: [instrumentId], state: placed }
  })
  const count = (listed.get(instrumentId) ?? 0) + standing.length
  return { instrumentId, count, reserved: standing } satisfies Taken
})

/** Without those that are listed by now, and those whose operation failed. */
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
