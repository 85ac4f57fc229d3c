/** Statements of holders as tests read them, and the laws that statements of any history keep. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant, Month, type Offset, Zone } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Stream } from "effect"
import { expect } from "vitest"
import { paid, distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import { HolderId } from "#core/holders/holder/Holder.ts"
import { holders } from "#core/holders/holder/Holder.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import * as HolderStatementReads from "#core/overviews/holder-statement/HolderStatementReads.ts"
import type { HolderStatement } from "#core/overviews/holder-statement/HolderStatement.ts"
import { Schema } from "effect"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
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

/** The holder gives units up: the registrar burns them. */
export const burns = (stage: Fund.Parties, from: Cycles.Holder, units: string, id = "exit") =>
  Effect.gen(function* () {
    const amount = Decimal.of(units)
    const held = (yield* Cycles.active(Templates.Holding)).find(
      ({ payload }) =>
        payload.owner === from.party &&
        payload.lock === null &&
        Decimal.of(String(payload.amount)) >= amount
    )
    if (held === undefined) throw new Error(`${from.holderId} has no holding of ${units}`)
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

/**
 * Checks the laws of all holders' statements in a zone: movements add up, months join, the last
 * closing is the register's line, every payment stands in one month.
 */
export const keepLaws = Effect.fnUntraced(function* (zone: string) {
  const records = yield* Records
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
    if (rows.length > 0) {
      expect(paidLines.toSorted()).toEqual(own.map(({ lineId }) => lineId as string).toSorted())
    }
    for (const { month, instruments } of rows) {
      for (const { paidOn } of instruments.flatMap(({ paid }) => paid)) {
        expect(Month.fromDate(paidOn)).toBe(month)
      }
    }
  }
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
