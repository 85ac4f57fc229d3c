/** Look-ups that the checks of statements share: sources, moments of statements, their lines. */
import { Effect, Option } from "effect"
import type { Moment } from "../../findings/Finding.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import { quotes } from "../../instruments/price/PricePoint.ts"
import { priceOf, quoteIdsOf } from "../../instruments/price/QuoteRules.ts"
import { shownUnits } from "../../instruments/register/RegisterRules.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Offset from "../../kernel/Offset.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Bulk } from "../../ports/storage/Bulk.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import {
  type ExternalStatement,
  ownerOf,
  placeInDayOf
} from "../../statements/external-statement/ExternalStatement.ts"
import { latestOf } from "../../statements/external-statement/StatementLookups.ts"
import type { StatementKind } from "../../vocabulary/sets.ts"
import { CheckNotRun, type Point } from "./Check.ts"
import type { OfStatement } from "./OfStatement.ts"
import { pinAt } from "./StatementPinLookups.ts"
import { externalSourcesAt, type SourceStatement } from "./StatementsInForceLookups.ts"

export type InstrumentIdentity = Pick<Instrument, "instrumentId">

/** Loads the active sources of an instrument, of these kinds, in the order of their ids. */
export const sourcesOf = Effect.fnUntraced(function* (
  { instrumentId }: InstrumentIdentity,
  { pin, sources = externalSourcesAt(pin) }: Point,
  kinds?: ReadonlyArray<StatementKind>
) {
  const all = yield* sources
  return all.filter(
    ({ instruments, kind, state }) =>
      state === "active" && (kinds?.includes(kind) ?? true) && instruments.includes(instrumentId)
  )
})

/** Loads the newest statement in force of each source of an instrument that has one. */
export const latestOfEach = Effect.fnUntraced(function* (
  instrument: InstrumentIdentity,
  at: Point,
  kinds: ReadonlyArray<StatementKind>
) {
  const sources = yield* sourcesOf(instrument, at, kinds)
  const found = yield* Effect.forEach(sources, (source) =>
    Effect.map(
      latestOf(
        { externalSourceId: source.externalSourceId, instrumentId: instrument.instrumentId },
        at.pin
      ),
      Option.map((statement): SourceStatement => ({ source, statement, isNewest: true }))
    )
  )
  return found.flatMap((latest) => (Option.isSome(latest) ? [latest.value] : []))
})

/** Members that identify the statement of a fact, and its moment. */
export const ofStatement = (
  { statement }: Pick<SourceStatement, "statement">,
  comparedAt: Moment
): OfStatement => ({
  instrumentId: statement.instrumentId,
  externalSourceId: statement.externalSourceId,
  statementId: statement.externalStatementId,
  businessDate: statement.businessDate,
  placeInDay: placeInDayOf(statement),
  comparedAt
})

/** Resolves the moment of a statement to a pin. */
export const momentOf = Effect.fnUntraced(function* (
  { statement }: Pick<SourceStatement, "statement">,
  at: Point
) {
  const pin = yield* pinAt(statement.asOf, at)
  return { pin, comparedAt: { offset: pin.offset, instant: statement.asOf } }
})

/**
 * Resolves the moment of a statement that is compared only with itself. Where the history of the
 * records begins later, the moment gets the first offset that is kept.
 */
export const ownMomentOf = ({ statement }: Pick<SourceStatement, "statement">, at: Point) =>
  pinAt(statement.asOf, at).pipe(
    Effect.map(({ offset }) => offset),
    Effect.catchTag("CheckNotRun", (fault) =>
      fault.why === "before-horizon"
        ? Effect.succeed(Offset.of(at.horizonOffset))
        : Effect.fail(fault)
    ),
    Effect.map((offset): Moment => ({ offset, instant: statement.asOf }))
  )

/** Fails where the lines of a statement are deleted. */
export const countOfLines = Effect.fnUntraced(function* (statement: ExternalStatement) {
  const bulk = yield* Bulk
  const lines = yield* orUnavailable(bulk.count(ownerOf(statement)))
  if (Option.isNone(lines)) return yield* new CheckNotRun({ why: "lines-deleted" })
  return lines.value
})

export const quantityOf = ({
  amounts
}: {
  readonly amounts: ReadonlyArray<string>
}): Decimal.Decimal => Decimal.of(amounts[0] ?? "0")

/** Looks up the index of a rebasing instrument at a pin; returns it with the conversion of base units by it. */
export const showingAt = Effect.fnUntraced(function* (
  instrument: Instrument,
  pin: Pin.ResolvedPin
) {
  const index = yield* indexAt(instrument, pin)
  const { manifest } = instrument
  const show = (units: Decimal.Decimal): Decimal.Decimal =>
    manifest === null || index === null ? units : shownUnits({ ...manifest, units, index })
  return { index, show }
})

/** Index of a rebasing instrument at a pin; null: its units are shown as they are kept. */
const indexAt = Effect.fnUntraced(function* (instrument: Instrument, pin: Pin.ResolvedPin) {
  if (instrument.manifest?.valuation !== "rebasing") return null
  const records = yield* Records
  const [quote] = yield* records.many(quotes, quoteIdsOf(instrument), pin)
  return priceOf(instrument, quote, pin.judgedAt).price
})
