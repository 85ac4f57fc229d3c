/** The table of conditions is whole: an act asks for each row, a test names it, and no condition is named outside it. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { conditions } from "#core/kernel/Conditions.ts"
import { gates } from "#core/kernel/Refusal.ts"
import { statementConditions } from "#core/ports/StatementSource.ts"
import { checkNames } from "#core/vocabulary/ReconciliationChecks.ts"
import * as KindConditions from "../../packages/engine-core/scripts/kind-conditions.ts"
import { reaches } from "../../packages/engine-core/scripts/refusal-reach.ts"
import { operations } from "#core/catalogue.ts"
import { root, sources } from "./sources.ts"

const names = Object.keys(conditions)
const table = "packages/engine-core/src/kernel/Conditions.ts"
const core = sources.filter(
  ({ path }) => path.startsWith("packages/engine-core/src/") && path !== table
)
const tests = globSync("test/**/*.ts", { cwd: root, exclude: ["**/node_modules/**"] })
  .filter((path) => !path.endsWith("architecture/conditions.test.ts"))
  .map((path) => readFileSync(join(root, path), "utf8"))

/** Checks of reconciliation and of the tests' own toy operations, and words that follow a gate's name. */
const others: ReadonlySet<string> = new Set([
  ...checkNames,
  "c",
  "carried",
  "guests",
  "lock",
  "open",
  "precondition",
  "something-to-add",
  "stale-contract",
  "versions"
])

const literal = /\bcheck: "(?<name>[^"]+)"/gu
const atGate = new RegExp(`["\`](?:${gates.join("|")}) (?<name>[a-z-]+)["\`]`, "gu")
const namedIn = (text: string): ReadonlyArray<string> =>
  [literal, atGate].flatMap((pattern) =>
    text
      .matchAll(pattern)
      .map(({ groups }) => groups?.["name"] ?? "")
      .toArray()
  )

/**
 * A name of two words is searched by itself; one of a single word beside its gate, slug or `check`.
 */
const isNamed = (name: string, text: string): boolean =>
  name.includes("-")
    ? new RegExp(`(?<![\\w-])${name}(?![\\w-])`, "u").test(text)
    : new RegExp(`(?:check: "|already-exists |(?:${gates.join("|")}) )${name}"`, "u").test(text)

const readers = sources.filter(({ path }) =>
  path.startsWith("packages/storage-adapters/src/statements/")
)
/** Conditions that readers of statements judge: their port lists them, and no act of the core asks. */
const isJudgedByReader = (name: string): boolean =>
  statementConditions.some((condition) => condition === name) &&
  readers.some(({ text }) => text.includes(`"${name}"`))

describe("the table of conditions", () => {
  // A table may pick the condition of an act by a word of the act: `"units-in": "may-receive"`.
  it("has no row that no act asks for", () => {
    const isAsked = (name: string) =>
      core.some(({ text }) =>
        new RegExp(`\\b(?:condition|failed)\\(\\s*"${name}"`, "u").test(text)
      ) ||
      core.some((picking) =>
        picking.text
          .matchAll(new RegExp(`"(?<word>[^"]+)": "${name}"`, "gu"))
          .some(({ groups }) =>
            core.some(
              (asking) => asking !== picking && asking.text.includes(`: "${groups?.["word"]}"`)
            )
          )
      )
    expect(names.filter((name) => !isAsked(name) && !isJudgedByReader(name))).toEqual([])
  })

  it("has no row that no test names", () => {
    expect(names.filter((name) => !tests.some((text) => isNamed(name, text)))).toEqual([])
  })

  // A state-conflict names the set of states, which is a table of its own.
  it("has every condition that a test names", () => {
    const strangers = tests
      .flatMap(namedIn)
      .filter(
        (name) => !(name in conditions) && !others.has(name) && !/^[A-Z]\w+State$/u.test(name)
      )
    expect([...new Set(strangers)]).toEqual([])
  })

  it("never is passed by with a condition that is written where it is used", () => {
    const written = core.flatMap(({ path, text }) =>
      text
        .matchAll(literal)
        .map(({ groups }) => groups?.["name"] ?? "")
        // A check of reconciliation is named by a word that the compiler knows.
        .filter((name) => !checkNames.some((check) => check === name))
        .map((name) => `${path}: ${name}`)
        .toArray()
    )
    expect(written).toEqual([])
  })
})

describe("the refusals of a write", () => {
  const reached = reaches()

  it("are those of its sources; run `npm run docs` when a condition was added", () => {
    expect(readFileSync(KindConditions.file, "utf8")).toBe(KindConditions.text(reached))
  })

  it("name no business rule where no condition judges the write, and name it where one does", () => {
    const wrong = operations.filter(
      ({ kind, refuses }) =>
        refuses.includes("rule-refused") !== (reached.get(kind)?.conditions ?? new Set()).size > 0
    )
    expect(wrong.map(({ kind }) => kind)).toEqual([])
  })

  // Records refuse an id that is not there, or is taken; a business rule is a condition's.
  it("name no slug that its sources never say", () => {
    const others = ["not-found", "already-exists", "rule-refused"]
    const unsaid = operations.flatMap(({ kind, refuses }) =>
      refuses
        .filter((slug) => !others.includes(slug) && reached.get(kind)?.slugs.has(slug) !== true)
        .map((slug) => `${kind} ${slug}`)
    )
    expect(unsaid).toEqual([])
  })
})
