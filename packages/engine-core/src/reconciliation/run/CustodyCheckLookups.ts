/**
 * Look-ups of the check of custody: positions that a custodian states of a reserve's accounts, and
 * the holdings that are locked for the reserve at that moment
 * (docs/domain/reconciliation.md#custody-of-reserves).
 */
import { Effect, Stream } from "effect"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records } from "../../records/Records.ts"
import type { Reserve } from "../../reserves/reserve/Reserve.ts"
import { reserveHoldings } from "../../reserves/reserve/ReserveHolding.ts"
import { columnOf, keyOf } from "../../reserves/reserve/ReserveTerms.ts"
import { linesOf } from "../../statements/external-statement/StatementLookups.ts"
import type { Note } from "./Check.ts"
import * as CustodyReserve from "./checks/CustodyReserve.ts"
import type { BatchPoint } from "./ReserveBatchLookups.ts"
import { countOfLines, momentOf, type NotedFacts, ofStatement } from "./StatementCheckLookups.ts"
import {
  type SourceStatement,
  statementsToCompare,
  unreadable
} from "./StatementsInForceLookups.ts"

/** Sums of the statement's lines in these accounts, by the asset as the file names it. */
const statedOf = ({ statement }: SourceStatement, hashes: ReadonlySet<string>) =>
  linesOf(statement).pipe(
    Stream.runFold(
      () => new Map<string, Decimal.Decimal>(),
      (sums, line) => {
        if (line.kind !== "custody" || !hashes.has(line.account)) return sums
        const before = sums.get(line.asset) ?? Decimal.zero
        return sums.set(line.asset, Decimal.add(before, line.quantity))
      }
    )
  )

/** Sums the holdings that are locked for a reserve at a pin, by the key of the asset. */
const lockedOf = Effect.fnUntraced(function* ({ reserveId }: Reserve, pin: Pin.ResolvedPin) {
  const records = yield* Records
  const sums = new Map<string, Decimal.Decimal>()
  yield* records.stream(reserveHoldings, { pin, where: { reserveId: [reserveId] } }).pipe(
    Stream.runForEach(({ record: { asset, amount, isFirm } }) =>
      Effect.sync(() => {
        if (!isFirm) return
        const key = keyOf(asset)
        sums.set(key, Decimal.add(sums.get(key) ?? Decimal.zero, amount))
      })
    )
  )
  return sums
})

/**
 * Makes the positions: each mapped asset that is in the terms or locked, and each asset in the file
 * that the source does not map. Several names in the file may be one asset on the ledger.
 */
const positionsOf = (custody: {
  readonly reserve: Pick<Reserve, "terms" | "pending">
  readonly assets: NonNullable<SourceStatement["source"]["assets"]>
  readonly locked: ReadonlyMap<string, Decimal.Decimal>
  readonly stated: ReadonlyMap<string, Decimal.Decimal>
}): ReadonlyArray<CustodyReserve.Position> => {
  const mapped = Map.groupBy(Object.entries(custody.assets), ([, asset]) => keyOf(asset))
  const mappedPositions = [...mapped].flatMap(
    ([key, names]): ReadonlyArray<CustodyReserve.Position> => {
      const stated = Decimal.sum(names.map(([name]) => custody.stated.get(name) ?? Decimal.zero))
      const [first] = names
      if (first === undefined) return []
      const locked = custody.locked.get(key) ?? Decimal.zero
      return [{ asset: columnOf(first[1]), locked, stated }]
    }
  )
  const unmappedPositions = [...custody.stated].flatMap(
    ([name, stated]): ReadonlyArray<CustodyReserve.Position> =>
      Object.hasOwn(custody.assets, name) ? [] : [{ asset: name, locked: null, stated }]
  )
  return [...mappedPositions, ...unmappedPositions]
}

/**
 * Streams, as one fact for each business date, the statements of the custodians of the instrument's
 * reserve that have accounts of it. Where no reserve is in force, or no account in custody is mapped to
 * the instrument, the newest statements are named as not compared.
 */
export const stated = (
  instrument: Instrument,
  at: BatchPoint
): NotedFacts<ReadonlyArray<CustodyReserve.CustodyStatement>> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { instrumentId } = instrument
      const reserve = (yield* at.reserves.backed).get(instrumentId)?.reserve
      const hashes = (yield* at.reserves.custodyHashes).get(instrumentId)
      const why = reserve === undefined ? "no-reserve" : hashes === undefined ? "no-account" : null
      const { notes, statements } = yield* statementsToCompare(instrument, at, {
        check: CustodyReserve.check,
        kinds: ["custody"],
        leavesOut: () => why
      })
      if (reserve === undefined || hashes === undefined) return Stream.fromIterable(notes)
      const unread: Array<Note> = []
      const found = yield* Effect.forEach(statements, (each) =>
        Effect.gen(function* () {
          yield* countOfLines(each.statement)
          const { pin, comparedAt } = yield* momentOf(each, at)
          const compared: CustodyReserve.CustodyStatement = {
            ...ofStatement(each, comparedAt),
            reserveId: reserve.reserveId,
            positions: positionsOf({
              reserve,
              assets: each.source.assets ?? {},
              locked: yield* lockedOf(reserve, pin),
              stated: yield* statedOf(each, hashes)
            })
          }
          return [compared]
        }).pipe(
          Effect.catchTag("CheckNotRun", ({ why }) => {
            unread.push(unreadable(each, why))
            return Effect.succeed([])
          })
        )
      )
      const byDate = Map.groupBy(found.flat(), ({ businessDate }) => businessDate)
      return Stream.fromIterable([...notes, ...unread, ...byDate.values()])
    })
  )
