/** Structured log: one JSON object a line with fixed members, safe against forged lines. */
import { Cause, type Fiber, Formatter, Logger, Option, References, Tracer, Context } from "effect"
import * as Exchange from "./Exchange.ts"

/** The levels a deployment may choose, the least important first. */
export const levels = ["debug", "info", "warn", "error"] as const
export type Level = (typeof levels)[number]

const minimum = { debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

/** A member longer than this is cut: a line is for people and for tools with limits of their own. */
const memberMax = 8_192

const cut = (text: string): string =>
  text.length > memberMax ? `${text.slice(0, memberMax)}… (${text.length} characters)` : text

/**
 * Characters that JSON does not escape and that a terminal or tool takes for a command or line end.
 */
const hidden = /[\u007f-\u009f\u2028\u2029\ufeff]/g

const escaped = (json: string): string =>
  json.replaceAll(hidden, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** A member as it is printed; what is secret prints itself as such. */
const member = (value: unknown): string | number | boolean | null => {
  if (value === null || typeof value === "number" || typeof value === "boolean") return value
  if (typeof value === "string") return cut(value)
  if (Cause.isCause(value)) return cut(Cause.pretty(value))
  return cut(value instanceof Error ? value.message : Formatter.format(value))
}

const spanOf = (fiber: Fiber.Fiber<unknown, unknown>): Tracer.AnySpan | undefined =>
  Option.getOrUndefined(Context.getOption(fiber.context, Tracer.ParentSpan))

/** Request and trace of a log line, where there are any. */
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
 * One line: `time, level, msg`; where they are known `requestId, traceId, spanId, route, status,
 * sub`; then what the line was annotated with, and the cause of a failure. Bodies are never given
 * to it; what is secret is kept redacted.
 */
export const line = Logger.make<unknown, string>((options) => {
  const { cause, date, fiber, logLevel, message } = options
  const [first, ...others] = Array.isArray(message) ? message : [message]
  const annotated = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
  const told = {
    time: date.toISOString(),
    level: logLevel.toLowerCase(),
    msg: member(first),
    ...placeOf(fiber)
  }
  return escaped(
    JSON.stringify({
      ...Object.fromEntries(annotated.map(([name, value]) => [name, member(value)])),
      ...told,
      ...(others.length === 0 ? {} : { detail: others.map(member).join(" ") }),
      ...(cause.reasons.length === 0 ? {} : { cause: member(cause) })
    })
  )
})

/** Lines on standard error: standard output is for answers. */
export const layer = Logger.layer([
  Logger.map(line, (text) => void process.stderr.write(`${text}\n`))
])

/** The least level that is logged. */
export const minimumOf = (level: Level) => minimum[level]
