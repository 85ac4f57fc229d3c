/** Checks of reconciliation that compare the register with the ledger, its movements and statements. */
import { Effect, Option, Stream } from "effect"
import type { Items } from "../../findings/Explained.ts"
import { compare, isAccepted, type PlainDifference } from "../../findings/FindingRules.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import { assetKeyOf, holdings } from "../../instruments/register/Holding.ts"
import { registerEntries } from "../../instruments/register/RegisterEntry.ts"
import { supplies } from "../../instruments/register/Supply.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import * as Check from "./Check.ts"
import * as InFlight from "./InFlightLookups.ts"
import * as InFlightRules from "./InFlightRules.ts"
import * as MovementSums from "./MovementSumLookups.ts"
import { aboutSource, type OfStatement } from "./OfStatement.ts"
import * as RegisterLines from "./RegisterLineLookups.ts"
import * as Statements from "./StatementCheckLookups.ts"
import * as InForce from "./StatementsInForceLookups.ts"

/** Sums of one instrument at one offset, base units of a rebasing instrument. */
interface RegisterSums {
  readonly instrumentId: string
  /** Sum of the register's entries. */
  readonly register: Decimal.Decimal
  /** Sum of the holdings that are active on the ledger. */
  readonly supply: Decimal.Decimal
}

export const registerSupply = Check.define("register-supply", {
  doc: "Compares the units on the register with the supply on the ledger.",
  rule: "register-against-supply",
  needs: "A party with an entry on the register or a holding on the ledger.",
  cannot: {},
  facts: (instrument, at) => Stream.fromIterableEffect(sumsOf(instrument, at)),
  differences: ({ instrumentId, register, supply }: RegisterSums, tolerance) =>
    compare({
      instrumentId,
      subject: { resourceKind: "instrument", id: instrumentId },
      holderId: null,
      severity: "blocking",
      unit: "units",
      expected: register,
      actual: supply,
      tolerance
    })
})

/** Sums register and holdings of the instrument; none where no party holds units. */
const sumsOf = Effect.fnUntraced(function* (
  instrument: Pick<Instrument, "instrumentId" | "registrar">,
  { pin }: Check.Point
) {
  const records = yield* Records
  const where = { asset: [assetKeyOf(instrument)] }
  const register = yield* totalOf(
    records.stream(registerEntries, { where, pin }).pipe(Stream.map(({ record }) => record.units))
  )
  const supply = yield* totalOf(
    records.stream(holdings, { where, pin }).pipe(Stream.map(({ record }) => record.amount))
  )
  if (register === undefined && supply === undefined) return []
  const sums: RegisterSums = {
    instrumentId: instrument.instrumentId,
    register: register ?? Decimal.zero,
    supply: supply ?? Decimal.zero
  }
  return [sums]
})

/** Sums a stream of amounts; undefined where it is empty. */
const totalOf = <E, R>(amounts: Stream.Stream<Decimal.Decimal, E, R>) =>
  Stream.runFold(
    amounts,
    (): Decimal.Decimal | undefined => undefined,
    (sum, amount) => Decimal.add(sum ?? Decimal.zero, amount)
  )

/**
 * The subject is the holder, and the party where there is no holder, so that differences of several
 * such parties are neither one finding nor set off against each other.
 */
export const movementsBalance = Check.define("movements-balance", {
  doc: "Compares what a party's movements come to with its units on the register.",
  rule: "movements-against-the-register",
  needs: "A party with an entry on the register or a movement of the instrument.",
  cannot: {},
  facts: MovementSums.balances,
  differences: (
    { instrumentId, party, holderId, opening, moved, closing }: MovementSums.Balance,
    tolerance
  ) =>
    compare({
      instrumentId,
      subject: { resourceKind: "holder", id: holderId ?? party },
      holderId,
      severity: "blocking",
      unit: "units",
      expected: Decimal.add(opening, moved),
      actual: closing,
      tolerance
    })
})

