/**
 * Loads the payees of a distribution and their positions by keyset: holders by holderId, then
 * parties that are no holders, by party. Each page takes a few queries, however many points its
 * units are read at, and is released before the next is loaded.
 */
import { Effect, Option, Stream } from "effect"
import { type Holder, holderParties, holders } from "../../holders/holder/Holder.ts"
import * as LotLookups from "../../instruments/lot/LotLookups.ts"
import type { Lot } from "../../instruments/lot/Lot.ts"
import { equalisationLots } from "../../instruments/lot/LotRules.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import { idOf, registerEntries } from "../../instruments/register/RegisterEntry.ts"
import { shownUnits } from "../../instruments/register/RegisterRules.ts"
import { supplies } from "../../instruments/register/Supply.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Month from "../../kernel/Month.ts"
import * as Offset from "../../kernel/Offset.ts"
import type * as Party from "../../kernel/Party.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { distributions } from "./Distribution.ts"
import { type DistributionLine, distributionLines } from "./DistributionLine.ts"
import * as Rules from "./DistributionRules.ts"
import * as LineLookups from "./LineLookups.ts"
import type { LineSource } from "./LineSource.ts"
import { positionOfChain } from "./PayeeRules.ts"
import { predecessorsOf, succeededIn } from "./SuccessionLookups.ts"

/** A payee, with the inputs of its figures. */
export interface LoadedPayee {
  /** Null for a party that is no holder. */
  readonly holderId: string | null
  readonly party: Party.Party
  readonly custodian: Party.Party | null
  readonly position: Rules.PayeePosition
  readonly rateSource: Rules.LineRate["rateSource"]
  /** Month of the line that carryIn comes from; null: nothing was carried in. */
  readonly carriedFrom: Month.Month | null
}

/** Place in the order of lines, after which the next page begins. */
export interface PayeePlace {
  readonly of: "holder" | "party"
  /** Id of the holder, or the party; null: before the first. */
  readonly after: string | null
}

export const start: PayeePlace = { of: "holder", after: null }

/** Place after the final holder. */
export const firstParty: PayeePlace = { of: "party", after: null }

/** Place after a payee. */
export const placeAfter = ({
  holderId,
  party
}: Pick<LoadedPayee, "holderId" | "party">): PayeePlace =>
  holderId === null ? { of: "party", after: party } : { of: "holder", after: holderId }

export interface Page {
  /** In the order of lines; holders with neither units nor a carry are left out. */
  readonly payees: ReadonlyArray<LoadedPayee>
  /** Number of holders of the page with units at each of `offsetsOf`. */
  readonly holding: ReadonlyArray<number>
  /** Place after the page; null: it was the final one. */
  readonly next: PayeePlace | null
}

/** Largest number of payees of a page. */
const pageSize = 500

/** Offsets at which units are read: the end of each point's day, and the record date's end. */
export const offsetsOf = ({ points, recordOffset }: LineSource): ReadonlyArray<Offset.Offset> => [
  ...points.map(({ offset }) => offset),
  recordOffset
]

const pinAt = (offset: Offset.Offset, judgedAt: Instant.Instant): Pin.ResolvedPin => ({
  offset,
  ledgerTime: null,
  select: { by: "offset" },
  judgedAt
})

/** Pin of everything but units and lots: earlier lines, holders, their attributes. */
export const executedPin = ({ executedOffset, executedAt }: LineSource): Pin.ResolvedPin =>
  pinAt(executedOffset, executedAt)

/** Pin of the register of record. */
const recordPin = ({ recordOffset, recordEndsAt }: LineSource): Pin.ResolvedPin =>
  pinAt(recordOffset, recordEndsAt)

/** Loads the page of payees after a place. */
export const pageAfter = (source: LineSource, place: PayeePlace) =>
  place.of === "holder" ? holdersAfter(source, place.after) : partiesAfter(source, place.after)

/** Holder, or party that is no holder, with the holders that it succeeded in the instrument. */
interface Person {
  readonly holderId: string | null
  readonly party: Party.Party
  readonly holder: Holder | null
  readonly predecessors: ReadonlyArray<Holder>
}

const holdersAfter = Effect.fnUntraced(function* (source: LineSource, after: string | null) {
  const records = yield* Records
  const rows = yield* records.list(holders, {
    pin: executedPin(source),
    limit: pageSize,
    ...(after === null ? {} : { after })
  })
  const found = rows.map(({ record }) => record)
  const people = yield* withoutSucceeded(source, found)
  const units = yield* unitsOf(source, [
    ...found.map(({ party }) => party),
    ...people.flatMap(({ predecessors }) => predecessors.map(({ party }) => party))
  ])
  const unitsOfEach = found.map(({ party }) => units(party))
  const last = found.at(-1)
  const next: PayeePlace =
    last !== undefined && found.length === pageSize
      ? { of: "holder", after: last.holderId }
      : firstParty
  return {
    payees: yield* payeesOf(source, { people, units }),
    holding: offsetsOf(source).map(
      (offset) => unitsOfEach.filter((unitsAt) => Decimal.isPositive(unitsAt(offset))).length
    ),
    next
  } satisfies Page
})

