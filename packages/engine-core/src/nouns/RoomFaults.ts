/**
 * Faults of the rooms that a venue adds: words that are not their own, words or routes that are taken, and
 * references to what no room before them declares. Each is a sentence for whoever starts the venue.
 */
import * as OwnWord from "../vocabulary/OwnWord.ts"
import { type Room, type RoomWords, wordsOf, writesOf } from "./Room.ts"

/** Words and routes that the engine has, which no room takes. */
export interface TakenWords extends RoomWords {
  /** Method and path of every route, the hand-written ones of a host left out. */
  readonly routes: ReadonlyArray<string>
}

/** The rooms of a venue cannot be used; the message has a sentence for each fault, one a line. */
export class RoomsNotUsable extends Error {
  override readonly name = "RoomsNotUsable"
  readonly faults: ReadonlyArray<string>
  constructor(faults: ReadonlyArray<string>) {
    super(faults.join("\n"))
    this.faults = faults
  }
}

const nouns: Readonly<Record<keyof RoomWords, string>> = {
  operationKinds: "write",
  resourceKinds: "kind of record",
  eventTypes: "event",
  reads: "read",
  collections: "collection",
  stateSets: "set of states",
  refusals: "refusal",
  conditions: "condition",
  checks: "check",
  waitingActions: "awaited act",
  timely: "timely write",
  templates: "template"
}

/** Name of a set of states of a room: its schema stands in the document beside those of the engine. */
const stateSetPattern = /^X[A-Z][A-Za-z0-9]*$/u
const templatePattern = /^(?!bursar-)[^:]+:[^:]+:[^:]+$/u

interface Form {
  readonly isMet: (word: string) => boolean
  readonly says: string
}

const plain: Form = { isMet: OwnWord.isPlain, says: "begins with x-, as x-loan does" }
const dotted: Form = { isMet: OwnWord.isDotted, says: "begins with x-, as x-loan.assess does" }

const forms: Readonly<Record<keyof RoomWords, Form>> = {
  operationKinds: dotted,
  resourceKinds: plain,
  eventTypes: dotted,
  reads: dotted,
  collections: plain,
  stateSets: {
    isMet: (word) => stateSetPattern.test(word),
    says: "begins with X and a capital, as XLoanState does"
  },
  refusals: plain,
  conditions: plain,
  checks: plain,
  waitingActions: dotted,
  timely: plain,
  templates: {
    isMet: (word) => templatePattern.test(word),
    says: "is of a package of the venue's own, which does not begin with bursar-"
  }
}

const kindsOfWords = Object.keys(nouns) as ReadonlyArray<keyof RoomWords>

/** Route without the names of its parameters, by which two routes are the same path. */
const pathOf = (route: string): string => route.replaceAll(/\{[^{}]*\}/gu, "{}")

const routesOf = (room: Room): ReadonlyArray<string> => [
  ...writesOf(room).flatMap(({ route }) => (route === null ? [] : [route])),
  ...room.nouns.flatMap(({ queries }) => (queries ?? []).map(({ route }) => route))
]

const ownPath = /^(?:GET|POST|DELETE) \/v1\/x-[a-z0-9-]+(?=[/:]|$)/u

/** Faults of the form of a room's words and routes, each judged alone. */
const formFaults = (room: Room): ReadonlyArray<string> => {
  const words = wordsOf(room)
  return [
    ...(OwnWord.isPlain(room.name)
      ? []
      : [`A room is named ${room.name}: its name begins with x-.`]),
    ...kindsOfWords.flatMap((kind) =>
      words[kind]
        .filter((word) => !forms[kind].isMet(word))
        .map(
          (word) =>
            `The room ${room.name} names a ${nouns[kind]} ${word}: one of a room ${forms[kind].says}.`
        )
    ),
    ...routesOf(room)
      .filter((route) => !ownPath.test(route))
      .map(
        (route) =>
          `The room ${room.name} takes the route ${route}: one of a room begins with /v1/x-.`
      )
  ]
}

/** Faults of words and routes that are declared before, by the engine, another room or this one. */
const clashFaults = (rooms: ReadonlyArray<Room>, taken: TakenWords): ReadonlyArray<string> => {
  const owners = new Map<string, string>()
  const faults: Array<string> = []
  const take = (key: string, owner: string, what: string): void => {
    const before = owners.get(key)
    if (before === undefined) owners.set(key, owner)
    else if (before === owner) faults.push(`The room ${owner} has ${what} twice.`)
    else if (before === "") faults.push(`The room ${owner} takes ${what}, which the engine has.`)
    else faults.push(`The rooms ${before} and ${owner} both have ${what}.`)
  }
  for (const kind of kindsOfWords) {
    for (const word of taken[kind]) owners.set(`${kind} ${word}`, "")
  }
  for (const route of taken.routes) owners.set(`route ${pathOf(route)}`, "")
  for (const room of rooms) {
    take(`room ${room.name}`, room.name, "the name")
    const words = wordsOf(room)
    for (const kind of kindsOfWords) {
      for (const word of words[kind])
        take(`${kind} ${word}`, room.name, `the ${nouns[kind]} ${word}`)
    }
    for (const route of routesOf(room)) {
      take(`route ${pathOf(route)}`, room.name, `the route ${route}`)
    }
  }
  return faults
}

