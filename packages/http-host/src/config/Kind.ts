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
  readonly read: (given: unknown) => Result.Result<A, ReadonlyArray<Fault>>
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
  read: (given) => {
    const value = typeof given === "string" ? read(given) : undefined
    return value === undefined ? wrong(`it is not ${limit}`) : Result.succeed(value)
  }
})

const wrong = (detail: string): Result.Result<never, ReadonlyArray<Fault>> =>
  Result.fail([{ pointer: "", detail }])

export const matching = (limit: string, pattern: RegExp): Kind<string> =>
  text(limit, (given) => (pattern.test(given) ? given : undefined))

export const words = (max: number): Kind<string> =>
  text(`1 to ${max} characters`, (given) =>
    given.length >= 1 && given.length <= max ? given : undefined
  )

/** Kind of a whole number, both ends included. */
export const integer = (min: number, max: number): Kind<number> =>
  text(`${min} to ${max}`, (given) => {
    const value = /^[0-9]{1,15}$/.test(given) ? Number(given) : Number.NaN
    return value >= min && value <= max ? value : undefined
  })

export const port = integer(0, 65_535)

export const flag: Kind<boolean> = text("true or false", (given) =>
  given === "true" ? true : given === "false" ? false : undefined
)

export const oneOf = <const A extends string>(all: ReadonlyArray<A>): Kind<A> =>
  text(`one of ${all.join(", ")}`, (given) => all.find((member) => member === given))

const dayMillis = 86_400_000

/** Kind of a duration of exact length, in milliseconds; `maxDays` is the longest. */
export const duration = (maxDays = 366): Kind<number> =>
  text(`an ISO 8601 duration of at most ${maxDays} days, such as PT24H`, (given) => {
    const parsed = Duration.parse(given)
    if (Result.isFailure(parsed) || !Duration.isExact(parsed.success)) return undefined
    const millis = Duration.toMillis(parsed.success)
    return millis > 0 && millis <= maxDays * dayMillis ? millis : undefined
  })

/** Kind of a duration of exact length up to another, written as `longest`, in milliseconds. */
export const durationWithin = (maxMillis: number, longest: string): Kind<number> =>
  text(`an ISO 8601 duration of at most ${longest}, such as PT30S`, (given) => {
    const millis = Result.getOrUndefined(duration().read(given))
    return millis !== undefined && millis <= maxMillis ? millis : undefined
  })

/**
 * Kind of a period that may count years and months, such as P7Y; its length depends on its
 * beginning.
 */
export const period: Kind<Duration.Duration> = text(
  "an ISO 8601 duration, such as P7Y or P30D",
  (given) => Result.getOrUndefined(Duration.parse(given))
)

const isLoopback = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]"

/** Kind of an address that the deployment trusts: https, or http on this machine. */
export const trustedAddress: Kind<URL> = text(
  "an https address, or an http one of this machine",
  (given) => {
    if (given.length > 2048 || !URL.canParse(given)) return undefined
    const url = new URL(given)
    const safe = url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url))
    return safe ? url : undefined
  }
)

/** Makes a kind optional: an empty text, or null in the file, is null. */
export const maybe = <A>(kind: Kind<A>): Kind<A | null> => ({
  ...kind,
  limit: `${kind.limit}; empty: none`,
  takesEmpty: true,
  read: (given) => (given === "" || given === null ? Result.succeed(null) : kind.read(given))
})

/** Gives an empty text a value of its own. */
export const empty = <A>(value: A, kind: Kind<A>): Kind<A> => ({
  ...kind,
  limit: `${kind.limit}; empty: none`,
  takesEmpty: true,
  read: (given) => (given === "" || given === null ? Result.succeed(value) : kind.read(given))
})

/** Makes a kind secret: its value is redacted in logs, answers and listings. */
export const secret = (kind: Kind<string>): Kind<Redacted.Redacted> => ({
  ...kind,
  secret: "secret",
  read: (given) => Result.map(kind.read(given), Redacted.make)
})

/**
 * Kind of a list: separated by commas in a variable, an array in the file; at most `max` entries.
 */
export const list = <A>(kind: Kind<A>, max: number): Kind<ReadonlyArray<A>> => ({
  ...kind,
  limit: `at most ${max}, separated by commas: ${kind.limit}`,
  read: (given) => {
    if (given === "") return Result.succeed([])
    if (typeof given !== "string") return wrong("it is not a list")
    const parts = given.split(",").map((part) => part.trim())
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
    read: (given) =>
      Result.mapError(
        decode(given, () => ""),
        ({ details }) => details.errors ?? [{ pointer: "", detail: `it is not ${limit}` }]
      )
  }
}
