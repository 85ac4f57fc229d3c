/** Every write: its route, who makes it, how many approve it, and how it can be refused. */
import { askedOperationKinds, engineOpened } from "../../src/vocabulary/OperationKind.ts"
import { conditionsOf } from "../../src/writes/CallRefusals.ts"
import { timely, type Write, writes } from "./declared.ts"
import { effects, type Eyes, eyes as needed } from "./eyes.ts"
import { anchor, code, codes, type Page, page, table } from "./page.ts"

const eyes = (approvers: number): string =>
  approvers === 0 ? "runs at once" : `${approvers} besides the maker`

const section = (write: Write): ReadonlyArray<string> => [
  `### ${write.kind}`,
  write.doc,
  [
    `- Route: ${code(write.route)}`,
    `- Made by: ${codes(write.makers)}`,
    `- Approvers: ${eyes(write.approvers)}${write.figures === undefined ? "" : ", who sign its figures"}`,
    `- Refuses: ${write.refuses.map((slug) => `[${code(slug)}](refusals.md)`).join(", ") || "–"}`,
    `- Conditions: ${
      conditionsOf(write)
        .map((name) => `[${code(name)}](conditions.md)`)
        .join(", ") || "–"
    }`
  ].join("\n")
]

const declaredBlocks = (): ReadonlyArray<string> =>
  writes.length === 0
    ? ["No write is declared yet."]
    : [
        table(
          ["Operation", "Route", "Made by", "Approvers"],
          writes.map(({ approvers, kind, makers, route }) => [
            `[${code(kind)}](#${anchor(kind)})`,
            code(route),
            codes(makers),
            `${approvers}`
          ])
        ),
        "## One by one",
        ...writes.flatMap(section)
      ]

const waiting = (): ReadonlyArray<string> => {
  const declaredKinds = new Set(writes.map(({ kind }) => kind))
  const missing = askedOperationKinds.filter((kind) => !declaredKinds.has(kind))
  return missing.length === 0
    ? []
    : ["## Named, not built yet", `The API names these as well: ${codes(missing)}.`]
}

const needs = ({ approvers, delay }: Eyes): string =>
  delay === null ? eyes(approvers) : `${eyes(approvers)}, then ${code(delay)}`

/** Tighten alone, loosen together: the one table, by what a write does. */
const directions = (): string =>
  table(
    ["Effect", "Needs", "What it does", "Operations"],
    Object.entries(needed).map(([effect, approval]) => [
      effect,
      needs(approval),
      approval.doc,
      codes(Object.entries(effects).flatMap(([kind, does]) => (does === effect ? [kind] : [])))
    ])
  )

export const operationPage = (): Page =>
  page(
    "operations.md",
    "# Operations",
    "Every write, as it is declared in the core. A write that needs approvers runs once they signed.",
    ...declaredBlocks(),
    "## Tighten alone, loosen together",
    "How many people a write needs follows from what it does to what can happen.",
    directions(),
    "## Opened by the engine itself",
    `${codes(engineOpened)} have no route: the engine opens them when a record is ready.`,
    "At a record's time it opens these as well, with no actor and no role:",
    timely.map(({ doc, operation }) => `- ${code(operation.kind)}: ${doc}`).join("\n"),
    ...waiting()
  )
