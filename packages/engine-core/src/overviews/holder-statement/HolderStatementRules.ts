/**
 * Pure rules of a holder's statements: opening, movements, closing, price and worth of one instrument,
 * month after month (docs/domain/reports.md#holder-statements).
 */
import { isRecorded, type Instrument } from "../../instruments/instrument/Instrument.ts"
import type { PartyMovement } from "../../instruments/register/Movement.ts"
import { shownUnits, valueOf } from "../../instruments/register/RegisterRules.ts"
import * as Currency from "../../kernel/Currency.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as Month from "../../kernel/Month.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as PaidLineRules from "../PaidLineRules.ts"
import {
  movementsMax,
  type StatementInstrument,
  type StatementMovement,
  type StatementPayment
} from "./HolderStatement.ts"
import {
  type MonthPoints,
  monthPointsOf,
  lastAt,
  type Points,
  type SettlingInstants
} from "./StatementPointRules.ts"

/** A month in a reader's zone. */
export interface Span extends SettlingInstants {
  readonly month: Month.Month
  readonly start: Instant.Instant
}

export const spanOf = (month: Month.Month, zone: Zone.Zone): Span => {
  const nextDay = Month.firstDay(Month.next(month))
  return {
    month,
    start: Zone.startOfMonth(zone, month),
    end: Zone.startOfDay(zone, nextDay),
    graceEnd: PaidLineRules.graceEndOf({ zone, nextDay })
  }
}

/** Units that came, or with a minus went, as the party sees the movement. */
const signedUnits = ({ party, to, units }: PartyMovement): Decimal.Decimal =>
  to === party ? units : Decimal.negate(units)

/** An instrument that a holder has or had units of. */
export interface Subject extends Points {
  readonly instrument: Instrument
  /** Stored units before the first month; null: the holder had no movement before it. */
  readonly opening: Decimal.Decimal | null
}

/** Converts stored units to shown ones, as a month knows the prices. */
interface UnitConversion {
  readonly priced: MonthPoints
  /** Units at the index of an instant; none before the first one. */
  readonly at: (units: Decimal.Decimal, instant: Instant.Instant) => Decimal.Decimal
  /** Units at the index of the month's end. */
  readonly closing: (units: Decimal.Decimal) => Decimal.Decimal
}

const showingOf = (subject: Subject, settling: SettlingInstants): UnitConversion => {
  const priced = monthPointsOf(subject, settling)
  const { instrument } = subject
  if (!isRecorded(instrument) || instrument.manifest.valuation !== "rebasing") {
    return { priced, at: (units) => units, closing: (units) => units }
  }
  const { unitDecimals, valuation } = instrument.manifest
  const show = (units: Decimal.Decimal, index: Decimal.Decimal | undefined) =>
    shownUnits({ units, valuation, index: index ?? null, unitDecimals })
  return {
    priced,
    at: (units, instant) => show(units, lastAt(priced, instant)?.price),
    closing: (units) => show(units, priced.points.at(-1)?.price)
  }
}

/** Units of one instrument in the month that is added up. */
interface OpenMonth {
  readonly showing: UnitConversion
  readonly opening: Decimal.Decimal
  readonly movements: Array<StatementMovement>
  count: number
  /** Stored units after the last movement. */
  balance: Decimal.Decimal
  /** Sum of the shown units of all movements. */
  moved: Decimal.Decimal
}

/** A month of one instrument, without its payments. */
interface ClosedMonth extends Omit<StatementInstrument, "paid"> {
  /** True: no later point can show another price. */
  readonly isSettled: boolean
  /** True: the holder had units of the instrument by the end of the month. */
  readonly isHad: boolean
}

/**
 * Adds one instrument's movements up, month after month. Movements are added in their order, each
 * after the months before its own were closed.
 */
export class Ledger {
  private balance: Decimal.Decimal | null
  private open: OpenMonth | null = null
  private before: UnitConversion
  private readonly subject: Subject
  readonly instrumentId: string

  constructor(subject: Subject, previous: SettlingInstants) {
    this.subject = subject
    this.instrumentId = subject.instrument.instrumentId
    this.balance = subject.opening
    this.before = showingOf(subject, previous)
  }

