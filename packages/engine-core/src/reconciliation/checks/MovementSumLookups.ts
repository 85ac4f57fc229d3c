/** Look-ups of the check of movements: sums of the movements of parties, beside their units on the register. */
import { Effect, Stream } from "effect"
import { holderParties } from "../../holders/holder/Holder.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import {
  lockings,
  type PartyMovement,
  partyMovements
} from "../../instruments/register/Movement.ts"
import {
  idOf,
  type RegisterEntry,
  registerEntries
} from "../../instruments/register/RegisterEntry.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import type { Point } from "./Check.ts"

/** Number of parties whose movements are read together: they are found by party. */
const partiesMax = 200

type InstrumentIdentity = Pick<Instrument, "instrumentId" | "registrar">

/** One party's movements and units of an instrument, both read at one offset. */
export interface Balance {
  readonly instrumentId: string
  readonly party: string
  /** Null where the party is no holder of the venue. */
  readonly holderId: string | null
  /** Units before the first movement: 0 unless the projection began from a snapshot. */
  readonly opening: Decimal.Decimal
  /** Sum of the movements, those out counted as negative. */
  readonly moved: Decimal.Decimal
  /** Units on the register; 0 for a party that is not on it. */
  readonly closing: Decimal.Decimal
}

/** Units by which a movement changes the balance of its party; 0 for a lock or unlock. */
export const changeOf = ({
  kind,
  party,
  to,
  units
}: Pick<PartyMovement, "kind" | "party" | "to" | "units">): Decimal.Decimal => {
  if (lockings.includes(kind)) return Decimal.zero
  return party === to ? units : Decimal.negate(units)
}

/** Units of the party before a movement, by the balance that the movement states. */
const before = (
  movement: Pick<PartyMovement, "kind" | "party" | "to" | "units" | "balanceAfter">
): Decimal.Decimal => Decimal.subtract(movement.balanceAfter, changeOf(movement))

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
            opening: isComplete(at) ? Decimal.zero : before(movement),
            moved: Decimal.zero
          }
          const change = changeOf(movement)
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
  return parties.map((party): Balance => {
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
): Stream.Stream<Balance, Unavailable, Records> =>
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
