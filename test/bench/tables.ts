/**
 * Reader of CSV statements: holdings of 1,000,000 accounts, read into lines, against the bare parser
 * over the same bytes, which does nothing with its rows.
 */
import { Date } from "@bursar/engine-core/kernel"
import { parse } from "csv-parse"
import { Effect, Stream } from "effect"
import { reader } from "#adapters/statements/Statements.ts"
import * as generate from "../statements/generate.ts"
import { type Bench, inTurns, timed } from "./measure.ts"
import { withHeap } from "./memory.ts"
import * as Meters from "./meter.ts"

const perPiece = 1_000
const encoder = new TextEncoder()

/** Pieces of a file of so many accounts, each of its own units. */
function* pieces(lines: number): Generator<Uint8Array> {
  yield encoder.encode("account;quantity;locked\r\n")
  for (let sent = 0; sent < lines; sent += perPiece) {
    const rows = Array.from({ length: perPiece }, (_, n) => {
      const account = sent + n
      return `acct-${account};${(account * 7) % 1_000_000},${String(account % 1_000_000).padStart(6, "0")};0,5\r\n`
    })
    yield encoder.encode(rows.join(""))
  }
}

const ours = (lines: number) =>
  reader
    .read(
      {
        adapter: "csv",
        kind: "holdings",
        charset: null,
        account: null,
        isin: null,
        currency: "USD",
        zone: "Europe/Zurich",
        validFor: null,
        basis: null,
        csv: generate.csvForm("holdings"),
        businessDate: Date.of("2026-03-02"),
        corrects: false,
        linesMax: lines
      },
      Stream.fromIterable(pieces(lines), { chunkSize: 1 })
    )
    .pipe(
      Stream.runFold(
        () => 0,
        (read, part) => (part.part === "lines" ? read + part.lines.length : read)
      )
    )

/** Rows of the bare parser, waiting for it where its buffer is full. */
const bare = (lines: number) =>
  Effect.promise(async () => {
    const parser = parse({ delimiter: ";" })
    let rows = 0
    parser.on("data", () => rows++)
    for (const piece of pieces(lines)) {
      if (!parser.write(piece)) await new Promise((resolve) => parser.once("drain", resolve))
    }
    parser.end()
    await new Promise((resolve) => parser.once("end", resolve))
    return rows
  })

export const bench: Bench = ({ rounds, size = 1_000_000 }) =>
  Effect.gen(function* () {
    const heaps: Array<number> = []
    const read = new Set<number>()
    const compared = yield* inTurns({
      rounds,
      ours: {
        meter: Meters.ofThisProcess,
        run: () =>
          timed(
            size,
            Effect.map(withHeap(ours(size)), ({ value, heap }) => {
              read.add(value)
              heaps.push(heap.most - heap.before)
            })
          )
      },
      bound: { meter: Meters.ofThisProcess, run: () => timed(size, bare(size)) }
    })
    if (read.size > 1 || !read.has(size)) throw new Error(`${[...read].join()} lines were read`)
    return [
      {
        bench: `CSV of ${size.toLocaleString("en-US")} lines`,
        unit: "lines/s",
        against: "csv-parse with no work",
        goal: 0.5,
        note: `heap ${Math.round(Math.max(...heaps))} MiB over idle`,
        ...compared
      }
    ]
  }).pipe(Effect.runPromise)
