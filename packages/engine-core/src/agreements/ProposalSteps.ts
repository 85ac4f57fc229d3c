/**
 * Steps of proposing terms to outside parties: refuses while such terms are agreed, and replaces an
 * earlier proposal that is not answered yet.
 */
import { Effect, Result } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import { refuse } from "../kernel/Refusal.ts"
import type { Command } from "../ports/Ledger.ts"
import { Records } from "../records/Records.ts"
import type { Agreement, AgreementRecord } from "./Agreement.ts"

/** Names of the states that decide whether the venue may propose again. */
export interface States {
  /** The state set, which a refusal names. */
  readonly machine: { readonly name: string }
  /** The state of a proposal that awaits its answer. */
  readonly proposed: string
  /** The state in which the terms are agreed and nothing may be proposed. */
  readonly agreed: string
}

/**
 * Loads the latest record of a query's results that is proposed or agreed; null: none. A record past
 * its date may still be stored as agreed, since the clock ends it at the read.
 */
export const latest = Effect.fnUntraced(function* <R extends { readonly state: string }, F>(
  collection: Collection<R, F>,
  { agreed, proposed }: States,
  where: Readonly<Record<string, ReadonlyArray<string>>>
) {
  const records = yield* Records
  const [found] = yield* records.list(collection, {
    where: { ...where, state: [proposed, agreed] },
    direction: "desc",
    limit: 1
  })
  const state = found?.record.state
  return found === undefined || (state !== proposed && state !== agreed) ? null : found.record
})

/**
 * Decides whether the venue may propose again: refuses `state-conflict` while terms are agreed,
 * otherwise returns the proposal that the new one replaces.
 */
export const decide = <R extends { readonly state: string }>(
  { agreed, machine }: States,
  found: R | null,
  detail: string
) =>
  found !== null && found.state === agreed
    ? refuse("state-conflict", { check: machine.name, detail })
    : Result.succeed({ replaces: found })

const ofAgreements = { proposed: "proposed", agreed: "agreed" } as const

/** Loads the latest agreement of an instrument that is proposed or agreed; null: none. */
export const latestOf = <R extends AgreementRecord<C, A>, C extends string, A extends string>(
  { collection, machine }: Agreement<R, C, A>,
  instrumentId: string
) => latest(collection, { machine, ...ofAgreements }, { instrumentId: [instrumentId] })

/**
 * Finds the contract of an instrument's unanswered proposal, which a new one replaces; null: none.
 * Refuses `state-conflict`, with `detail`, while the agreement is in force.
 */
export const replacedBy = Effect.fnUntraced(function* <
  R extends AgreementRecord<C, A>,
  C extends string,
  A extends string
>(
  agreement: Agreement<R, C, A>,
  { detail, instrumentId }: { readonly detail: string; readonly instrumentId: string }
) {
  const found = yield* latestOf(agreement, instrumentId)
  const { replaces } = yield* Effect.fromResult(
    decide({ machine: agreement.machine, ...ofAgreements }, found, detail)
  )
  return replaces?.proposalCid ?? null
})

/** Commands that propose, in one transaction with the withdrawal of the proposal they replace. */
export const replacing = (
  proposal: Command,
  replaced: string | null,
  withdraw: (contractId: string) => Command
) => ({
  commands: replaced === null ? ([proposal] as const) : ([withdraw(replaced), proposal] as const),
  last: true
})

/** Loads the record that the proposal's creation opened, in the transaction that projects it. */
export const opened = <R, F>(collection: Collection<R, F>, id: string) =>
  Effect.flatMap(Records, (records) => records.get(collection, id)).pipe(
    Effect.catchTag("Refused", () =>
      Effect.die(new Error(`the ${collection.name} ${id} was not read off the ledger`))
    )
  )
