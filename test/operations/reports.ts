/** Statements of holders as tests read them, and the laws that statements of any history keep. */
import { Catalogue, Records } from "@bursar/engine-core"
import {
  type Collection,
  Decimal,
  Instant,
  Month,
  type Offset,
  Zone
} from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Result, Schema, Stream } from "effect"
import { expect } from "vitest"
import { paid, distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import { HolderId } from "#core/holders/holder/HolderId.ts"
import { holders } from "#core/holders/holder/Holder.ts"
import { type Lot, lots } from "#core/instruments/lot/Lot.ts"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { pricePoints } from "#core/instruments/price/PricePoint.ts"
import {
  movements,
  type PartyMovement,
  partyMovements
} from "#core/instruments/register/Movement.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import * as HolderStatementQueries from "#core/overviews/holder-statement/HolderStatementQueries.ts"
import type { HolderStatement } from "#core/overviews/holder-statement/HolderStatement.ts"
import * as TaxQueries from "#core/overviews/tax-statement/TaxQueries.ts"
import type { Disposal, TaxStatement } from "#core/overviews/tax-statement/TaxStatement.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Venue from "./venue.ts"

export interface Asked {
  readonly zone?: string
  readonly month?: string
  readonly from?: string
  readonly to?: string
  readonly instrumentId?: ReadonlyArray<string>
}

type Point = NonNullable<Parameters<typeof Venue.list>[2]>

const months = ({ month, from, to }: Asked) => ({
  ...(month === undefined ? {} : { month: Month.of(month) }),
  ...(from === undefined ? {} : { from: Month.of(from) }),
  ...(to === undefined ? {} : { to: Month.of(to) })
})

export const holderIdOf = (id: string) => Schema.decodeSync(HolderId)(id)

/** A holder's statements, oldest first. */
export const statements = (holderId: string, params: Asked = {}, as: Point = {}) =>
  Effect.map(
    Venue.list(
      HolderStatementQueries.list,
      {
        holderId: holderIdOf(holderId),
        ...months(params),
        ...(params.zone === undefined ? {} : { zone: Zone.of(params.zone) }),
        ...(params.instrumentId === undefined ? {} : { instrumentId: params.instrumentId as never })
      },
      as
    ),
    ({ value }): ReadonlyArray<HolderStatement> => value
  )

/** Each month of a statement as a line of text: opening, movements, closing of its instruments. */
export const statementLines = (rows: ReadonlyArray<HolderStatement>) =>
  rows.map(({ month, instruments }) =>
    [
      month,
      ...instruments.map(({ opening, movements, closing }) =>
        [
          Decimal.formatPlain(opening),
          `(${movements.map(({ units }) => Decimal.formatPlain(units)).join(", ")})`,
          Decimal.formatPlain(closing)
        ].join(" ")
      )
    ].join(" ")
  )

/** A free holding of at least so many units. */
const holdingOf = Effect.fnUntraced(function* (owner: Cycles.Holder, amount: Decimal.Decimal) {
  const held = (yield* Cycles.active(Templates.Holding)).find(
    ({ payload }) =>
      payload.owner === owner.party &&
      payload.lock === null &&
      Decimal.of(String(payload.amount)) >= amount
  )
  if (held === undefined) throw new Error(`${owner.holderId} has no holding of ${amount}`)
  return held
})

/** The holder gives units to another one, which takes them. */
export const gives = (from: Cycles.Holder, to: Cycles.Holder, units: string) =>
  Effect.gen(function* () {
    const amount = Decimal.of(units)
    const held = yield* holdingOf(from, amount)
    const offered = {
      receiver: to.party,
      amount,
      executeBefore: Instant.of("2030-01-01T00:00:00Z")
    }
    yield* from.act(Templates.exercise(Templates.Holding, held.cid, "OfferTransfer", offered))
    const offer = yield* Powers.saying(Templates.TransferOffer, { receiver: to.party })
    const { cid: credentialCid } = yield* Powers.saying(Templates.Credential, { holder: to.party })
    yield* to.act(
      Templates.exercise(Templates.TransferOffer, offer.cid, "Accept", { credentialCid })
    )
  })

/** The holder gives units up: the registrar burns them. */
export const burns = (stage: Fund.Parties, from: Cycles.Holder, units: string, id = "exit") =>
  Effect.gen(function* () {
    const amount = Decimal.of(units)
    const held = yield* holdingOf(from, amount)
    yield* from.act(
      Templates.exercise(Templates.Holding, held.cid, "RequestBurn", {
        amount,
        reference: { kind: "exit", id },
        custodian: null,
        executeBefore: Instant.of("2030-01-01T00:00:00Z")
      })
    )
    const request = yield* Fund.newestContract(Templates.BurnRequest)
    yield* stage.registrar.act(Templates.exercise(Templates.BurnRequest, request.cid, "Accept", {}))
  })

const allHolders = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* Stream.runCollect(records.stream(holders, {}))
  return found.map(({ record }) => record)
})

