/** Coverage by test file, as coverageRunner.ts writes it: which tests run the place of a fault. */
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { root } from "../architecture/sources.ts"
import type { Mutant } from "./mutants.ts"
import { wordsOf } from "./nearest.ts"

/** A range of a source as V8 counts it; ranges lie within one another. */
export interface CoveredRange {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

/** One test file, how long it took, and what it ran of each source: offsets in turn from and to. */
export interface FileCoverage {
  readonly test: string
  readonly millis: number
  readonly pieces: Readonly<Record<string, ReadonlyArray<number>>>
}

/** The pieces that ran, by the innermost range of each place: offsets in turn from and to. */
export const piecesOf = (ranges: ReadonlyArray<CoveredRange>): ReadonlyArray<number> => {
  const sorted = ranges.toSorted(
    (a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset
  )
  const pieces: Array<number> = []
  const around: Array<CoveredRange> = []
  let reached = 0
  const reach = (offset: number): void => {
    if (offset > reached && (around.at(-1)?.count ?? 0) > 0) {
      if (pieces.at(-1) === reached) pieces[pieces.length - 1] = offset
      else pieces.push(reached, offset)
    }
    reached = Math.max(reached, offset)
  }
  const close = (offset: number): void => {
    for (let top = around.at(-1); top !== undefined && top.endOffset <= offset; ) {
      reach(top.endOffset)
      around.pop()
      top = around.at(-1)
    }
  }
  for (const range of sorted) {
    close(range.startOffset)
    reach(range.startOffset)
    around.push(range)
  }
  close(Number.POSITIVE_INFINITY)
  return pieces
}

/** Whether an offset lies in one of these pieces. */
export const isCovered = (pieces: ReadonlyArray<number>, offset: number): boolean =>
  pieces.findLastIndex((edge) => edge <= offset) % 2 === 0

const operator = /^[!=<>+\-*/%&|?]+$/u

/**
 * The tests that run the place of a fault, with their milliseconds. Empty without coverage, where no
 * test runs the place, where it is code of a module outside of its functions, and where the source is
 * newer than the coverage.
 */
export const coverageOf = (
  coverageFile: string | undefined
): ((mutant: Mutant) => ReadonlyMap<string, number>) => {
  if (coverageFile === undefined) return () => new Map()
  const takenAt = statSync(coverageFile).mtimeMs
  const all = readFileSync(coverageFile, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as FileCoverage)
  return ({ path, start, was }) => {
    const file = join(root, path)
    if (statSync(file).mtimeMs > takenAt) return new Map()
    // The right side of an operator may never run; the left one does wherever the operator decides.
    const offset = operator.test(was)
      ? readFileSync(file, "utf8").slice(0, start).trimEnd().length - 1
      : start
    return new Map(
      all.flatMap(({ millis, pieces, test }) =>
        isCovered(pieces[path] ?? [], offset) ? [[test, millis]] : []
      )
    )
  }
}

/** Cost of a test for a fault: its time, the less the more words its path shares with the source. */
export const costOf = (
  { path }: Pick<Mutant, "path">,
  { millis, test }: { readonly millis: number; readonly test: string }
): number => millis / (1 + 3 * Math.min(3, wordsOf(test).intersection(wordsOf(path)).size))
