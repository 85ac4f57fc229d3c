/**
 * Catalogue of all declarations, gathered from the rooms: operations, reads, machines, events,
 * workers.
 */
import * as admissions from "./admissions/index.ts"
import * as distributions from "./distributions/index.ts"
import * as CloseOperations from "./holders/holder/CloseOperations.ts"
import * as feeds from "./feeds/index.ts"
import * as findings from "./findings/index.ts"
import * as holders from "./holders/index.ts"
import * as ForcedTransferOperations from "./powers/ForcedTransferOperations.ts"
import * as HoldOperations from "./restraints/hold/HoldOperations.ts"
import * as instruments from "./instruments/index.ts"
import * as orders from "./orders/index.ts"
import * as overviews from "./overviews/index.ts"
import * as powers from "./powers/index.ts"
import * as readsRoom from "./reads/index.ts"
import * as reconciliation from "./reconciliation/index.ts"
import * as reserves from "./reserves/index.ts"
import * as restraints from "./restraints/index.ts"
import * as statements from "./statements/index.ts"
import * as Basis from "./kernel/Basis.ts"
import type { Collection } from "./kernel/Collection.ts"
import * as Noun from "./nouns/Noun.ts"
import { type Room, wordsOf } from "./nouns/Room.ts"
import { faultsOf, RoomsNotUsable, type TakenWords } from "./nouns/RoomFaults.ts"
import type { FromLedger } from "./projection/FromLedger.ts"
import type { Read } from "./reads/Read.ts"
import type { EventDeclaration } from "./records/EventDeclaration.ts"
import type { BuiltInEventType } from "./vocabulary/EventType.ts"
import * as vocabulary from "./vocabulary/index.ts"
import * as Conditions from "./kernel/Conditions.ts"
import type { AnyJudged } from "./kernel/Judged.ts"
import type { Machine } from "./kernel/Machine.ts"
import { type RefusalRow, refusals } from "./kernel/Refusal.ts"
import type { RoomCheck } from "./reconciliation/checks/RoomCheck.ts"
import type { AnyFormula } from "./kernel/Formula.ts"
import type { Consequence } from "./records/Consequence.ts"
import type { Timely } from "./records/Timely.ts"
import type { AnyValueSet } from "./vocabulary/ValueSet.ts"
import type { ConcealedEvents } from "./writes/Concealment.ts"
import type { Operation } from "./writes/Operation.ts"
import * as writes from "./writes/index.ts"

/** The nouns of all rooms, lowest room first: each imports values from rooms before it only. */
const nouns: ReadonlyArray<Noun.Noun> = [
  ...writes.nouns,
  ...readsRoom.nouns,
  ...feeds.nouns,
  ...findings.nouns,
  ...instruments.nouns,
  ...holders.nouns,
  ...admissions.nouns,
  ...restraints.nouns,
  ...statements.nouns,
  ...orders.nouns,
  ...powers.nouns,
  ...distributions.nouns,
  ...reserves.nouns,
  ...reconciliation.nouns,
  ...overviews.nouns
]

/** Nouns with their own types, by the rooms that list them: their types are written out there alone. */
type DeclaredNoun =
  | (typeof writes.nouns)[number]
  | (typeof readsRoom.nouns)[number]
  | (typeof feeds.nouns)[number]
  | (typeof findings.nouns)[number]
  | (typeof instruments.nouns)[number]
  | (typeof holders.nouns)[number]
  | (typeof admissions.nouns)[number]
  | (typeof restraints.nouns)[number]
  | (typeof statements.nouns)[number]
  | (typeof orders.nouns)[number]
  | (typeof powers.nouns)[number]
  | (typeof distributions.nouns)[number]
  | (typeof reserves.nouns)[number]
  | (typeof reconciliation.nouns)[number]
  | (typeof overviews.nouns)[number]

const concealedOf = (roomNouns: ReadonlyArray<Noun.Noun>): ConcealedEvents => ({
  resourceKinds: roomNouns.flatMap((noun) => noun.concealed?.resourceKinds ?? []),
  types: roomNouns.flatMap((noun) => noun.concealed?.types ?? []),
  operations: roomNouns.flatMap((noun) => noun.concealed?.operations ?? []),
  untilDone: roomNouns.flatMap((noun) => noun.concealed?.untilDone ?? []),
  payloads: Object.assign({}, ...roomNouns.map((noun) => noun.concealed?.payloads ?? {}))
})