const collected = <R, F>(collection: Collection.Collection<R, F>) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(Stream.runCollect(records.stream(collection, {})), (rows) =>
      rows.map(({ record }): R => record)
    )
  )

/** Last balance of each key before an instant, summed. */
const balanceBefore = <
  M extends { readonly ledgerTime: bigint; readonly balanceAfter: Decimal.Decimal }
>(
  moved: ReadonlyArray<M>,
  options: { readonly end: bigint; readonly key: (movement: M) => string }
): Decimal.Decimal => {
  const last = new Map<string, Decimal.Decimal>()
  for (const one of moved)
    if (one.ledgerTime < options.end) last.set(options.key(one), one.balanceAfter)
  return Decimal.sum(last.values())
}

/** Units of the ledger as holders are shown them, recomputed from points alone. */
interface Showing {
  readonly isRebasing: (instrumentId: string) => boolean
  /** Units at the last official index valued at an instant or earlier, half up; as kept before the first. */
  readonly at: (instrumentId: string, units: Decimal.Decimal, at: bigint) => Decimal.Decimal
}

/** Conversion of all instruments, of histories in which no index is corrected or published late. */
const showings = Effect.gen(function* () {
  const points = (yield* collected(pricePoints))
    .filter(({ correctedBy, isLive }) => isLive && correctedBy === null)
    .toSorted((a, b) => (a.valuationTime < b.valuationTime ? -1 : 1))
  const rebasing = new Map(
    (yield* collected(instruments)).flatMap(({ instrumentId, manifest }) =>
      manifest?.valuation === "rebasing" ? [[instrumentId as string, manifest.unitDecimals]] : []
    )
  )
  return {
    isRebasing: (instrumentId) => rebasing.has(instrumentId),
    at: (instrumentId, units, at) => {
      const places = rebasing.get(instrumentId)
      const last = points.findLast(
        (point) => point.instrumentId === instrumentId && point.valuationTime <= at
      )
      return places === undefined || last === undefined
        ? units
        : Decimal.multiplyRounded(units, last.price, { places, rounding: "half-up" })
    }
  } satisfies Showing
})

/** Later than every instant of a history. */
const forEver = Instant.of("2100-01-01T00:00:00Z")

const lastMomentOf = (zone: string, month: Month.Month): bigint =>
  Zone.startOfMonth(Zone.of(zone), Month.next(month)) - 1n

/**
 * Checks that at the end of each month all closings of an instrument, and the units of parties that are
 * no holders, add up to the supply; where units are shown by an index, to half an atom for each of them.
 */
const keepSupply = Effect.fnUntraced(function* (
  zone: string,
  closings: ReadonlyMap<string, Decimal.Decimal>
) {
  const showing = yield* showings
  const supplied = yield* collected(movements)
  const all = yield* allHolders
  const owners = new Set(all.map(({ party }) => party))
  const moved = yield* collected(partyMovements)
  const outside = moved.filter(({ party }) => !owners.has(party))
  const rounded = BigInt(new Set(moved.map(({ party }) => party)).size + 1)
  for (const [key, closing] of closings) {
    const [month = "", instrumentId = ""] = key.split(" ")
    const last = lastMomentOf(zone, Month.of(month))
    const end = last + 1n
    const ofInstrument = <M extends { readonly instrumentId: string }>(all: ReadonlyArray<M>) =>
      all.filter((one) => one.instrumentId === instrumentId)
    const shown = (units: Decimal.Decimal) => showing.at(instrumentId, units, last)
    const supply = shown(balanceBefore(ofInstrument(supplied), { end, key: () => "" }))
    const others = shown(balanceBefore(ofInstrument(outside), { end, key: ({ party }) => party }))
    const name = `the closings of ${key} in ${zone}`
    if (!showing.isRebasing(instrumentId)) {
      expect(Decimal.add(closing, others), name).toBe(supply)
      continue
    }
    const difference = Decimal.atoms(Decimal.subtract(Decimal.add(closing, others), supply))
    const most = (rounded * Decimal.atoms(Decimal.of("0.000001"))) / 2n
    expect(difference >= -most && difference <= most, `${name}: ${difference}`).toBe(true)
  }
})