/**
 * Leaves out the holders that others succeeded in the instrument, and adds to each remaining one the
 * holders that it succeeded.
 */
const withoutSucceeded = Effect.fnUntraced(function* (
  source: LineSource,
  found: ReadonlyArray<Holder>
) {
  const { instrumentId } = source
  const pin = executedPin(source)
  const succeeded = yield* succeededIn(instrumentId, found, pin)
  const payees = found.filter(({ holderId }) => !succeeded.has(holderId))
  const predecessors = yield* predecessorsOf(instrumentId, payees, pin)
  return payees.map((holder): Person => {
    const { holderId, party } = holder
    return { holderId, party, holder, predecessors: predecessors.get(holderId) ?? [] }
  })
})

/**
 * Loads one payee; null where it has neither units nor a carry, or its units were recovered to
 * another.
 */
export const payeeOf = Effect.fnUntraced(function* (
  source: LineSource,
  { holderId, party }: Pick<LoadedPayee, "holderId" | "party">
) {
  const records = yield* Records
  const found =
    holderId === null ? [] : yield* records.many(holders, [holderId], executedPin(source))
  const people: ReadonlyArray<Person> =
    holderId === null
      ? [{ holderId, party, holder: null, predecessors: [] }]
      : yield* withoutSucceeded(source, found)
  const members = people.flatMap(membersOf)
  const units = yield* unitsOf(
    source,
    members.map((member) => member.party)
  )
  const [payee] = yield* payeesOf(source, { people, units })
  return payee ?? null
})

// ---- parties that are no holders

/**
 * Parties that are no holders: of the register at the offsets at which some hold units, and those
 * with a line of their own in the distribution before.
 */
const partiesAfter = Effect.fnUntraced(function* (source: LineSource, after: string | null) {
  const lists = yield* Effect.forEach(source.partyOffsets, (offset) =>
    registeredAfter(source, { offset, after })
  )
  const listed = [...lists, yield* withLineAfter(source, after)]
  // Each list is cut at its limit: beyond the last party of the shortest full list another list may
  // lack parties.
  const ends = listed.flatMap((list) => (list.length < pageSize ? [] : [list.at(-1)!])).toSorted()
  const end = ends[0]
  const parties = [...new Set(listed.flat())]
    .filter((party) => end === undefined || party <= end)
    .toSorted()
  const records = yield* Records
  const holdersOfParties = yield* records.many(holderParties, parties, executedPin(source))
  const isHolder = new Set(holdersOfParties.map(({ party }) => party))
  const people = parties
    .filter((party) => !isHolder.has(party))
    .map((party): Person => ({ holderId: null, party, holder: null, predecessors: [] }))
  const units = yield* unitsOf(
    source,
    people.map(({ party }) => party)
  )
  return {
    payees: yield* payeesOf(source, { people, units }),
    holding: offsetsOf(source).map(() => 0),
    next: end === undefined ? null : ({ of: "party", after: end } as const)
  } satisfies Page
})

const registeredAfter = Effect.fnUntraced(function* (
  source: LineSource,
  { offset, after }: { readonly offset: Offset.Offset; readonly after: string | null }
) {
  const records = yield* Records
  const rows = yield* records.list(registerEntries, {
    pin: pinAt(offset, source.recordEndsAt),
    where: { asset: [assetKeyOf(source)] },
    limit: pageSize,
    ...(after === null ? {} : { after: `${assetKeyOf(source)}/${after}` })
  })
  return rows.map(({ record }) => record.party)
})

const withLineAfter = Effect.fnUntraced(function* (source: LineSource, after: string | null) {
  if (source.previous === null) return []
  const records = yield* Records
  const rows = yield* records.list(distributionLines, {
    pin: executedPin(source),
    where: { distributionId: [source.previous.distributionId] },
    // The party with the lowest character appended is its direct successor in text order.
    ranges: { party: { from: after === null ? "" : `${after}\u0001` } },
    limit: pageSize
  })
  return rows.map(({ record }) => record.party)
})

/**
 * Finds the offsets at which parties that are no holders had units: where the supply counts more
 * parties with units than there are such holders.
 */
