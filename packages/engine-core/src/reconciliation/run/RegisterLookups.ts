/**
 * Look-ups of the checks of the register: sums of an instrument, movements and lots of its parties.
 */
import { Effect, Stream } from "effect"
import { holderParties } from "../../holders/holder/Holder.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import { positionsOf } from "../../instruments/lot/LotLookups.ts"
import { assetKeyOf, holdings } from "../../instruments/register/Holding.ts"
import { type PartyMovement, partyMovements } from "../../instruments/register/Movement.ts"
import {
  idOf,
  type RegisterEntry,
  registerEntries
} from "../../instruments/register/RegisterEntry.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import type { Point } from "./Check.ts"
import * as MovementsBalance from "./checks/MovementsBalance.ts"
import type * as LotsHoldings from "./checks/LotsHoldings.ts"
import type * as RegisterSupply from "./checks/RegisterSupply.ts"

/** Number of parties whose movements are read together: they are found by party. */
const partiesMax = 200

type InstrumentIdentity = Pick<Instrument, "instrumentId" | "registrar">

/** Sums the amounts of a stream; undefined where it is empty. */
const total = <A, E, R>(
  stream: Stream.Stream<A, E, R>,
  amountOf: (element: A) => Decimal.Decimal
) =>
  Stream.runFold(
    stream,
    (): Decimal.Decimal | undefined => undefined,
    (sum, element) => Decimal.add(sum ?? Decimal.zero, amountOf(element))
  )

/** Streams the sums of register and holdings of the instrument; none where no party holds units. */
export const sums = (
  instrument: InstrumentIdentity,
  { pin }: Point
): Stream.Stream<RegisterSupply.Sums, Unavailable, Records> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const records = yield* Records
      const where = { asset: [assetKeyOf(instrument)] }
      const register = yield* total(
        records.stream(registerEntries, { where, pin }),
        ({ record }) => record.units
      )
      const supply = yield* total(
        records.stream(holdings, { where, pin }),
        ({ record }) => record.amount
      )
      if (register === undefined && supply === undefined) return Stream.empty
      return Stream.succeed({
        instrumentId: instrument.instrumentId,
        register: register ?? Decimal.zero,
        supply: supply ?? Decimal.zero
      })
    })
  )

/** Streams pages of the register's entries of the instrument, those without units included. */
const entriesOf = (
  instrument: InstrumentIdentity,
  { pin }: Point
): Stream.Stream<ReadonlyArray<RegisterEntry>, Unavailable, Records> => {
  const prefix = `${assetKeyOf(instrument)}/`
  return Stream.unwrap(
    Effect.map(Records, (records) =>
      Stream.unfold(prefix as string | null, (after) =>
        Effect.gen(function* () {
          if (after === null) return undefined
          const rows = yield* records.list(registerEntries, { pin, after, limit: partiesMax })
          const entries = rows.flatMap(({ record, sortKey }) =>
            sortKey.startsWith(prefix) ? [record] : []
          )
          const isLast = entries.length < partiesMax
          return [entries, isLast ? null : rows.at(-1)!.sortKey] as const
        })
      )
    )
  )
}

/**
 * Checks whether the projection began with the ledger, so that every balance before its first movement is
 * 0.
 */
const isComplete = ({ horizonOffset }: Point): boolean => horizonOffset === 0

interface Sum {
  readonly opening: Decimal.Decimal
  readonly moved: Decimal.Decimal
}

/** Sums of parties, and the number of movements that they are made of. */
interface MovementSums {
  readonly sums: ReadonlyMap<string, Sum>
  readonly count: number
}

/** Sums movements by party, each sum from the balance before its first movement. */
const sumsOf = <E, R>(
  moved: Stream.Stream<PartyMovement, E, R>,
  instrument: InstrumentIdentity,
  at: Point
): Effect.Effect<MovementSums, E, R> =>
  Effect.suspend(() => {
    const sums = new Map<string, Sum>()
    return moved.pipe(
      Stream.runFold(
        () => 0,
        (count, movement) => {
          if (movement.registrar !== instrument.registrar) return count + 1
          const sum = sums.get(movement.party) ?? {
            opening: isComplete(at) ? Decimal.zero : MovementsBalance.before(movement),
            moved: Decimal.zero
          }
          const change = MovementsBalance.changeOf(movement)
          sums.set(movement.party, { ...sum, moved: Decimal.add(sum.moved, change) })
          return count + 1
        }
      ),
      Effect.map((count) => ({ sums, count }))
    )
  })

/** Streams the movements of the instrument: all of them, or those of `parties`. */
const movementsOf = (
  { instrumentId }: InstrumentIdentity,
  { pin }: Point,
  parties?: ReadonlyArray<string>
): Stream.Stream<PartyMovement, Unavailable, Records> =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records
        .stream(partyMovements, {
          pin,
          where: {
            instrumentId: [instrumentId],
            ...(parties === undefined ? {} : { party: parties })
          }
        })
        .pipe(Stream.map(({ record }) => record))
    )
  )

