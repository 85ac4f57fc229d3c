/**
 * Projection of the statements for which the checks of an instrument wait: the latest runs could not
 * compare them, so that they cleared no distribution (docs/domain/reconciliation.md#not-compared).
 */
import { Schema } from "effect"
import * as Collection from "../kernel/Collection.ts"

const { Array: List, Literal, String: Text, Struct } = Schema

const Awaited = Struct({
  externalStatementId: Text,
  check: Text,
  /** Reason why it was not compared. */
  why: Text
})

export const AwaitedStatements = Struct({
  instrumentId: Text,
  /** None: no check waits for a statement. */
  statements: List(Awaited)
})
export type AwaitedStatements = typeof AwaitedStatements.Type

const Replace = Struct({ on: Literal("replace"), statements: List(Awaited) })

export const awaitedStatements = Collection.define<AwaitedStatements, typeof Replace.Type>(
  "awaited-statements",
  {
    doc: "The statements that the latest runs on an instrument could not compare.",
    id: (self) => self.instrumentId,
    record: AwaitedStatements,
    fact: Replace,
    evolve: (self, { statements }) => ({ ...self, statements }),
    keptBy: "engine"
  }
)

const keyPrefix = "statements:"

/** Key of the condition of waiting records that checks of an instrument wait for statements. */
export const awaitedKey = (instrumentId: string): string => `${keyPrefix}${instrumentId}`

/** The instrument of such a key; undefined: it is the key of another condition. */
export const awaitedFor = (key: string): string | undefined =>
  key.startsWith(keyPrefix) ? key.slice(keyPrefix.length) : undefined
