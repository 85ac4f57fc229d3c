/**
 * Catalogue of all declarations, gathered from the rooms: operations, reads, machines, events,
 * workers.
 */
import * as admissions from "./admissions/index.ts"
import * as distributions from "./distributions/index.ts"
import * as CloseOperations from "./holders/holder/CloseOperations.ts"
import * as feeds from "./feeds/index.ts"
import type { Step } from "./feeds/RetentionSteps.ts"
import type { HistoryKeeper } from "./feeds/HistoryKeeper.ts"
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
import type { EventDeclaration } from "./records/EventDeclaration.ts"
import type { EventType } from "./vocabulary/EventType.ts"
import * as vocabulary from "./vocabulary/index.ts"
import * as writes from "./writes/index.ts"
import * as Basis from "./kernel/Basis.ts"
import type { Collection } from "./kernel/Collection.ts"
import type { AnyFormula } from "./kernel/Formula.ts"
import type { AnyJudged } from "./kernel/Judged.ts"
import type { Machine } from "./kernel/Machine.ts"
import type { ValueSet } from "./vocabulary/ValueSet.ts"
import type { FromLedger } from "./projection/FromLedger.ts"
import type { Read } from "./reads/Read.ts"
import type { ConcealedEvents } from "./writes/Concealment.ts"
import type { Operation } from "./writes/Operation.ts"
import type { Consequence } from "./records/Consequence.ts"
import type { Timely } from "./records/Timely.ts"

/** Declarations that a room's index may have. */
interface Room {
  readonly machines?: ReadonlyArray<Machine>
  readonly judged?: ReadonlyArray<AnyJudged>
  readonly operations?: ReadonlyArray<Operation>
  readonly queries?: ReadonlyArray<Read>
  readonly fromLedger?: ReadonlyArray<FromLedger>
  readonly collections?: ReadonlyArray<Collection>
  readonly timely?: ReadonlyArray<Timely>
  readonly consequences?: ReadonlyArray<Consequence>
  readonly formulas?: ReadonlyArray<AnyFormula>
  readonly historyKeepers?: ReadonlyArray<HistoryKeeper>
  readonly retentionSteps?: ReadonlyArray<Step>
  readonly concealed?: ConcealedEvents
  readonly valueSets?: ReadonlyArray<ValueSet>
}

/** The rooms that declare anything, lowest first: each imports values from rooms before it only. */
const declaring = [
  writes,
  readsRoom,
  feeds,
  findings,
  instruments,
  holders,
  admissions,
  restraints,
  statements,
  orders,
  powers,
  distributions,
  reserves,
  reconciliation,
  overviews
] as const

const rooms: ReadonlyArray<Room> = declaring

/** State sets reached by folding facts. */
export const machines = rooms.flatMap((room) => room.machines ?? [])

/** State sets judged as of the read. */
export const judged = rooms.flatMap((room) => room.judged ?? [])

const isValueSet = (value: unknown): value is ValueSet =>
  typeof value === "object" && value !== null && "growth" in value && "members" in value

/** Sets of words other than states, those that a room makes of its declarations among them, by name. */
export const valueSets: ReadonlyArray<ValueSet> = [
  ...Object.values(vocabulary).filter((value) => isValueSet(value)),
  ...rooms.flatMap((room) => room.valueSets ?? [])
].toSorted((a, b) => (a.name < b.name ? -1 : 1))

const table = {
  ...writes.events,
  ...feeds.events,
  ...statements.events,
  ...instruments.events,
  ...admissions.events,
  ...restraints.events,
  ...orders.events,
  ...powers.events,
  ...distributions.events,
  ...reserves.events,
  ...reconciliation.events
} as const satisfies { readonly [T in EventType]: EventDeclaration<unknown> }

/** Every type of event, each declared by the room that announces it. */
export const events: {
  readonly [T in EventType]: EventDeclaration<(typeof table)[T]["payload"]["Type"]>
} = table

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

/** All writes, in the order of the rooms. */
export const operations: ReadonlyArray<Operation> = [
  ...rooms.flatMap((room) => room.operations ?? []),
  close,
  pause,
  forceTransfer
]

/** All reads that are generated from declarations; the feeds page by their own services. */
export const queries: ReadonlyArray<Read> = rooms.flatMap((room) => room.queries ?? [])

type WorkersOf<C> = C extends { readonly workers: ReadonlyArray<infer W> } ? W : never

/** Workers of all rooms, each with the services that it needs; the engine runs them in this order. */
export const workers = declaring.flatMap(
  (room): ReadonlyArray<WorkersOf<(typeof declaring)[number]>> =>
    "workers" in room ? room.workers : []
)

type OperationsOf<C> = C extends { readonly operations: ReadonlyArray<infer O> } ? O : never
type ReadsOf<C> = C extends { readonly queries: ReadonlyArray<infer R> } ? R : never

/** Union of the declared writes with their own types, to find one by its kind. */
export type DeclaredOperation =
  | OperationsOf<(typeof declaring)[number]>
  | typeof close
  | typeof pause
  | typeof forceTransfer

/** Union of the declared reads with their own types, to find one by its name. */
export type DeclaredRead = ReadsOf<(typeof declaring)[number]>

/** Facts that all rooms take from the ledger; the movements are read with what the acts of every room say units cost. */
export const fromLedger: ReadonlyArray<FromLedger> = [
  ...rooms.flatMap((room) => room.fromLedger ?? []),
  ...instruments.movementReadings({
    ...orders.acquisitions,
    ...distributions.acquisitions,
    ...reserves.acquisitions
  })
]

/** Collections of all rooms: every kind of record. */
export const collections: ReadonlyArray<Collection> = rooms.flatMap(
  (room) => room.collections ?? []
)

/** Scheduled writes, which the engine opens by itself at an instant of a record. */
export const timely: ReadonlyArray<Timely> = rooms.flatMap((room) => room.timely ?? [])

/** Consequences of all rooms: judgements made again in the transaction that changes a record. */
export const consequences: ReadonlyArray<Consequence> = rooms.flatMap(
  (room) => room.consequences ?? []
)

/** Keepers of all rooms: the history that retention leaves because a room still reads it. */
export const historyKeepers: ReadonlyArray<HistoryKeeper> = rooms.flatMap(
  (room) => room.historyKeepers ?? []
)

/** Steps of a retention run that the rooms contribute, after those of the feeds. */
export const retentionSteps: ReadonlyArray<Step> = rooms.flatMap(
  (room) => room.retentionSteps ?? []
)

/** Events that investors and apps do not read. */
export const concealed: ConcealedEvents = {
  resourceKinds: rooms.flatMap((room) => room.concealed?.resourceKinds ?? []),
  types: rooms.flatMap((room) => room.concealed?.types ?? []),
  operations: rooms.flatMap((room) => room.concealed?.operations ?? [])
}

/** Formulas that a basis may name. */
export const formulas: ReadonlyArray<AnyFormula> = rooms.flatMap((room) => room.formulas ?? [])

/**
 * Recomputes a figure from its basis alone, without storage, ledger or network. Returns the
 * figure's text where the basis is correct; otherwise the member that is not as the formula makes
 * it.
 */
export const verify = (basis: Basis.Basis) => Basis.verify(basis, formulas)
