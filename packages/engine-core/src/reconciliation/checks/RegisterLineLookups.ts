/**
 * Look-ups of the check of register lines: holders for whom a statement and the register differ at
 * the statement's moment, compared inside the store
 * (docs/domain/reconciliation.md#register-against-statements).
 */
import { Effect, Stream } from "effect"
import { type Items, noItems } from "../../findings/Explained.ts"
import { type Finding, findings, type Moment } from "../../findings/Finding.ts"
import { acceptedFigures } from "../../findings/AcceptedLookups.ts"
import { type AcceptedFigures, identityOf, idTextOf } from "../../findings/FindingRules.ts"
import { accountNumbers } from "../../holders/external-account/AccountNumber.ts"
import { externalAccounts } from "../../holders/external-account/ExternalAccount.ts"
import { holderParties, holders } from "../../holders/holder/Holder.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import { registerEntries } from "../../instruments/register/RegisterEntry.ts"
import type * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Bulk, type BulkDifference, type BulkNames } from "../../ports/storage/Bulk.ts"
import { storeUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import { storedPin } from "../../records/StorageQuery.ts"
import { ownerOf } from "../../statements/external-statement/ExternalStatement.ts"
import type { Note, NotedFacts, Point, CheckTerms } from "./Check.ts"
import * as InFlight from "./InFlightLookups.ts"
import * as InFlightRules from "./InFlightRules.ts"
import type { OfStatement } from "./OfStatement.ts"
import { countOfLines, momentOf, ofStatement, showingAt } from "./StatementCheckLookups.ts"
import {
  notesOf,
  type SourceStatement,
  sourcesToCompare,
  statementsOf,
  unreadable
} from "./StatementsInForceLookups.ts"

/** Number of differences whose orders and locks are loaded together. */
const batchMax = 500

/** Figures that one statement states of a holder, and that the register had at its moment. */
export interface StatedLine extends OfStatement {
  /** A holder; a party that is none; or an account that nobody mapped, under its source. */
  readonly subject: Finding["subject"]
  readonly holderId: string | null
  /** Units on the register; null: it has no line. */
  readonly register: Decimal.Decimal | null
  /** Units of all accounts of the holder on the statement; null: it has no line. */
  readonly stated: Decimal.Decimal | null
  /** Places that the source rounds to; null: it does not round. */
  readonly places: number | null
  readonly items: Items
}

/** The lines of one subject, of each statement that has one; none of a statement without a difference. */
export interface DifferingLines {
  readonly comparedAt: Moment
  readonly lines: ReadonlyArray<StatedLine>
  /** Unit and amounts that people accepted of the subject's finding; null: it is not accepted. */
  readonly accepted: AcceptedFigures | null
}

/** Half an atom of the places that the source rounds to; 0 where it does not round. */
export const halfAtom = (places: number | null): Decimal.Decimal =>
  places === null || places >= Decimal.places
    ? Decimal.zero
    : Decimal.fromAtoms(5n * 10n ** BigInt(Decimal.places - 1 - places))

/** A statement at its moment. */
interface ComparedStatement extends SourceStatement, Effect.Success<ReturnType<typeof momentOf>> {}

const namesBy = <R, F>(
  collection: Collection.Collection<R, F>,
  {
    pin,
    column,
    member
  }: {
    readonly column: string | null
    readonly member: keyof R & string
    readonly pin: Pin.ResolvedPin
  }
): BulkNames => ({
  collection: collection.name,
  pin: storedPin(collection.keptBy, pin),
  column,
  member
})

/** Holders of parties, also of a party that became a holder after the statement. */
const ofParties = (pin: Pin.ResolvedPin): BulkNames =>
  namesBy(holderParties, { column: null, member: "holderId", pin })

/** Holders of a statement's accounts: those that they are mapped to. */
const ofAccounts = ({ source }: SourceStatement, pin: Pin.ResolvedPin): BulkNames => {
  switch (source.accountIs) {
    case "holder":
      return namesBy(holders, { column: null, member: "holderId", pin })
    case "party":
      return ofParties(pin)
    default:
      return {
        ...namesBy(accountNumbers, { column: "hash", member: "externalAccountId", pin }),
        then: namesBy(externalAccounts, { column: null, member: "holderId", pin })
      }
  }
}

/** Compares a statement with the register at its moment, inside the store, by holders' ids. */
const compared = Effect.fnUntraced(function* (
  instrument: Instrument,
  element: ComparedStatement,
  comparison: {
    readonly at: Point
    readonly tolerance: Decimal.Decimal
    readonly always: ReadonlyArray<string>
    /** Index of a rebasing instrument at the statement's moment; null: of any other. */
    readonly index: Decimal.Decimal | null
  }
) {
  const bulk = yield* Bulk
  const { index } = comparison
  const places = instrument.manifest?.unitDecimals ?? Decimal.places
  const found = bulk.differences({
    left: {
      collection: registerEntries.name,
      pin: storedPin(registerEntries.keptBy, element.pin),
      where: { column: "asset", is: assetKeyOf(instrument) },
      match: "party",
      member: "units",
      names: ofParties(comparison.at.pin),
      ...(index === null ? {} : { times: { factor: Decimal.formatPlain(index), places } })
    },
    right: {
      owner: ownerOf(element.statement),
      amount: 0,
      names: ofAccounts(element, comparison.at.pin)
    },
    tolerance: Decimal.formatPlain(comparison.tolerance),
    always: comparison.always
  })
  return found.pipe(Stream.mapError(storeUnavailable))
})

const decimalOf = (text: string | null): Decimal.Decimal | null =>
  text === null ? null : Decimal.of(text)

/** Number of hexadecimal digits of an account's hash that identify an unmapped account. */
const hashDigits = 16

/**
 * Subject of a difference without a holder: the party on the register, or the statement's account by
 * the first digits of its keyed hash.
 */
const unnamed = Effect.fnUntraced(function* (
  element: ComparedStatement,
  { match, left }: BulkDifference
) {
  if (left !== null) return { resourceKind: "holder", id: match } as const
  const { sha256 } = yield* Crypto
  const isHash = (element.source.accountIs ?? "external-account") === "external-account"
  const hash = isHash ? match.slice(match.lastIndexOf(".") + 1) : sha256(match)
  const id = `${element.source.externalSourceId}:${hash.slice(0, hashDigits)}`
  return { resourceKind: "external-source", id } as const
})

/** Streams the lines of one statement that differ, each with what is in flight. */
const linesOf = (
  instrument: Instrument,
  element: ComparedStatement,
  context: { readonly at: Point; readonly terms: CheckTerms }
) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { at, terms } = context
      const { index, show } = yield* showingAt(instrument, element.pin)
      const explaining = { instrument, ...element, at, show }
      const counting = { basis: InFlight.basisOf(element), dayEnd: InFlight.dayEndOf(element) }
      // A settled basis has no items that it must count, so that only differences are loaded.
      const counted = new Set<string>()
      if (counting.basis !== "settled") {
        yield* InFlight.streamOrders(explaining, null).pipe(
          Stream.filter((order) => InFlightRules.isCounted(order, counting)),
          Stream.runForEach(({ holderId }) => Effect.sync(() => counted.add(holderId)))
        )
      }
      const tolerance = terms.tolerance ?? halfAtom(element.source.places)
      const always = [...counted]
      const found = yield* compared(instrument, element, { at, tolerance, always, index })
      return found.pipe(
        Stream.grouped(batchMax),
        Stream.mapEffect(
          Effect.fnUntraced(function* (differences) {
            const holderIds = differences.flatMap(({ isNamed, match }) => (isNamed ? match : []))
            const orders =
              holderIds.length === 0 ? [] : yield* InFlight.ordersOf(explaining, holderIds)
            const locks = yield* InFlight.locksOf(explaining, { holderIds, orders })
            const byHolder = Map.groupBy([...orders, ...locks], ({ holderId }) => holderId)
            return yield* Effect.forEach(
              differences,
              Effect.fnUntraced(function* (difference) {
                const { isNamed, match, left, right } = difference
                const line: StatedLine = {
                  ...ofStatement(element, element.comparedAt),
                  subject: isNamed
                    ? { resourceKind: "holder", id: match }
                    : yield* unnamed(element, difference),
                  holderId: isNamed ? match : null,
                  register: decimalOf(left),
                  stated: decimalOf(right),
                  places: element.source.places,
                  items: isNamed
                    ? InFlightRules.split(byHolder.get(match) ?? [], counting)
                    : noItems
                }
                return line
              })
            )
          })
        ),
        Stream.flatMap((lines) => Stream.fromIterable(lines))
      )
    })
  )

