/** Drawing of a state set: its diagram, and tables of its states, triggers and moves. */
import type { AnyJudged } from "../kernel/Judged.ts"
import type { By, Machine, Trigger } from "../kernel/Machine.ts"
import type { EventType } from "../vocabulary/EventType.ts"
import { askedOperationKinds } from "../vocabulary/OperationKind.ts"
import { code, codes, table } from "./Markdown.ts"

/** Place of a drawing in its page. */
export interface PagePlace {
  /** Marks of the headings below that of the set: `##`. */
  readonly heading: string
  /** Address of the sentence that says what an event announces. */
  readonly eventAt: (type: EventType) => string
}

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

const tells = (announces: ReadonlyArray<EventType> = [], eventAt: PagePlace["eventAt"]): string =>
  announces.length === 0
    ? "–"
    : announces.map((type) => `[${code(type)}](${eventAt(type)})`).join(", ")

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

const triggerRow =
  ({ eventAt }: PagePlace) =>
  (name: string, trigger: Trigger): ReadonlyArray<string> => [
    name,
    by(trigger.by).join("; "),
    tells(trigger.announces, eventAt)
  ]

/** Blocks of a machine, without its title. */
export const machineBlocks = (machine: Machine, pagePlace: PagePlace): ReadonlyArray<string> => {
  const { heading } = pagePlace
  const row = triggerRow(pagePlace)
  return [
    machine.doc,
    `Reached by folding facts. A record opens in ${codes(machine.opensIn)}.`,
    ...(machine.endless === null ? [] : [machine.endless]),
    diagram(machine),
    `${heading} States`,
    table(
      ["State", "Meaning", "Waits on"],
      Object.entries(machine.states).map(([state, sentence]) => [
        isLast(machine, state) ? `${code(state)} (end)` : code(state),
        sentence,
        waitsOn(machine, state)
      ])
    ),
    `${heading} Triggers`,
    table(
      ["Trigger", "Pulled by", "Announces"],
      [
        row("*(opens)*", machine.opens),
        ...Object.entries(machine.triggers).map(([on, trigger]) => row(code(on), trigger))
      ]
    ),
    `${heading} Moves`,
    "▸ brings the record nearer to its end.",
    table(
      ["From", "Trigger", "To"],
      movesOf(machine).map(({ from, on, to }) => [
        code(from),
        machine.forward.includes(on) ? `▸ ${code(on)}` : code(on),
        code(to)
      ])
    )
  ]
}

/** Blocks of a set that is judged as of the read, without its title. */
export const judgedBlocks = (
  set: AnyJudged,
  { heading }: Pick<PagePlace, "heading">
): ReadonlyArray<string> => [
  set.doc,
  "Judged, never stored: a pure function of the record and of the instant the read is pinned to.",
  `${heading} States`,
  table(
    ["State", "Meaning"],
    Object.entries(set.states).map(([state, sentence]) => [code(state), sentence])
  )
]
