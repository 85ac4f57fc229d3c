/** Loads open lots: those of some parties of an instrument, and of a whole instrument by party. */
import { Effect, Stream } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Party from "../../kernel/Party.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { assetKeyOf } from "../register/Holding.ts"
import { idOf, type RegisterEntry, registerEntries } from "../register/RegisterEntry.ts"
import { type Lot, lots } from "./Lot.ts"
import * as LotRules from "./LotRules.ts"

type Asset = Pick<RegisterEntry, "registrar" | "instrumentId">

/** Largest number of lots in one query. */
const lotsMax = 1_000

/**
 * Loads the open lots of these parties at the pin, the oldest lot first, by party; a party without
 * an open lot is left out. It is one query for at most 1,000 lots, and one more for each further
 * 1,000. Reads committed records only.
 */
export const openLotsOf = Effect.fnUntraced(function* (
  assetParties: Asset & { readonly parties: ReadonlyArray<Party.Party> },
  pin?: Pin.ResolvedPin
) {
  const found = new Map<Party.Party, Array<Stored<Lot>>>()
  if (assetParties.parties.length === 0) return found
  const records = yield* Records
  const query = {
    ...(pin === undefined ? {} : { pin }),
    where: { entry: assetParties.parties.map((party) => idOf({ ...assetParties, party })) },
    limit: lotsMax
  }
  for (let after: string | undefined, isMore = true; isMore; ) {
    const page = yield* records.list(lots, { ...query, ...(after === undefined ? {} : { after }) })
    for (const { record } of page) {
      const held = found.get(record.party)
      if (held === undefined) found.set(record.party, [record])
      else held.push(record)
    }
    after = page.at(-1)?.sortKey
    isMore = page.length === lotsMax
  }
  return found
})

/**
 * Sums the remaining cost of the open lots behind register entries at the pin, by the entry's id:
 * null where a lot has no cost. An entry without an open lot is left out. It is one query for at
 * most 1,000 lots, and one more for each further 1,000, whatever the number of entries.
 */
export const costsOf = Effect.fnUntraced(function* (
  entries: ReadonlyArray<Asset & { readonly party: Party.Party }>,
  pin: Pin.ResolvedPin
) {
  const costs = new Map<string, Decimal.Decimal | null>()
  if (entries.length === 0) return costs
  const records = yield* Records
  const query = { pin, where: { entry: entries.map(idOf) }, limit: lotsMax }
  for (let after: string | undefined, isMore = true; isMore; ) {
    const page = yield* records.list(lots, { ...query, ...(after === undefined ? {} : { after }) })
    for (const { record } of page) {
      const entry = idOf(record)
      const sum = costs.get(entry) ?? Decimal.zero
      const isKnown = record.costLeft !== null && costs.get(entry) !== null
      costs.set(entry, isKnown ? Decimal.add(sum, record.costLeft) : null)
    }
    after = page.at(-1)?.sortKey
    isMore = page.length === lotsMax
  }
  return costs
})

/** Largest number of parties in one query: their lots are merged in order, without a sort. */
const mergedMax = 32
/** Largest number of lots in one query. */
const oldestMax = 512

/**
 * Loads the oldest open lots of some parties at the pin, by the units that are wanted of each (by
 * `RegisterEntry.idOf`): at least as many lots as have these units, or all that there are. Lots of
 * other instruments and most younger lots are not read. It reads committed records only.
 */
export const oldestLotsOf = Effect.fnUntraced(function* (
  units: ReadonlyMap<string, Decimal.Decimal>,
  pin?: Pin.ResolvedPin
) {
  const found: Array<Stored<Lot>> = []
  const entries = [...units]
  for (let n = 0; n < entries.length; n += mergedMax) {
    yield* addOldest(found, new Map(entries.slice(n, n + mergedMax)), pin)
  }
  return found
})

/** Adds the oldest open lots of some parties, by their units that are wanted of these. */
const addOldest = Effect.fnUntraced(function* (
  found: Array<Stored<Lot>>,
  wanted: Map<string, Decimal.Decimal>,
  pin: Pin.ResolvedPin | undefined
) {
  const records = yield* Records
  let limit = Math.max(mergedMax, 2 * wanted.size)
  for (let after: string | undefined; wanted.size > 0; limit = oldestMax) {
    const page = yield* records.list(lots, {
      ...(pin === undefined ? {} : { pin }),
      where: { entry: [...wanted.keys()] },
      limit,
      ...(after === undefined ? {} : { after })
    })
    for (const { record } of page) {
      found.push(record)
      const entry = idOf(record)
      const left = Decimal.subtract(wanted.get(entry) ?? Decimal.zero, record.remaining)
      if (Decimal.isPositive(left)) wanted.set(entry, left)
      else wanted.delete(entry)
    }
    if (page.length < limit) return
    after = page.at(-1)?.sortKey
  }
})

/** Units of a party on the register, and those that remain of its lots. */
interface Position {
  readonly party: Party.Party
  readonly units: Decimal.Decimal
  /** Sum of the units that remain of the party's lots. */
  readonly remaining: Decimal.Decimal
}

/** Parties whose lots are loaded together. */
const partiesMax = 500

/**
 * Streams the units of an instrument at the pin, by party, with the sum of what remains of the
 * party's lots: first the parties of the register in its order, then those that have open lots and
 * are not on the register, which has none of while lots and register agree. Memory does not grow
 * with the register.
 */
export const positionsOf = (asset: Asset, pin: Pin.ResolvedPin) =>
  Stream.unwrap(
    Effect.map(Records, (records) => {
      const where = { asset: [assetKeyOf(asset)] }
      const listed = records.stream(registerEntries, { pin, where }).pipe(
        Stream.map(({ record }) => record),
        Stream.grouped(partiesMax),
        Stream.mapEffect((entries) => withLots(asset, entries, pin))
      )
      const unlisted = records.stream(lots, { pin, where }).pipe(
        Stream.map(({ record }) => record.party),
        // A party's lots follow each other.
        Stream.changes,
        Stream.grouped(partiesMax),
        Stream.mapEffect((parties) => notOnRegister(asset, parties, pin)),
        Stream.mapEffect((entries) => withLots(asset, entries, pin))
      )
      return Stream.flatMap(Stream.concat(listed, unlisted), Stream.fromIterable)
    })
  )

type Units = Pick<RegisterEntry, "party" | "units">

const withLots = (asset: Asset, entries: ReadonlyArray<Units>, pin: Pin.ResolvedPin) =>
  Effect.map(
    openLotsOf({ ...asset, parties: entries.map(({ party }) => party) }, pin),
    (found): ReadonlyArray<Position> =>
      entries.map(({ party, units }) => ({
        party,
        units,
        remaining: LotRules.remainingOf(found.get(party) ?? [])
      }))
  )

const notOnRegister = Effect.fnUntraced(function* (
  asset: Asset,
  parties: ReadonlyArray<Party.Party>,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const ids = parties.map((party) => idOf({ ...asset, party }))
  const entries = yield* records.many(registerEntries, ids, pin)
  const holding = new Set(
    entries.flatMap(({ party, units }) => (Decimal.isPositive(units) ? [party] : []))
  )
  return parties.flatMap((party) => (holding.has(party) ? [] : [{ party, units: Decimal.zero }]))
})