export const partyOffsetsOf = Effect.fnUntraced(function* (
  source: LineSource,
  holding: ReadonlyArray<number>
) {
  const records = yield* Records
  const offsets: Array<Offset.Offset> = []
  for (const [index, offset] of offsetsOf(source).entries()) {
    const pin = pinAt(offset, source.recordEndsAt)
    const supply = yield* records.find(supplies, assetKeyOf(source), pin)
    const parties = Option.match(supply, { onNone: () => 0, onSome: ({ holders: n }) => n })
    if (parties > (holding[index] ?? 0)) offsets.push(offset)
  }
  return [...new Set(offsets)]
})

// ---- positions

/** Units of a party at the end of each offset. */
type UnitsOf = (party: Party.Party) => (offset: Offset.Offset) => Decimal.Decimal

/** Loads the units of parties at every offset of a distribution, by one query. */
const unitsOf = Effect.fnUntraced(function* (
  source: LineSource,
  parties: ReadonlyArray<Party.Party>
) {
  const offsets = offsetsOf(source)
  const records = yield* Records
  const versions =
    parties.length === 0
      ? []
      : yield* records.versions(
          registerEntries,
          [...new Set(parties)].map((party) => idOf({ ...source, party })),
          {
            from: offsets.reduce((a, b) => Offset.min(a, b)),
            through: offsets.reduce((a, b) => Offset.max(a, b))
          }
        )
  const byParty = Map.groupBy(versions, ({ record }) => record.party)
  const units: UnitsOf = (party) => {
    const ofParty = byParty.get(party) ?? []
    return (offset) =>
      ofParty.findLast(({ fromOffset }) => fromOffset <= offset)?.record.units ?? Decimal.zero
  }
  return units
})

interface People {
  readonly people: ReadonlyArray<Person>
  readonly units: UnitsOf
}

const namesOf = ({ holderId, party }: Pick<Person, "holderId" | "party">) => ({ holderId, party })

/** Holders whose units and lots count for a payee: itself, and those that it succeeded. */
const membersOf = (person: Person) => [namesOf(person), ...person.predecessors.map(namesOf)]

const payeesOf = Effect.fnUntraced(function* (source: LineSource, { people, units }: People) {
  const members = people.flatMap(membersOf)
  const pin = executedPin(source)
  const { previous, unrolledIn } = source
  const before =
    previous === null
      ? []
      : yield* LineLookups.linesOfPayees([previous.distributionId], members, pin)
  const linesBy = indexed(before)
  const isOpen = indexed(yield* LineLookups.unrolledOf(unrolledIn, members, pin))
  const offsets = offsetsOf(source)
  const isConcerned = (person: Person): boolean =>
    membersOf(person).some((member) => {
      if (linesBy(member).length > 0) return true
      const unitsAt = units(member.party)
      return offsets.some((offset) => Decimal.isPositive(unitsAt(offset)))
    })
  const concerned = people.filter(isConcerned)
  const lots = yield* lotsOf(source, concerned)
  return concerned.map((person): LoadedPayee => {
    const carried = membersOf(person)
      .flatMap(linesBy)
      .filter(({ carryOut }) => !Decimal.isZero(carryOut))
    const { rate, rateSource } = rateOf(source, person)
    const positionOf = (member: Pick<Person, "holderId" | "party">): Rules.PayeePosition => {
      const unitsAt = units(member.party)
      const held = unitsAt(source.recordOffset)
      return {
        units: shownAt(source, held),
        baseUnits: held,
        accruals: source.points.map(({ contractId, income, days, offset }) => ({
          id: contractId,
          units: unitsAt(offset),
          income,
          days
        })),
        lots: lots(member.party),
        carryIn: Decimal.sum(linesBy(member).map(({ carryOut }) => carryOut)),
        rate,
        isUnrolled: isOpen(member).length > 0
      }
    }
    return {
      ...namesOf(person),
      custodian: person.holder?.custodian ?? null,
      position: positionOfChain(positionOf(person), person.predecessors.map(positionOf)),
      rateSource,
      carriedFrom: carried[0]?.month ?? null
    }
  })
})

type Line = Stored<DistributionLine>

/** Index of lines by the holder or the party that has them. */
const indexed = (lines: ReadonlyArray<Line>) => {
  const byName = Map.groupBy(lines, ({ holderId, party }) => holderId ?? party)
  return ({ holderId, party }: Pick<Person, "holderId" | "party">): ReadonlyArray<Line> => [
    ...(holderId === null ? [] : (byName.get(holderId) ?? [])),
    ...(byName.get(party) ?? [])
  ]
}

