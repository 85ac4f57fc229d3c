/**
 * Reads the incomes of a par instrument that a snapshot of the ledger showed or that were published
 * after it, once the instrument is recorded (docs/domain/instruments.md#price-points).
 */
import { Effect, Stream } from "effect"
import * as Instant from "../../kernel/Instant.ts"
import * as Offset from "../../kernel/Offset.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { projected, type TypedContract, typedOf } from "../../projection/ActiveContracts.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import { taken } from "../../projection/SnapshotTaken.ts"
import type { Act } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { OraclePoint } from "../../templates/Price.ts"
import { lock, onceRecorded } from "../instrument/AwaitingTermsSteps.ts"
import { pricePoints, sortKeyOf } from "./PricePoint.ts"
import { incomeMetric, publish } from "./PriceFromLedger.ts"

/**
 * Opens the points of an instrument that waited for its terms, in the order of their publication.
 * Writes nothing where the projection did not begin with a snapshot. Only inside `Records.transact`.
 */
const openWaiting = (instrumentId: string, act: Act): Effect.Effect<void, Unavailable, Records> =>
  Effect.gen(function* () {
    const snapshot = yield* taken
    if (snapshot === null) return
    // Readings take this lock too, and leave points out until these steps have opened those before.
    yield* lock(instrumentId)
    const waiting = (yield* Stream.runCollect(
      typedOf(OraclePoint, (template) =>
        Stream.filter(
          projected(template),
          ({ payload }) =>
            payload["instrumentId"] === instrumentId &&
            payload["metric"] === incomeMetric &&
            payload["venue"] === snapshot.venue
        )
      )
    )).toSorted(byCreation)
    if (waiting.length === 0) return
    const { venue } = snapshot
    let place = yield* nextPlaceAt(Snapshot.offsetOf(act))
    for (const contract of waiting) {
      const node = Snapshot.nodeOf({ act, venue, nodeId: place++ }, contract)
      // A point that it corrects was archived before it had a record.
      yield* publish(contract.typed, node, Effect.succeed(null))
    }
  })

const byCreation = (
  a: TypedContract<typeof OraclePoint>,
  b: TypedContract<typeof OraclePoint>
): number => Instant.compare(a.createdAt, b.createdAt) || (a.contractId < b.contractId ? -1 : 1)

/**
 * Number of the first place at an offset after all points that have one. A place is half of the key by
 * which pages go on, so that two points at one place would hide each other.
 */
const nextPlaceAt = Effect.fnUntraced(function* (offset: Offset.Offset) {
  const records = yield* Records
  yield* records.lock("places of waiting incomes")
  const [last] = yield* records.list(pricePoints, {
    after: sortKeyOf({ offset: Offset.next(offset), nodeId: 0 }),
    direction: "desc",
    limit: 1
  })
  return last?.record.offset === offset ? last.record.nodeId + 1 : 0
})

const atRecording = onceRecorded(
  "Opens the incomes that a snapshot of the ledger showed, once their instrument is recorded.",
  openWaiting
)

export const consequences = [atRecording] as const
