/**
 * Records that a machine moves and the ledger keeps: each fact is a trigger of the machine, which also says
 * when the clock pulls it, whom the record waits on, and which events announce it.
 */
import { Effect, Record, Schema } from "effect"
import * as Collection from "../kernel/Collection.ts"
import type * as Instant from "../kernel/Instant.ts"
import * as Machine from "../kernel/Machine.ts"
import type { Node } from "../projection/FromLedger.ts"
import * as LedgerRecord from "../projection/LedgerRecord.ts"
import * as FromLedger from "../projection/TypedFromLedger.ts"
import type { EventDeclaration } from "../records/EventDeclaration.ts"
import type { ChoiceName, Payload, Template } from "../templates/Template.ts"
import type { EventType } from "../vocabulary/EventType.ts"
import type { OwnWord } from "../vocabulary/OwnWord.ts"

/** Fact of such a record: the trigger that moves it. */
export interface TriggerFact<T extends string> {
  readonly on: T
}

/** Records of one machine. */
export interface MachineCollection<R, S extends string, T extends string>
  extends Collection.Collection<R, TriggerFact<T>> {
  readonly machine: Machine.Machine<S, T>
}

/** What the events of a record say of it: one payload for all of them. */
interface EventContent<P> {
  readonly payload: P
  readonly party: string | null
  readonly instrumentId?: string
  /** Every holder the event is about; absent: none. */
  readonly holderIds?: ReadonlyArray<string>
}

interface Declaration<R, T extends string, P> {
  readonly doc: string
  id(record: R): string
  readonly record: Schema.Codec<R, unknown>
  /** Instants at which the clock pulls a trigger, where the state answers to it. */
  readonly due?: { readonly [On in T]?: (record: R) => Instant.Instant }
  /** Acts that a record waits for, each while its state answers to the trigger. */
  readonly waitingOn?: { readonly [On in T]?: (record: R) => Collection.WaitingOn }
  /** Events by the types that the machine's triggers announce. */
  readonly events: { readonly [type: string]: EventDeclaration<P> }
  about(record: R): EventContent<P>
}

/**
 * Declares the collection of a kind of record that `machine` moves and the ledger keeps. Lists filter it by
 * its state. An event that the machine announces and `events` lack is a fault of the room at the start.
 */
export const define = <R extends { readonly state: S }, S extends string, T extends string, P>(
  kind: OwnWord,
  machine: Machine.Machine<S, T>,
  { about, due = {}, events, waitingOn = {}, ...declaration }: Declaration<R, T, P>
): MachineCollection<R, S, T> => {
  const triggers = Record.keys(machine.triggers) as ReadonlyArray<T>
  const answered = (record: R): ReadonlyArray<T> =>
    triggers.filter((on) => Machine.allows(machine, record.state, on))
  const announcement = (record: R, type: EventType) => {
    const event = events[type]
    if (event === undefined) throw new Error(`${machine.name} announces ${type}, which it lacks`)
    const { holderIds = [], instrumentId = null, party, payload } = about(record)
    const subject = { resourceKind: kind, resourceId: declaration.id(record), instrumentId, party }
    return { ...subject, type, holderIds, payload: event.encode(payload) }
  }
  return {
    machine,
    ...Collection.define<R, TriggerFact<T>>(kind, {
      ...declaration,
      keptBy: "ledger",
      fact: Schema.Struct({ on: Schema.Literals(triggers) }),
      evolve: (self, { on }) => ({ ...self, state: Machine.follow(machine, self.state, on) }),
      filters: { state: ({ state }) => state },
      ripens: Object.keys(due).length === 0 ? [] : ["state"],
      due: (record) =>
        answered(record)
          .flatMap((on) => {
            const at = due[on]?.(record)
            return at === undefined ? [] : [{ at, fact: { on } }]
          })
          .toSorted((one, other) => (one.at < other.at ? -1 : 1))[0],
      waitingOn: (record) =>
        answered(record).flatMap((on) => {
          const act = waitingOn[on]?.(record)
          return act === undefined ? [] : [act]
        }),
      announce: (record, fact) => {
        const { announces = [] } = fact === undefined ? machine.opens : machine.triggers[fact.on]
        return announces.map((type) => announcement(record, type))
      }
    })
  }
}

/**
 * Reading of the template that keeps such records: its creation opens the record that `opens` makes of the
 * payload, and each choice of `moves` pulls a trigger. A choice that comes in a state which does not answer to
 * it is kept as a breach.
 */
export const reading = <
  R extends { readonly state: S },
  S extends string,
  T extends string,
  X extends Template
>(
  collection: MachineCollection<R, S, T>,
  template: X,
  {
    moves,
    opens
  }: {
    readonly opens: (payload: Payload<X>, node: Pick<Node, "contractId">) => NoInfer<R>
    readonly moves: { readonly [K in ChoiceName<X>]?: NoInfer<T> }
  }
) => {
  const { machine } = collection
  const transitions = LedgerRecord.transitionsOf({
    ...{ collection, machine },
    resourceKind: collection.name
  })
  const moveBy =
    (on: T) =>
    ({ payload }: { readonly payload: Payload<X> }, node: Node) =>
      transitions.moveBy(collection.id(opens(payload, node)), node, { on })
  return FromLedger.of(template, {
    created: (payload, node) =>
      Effect.asVoid(LedgerRecord.open(collection, opens(payload, node), node)),
    // Cast: a record of functions by the same choices.
    exercised: Record.map(moves as Record<string, T>, moveBy) as {
      readonly [K in ChoiceName<X>]?: ReturnType<typeof moveBy>
    }
  })
}
