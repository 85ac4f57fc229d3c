/** Structured log: one JSON object a line with fixed members, safe against forged lines. */
import { Cause, type Fiber, Formatter, Logger, Option, References, Tracer, Context } from "effect"
import * as Exchange from "./Exchange.ts"

/** Levels that a deployment may choose, the least severe first. */
export const levels = ["debug", "info", "warn", "error"] as const

/** Level of a line of the log. */
export type Level = (typeof levels)[number]

const minimum = { debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

/** Longest member of a log line in characters; a longer one is cut. */
const memberMax = 8_192

const cut = (text: string): string =>
  text.length > memberMax ? `${text.slice(0, memberMax)}… (${text.length} characters)` : text

/** Characters that JSON does not escape and that terminals or tools interpret. */
const hidden = /[\u007f-\u009f\u2028\u2029\ufeff]/g

const escaped = (json: string): string =>
  json.replaceAll(
    hidden,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

/** Prints a member; redacted values print as such. */
const member = (value: unknown): string | number | boolean | null => {
  if (value === null || typeof value === "number" || typeof value === "boolean") return value
  if (typeof value === "string") return cut(value)
  if (Cause.isCause(value)) return cut(Cause.pretty(value))
  return cut(value instanceof Error ? value.message : Formatter.format(value))
}

const spanOf = (fiber: Fiber.Fiber<unknown, unknown>): Tracer.AnySpan | undefined =>
  Option.getOrUndefined(Context.getOption(fiber.context, Tracer.ParentSpan))

/** Request and trace ids of a log line, where they exist. */
const placeOf = (fiber: Fiber.Fiber<unknown, unknown>) => {
  const exchange = fiber.getRef(Exchange.Current)
  const span = spanOf(fiber) ?? exchange
  return {
    requestId: exchange?.requestId,
    traceId: span?.traceId,
    spanId: span?.spanId,
    route: exchange?.route ?? undefined,
    status: exchange?.response?.status,
    sub: exchange?.sub ?? undefined
  }
}

/**
 * Formats a line: `time, level, msg`; where they exist `requestId, traceId, spanId, route, status,
 * sub`; then annotations, and the cause of a failure. Callers never log bodies; secrets are
 * redacted values.
 */
export const line = Logger.make<unknown, string>((options) => {
  const { cause, date, fiber, logLevel, message } = options
  const [first, ...others] = Array.isArray(message) ? message : [message]
  const annotated = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
  const members = {
    time: date.toISOString(),
    level: logLevel.toLowerCase(),
    msg: member(first),
    ...placeOf(fiber)
  }
  return escaped(
    JSON.stringify({
      ...Object.fromEntries(annotated.map(([name, value]) => [name, member(value)])),
      ...members,
      ...(others.length === 0 ? {} : { detail: others.map(member).join(" ") }),
      ...(cause.reasons.length === 0 ? {} : { cause: member(cause) })
    })
  )
})

/** Writes to standard error: standard output is for answers of commands. */
export const layer = Logger.layer([
  Logger.map(line, (text) => void process.stderr.write(`${text}\n`))
])

/** Minimum level of the logger. */
export const minimumOf = (level: Level) => minimum[level]
