/**
 * `npm run mutate -- --seed N --mutants M`: plants M small faults by chance, one at a time, into a
 * copy of the tree, and says which of them no test notices. A line of the sources is as likely as
 * any other; the same seed over the same tree plants the same faults. `--in` names a folder or file
 * of the sources, and may be given several times: faults are planted there alone. Of each fault the
 * tests that run its source are asked, the nearest first and at most `--tests`, and then those of
 * the drawn pages and of openapi.json, until one is red. A fault that the nearest do not notice
 * goes to the compiler before any further test. `--coverage` names a file that `COVERAGE=file
 * vitest run --config test/mutation/vitest.config.ts <tests>` has written on this tree: of a fault
 * the tests that run its place are asked first, the cheapest before the others. `--limit` is how
 * many seconds a batch of tests may take: where one takes longer with a fault it is asked without;
 * if it ends then, the fault has hung it and is noticed, else nothing is known and the fault is
 * undecided.
 *
 * Everything lies in `.data/mutation/N`: the copy, the faults and what came of each. A run that
 * was stopped goes on there, what is undecided is asked again, and with more `--tests` the faults
 * that lived are looked for again. Remove the folder to begin anew on the present tree.
 */
import { spawn, spawnSync } from "node:child_process"
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { root, sources } from "../architecture/sources.ts"
import { dice } from "../simulation/faults.ts"
import { costOf, coverageOf } from "./coverage.ts"
import { isWithin, type Mutant, mutantsOf, planted } from "./mutants.ts"
import { nearestBy } from "./nearest.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    mutants: { type: "string", default: "200" },
    tests: { type: "string", default: "24" },
    coverage: { type: "string" },
    limit: { type: "string", default: "240" },
    in: { type: "string", multiple: true, default: [] }
  }
})
const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed)
const [count, testsMax, limit] = [values.mutants, values.tests, values.limit].map(Number) as [
  number,
  number,
  number
]

/** Prefixes of the paths of sources that get faults; none: every source does. */
const places = values.in.map((path) => path.replace(/^\.\//u, "").replace(/\/+$/u, ""))
const misplaced = places.filter((place) => !sources.some(({ path }) => isWithin(path, place)))
if (misplaced.length > 0) {
  console.error(`no source lies in ${misplaced.join(", ")}`)
  process.exit(2)
}

const folder = join(root, ".data/mutation", String(seed))
const tree = join(folder, "tree")
const drawnFile = join(folder, "mutants.json")
const endedFile = join(folder, "ended.jsonl")
/** The source that a fault is planted into, as it was: a run that is killed leaves the fault behind. */
const soundFile = join(folder, "sound.json")

/**
 * Result of a mutant: the test that noticed it, or that it hung one, does not compile, or lived.
 */
type Outcome =
  | { readonly how: "killed"; readonly by: string }
  | { readonly how: "hung" | "refused" | "lived" | "undecided" }
/** `testCount` is the number of tests that were run, so that others can be. */
type Ended = { readonly nth: number; readonly testCount: number } & Outcome

/** The tree as it stands, without its history; of the packages from outside there are only links. */
const copyTree = (): void => {
  const listed = spawnSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root })
  for (const path of listed.stdout.toString().split("\n")) {
    if (path !== "" && existsSync(join(root, path))) {
      cpSync(join(root, path), join(tree, path), { verbatimSymlinks: true })
    }
  }
  const modules = join(root, "node_modules")
  mkdirSync(join(tree, "node_modules"))
  for (const name of readdirSync(modules)) {
    // The packages of the project are those of the copy; what is kept between runs is its own.
    if (name === "@bursar") {
      cpSync(join(modules, name), join(tree, "node_modules", name), {
        recursive: true,
        verbatimSymlinks: true
      })
    } else if (!name.startsWith(".") || name === ".bin") {
      symlinkSync(join(modules, name), join(tree, "node_modules", name))
    }
  }
}

/** A fault, and the tests of the copy that run its source, the nearest first. */
type Drawn = Mutant & { readonly tests: ReadonlyArray<string> }

/** Tests over everything that is declared: a fault in any table or view may show in what is drawn of it. */
const drawnTests = ["test/http/openapi.test.ts", "test/architecture/generated.test.ts"]

