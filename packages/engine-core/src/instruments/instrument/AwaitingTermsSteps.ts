/**
 * Decorator of readings of orders, cycles and distributions, which after a snapshot wait until the
 * terms of their instrument are recorded; the same check for incomes; and the consequence that opens
 * what waited.
 */
import { Effect, Option } from "effect"
import { instruments, isRecorded } from "./Instrument.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { LfRecord } from "../../ports/Ledger.ts"
import type { FromLedger, Node } from "../../projection/FromLedger.ts"
import type { LedgerEffect } from "../../projection/LedgerRecord.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import { taken } from "../../projection/SnapshotTaken.ts"
import type { Act } from "../../records/Act.ts"
import * as Consequence from "../../records/Consequence.ts"
import { Records } from "../../records/Records.ts"

/**
 * Decorates a reading: in a projection that began with a snapshot it leaves out contracts of an
 * instrument until the instrument's terms are recorded. The `SnapshotSteps` of the reading's room
 * then open the contracts that are still active. In any other projection such a contract of an
 * instrument without terms is a breach.
 */
export const awaitingTerms = (reading: FromLedger): FromLedger => {
  const { concluded, created, exercised, looks } = reading
  return {
    ...reading,
    looks: (payload, contractId) => [
      ...(looks?.(payload, contractId) ?? []),
      { collection: instruments, id: instrumentIdOf(payload) }
    ],
    ...(created === undefined
      ? {}
      : {
          created: (payload, node, event) =>
            unlessAwaiting(payload, node, created(payload, node, event))
        }),
    ...(exercised === undefined
      ? {}
      : {
          exercised: (choice, payload, node, event) =>
            unlessAwaiting(payload, node, exercised(choice, payload, node, event))
        }),
    ...(concluded === undefined
      ? {}
      : {
          concluded: (choice, payload, node, event) =>
            unlessAwaiting(payload, node, concluded(choice, payload, node, event))
        })
  }
}

const unlessAwaiting = (payload: LfRecord, node: Node, ledgerEffect: LedgerEffect): LedgerEffect =>
  Snapshot.isOf(node)
    ? Effect.void
    : Effect.flatMap(isAwaiting(instrumentIdOf(payload)), (awaits) =>
        awaits ? Effect.void : ledgerEffect
      )

/**
 * Checks whether a fact of an instrument has to wait for its terms: they are not recorded, and the
 * fact is of a snapshot or came after one.
 */
export const waitsForTerms = (
  instrumentId: string,
  node: Node
): Effect.Effect<boolean, Unavailable, Records> =>
  Snapshot.isOf(node)
    ? Effect.map(isRecordedNow(instrumentId), (hasTerms) => !hasTerms)
    : isAwaiting(instrumentId)

const instrumentIdOf = ({ instrument }: LfRecord): string =>
  typeof instrument === "object" &&
  instrument !== null &&
  "id" in instrument &&
  typeof instrument.id === "string"
    ? instrument.id
    : ""

const isAwaiting = Effect.fnUntraced(function* (instrumentId: string) {
  const records = yield* Records
  if (yield* isRecordedNow(instrumentId)) return false
  if ((yield* taken) === null) return false
  // The recording of the terms takes this lock too: it reads either all of this update, or this
  // update reads the terms.
  yield* lock(instrumentId)
  const found = yield* records.list(instruments, {
    where: { instrumentId: [instrumentId] },
    limit: 1
  })
  if (!found.some(({ record }) => isRecorded(record))) return true
  // The terms were recorded meanwhile, with records that it opened: prefetched records are dropped.
  yield* records.prefetch([])
  return false
})

const isRecordedNow = Effect.fnUntraced(function* (instrumentId: string) {
  const records = yield* Records
  const instrument = yield* records.find(instruments, instrumentId)
  return Option.isSome(instrument) && isRecorded(instrument.value)
})

/** Takes the lock of an instrument's contracts of a snapshot, until the transaction ends. */
export const lock = (instrumentId: string) =>
  Effect.flatMap(Records, (records) => records.lock(`shown-orders ${instrumentId}`))

/**
 * Consequence of the recording of an instrument: opens what waited for its terms after a snapshot of
 * the ledger. `doc` is its sentence in the catalogue.
 */
export const onceRecorded = (doc: string, open: (instrumentId: string, act: Act) => LedgerEffect) =>
  Consequence.define({
    doc,
    collection: instruments,
    concerns: ({ before, after }) =>
      isRecorded(after) && (before === undefined || !isRecorded(before))
        ? { key: after.instrumentId, subject: after.instrumentId }
        : null,
    follow: (instrumentIds, act) =>
      Effect.forEach(instrumentIds, (id) => open(id, act), { discard: true })
  })
