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
import { HolderId, holders } from "#core/holders/holder/Holder.ts"
import { type Lot, lots } from "#core/instruments/lot/Lot.ts"
import { movements, partyMovements } from "#core/instruments/register/Movement.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import * as HolderStatementReads from "#core/overviews/holder-statement/HolderStatementReads.ts"
import type { HolderStatement } from "#core/overviews/holder-statement/HolderStatement.ts"
import * as TaxReads from "#core/overviews/tax-statement/TaxReads.ts"
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
export const statements = (holderId: string, asked: Asked = {}, as: Point = {}) =>
  Effect.map(
    Venue.list(
      HolderStatementReads.list,
      {
        holderId: holderIdOf(holderId),
        ...months(asked),
        ...(asked.zone === undefined ? {} : { zone: Zone.of(asked.zone) }),
        ...(asked.instrumentId === undefined ? {} : { instrumentId: asked.instrumentId as never })
      },
      as
    ),
    ({ value }): ReadonlyArray<HolderStatement> => value
  )

/** Each month of a statement as a line of text: opening, movements, closing of its instruments. */
export const told = (rows: ReadonlyArray<HolderStatement>) =>
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

const collected = <R, F>(of: Collection.Collection<R, F>) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(Stream.runCollect(records.stream(of, {})), (rows) =>
      rows.map(({ record }): R => record)
    )
  )

/** Last balance of each key before an instant, summed. */
const balanceBefore = <
  M extends { readonly ledgerTime: bigint; readonly balanceAfter: Decimal.Decimal }
>(
  moved: ReadonlyArray<M>,
  of: { readonly end: bigint; readonly key: (movement: M) => string }
): Decimal.Decimal => {
  const last = new Map<string, Decimal.Decimal>()
  for (const one of moved) if (one.ledgerTime < of.end) last.set(of.key(one), one.balanceAfter)
  return Decimal.sum(last.values())
}

/**
 * Checks that at the end of each month all closings of an instrument, and the units of parties that are
 * no holders, add up to the supply; of instruments whose units are shown as they are kept.
 */
const keepSupply = Effect.fnUntraced(function* (
  zone: string,
  closings: ReadonlyMap<string, Decimal.Decimal>
) {
  const supplied = yield* collected(movements)
  const owners = new Set((yield* allHolders).map(({ party }) => party))
  const outside = (yield* collected(partyMovements)).filter(({ party }) => !owners.has(party))
  for (const [key, closing] of closings) {
    const [month = "", instrumentId = ""] = key.split(" ")
    const end = Zone.startOfMonth(Zone.of(zone), Month.next(Month.of(month)))
    const of = <M extends { readonly instrumentId: string }>(all: ReadonlyArray<M>) =>
      all.filter((one) => one.instrumentId === instrumentId)
    const supply = balanceBefore(of(supplied), { end, key: () => "" })
    const others = balanceBefore(of(outside), { end, key: ({ party }) => party })
    expect(Decimal.add(closing, others), `the closings of ${key} in ${zone}`).toBe(supply)
  }
})

/**
 * Checks the laws of all holders' statements in a zone: movements add up, months join, the last
 * closing is the register's line, every payment stands in one month, all closings are the supply.
 */