/** State sets reached by folding facts. */
export const machines = nouns.flatMap(({ machine }) => (machine === undefined ? [] : [machine]))

/** State sets judged as of the read. */
export const judged = Noun.gather(nouns, "judged")

const isValueSet = (value: unknown): value is AnyValueSet =>
  typeof value === "object" && value !== null && "growth" in value && "members" in value

/** Sets of words other than states, by name. */
export const valueSets: ReadonlyArray<AnyValueSet> = Object.values(vocabulary)
  .filter((value) => isValueSet(value))
  .toSorted((a, b) => (a.name < b.name ? -1 : 1))

const table = Object.assign({}, ...nouns.map((noun) => noun.events)) as Noun.EventsOf<DeclaredNoun>

/** Every type of event, each declared by the noun that announces it. */
export const events: {
  readonly [T in BuiltInEventType]: EventDeclaration<(typeof table)[T]["payload"]["Type"]>
} = table satisfies { readonly [T in BuiltInEventType]: EventDeclaration<unknown> }

/** Closing a holder, with the conditions that every room contributes on what still binds the holder. */
const close = CloseOperations.closing({
  ...admissions.holderTies,
  ...restraints.holderTies,
  ...orders.holderTies,
  ...distributions.holderTies,
  ...reserves.holderTies
})

/** Pausing an instrument, with what follows in the rooms above. */
const pause = HoldOperations.pausing(distributions.holdFollowers)

/** Forced transfer of one holder, with the lines that a room above lets an order void. */
const forceTransfer = ForcedTransferOperations.forcing(distributions.voidableLines)

/** All writes, in the order of the nouns. */
export const operations: ReadonlyArray<Operation> = [
  ...Noun.gather(nouns, "writes"),
  close,
  pause,
  forceTransfer
]

/** All reads that are generated from declarations; the feeds page by their own services. */
export const queries: ReadonlyArray<Read> = Noun.gather(nouns, "queries")

/** Workers of all nouns, each with the services that it needs; the engine runs them in this order. */
export const workers = nouns.flatMap(
  (noun) => (noun.workers ?? []) as ReadonlyArray<Noun.WorkerOf<DeclaredNoun>>
)

/** Union of the declared writes with their own types, to find one by its kind. */
export type DeclaredOperation =
  | Noun.WriteOf<DeclaredNoun>
  | typeof close
  | typeof pause
  | typeof forceTransfer

/** Union of the declared reads with their own types, to find one by its name. */
export type DeclaredRead = Noun.QueryOf<DeclaredNoun>

/** Facts that all nouns take from the ledger; the movements are read with what the acts of every room say units cost. */
export const fromLedger: ReadonlyArray<FromLedger> = [
  ...Noun.gather(nouns, "fromLedger"),
  ...instruments.movementReadings({
    ...orders.acquisitions,
    ...distributions.acquisitions,
    ...reserves.acquisitions
  })
]

/** Collections of all nouns: every kind of record. */
export const collections: ReadonlyArray<Collection> = Noun.gather(nouns, "collections")

/** Scheduled writes, which the engine opens by itself at an instant of a record. */
export const timely = Noun.gather(nouns, "timely")

/** Consequences of all nouns: judgements made again in the transaction that changes a record. */
export const consequences = Noun.gather(nouns, "consequences")

/** Keepers of all nouns: the history that retention leaves because a noun still reads it. */
export const historyKeepers = Noun.gather(nouns, "historyKeepers")

/** Steps of a retention run that the nouns contribute, after those of the feeds. */
export const retentionSteps = Noun.gather(nouns, "retentionSteps")

/** Events that investors and apps do not read. */
export const concealed: ConcealedEvents = concealedOf(nouns)

/** Formulas that a basis may name. */
export const formulas = Noun.gather(nouns, "formulas")

/**
 * Recomputes a figure from its basis alone, without storage, ledger or network. Returns the
 * figure's text where the basis is correct; otherwise the member that is not as the formula makes
 * it.
 */
export const verify = (basis: Basis.Basis) => Basis.verify(basis, formulas)

/**
 * Everything that an engine and its host know by declaration: what this package declares, and what the
 * rooms of a venue add. One value is given to both, and to whoever looks a declaration up by its name.
 */
