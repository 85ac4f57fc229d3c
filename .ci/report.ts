/**
 * Reporter of Vitest for `.ci/ci.ts`: counts the tests of one part and names all that failed it. A hook
 * after the last test, a file that cannot be loaded and an error that nothing caught fail a part although
 * each of its tests passed; Vitest's own JSON report does not hold these errors.
 */
import { writeFileSync } from "node:fs"
import { relative } from "node:path"
import type { Reporter, TestModule } from "vitest/node"

/** Results of one part; the file whose path is in TEST_REPORT holds them as JSON. */
export interface Count {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Each failure's place and the start of its first message. */
  readonly failures: ReadonlyArray<string>
}

/** The longest message of one failure among the closing lines; the whole stands where the test ran. */
const messageLimit = 1_500

interface Thrown {
  readonly message?: string
  readonly stack?: string | undefined
  readonly diff?: string | undefined
  readonly stacks?: ReadonlyArray<{
    readonly file: string
    readonly line: number
    readonly method: string
  }>
}

const failure = (place: string, [first]: ReadonlyArray<Thrown>): string => {
  const stacks = first?.stacks?.map(
    ({ file, line, method }) => `    at ${method} (${file}:${line})`
  )
  const trace =
    stacks === undefined || stacks.length === 0 ? (first?.stack ?? "") : stacks.join("\n")
  const message = [first?.message ?? "no message", first?.diff, trace].filter((part) => part)
  return `${place}\n${message.join("\n").slice(0, messageLimit)}`
}

const inModule = (module: TestModule): Count => {
  const file = relative(process.cwd(), module.moduleId)
  const tests = [...module.children.allTests()]
  const withState = (state: string) => tests.filter((test) => test.result().state === state)
  // Hooks of a file or of a group: an error of theirs is no test's.
  const hooks = [
    ...(module.errors().length === 0
      ? []
      : [failure(`${file} > outside its tests`, module.errors())]),
    ...[...module.children.allSuites()]
      .filter((suite) => suite.errors().length > 0)
      .map((suite) => failure(`${file} > ${suite.fullName}, outside its tests`, suite.errors()))
  ]
  const failed = withState("failed")
  return {
    passed: withState("passed").length,
    failed: failed.length + hooks.length,
    skipped: withState("skipped").length + withState("pending").length,
    failures: [
      ...hooks,
      ...failed.map((test) => failure(`${file} > ${test.fullName}`, test.result().errors ?? []))
    ]
  }
}

const sum = (one: Count, other: Count): Count => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
  failures: [...one.failures, ...other.failures]
})

export default class Counting implements Reporter {
  onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    uncaught: ReadonlyArray<Thrown & { readonly name?: string }>
  ): void {
    const path = process.env["TEST_REPORT"]
    if (path === undefined) throw new Error("TEST_REPORT names no file for the results")
    const outside: Count = {
      passed: 0,
      failed: uncaught.length,
      skipped: 0,
      failures: uncaught.map((error) => failure("an error that nothing caught", [error]))
    }
    writeFileSync(path, JSON.stringify(modules.map(inModule).reduce(sum, outside)))
  }
}
