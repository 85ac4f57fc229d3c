/**
 * Prefetch for the checks of reserves: one look-up of each kind for a batch of instruments, made
 * when the first check needs it. An instrument without a reserve costs no look-up of its own.
 */
import { Effect, Stream } from "effect"
import { accountNumbers } from "../../holders/external-account/AccountNumber.ts"
import { externalAccounts } from "../../holders/external-account/ExternalAccount.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records } from "../../records/Records.ts"
import { isBacking, reserves } from "../../reserves/reserve/Reserve.ts"
import { reserveHoldings } from "../../reserves/reserve/ReserveHolding.ts"
import * as ReserveLookups from "../../reserves/reserve/ReserveLookups.ts"
import type { BackingReserve, BatchPoint, Point } from "./Check.ts"
import { externalSourcesAt } from "./StatementsInForceLookups.ts"

type InstrumentIdentity = Pick<Instrument, "instrumentId">

/** Adds the prefetch of a batch of instruments to a run's point; makes no look-up yet. */
export const pointOf = Effect.fnUntraced(function* (
  instruments: ReadonlyArray<InstrumentIdentity>,
  at: Point
) {
  const instrumentIds = instruments.map(({ instrumentId }) => instrumentId)
  const backed = yield* Effect.cached(backedOf(instrumentIds, at.pin))
  const custodyHashes = yield* Effect.cached(
    Effect.flatMap(backed, (found) => custodyHashesOf([...found.keys()], at.pin))
  )
  const orphaned = yield* Effect.cached(orphanedOf(instrumentIds, at.pin))
  const sources = yield* Effect.cached(externalSourcesAt(at.pin))
  return { ...at, sources, reserves: { backed, custodyHashes, orphaned } } satisfies BatchPoint
})

/** Loads the reserves in force of instruments with their books at a pin; an instrument may have none. */
export const backedOf = Effect.fnUntraced(function* (
  instrumentIds: ReadonlyArray<string>,
  pin: Pin.ResolvedPin
) {
  if (instrumentIds.length === 0) return new Map<string, BackingReserve>()
  const records = yield* Records
  const found = yield* records.stream(reserves, { pin, where: { backing: instrumentIds } }).pipe(
    Stream.map(({ record }) => record),
    Stream.filter(({ reserveCid }) => reserveCid !== null),
    Stream.runCollect
  )
  if (found.length === 0) return new Map<string, BackingReserve>()
  const loaded = yield* ReserveLookups.booksOfAll(found, { at: pin.judgedAt, pin })
  return new Map(
    loaded.flatMap(({ books }, n) => {
      const reserve = found[n]
      return reserve === undefined ? [] : [[reserve.instrumentId, { reserve, books }] as const]
    })
  )
})

const custodyHashesOf = Effect.fnUntraced(function* (
  instrumentIds: ReadonlyArray<string>,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const hashes = new Map<string, Set<string>>()
  if (instrumentIds.length === 0) return hashes
  const accounts = yield* records
    .stream(externalAccounts, { pin, where: { kind: ["custody"], instrumentId: instrumentIds } })
    .pipe(
      Stream.map(({ record }) => [record.externalAccountId, record.instrumentId] as const),
      Stream.runCollect
    )
  if (accounts.length === 0) return hashes
  const instrumentOf = new Map<string, string | null>(accounts)
  yield* records
    .stream(accountNumbers, { pin, where: { externalAccountId: [...instrumentOf.keys()] } })
    .pipe(
      Stream.runForEach(({ record: { externalAccountId, hash } }) =>
        Effect.sync(() => {
          const instrumentId = instrumentOf.get(externalAccountId) ?? null
          if (instrumentId === null) return
          hashes.set(instrumentId, (hashes.get(instrumentId) ?? new Set()).add(hash))
        })
      )
    )
  return hashes
})

/** Number of reserves whose locked holdings are counted together. */
const reservesMax = 500

const orphanedOf = Effect.fnUntraced(function* (
  instrumentIds: ReadonlyArray<string>,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const orphaned = new Map<string, Array<string>>()
  yield* records.stream(reserves, { pin, where: { instrumentId: instrumentIds } }).pipe(
    Stream.map(({ record }) => record),
    Stream.filter((reserve) => !isBacking(reserve)),
    Stream.grouped(reservesMax),
    Stream.runForEach((ended) =>
      Effect.gen(function* () {
        const where = { reserveId: ended.map(({ reserveId }) => reserveId) }
        const locked = yield* records.countBy(reserveHoldings, "reserveId", { pin, where })
        for (const { instrumentId, reserveId } of ended) {
          if (!locked.has(reserveId)) continue
          orphaned.set(instrumentId, [...(orphaned.get(instrumentId) ?? []), reserveId])
        }
      })
    )
  )
  return orphaned
})