/**
 * Streams the lines of statements of holdings that differ from the register, by subject, and for each
 * statement one fact that it was compared. Memory grows with neither register nor statement; with
 * differences only where several statements are compared.
 */
export const lines = (
  instrument: Instrument,
  at: Point,
  terms: CheckTerms
): NotedFacts<DifferingLines> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const sources = yield* sourcesToCompare(instrument, at, {
        check: "register-line",
        kinds: ["holdings"]
      })
      const notes = notesOf(sources)
      const statements = statementsOf(sources)
      const unread: Array<Note> = []
      const all = yield* Effect.forEach(statements, (each) =>
        Effect.catchTag(comparableOf(each, at), "CheckNotRun", ({ why }) =>
          Effect.sync(() => void unread.push(unreadable(each, why)))
        )
      ).pipe(Effect.map((each) => each.filter((element) => element !== undefined)))
      const compared = all.map(
        ({ comparedAt }): DifferingLines => ({ comparedAt, lines: [], accepted: null })
      )
      const differing = Stream.fromIterable(all).pipe(
        Stream.flatMap((element) => linesOf(instrument, element, { at, terms }))
      )
      return Stream.concat(
        Stream.fromIterable([...notes, ...unread, ...compared]),
        all.length > 1
          ? Stream.unwrap(Effect.map(Stream.runCollect(differing), (found) => bySubject(found, at)))
          : Stream.map(
              differing,
              (line): DifferingLines => ({
                comparedAt: line.comparedAt,
                lines: [line],
                accepted: null
              })
            )
      )
    })
  )