/** Movements and stored balances of a holder's party, by instrument and number. */
type Moved = ReadonlyMap<string, Pick<PartyMovement, "to" | "units" | "balanceAfter">>

/**
 * Checks the figures of one instrument in one month, from the stored units that the month opened with;
 * returns those that it closes with. Each movement is shown at the index of its time, and what the index
 * added is one movement, the last.
 */
const keepMonth = (
  instrument: HolderStatement["instruments"][number],
  from: {
    readonly name: string
    readonly month: Month.Month
    readonly zone: string
    readonly stored: Decimal.Decimal
    readonly moved: Moved
    readonly party: string
    readonly showing: Showing
  }
): Decimal.Decimal => {
  const { month, moved, name, party, showing, zone } = from
  const { closing, instrumentId, movements, opening } = instrument
  const sum = Decimal.sum(movements.map(({ units }) => units))
  expect(Decimal.add(opening, sum), name).toBe(closing)
  expect(instrument.movementCount).toBe(movements.length)
  const rebases = movements.filter(({ kind }) => kind === "rebase")
  expect(rebases.length, name).toBeLessThanOrEqual(showing.isRebasing(instrumentId) ? 1 : 0)
  let balance = from.stored
  for (const [nth, movement] of movements.entries()) {
    const { balanceAfter, kind, ledgerTime, seq, units } = movement
    expect(Month.fromDate(Zone.dateAt(Zone.of(zone), ledgerTime)), name).toBe(month)
    if (kind === "rebase") {
      expect([seq, nth, balanceAfter], name).toEqual([null, movements.length - 1, closing])
      continue
    }
    const own = moved.get(`${instrumentId} ${seq}`)
    if (own === undefined) throw new Error(`${name}: there is no movement ${seq}`)
    const signed = own.to === party ? own.units : Decimal.negate(own.units)
    balance = Decimal.add(balance, signed)
    expect(balance, name).toBe(own.balanceAfter)
    expect(units, name).toBe(showing.at(instrumentId, signed, ledgerTime))
    expect(balanceAfter, name).toBe(showing.at(instrumentId, balance, ledgerTime))
  }
  expect(closing, name).toBe(showing.at(instrumentId, balance, lastMomentOf(zone, month)))
  return balance
}

/**
 * Checks the laws of all holders' statements in a zone: movements add up, months join, the last
 * closing is the register's line, every payment stands in one month, all closings are the supply; of
 * rebasing instruments too, whose units are shown by their index.
 */
