/**
 * Runner of all parts that judge a change: first those that use every core, one after the other, then
 * rows of parts beside each other. The closing line counts them all.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Count } from "./report.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const binaries = join(root, "node_modules", ".bin")

interface Part {
  readonly name: string
  readonly command: readonly [program: string, ...args: ReadonlyArray<string>]
  /** After this the part is ended and has failed. */
  readonly minutes: number
  readonly environment?: Readonly<Record<string, string>>
  /** Results of a part that counts its own tests; without it the part counts as one. */
  readonly counted?: () => Count
}

const reports = mkdtempSync(join(tmpdir(), "bursar-ci-"))

const tests = (name: string, config: string, minutes: number): Part => {
  const report = join(reports, `${name}.json`)
  return {
    name,
    command: [
      "vitest",
      "run",
      "--config",
      config,
      "--reporter=default",
      `--reporter=${join(root, ".ci", "report.ts")}`
    ],
    minutes,
    environment: { TEST_REPORT: report },
    counted: () => JSON.parse(readFileSync(report, "utf8"))
  }
}

const program = (...args: ReadonlyArray<string>): Part["command"] => ["node", ...args]

/** Parts that use every core by themselves, or write what later parts read. */
const alone: ReadonlyArray<Part> = [
  { name: "types", command: ["tsc", "-p", "tsconfig.json"], minutes: 5 },
  {
    name: "types of the console",
    command: ["tsc", "-p", "packages/http-host/console"],
    minutes: 5
  },
  {
    name: "console is built",
    command: program("packages/http-host/scripts/console.ts"),
    minutes: 2
  },
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
  // At most four minutes alone on two cores; a machine that is busy takes longer, and is not wrong.
  tests("tests", "test/vitest.config.ts", 30),
  tests("slow tests", "test/slow/vitest.config.ts", 20),
  tests("tests that start and kill programs", "test/processes/vitest.config.ts", 20)
]

/**
 * Rows of parts that use one core each or wait most of the time: the parts of a row follow one another,
 * the rows run at once.
 */
const rows: ReadonlyArray<ReadonlyArray<Part>> = [
  [
    { name: "outside judges", command: program("test/tools/judge.ts"), minutes: 15 },
    { name: "reference", command: program("test/tools/reference.ts"), minutes: 10 }
  ],
  [
    { name: "build", command: program(".ci/build.ts"), minutes: 10 },
    { name: "a consumer of the packages", command: program(".ci/consumer.ts"), minutes: 10 },
    { name: "the image, played", command: program(".ci/container.ts"), minutes: 10 }
  ],
  [
    { name: "examples", command: program("examples/run.ts"), minutes: 15 },
    {
      name: "demo, replay",
      command: program("examples/demo/demo.ts", "--replay", "--json"),
      minutes: 15
    }
  ],
  [{ name: "the runbook, played", command: program("test/operate/runbook.ts"), minutes: 10 }],
  // Two minutes, of which it waits for a cut-off most of the time.
  [{ name: "demo", command: program("examples/demo/demo.ts", "--json"), minutes: 15 }]
]

/** Programs of the parts in progress, each in a process group of its own. */
const running = new Set<ChildProcess>()

const signalled = (child: ChildProcess, signal: NodeJS.Signals): void => {
  if (child.pid !== undefined) process.kill(-child.pid, signal)
}

const stop = (signal: NodeJS.Signals): void => {
  for (const child of running) signalled(child, signal)
  process.exit(1)
}
process.once("SIGINT", stop).once("SIGTERM", stop)

/**
 * Runs one part; true when it ended well and in time. Its output is passed on as it comes, or, of a
 * part beside others, in one piece at its end.
 */
const run = (
  { command: [name, ...args], environment, minutes }: Part,
  output: "at once" | "at its end"
): Promise<{ readonly well: boolean; readonly printed: string }> =>
  new Promise((resolve) => {
    // A group of its own, so that what it started ends with it.
    // Found on the path below: what the lock file names first, npm itself after it.
    const child = spawn(name, args, {
      cwd: root,
      stdio: output === "at once" ? "inherit" : ["ignore", "pipe", "pipe"],
      detached: true,
      env: { ...process.env, ...environment, PATH: `${binaries}:${process.env["PATH"] ?? ""}` }
    })
    running.add(child)
    const printed: Array<Buffer> = []
    const keep = (chunk: Buffer): void => void printed.push(chunk)
    child.stdout?.on("data", keep)
    child.stderr?.on("data", keep)
    const say = (line: string): void => void printed.push(Buffer.from(`${line}\n`))
    const tooLate = setTimeout(() => {
      say(`not done after ${minutes} minutes`)
      signalled(child, "SIGKILL")
    }, minutes * 60_000)
    const end = (well: boolean): void => {
      clearTimeout(tooLate)
      running.delete(child)
      resolve({ well, printed: Buffer.concat(printed).toString() })
    }
    child.once("error", (error) => {
      say(error.message)
      end(false)
    })
    // With its streams closed, so that the whole output has come.
    child.once("close", (code) => end(code === 0))
  })

const count = (part: Part, well: boolean): Count => {
  const itself = {
    passed: well ? 1 : 0,
    failed: well ? 0 : 1,
    skipped: 0,
    failures: well ? [] : [`${part.name}: see the output of this part`]
  }
  if (part.counted === undefined) return itself
  try {
    const found = part.counted()
    // A run that ends badly has failed, also when every test it counted passed.
    if (well || found.failed > 0) return found
    const failures = [`${part.name}: it ended badly, though nothing of it failed`]
    return { ...found, failed: 1, failures }
  } catch (error) {
    console.error(`${part.name}: no count`, error)
    return { ...itself, passed: 0, failed: 1, failures: [`${part.name}: no count`] }
  }
}

const closing = ({ passed, failed, skipped }: Omit<Count, "failures">): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`

const total = { passed: 0, failed: 0, skipped: 0 }
const lines: Array<string> = []
const failures: Array<string> = []

const judge = async (part: Part, output: Parameters<typeof run>[1]): Promise<void> => {
  if (output === "at once") console.log(`\n## ${part.name}`)
  const began = Date.now()
  const { printed, well } = await run(part, output)
  if (output === "at its end") console.log(`\n## ${part.name}`)
  if (printed !== "") console.log(printed)
  const found = count(part, well)
  total.passed += found.passed
  total.failed += found.failed
  total.skipped += found.skipped
  failures.push(...found.failures)
  const seconds = Math.round((Date.now() - began) / 1000)
  lines.push(`${found.failed === 0 ? "passed" : "FAILED"}  ${part.name} (${seconds} s)`)
}

for (const part of alone) await judge(part, "at once")
await Promise.all(
  rows.map(async (row) => {
    for (const part of row) await judge(part, "at its end")
  })
)
rmSync(reports, { recursive: true, force: true })
// Last but for the count, so that whoever sees only the end of the output learns what failed.
console.log(`\n${[...lines, ...failures.map((failure) => `\n${failure}`)].join("\n")}\n`)
process.exitCode = total.failed === 0 ? 0 : 1
console.log(closing(total))
