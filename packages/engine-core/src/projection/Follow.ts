/**
 * Applies a ledger fact to its record: moves it where the machine's table allows, else keeps it as
 * a breach.
 */
import { Effect, Option } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import * as Machine from "../kernel/Machine.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { Records, type Stored } from "../records/Records.ts"
import type { ResourceKind } from "../vocabulary/ResourceKind.ts"
import type { Node } from "./Reading.ts"
import * as Unexpected from "./Unexpected.ts"

/** Effect of reading a ledger fact. */
export type Reads = Effect.Effect<void, Unavailable, Records>

/** A record that ledger facts move, with its machine and the name that breaches are filed under. */
export interface Following<R, F, S extends string, T extends string> {
  readonly collection: Collection<R, F>
  readonly machine: Machine.Machine<S, T>
  /** What an unexpected fact is filed under: a resource kind, or a record that has no kind of its own. */
  readonly resourceKind: ResourceKind | (string & {})
}

export const of = <R extends { readonly state: S }, F, S extends string, T extends string>({
  collection,
  machine,
  resourceKind
}: Following<R, F, S, T>) => {
  /** Keeps a ledger fact that breaks an expectation, as a breach. */
  const surprise = (
    node: Node,
    resourceId: string,
    of: { readonly on: string; readonly detail: string }
  ): Reads => Unexpected.keep(node, { resourceKind, resourceId, ...of })

  /** The record of this id, for `read`; a fact about a record that is not there is kept. */
  const found = (id: string, node: Node, on: string, read: (self: Stored<R>) => Reads): Reads =>
    Effect.gen(function* () {
      const records = yield* Records
      const self = yield* records.find(collection, id)
      if (Option.isSome(self)) yield* read(self.value)
      else yield* surprise(node, id, { on, detail: `There is no such ${collection.name}.` })
    })

  /** Records a fact that moves no state, or one whose move was asked for already. */
  const noted = (self: Stored<R>, node: Node, fact: F): Reads =>
    Effect.flatMap(Records, (records) =>
      Effect.asVoid(records.record<R, F>(collection, self, fact, node.act))
    )

  const allows = (self: Pick<R, "state">, on: T): boolean => Machine.allows(machine, self.state, on)

  /** Moves the record by the trigger, if its state answers to it; the fact may follow from the record. */
  const moved = (id: string, node: Node, on: T, factOf: (self: Stored<R>) => F): Reads =>
    found(id, node, on, (self) =>
      allows(self, on)
        ? noted(self, node, factOf(self))
        : surprise(node, id, {
            on,
            detail: `A ${collection.name} in state ${self.state} does not answer to ${on}.`
          })
    )

  /** Moves the record by a fact that is named as its trigger and owes nothing to the record. */
  const stepped = (id: string, node: Node, fact: F & { readonly on: T }): Reads =>
    moved(id, node, fact.on, () => fact)

  /**
   * Ends the record by such a fact; a record that the clock has already ended in that state stays
   * as it is.
   */
  const ended = (id: string, node: Node, fact: F & { readonly on: T }, state: S): Reads =>
    found(id, node, fact.on, (self) =>
      self.state === state ? Effect.void : stepped(id, node, fact)
    )

  return { allows, ended, found, moved, noted, stepped, surprise }
}
