/**
 * JSON codec that loses no digit of a number: a whole number is a JavaScript number, a decimal its text.
 * Texts of numbers come from the source access of `JSON.parse` and go out by `JSON.rawJSON`; where the
 * platform lacks either, they are marked within the text itself.
 */
import type { CallTable } from "./CallTable.ts"
import { InputFault } from "./Errors.ts"

/** Place of a value: the name of its member, and that of the member above it. */
interface Place {
  readonly name: string
  readonly above: string
}

export interface JsonCodec {
  /**
   * Parses an answer; `root` is the name that the table has for it, or for its member `value`. Throws on
   * what is no JSON.
   */
  readonly parse: (text: string, root: string) => unknown
  /** Prints a request's body. Throws `InputFault` on a value that JSON cannot hold exactly. */
  readonly print: (body: unknown) => string
}

/** Abilities of the platform's JSON, which not every browser has. */
interface Platform {
  readonly hasSource: boolean
  readonly raw: ((text: string) => unknown) | undefined
}

/** Reviver with source access (https://tc39.es/proposal-json-parse-with-source/). */
type Reviver = (name: string, value: unknown, context?: { readonly source?: string }) => unknown

const parseBy = JSON.parse as (text: string, reviver: Reviver) => unknown
const { rawJSON } = JSON as { readonly rawJSON?: (text: string) => unknown }

const platform: Platform = {
  hasSource: parseBy("1", (_, value, context) => context?.source ?? value) === "1",
  raw: rawJSON
}

/** First character of a number's text while it is parsed or printed: no text of the venue has a NUL. */
const mark = "\0"

/**
 * A text of JSON, or a number outside of every text. A text without its end goes on to the last character,
 * so that the work is linear also for an answer that is cut.
 */
const tokens = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|-?\d[\d.eE+-]*/g
const printedMarks = /"\\u0000([^"]*)"/g

const decimalForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
const wholeForm = /^-?\d{1,16}$/

export const make = (table: CallTable, { hasSource, raw }: Platform = platform): JsonCodec => {
  const wholeNumbers = new Set(table.wholeNumbers)
  const decimals = new Set(table.decimals)
  const isAmong = (names: ReadonlySet<string>, { above, name }: Place) =>
    names.has(name) || names.has(`${above}.${name}`) || names.has(`${above}.*`)

  const numberOf = (text: string, place: Place) =>
    wholeForm.test(text) && Number.isSafeInteger(Number(text)) && isAmong(wholeNumbers, place)
      ? Number(text)
      : text

  /** Puts the numbers of a parsed value in their places. */
  const resolved = (value: unknown, place: Place): unknown => {
    if (typeof value === "string") {
      return value.startsWith(mark) ? numberOf(value.slice(1), place) : value
    }
    if (Array.isArray(value)) return value.map((item) => resolved(item, place))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        resolved(member, { name, above: place.name })
      ])
    )
  }

  const answerOf = (value: unknown, root: string): unknown =>
    typeof value !== "object" || value === null || Array.isArray(value)
      ? resolved(value, { name: root, above: "" })
      : Object.fromEntries(
          Object.entries(value).map(([name, member]) => [
            name,
            resolved(member, name === "value" ? { name: root, above: "" } : { name, above: root })
          ])
        )

  const printable = (value: unknown, place: Place, pointer: string): unknown => {
    if (typeof value === "bigint") return rawOf(String(value))
    if (typeof value === "number") {
      if (Number.isSafeInteger(value)) return value
      throw new InputFault(
        pointer,
        "a decimal is given as text: a number keeps 15 to 17 digits alone"
      )
    }
    if (typeof value === "string") {
      if (value.includes(mark)) throw new InputFault(pointer, "a text holds no NUL")
      return isAmong(decimals, place) && decimalForm.test(value) ? rawOf(value) : value
    }
    if (Array.isArray(value)) {
      return value.map((item, nth) => printable(item, place, `${pointer}/${nth}`))
    }
    if (typeof value === "function" || typeof value === "symbol") {
      throw new InputFault(pointer, `there is no JSON of a ${typeof value}`)
    }
    if (typeof value !== "object" || value === null) return value
    // A Date prints as the text of its instant.
    if ("toJSON" in value && typeof value.toJSON === "function") {
      return printable(value.toJSON(), place, pointer)
    }
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        printable(member, { name, above: place.name }, `${pointer}/${name}`)
      ])
    )
  }

  const rawOf = (text: string) => (raw === undefined ? mark + text : raw(text))

  return {
    parse: (text, root) =>
      answerOf(
        hasSource
          ? parseBy(text, (_, value, context) =>
              typeof value === "number" ? mark + (context?.source ?? value) : value
            )
          : JSON.parse(
              text.replace(tokens, (token) =>
                token.startsWith('"') ? token : JSON.stringify(mark + token)
              )
            ),
        root
      ),
    print: (body) => {
      const text = JSON.stringify(printable(body, { name: "request", above: "" }, ""))
      return raw === undefined ? text.replace(printedMarks, "$1") : text
    }
  }
}