export const keepLaws = Effect.fnUntraced(function* (zone: string) {
  const records = yield* Records
  const showing = yield* showings
  const sums = new Map<string, Decimal.Decimal>()
  const lines = (yield* Stream.runCollect(
    records.stream(distributionLines, { where: { state: [...paid] } })
  )).map(({ record }) => record)
  const entries = yield* collected(registerEntries)
  const allMoved = Map.groupBy(yield* collected(partyMovements), ({ party }) => party as string)
  let shown = 0
  for (const { holderId, party } of yield* allHolders) {
    const rows = yield* statements(holderId, { zone })
    shown += rows.length
    const closings = new Map<string, Decimal.Decimal>()
    const stored = new Map<string, Decimal.Decimal>()
    const moved = new Map(
      (allMoved.get(party) ?? []).map((one) => [`${one.instrumentId} ${one.seq}`, one])
    )
    rows.forEach(({ month, instruments }, nth) => {
      if (nth > 0) expect(Month.previous(month)).toBe(rows[nth - 1]!.month)
      for (const instrument of instruments) {
        const { instrumentId, opening, closing } = instrument
        const name = `${holderId} ${month} ${instrumentId}`
        expect(opening, `${name} opens as the month before closed`).toBe(
          closings.get(instrumentId) ?? Decimal.zero
        )
        const before = stored.get(instrumentId) ?? Decimal.zero
        const opened = { name, month, zone, stored: before, moved, party, showing }
        stored.set(instrumentId, keepMonth(instrument, opened))
        closings.set(instrumentId, closing)
        const key = `${month} ${instrumentId}`
        sums.set(key, Decimal.add(sums.get(key) ?? Decimal.zero, closing))
      }
      for (const [id, closing] of closings) {
        const isShown = instruments.some(({ instrumentId }) => instrumentId === id)
        if (!isShown) expect(closing, `${holderId} ${month} lacks ${id}`).toBe(Decimal.zero)
      }
    })
    const held = entries.filter((entry) => entry.party === party)
    for (const { instrumentId, units } of held) {
      const line = showing.at(instrumentId, units, forEver)
      expect(closings.get(instrumentId) ?? Decimal.zero, `${holderId} ${instrumentId}`).toBe(line)
    }
    const paidLines = rows.flatMap(({ instruments }) =>
      instruments.flatMap(({ paid }) => paid.map(({ lineId }) => lineId))
    )
    const own = lines.filter((line) => line.holderId === holderId)
    expect(paidLines.toSorted()).toEqual(own.map(({ lineId }) => lineId as string).toSorted())
    for (const { month, instruments } of rows) {
      for (const { paidOn } of instruments.flatMap(({ paid }) => paid)) {
        expect(Month.fromDate(paidOn)).toBe(month)
      }
    }
  }
  yield* keepSupply(zone, sums)
  return shown
})

/** Checks that no final month of an offset reads otherwise at a later one; returns how many were. */
export const keepFinal = Effect.fnUntraced(function* (
  zone: string,
  offsets: ReadonlyArray<Offset.Offset>
) {
  let finals = 0
  for (const { holderId } of yield* allHolders) {
    const seen = new Map<string, HolderStatement>()
    for (const at of offsets) {
      const read = yield* Effect.result(statements(holderId, { zone }, { point: { at } }))
      if (read._tag === "Failure") continue
      for (const row of read.success) {
        const before = seen.get(row.month)
        if (before !== undefined) expect(row, `${holderId} ${row.month} at ${at}`).toEqual(before)
        if (row.final) seen.set(row.month, row)
      }
    }
    finals += seen.size
  }
  return finals
})

// ---- tax statements

/** The tax statement of a holder's year. */
export const taxOf = (
  holderId: string,
  year: number | string,
  params: Asked = {},
  as: Point = {}
) =>
  Effect.map(
    Venue.read(
      TaxQueries.taxStatement,
      {
        holderId: holderIdOf(holderId),
        year: String(year),
        ...(params.zone === undefined ? {} : { zone: Zone.of(params.zone) })
      },
      as
    ),
    ({ value }) => value
  )

/** The member of a statement that a basis names, without the figure of its formula. */
const memberAt = (value: unknown, path: string): unknown =>
  path
    .replace(/\.(?:whole|share)$/u, "")
    .split(".")
    .reduce<unknown>(
      (value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name],
      value
    )

/** Checks that each figure of a tax statement is what its basis comes to; returns how many there are. */
export const keepBasis = (taxStatement: TaxStatement): number => {
  for (const basis of taxStatement.basis) {
    const figure = Result.getOrThrow(Catalogue.verify(basis))
    expect(Decimal.of(figure), basis.field).toBe(memberAt(taxStatement, basis.field))
  }
  const sums = taxStatement.currencies.reduce((sum, { rows }) => sum + 4 * rows.length + 8, 0)
  const split = [
    ...taxStatement.disposals.flatMap(({ cost, proceeds }) => [cost, proceeds]),
    ...taxStatement.transfersOut.map(({ cost }) => cost)
  ].filter((figure) => figure !== null).length
  expect(taxStatement.basis.length, "each figure has a basis").toBe(sums + split)
  return taxStatement.basis.length
}

/**
 * Checks that what left each lot is what the disposals and the moves of all years took of it, and at the
 * same cost.
 */