/** Resolves the moment of a statement whose lines are there to be compared. */
const comparableOf = Effect.fnUntraced(function* (each: SourceStatement, at: Point) {
  yield* countOfLines(each.statement)
  return { ...each, ...(yield* momentOf(each, at)) } satisfies ComparedStatement
})

/**
 * Gathers the lines of each subject, so that several statements give one finding of it, with the amount
 * that people accepted of that finding.
 */
const bySubject = (found: ReadonlyArray<StatedLine>, at: Point) => {
  const subjects = Map.groupBy(found, ({ subject }) => `${subject.resourceKind}/${subject.id}`)
  return Stream.fromIterable(subjects.values()).pipe(
    Stream.grouped(batchMax),
    Stream.mapEffect((groups) =>
      Effect.map(
        acceptedOf(
          groups.flatMap(([first]) => first ?? []),
          at
        ),
        (accepted) =>
          groups.flatMap((lines): ReadonlyArray<DifferingLines> => {
            const [first] = lines
            if (first === undefined) return []
            const { comparedAt } = first
            return [{ comparedAt, lines, accepted: accepted.get(identityOf(same(first))) ?? null }]
          })
      )
    ),
    Stream.flatMap((lines) => Stream.fromIterable(lines))
  )
}

const same = ({ instrumentId, subject }: StatedLine) => ({
  check: "register-line",
  instrumentId,
  subject
})

/** Loads the findings of lines that people accepted, by identity. */
const acceptedOf = Effect.fnUntraced(function* (lines: ReadonlyArray<StatedLine>, { pin }: Point) {
  const records = yield* Records
  const { sha256 } = yield* Crypto
  const ids = lines.map((line) => idTextOf(same(line), sha256))
  const found = yield* records.many(findings, ids)
  const accepted = yield* acceptedFigures(found, pin)
  return new Map<string, AcceptedFigures>(
    found.flatMap((finding) => {
      const figures = accepted.get(finding.findingId)
      return figures === undefined ? [] : [[identityOf(finding), figures] as const]
    })
  )
})
