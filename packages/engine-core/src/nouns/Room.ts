/**
 * Declaration of a room that a venue adds: its nouns, as a room of the engine lists its own, and the
 * words that only it has. One value is given to the engine, to its host and to whoever calls either.
 */
import type { RoomConditions } from "../kernel/Gates.ts"
import type { RoomRefusals } from "../kernel/Refusal.ts"
import type { RoomCheck } from "../reconciliation/checks/RoomCheck.ts"
import type { Template } from "../templates/Template.ts"
import type { OwnDottedWord, OwnWord } from "../vocabulary/OwnWord.ts"
import type { Noun, QueryOf as NounQueries, WriteOf as NounWrites } from "./Noun.ts"

/** A noun of a room: the parts of a noun that need no service of the engine's own inside. */
export type RoomNoun = Omit<Noun, "workers" | "historyKeepers" | "retentionSteps">

/** A room of a venue's own. Each word in it begins with `x-`. */
export interface Room {
  /** Name of the room, by which sentences at the start and the document's groups name it: `x-loans`. */
  readonly name: OwnWord
  /** One sentence: what the room is for. */
  readonly doc: string
  /** Nouns of the room, lowest first. */
  readonly nouns: ReadonlyArray<RoomNoun>
  /** Refusals that only the room gives; those of the engine need no declaration. */
  readonly refusals?: Pick<RoomRefusals, "rows">
  /** Conditions of gates that only the room judges. */
  readonly conditions?: Pick<RoomConditions, "rows">
  /** Checks of reconciliation that only the room makes; they run after the engine's. */
  readonly checks?: ReadonlyArray<RoomCheck>
  /** Acts that a record of the room waits for and that are no write of the API, with their sentences. */
  readonly waitingActions?: Readonly<Record<OwnDottedWord, string>>
  /** Templates of the ledger that the room reads and exercises. */
  readonly templates?: ReadonlyArray<Template>
}

/** Declares a room; the types of its writes and reads stay, so that a caller finds each by its name. */
export const declare = <const R extends Room>(room: R): R => room

/** Nouns of rooms, with their own types. */
type NounOf<R> = R extends { readonly nouns: ReadonlyArray<infer N> } ? N : never

/** Writes of rooms, with their own types, which `Noun.declare` keeps. */
export type WriteOf<R> = NounWrites<NounOf<R>>

/** Reads of rooms, with their own types, which `Noun.declare` keeps. */
export type QueryOf<R> = NounQueries<NounOf<R>>

/** Words of a room, by what they name; those of a kind are in the order of their declarations. */
export interface RoomWords {
  readonly operationKinds: ReadonlyArray<string>
  readonly resourceKinds: ReadonlyArray<string>
  readonly eventTypes: ReadonlyArray<string>
  readonly reads: ReadonlyArray<string>
  readonly collections: ReadonlyArray<string>
  readonly stateSets: ReadonlyArray<string>
  readonly refusals: ReadonlyArray<string>
  readonly conditions: ReadonlyArray<string>
  readonly checks: ReadonlyArray<string>
  readonly waitingActions: ReadonlyArray<string>
  readonly timely: ReadonlyArray<string>
  readonly templates: ReadonlyArray<string>
}

/** Writes of a room, also those that only the engine opens. */
export const writesOf = ({ nouns }: Pick<Room, "nouns">) => [
  ...nouns.flatMap(({ writes }) => writes ?? []),
  ...nouns.flatMap(({ timely }) => (timely ?? []).map(({ operation }) => operation))
]

const distinct = (words: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(words)]

/** The words that a room declares. */
export const wordsOf = (room: Room): RoomWords => {
  const { checks, conditions, nouns, refusals, templates, waitingActions } = room
  const events = nouns.flatMap((noun) => Object.entries(noun.events ?? {}))
  return {
    operationKinds: [...new Set(writesOf(room))].map(({ kind }) => kind),
    resourceKinds: distinct([
      ...writesOf(room).map(({ resource }) => resource.kind),
      ...events.flatMap(([, { resourceKind }]) => (resourceKind === "any" ? [] : [resourceKind]))
    ]),
    eventTypes: events.map(([type]) => type),
    reads: nouns.flatMap(({ queries }) => (queries ?? []).map(({ name }) => name)),
    collections: nouns.flatMap(({ collections }) => (collections ?? []).map(({ name }) => name)),
    stateSets: nouns.flatMap(({ judged, machine }) => [
      ...(machine === undefined ? [] : [machine.name]),
      ...(judged ?? []).map(({ name }) => name)
    ]),
    refusals: Object.keys(refusals?.rows ?? {}),
    conditions: Object.keys(conditions?.rows ?? {}),
    checks: (checks ?? []).map(({ name }) => name),
    waitingActions: Object.keys(waitingActions ?? {}),
    timely: nouns.flatMap(({ timely }) => (timely ?? []).map(({ name }) => name)),
    templates: (templates ?? []).map(
      ({ typeRef }) => `${typeRef.packageName}:${typeRef.module}:${typeRef.entity}`
    )
  }
}