export const keepLaws = Effect.fnUntraced(function* (zone: string) {
  const records = yield* Records
  const sums = new Map<string, Decimal.Decimal>()
  const lines = (yield* Stream.runCollect(
    records.stream(distributionLines, { where: { state: [...paid] } })
  )).map(({ record }) => record)
  const entries = (yield* Stream.runCollect(records.stream(registerEntries, {}))).map(
    ({ record }) => record
  )
  let shown = 0
  for (const { holderId, party } of yield* allHolders) {
    const rows = yield* statements(holderId, { zone })
    shown += rows.length
    const closings = new Map<string, Decimal.Decimal>()
    rows.forEach(({ month, instruments }, nth) => {
      if (nth > 0) expect(Month.previous(month)).toBe(rows[nth - 1]!.month)
      for (const of of instruments) {
        const { instrumentId, opening, movements, closing } = of
        const sum = Decimal.sum(movements.map(({ units }) => units))
        const name = `${holderId} ${month} ${instrumentId}`
        expect(Decimal.add(opening, sum), name).toBe(closing)
        expect(opening, `${name} opens as the month before closed`).toBe(
          closings.get(instrumentId) ?? Decimal.zero
        )
        expect(of.movementCount).toBe(movements.length)
        let balance = opening
        for (const movement of movements) {
          balance = Decimal.add(balance, movement.units)
          expect(movement.balanceAfter, name).toBe(balance)
          const day = Zone.dateAt(Zone.of(zone), movement.ledgerTime)
          expect(Month.fromDate(day), name).toBe(month)
        }
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
      expect(closings.get(instrumentId) ?? Decimal.zero, `${holderId} ${instrumentId}`).toBe(units)
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
export const taxOf = (holderId: string, year: number | string, asked: Asked = {}, as: Point = {}) =>
  Effect.map(
    Venue.read(
      TaxReads.taxStatement,
      {
        holderId: holderIdOf(holderId),
        year: String(year),
        ...(asked.zone === undefined ? {} : { zone: Zone.of(asked.zone) })
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
      (of, name) => (of as Readonly<Record<string, unknown>> | undefined)?.[name],
      value
    )

/** Checks that each figure of a tax statement is what its basis comes to; returns how many there are. */
export const keepBasis = (of: TaxStatement): number => {
  for (const basis of of.basis) {
    const figure = Result.getOrThrow(Catalogue.verify(basis))
    expect(Decimal.of(figure), basis.field).toBe(memberAt(of, basis.field))
  }
  const sums = of.currencies.reduce((sum, { rows }) => sum + 4 * rows.length + 8, 0)
  const split = of.disposals.reduce(
    (sum, { cost, proceeds }) => sum + (cost === null ? 0 : 1) + (proceeds === null ? 0 : 1),
    0
  )
  expect(of.basis.length, "each figure has a basis").toBe(sums + split)
  return of.basis.length
}

/**
 * Checks that what left each lot is what the disposals of all years took of it, and at the same cost; of
 * a chain of holders, whose units also go from one to the next, that they took no more.
 */
const keepLots = (
  kept: ReadonlyArray<Lot>,
  of: { readonly disposals: ReadonlyArray<Disposal>; readonly isAlone: boolean }
) => {
  const taken = Map.groupBy(of.disposals, ({ instrumentId, lotId }) => `${instrumentId} ${lotId}`)
  for (const { instrumentId, lotId, units, remaining, cost, costLeft } of kept) {
    const parts = taken.get(`${instrumentId} ${lotId}`) ?? []
    const left = Decimal.subtract(units, remaining)
    const sum = Decimal.sum(parts.map((part) => part.units))
    expect(Decimal.atMost(sum, left), `${lotId} was disposed of twice`).toBe(true)
    if (!of.isAlone) continue
    expect(sum, `what left ${lotId}`).toBe(left)
    if (cost === null || costLeft === null) continue
    const costs = Decimal.sum(parts.map((part) => part.cost ?? Decimal.zero))
    expect(costs, `the cost of what left ${lotId}`).toBe(Decimal.subtract(cost, costLeft))
  }
  const known = new Set(kept.map(({ instrumentId, lotId }) => `${instrumentId} ${lotId}`))
  expect(
    [...taken.keys()].filter((key) => !known.has(key)),
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
  const asked = new Set<string>()
  const kept = yield* collected(lots)
  const parties = new Map(
    (yield* allHolders).map(({ holderId, party }) => [holderId as string, party])
  )
  let net = Decimal.zero
  for (const { holderId } of yield* allHolders) {
    const statements = []
    for (const year of years) {
      const of = yield* taxOf(holderId, year, { zone })
      keepBasis(of)
      statements.push(of)
    }
    const [{ holderIds }] = [statements[0]!]
    expect(holderIds).toContain(holderId)
    if (asked.has(holderId)) continue
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
    for (const id of holderIds) asked.add(id)
    const own = new Set(holderIds.map((id) => parties.get(id)))
    keepLots(
      kept.filter(({ party }) => own.has(party)),
      {
        disposals: statements.flatMap(({ disposals }) => disposals),
        isAlone: holderIds.length === 1
      }
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
  of: { readonly years: ReadonlyArray<number>; readonly offsets: ReadonlyArray<Offset.Offset> }
) {
  let finals = 0
  for (const { holderId } of yield* allHolders) {
    for (const year of of.years) {
      let before: TaxStatement | null = null
      for (const at of of.offsets) {
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
