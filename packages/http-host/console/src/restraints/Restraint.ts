/** What the pages of restrictions and holds show, computed without a browser: words of modes, rows that are pasted. */
import type { FormValue } from "../kit/Schema.ts"
import type { ColumnRow } from "../record/Columns.ts"
import type { FactRow } from "../record/Fact.ts"
import { word } from "../words/Words.ts"

type Row = Readonly<Record<string, unknown>>

const modes: Readonly<Record<string, string>> = {
  freeze: "may neither receive nor give",
  "receive-only": "may receive, not give",
  "redeem-only": "may redeem, nothing else"
}

/** Modes that have a sentence; the test compares them with the interface. */
export const listedModes: ReadonlyArray<string> = Object.keys(modes)

/** What a restricted holder may still do; a mode that this build does not know by its own word. */
export const modeText = (mode: unknown): string => modes[String(mode)] ?? word(String(mode))

const passes: Readonly<Record<string, string>> = {
  freeze: "Once it is lifted, the holder may receive and give units again.",
  "receive-only": "Once it is lifted, the holder may give units again.",
  "redeem-only": "Once it is lifted, the holder may subscribe, receive and transfer units again."
}

/** What passes again once a restriction is lifted. */
export const passesAgain = (mode: unknown): string =>
  passes[String(mode)] ?? "Once it is lifted, what it stopped passes again."

export const restrictionColumns: ReadonlyArray<ColumnRow> = [
  { member: "holderId", title: "Holder" },
  { member: "reason", as: "words" },
  { member: "from", as: "near" },
  { member: "autoReleaseAt", title: "Ends by itself", as: "near" }
]

export const restrictionFacts: ReadonlyArray<FactRow> = [
  { member: "holderId", name: "Holder" },
  { member: "instrumentId", name: "Instrument" },
  { member: "reason" },
  { member: "by", name: "Restricted by" },
  { member: "from" },
  { member: "autoReleaseAt", name: "Ends by itself" },
  { member: "supersedes" },
  { member: "operationId", name: "Operation" },
  { member: "endedAt", name: "Ended" },
  { member: "liftedBy" }
]

export const holdColumns: ReadonlyArray<ColumnRow> = [
  { member: "state", as: "state" },
  { member: "instrumentId", title: "Instrument" },
  { member: "source", as: "words" },
  { member: "blocks" },
  { member: "reason" },
  { member: "openedAt", title: "Open since", as: "near" },
  { member: "until", title: "Ends by itself", as: "near" }
]

export const holdFacts: ReadonlyArray<FactRow> = [
  { member: "instrumentId", name: "Instrument" },
  { member: "source" },
  { member: "blocks" },
  { member: "openedAt", name: "Open since" },
  { member: "by", name: "Opened by" },
  { member: "until", name: "Ends by itself" },
  { member: "runId", name: "Run" },
  { member: "releasedAt", name: "Released" },
  { member: "releasedBy" }
]

export const findingColumns: ReadonlyArray<ColumnRow> = [
  { member: "check", as: "words" },
  { member: "severity", as: "state" },
  { member: "state", as: "state" },
  { member: "expected", as: "figure" },
  { member: "actual", as: "figure" },
  { member: "difference", as: "figure" },
  { member: "unexplained", as: "figure", unitOf: "unit" },
  { member: "ageDays", title: "Days", as: "figure" }
]

/** Findings that stand in the way of a release: blocking, and neither cleared nor accepted. */
export const inTheWay = (findings: ReadonlyArray<Row>): ReadonlyArray<string> =>
  findings
    .filter(({ severity, state }) => severity === "blocking" && state === "open")
    .map(({ findingId }) => String(findingId))

/** A row of many restrictions, as it was pasted. */
export interface PastedRow {
  readonly line: number
  readonly entry: Readonly<Record<string, FormValue>>
}

export interface PastedTable {
  readonly rows: ReadonlyArray<PastedRow>
  readonly faults: ReadonlyArray<{ readonly line: number; readonly detail: string }>
}

/** Columns of a pasted row, in their order; those after `reason` may be left out. */
export const pastedColumns = [
  "holderId",
  "instrumentId",
  "mode",
  "reason",
  "authority",
  "reference",
  "documentHash",
  "autoReleaseAt"
] as const

const idForm = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/u
const instantForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/u

/** Rows of text, by comma, semicolon or tab; a first row of the columns' names is no row of its own. */
export const pastedRows = (text: string): PastedTable => {
  const lines = text
    .split(/\r\n|\n|\r/u)
    .map((content, at) => ({
      line: at + 1,
      cells: content.split(/[,;\t]/u).map((cell) => cell.trim())
    }))
    .filter(({ cells }) => cells.some((cell) => cell !== ""))
    .filter(({ cells }) => cells[0] !== "holderId")
  const seen = new Map<string, number>()
  const rows: Array<PastedRow> = []
  const faults: Array<{ line: number; detail: string }> = []
  for (const { cells, line } of lines) {
    const [holderId = "", instrumentId = "", mode = "", reason = ""] = cells
    const [, , , , authority = "", reference = "", documentHash = "", autoReleaseAt = ""] = cells
    const found: Array<string> = []
    if (!idForm.test(holderId)) found.push("the holder's id has not the form of an id")
    if (instrumentId !== "" && !idForm.test(instrumentId))
      found.push("the instrument's id has not the form of an id")
    if (mode === "") found.push("the mode is missing")
    if (reason === "") found.push("the reason is missing")
    if (cells.length > pastedColumns.length)
      found.push(`it has more than ${pastedColumns.length} cells`)
    const order = [authority, reference, documentHash]
    if (order.some((cell) => cell !== "") && order.includes(""))
      found.push("an order has an authority, a reference and the hash of its document")
    if (documentHash !== "" && !/^[0-9a-f]{64}$/u.test(documentHash))
      found.push("the hash of the document is no SHA-256 in lower-case hex")
    if (autoReleaseAt !== "" && !instantForm.test(autoReleaseAt))
      found.push("the end is no instant in UTC")
    const key = `${holderId}/${instrumentId}`
    const before = seen.get(key)
    if (before !== undefined) found.push(`line ${before} restricts the same holder there`)
    seen.set(key, line)
    faults.push(...found.map((detail) => ({ line, detail })))
    rows.push({
      line,
      entry: {
        holderId,
        mode,
        reason,
        ...(instrumentId === "" ? {} : { instrumentId }),
        ...(authority === "" ? {} : { order: { authority, reference, documentHash } }),
        ...(autoReleaseAt === "" ? {} : { autoReleaseAt })
      }
    })
  }
  return { rows, faults }
}