/**
 * Of several statements, of several sources or dates, a subject has the worst difference of those that
 * no acceptance covers, else the worst; of equal ones that of the first source and its newest date.
 */
export const registerLine = Check.define("register-line", {
  doc: "Compares the units that a statement states of each holder with the register at the statement's moment.",
  rule: "register-against-statements",
  needs: "A statement in force of an active source of holdings.",
  cannot: { ...InForce.momentReasons, ...InForce.lineReasons },
  severity: "blocking; a warning for an account that nobody mapped and that has no units",
  derives:
    "Half a unit of the last decimal place to which the source rounds; 0 where it does not round.",
  facts: RegisterLines.lines,
  comparedAt: ({ comparedAt }: RegisterLines.DifferingLines) => comparedAt,
  differences: ({ accepted, lines }: RegisterLines.DifferingLines, tolerance) => {
    const found = lines.toSorted(bySource).flatMap((line) => lineDifference(line, tolerance))
    const open = found.filter(
      (difference) => accepted === null || !isAccepted(accepted, difference)
    )
    return (open.length > 0 ? open : found).reduce<ReadonlyArray<LineDifference>>(
      (worst, difference) =>
        worst[0] === undefined || isWorse(difference, worst[0]) ? [difference] : worst,
      []
    )
  },
  // Each statement of which a line blocks, not that of the worst alone.
  again: ({ lines }: RegisterLines.DifferingLines, tolerance) =>
    lines
      .flatMap((line) => lineDifference(line, tolerance))
      .flatMap(({ severity, statementId }) => (severity === "blocking" ? (statementId ?? []) : []))
})

type LineDifference = PlainDifference<"info" | "warning" | "blocking">

/**
 * Compares one line, blocking. An account that nobody mapped is a difference also without units: a
 * warning then.
 */
const lineDifference = (
  line: RegisterLines.StatedLine,
  tolerance: Decimal.Decimal | null
): ReadonlyArray<LineDifference> => {
  const isUnmapped = line.subject.resourceKind === "external-source"
  const about = {
    instrumentId: line.instrumentId,
    subject: line.subject,
    holderId: line.holderId,
    severity: "blocking",
    unit: "units",
    expected: line.register ?? Decimal.zero,
    actual: line.stated ?? Decimal.zero,
    items: line.items,
    comparedAt: line.comparedAt,
    statementId: line.statementId
  } as const
  const found = compare({
    ...about,
    tolerance: isUnmapped ? Decimal.zero : (tolerance ?? RegisterLines.halfAtom(line.places))
  })
  if (found.length > 0 || !isUnmapped) return found
  const { items: _, ...rest } = about
  return [
    {
      ...rest,
      severity: "warning",
      difference: Decimal.zero,
      tolerance: Decimal.zero,
      explained: { amount: Decimal.zero, by: [] },
      unexplained: Decimal.zero,
      missingDates: [],
      entry: null
    }
  ]
}

/**
 * Order of the statements, so that the order in which they arrived decides nothing: by source, the
 * newest business date first.
 */
const bySource = (a: RegisterLines.StatedLine, b: RegisterLines.StatedLine): number =>
  a.externalSourceId === b.externalSourceId
    ? b.businessDate.localeCompare(a.businessDate, "en")
    : a.externalSourceId < b.externalSourceId
      ? -1
      : 1

const severities = ["info", "warning", "blocking"] as const

/** Checks whether a difference of a subject is worse than another: by severity, then by what is unexplained. */
const isWorse = (a: LineDifference, b: LineDifference): boolean => {
  const bySeverity = severities.indexOf(a.severity) - severities.indexOf(b.severity)
  if (bySeverity !== 0) return bySeverity > 0
  return Decimal.compare(Decimal.abs(a.unexplained), Decimal.abs(b.unexplained)) > 0
}