/** A word that a declaration of a room names, and that it or a room before it declares. */
interface Reference {
  readonly kind: keyof RoomWords
  readonly word: string
  /** Subject of the sentence, such as `its machine XLoanState`. */
  readonly by: string
}

const actors = new Set(["ledger", "run", "clock", "screening", "worker", "approver", "maker"])

/** Every word that the declarations of a room name of another declaration. */
const referencesOf = (room: Room): ReadonlyArray<Reference> =>
  room.nouns.flatMap((noun): ReadonlyArray<Reference> => {
    const {
      machine,
      writes = [],
      queries = [],
      timely = [],
      consequences = [],
      fromLedger = []
    } = noun
    const collectionOf = (by: string, { name }: { readonly name: string }): Reference => ({
      kind: "collections",
      word: name,
      by
    })
    return [
      ...(machine === undefined
        ? []
        : [machine.opens, ...Object.values(machine.triggers)].flatMap(({ announces = [], by }) => [
            ...by
              .filter((who) => !actors.has(who))
              .map(
                (word): Reference => ({
                  kind: "operationKinds",
                  word,
                  by: `its machine ${machine.name}`
                })
              ),
            ...announces.map(
              (word): Reference => ({ kind: "eventTypes", word, by: `its machine ${machine.name}` })
            )
          ])),
      ...writes.flatMap(({ conditions = [], kind, refuses }) => [
        ...refuses.map((word): Reference => ({ kind: "refusals", word, by: `its write ${kind}` })),
        ...conditions.map(
          (word): Reference => ({ kind: "conditions", word, by: `its write ${kind}` })
        )
      ]),
      ...queries.flatMap((read) => [
        ...("refuses" in read
          ? read.refuses.map(
              (word): Reference => ({ kind: "refusals", word, by: `its read ${read.name}` })
            )
          : []),
        ...("collection" in read ? [collectionOf(`its read ${read.name}`, read.collection)] : [])
      ]),
      ...timely.map(({ collection, name }) => collectionOf(`its timely write ${name}`, collection)),
      ...consequences.map(({ collection }) => collectionOf("its consequence", collection)),
      ...fromLedger.flatMap(({ inGap = [], template }) =>
        inGap.map((collection) => collectionOf(`its reading of ${template.entity}`, collection))
      )
    ]
  })

/** Faults of references: to a word that nobody declares, or one of a room that comes after. */
const referenceFaults = (rooms: ReadonlyArray<Room>, taken: TakenWords): ReadonlyArray<string> => {
  const placeOf = new Map<string, number>()
  const key = ({ kind, word }: Pick<Reference, "kind" | "word">) => `${kind} ${word}`
  for (const kind of kindsOfWords)
    for (const word of taken[kind]) placeOf.set(key({ kind, word }), -1)
  for (const [place, room] of rooms.entries()) {
    const words = wordsOf(room)
    for (const kind of kindsOfWords) {
      for (const word of words[kind]) {
        if (!placeOf.has(key({ kind, word }))) placeOf.set(key({ kind, word }), place)
      }
    }
  }
  return rooms.flatMap((room, place) =>
    referencesOf(room).flatMap((reference) => {
      const there = placeOf.get(key(reference))
      const what = `the ${nouns[reference.kind]} ${reference.word}`
      if (there === undefined) {
        return [`The room ${room.name}: ${reference.by} names ${what}, which no room declares.`]
      }
      return there > place
        ? [
            `The room ${room.name}: ${reference.by} names ${what} of the room ${rooms[there]?.name}, which comes after it. A room names what rooms before it declare: list ${rooms[there]?.name} first.`
          ]
        : []
    })
  )
}

/** Faults of declarations that say too little for the documents that are made of them. */
const sentenceFaults = (room: Room): ReadonlyArray<string> =>
  room.nouns.flatMap(({ events = {} }) =>
    Object.entries(events).flatMap(([type, { doc }]) =>
      doc === undefined || doc === ""
        ? [`The room ${room.name}: its event ${type} has no sentence that says what it announces.`]
        : []
    )
  )

const statuses = [403, 404, 409, 422, 503]

const refusalFaults = ({ name, refusals }: Room): ReadonlyArray<string> =>
  Object.entries(refusals?.rows ?? {}).flatMap(([slug, { status }]) =>
    statuses.includes(status)
      ? []
      : [
          `The room ${name}: its refusal ${slug} answers the status ${status}; those of rooms answer one of ${statuses.join(", ")}.`
        ]
  )

/** Every fault of rooms, in the order in which they are listed; empty where they can be used. */
export const faultsOf = (rooms: ReadonlyArray<Room>, taken: TakenWords): ReadonlyArray<string> => [
  ...rooms.flatMap((room) => [
    ...formFaults(room),
    ...sentenceFaults(room),
    ...refusalFaults(room)
  ]),
  ...clashFaults(rooms, taken),
  ...referenceFaults(rooms, taken)
]
