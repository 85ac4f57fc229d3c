/**
 * Steps that all proposals to outside parties share: refuses where one is agreed, replaces one that
 * waits.
 */
import { Effect, Result } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import { refuse } from "../kernel/Refusal.ts"
import type { Command } from "../ports/Ledger.ts"
import { Records } from "../records/Records.ts"

/** A state set of something proposed: what still stands is among these states, and nothing else is. */
export interface Standing {
  /** The state set, which a refusal names. */
  readonly machine: { readonly name: string }
  /** Asked for, and not answered yet. */
  readonly waiting: string
  /** Agreed: there is nothing to ask for. */
  readonly agreed: string
}

/**
 * The agreement of a query's results that is proposed or agreed; null: none. One past its date may
 * still be stored as agreed, since the clock ends it at the read.
 */
export const standing = Effect.fnUntraced(function* <R extends { readonly state: string }, F>(
  collection: Collection<R, F>,
  { agreed, waiting }: Standing,
  where: Readonly<Record<string, ReadonlyArray<string>>>
) {
  const records = yield* Records
  const [found] = yield* records.list(collection, {
    where: { ...where, state: [waiting, agreed] },
    direction: "desc",
    limit: 1
  })
  const state = found?.record.state
  return found === undefined || (state !== waiting && state !== agreed) ? null : found.record
})

/**
 * Decides whether the venue may propose again: refuses while one is agreed, and answers the one
 * that waits, which the new proposal replaces.
 */
export const decide = <R extends { readonly state: string }>(
  { agreed, machine }: Standing,
  found: R | null,
  detail: string
) =>
  found !== null && found.state === agreed
    ? refuse("state-conflict", { check: machine.name, detail })
    : Result.succeed({ replaces: found })

/** One transaction: the proposal that waits is taken back, where there is one, and another is made. */
export const replacing = (withdrawal: Command | null, proposal: Command) => ({
  commands: withdrawal === null ? ([proposal] as const) : ([withdrawal, proposal] as const),
  last: true
})

/** The record that the proposal's own creation opened, in the transaction that projects it. */
export const opened = <R, F>(collection: Collection<R, F>, id: string) =>
  Effect.flatMap(Records, (records) => records.get(collection, id)).pipe(
    Effect.catchTag("Refused", () =>
      Effect.die(new Error(`the ${collection.name} ${id} was not read off the ledger`))
    )
  )