/** Streams the movements of the instrument whose party has no entry in the register. */
const unlistedOf = (
  instrument: InstrumentIdentity,
  at: Point
): Stream.Stream<PartyMovement, Unavailable, Records> =>
  movementsOf(instrument, at).pipe(
    Stream.filter(({ registrar }) => registrar === instrument.registrar),
    Stream.grouped(partiesMax),
    Stream.mapEffect((moved) =>
      Effect.gen(function* () {
        const records = yield* Records
        const ids = [...new Set(moved.map(({ party }) => idOf({ ...instrument, party })))]
        const entries = yield* records.many(registerEntries, ids, at.pin)
        const listed = new Set(entries.map(({ party }) => party))
        return moved.filter(({ party }) => !listed.has(party))
      })
    ),
    Stream.flatMap((moved) => Stream.fromIterable(moved))
  )

/** The holders of parties, by party; a party that is no holder is left out. */
export const holderIdsOf = Effect.fnUntraced(function* (
  parties: ReadonlyArray<string>,
  { pin }: Point
) {
  const records = yield* Records
  const found = yield* records.many(holderParties, parties, pin)
  return new Map<string, string>(found.map(({ holderId, party }) => [party, holderId]))
})

/**
 * Balances of parties of which some have an entry. A party without movements in a projection that
 * began from a snapshot has held its units since: its opening is its closing.
 */
const balancesOf = Effect.fnUntraced(function* (
  entries: ReadonlyArray<RegisterEntry>,
  sums: ReadonlyMap<string, Sum>,
  { at, instrument }: { readonly instrument: InstrumentIdentity; readonly at: Point }
) {
  const closings = new Map<string, Decimal.Decimal>(
    entries.map(({ party, units }) => [party, units])
  )
  const parties = [...new Set([...closings.keys(), ...sums.keys()])]
  const holderIds = yield* holderIdsOf(parties, at)
  return parties.map((party): MovementsBalance.Balance => {
    const closing = closings.get(party) ?? Decimal.zero
    const opening = isComplete(at) ? Decimal.zero : closing
    return {
      instrumentId: instrument.instrumentId,
      party,
      holderId: holderIds.get(party) ?? null,
      ...(sums.get(party) ?? { opening, moved: Decimal.zero }),
      closing
    }
  })
})

/**
 * Streams the balance of each party with an entry or a movement of the instrument: those with an entry
 * page by page. Parties without one are looked for only where the pages have fewer movements than the
 * instrument, since that reads each movement once more.
 */
export const balances = (
  instrument: InstrumentIdentity,
  at: Point
): Stream.Stream<MovementsBalance.Balance, Unavailable, Records> =>
  Stream.suspend(() => {
    let paged = 0
    const listed = entriesOf(instrument, at).pipe(
      Stream.mapEffect((entries) =>
        Effect.gen(function* () {
          const parties = entries.map(({ party }) => party)
          const { count, sums } = yield* sumsOf(
            movementsOf(instrument, at, parties),
            instrument,
            at
          )
          paged += count
          return yield* balancesOf(entries, sums, { instrument, at })
        })
      )
    )
    const unlisted = Effect.gen(function* () {
      const { instrumentId } = instrument
      const records = yield* Records
      const counts = yield* records.countBy(partyMovements, "instrumentId", {
        pin: at.pin,
        where: { instrumentId: [instrumentId] }
      })
      if (counts.get(instrumentId) === undefined || counts.get(instrumentId) === paged) return []
      const { sums } = yield* sumsOf(unlistedOf(instrument, at), instrument, at)
      return yield* balancesOf([], sums, { instrument, at })
    })
    return Stream.concat(listed, Stream.fromEffect(unlisted)).pipe(
      Stream.flatMap((found) => Stream.fromIterable(found))
    )
  })

/** Streams the units of each party of the instrument with what remains of its lots. */
export const positions = (
  instrument: InstrumentIdentity,
  at: Point
): Stream.Stream<LotsHoldings.Position, Unavailable, Records> =>
  positionsOf(instrument, at.pin).pipe(
    Stream.grouped(partiesMax),
    Stream.mapEffect((found) =>
      Effect.map(
        holderIdsOf(
          found.map(({ party }) => party),
          at
        ),
        (holderIds) =>
          found.map(
            ({ party, units, remaining }): LotsHoldings.Position => ({
              instrumentId: instrument.instrumentId,
              party,
              holderId: holderIds.get(party) ?? null,
              units,
              remaining
            })
          )
      )
    ),
    Stream.flatMap((positions) => Stream.fromIterable(positions))
  )
