/**
 * Names that need their neighbours: a parameter called `of`, a value or a type that is a participle
 * alone, and one name for two kinds of things.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { type DeclaredName, declaredNames } from "./declared-names.ts"
import { fileOf, placeOf, root, sources } from "./sources.ts"

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//gu, "").replaceAll(/^\s*\/\/.*$/gmu, "")

const parameters: ReadonlyArray<RegExp> = [
  /\(of\??:/gu,
  /\(of(?:, [^()]*)?\) (?:=>|\{)/gu,
  /, of\) (?:=>|\{)/gu,
  /, of\??: (?:readonly |[A-Z]|\{ readonly)/gu,
  /^\s+of\??: (?:\{$|[A-Z])/gmu
]

/** Any other value called `of`: taken out of another, listed, spread or made on the spot. */
const values: ReadonlyArray<RegExp> = [
  /\.\.\.of\b(?!\()/gu,
  /[{[,(] of(?= [=}\]])/gu,
  /[{[(]of(?=[,\]:])/gu,
  /, of\]/gu,
  /\b(?:const|let) of\b/gu
]

/**
 * Where files have a value called `of`, by these patterns. A module of a folder may have a constructor
 * of this name, which is read with the module's.
 */
const valuesCalledOf = (
  files: ReadonlyArray<{ readonly path: string; readonly text: string }>,
  patterns: ReadonlyArray<RegExp>
): ReadonlyArray<string> =>
  files.flatMap(({ path, text }) => {
    const plain = withoutComments(text).replaceAll(/^export const of\b/gmu, "")
    return patterns.flatMap((pattern) =>
      [...plain.matchAll(pattern)].map(([name]) => `${path} ${name.trim()}`)
    )
  })

/** Tests, examples, and the scripts that write pages. */
const others: ReadonlyArray<{ readonly path: string; readonly text: string }> = globSync(
  ["test/**/*.ts", "examples/**/*.ts", "packages/*/scripts/**/*.ts"],
  { cwd: root, exclude: ["**/node_modules/**", "test/architecture/words.test.ts"] }
)
  .toSorted()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))

/** Participles that are the name of no value and of no member, in sources, tests and examples. */
const alone: ReadonlyArray<string> = ["asked", "told", "known", "standing"]

/**
 * Members that have such a name and keep it: stored records have them, which are never rewritten, and
 * the condition `standing` is a word of the API. Each with the file that declares or writes it.
 */
const storedMembers: ReadonlySet<string> = new Set([
  "packages/engine-core/src/holders/holder/Holder.ts told",
  "packages/engine-core/src/holders/holder/HolderFromLedger.ts told",
  "packages/engine-core/src/kernel/Conditions.ts standing",
  "packages/engine-core/src/powers/ForcedMoveFromLedger.ts told",
  "packages/engine-core/src/powers/Recovery.ts told",
  "packages/engine-core/src/reserves/lock-agreement/LockAgreement.ts asked",
  "packages/engine-core/src/reserves/lock-agreement/LockAgreementFromLedger.ts asked",
  "test/bench/seeded-register.ts told",
  "test/machines/holder.spec.ts told",
  "test/machines/reserves.ts asked",
  "test/rules/payees.spec.ts told"
])

/** Participles that are the name of no value in the packages' sources; a member is read with its object. */
const aloneInPackages: ReadonlyArray<string> = ["declared", "given", "kept", "stated"]

/** The first word of a test of a decider: given facts, when a command comes, then a fact is made. */
const ofTests = "packages/engine-core/src/testing/GivenWhenThen.ts given"

/** Declarations of these names in files, each as its path, its name and its role. */
const declarationsOf = (
  names: ReadonlyArray<string>,
  files: ReadonlyArray<{ readonly path: string; readonly text: string }>
): ReadonlyArray<DeclaredName & { readonly path: string }> => {
  // Only a file that has the word outside of comments and texts is parsed.
  const word = new RegExp(`\\b(?:${names.join("|")})\\b`, "u")
  return files.flatMap(({ path, text }) =>
    word.test(withoutComments(text).replaceAll(/"(?:[^"\\\n]|\\.)*"/gu, ""))
      ? declaredNames(text)
          .filter(({ name }) => names.includes(name))
          .map((declaration) => ({ path, ...declaration }))
      : []
  )
}

const declaredAlone = declarationsOf(alone, [...sources, ...others])

const isStored = ({ path, name, role }: DeclaredName & { readonly path: string }): boolean =>
  role === "member" && storedMembers.has(`${path} ${name}`)

/** Names by the field, by the ledger, or that the code has as nouns. */
const nouns: ReadonlySet<string> = new Set([
  ...["Backing", "Binding", "Encoding", "Finding", "Funding", "Gating", "Holding", "Listing"],
  ...[
    "Feed",
    "Pricing",
    "Reading",
    "Rounding",
    "Screening",
    "Setting",
    "Sighting",
    "Swing",
    "Withholding"
  ],
  // A choice and a contract of the ledger, a record as the store has it, and a refusal.
  ...["Created", "Exercised", "Stored", "Refused"],
  // Of pins and reads, each named with its module: `Pin.ResolvedPin`, `Read.ReadContext`.
  ...["Asking", "Resolved"]
])

/** Participles that do not end in -ed, and adjectives that stand for one. */
const irregular: ReadonlySet<string> = new Set([
  ...["Asked", "Begun", "Born", "Bound", "Bought", "Broken", "Built", "Chosen", "Dealt", "Done"],
  ...["Drawn", "Due", "Fed", "Found", "Given", "Gone", "Heard", "Held", "Hidden", "Kept", "Known"],
  ...["Led", "Left", "Lost", "Made", "Meant", "Met", "Paid", "Said", "Seen", "Sent", "Shown"],
  ...["Sold", "Spent", "Stuck", "Taken", "Thrown", "Told", "Unknown", "Withdrawn", "Withheld"],
  ...["Won", "Woken", "Written"]
])

/** Names of the types that a source declares, in any place and whether it exports them or not. */
const typesIn = (text: string): ReadonlyArray<string> =>
  [
    ...withoutComments(text).matchAll(
      /^\s*(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class) ([A-Z]\w*)/gmu
    )
  ].map(([, name]) => name ?? "")

/**
 * Names that files of a package import bare, in braces and not under another name, each with the files
 * that declare it. A contract of the ledger has the name of its record, and every record has a `Fact`.
 */
const importedBare = (): ReadonlyMap<string, ReadonlySet<string>> => {
  const found = new Map<string, Set<string>>()
  for (const { imports, path } of sources) {
    const { home } = placeOf(path)
    for (const { names, specifier } of imports) {
      const file = fileOf(path, specifier)
      if (file === null || placeOf(file).home !== home) continue
      const source = sources.find((one) => one.path === file)
      if (source === undefined || placeOf(file).inside.startsWith("templates/")) continue
      const declared = typesIn(source.text)
      for (const name of names) {
        if (name === "Fact" || !declared.includes(name)) continue
        const key = `${home} ${name}`
        found.set(key, (found.get(key) ?? new Set()).add(file))
      }
    }
  }
  return found
}

/**
 * Names of two types that are left: of the ledger's port and of the engine, of a list and of a projection,
 * of the client and of the host. A name that is of one type again leaves this list.
 */
const twofold: ReadonlySet<string> = new Set([
  ...["Event", "Export", "NotCompared", "Refused", "Whole"].map((name) => `engine-core ${name}`),
  "http-host Options",
  "storage-adapters Session"
])

describe("a name", () => {
  it("of a parameter or a local never is `of`", () => {
    expect(valuesCalledOf(sources, [...parameters, ...values])).toEqual([])
  })

  it("of a value or a member never is a participle that says nothing alone", () => {
    const found = declaredAlone
      .filter((declaration) => !isStored(declaration))
      .map(({ path, name, role }) => `${path} ${role} ${name}`)
    expect(found).toEqual([])
  })

  it("of a value in the packages never is a participle that its neighbours explain", () => {
    const found = declarationsOf(aloneInPackages, sources)
      .filter(({ role }) => role === "value")
      .map(({ path, name }) => `${path} ${name}`)
    expect(found).toEqual([ofTests])
  })

  it("is listed as that of a stored member no longer than a file has it", () => {
    const found = declaredAlone.filter(isStored).map(({ path, name }) => `${path} ${name}`)
    expect([...storedMembers].filter((member) => !found.includes(member))).toEqual([])
  })

  it("of a value in a test or an example never is `of`", () => {
    expect(others.length).toBeGreaterThan(500)
    const member = /\breadonly of\??:/gu
    expect(valuesCalledOf(others, [...parameters, ...values, member])).toEqual([])
  })

  it("of a type never is a participle alone", () => {
    const found = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/^(?:export )?(?:interface|type) ([A-Z][a-z]+(?:ed|ing))\b/gmu)]
        .map(([, name]) => name ?? "")
        .filter((name) => !nouns.has(name))
        .map((name) => `${path} ${name}`)
    )
    expect(found).toEqual([])
  })

  it("of a type never is an irregular participle alone", () => {
    const found = sources.flatMap(({ path, text }) =>
      typesIn(text)
        .filter((name) => irregular.has(name))
        .map((name) => `${path} ${name}`)
    )
    expect(found).toEqual([])
  })

  it("that files import bare never is of two types", () => {
    const found = [...importedBare()]
      .filter(([name, files]) => files.size > 1 && !twofold.has(name))
      .map(([name, files]) => `${name}: ${[...files].join(", ")}`)
    expect(found).toEqual([])
  })

  it("is listed as twofold no longer than it is", () => {
    const names = importedBare()
    expect([...twofold].filter((name) => (names.get(name)?.size ?? 0) < 2)).toEqual([])
  })
})