export interface Catalogue {
  readonly machines: ReadonlyArray<Machine>
  readonly judged: ReadonlyArray<AnyJudged>
  readonly valueSets: ReadonlyArray<AnyValueSet>
  /** Words that the rooms add to the sets that are open to them, by the name of the set. */
  readonly ownWords: ReadonlyMap<string, ReadonlyArray<string>>
  readonly operations: ReadonlyArray<Operation>
  readonly queries: ReadonlyArray<Read>
  readonly fromLedger: ReadonlyArray<FromLedger>
  readonly collections: ReadonlyArray<Collection>
  readonly timely: ReadonlyArray<Timely>
  readonly consequences: ReadonlyArray<Consequence>
  readonly concealed: ConcealedEvents
  readonly formulas: ReadonlyArray<AnyFormula>
  /** Checks of rooms, which run after those of the engine. */
  readonly roomChecks: ReadonlyArray<RoomCheck>
  /** Every refusal, by its slug. */
  readonly refusals: Readonly<Record<string, RefusalRow>>
  /** Name of every condition. */
  readonly conditions: ReadonlyArray<string>
  readonly rooms: ReadonlyArray<Room>
}

/** Words and routes of this package, which no room takes. */
const taken: TakenWords = {
  operationKinds: vocabulary.OperationKind.members,
  resourceKinds: vocabulary.ResourceKind.members,
  eventTypes: vocabulary.EventType.members,
  reads: queries.map(({ name }) => name),
  collections: collections.map(({ name }) => name),
  stateSets: [...machines, ...judged, ...valueSets].map(({ name }) => name),
  refusals: Object.keys(refusals),
  conditions: Object.keys(Conditions.conditions),
  checks: vocabulary.checkNames,
  waitingActions: vocabulary.WaitingAction.members,
  timely: timely.map(({ name }) => name),
  templates: [],
  routes: [...operations, ...queries].map(({ route }) => route)
}

/** The catalogue without a room of a venue's own. */
export const builtIn: Catalogue = {
  machines,
  judged,
  valueSets,
  ownWords: new Map(),
  operations,
  queries,
  fromLedger,
  collections,
  timely,
  consequences,
  concealed,
  formulas,
  roomChecks: [],
  refusals,
  conditions: Object.keys(Conditions.conditions),
  rooms: []
}

/**
 * The catalogue with the rooms of a venue, lowest first: a room may name what this package and rooms
 * before it declare. Throws `RoomsNotUsable`, with a sentence for each fault, where a word or a route is
 * taken, is not a room's own, or names what no room before declares.
 */
export const withRooms = (rooms: ReadonlyArray<Room>): Catalogue => {
  if (rooms.length === 0) return builtIn
  const faults = faultsOf(rooms, taken)
  if (faults.length > 0) throw new RoomsNotUsable(faults)
  const own = rooms.flatMap((room): ReadonlyArray<Noun.Noun> => room.nouns)
  const words = rooms.map((room) => wordsOf(room))
  const kinds = words.flatMap(({ operationKinds }) => operationKinds)
  return {
    machines: [...machines, ...own.flatMap(({ machine }) => machine ?? [])],
    judged: [...judged, ...Noun.gather(own, "judged")],
    valueSets,
    ownWords: new Map([
      ["OperationKind", kinds],
      ["AuditAction", kinds],
      ["WaitingAction", [...kinds, ...words.flatMap(({ waitingActions }) => waitingActions)]],
      ["ResourceKind", words.flatMap(({ resourceKinds }) => resourceKinds)],
      ["SearchKind", words.flatMap(({ resourceKinds }) => resourceKinds)],
      ["EventType", words.flatMap(({ eventTypes }) => eventTypes)],
      ["ReconciliationCheck", words.flatMap(({ checks }) => checks)]
    ]),
    operations: [...operations, ...Noun.gather(own, "writes")],
    queries: [...queries, ...Noun.gather(own, "queries")],
    fromLedger: [...fromLedger, ...Noun.gather(own, "fromLedger")],
    collections: [...collections, ...Noun.gather(own, "collections")],
    timely: [...timely, ...Noun.gather(own, "timely")],
    consequences: [...consequences, ...Noun.gather(own, "consequences")],
    concealed: concealedOf([...nouns, ...own]),
    formulas: [...formulas, ...Noun.gather(own, "formulas")],
    roomChecks: rooms.flatMap(({ checks = [] }) => checks),
    refusals: Object.assign({}, refusals, ...rooms.map((room) => room.refusals?.rows)),
    conditions: [
      ...Object.keys(Conditions.conditions),
      ...words.flatMap(({ conditions }) => conditions)
    ],
    rooms
  }
}
