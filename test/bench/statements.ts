/**
 * Readers of statements: a camt.053 of 200,000 entries and a table of 1,000,000 holdings, read into
 * lines, against the bare parser over the same bytes, which does nothing with what it finds.
 */
import { Date } from "@bursar/engine-core/kernel"
import type { StatementSource } from "@bursar/engine-core/ports"
import { Effect, Stream } from "effect"
import { reader } from "#adapters/statements/Statements.ts"
import * as generate from "../statements/generate.ts"
import { type Bench, inTurns, timed } from "./measure.ts"
import { withHeap } from "./memory.ts"
import * as Meters from "./meter.ts"
import * as Files from "./statement-files.ts"

const common = {
  charset: null,
  isin: null,
  zone: "Europe/Zurich",
  validFor: null,
  basis: null,
  corrects: false
} as const

/** Number of lines that our reader finds. */
const read = (reading: StatementSource.Reading, pieces: Iterable<Uint8Array>) =>
  reader.read(reading, Stream.fromIterable(pieces, { chunkSize: 1 })).pipe(
    Stream.runFold(
      () => 0,
      (lines, part) => (part.part === "lines" ? lines + part.lines.length : lines)
    )
  )

/** A form of files as both sides read it. */
interface Form {
  /** Name of the row, before the number of lines. */
  readonly name: string
  readonly lines: "entries" | "lines"
  readonly against: string
  readonly size: number
  readonly pieces: (file: Files.File) => Iterable<Uint8Array>
  readonly readingOf: (lines: number) => StatementSource.Reading
  readonly bare: (pieces: Iterable<Uint8Array>) => Promise<unknown>
}

const benchOf =
  (form: Form): Bench =>
  ({ rounds, size = form.size }) =>
    Effect.gen(function* () {
      const heaps: Array<number> = []
      const found = new Set<number>()
      const file = { lines: size, number: 0 }
      const compared = yield* inTurns({
        rounds,
        ours: {
          meter: Meters.ofThisProcess,
          run: () =>
            timed(
              size,
              Effect.map(
                withHeap(read(form.readingOf(size), form.pieces(file))),
                ({ value, heap }) => {
                  found.add(value)
                  heaps.push(heap.most - heap.before)
                }
              )
            )
        },
        bound: {
          meter: Meters.ofThisProcess,
          run: () =>
            timed(
              size,
              Effect.promise(() => form.bare(form.pieces(file)))
            )
        }
      })
      if (found.size > 1 || !found.has(size)) {
        return yield* Effect.die(new Error(`${[...found].join()} lines were read`))
      }
      return [
        {
          bench: `${form.name} of ${size.toLocaleString("en-US")} ${form.lines}`,
          unit: `${form.lines}/s`,
          against: form.against,
          goal: 0.5,
          note: `heap ${Math.round(Math.max(...heaps))} MiB over idle`,
          ...compared
        }
      ]
    }).pipe(Effect.runPromise)

export const bench: Bench = benchOf({
  name: "camt.053",
  lines: "entries",
  against: "saxes with no work",
  size: 200_000,
  pieces: Files.camt,
  readingOf: (linesMax) => ({
    ...common,
    adapter: "camt.053",
    kind: "cash",
    account: { number: Files.accountNumber, currency: "EUR" },
    currency: "EUR",
    csv: null,
    businessDate: null,
    linesMax
  }),
  bare: (pieces) => Files.bareCamt(pieces)
})

export const tables = {
  bench: benchOf({
    name: "CSV",
    lines: "lines",
    against: "csv-parse with no work",
    size: 1_000_000,
    pieces: Files.csv,
    readingOf: (linesMax) => ({
      ...common,
      adapter: "csv",
      kind: "holdings",
      account: null,
      currency: "USD",
      csv: generate.csvForm("holdings"),
      businessDate: Date.of("2026-01-01"),
      linesMax
    }),
    bare: (pieces) => Files.bareCsv(pieces)
  })
}
