/**
 * Mutated files in CSV and JSON: whatever bytes arrive, they are lines or a fault with its place, and
 * never a defect; and the real table of an administrator is read as it was published.
 */
import { Date, Decimal, Duration } from "@bursar/engine-core/kernel"
import type { StatementSource } from "@bursar/engine-core/ports"
import { Result } from "effect"
import * as fc from "fast-check"
import { existsSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import * as generate from "./generate.ts"
import { faultOf, inSlices, readPieces, whole } from "./reading.ts"

const validFor = Duration.of("P3D")
const account = { number: "CH9300762011623852957", currency: "CHF" }
const samples: ReadonlyArray<generate.Statement> = [
  {
    kind: "holdings",
    header: generate.headerOf({ businessDate: "2026-03-02", currency: "USD" }),
    lines: ["a", 'b;"c"', "é😀"].map((name) => ({
      kind: "holdings" as const,
      account: name,
      quantity: Decimal.of("95812.973076"),
      locked: Decimal.of("100")
    })),
    account: null,
    isin: null
  },
  {
    kind: "cash",
    header: generate.headerOf({
      businessDate: "2026-03-02",
      currency: "CHF",
      opening: Decimal.of("-1.5"),
      closing: Decimal.of("1248.5"),
      reference: "2026/42"
    }),
    lines: ["credit" as const, "debit" as const].map((direction) =>
      generate.cashEntry({
        bookingDate: "2026-03-02",
        amount: Decimal.of("1250"),
        direction,
        reference: "=1+1",
        counterparty: { name: "Example; AG", account: null }
      })
    ),
    account,
    isin: null
  },
  {
    kind: "nav",
    header: generate.navHeaderOf({
      businessDate: "2026-03-02",
      currency: "USD",
      nav: { official: Decimal.of("1.0437"), indicative: null, ripcord: false },
      validFor
    }),
    lines: [],
    account: null,
    isin: "LU0000000017"
  }
]

const files = samples.flatMap((sample) => {
  const form = generate.csvForm(sample.kind)
  return [
    {
      bytes: generate.encoded(generate.text(generate.csv(sample, form))),
      reading: generate.readingOf("csv", sample, { csv: form, validFor })
    },
    {
      bytes: generate.encoded(generate.text(generate.json(sample))),
      reading: generate.readingOf("json", sample, { validFor })
    }
  ]
})

/** One mutation of a file: bits that flip, a cut, a part that is doubled, moved or replaced. */
const hostile = [
  '"',
  '""',
  ";",
  "\r",
  "\n",
  "\0",
  "\ufeff",
  "{",
  "[[",
  "]}",
  ",",
  "\\u0000",
  "\\ud800",
  "1e9",
  "-",
  "9".repeat(40),
  "é"
]
const mutation = fc.record({
  at: fc.nat(),
  to: fc.nat({ max: 40 }),
  how: fc.constantFrom("flip", "cut", "double", "drop", "plant"),
  planted: fc.constantFrom(...hostile)
})
type Mutation = typeof mutation extends fc.Arbitrary<infer M> ? M : never

const mutated = (bytes: Uint8Array, { at, how, planted, to }: Mutation): Uint8Array => {
  const place = bytes.length === 0 ? 0 : at % bytes.length
  const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)]
  switch (how) {
    case "flip":
      return Buffer.concat([
        before,
        Uint8Array.of((after[0] ?? 0) ^ (1 << (to % 8))),
        after.subarray(1)
      ])
    case "cut":
      return before
    case "double":
      return Buffer.concat([before, after.subarray(0, to), after])
    case "drop":
      return Buffer.concat([before, after.subarray(to)])
    case "plant":
      return Buffer.concat([before, Buffer.from(planted), after])
  }
}

/** Faults have a place, and a sentence of no more characters than a caller reads. */
const checkFault = (fault: StatementSource.StatementFault): void => {
  if (fault._tag === "StatementTooLong" || fault._tag === "StatementCharset") return
  expect(fault.detail.length).toBeLessThan(1_000)
  if (fault._tag === "StatementMalformed") expect(fault.line).toBeGreaterThan(0)
}

describe("a mutated file", () => {
  it.each(files.map((file) => [`${file.reading.adapter} of ${file.reading.kind}`, file] as const))(
    "in %s is read or refused, and never a defect",
    async (_, { bytes, reading }) => {
      const outcomes = new Set<string>()
      await fc.assert(
        fc.asyncProperty(
          fc.array(mutation, { minLength: 1, maxLength: 4 }),
          fc.integer({ min: 1, max: 64 }),
          async (mutations, size) => {
            const answer = await readPieces(
              reading,
              inSlices(mutations.reduce(mutated, bytes), size)
            )
            outcomes.add(faultOf(answer).replace(/[0-9:]+$|null$/u, ""))
            if (Result.isFailure(answer)) checkFault(answer.failure)
          }
        ),
        { seed: 7, numRuns: 300 }
      )
      // A walk that meets one fault alone would show little.
      expect(outcomes.size).toBeGreaterThan(1)
    }
  )
})

const published = new URL("../../../shared/data/iso20022/made/holdings.csv", import.meta.url)

describe.skipIf(!existsSync(published))(
  "a table with a mark, semicolons and decimal commas",
  () => {
    it("has its lines as they were published (needs shared/data/iso20022)", async () => {
      const bytes = readFileSync(published)
      const reading: StatementSource.Reading = {
        ...generate.readingOf("csv", samples[0] as generate.Statement),
        businessDate: Date.of("2026-03-02"),
        csv: generate.csvForm("holdings", {
          columns: { account: "account", quantity: "units", locked: "locked" }
        })
      }
      const { lines } = await whole(reading, [bytes])
      expect(lines).toMatchObject([
        { account: "hol-1", quantity: Decimal.of("95812.973076"), locked: Decimal.of("100") },
        { account: "hol-2", quantity: Decimal.of("1234.5"), locked: Decimal.zero }
      ])
    })
  }
)
