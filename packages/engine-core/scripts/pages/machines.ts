/** One page a state set, with its tables and its diagram, and a page that lists them all. */
import * as catalogue from "../../src/catalogue.ts"
import type { AnyJudged } from "../../src/kernel/Judged.ts"
import type { By, Machine, Trigger } from "../../src/kernel/Machine.ts"
import type { EventType } from "../../src/vocabulary/EventType.ts"
import { askedOperationKinds } from "../../src/vocabulary/OperationKind.ts"
import { anchor, code, codes, type Page, page, table } from "./page.ts"

const actors: Readonly<Record<string, string>> = {
  ledger: "an outside party, on the ledger",
  run: "a reconciliation run",
  clock: "the clock",
  screening: "the screening source",
  worker: "a worker of the engine",
  approver: "an approver",
  maker: "the maker"
}

/** Actors that pull a trigger; every kind of write at once is said in two words. */
const by = (who: ReadonlyArray<By>): ReadonlyArray<string> => {
  const every = askedOperationKinds.every((kind) => who.includes(kind))
  const named = every ? who.filter((actor) => Object.hasOwn(actors, actor)) : who
  return [...(every ? ["any write"] : []), ...named.map((actor) => actors[actor] ?? code(actor))]
}

const tells = (announces: ReadonlyArray<EventType> = []): string =>
  announces.length === 0
    ? "–"
    : announces.map((type) => `[${code(type)}](../events.md#${anchor(type)})`).join(", ")

interface Move {
  readonly from: string
  readonly on: string
  readonly to: string
}

const movesOf = (machine: Machine): ReadonlyArray<Move> =>
  Object.keys(machine.states).flatMap((from) =>
    Object.entries(machine.moves[from] ?? {}).flatMap(([on, to]) =>
      to === undefined ? [] : [{ from, on, to }]
    )
  )

const isLast = (machine: Machine, state: string): boolean =>
  Object.keys(machine.moves[state] ?? {}).length === 0

/** Mermaid takes no hyphen in the name of a state. */
const node = (state: string): string => state.replaceAll("-", "_")

const diagram = (machine: Machine): string => {
  const states = Object.keys(machine.states)
  return [
    "```mermaid",
    "stateDiagram-v2",
    ...states
      .filter((state) => node(state) !== state)
      .map((state) => `  state "${state}" as ${node(state)}`),
    ...machine.opensIn.map((state) => `  [*] --> ${node(state)}`),
    ...movesOf(machine).map(({ from, on, to }) => `  ${node(from)} --> ${node(to)}: ${on}`),
    ...states.filter((state) => isLast(machine, state)).map((state) => `  ${node(state)} --> [*]`),
    "```"
  ].join("\n")
}

/** Actors that a record in this state waits on: those of the forward moves that leave it. */
const waitsOn = (machine: Machine, state: string): string => {
  const forward = movesOf(machine).filter(
    (move) => move.from === state && machine.forward.includes(move.on)
  )
  const who = forward.flatMap(({ on }) => by(machine.triggers[on]?.by ?? []))
  return who.length === 0 ? "–" : [...new Set(who)].join("; ")
}

const triggerRow = (name: string, trigger: Trigger): ReadonlyArray<string> => [
  name,
  by(trigger.by).join("; "),
  tells(trigger.announces)
]

const movedPage = (machine: Machine): Page =>
  page(
    `machines/${machine.name}.md`,
    `# ${machine.name}`,
    machine.doc,
    `Reached by folding facts. A record opens in ${codes(machine.opensIn)}.`,
    ...(machine.endless === null ? [] : [machine.endless]),
    diagram(machine),
    "## States",
    table(
      ["State", "Meaning", "Waits on"],
      Object.entries(machine.states).map(([state, sentence]) => [
        isLast(machine, state) ? `${code(state)} (end)` : code(state),
        sentence,
        waitsOn(machine, state)
      ])
    ),
    "## Triggers",
    table(
      ["Trigger", "Pulled by", "Announces"],
      [
        triggerRow("*(opens)*", machine.opens),
        ...Object.entries(machine.triggers).map(([on, trigger]) => triggerRow(code(on), trigger))
      ]
    ),
    "## Moves",
    "▸ brings the record nearer to its end.",
    table(
      ["From", "Trigger", "To"],
      movesOf(machine).map(({ from, on, to }) => [
        code(from),
        machine.forward.includes(on) ? `▸ ${code(on)}` : code(on),
        code(to)
      ])
    )
  )

const judgedPage = (set: AnyJudged): Page =>
  page(
    `machines/${set.name}.md`,
    `# ${set.name}`,
    set.doc,
    "Judged, never stored: a pure function of the record and of the instant the read is pinned to.",
    "## States",
    table(
      ["State", "Meaning"],
      Object.entries(set.states).map(([state, sentence]) => [code(state), sentence])
    )
  )

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
  ...catalogue.machines.map(movedPage),
  ...catalogue.judged.map(judgedPage)
]
