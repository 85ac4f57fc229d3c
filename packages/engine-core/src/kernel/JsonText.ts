/** Parser of JSON that people write, such as settings and files: a fault says its line and column. */
import { Result } from "effect"
import * as PlainJson from "./PlainJson.ts"

/** Fault of a text; neither member holds a value of the text. */
export interface Fault {
  /** A clause such as `it is not JSON at line 3, column 7: a comma is missing`. */
  readonly message: string
  /** RFC 6901 pointer to the value at fault; it holds names of members. */
  readonly pointer: string
}

/**
 * Parses a text into plain values, under the limits of {@link PlainJson.parse}, which also refuses a
 * repeated member. Lines and columns are counted from 1, columns in characters of UTF-16.
 */
export const parse = (input: string | Uint8Array): Result.Result<unknown, Fault> => {
  const text = typeof input === "string" ? input : new TextDecoder().decode(input)
  return Result.match(PlainJson.parse(input), {
    onSuccess: () => Result.succeed(JSON.parse(text) as unknown),
    onFailure: ({ at, detail, pointer }) => {
      const before = text.slice(0, at).split("\n")
      const column = (before.at(-1) ?? "").length + 1
      // The offset of the detail is said as line and column.
      const reason = detail.replace(/ \(at character [0-9]+\)$/, "")
      const place = `line ${before.length}, column ${column}`
      return Result.fail({ message: `it is not JSON at ${place}: ${reason}`, pointer })
    }
  })
}