  begin(span: Span): void {
    const balance = this.balance ?? Decimal.zero
    this.open = {
      showing: showingOf(this.subject, span),
      opening: this.before.closing(balance),
      movements: [],
      count: 0,
      balance,
      moved: Decimal.zero
    }
  }

  add(movement: PartyMovement): void {
    const { open } = this
    if (open === null) throw new Error("no month is open")
    const units = signedUnits(movement)
    // Before its first movement the party had the units of the ledger's snapshot.
    const isFirst = this.balance === null
    if (isFirst) {
      const begun = Decimal.subtract(movement.balanceAfter, units)
      this.open = { ...open, opening: this.before.closing(begun) }
      this.balance = begun
      return this.enter(this.open, movement, units)
    }
    this.enter(open, movement, units)
  }

  private enter(open: OpenMonth, movement: PartyMovement, units: Decimal.Decimal): void {
    const { at, balanceAfter, kind, ledgerTime, reference, seq } = movement
    const shown = open.showing.at(units, ledgerTime)
    open.count += 1
    open.balance = balanceAfter
    open.moved = Decimal.add(open.moved, shown)
    this.balance = balanceAfter
    if (open.movements.length === movementsMax) return
    const after = open.showing.at(balanceAfter, ledgerTime)
    open.movements.push({ seq, at, ledgerTime, kind, units: shown, balanceAfter: after, reference })
  }

  /**
   * Closes the month; null: the holder never had units of the instrument by its end, and was paid
   * nothing for it in the month.
   */
  close({
    until,
    isPaid
  }: {
    readonly until: Instant.Instant
    readonly isPaid: boolean
  }): ClosedMonth | null {
    const { open, balance } = this
    if (open === null) throw new Error("no month is open")
    this.open = null
    this.before = open.showing
    if (balance === null && !isPaid) return null
    const closing = open.showing.closing(open.balance)
    const rebased = Decimal.subtract(closing, Decimal.add(open.opening, open.moved))
    const isRebased = !Decimal.isZero(rebased)
    // Also beyond the limit of movements: opening, movements and closing must be seen to add up.
    if (isRebased) {
      open.movements.push({
        ...{ seq: null, at: until, ledgerTime: until, kind: "rebase", units: rebased },
        ...{ balanceAfter: closing, reference: null }
      })
    }
    return {
      instrumentId: this.subject.instrument.instrumentId,
      opening: open.opening,
      movements: open.movements,
      movementCount: open.count + (isRebased ? 1 : 0),
      closing,
      ...worthOf(this.subject.instrument, open.showing.priced, closing),
      isHad: balance !== null,
      isSettled: open.showing.priced.isSettled || !isPriced(this.subject)
    }
  }
}

/** Checks whether an oracle prices the instrument, or did. */
const isPriced = ({ versions }: Subject): boolean =>
  versions.some(({ manifest }) => manifest.oracle !== null)

const worthOf = (instrument: Instrument, { points }: MonthPoints, closing: Decimal.Decimal) => {
  const last = points.at(-1)
  const price = last?.price ?? instrument.manifest?.parValue ?? null
  const priced = { price, priceAt: last?.valuationTime ?? null }
  if (!isRecorded(instrument)) return { ...priced, value: null, currency: null }
  const { currency, valuation } = instrument.manifest
  const cashDecimals = Currency.decimals(currency)
  // The index is already in the shown units, each of which is worth one.
  const unitPrice = valuation === "rebasing" ? Decimal.one : price
  const value =
    price === null || unitPrice === null
      ? null
      : valueOf({ units: closing, price: unitPrice, cashDecimals })
  return { ...priced, value, currency }
}

/** Checks whether a month of an instrument has units or movements to show. */
export const isShown = (month: Omit<StatementInstrument, "paid">): boolean =>
  month.movementCount > 0 || !Decimal.isZero(month.opening) || !Decimal.isZero(month.closing)

/** Payments in the order of their days, then of their lines. */
export const paidInOrder = <P extends StatementPayment>(
  payments: ReadonlyArray<P>
): ReadonlyArray<P> =>
  payments.toSorted((a, b) => Date.compare(a.paidOn, b.paidOn) || (a.lineId < b.lineId ? -1 : 1))
