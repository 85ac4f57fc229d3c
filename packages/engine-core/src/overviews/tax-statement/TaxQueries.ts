/** Read of a person's tax statement of a year. */
import { Effect, Schema, Stream } from "effect"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { holders } from "../../holders/holder/Holder.ts"
import { audience } from "../../holders/holder/HolderQueries.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import type { Part } from "../../instruments/lot/Lot.ts"
import { isRecorded, type Instrument } from "../../instruments/instrument/Instrument.ts"
import { leaving, type PartyMovement } from "../../instruments/register/Movement.ts"
import { idOf as entryIdOf } from "../../instruments/register/RegisterEntry.ts"
import type * as Basis from "../../kernel/Basis.ts"
import * as Date from "../../kernel/Date.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Offset from "../../kernel/Offset.ts"
import type * as Party from "../../kernel/Party.ts"
import type * as Pin from "../../kernel/Pin.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import {
  deliveriesOf,
  instrumentsHadBefore,
  movementsIn,
  paidLinesOf,
  subjectsOf,
  together
} from "../holder-statement/HolderStatementLookups.ts"
import * as PaidLineRules from "../PaidLineRules.ts"
import * as DisposalRules from "./DisposalRules.ts"
import * as Lookups from "./TaxLookups.ts"
import * as TaxRules from "./TaxRules.ts"
import { type Disposal, TaxStatement, type TransferOut } from "./TaxStatement.ts"

/** Four digits of a year from 1900 on. */
const Year = Schema.String.check(Schema.isPattern(/^(?:19|2[0-9])[0-9]{2}$/))

export const taxStatement = Read.one({
  name: "holders.tax-statement",
  doc: "Answers a person's tax statement of a year: what was paid to all holders of its chain of successors, and what left their books.",
  route: "GET /v1/holders/{holderId}/tax-statements/{year}",
  audience,
  audited: { resourceKind: "holder", named: "holderId" },
  pinned: true,
  params: Schema.Struct({
    holderId: HolderId,
    year: Year,
    /** Zone in which the year starts and days are counted; absent: UTC. */
    zone: Schema.optionalKey(Zone.schema)
  }),
  value: TaxStatement,
  refuses: ["not-found"],
  run: Effect.fn("holders.tax-statement")(function* ({ holderId, year, zone = Zone.utc }, asking) {
    const records = yield* Records
    const { pin } = asking
    yield* Sight.demand(asking, holders, { holderId })
    const holder = yield* records.get(holders, holderId, pin)
    const span = spanOf(Number(year), zone)
    const linesOf = (holderIds: ReadonlyArray<string>) =>
      paidLinesOf(holderIds, { ...deliveriesOf(span), pin })
    const { before, begun, chain, own } = yield* Effect.all(
      {
        before: Lookups.offsetBefore(span.end, pin),
        begun: Lookups.offsetBefore(span.start, pin),
        chain: Lookups.chainOf(holder, pin),
        // Most holders are the only one of their chain.
        own: linesOf([holderId])
      },
      together
    )
    const parties = chain.map(({ party }) => party)
    const others = chain.map((each) => each.holderId).filter((id) => id !== holderId)
    const lines = [...own, ...(yield* linesOf(others))].flatMap((line) => {
      const paidOn = PaidLineRules.countedOn(line, { zone, since: null })
      return isIn(span, paidOn) ? [{ ...line, paidOn }] : []
    })
    const {
      had,
      paying,
      exemptions,
      left: movementsLeft
    } = yield* Effect.all(
      {
        had: instrumentsHadBefore({ parties, pin, end: span.end, before }),
        paying: Lookups.distributionsOf(lines, pin),
        exemptions: Lookups.exemptionsOf(lines, pin),
        left: leftOf({ parties, pin, span, before: begun })
      },
      together
    )
    const ids = new Set([...had, ...lines.map(({ instrumentId }) => instrumentId as string)])
    const subjects = yield* subjectsOf([...ids], pin)
    const codes = TaxRules.incomeCodesOf(
      paying,
      subjects.flatMap(({ versions }) => versions)
    )
    const currencyOf = new Map(
      subjects.map(({ instrument }) => [
        instrument.instrumentId as string,
        instrument.manifest?.currency ?? null
      ])
    )
    const currencies = TaxRules.currenciesOf(
      lines.flatMap(({ instrumentId, rate, ...line }) => {
        const currency = currencyOf.get(instrumentId) ?? null
        if (currency === null) throw new Error(`${instrumentId} paid without a currency`)
        const { distributionId, lineId, paidOn, gross, equalisation, withheld, net } = line
        const payment = { distributionId, lineId, paidOn, gross, equalisation, withheld, net }
        return [
          {
            ...{ instrumentId, currency, rate },
            incomeCode: codes.get(distributionId) ?? null,
            exemptionCode: exemptions.get(lineId) ?? null,
            payment: { ...payment, holderId: line.holderId ?? "" }
          }
        ]
      })
    )
    const { disposals, transfersOut, basis } = yield* leavingsOf({
      parties,
      movementsLeft,
      span,
      pin,
      instruments: subjects.flatMap(({ instrument }) =>
        had.has(instrument.instrumentId) ? [instrument] : []
      )
    })
    const mayPayCash = subjects.some(
      ({ instrument, versions }) =>
        had.has(instrument.instrumentId) && PaidLineRules.paysCash(versions, span.end)
    )
    return {
      year: Number(year),
      zone,
      final: PaidLineRules.hasPassed(PaidLineRules.closesAt(span, { mayPayCash }), pin.ledgerTime),
      version: 1,
      corrects: null,
      holderIds: chain.map((holder) => holder.holderId),
      currencies,
      disposals,
      transfersOut,
      basis: [...TaxRules.basisOf(currencies, pin.offset), ...basis]
    }
  })
})

