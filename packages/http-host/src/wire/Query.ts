/** Parser of the query of a request target, within limits. */
import { Refusal } from "@bursar/engine-core"
import { Result } from "effect"

/** Parameters by name; a repeated one is the list of its texts. */
export type Query = Readonly<Record<string, string | ReadonlyArray<string>>>

const parametersMax = 100
const repeatsMax = 50

/** Parses a raw query. `__proto__` is an ordinary name, and unknown to every route. */
export const parse = (raw: string): Result.Result<Query, Refusal.Refused<"invalid-request">> => {
  if (raw === "") return Result.succeed(none)
  const pairs = raw.split("&")
  if (pairs.length > parametersMax) {
    return refuse("/query", `A query has at most ${parametersMax} parameters.`)
  }
  const query: Record<string, string | Array<string>> = Object.create(null)
  for (const pair of pairs) {
    if (pair === "") continue
    const equals = pair.indexOf("=")
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = decode(equals < 0 ? "" : pair.slice(equals + 1))
    if (name === undefined) return refuse("/query", "A parameter's name is not valid UTF-8.")
    if (value === undefined) {
      return refuse(pointer(name), "A value is not percent-encoded UTF-8, or holds NUL.")
    }
    const before = query[name]
    if (before === undefined) query[name] = value
    else if (typeof before === "string") query[name] = [before, value]
    else if (before.length < repeatsMax) before.push(value)
    else return refuse(pointer(name), `A parameter is repeated at most ${repeatsMax} times.`)
  }
  return Result.succeed(query)
}

const none: Query = Object.freeze(Object.create(null))

/** Refuses NUL, which neither a path nor a store accepts in a text. */
const decode = (text: string): string | undefined => {
  if (!/[%+\0]/.test(text)) return text
  try {
    const decoded = decodeURIComponent(text.replaceAll("+", " "))
    return decoded.includes("\0") ? undefined : decoded
  } catch {
    return undefined
  }
}

export const pointer = (name: string): string =>
  `/query/${name.slice(0, 128).replaceAll("~", "~0").replaceAll("/", "~1")}`

const refuse = (pointer: string, detail: string) =>
  Refusal.refuse("invalid-request", { detail, errors: [{ pointer, detail }] })
