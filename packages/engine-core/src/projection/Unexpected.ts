/**
 * Breaches: ledger facts that no state machine allows, kept until a reconciliation run reports
 * them.
 */
import { Effect, Option, Schema } from "effect"
import * as Collection from "../kernel/Collection.ts"
import type { Act } from "../records/Act.ts"
import { Records } from "../records/Records.ts"
import type { Node } from "./FromLedger.ts"

export const UnexpectedFact = Schema.Struct({
  unexpectedFactId: Schema.String,
  contractId: Schema.String,
  /** Kind of the record that the fact would have moved. */
  resourceKind: Schema.String,
  resourceId: Schema.String,
  /** The trigger that the fact is named after. */
  on: Schema.String,
  detail: Schema.String
})
export type UnexpectedFact = typeof UnexpectedFact.Type

export const unexpectedFacts = Collection.define<UnexpectedFact, never>("unexpected-fact", {
  doc: "A ledger fact that broke what a state set allows or a collection expects.",
  id: (record) => record.unexpectedFactId,
  record: UnexpectedFact,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "ledger",
  filters: {
    resourceKind: (record) => record.resourceKind,
    resourceId: (record) => record.resourceId
  }
})

const idlePrefix = "idle/"

/**
 * Kind under which a fact is kept that an outside party made by itself and that moved nothing, such as an
 * allocation of a wrong amount: it warns, and stops no payments of others.
 */
export const idleKindOf = (resourceKind: string): string => `${idlePrefix}${resourceKind}`

/** The kind of record that a fact is kept under, and whether the fact moved nothing. */
export const kindOf = (keptText: string): { readonly kind: string; readonly isIdle: boolean } =>
  keptText.startsWith(idlePrefix)
    ? { kind: keptText.slice(idlePrefix.length), isIdle: true }
    : { kind: keptText, isIdle: false }

/** Keeps a fact that may not move its record, at most one for each node and kind of record. */
export const keep = (
  node: Pick<Node, "updateId" | "nodeId" | "contractId" | "act">,
  fact: Omit<UnexpectedFact, "unexpectedFactId" | "contractId">,
  act: Act = node.act
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const unexpectedFactId = `${node.updateId}:${node.nodeId}:${fact.resourceKind}`
    if (Option.isSome(yield* records.find(unexpectedFacts, unexpectedFactId))) return
    yield* records.open(
      unexpectedFacts,
      { unexpectedFactId, contractId: node.contractId, ...fact },
      act
    )
  }).pipe(
    Effect.catchTag("Refused", ({ slug }) =>
      Effect.die(new Error(`a breach was kept twice: ${slug}`))
    )
  )