export const queries = [taxStatement] as const

/** A year in a reader's zone. */
interface Span extends PaidLineRules.Span {
  readonly firstDay: Date.Date
  readonly start: Instant.Instant
  readonly graceEnd: Instant.Instant
  readonly end: Instant.Instant
}

const spanOf = (year: number, zone: Zone.Zone): Span => {
  const nextDay = Date.fromParts({ year: year + 1, month: 1, day: 1 })
  const firstDay = Date.fromParts({ year, month: 1, day: 1 })
  return {
    ...{ zone, firstDay, nextDay },
    start: Zone.startOfDay(zone, firstDay),
    graceEnd: PaidLineRules.graceEndOf({ zone, nextDay }),
    end: Zone.startOfDay(zone, nextDay)
  }
}

const isIn = ({ firstDay, nextDay }: Span, date: Date.Date): boolean =>
  !Date.isBefore(date, firstDay) && Date.isBefore(date, nextDay)

interface LeavingQuestion {
  readonly parties: ReadonlyArray<Party.Party>
  readonly span: Span
  readonly pin: Pin.ResolvedPin
  /** The last offset before the year; null: the kept history begins later. */
  readonly before: Offset.Offset | null
}

/** Movements of the year by which units left a party's books. */
const leftOf = ({ parties, pin, span: { start, end }, before }: LeavingQuestion) =>
  Effect.map(
    Stream.runCollect(movementsIn({ parties, pin, kinds: leaving, start, end, before })),
    (found) => found.filter(({ from, party }) => from === party)
  )

interface DisposalInputs extends Omit<LeavingQuestion, "before"> {
  readonly movementsLeft: ReadonlyArray<PartyMovement>
  readonly instruments: ReadonlyArray<Instrument>
}

/**
 * Lots that left the books of the chain in the year, in the order of their movements: those that were
 * burned are disposals, those that somebody received are moved on with their cost.
 */
const leavingsOf = Effect.fnUntraced(function* ({
  parties,
  movementsLeft,
  span: { zone },
  pin,
  instruments
}: DisposalInputs) {
  const { taken, paidFor } = yield* Effect.all(
    {
      taken: Lookups.partsOf(movementsLeft, pin),
      paidFor: Lookups.proceedsOf(movementsLeft.filter(isDisposal), pin)
    },
    together
  )
  const parts = Map.groupBy(taken, ({ movement }) => entryIdOf(movement))
  const disposals: Array<Disposal> = []
  const transfersOut: Array<TransferOut> = []
  const basis: Array<Basis.Basis> = []
  for (const instrument of instruments) {
    if (!isRecorded(instrument)) continue
    const { instrumentId } = instrument
    const { currency } = instrument.manifest
    for (const party of parties) {
      const mine = parts.get(entryIdOf({ ...instrument, party })) ?? []
      const disposed = mine.filter(({ movement }) => isDisposal(movement))
      const shared = DisposalRules.withProceeds(disposed, (movement) => paidFor(movement, currency))
      for (const one of shared) {
        const { movement, part, proceeds } = one
        basis.push(...TaxRules.leavingBasis(one, { at: `disposals.${disposals.length}`, currency }))
        disposals.push({
          ...lotOf(part, { instrumentId, currency, zone }),
          disposedOn: Zone.dateAt(zone, movement.ledgerTime),
          proceeds,
          reference: movement.reference
        })
      }
      for (const one of mine) {
        const { movement, part } = one
        if (isDisposal(movement)) continue
        const at = `transfersOut.${transfersOut.length}`
        basis.push(...TaxRules.leavingBasis({ ...one, shared: null }, { at, currency }))
        transfersOut.push({
          ...lotOf(part, { instrumentId, currency, zone }),
          movedOn: Zone.dateAt(zone, movement.ledgerTime),
          kind: movement.kind,
          reference: movement.reference
        })
      }
    }
  }
  return { disposals, transfersOut, basis }
})

/** Whether nobody received the units: a redemption, or a burn. */
const isDisposal = ({ to }: PartyMovement): boolean => to === null

/** Members of a row that its lot gives. */
const lotOf = (
  { cost, lot, units }: Part,
  {
    instrumentId,
    currency,
    zone
  }: { readonly instrumentId: string; readonly currency: string; readonly zone: Zone.Zone }
) => ({
  instrumentId,
  lotId: lot.lotId,
  acquiredOn: Zone.dateAt(zone, lot.acquiredAt),
  units,
  cost,
  currency: lot.currency ?? currency
})
