/** Names that need their neighbours: a parameter called `of`, and a type that is a participle alone. */
import { describe, expect, it } from "vitest"
import { sources } from "./sources.ts"

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//gu, "").replaceAll(/^\s*\/\/.*$/gmu, "")

const parameters: ReadonlyArray<RegExp> = [
  /\(of\??:/gu,
  /\(of(?:, [^()]*)?\) (?:=>|\{)/gu,
  /, of\) (?:=>|\{)/gu,
  /, of\??: (?:readonly |[A-Z]|\{ readonly)/gu,
  /^\s+of\??: (?:\{$|[A-Z])/gmu
]

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

describe("a name", () => {
  it("of a parameter never is `of`", () => {
    const found = sources.flatMap(({ path, text }) => {
      const plain = withoutComments(text)
      return parameters.some((pattern) => plain.search(pattern) >= 0) ? [path] : []
    })
    expect(found).toEqual([])
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
})
