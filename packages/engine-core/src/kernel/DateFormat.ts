/** Codec of dates written in another form than `yyyy-MM-dd`, such as `dd.MM.yyyy`, in outside files. */
import { Result } from "effect"
import * as Codec from "./Codec.ts"
import * as Date from "./Date.ts"

/** Reads a date of one form. */
export interface DateFormat {
  /** Pattern of the form, such as `dd.MM.yyyy`. */
  readonly pattern: string
  readonly read: (text: string) => Result.Result<Date.Date, Date.DateFault>
}

/** Digits that each field of a pattern takes. A year of two digits would leave its century to a guess. */
const fields = {
  yyyy: "(?<year>[0-9]{4})",
  MM: "(?<month>[0-9]{2})",
  M: "(?<month>[0-9]{1,2})",
  dd: "(?<day>[0-9]{2})",
  d: "(?<day>[0-9]{1,2})"
} as const

const FIELD = /yyyy|MM?|dd?/gu
const WHOLE = /^(?:yyyy|MM?|dd?)(?:[ ./-]?(?:yyyy|MM?|dd?)){2}$/u

const expected =
  "a form of dates has yyyy, MM or M, and dd or d, each once, with nothing, a space or one of . / - between them"

/**
 * Compiles a pattern of `yyyy`, `MM` or `M`, and `dd` or `d`, each once, with nothing or one of
 * space `.` `/` `-` between them. Refuses a field of one or two digits beside another field with
 * nothing between, since its digits could then be read in two ways.
 */
export const parse = (pattern: string): Result.Result<DateFormat, Codec.Fault> => {
  const named = pattern.match(FIELD) ?? []
  const distinct = new Set(named.map((field) => field.charAt(0)))
  if (!WHOLE.test(pattern) || distinct.size !== 3) return Codec.fault(expected)
  if (isAmbiguous(pattern)) {
    return Codec.fault("M and d have a separator beside them: the number of their digits varies")
  }
  const grammar = new RegExp(
    `^${pattern
      .replaceAll(".", "\\.")
      .replaceAll(FIELD, (field) => fields[field as keyof typeof fields])}$`,
    "u"
  )
  return Result.succeed({ pattern, read: (text) => read(grammar, { text, pattern }) })
}

/** Checks whether a field of a varying number of digits lies directly beside another field. */
const isAmbiguous = (pattern: string): boolean =>
  pattern
    .split(/[ ./-]/u)
    .map((part) => part.match(FIELD) ?? [])
    .some((part) => part.length > 1 && part.some((field) => field.length === 1))

const read = (
  grammar: RegExp,
  { text, pattern }: { readonly text: string; readonly pattern: string }
): Result.Result<Date.Date, Date.DateFault> => {
  const groups = grammar.exec(text)?.groups
  if (groups === undefined) return Codec.fault(`a date is written ${pattern}`)
  const { year = "", month = "", day = "" } = groups
  return Date.parse(`${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`)
}
