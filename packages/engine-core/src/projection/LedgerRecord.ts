/**
 * Transitions of records that the ledger keeps: opens a record and moves it by the facts that
 * readings find, and keeps a fact that the machine's table does not allow as a breach.
 */
import { Effect, Option } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import * as Machine from "../kernel/Machine.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { Records, type Stored } from "../records/Records.ts"
import type { ResourceKind } from "../vocabulary/ResourceKind.ts"
import type { Node } from "./FromLedger.ts"
import * as Unexpected from "./Unexpected.ts"

/** Effect of reading a ledger fact. */
export type LedgerEffect = Effect.Effect<void, Unavailable, Records>

/** Opens the record of a ledger fact. Each fact is read once: an id that is taken is a defect. */
export const open = <R, F>(
  collection: Collection<R, F>,
  record: NoInfer<R>,
  node: Pick<Node, "act">
) =>
  Effect.flatMap(Records, (records) => records.open(collection, record, node.act)).pipe(
    Effect.catchTag(
      "Refused",
      (): Effect.Effect<Stored<R>> =>
        Effect.die(
          new Error(`a ledger fact was read twice: ${collection.name} ${collection.id(record)}`)
        )
    )
  )

/** A collection whose records ledger facts move, and the machine of their states. */
interface MovedByLedger<R, F, S extends string, T extends string> {
  readonly collection: Collection<R, F>
  readonly machine: Machine.Machine<S, T>
  /** The kind that breaches name: a resource kind, or the name of a record that has no such kind. */
  readonly resourceKind: ResourceKind | (string & {})
}

/** The transitions of one collection, by ledger facts. */
export const transitionsOf = <
  R extends { readonly state: S },
  F,
  S extends string,
  T extends string
>({
  collection,
  machine,
  resourceKind
}: MovedByLedger<R, F, S, T>) => {
  /** Keeps a ledger fact that breaks an expectation, as a breach. */
  const keepBreach = (
    node: Node,
    resourceId: string,
    fact: { readonly on: string; readonly detail: string }
  ): LedgerEffect => Unexpected.keep(node, { resourceKind, resourceId, ...fact })

  /** Keeps a fact that an outside party made by itself and that moves nothing, as a breach that warns. */
  const keepIdle = (
    node: Node,
    resourceId: string,
    fact: { readonly on: string; readonly detail: string }
  ): LedgerEffect =>
    Unexpected.keep(node, {
      resourceKind: Unexpected.idleKindOf(resourceKind),
      resourceId,
      ...fact
    })

  /** Loads the record and runs `read` on it; without such a record the fact is kept as a breach. */
  const withRecord = (
    id: string,
    node: Node,
    on: string,
    read: (self: Stored<R>) => LedgerEffect
  ): LedgerEffect =>
    Effect.gen(function* () {
      const records = yield* Records
      const self = yield* records.find(collection, id)
      if (Option.isSome(self)) yield* read(self.value)
      else yield* keepBreach(node, id, { on, detail: `There is no such ${collection.name}.` })
    })

  /** Records a fact without asking the machine: it moves no state, or the caller has asked already. */
  const record = (self: Stored<R>, node: Node, fact: F): LedgerEffect =>
    Effect.flatMap(Records, (records) =>
      Effect.asVoid(records.append<R, F>(collection, self, fact, node.act))
    )

  const allows = (self: Pick<R, "state">, on: T): boolean => Machine.allows(machine, self.state, on)

  /** Records `factOf` the record where its state allows the trigger, else keeps a breach. */
  const move = (id: string, node: Node, on: T, factOf: (self: Stored<R>) => F): LedgerEffect =>
    withRecord(id, node, on, (self) =>
      allows(self, on)
        ? record(self, node, factOf(self))
        : keepBreach(node, id, {
            on,
            detail: `A ${collection.name} in state ${self.state} does not answer to ${on}.`
          })
    )

  /** Moves the record by a fact that is named as its trigger and does not depend on the record. */
  const moveBy = (id: string, node: Node, fact: F & { readonly on: T }): LedgerEffect =>
    move(id, node, fact.on, () => fact)

  /**
   * Ends the record by such a fact; a record that the clock has already moved to `state` is left
   * unchanged.
   */
  const end = (id: string, node: Node, fact: F & { readonly on: T }, state: S): LedgerEffect =>
    withRecord(id, node, fact.on, (self) =>
      self.state === state ? Effect.void : moveBy(id, node, fact)
    )

  return { allows, end, keepBreach, keepIdle, move, moveBy, record, withRecord }
}
