/** Page of a room, drawn from its declarations: records, states with their diagram, writes, reads and words. */
import * as Decimal from "../kernel/Decimal.ts"
import type { Collection } from "../kernel/Collection.ts"
import { type Room, type RoomNoun, writesOf } from "../nouns/Room.ts"
import type { Read } from "../reads/Read.ts"
import type { EventDeclaration } from "../records/EventDeclaration.ts"
import type { AnyOperation } from "../writes/Operation.ts"
import { judgedBlocks, machineBlocks, type PagePlace } from "./MachineDrawing.ts"
import { anchor, code, codes, table } from "./Markdown.ts"

const notice =
  "<!-- Drawn from the declarations of the room; edit those, and draw it anew with RoomPage.text. -->"

const pagePlace: PagePlace = { heading: "###", eventAt: (type) => `#${anchor(type)}` }

/** A table under its heading; nothing where it has no row. */
const section = (
  title: string,
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<string> => (rows.length === 0 ? [] : [`## ${title}`, table(head, rows)])

const stateBlocks = ({ judged = [], machine }: RoomNoun): ReadonlyArray<string> => [
  ...(machine === undefined ? [] : [`## ${machine.name}`, ...machineBlocks(machine, pagePlace)]),
  ...judged.flatMap((set) => [`## ${set.name}`, ...judgedBlocks(set, pagePlace)])
]

const recordRow = ({ doc, keptBy, name }: Collection): ReadonlyArray<string> => [
  code(name),
  doc,
  keptBy === "ledger" ? "the ledger" : "the engine"
]

const writeRow = (write: AnyOperation): ReadonlyArray<string> => [
  code(write.kind),
  write.route === null ? "–" : code(write.route),
  write.doc,
  write.route === null ? "the engine" : codes(write.makers),
  write.approvers === 0 ? "none" : `${write.approvers} besides the maker`,
  "figures" in write && write.figures !== undefined ? "yes" : "no",
  codes(write.refuses),
  codes(write.conditions ?? [])
]

const readRow = ({ audience, doc, name, route }: Read): ReadonlyArray<string> => [
  code(name),
  code(route),
  doc,
  codes(Object.keys(audience))
]

type AnyEvent = EventDeclaration<never> | EventDeclaration<unknown>

const eventBlocks = ([type, { doc, members, resourceKind }]: readonly [
  string,
  AnyEvent
]): ReadonlyArray<string> => [
  `### ${type}`,
  doc ?? "",
  `About ${resourceKind === "any" ? "the record of the write" : code(resourceKind)}; its payload has ${codes(members)}.`
]

/** Text of the page of a room, in Markdown with a Mermaid diagram of each machine. */
export const text = (room: Room): string => {
  const { checks = [], conditions, doc, name, nouns, refusals, templates = [] } = room
  const events = nouns.flatMap((noun) => Object.entries(noun.events ?? {}))
  const blocks = [
    notice,
    `# ${name}`,
    doc,
    ...section(
      "Records",
      ["Record", "What it is", "Kept by"],
      nouns.flatMap(({ collections = [] }) => collections.map(recordRow))
    ),
    ...nouns.flatMap(stateBlocks),
    ...section(
      "Writes",
      [
        "Write",
        "Route",
        "What it does",
        "Made by",
        "Approvers",
        "Signed figures",
        "Refuses",
        "Conditions"
      ],
      [...new Set<AnyOperation>(writesOf(room))].map(writeRow)
    ),
    ...section(
      "Reads",
      ["Read", "Route", "What it answers", "Read by"],
      nouns.flatMap(({ queries = [] }) => queries.map(readRow))
    ),
    ...(events.length === 0 ? [] : ["## Events", ...events.flatMap(eventBlocks)]),
    ...section(
      "Refusals",
      ["Slug", "Status", "Retryable", "Title"],
      Object.entries(refusals?.rows ?? {}).map(([slug, { retryable, status, title }]) => [
        code(slug),
        `${status}`,
        retryable ? "yes" : "no",
        title
      ])
    ),
    ...section(
      "Conditions",
      ["Condition", "Gate", "What must hold", "Recovery"],
      Object.entries(conditions?.rows ?? {}).map(([condition, { gate, recovery, sentence }]) => [
        code(condition),
        code(gate),
        sentence,
        recovery ?? "–"
      ])
    ),
    ...section(
      "Checks of reconciliation",
      ["Check", "What it finds", "Needs", "Largest difference that is no finding"],
      checks.map((check) => [
        code(check.name),
        check.doc,
        check.needs,
        Decimal.formatPlain(check.tolerance)
      ])
    ),
    ...section(
      "Acts outside the interface",
      ["Act", "What it is"],
      Object.entries(room.waitingActions ?? {}).map(([act, sentence]) => [code(act), sentence])
    ),
    ...section(
      "Templates of the ledger",
      ["Template", "Choices"],
      templates.map(({ choices, typeRef: { entity, module, packageName } }) => [
        code(`${packageName}:${module}:${entity}`),
        codes(Object.keys(choices))
      ])
    )
  ]
  return `${blocks.join("\n\n")}\n`
}
