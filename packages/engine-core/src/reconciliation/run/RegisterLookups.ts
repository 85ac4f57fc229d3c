/**
 * Look-ups of the checks of the register: sums of an instrument, movements and lots of its parties.
 */
import { Effect, Stream } from "effect"
import { holderParties } from "../../holders/holder/Holder.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import { positionsOf } from "../../instruments/lot/LotLookups.ts"
import { assetKeyOf, holdings } from "../../instruments/register/Holding.ts"
import { partyMovements } from "../../instruments/register/Movement.ts"
import { type RegisterEntry, registerEntries } from "../../instruments/register/RegisterEntry.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import type { Point } from "./Check.ts"
import * as MovementsBalance from "./checks/MovementsBalance.ts"
import type * as LotsHoldings from "./checks/LotsHoldings.ts"
import type * as RegisterSupply from "./checks/RegisterSupply.ts"

/** Number of parties whose movements are read together. */
const partiesMax = 500

type Of = Pick<Instrument, "instrumentId" | "registrar">

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
  instrument: Of,
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

/** Parties after `from` up to `to`, in the order of the register; null: without end. */
interface Span {
  readonly from: string
  readonly to: string | null
  readonly entries: ReadonlyArray<RegisterEntry>
}

/** Bound of a range after `party`, and before every other party that is sorted after it. */
const beyond = (party: string): string => `${party}\u0001`

/**
 * Streams the register's entries of the instrument, those without units included, in spans that
 * together have every party, also those with movements and no entry.
 */
const spansOf = (instrument: Of, { pin }: Point): Stream.Stream<Span, Unavailable, Records> => {
  const prefix = `${assetKeyOf(instrument)}/`
  return Stream.unwrap(
    Effect.map(Records, (records) =>
      Stream.unfold("" as string | null, (from) =>
        Effect.gen(function* () {
          if (from === null) return undefined
          const rows = yield* records.list(registerEntries, {
            pin,
            after: `${prefix}${from}`,
            limit: partiesMax
          })
          const entries = rows.flatMap(({ record, sortKey }) =>
            sortKey.startsWith(prefix) ? [record] : []
          )
          const newest = entries.at(-1)
          const isWhole = entries.length < partiesMax || newest === undefined
          const to = isWhole ? null : beyond(newest.party)
          return [{ from, to, entries }, to] as const
        })
      )
    )
  )
}

/**
 * Whether the projection began with the ledger, so that every balance before its first movement is
 * 0.
 */
const isComplete = ({ horizonOffset }: Point): boolean => horizonOffset === 0

interface Sum {
  readonly opening: Decimal.Decimal
  readonly moved: Decimal.Decimal
}

/** Sums the movements of a span's parties, each from the balance before its first movement. */
const movedIn = Effect.fnUntraced(function* ({ from, to }: Span, instrument: Of, at: Point) {
  const records = yield* Records
  const sums = new Map<string, Sum>()
  yield* records
    .stream(partyMovements, {
      pin: at.pin,
      where: { instrumentId: [instrument.instrumentId] },
      ranges: { party: { from, ...(to === null ? {} : { to }) } }
    })
    .pipe(
      Stream.filter(({ record }) => record.registrar === instrument.registrar),
      Stream.runForEach(({ record }) =>
        Effect.sync(() => {
          const sum = sums.get(record.party) ?? {
            opening: isComplete(at) ? Decimal.zero : MovementsBalance.before(record),
            moved: Decimal.zero
          }
          const change = MovementsBalance.changeOf(record)
          sums.set(record.party, { ...sum, moved: Decimal.add(sum.moved, change) })
        })
      )
    )
  return sums
})

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
 * Streams the balance of each party with an entry or a movement of the instrument. A party without
 * movements in a projection that began from a snapshot has held its units since: its opening is its
 * closing.
 */
export const balances = (
  instrument: Of,
  at: Point
): Stream.Stream<MovementsBalance.Balance, Unavailable, Records> =>
  spansOf(instrument, at).pipe(
    Stream.mapEffect((span) =>
      Effect.gen(function* () {
        const sums = yield* movedIn(span, instrument, at)
        const closings = new Map<string, Decimal.Decimal>(
          span.entries.map(({ party, units }) => [party, units])
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
    ),
    Stream.flatMap((balances) => Stream.fromIterable(balances))
  )

/** Streams the units of each party of the instrument with what remains of its lots. */
export const positions = (
  instrument: Of,
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