const keepLots = (
  kept: ReadonlyArray<Lot>,
  left: ReadonlyArray<Pick<Disposal, "cost" | "instrumentId" | "lotId" | "units">>
) => {
  const taken = Map.groupBy(left, ({ instrumentId, lotId }) => `${instrumentId} ${lotId}`)
  for (const { instrumentId, lotId, units, remaining, cost, costLeft } of kept) {
    const parts = taken.get(`${instrumentId} ${lotId}`) ?? []
    const left = Decimal.subtract(units, remaining)
    const sum = Decimal.sum(parts.map((part) => part.units))
    expect(sum, `what left ${lotId}`).toBe(left)
    if (cost === null || costLeft === null) continue
    const costs = Decimal.sum(parts.map((part) => part.cost ?? Decimal.zero))
    expect(costs, `the cost of what left ${lotId}`).toBe(Decimal.subtract(cost, costLeft))
  }
  const lotKeys = new Set(kept.map(({ instrumentId, lotId }) => `${instrumentId} ${lotId}`))
  expect(
    [...taken.keys()].filter((key) => !lotKeys.has(key)),
    "of no lot of theirs"
  ).toEqual([])
}

/**
 * Checks the laws of all tax statements of a zone: each delivered line stands in one year of one
 * person, sums add up, and the units that left lots and those that remain are those that came in.
 */
export const keepTaxLaws = Effect.fnUntraced(function* (
  zone: string,
  years: ReadonlyArray<number>
) {
  const records = yield* Records
  const lines = (yield* Stream.runCollect(
    records.stream(distributionLines, { where: { state: [...paid] } })
  )).flatMap(({ record }) => (record.holderId === null ? [] : [record]))
  const seen: Array<string> = []
  const judgedHolders = new Set<string>()
  const kept = yield* collected(lots)
  const parties = new Map(
    (yield* allHolders).map(({ holderId, party }) => [holderId as string, party])
  )
  let net = Decimal.zero
  for (const { holderId } of yield* allHolders) {
    const statements = []
    for (const year of years) {
      const statement = yield* taxOf(holderId, year, { zone })
      keepBasis(statement)
      statements.push(statement)
    }
    const [{ holderIds }] = [statements[0]!]
    expect(holderIds).toContain(holderId)
    if (judgedHolders.has(holderId)) continue
    for (const [nth, year] of years.entries()) {
      for (const other of holderIds) {
        expect(yield* taxOf(other, year, { zone }), `asked of ${other}`).toEqual(statements[nth])
      }
      for (const { rows, totals } of statements[nth]!.currencies) {
        const all = rows.flatMap(({ payments }) => payments)
        for (const { paidOn, ...payment } of all) {
          expect(paidOn.slice(0, 4)).toBe(String(year))
          expect(holderIds).toContain(payment.holderId)
          expect(payment.net).toBe(Decimal.subtract(payment.gross, payment.withheld))
        }
        seen.push(...all.map(({ lineId }) => lineId))
        net = Decimal.add(net, Decimal.sum(all.map((payment) => payment.net)))
        expect(totals.net).toBe(Decimal.sum(rows.map((row) => row.net)))
      }
    }
    for (const id of holderIds) judgedHolders.add(id)
    const own = new Set(holderIds.map((id) => parties.get(id)))
    keepLots(
      kept.filter(({ party }) => own.has(party)),
      statements.flatMap(({ disposals, transfersOut }) => [...disposals, ...transfersOut])
    )
  }
  expect(seen.toSorted(), "each payment in one year of one person").toEqual(
    lines.map(({ lineId }) => lineId as string).toSorted()
  )
  expect(net).toBe(Decimal.sum(lines.map((line) => line.net)))
  return seen.length
})

/** Checks that the payments and disposals of a final year are in every later statement of it. */
export const keepFinalYears = Effect.fnUntraced(function* (
  zone: string,
  points: { readonly years: ReadonlyArray<number>; readonly offsets: ReadonlyArray<Offset.Offset> }
) {
  let finals = 0
  for (const { holderId } of yield* allHolders) {
    for (const year of points.years) {
      let before: TaxStatement | null = null
      for (const at of points.offsets) {
        const read = yield* Effect.result(taxOf(holderId, year, { zone }, { point: { at } }))
        if (read._tag === "Failure") continue
        const { success } = read
        // A recovery makes two holders one person, of whom each is answered the other's.
        if (before !== null && success.holderIds.length === before.holderIds.length) {
          expect({ ...success, basis: [] }, `${holderId} ${year} at ${at}`).toEqual({
            ...before,
            basis: []
          })
        }
        if (success.final) {
          before = success
          finals += 1
        } else expect(before, "what is final stays final").toBeNull()
      }
    }
  }
  return finals
})
