/** Checks of reconciliation that compare what a custodian states with what is locked for a reserve. */
import { Effect, Stream } from "effect"
import type { Moment } from "../../findings/Finding.ts"
import { compare, type PlainDifference } from "../../findings/FindingRules.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records } from "../../records/Records.ts"
import type { Reserve } from "../../reserves/reserve/Reserve.ts"
import { reserveHoldings } from "../../reserves/reserve/ReserveHolding.ts"
import { columnOf, keyOf } from "../../reserves/reserve/ReserveTerms.ts"
import { linesOf } from "../../statements/external-statement/StatementLookups.ts"
import * as Check from "./Check.ts"
import type { OfStatement } from "./OfStatement.ts"
import * as Statements from "./StatementCheckLookups.ts"
import * as InForce from "./StatementsInForceLookups.ts"

/** A position of the reserve's accounts, at the moment of the statement. */
interface CustodyPosition {
  /** Name of the asset within the finding: that of the source where it maps the asset to none. */
  readonly asset: string
  /** Locked on the ledger; null: the source maps the asset to none of the ledger. */
  readonly locked: Decimal.Decimal | null
  /** Sum of the statement's lines. */
  readonly statedAmount: Decimal.Decimal
}

/** A statement of a custodian with its positions in a reserve's accounts. */
interface CustodyStatement extends OfStatement {
  readonly reserveId: string
  readonly positions: ReadonlyArray<CustodyPosition>
}

/** Of one asset that several statements of a date state, the largest difference comes first. */
export const custodyReserve = Check.define("custody-reserve", {
  doc: "Compares what a custodian states of a reserve's accounts with what is locked for it on the ledger.",
  rule: "custody-of-reserves",
  needs: "A statement in force of an active source of custody.",
  cannot: {
    ...InForce.momentReasons,
    ...InForce.lineReasons,
    "no-reserve": "no reserve of the instrument is in force",
    "no-account": "no account in custody is mapped to the instrument"
  },
  severity: "blocking; a warning for an asset that the source does not map",
  isDated: true,
  facts: (instrument, at) => Stream.fromIterableEffect(statementsByDate(instrument, at)),
  comparedAt: (statements: ReadonlyArray<CustodyStatement>) =>
    statements
      .map(({ comparedAt }) => comparedAt)
      .reduce<Moment | null>(
        (newest, moment) => (newest === null || moment.instant > newest.instant ? moment : newest),
        null
      ),
  differences: (statements: ReadonlyArray<CustodyStatement>, tolerance) =>
    statements.flatMap((statement) => ofCustodian(statement, tolerance)).toSorted(largestFirst)
})

/** The subject of an asset that is mapped is the reserve's asset and the date, else the source's asset. */
const ofCustodian = (
  { reserveId, positions, businessDate, ...statement }: CustodyStatement,
  tolerance: Decimal.Decimal
) =>
  positions.flatMap(({ asset, locked, statedAmount }) =>
    compare({
      instrumentId: statement.instrumentId,
      subject:
        locked === null
          ? { resourceKind: "external-source", id: `${statement.externalSourceId}:${asset}` }
          : { resourceKind: "reserve", id: `${reserveId}:${asset}:${businessDate}` },
      holderId: null,
      severity: locked === null ? "warning" : "blocking",
      unit: "units",
      expected: locked ?? Decimal.zero,
      actual: statedAmount,
      tolerance,
      comparedAt: statement.comparedAt,
      statementId: statement.statementId
    })
  )

const sizeOf = ({ difference }: PlainDifference): Decimal.Decimal =>
  Decimal.abs(difference ?? Decimal.zero)

const largestFirst = (a: PlainDifference, b: PlainDifference): number =>
  Decimal.compare(sizeOf(b), sizeOf(a))

/**
 * Loads the statements of the custodians of the instrument's reserve that have accounts of it, as one
 * fact for each business date. Where no reserve is in force, or no account in custody is mapped to the
 * instrument, the newest statements are named as not compared.
 */
