/** Kinds of settings: parse a variable's text, or JSON of the configuration file, into a value. */
import { Duration, Shape } from "@bursar/engine-core/kernel"
import { Redacted, Result, type Schema } from "effect"

/** A fault within a setting; it never contains the given value. */
export interface Fault {
  /** RFC 6901 pointer within the setting; empty: the setting as a whole. */
  readonly pointer: string
  readonly detail: string
}

/** A kind of setting: the values it permits, and its parser. */
export interface Kind<A> {
  /** Permitted values, as people read them. */
  readonly limit: string
  /** Text as in a variable, or JSON: then a variable holds JSON text. */
  readonly form: "text" | "json"
  /** Parses a text, or a JSON value, by `form`. */
  readonly read: (rawValue: unknown) => Result.Result<A, ReadonlyArray<Fault>>
  /** Present where an empty variable is a value; for every other kind it counts as not set. */
  readonly takesEmpty?: true
  /** A secret's value is never printed, neither in listings nor in faults. */
  readonly secret: "secret" | "open"
}

/** Kind of a text setting; `read` returns `undefined` for a text that it does not accept. */
export const text = <A>(limit: string, read: (text: string) => A | undefined): Kind<A> => ({
  limit,
  form: "text",
  secret: "open",
  read: (rawValue) => {
    const value = typeof rawValue === "string" ? read(rawValue) : undefined
    return value === undefined ? wrong(`it is not ${limit}`) : Result.succeed(value)
  }
})

const wrong = (detail: string): Result.Result<never, ReadonlyArray<Fault>> =>
  Result.fail([{ pointer: "", detail }])

export const matching = (limit: string, pattern: RegExp): Kind<string> =>
  text(limit, (rawValue) => (pattern.test(rawValue) ? rawValue : undefined))

export const words = (max: number): Kind<string> =>
  text(`1 to ${max} characters`, (rawValue) =>
    rawValue.length >= 1 && rawValue.length <= max ? rawValue : undefined
  )

/** Kind of a whole number, both ends included. */
export const integer = (min: number, max: number): Kind<number> =>
  text(`${min} to ${max}`, (rawValue) => {
    const value = /^[0-9]{1,15}$/.test(rawValue) ? Number(rawValue) : Number.NaN
    return value >= min && value <= max ? value : undefined
  })

export const port = integer(0, 65_535)

export const flag: Kind<boolean> = text("true or false", (rawValue) =>
  rawValue === "true" ? true : rawValue === "false" ? false : undefined
)

export const oneOf = <const A extends string>(all: ReadonlyArray<A>): Kind<A> =>
  text(`one of ${all.join(", ")}`, (rawValue) => all.find((member) => member === rawValue))

const dayMillis = 86_400_000

/** Kind of a duration of exact length, in milliseconds; `maxDays` is the longest. */
export const duration = (maxDays = 366): Kind<number> =>
  text(`an ISO 8601 duration of at most ${maxDays} days, such as PT24H`, (rawValue) => {
    const parsed = Duration.parse(rawValue)
    if (Result.isFailure(parsed) || !Duration.isExact(parsed.success)) return undefined
    const millis = Duration.toMillis(parsed.success)
    return millis > 0 && millis <= maxDays * dayMillis ? millis : undefined
  })

/** Kind of a duration of exact length up to another, written as `longest`, in milliseconds. */
export const durationWithin = (maxMillis: number, longest: string): Kind<number> =>
  text(`an ISO 8601 duration of at most ${longest}, such as PT30S`, (rawValue) => {
    const millis = Result.getOrUndefined(duration().read(rawValue))
    return millis !== undefined && millis <= maxMillis ? millis : undefined
  })

/**
 * Kind of a period that may count years and months, such as P7Y; its length depends on its
 * beginning.
 */
export const period: Kind<Duration.Duration> = text(
  "an ISO 8601 duration, such as P7Y or P30D",
  (rawValue) => Result.getOrUndefined(Duration.parse(rawValue))
)

const isLoopback = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]"

/** Kind of an address that the deployment trusts: https, or http on this machine. */
export const trustedAddress: Kind<URL> = text(
  "an https address, or an http one of this machine",
  (rawValue) => {
    if (rawValue.length > 2048 || !URL.canParse(rawValue)) return undefined
    const url = new URL(rawValue)
    const safe = url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url))
    return safe ? url : undefined
  }
)

/** Makes a kind optional: an empty text, or null in the file, is null. */
export const maybe = <A>(kind: Kind<A>): Kind<A | null> => ({
  ...kind,
  limit: `${kind.limit}; empty: none`,
  takesEmpty: true,
  read: (rawValue) =>
    rawValue === "" || rawValue === null ? Result.succeed(null) : kind.read(rawValue)
})

/** Gives an empty text a value of its own. */
export const empty = <A>(value: A, kind: Kind<A>): Kind<A> => ({
  ...kind,
  limit: `${kind.limit}; empty: none`,
  takesEmpty: true,
  read: (rawValue) =>
    rawValue === "" || rawValue === null ? Result.succeed(value) : kind.read(rawValue)
})

/** Gives the values of a kind another form. */
export const mapped = <A, B>(kind: Kind<A>, to: (value: A) => B): Kind<B> => ({
  ...kind,
  read: (rawValue) => Result.map(kind.read(rawValue), to)
})

/** Makes a kind secret: its value is redacted in logs, answers and listings. */
export const secret = (kind: Kind<string>): Kind<Redacted.Redacted> => ({
  ...kind,
  secret: "secret",
  read: (rawValue) => Result.map(kind.read(rawValue), Redacted.make)
})

/**
 * Kind of a list: separated by commas in a variable, an array in the file; at most `max` entries.
 */
export const list = <A>(kind: Kind<A>, max: number): Kind<ReadonlyArray<A>> => ({
  ...kind,
  limit: `at most ${max}, separated by commas: ${kind.limit}`,
  read: (rawValue) => {
    if (rawValue === "") return Result.succeed([])
    if (typeof rawValue !== "string") return wrong("it is not a list")
    const parts = rawValue.split(",").map((part) => part.trim())
    if (parts.length > max) return wrong(`it has more than ${max} values`)
    return Result.all(parts.map((part, at) => Result.mapError(kind.read(part), under(at))))
  }
})

const under =
  (at: number) =>
  (faults: ReadonlyArray<Fault>): ReadonlyArray<Fault> =>
    faults.map(({ pointer, detail }) => ({ pointer: `/${at}${pointer}`, detail }))

/**
 * Kind of a JSON value, such as a list of keys: decoded by its schema, which refuses unknown
 * members; every fault has a pointer into the value. Where it holds secrets, the whole setting is
 * secret.
 */
export const structured = <A>({
  schema,
  limit,
  secret
}: {
  readonly limit: string
  readonly schema: Schema.Codec<A, unknown>
  readonly secret?: "secret"
}): Kind<A> => {
  const { decode } = Shape.decoder(schema)
  return {
    limit,
    form: "json",
    secret: secret ?? "open",
    read: (rawValue) =>
      Result.mapError(
        decode(rawValue, () => ""),
        ({ details }) => details.errors ?? [{ pointer: "", detail: `it is not ${limit}` }]
      )
  }
}
