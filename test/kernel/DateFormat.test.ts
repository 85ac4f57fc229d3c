/** Dates of outside files: read back as they were written, and never in two ways. */
import { Date, DateFormat } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const written = (date: Date.Date, pattern: string): string => {
  const { day, month, year } = Date.parts(date)
  const pad = (value: number, digits: number) => String(value).padStart(digits, "0")
  return pattern
    .replace("yyyy", pad(year, 4))
    .replace(/MM?/u, (field) => pad(month, field.length))
    .replace(/dd?/u, (field) => pad(day, field.length))
}

const patterns = [
  "yyyy-MM-dd",
  "dd.MM.yyyy",
  "d.M.yyyy",
  "MM/dd/yyyy",
  "yyyyMMdd",
  "dd MM yyyy",
  "d-M-yyyy"
]

describe("a form of dates", () => {
  it("reads each date back as it was written", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -719_162, max: 2_932_896 }).map(Date.fromEpochDay),
        fc.constantFrom(...patterns),
        (date, pattern) => {
          const { read } = Result.getOrThrow(DateFormat.parse(pattern))
          expect(Result.getOrThrow(read(written(date, pattern)))).toBe(date)
        }
      )
    )
  })

  it.each([
    ["", ""],
    ["yy-MM-dd", "a year of two digits"],
    ["yyyy-MM", "no day"],
    ["yyyy-MM-dd-dd", "a day twice"],
    ["yyyy-MM-MM", "a month twice"],
    ["yyyyMdd", "a month beside a day"],
    ["dMyyyy", "nothing between"],
    ["yyyy--MM-dd", "two separators"],
    ["yyyy_MM_dd", "another separator"],
    ["yyyy-MM-dd ", "a space after it"],
    ["YYYY-MM-DD", "other letters"]
  ])("%j is none: %s", (pattern) => {
    expect(Result.isFailure(DateFormat.parse(pattern))).toBe(true)
  })

  it.each([
    ["dd.MM.yyyy", "31.02.2026"],
    ["dd.MM.yyyy", "1.3.2026"],
    ["dd.MM.yyyy", "01x03x2026"],
    ["dd.MM.yyyy", " 01.03.2026"],
    ["dd.MM.yyyy", "01.03.2026\n"],
    ["d.M.yyyy", "001.3.2026"],
    ["yyyyMMdd", "2026-03-01"],
    ["yyyy-MM-dd", "0000-01-01"],
    ["yyyy-MM-dd", "٢٠٢٦-03-01"]
  ])("%s never reads %j", (pattern, text) => {
    const { read } = Result.getOrThrow(DateFormat.parse(pattern))
    expect(Result.isFailure(read(text))).toBe(true)
  })
})
