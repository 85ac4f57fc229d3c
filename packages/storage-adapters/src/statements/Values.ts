/** Readings of single values of an ISO 20022 message: elements, decimals, codes, dates. */
import { Date, Decimal, Instant, TimeOfDay, Zone } from "@bursar/engine-core/kernel"
import type { StatementSource } from "@bursar/engine-core/ports"
import { Result } from "effect"
import { refused } from "./Faults.ts"
import * as Figures from "./Figures.ts"
import { endOfDay, isOfYears, otherYears } from "./Days.ts"
import type { Element } from "./XmlWalk.ts"

const field = (element: Element, detail: string): StatementSource.StatementRefused =>
  refused("statement-field", detail, element)

// Elements

/** Elements of a name within an element. */
export const all = (self: Element, name: string): ReadonlyArray<Element> =>
  self.children.filter((child) => child.name === name)

/** The element at a path, or null; refuses one of which there are two. */
export const optional = (self: Element, ...path: ReadonlyArray<string>): Element | null => {
  let at: Element = self
  for (const name of path) {
    let found: Element | null = null
    for (const child of at.children) {
      if (child.name !== name) continue
      if (found !== null) throw field(child, `${at.name} has ${name} twice.`)
      found = child
    }
    if (found === null) return null
    at = found
  }
  return at
}

/** The element at a path; refuses where it is missing or there are two. */
export const only = (self: Element, ...path: ReadonlyArray<string>): Element => {
  const found = optional(self, ...path)
  if (found === null) throw field(self, `${self.name} has no ${path.join("/")}.`)
  return found
}

/** The one of several elements that is there; refuses none and more than one. */
export const oneOf = (self: Element, names: ReadonlyArray<string>): Element => {
  let single: Element | null = null
  let count = 0
  for (const child of self.children) {
    if (!names.includes(child.name)) continue
    single = child
    count++
  }
  if (single === null || count > 1) {
    throw field(self, `${self.name} has ${count} of ${names.join(", ")}, and one is read.`)
  }
  return single
}

/** Text of an element without the white space around it. */
export const trimmed = (self: Element): string => self.text.trim()

/** Text at a path; null where it is missing or empty. */
export const textAt = (self: Element, ...path: ReadonlyArray<string>): string | null => {
  const found = optional(self, ...path)
  return found === null || trimmed(found) === "" ? null : trimmed(found)
}

/** Text at a path; refuses where it is missing or empty. */
export const requiredText = (self: Element, ...path: ReadonlyArray<string>): string => {
  const text = textAt(self, ...path)
  if (text === null) throw field(self, `${self.name} has no ${path.join("/")}.`)
  return text
}

/** Reads an element as one of several codes. */
export const code = <const C extends string>(self: Element, codes: ReadonlyArray<C>): C => {
  const text = trimmed(self)
  const found = codes.find((accepted) => accepted === text)
  if (found === undefined) throw field(self, `${self.name} is none of ${codes.join(", ")}.`)
  return found
}

export const flag = (self: Element): boolean => {
  const text = code(self, ["true", "false", "1", "0"])
  return text === "true" || text === "1"
}

// Numbers

const figure = Figures.reader(Figures.plain)

/**
 * Reads an xs:decimal; a plus and zeros at either end are ignored. Refuses what is no decimal, and
 * check statement-places one with more than 10 places that are not zero: nothing is rounded.
 */
export const decimal = (self: Element): Decimal.Decimal => {
  const read = figure(trimmed(self))
  if (typeof read === "bigint") return read
  const check = read === "places" ? "statement-places" : "statement-field"
  throw refused(check, `${self.name} is not read: ${Figures.sentences[read]}.`, self)
}

/** Decimal of a count of atoms; refuses one that no decimal holds. */
export const bounded = (self: Element, atoms: bigint): Decimal.Decimal => {
  if (!Decimal.isDecimal(atoms)) {
    throw field(self, `${self.name} has more than 28 digits before the point.`)
  }
  return Decimal.fromAtoms(atoms)
}

/** Reads a decimal that is not negative. */
export const magnitude = (self: Element): Decimal.Decimal => {
  const read = decimal(self)
  if (Decimal.isNegative(read)) throw field(self, `${self.name} is negative.`)
  return read
}

export interface Money {
  readonly amount: Decimal.Decimal
  readonly currency: string
}

