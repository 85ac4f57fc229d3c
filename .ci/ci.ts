/**
 * Runner of all parts that judge a change, one after the other; the closing line counts them all.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const binaries = join(root, "node_modules", ".bin")

interface Count {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Each failed test's file, name and the start of its first message. */
  readonly failures?: ReadonlyArray<string>
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: ReadonlyArray<{
      readonly fullName: string
      readonly status: string
      readonly failureMessages: ReadonlyArray<string>
    }>
  }>
}

/** Longest message of one failed test among the closing lines; the whole stands where the test ran. */
const messageLimit = 1_500

interface Part {
  readonly name: string
  readonly command: readonly [program: string, ...args: ReadonlyArray<string>]
  /** After this the part is ended and has failed. */
  readonly minutes: number
  /** Results of a part that counts its own tests; without it the part counts as one. */
  readonly counted?: () => Count
}

const reports = mkdtempSync(join(tmpdir(), "bursar-ci-"))
const reportOf = (name: string): string => join(reports, `${name}.json`)

const testsOf = (name: string) => (): Count => {
  const report: Report = JSON.parse(readFileSync(reportOf(name), "utf8"))
  // A file that cannot even be loaded holds no test that could fail.
  const unloaded = report.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0
  )
  const said = (file: string, test: string, message: string): string =>
    `${relative(root, file)} > ${test}\n${message.slice(0, messageLimit)}`
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloaded.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: [
      ...unloaded.map((file) => said(file.name, "cannot be loaded", file.message)),
      ...report.testResults.flatMap((file) =>
        file.assertionResults
          .filter((test) => test.status === "failed")
          .map((test) => said(file.name, test.fullName, test.failureMessages[0] ?? ""))
      )
    ]
  }
}

const program = (...args: ReadonlyArray<string>): Part["command"] => ["node", ...args]

const parts: ReadonlyArray<Part> = [
  { name: "types", command: ["tsc", "-p", "tsconfig.json"], minutes: 5 },
  { name: "lint and format", command: ["biome", "check", "."], minutes: 2 },
  {
    name: "generated pages are current",
    command: [
      "vitest",
      "run",
      "--config",
      "test/vitest.config.ts",
      "test/architecture/generated.test.ts"
    ],
    minutes: 2
  },
  {
    name: "openapi.json is current",
    command: program("packages/http-host/scripts/openapi.ts", "--check"),
    minutes: 1
  },
  {
    // In a folder of their own, beside the workspace's TypeScript 7; nothing of theirs is run here.
    name: "outside judges are installed",
    command: ["npm", "ci", "--prefix", "test/tools", "--ignore-scripts", "--no-audit", "--no-fund"],
    minutes: 5
  },
  {
    name: "tests",
    command: [
      "vitest",
      "run",
      "--config",
      "test/vitest.config.ts",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${reportOf("tests")}`
    ],
    // Some five minutes alone on two cores; a machine that is busy takes longer, and is not wrong.
    minutes: 30,
    counted: testsOf("tests")
  },
  {
    name: "tests that start and kill programs",
    command: [
      "vitest",
      "run",
      "--config",
      "test/processes/vitest.config.ts",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${reportOf("processes")}`
    ],
    minutes: 20,
    counted: testsOf("processes")
  },
  { name: "outside judges", command: program("test/tools/judge.ts"), minutes: 5 },
  { name: "build", command: program(".ci/build.ts"), minutes: 5 },
  { name: "a consumer of the packages", command: program(".ci/consumer.ts"), minutes: 5 },
  { name: "examples", command: program("examples/run.ts"), minutes: 5 },
  { name: "demo", command: program("examples/demo/demo.ts", "--json"), minutes: 5 },
  {
    name: "demo, replay",
    command: program("examples/demo/demo.ts", "--replay", "--json"),
    minutes: 5
  }
]

/** Runs one part with what it prints passed on; true when it ended well and in time. */
const run = ({ command: [name, ...args], minutes }: Part): Promise<boolean> =>
  new Promise((resolve) => {
    // A group of its own, so that what it started ends with it.
    // Found on the path below: what the lock file names first, npm itself after it.
    const child = spawn(name, args, {
      cwd: root,
      stdio: "inherit",
      detached: true,
      env: { ...process.env, PATH: `${binaries}:${process.env["PATH"] ?? ""}` }
    })
    const tooLate = setTimeout(() => {
      console.error(`not done after ${minutes} minutes`)
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
    }, minutes * 60_000)
    const stop = (signal: NodeJS.Signals): void => {
      if (child.pid !== undefined) process.kill(-child.pid, signal)
      process.exit(1)
    }
    process.once("SIGINT", stop).once("SIGTERM", stop)
    const end = (well: boolean): void => {
      clearTimeout(tooLate)
      process.off("SIGINT", stop).off("SIGTERM", stop)
      resolve(well)
    }
    child.once("error", (error) => {
      console.error(error.message)
      end(false)
    })
    child.once("exit", (code) => end(code === 0))
  })

const count = (part: Part, well: boolean): Count => {
  const itself = { passed: well ? 1 : 0, failed: well ? 0 : 1, skipped: 0 }
  if (part.counted === undefined) return itself
  try {
    const found = part.counted()
    // A run that ends badly has failed, also when every test it counted passed.
    return well || found.failed > 0 ? found : { ...found, failed: 1 }
  } catch (error) {
    console.error(`${part.name}: no count`, error)
    return { passed: 0, failed: 1, skipped: 0 }
  }
}

const closing = ({ passed, failed, skipped }: Count): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`

const total = { passed: 0, failed: 0, skipped: 0 }
const lines: Array<string> = []
const failures: Array<string> = []
for (const part of parts) {
  console.log(`\n## ${part.name}`)
  const began = Date.now()
  const well = await run(part)
  const found = count(part, well)
  total.passed += found.passed
  total.failed += found.failed
  total.skipped += found.skipped
  failures.push(...(found.failures ?? []))
  const seconds = Math.round((Date.now() - began) / 1000)
  lines.push(`${found.failed === 0 ? "passed" : "FAILED"}  ${part.name} (${seconds} s)`)
}
rmSync(reports, { recursive: true, force: true })
// Last but for the count, so that whoever sees only the end of the output learns what failed.
console.log(`\n${[...lines, ...failures.map((failure) => `\n${failure}`)].join("\n")}\n`)
process.exitCode = total.failed === 0 ? 0 : 1
console.log(closing(total))
