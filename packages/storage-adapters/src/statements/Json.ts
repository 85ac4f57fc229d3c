/** Reader of a statement's own form, a JSON object with its lines in one array (docs/domain/statements.md#json). */
import { CompiledCodec, Instant, PlainJson, Shape, Zone } from "@bursar/engine-core/kernel"
import { StatementJson, type StatementSource } from "@bursar/engine-core/ports"
import { Result, type Schema, type Stream } from "effect"
import * as AccountNumber from "./AccountNumber.ts"
import { endOfDay, isOfYears, otherYears } from "./Days.ts"
import { decoder } from "./Decoding.ts"
import { malformed, refused } from "./Faults.ts"
import { JsonSplitter, type Piece } from "./JsonSplitter.ts"
import { LineBuffer, repeated } from "./LineBuffer.ts"
import * as Steps from "./Steps.ts"

type Reading = StatementSource.Reading
type Plain = PlainJson.Plain

/**
 * Reads a file in the statement's own form, which is UTF-8; lines are handed on while the file is
 * read. Fails as `StatementSource.Reader` declares.
 */
export const read = <E, R>(
  reading: Reading,
  bytes: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<StatementSource.Part, StatementSource.StatementFault | E, R> => {
  const { charset } = reading
  const declaration = { by: "source", encoding: "utf-8" } as const
  return Steps.run(Steps.sliced(bytes), () =>
    Steps.joined(decoder({ charset, declaration }), readText(reading))
  )
}

const readText = (reading: Reading): Steps.Step<string, StatementSource.Part> => {
  const lines = new LineBuffer(reading)
  const lineOf = decoders[reading.kind](reading)
  let number = 0
  const splitter = new JsonSplitter((piece) => {
    const pointer = `/lines/${number++}`
    const line = lineOf(parsed(piece, pointer))
    if (!lines.add(line)) throw repeated(line, piece.placeOf(0))
  })
  return {
    write: (text) => {
      splitter.write(text)
      return lines.flush()
    },
    end: () => {
      const header = headerOf(splitter.end(), reading)
      return [...lines.flush(), { part: "header", header }]
    }
  }
}

/** Value of a piece of the file, and where it lies. */
interface LocatedValue {
  readonly plain: Plain
  readonly pointer: string
  readonly placeOf: Piece["placeOf"]
}

const parsed = (piece: Piece, pointer: string): LocatedValue => {
  const { text, placeOf } = piece
  const plain = PlainJson.parse(text)
  if (Result.isSuccess(plain)) return { plain: plain.success, pointer, placeOf }
  const { at, detail, pointer: within } = plain.failure
  throw malformed(`${pointer}${within}: ${detail}`, placeOf(at))
}

/** Decodes by a schema. A member that is none of the schema, or of another type, is malformed. */
const strictly = <A>(schema: Schema.Codec<A, unknown>) => {
  const { decode } = Shape.decoder(schema)
  return (located: LocatedValue): A => {
    const decoded = decode(located.plain, () => located.pointer)
    if (Result.isSuccess(decoded)) return decoded.success
    const fault = decoded.failure.details.errors?.[0]
    const detail =
      fault === undefined
        ? located.pointer
        : `${fault.pointer.slice(0, pointerMax)}: ${fault.detail}`
    const at =
      fault === undefined
        ? null
        : textAt(located.plain, fault.pointer.slice(located.pointer.length))
    throw at !== null && excessPlaces.test(at)
      ? refused("statement-places", detail, located.placeOf(0))
      : malformed(detail, located.placeOf(0))
  }
}

/** Characters of a pointer that a fault shows: the file itself names its members. */
const pointerMax = 512

/** More places than a decimal has, of which one that is not zero. */
const excessPlaces = /^-?[0-9]{1,28}\.[0-9]{10}[0-9]*[1-9]/u

const textAt = (plain: Plain, pointer: string): string | null => {
  let value: unknown = plain
  for (const name of pointer.split("/").slice(1)) {
    value = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
  }
  return typeof value === "string" ? value : null
}

/**
 * Decodes lines by a schema that is compiled, which passes over members that it lacks: where a line
 * has one, or is refused, the schema itself decodes it and says what is wrong.
 */
const quickly = <A>(
  schema: Schema.Codec<A, unknown> & { readonly fields: Readonly<Record<string, unknown>> },
  hasNested: (plain: Readonly<Record<string, Plain>>) => boolean = () => false
) => {
  const compiled = CompiledCodec.resultDecoder(schema)
  const strict = strictly(schema)
  const hasOthers = (plain: Readonly<Record<string, Plain>>): boolean => {
    for (const name in plain) if (!(name in schema.fields)) return true
    return hasNested(plain)
  }
  return (located: LocatedValue): A => {
    const plain = located.plain as Readonly<Record<string, Plain>>
    if (hasOthers(plain)) return strict(located)
    const decoded = compiled(plain)
    return Result.isSuccess(decoded) ? decoded.success : strict(located)
  }
}

const holdingsLine = quickly(StatementJson.HoldingsLine)
const custodyLine = quickly(StatementJson.CustodyLine)
/** A counterparty is rare enough to be left to the schema. */
const cashEntry = quickly(
  StatementJson.CashEntry,
  ({ counterparty = null }) => counterparty !== null
)

const decoders: Readonly<
  Record<Reading["kind"], (reading: Reading) => (located: LocatedValue) => StatementSource.Line>
> = {
  holdings: () => (located) => {
    const { account, quantity, locked = null } = holdingsLine(located)
    return { kind: "holdings", account, quantity, locked }
  },
  custody: () => (located) => ({ kind: "custody", ...custodyLine(located) }),
  cash:
    ({ currency }) =>
    (located) => {
      const entry = cashEntry(located)
      const counterparty = entry.counterparty ?? null
      return {
        kind: "cash",
        bookingDate: entry.bookingDate,
        valueDate: entry.valueDate ?? null,
        amount: entry.amount,
        currency: entry.currency ?? currency,
        direction: entry.direction,
        bankReference: entry.bankReference ?? null,
        reference: entry.reference ?? null,
        counterparty:
          counterparty === null
            ? null
            : { name: counterparty.name ?? null, account: counterparty.account ?? null },
        ...(entry.reversal === true ? { reversal: true as const } : {})
      }
    },
  nav: () => (located) => {
    throw malformed(`${located.pointer}: a statement of a NAV has no lines`, located.placeOf(0))
  }
}

const decodeHeader = strictly(StatementJson.Header)

const headerOf = (pieces: ReadonlyArray<Piece>, reading: Reading): StatementSource.Header => {
  const file = parsed(joined(pieces), "")
  const place = { line: 1 }
  const { lines, ...members } = file.plain as { readonly [member: string]: Plain }
  if (lines === undefined ? reading.kind !== "nav" : !Array.isArray(lines)) {
    throw malformed("/lines: an array is expected", place)
  }
  const header = decodeHeader({ ...file, plain: members })
  checkOwn(header, reading)
  checkYears(header)
  const { period = null, totalQuantity = null, totalAmount = null, lineCount = null } = header
  if (period !== null && Instant.isAfter(period.from, period.to)) {
    throw refused("statement-field", "/period: it ends before it begins", place)
  }
  const asOf = header.asOf ?? endOfDay(header.businessDate, Zone.of(reading.zone))
  return {
    businessDate: header.businessDate,
    asOf,
    period,
    reference: header.reference ?? null,
    currency: header.currency ?? reading.currency,
    totalQuantity,
    totalAmount,
    statedLines: lineCount,
    basis: isOfPositions(reading) ? (header.basis ?? reading.basis ?? "settled") : null,
    opening: header.opening ?? null,
    closing: header.closing ?? null,
    nav: navOf(header, { asOf, reading })
  }
}

const checkYears = ({ asOf = null, businessDate }: StatementJson.Header): void => {
  if (!isOfYears(businessDate)) throw refused("statement-field", `/businessDate: it ${otherYears}`)
  if (asOf !== null && !isOfYears(Instant.date(asOf))) {
    throw refused("statement-field", `/asOf: it ${otherYears}`)
  }
}

const isOfPositions = ({ kind }: Reading): boolean => kind === "holdings" || kind === "custody"

/** Checks that members which the source and the sender state too agree with them. */
const checkOwn = (header: StatementJson.Header, reading: Reading): void => {
  const unlike = (text: string | null | undefined, own: string | null | undefined): boolean =>
    text !== undefined && text !== null && text !== own
  if (header.kind !== reading.kind) {
    throw refused("statement-field", `/kind: ${header.kind}; the source sends ${reading.kind}`)
  }
  if (reading.businessDate !== null && header.businessDate !== reading.businessDate) {
    throw refused("statement-field", "/businessDate: the sender names another date")
  }
  const { account = null } = header
  if (account !== null && !AccountNumber.isSame(account, reading.account?.number ?? "")) {
    throw refused("statement-account", "/account: it is not the source's own account")
  }
  if (unlike(header.isin, reading.isin)) {
    throw refused("statement-account", "/isin: it is not the instrument's")
  }
  if (!isOfPositions(reading) && unlike(header.currency, reading.currency)) {
    throw refused("statement-account", `/currency: it is not ${reading.currency}`)
  }
}

const navOf = (
  { nav = null }: StatementJson.Header,
  { asOf, reading }: { readonly asOf: Instant.Instant; readonly reading: Reading }
): StatementSource.Nav | null => {
  if ((nav === null) === (reading.kind === "nav")) {
    throw refused(
      "statement-nav",
      `/nav: a statement of ${reading.kind} has ${nav === null ? "a" : "no"} NAV`
    )
  }
  if (nav === null) return null
  const { official, indicative = null, ripcord } = nav
  const expiresAt =
    nav.expiresAt ?? (reading.validFor === null ? null : Instant.add(asOf, reading.validFor))
  if (expiresAt === null) throw refused("statement-nav", "/nav/expiresAt: nobody says it")
  const indicativeAsOf = indicative === null ? null : (nav.indicativeAsOf ?? asOf)
  return { official, indicative, indicativeAsOf, expiresAt, ripcord }
}

/** Joins the pieces of a file into one that knows the places of all. */
const joined = (pieces: ReadonlyArray<Piece>): Piece => ({
  text: pieces.map(({ text }) => text).join(""),
  placeOf: (at) => {
    let start = 0
    for (const { text, placeOf } of pieces) {
      if (at < start + text.length) return placeOf(at - start)
      start += text.length
    }
    throw new RangeError("the file has no such character")
  }
})