/** Currency of an amount. */
export const currencyOf = (self: Element): string => {
  if (self.currency === null || !/^[A-Z]{3}$/u.test(self.currency)) {
    throw field(self, `${self.name} has no currency.`)
  }
  return self.currency
}

/** Reads an amount that is not negative, with its currency. */
export const money = (self: Element): Money => ({
  amount: magnitude(self),
  currency: currencyOf(self)
})

// Dates

const dated =
  /^(?<date>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:T(?<hour>[0-9]{2}):(?<minute>[0-9]{2}):(?<second>[0-9]{2})(?:\.(?<fraction>[0-9]{1,12}))?)?(?<offset>Z|[+-][0-9]{2}:[0-9]{2})?$/u

/** Characters of a date without a time. */
const dateLength = 10

/** Reads a date, or the date of a date-time as it is written, without regard to its offset. */
export const date = (self: Element): Date.Date => {
  const text = trimmed(self)
  const isAlone = text.length === dateLength
  const read = Date.parse(isAlone ? text : (dated.exec(text)?.groups?.["date"] ?? ""))
  if (Result.isFailure(read)) throw field(self, `${self.name} is no date.`)
  if (!isOfYears(read.success)) throw field(self, `${self.name} ${otherYears}.`)
  return read.success
}

const SECOND = 1_000_000_000n

/** Offset from UTC in seconds; undefined where no place has it. */
const secondsOf = (offset: string): bigint | undefined => {
  if (offset === "Z") return 0n
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(4, 6))
  if (hours > 14 || minutes > 59) return undefined
  const seconds = BigInt(hours * 3600 + minutes * 60)
  return offset.startsWith("-") ? -seconds : seconds
}

/** Reads a date-time in its own offset, or in the zone where it has none; exact to the nanosecond. */
export const instant = (self: Element, zone: Zone.Zone): Instant.Instant => {
  const day = date(self)
  const parts = dated.exec(trimmed(self))?.groups ?? {}
  const [hour, minute, second] = ["hour", "minute", "second"].map((part) => Number(parts[part]))
  const fraction = (parts["fraction"] ?? "").padEnd(9, "0")
  const seconds = parts["offset"] === undefined ? undefined : secondsOf(parts["offset"])
  const isTime =
    hour !== undefined &&
    minute !== undefined &&
    second !== undefined &&
    (hour < 24 || (hour === 24 && minute === 0 && second === 0 && /^0*$/u.test(fraction))) &&
    minute < 60 &&
    second < 60 &&
    /^0*$/u.test(fraction.slice(9)) &&
    (parts["offset"] === undefined || seconds !== undefined)
  if (!isTime) throw field(self, `${self.name} is no date-time.`)
  const below = BigInt(second) * SECOND + BigInt(fraction.slice(0, 9))
  if (seconds !== undefined) {
    const minutes = BigInt(hour * 60 + minute)
    return Instant.fromNanos(Instant.fromDate(day) + (minutes * 60n - seconds) * SECOND + below)
  }
  if (hour === 24) return endOfDay(day, zone)
  const time = TimeOfDay.of(`${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`)
  return Instant.fromNanos(Zone.instantAt(zone, { date: day, time }) + below)
}

export interface Moment {
  readonly date: Date.Date
  /** The date-time itself, or the end of a day that is named alone. */
  readonly at: Instant.Instant
}

/** Reads a choice of `Dt` and `DtTm`. */
export const moment = (self: Element, zone: Zone.Zone): Moment => {
  const chosen = oneOf(self, ["Dt", "DtTm"])
  const day = date(chosen)
  return trimmed(chosen).includes("T")
    ? { date: day, at: instant(chosen, zone) }
    : { date: day, at: endOfDay(day, zone) }
}

// Pages

/** Refuses, check statement-complete, pages that are not the first and last. */
export const wholePage = (self: Element): void => {
  const page = requiredText(self, "PgNb")
  if (!/^0*1$/u.test(page) || !flag(only(self, "LastPgInd"))) {
    throw refused("statement-complete", "The file is one page of several.", self)
  }
}

/** Refuses pages within an element that are not the first and last; without them it is whole. */
export const wholePageIn = (self: Element, name: string): void => {
  const pages = optional(self, name)
  if (pages !== null) wholePage(pages)
}
