/** Everything that is declared, context by context: what docs, checks and tests are read off. */
import * as controls from "./controls/index.ts"
import * as distributions from "./distributions/index.ts"
import * as feeds from "./feeds/index.ts"
import * as holders from "./holders/index.ts"
import * as instruments from "./instruments/index.ts"
import * as Basis from "./kernel/Basis.ts"
import type { Collection } from "./kernel/Collection.ts"
import type { AnyFormula } from "./kernel/Formula.ts"
import type { AnyJudged } from "./kernel/Judged.ts"
import type { Machine } from "./kernel/Machine.ts"
import type { ValueSet } from "./kernel/ValueSet.ts"
import * as orders from "./orders/index.ts"
import type { Reading } from "./projection/Reading.ts"
import type { Read } from "./reads/Read.ts"
import * as reconciliation from "./reconciliation/index.ts"
import * as reserves from "./reserves/index.ts"
import * as vocabulary from "./vocabulary/index.ts"
import * as writes from "./writes/index.ts"
import type { Operation } from "./writes/Operation.ts"
import type { Timely } from "./writes/Timely.ts"

/** State sets reached by folding facts. */
export const machines: ReadonlyArray<Machine> = [
  ...instruments.machines,
  ...holders.machines,
  ...orders.machines,
  ...distributions.machines,
  ...controls.machines,
  ...reserves.machines,
  ...reconciliation.machines,
  ...writes.machines,
  ...feeds.machines
]

/** State sets judged as of the read. */
export const judged: ReadonlyArray<AnyJudged> = [
  ...instruments.judged,
  ...holders.judged,
  ...orders.judged,
  ...distributions.judged,
  ...controls.judged,
  ...reserves.judged,
  ...reconciliation.judged,
  ...writes.judged,
  ...feeds.judged
]

const isValueSet = (value: unknown): value is ValueSet =>
  typeof value === "object" && value !== null && "growth" in value && "members" in value

/** The sets of words that have no states behind them, in the order of their names. */
export const valueSets: ReadonlyArray<ValueSet> = Object.values(vocabulary)
  .filter((value) => isValueSet(value))
  .toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** What a context's table of contents may list beside its state sets. */
interface Contents {
  readonly machines: ReadonlyArray<unknown>
  readonly operations?: ReadonlyArray<Operation>
  readonly reads?: ReadonlyArray<Read>
  readonly readings?: ReadonlyArray<Reading>
  readonly collections?: ReadonlyArray<Collection>
  readonly timely?: ReadonlyArray<Timely>
  readonly formulas?: ReadonlyArray<AnyFormula>
}

const tables = [
  instruments,
  holders,
  orders,
  distributions,
  controls,
  reserves,
  reconciliation,
  writes,
  feeds
] as const

const contexts: ReadonlyArray<Contents> = tables

/** Every write, in the order of the contexts. */
export const operations: ReadonlyArray<Operation> = contexts.flatMap((one) => one.operations ?? [])

/** Every read that is generated from its declaration; the feeds are paged by hand. */
export const reads: ReadonlyArray<Read> = contexts.flatMap((one) => one.reads ?? [])

type OperationsOf<C> = C extends { readonly operations: ReadonlyArray<infer O> } ? O : never
type ReadsOf<C> = C extends { readonly reads: ReadonlyArray<infer R> } ? R : never

/** Every declared write with its own types, for whoever finds one by its kind. */
export type DeclaredOperation = OperationsOf<(typeof tables)[number]>

/** Every declared read with its own types, for whoever finds one by its name. */
export type DeclaredRead = ReadsOf<(typeof tables)[number]>

/** What the ledger's templates mean. */
export const readings: ReadonlyArray<Reading> = contexts.flatMap((one) => one.readings ?? [])

/** Every kind of record. */
export const collections: ReadonlyArray<Collection> = contexts.flatMap(
  (one) => one.collections ?? []
)

/** The writes that the engine opens by itself when a record comes to its time. */
export const timely: ReadonlyArray<Timely> = contexts.flatMap((one) => one.timely ?? [])

/** Every formula a basis may name. */
export const formulas: ReadonlyArray<AnyFormula> = contexts.flatMap((one) => one.formulas ?? [])

/**
 * Computes a figure again from its basis and nothing else: no storage, ledger or network. Its text
 * where the basis is as the formula makes it; otherwise what in it is not.
 */
export const verify = (basis: Basis.Basis) => Basis.verify(basis, formulas)