/** An administrator's total of units, and the supply at the statement's moment. */
interface OutstandingSupply extends OfStatement {
  /** Units that the administrator states. */
  readonly totalQuantity: Decimal.Decimal
  /** Units on the ledger at the statement's moment, as they are shown. */
  readonly supply: Decimal.Decimal
  /** Parties that held units then. */
  readonly holders: number
  /** Places of a unit of the instrument. */
  readonly unitDecimals: number
  /** Orders in flight, of every holder. */
  readonly items: Items
}

export const supplyOutstanding = Check.define("supply-outstanding", {
  doc: "Compares the administrator's total of units with the supply at the statement's moment.",
  rule: "units-outstanding",
  needs: "A statement in force of an active source of NAVs.",
  cannot: {
    ...InForce.momentReasons,
    ripcord: "the valuation of the NAV is suspended",
    "total-missing": "the NAV does not state the units outstanding"
  },
  derives:
    "An atom of a unit for each holder: each line of the administrator's register may be rounded.",
  isDated: true,
  facts: (instrument, at) => Stream.unwrap(outstandings(instrument, at)),
  comparedAt: ({ comparedAt }: OutstandingSupply) => comparedAt,
  differences: (outstanding: OutstandingSupply, tolerance) =>
    compare({
      severity: "blocking",
      ...aboutSource(outstanding),
      unit: "units",
      expected: outstanding.supply,
      actual: outstanding.totalQuantity,
      tolerance: tolerance ?? atomOfEach(outstanding),
      items: outstanding.items
    })
})

const atomOfEach = ({
  holders,
  unitDecimals
}: Pick<OutstandingSupply, "holders" | "unitDecimals">): Decimal.Decimal =>
  Decimal.fromAtoms(BigInt(holders) * 10n ** BigInt(Decimal.places - unitDecimals))

/** Loads the sources of NAVs, and streams the totals of their statements beside the supply. */
const outstandings = Effect.fnUntraced(function* (instrument: Instrument, at: Check.Point) {
  const sources = yield* InForce.sourcesToCompare(instrument, at, {
    check: "supply-outstanding",
    kinds: ["nav"]
  })
  const compared = Stream.fromIterable(InForce.statementsOf(sources)).pipe(
    Stream.mapEffect((element) =>
      InForce.orUnreadable(outstandingOf(instrument, element, at), element)
    ),
    Stream.flattenIterable
  )
  return Stream.concat(Stream.fromIterable(InForce.notesOf(sources)), compared)
})

/**
 * Loads the supply at the moment of a NAV. One that is suspended, or that states no total, is left out by
 * name.
 */
const outstandingOf = Effect.fnUntraced(function* (
  instrument: Instrument,
  element: InForce.SourceStatement,
  at: Check.Point
): Effect.fn.Return<
  ReadonlyArray<OutstandingSupply | Check.NotCompared>,
  Check.CheckNotRun | Unavailable,
  Check.Services
> {
  const { totalQuantity, nav } = element.statement
  if (nav?.ripcord === true) return [InForce.leftOut(element, "ripcord")]
  if (totalQuantity === null) return [InForce.leftOut(element, "total-missing")]
  const records = yield* Records
  const { pin, comparedAt } = yield* Statements.momentOf(element, at)
  const supply = yield* records.find(supplies, assetKeyOf(instrument), pin)
  const { show } = yield* Statements.showingAt(instrument, pin)
  const { units, holders } = Option.getOrElse(supply, () => ({ units: Decimal.zero, holders: 0 }))
  const orders = yield* InFlight.ordersOf({ instrument, ...element, pin, at, show }, null)
  const outstanding: OutstandingSupply = {
    ...Statements.ofStatement(element, comparedAt),
    totalQuantity,
    supply: show(units),
    holders,
    unitDecimals: instrument.manifest?.unitDecimals ?? Decimal.places,
    items: InFlightRules.split(orders, {
      basis: InFlight.basisOf(element),
      dayEnd: InFlight.dayEndOf(element)
    })
  }
  return [outstanding]
})