const statementsByDate = Effect.fnUntraced(function* (
  instrument: Instrument,
  at: Check.BatchPoint
) {
  const { instrumentId } = instrument
  const reserve = (yield* at.reserves.backed).get(instrumentId)?.reserve
  const hashes = (yield* at.reserves.custodyHashes).get(instrumentId)
  const sources = yield* InForce.sourcesToCompare(instrument, at, {
    check: "custody-reserve",
    kinds: ["custody"]
  })
  if (reserve === undefined || hashes === undefined) {
    const why = reserve === undefined ? "no-reserve" : "no-account"
    return InForce.notesOf(sources.map((each) => InForce.withoutStatements(each, why)))
  }
  const found = yield* Effect.forEach(InForce.statementsOf(sources), (element) =>
    InForce.orUnreadable(statedOf(element, { reserve, hashes, at }), element)
  )
  const readings = found.flat()
  const unread = readings.filter((each) => each instanceof Check.NotCompared)
  const compared = readings.flatMap((each) => (each instanceof Check.NotCompared ? [] : [each]))
  const byDate = Map.groupBy(compared, ({ businessDate }) => businessDate)
  return [...InForce.notesOf(sources), ...unread, ...byDate.values()]
})

/** Loads a statement of a custodian beside what is locked at its moment. */
const statedOf = Effect.fnUntraced(function* (
  element: InForce.SourceStatement,
  {
    reserve,
    hashes,
    at
  }: {
    readonly reserve: Reserve
    readonly hashes: ReadonlySet<string>
    readonly at: Check.Point
  }
) {
  yield* Statements.countOfLines(element.statement)
  const { pin, comparedAt } = yield* Statements.momentOf(element, at)
  const statement: CustodyStatement = {
    ...Statements.ofStatement(element, comparedAt),
    reserveId: reserve.reserveId,
    positions: positionsOf({
      reserve,
      assets: element.source.assets ?? {},
      locked: yield* lockedOf(reserve, pin),
      statedAmounts: yield* linesByAsset(element, hashes)
    })
  }
  return [statement]
})

/** Sums of the statement's lines in these accounts, by the asset as the file names it. */
const linesByAsset = ({ statement }: InForce.SourceStatement, hashes: ReadonlySet<string>) =>
  linesOf(statement).pipe(
    Stream.runFold(
      () => new Map<string, Decimal.Decimal>(),
      (sums, line) => {
        if (line.kind !== "custody" || !hashes.has(line.account)) return sums
        const before = sums.get(line.asset) ?? Decimal.zero
        return sums.set(line.asset, Decimal.add(before, line.quantity))
      }
    )
  )

/** Sums the holdings that are locked for a reserve at a pin, by the key of the asset. */
const lockedOf = Effect.fnUntraced(function* ({ reserveId }: Reserve, pin: Pin.ResolvedPin) {
  const records = yield* Records
  const sums = new Map<string, Decimal.Decimal>()
  yield* records.stream(reserveHoldings, { pin, where: { reserveId: [reserveId] } }).pipe(
    Stream.runForEach(({ record: { asset, amount, isFirm } }) =>
      Effect.sync(() => {
        if (!isFirm) return
        const key = keyOf(asset)
        sums.set(key, Decimal.add(sums.get(key) ?? Decimal.zero, amount))
      })
    )
  )
  return sums
})

/**
 * Makes the positions: each mapped asset that is in the terms or locked, and each asset in the file
 * that the source does not map. Several names in the file may be one asset on the ledger.
 */
const positionsOf = (custody: {
  readonly reserve: Pick<Reserve, "terms" | "pending">
  readonly assets: NonNullable<InForce.SourceStatement["source"]["assets"]>
  readonly locked: ReadonlyMap<string, Decimal.Decimal>
  readonly statedAmounts: ReadonlyMap<string, Decimal.Decimal>
}): ReadonlyArray<CustodyPosition> => {
  const mapped = Map.groupBy(Object.entries(custody.assets), ([, asset]) => keyOf(asset))
  const mappedPositions = [...mapped].flatMap(([key, names]): ReadonlyArray<CustodyPosition> => {
    const statedAmount = Decimal.sum(
      names.map(([name]) => custody.statedAmounts.get(name) ?? Decimal.zero)
    )
    const [first] = names
    if (first === undefined) return []
    const locked = custody.locked.get(key) ?? Decimal.zero
    return [{ asset: columnOf(first[1]), locked, statedAmount }]
  })
  const unmappedPositions = [...custody.statedAmounts].flatMap(
    ([name, statedAmount]): ReadonlyArray<CustodyPosition> =>
      Object.hasOwn(custody.assets, name) ? [] : [{ asset: name, locked: null, statedAmount }]
  )
  return [...mappedPositions, ...unmappedPositions]
}
