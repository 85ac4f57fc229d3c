/** One page a state set, with its tables and its diagram, and a page that lists them all. */
import * as catalogue from "../../src/catalogue.ts"
import type { AnyJudged } from "../../src/kernel/Judged.ts"
import type { Machine } from "../../src/kernel/Machine.ts"
import { judgedBlocks, machineBlocks, type PagePlace } from "../../src/rooms/MachineDrawing.ts"
import { anchor, codes, type Page, page, table } from "./page.ts"

const pagePlace: PagePlace = {
  heading: "##",
  eventAt: (type) => `../events.md#${anchor(type)}`
}

const setPage = ({ name }: Machine | AnyJudged, blocks: ReadonlyArray<string>): Page =>
  page(`machines/${name}.md`, `# ${name}`, ...blocks)

const listed = (sets: ReadonlyArray<Machine | AnyJudged>): string =>
  table(
    ["Set", "What it tracks", "States"],
    sets.map((set) => [`[${set.name}](${set.name}.md)`, set.doc, codes(Object.keys(set.states))])
  )

const wordList = (): string =>
  table(
    ["Set", "What it says", "Members"],
    catalogue.valueSets.map((set) => [
      set.growth === "closed" ? `${set.name} (closed)` : set.name,
      set.doc,
      codes(set.members)
    ])
  )

const index = (): Page =>
  page(
    "machines/README.md",
    "# State sets and value sets",
    "Every state a record can be in, and every word a field can take. All sets may gain members within /v1 but those marked closed. See also [operations](../operations.md), [refusals](../refusals.md), [events](../events.md) and [roles](../roles.md).",
    "## Moved: reached by folding facts",
    listed(catalogue.machines),
    "## Judged: as of the read",
    listed(catalogue.judged),
    "## Value sets",
    wordList()
  )

export const machinePages = (): ReadonlyArray<Page> => [
  index(),
  ...catalogue.machines.map((machine) => setPage(machine, machineBlocks(machine, pagePlace))),
  ...catalogue.judged.map((set) => setPage(set, judgedBlocks(set, pagePlace)))
]
