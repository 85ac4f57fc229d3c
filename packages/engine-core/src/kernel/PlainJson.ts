/**
 * The JSON codec for callers, ledgers and stores: parses and prints without losing a digit of a
 * number.
 */
import { Result } from "effect"
import { withoutTrailingZeros } from "./Digits.ts"
import { FAULT, type JsonFault, JsonReader, type JsonLimits, type Plain } from "./JsonReader.ts"
import { lengthMax, PlainNumber } from "./PlainNumber.ts"

export type { JsonFault, JsonLimits, Plain } from "./JsonReader.ts"
export { isPlainNumber, PlainNumber } from "./PlainNumber.ts"

/** JSON to be printed: besides read numbers, the integers of the program itself. */
export type Printable =
  | null
  | boolean
  | string
  | number
  | bigint
  | PlainNumber
  | ReadonlyArray<Printable>
  | { readonly [member: string]: Printable | undefined }

/** Limits of any JSON from outside. */
export const limits: JsonLimits = {
  depth: 32,
  tokens: 200_000,
  number: lengthMax,
  members: 1_000,
  items: 10_000,
  string: 65_536
}

/** Limits for text that the service has stored itself: only the depth, which keeps the stack safe. */
const trusted: JsonLimits = {
  depth: 64,
  tokens: Number.MAX_SAFE_INTEGER,
  number: lengthMax,
  members: Number.MAX_SAFE_INTEGER,
  items: Number.MAX_SAFE_INTEGER,
  string: Number.MAX_SAFE_INTEGER
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/**
 * Reads JSON within limits. Refused: a byte order mark, bytes that are not UTF-8, a repeated member
 * (also when escaped differently), the members `__proto__`, `constructor` and `prototype`, lone
 * surrogates, NUL.
 *
 * The text is read by one pass of our own rather than by `JSON.parse` with a reviver and
 * `context.source`: the reviver is called back for every value and alone took 2.7 times as long on a
 * list of 50 records, and it would still need a pass before it for limits and repeated members.
 *
 * @example
 * ```ts
 * import { PlainJson } from "@bursar/engine-core/kernel"
 * import { Result } from "effect"
 *
 * const json = Result.getOrThrow(PlainJson.parse('{"amount":1.10}'))
 * PlainJson.stringify(json) // => '{"amount":1.10}'
 * ```
 */
export const parse = (
  input: string | Uint8Array,
  within: JsonLimits = limits
): Result.Result<Plain, JsonFault> => {
  const text = typeof input === "string" ? input : decode(input)
  if (text === undefined) return refuseWhole("the text is not valid UTF-8")
  if (text.charCodeAt(0) === 0xfeff) return refuseWhole("the text starts with a byte order mark")
  if (typeof input === "string" && !text.isWellFormed()) {
    return refuseWhole("the text holds a lone surrogate")
  }
  const reader = new JsonReader(text, within)
  const value = reader.document()
  return value === FAULT ? Result.fail(reader.fault()) : Result.succeed(value)
}

/** Reads text the service itself printed. A fault in it is a corrupt store, so it throws. */
export const parseTrusted = (text: string): Plain => {
  const result = parse(text, trusted)
  if (Result.isSuccess(result)) return result.success
  throw new Error(
    `PlainJson: stored text is corrupt at "${result.failure.pointer}": ${result.failure.detail}`
  )
}

const decode = (bytes: Uint8Array): string | undefined => {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return undefined
  }
}

const refuseWhole = (detail: string): Result.Result<never, JsonFault> =>
  Result.fail({ pointer: "", detail, at: 0 })

/**
 * Prints compact JSON without loss. What JSON cannot carry exactly is a bug, so it throws.
 *
 * @example
 * ```ts
 * import { PlainJson } from "@bursar/engine-core/kernel"
 *
 * PlainJson.stringify({ amount: "1.10" }) // => '{"amount":"1.10"}'
 * ```
 */
export const stringify = (value: Printable): string => print(value)