/** Faults by chance, at most one a line, so that a line counts the same however much it says. */
const draw = (): ReadonlyArray<Drawn> => {
  const { roll } = dice(seed)
  const nearest = nearestBy()
  const coverage = coverageOf(values.coverage)
  const testsOf = (mutant: Mutant): ReadonlyArray<string> => {
    const near = nearest(mutant.path)
    const running = coverage(mutant)
    // No test runs what a module declares; what is drawn of it may show a fault.
    if (running.size === 0) {
      return [...drawnTests, ...near.filter((test) => !drawnTests.includes(test))]
    }
    const cost = (test: string): number =>
      costOf(mutant, { test, millis: running.get(test) ?? Number.POSITIVE_INFINITY })
    const [covering = [], others = []] = [true, false].map((isRun) =>
      near.filter((test) => running.has(test) === isRun)
    )
    // V8 does not count every run of a function that it has optimised, so others come after.
    return [...covering.toSorted((a, b) => cost(a) - cost(b)), ...others]
  }
  const lines = [
    ...Map.groupBy(
      sources
        .filter(({ path }) => places.length === 0 || places.some((place) => isWithin(path, place)))
        .flatMap(({ path, text }) => mutantsOf(path, text)),
      ({ line, path }) => `${path}:${line}`
    ).values()
  ]
  return Array.from({ length: Math.min(count, lines.length) }, () => {
    const [line = []] = lines.splice(roll(lines.length), 1)
    return line[roll(line.length)]
  }).flatMap((mutant) => (mutant === undefined ? [] : [{ ...mutant, tests: testsOf(mutant) }]))
}

if (!existsSync(drawnFile)) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(tree, { recursive: true })
  copyTree()
  writeFileSync(drawnFile, JSON.stringify(draw(), null, 1))
}
if (existsSync(soundFile)) {
  const { path, sound } = JSON.parse(readFileSync(soundFile, "utf8"))
  writeFileSync(path, sound)
}
const mutants: ReadonlyArray<Drawn> = JSON.parse(readFileSync(drawnFile, "utf8"))
const ended = new Map<number, Ended>(
  (existsSync(endedFile) ? readFileSync(endedFile, "utf8").split("\n") : [])
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Ended)
    .map((one) => [one.nth, one])
)

/** A program in the copy: its exit code, or `hung` once it was ended with all that it started. */
const run = (
  program: string,
  args: ReadonlyArray<string>,
  seconds = limit
): Promise<number | "hung"> =>
  new Promise((resolve, reject) => {
    const child = spawn(join(root, "node_modules/.bin", program), args, {
      cwd: tree,
      stdio: "ignore",
      detached: true
    })
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
      resolve("hung")
    }, seconds * 1_000)
    child.on("error", reject)
    child.on("exit", (code) => {
      clearTimeout(timer)
      resolve(code ?? 1)
    })
  })

const typesFile = join(folder, "types.tsbuildinfo")
const soundTypesFile = join(folder, "types.sound.tsbuildinfo")

/**
 * Incremental: checks the source of a fault and those that import it. A fault that would not compile
 * further away counts as one that compiles.
 */
const compile = () => {
  if (existsSync(soundTypesFile)) cpSync(soundTypesFile, typesFile)
  const incremental = [
    "--incremental",
    "--assumeChangesOnlyAffectDirectDependencies",
    ...["--tsBuildInfoFile", typesFile]
  ]
  return run("tsc", ["-p", "tsconfig.json", ...incremental], 4 * limit)
}

interface Report {
  readonly testResults: ReadonlyArray<{ readonly name: string; readonly status: string }>
}

/** The first of these tests that is red; null: none is. */
const firstRed = async (tests: ReadonlyArray<string>): Promise<string | "hung" | null> => {
  const report = join(folder, "report.json")
  rmSync(report, { force: true })
  const args = [
    "run",
    "--config",
    "test/mutation/asked.config.ts",
    "--bail",
    "1",
    "--maxWorkers",
    "1"
  ]
  const reporter = ["--reporter", "json", "--outputFile", report]
  const code = await run("vitest", [...args, ...reporter, ...tests])
  if (code === 0 || code === "hung") return code === 0 ? null : code
  if (!existsSync(report)) return "the start of the tests"
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report
  const red = testResults.find(({ status }) => status === "failed")?.name
  return red === undefined ? "an error outside of tests" : red.slice(tree.length + 1)
}

