/** What the pages of the venue show, computed: the chain of the audit log, an operation's line, a webhook's test. */
import * as Decimals from "../words/Decimals.ts"

type Row = Readonly<Record<string, unknown>>

/** Canonical JSON (RFC 8785) of texts, whole numbers, flags and objects of them. */
export const canonical = (value: unknown): string =>
  typeof value === "bigint"
    ? value.toString()
    : Array.isArray(value)
      ? `[${value.map(canonical).join(",")}]`
      : typeof value === "object" && value !== null
        ? `{${Object.entries(value)
            .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
            .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
            .join(",")}}`
        : JSON.stringify(value)

/** Digits-only texts of a record's detail of which each may be a number or a text. */
const ambiguousMax = 6

const isWhole = (value: unknown): value is string =>
  typeof value === "string" && /^-?(?:0|[1-9]\d*)$/u.test(value)

/** Details with each choice of which of their digits-only texts are numbers: the client gives both as text. */
const detailsOf = (detail: unknown): ReadonlyArray<unknown> => {
  if (typeof detail !== "object" || detail === null) return [detail]
  const names = Object.entries(detail).flatMap(([name, value]) => (isWhole(value) ? [name] : []))
  return names
    .slice(0, ambiguousMax)
    .reduce<ReadonlyArray<Row>>(
      (choices, name) =>
        choices.flatMap((choice) => [{ ...choice, [name]: BigInt(String(choice[name])) }, choice]),
      [detail as Row]
    )
}

const numberOf = (value: unknown): unknown => {
  const text = Decimals.figureOf(value)
  return text === null ? value : BigInt(text)
}

/** Texts of which one has the hash of a record of the audit log as its SHA-256, where nobody changed it. */
export const hashedTexts = (
  tenantId: string,
  { detail, hash: _, seq, status, ...record }: Row
): ReadonlyArray<string> =>
  detailsOf(detail).map((each) => {
    const whole = { ...record, seq: numberOf(seq), status: numberOf(status), detail: each }
    return `bursar-audit-v1\n${tenantId}\n${canonical(whole)}`
  })

/** Lower-case hexadecimal SHA-256 of a text. */
export const digestOf = async (text: string): Promise<string> => {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("")
}

export interface Chain {
  readonly first: string
  readonly last: string
  /** Number of the first record that does not follow its predecessor, or is not what its hash says. */
  readonly brokenAt: string | null
}

/** Judges the records of a page as a stretch of the chain: each by its own hash and by that before it. */
export const chainOf = async (
  rows: ReadonlyArray<Row>,
  tenantId: string
): Promise<Chain | null> => {
  const seqOf = (row: Row): string => Decimals.figureOf(row["seq"]) ?? "0"
  const ordered = rows.toSorted((a, b) => Decimals.compare(seqOf(a), seqOf(b)))
  const [first, last] = [ordered[0], ordered.at(-1)]
  if (first === undefined || last === undefined) return null
  const ends = { first: seqOf(first), last: seqOf(last) }
  for (const [at, row] of ordered.entries()) {
    const before = ordered[at - 1]
    const follows =
      before === undefined ||
      (row["prevHash"] === before["hash"] &&
        Decimals.same(seqOf(row), Decimals.sum([seqOf(before), "1"])))
    const digests = await Promise.all(hashedTexts(tenantId, row).map(digestOf))
    if (!follows || !digests.some((digest) => digest === row["hash"])) {
      return { ...ends, brokenAt: seqOf(row) }
    }
  }
  return { ...ends, brokenAt: null }
}

/** A step of an operation: reached at an instant, reached without one, or ahead. */
export interface Step {
  readonly name: string
  readonly at: string | null
  readonly isReached: boolean
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null)

/** Line of an operation: queued, running, committed on the ledger where it is, ended. */
export const operationSteps = (operation: Row): ReadonlyArray<Step> => {
  const { createdAt, finishedAt, startedAt, state, updateId } = operation
  const isOver = state === "succeeded" || state === "failed"
  return [
    { name: "queued", at: textOf(createdAt), isReached: true },
    {
      name: "running",
      at: textOf(startedAt),
      isReached: textOf(startedAt) !== null || state === "running" || isOver
    },
    ...(textOf(updateId) === null ? [] : [{ name: "committed", at: null, isReached: true }]),
    { name: isOver ? String(state) : "ended", at: textOf(finishedAt), isReached: isOver }
  ]
}

type Entry = string | boolean | ReadonlyArray<unknown> | { readonly [name: string]: unknown }

const entryOf = (value: unknown): Entry | undefined =>
  value === null || value === undefined
    ? undefined
    : typeof value === "bigint" || typeof value === "number"
      ? value.toString()
      : Array.isArray(value)
        ? value.map(entryOf).filter((item) => item !== undefined)
        : typeof value === "object"
          ? entriesOf(value as Row)
          : (value as Entry)

/** Entries of a form from a request as it was sent: numbers as their text, without what was null. */
export const entriesOf = (request: Row): { readonly [name: string]: Entry } =>
  Object.fromEntries(
    Object.entries(request).flatMap(([name, value]) => {
      const entry = entryOf(value)
      return entry === undefined ? [] : [[name, entry] as const]
    })
  )

const failures: Readonly<Record<string, string>> = {
  dns: "its name was not found",
  "address-refused": "its address is one that the venue does not call",
  connect: "it was not reached",
  tls: "its certificate was not accepted",
  timeout: "it did not answer in time",
  status: "it answered with another status than 2xx"
}

/** Failures that the table has; the test compares them with the interface. */
export const listedFailures: ReadonlyArray<string> = Object.keys(failures)

/** What came of the test of a webhook, as a sentence. */
export const testSentence = ({ delivered, durationMs, failure, status }: Row): string => {
  const took = Decimals.figureOf(durationMs)
  const within = took === null ? "" : ` after ${took} ms`
  if (delivered === true) return `The receiver took it${within}, with status ${String(status)}.`
  const name = String(failure)
  const why = Object.hasOwn(failures, name) ? failures[name] : `“${name}”`
  return `The receiver did not take it${within}: ${why}${status === null ? "" : `, ${String(status)}`}.`
}
