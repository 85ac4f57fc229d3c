/**
 * Runner of tests that appends one line of JSON for each test file to the file that the environment
 * names as `COVERAGE`: which pieces of the sources it ran in its own process, and how long it took.
 */
import { appendFileSync } from "node:fs"
import { Session } from "node:inspector/promises"
import { relative } from "node:path"
import { fileURLToPath } from "node:url"
import { type RunnerTestFile, TestRunner } from "vitest"
import { root } from "../architecture/sources.ts"
import { type CoveredRange, type FileCoverage, piecesOf } from "./coverage.ts"

const session = new Session()
session.connect()
await session.post("Profiler.enable")
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })

/**
 * Functions of each source that were reported once. V8 reports no function again that has not run
 * since; without its range it would seem to have run with the function around it.
 */
const functions = new Map<string, Map<string, CoveredRange>>()

const isSource = /\/packages\/[^/]+\/src\//u

const takeCoverage = async (): Promise<FileCoverage["pieces"]> => {
  const { result } = await session.post("Profiler.takePreciseCoverage")
  const pieces: Record<string, ReadonlyArray<number>> = {}
  for (const script of result) {
    if (!isSource.test(script.url) || script.url.includes("node_modules")) continue
    const path = relative(root, fileURLToPath(script.url))
    const kept = functions.get(path) ?? new Map<string, CoveredRange>()
    functions.set(path, kept)
    const silent = new Map(kept)
    const ranges: Array<CoveredRange> = []
    for (const { functionName, ranges: own } of script.functions) {
      const [whole] = own
      // The code of a module itself runs when it is loaded, by whichever test comes first.
      if (whole === undefined || (functionName === "" && whole.startOffset === 0)) continue
      const key = `${whole.startOffset}-${whole.endOffset}`
      kept.set(key, { ...whole, count: 0 })
      silent.delete(key)
      ranges.push(...own)
    }
    const ran = piecesOf([...silent.values(), ...ranges])
    if (ran.length > 0) pieces[path] = ran
  }
  return pieces
}

export default class CoverageRunner extends TestRunner {
  override async onAfterRunFiles(files: Array<RunnerTestFile>): Promise<void> {
    super.onAfterRunFiles(files)
    const pieces = await takeCoverage()
    const out = process.env["COVERAGE"]
    if (out === undefined) throw new Error("COVERAGE names the file to write to")
    for (const { filepath, result } of files) {
      const line: FileCoverage = {
        test: relative(root, filepath),
        millis: result?.duration ?? 0,
        pieces
      }
      appendFileSync(out, `${JSON.stringify(line)}\n`)
    }
  }
}