/**
 * Tests judged without a fault: true if the test is red even then and so proves nothing; tests are
 * added when they first run.
 */
const unsound = new Map<string, boolean>()

/** Runs the tests against one mutant in batches, a few of the nearest first. */
const judge = async (mutant: Mutant, tests: ReadonlyArray<string>): Promise<Outcome> => {
  const path = join(tree, mutant.path)
  const sound = readFileSync(path, "utf8")
  writeFileSync(soundFile, JSON.stringify({ path, sound }))
  const plant = () => writeFileSync(path, planted(sound, mutant))
  const mend = () => writeFileSync(path, sound)
  const batches = [tests.slice(0, 3), tests.slice(3, 8), tests.slice(8)]
  try {
    for (const [nth, batch] of batches.entries()) {
      if (nth === 1) {
        plant()
        const compiled = await compile()
        if (compiled !== 0) return { how: compiled === "hung" ? "undecided" : "refused" }
      }
      let left = batch.filter((test) => unsound.get(test) !== true)
      while (left.length > 0) {
        plant()
        const red = await firstRed(left)
        if (red === null) {
          for (const test of left) unsound.set(test, false)
          break
        }
        mend()
        if (red === "hung") {
          return { how: (await firstRed(left)) === null ? "hung" : "undecided" }
        }
        // No test says so: the workers broke, perhaps, and perhaps without the fault too.
        if (!tests.includes(red)) {
          const isOfFault = (await firstRed(left)) === null
          return isOfFault ? { how: "killed", by: red } : { how: "undecided" }
        }
        if (!unsound.has(red)) unsound.set(red, (await firstRed([red])) !== null)
        if (unsound.get(red) !== true) return { how: "killed", by: red }
        console.log(`${red} is red without a fault: left out`)
        left = left.filter((test) => test !== red)
      }
    }
    return { how: "lived" }
  } finally {
    mend()
  }
}

/** A whole block that is left out would fill a screen. */
const shortly = (text: string): string =>
  JSON.stringify(text.length > 100 ? `${text.slice(0, 100)} …` : text)

const lineOf = ({ becomes, line, path, was }: Mutant): string =>
  `${path}:${line}  ${shortly(was)} -> ${shortly(becomes)}`

/**
 * Mutants that only suites over a database test come late, and those undecided before come last, so
 * that a run that is stopped has got further.
 */
const slow = /\/src\/(conformance|embedded|postgres)\//u
const lateness = (nth: number, { path }: Mutant): number =>
  ended.get(nth)?.how === "undecided" ? 2 : Number(slow.test(path))
const inTurn = [...mutants.entries()].toSorted(
  ([nth, a], [other, b]) => lateness(nth, a) - lateness(other, b)
)
if (!existsSync(soundTypesFile)) {
  if ((await compile()) !== 0) {
    console.error(`the copy in ${tree} does not compile without a fault`)
    process.exit(2)
  }
  cpSync(typesFile, soundTypesFile)
}
for (const [nth, mutant] of inTurn) {
  const before = ended.get(nth)
  const skipped = before?.how === "lived" ? before.testCount : 0
  const near = mutant.tests.slice(skipped, testsMax)
  const tests =
    near.length === 0 ? [] : [...near, ...drawnTests.filter((test) => !near.includes(test))]
  const isDone = before !== undefined && before.how !== "undecided"
  if (isDone && (before.how !== "lived" || tests.length === 0)) continue
  const testCount = skipped + near.length
  const one: Ended = { nth, testCount, ...(await judge(mutant, tests)) }
  ended.set(nth, one)
  appendFileSync(endedFile, `${JSON.stringify(one)}\n`)
  console.log(`${ended.size}/${mutants.length} ${one.how} ${lineOf(mutant)}`)
}

const by = Map.groupBy(ended.values(), ({ how }) => how)
const lived = by.get("lived") ?? []
const judged = ended.size - (by.get("refused")?.length ?? 0) - (by.get("undecided")?.length ?? 0)
console.log(`\nseed ${seed}: ${ended.size} faults`)
for (const [how, all] of by) console.log(`  ${how}: ${all.length}`)
console.log(`noticed of those that are decided and compile: ${judged - lived.length} of ${judged}`)
for (const { testCount, nth } of lived) {
  const mutant = mutants[nth]
  if (mutant !== undefined) console.log(`lived, ${testCount} tests asked: ${lineOf(mutant)}`)
}