/** Units as a line shows them: of a rebasing instrument at the index of the closing point. */
const shownAt = (
  { terms: { pricing }, unitDecimals }: LineSource,
  units: Decimal.Decimal
): Decimal.Decimal =>
  pricing.valuation === "rebasing"
    ? shownUnits({ units, valuation: "rebasing", index: pricing.toIndex, unitDecimals })
    : units

const rateOf = (
  { terms: { pricing }, executedAt, recordEndsAt, ratesSeen, withholding }: LineSource,
  { holder }: Person
): Rules.LineRate => {
  const own = holder?.attributes.filter(({ name }) => name === "tax-rate") ?? []
  return Rules.rateOf({
    valuation: pricing.valuation,
    // A value that is not verified yet lies beside the verified one, which counts.
    attribute: own.find(({ state }) => state === "valid") ?? null,
    executedAt,
    recordEndsAt,
    ratesSeen,
    withholding
  })
}

// ---- lots

/** Loads the lots that count for the equalisation of these payees; none of other instruments. */
const lotsOf = Effect.fnUntraced(function* (source: LineSource, people: ReadonlyArray<Person>) {
  const { pricing } = source.terms
  const none = (_: Party.Party): Rules.PayeePosition["lots"] => []
  if (pricing.valuation !== "accumulating") return none
  const parties = people.flatMap((person) => membersOf(person).map(({ party }) => party))
  const held = yield* LotLookups.openLotsOf({ ...source, parties }, recordPin(source))
  // A lot with a base price at the ex price or below has no income in its price.
  const bought = people.filter((person) =>
    membersOf(person).some(({ party }) =>
      (held.get(party) ?? []).some(
        ({ basePrice }) => basePrice !== null && Decimal.greaterThan(basePrice, pricing.exPrice)
      )
    )
  )
  const since = yield* paidUntil(source, bought)
  const incomeEnds = yield* incomeEndsOf(source, held)
  const counted = new Map(
    bought.flatMap((person) =>
      membersOf(person).map(({ party }): [Party.Party, Rules.PayeePosition["lots"]] => [
        party,
        equalisationLots(held.get(party) ?? [], {
          paidUntil: since.get(person) ?? null,
          incomeEnds
        })
      ])
    )
  )
  return (party: Party.Party): Rules.PayeePosition["lots"] => counted.get(party) ?? []
})

/**
 * Loads the ends of the record dates of earlier distributions with an entitlement above 0, as far back as
 * the oldest of the lots that came from another holder was acquired.
 */
const incomeEndsOf = Effect.fnUntraced(function* (
  source: LineSource,
  held: ReadonlyMap<Party.Party, ReadonlyArray<Lot>>
) {
  const received = [...held.values()].flat().filter(({ receivedAt }) => receivedAt !== null)
  const [first, ...others] = received.map(({ acquiredAt }) => acquiredAt)
  if (first === undefined) return []
  const since = others.reduce((a, b) => Instant.min(a, b), first)
  const records = yield* Records
  const where = { instrumentId: [source.instrumentId] }
  return yield* records
    .stream(distributions, { pin: executedPin(source), where, direction: "desc" })
    .pipe(
      Stream.map(({ record }) => record),
      Stream.takeWhile(({ recordEndsAt }) => Instant.isAfter(recordEndsAt, since)),
      Stream.filter(({ totals }) => Decimal.isPositive(totals.entitlement)),
      Stream.map(({ recordEndsAt }) => recordEndsAt),
      Stream.runCollect
    )
})

/** Loads the end of the record date of each payee's last line with a gross above 0. */
const paidUntil = Effect.fnUntraced(function* (source: LineSource, people: ReadonlyArray<Person>) {
  const found = new Map<Person, Instant.Instant>()
  const records = yield* Records
  let left = people
  for (let after: string | undefined; left.length > 0; ) {
    // The latest distribution first.
    const page = yield* records.list(distributions, {
      pin: executedPin(source),
      where: { instrumentId: [source.instrumentId] },
      direction: "desc",
      limit: distributionsMax,
      ...(after === undefined ? {} : { after })
    })
    for (const { record } of page) {
      if (left.length === 0 || !Decimal.isPositive(record.totals.gross)) continue
      const lines = yield* LineLookups.linesOfPayees(
        [record.distributionId],
        left.flatMap(membersOf),
        executedPin(source)
      )
      const paid = indexed(lines.filter(({ gross }) => Decimal.isPositive(gross)))
      for (const person of left) {
        if (membersOf(person).some((member) => paid(member).length > 0)) {
          found.set(person, record.recordEndsAt)
        }
      }
      left = left.filter((person) => !found.has(person))
    }
    after = page.at(-1)?.sortKey
    if (page.length < distributionsMax) break
  }
  return found
})

/** Number of distributions in a page: those of two years. */
const distributionsMax = 24