const print = (value: Printable): string => {
  switch (typeof value) {
    case "string":
      return printString(value)
    case "boolean":
      return value ? "true" : "false"
    case "number":
      return printInteger(value)
    case "bigint":
      return value.toString()
    case "object":
      break
    default:
      throw new TypeError(`PlainJson: a ${typeof value} cannot be printed`)
  }
  if (value === null) return "null"
  if (value instanceof PlainNumber) return printNumber(value)
  if (isArray(value)) {
    let out = "["
    for (let i = 0; i < value.length; i++) {
      if (i > 0) out += ","
      out += print(value[i] as Printable)
    }
    return `${out}]`
  }
  let out = ""
  for (const name of Object.keys(value)) {
    const member = value[name]
    if (member === undefined) continue
    out += `${out === "" ? "" : ","}${printString(name)}:${print(member)}`
  }
  return `{${out}}`
}

// Array.isArray does not narrow a readonly array.
const isArray = (value: object): value is ReadonlyArray<Printable> => Array.isArray(value)

const printInteger = (value: number): string => {
  if (!Number.isSafeInteger(value)) {
    throw new TypeError(`PlainJson: ${value} is no exact integer; give a PlainNumber or a bigint`)
  }
  return value === 0 ? "0" : value.toString()
}

/** An exponent is legal JSON on the way in and never printed, so its number is written out. */
const printNumber = ({ text }: PlainNumber): string => {
  if (!hasExponent(text)) return text
  const plain = leastPlain(text)
  if (hasExponent(plain)) throw new TypeError(`PlainJson: ${text} has no plain form`)
  return plain
}

const hasExponent = (text: string): boolean => text.includes("e") || text.includes("E")

const printString = (text: string): string => {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return printEscaped(text)
  }
  return `"${text}"`
}

const printEscaped = (text: string): string => {
  if (text.includes("\0") || !text.isWellFormed()) {
    throw new TypeError("PlainJson: a text with NUL or a lone surrogate cannot be printed")
  }
  return JSON.stringify(text)
}

/**
 * The canonical form of JSON (docs/contract/json.md#canonical-form): members sorted by code unit,
 * no spaces, the escapes of RFC 8785, numbers in least plain form. Two texts that mean the same
 * give the same bytes.
 */
export const canonical = (value: Plain): string => {
  if (value === null) return "null"
  if (typeof value === "string") return printString(value)
  if (typeof value === "boolean") return value ? "true" : "false"
  if (value instanceof PlainNumber) return leastPlain(value.text)
  if (isPlainArray(value)) return `[${value.map(canonical).join(",")}]`
  let out = ""
  for (const name of Object.keys(value).sort()) {
    out += `${out === "" ? "" : ","}${printString(name)}:${canonical(value[name] as Plain)}`
  }
  return `{${out}}`
}

const isPlainArray = (value: object): value is ReadonlyArray<Plain> => Array.isArray(value)

/** An exponent that would write out more digits than this keeps its exponent. */
const WRITTEN_OUT_MAX = 400

/**
 * Prints a number in its shortest form: `1`, `1.0` and `1.00` are `1`, and `-0` is `0`. A number
 * with an exponent is written out, unless that takes more than 400 digits: then it is its digits,
 * `e`, and the exponent, which is as unique and cannot be made huge by a caller.
 */
export const leastPlain = (text: string): string => {
  const parts = NUMBER.exec(text)
  if (parts === null) throw new RangeError("PlainJson: no JSON number")
  const [, sign = "", whole = "", fraction = "", exponent] = parts
  return exponent === undefined
    ? signed(sign, joined(whole, withoutTrailingZeros(fraction)))
    : signed(sign, scaled(whole + fraction, BigInt(exponent) - BigInt(fraction.length)))
}

const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]\+?(-?[0-9]+))?$/
const LEADING_ZEROS = /^0+/

const signed = (sign: string, digits: string): string => (digits === "0" ? "0" : sign + digits)

const joined = (whole: string, fraction: string): string =>
  fraction === "" ? whole : `${whole}.${fraction}`

/** `digits` × 10^`exponent` in least plain form. */
const scaled = (digits: string, exponent: bigint): string => {
  const significant = withoutTrailingZeros(digits.replace(LEADING_ZEROS, ""))
  if (significant === "") return "0"
  const trailing = digits.length - withoutTrailingZeros(digits).length
  const power = exponent + BigInt(trailing)
  if (power > WRITTEN_OUT_MAX || power < -WRITTEN_OUT_MAX) return `${significant}e${power}`
  const shift = Number(power)
  if (shift >= 0) return significant + "0".repeat(shift)
  const padded = significant.padStart(1 - shift, "0")
  return joined(padded.slice(0, shift), padded.slice(shift))
}
