/** Steps that the writes of subscriptions and redemptions share. */
import { Effect, Schema } from "effect"
import type { Collection } from "../../kernel/Collection.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as PlainJson from "../../kernel/PlainJson.ts"
import { Crypto } from "../../ports/Crypto.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { count, nothing, phrase, type Phrase } from "../../writes/Summary.ts"
import * as Cash from "./CashLine.ts"

/** Slugs of the refusals of a write on an existing order that more than its state decides about. */
export const refuses = ["not-found", "state-conflict", "rule-refused"] as const

/** The member of an operation's input that names bank lines; an order paid on the ledger has none. */
export const bankLines = Cash.CashLines.pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))

/** Bank lines that pay an order, for the summary of the write that takes them. */
export const paidBy = (lines: ReadonlyArray<unknown>): Phrase =>
  lines.length === 0 ? nothing : phrase`, paid by ${count(lines.length, "bank line")}`

/** Loads an order that an operation has just changed; dies if the order does not exist. */
export const reload = <R, F>(orders: Collection<R, F>, id: string) =>
  Effect.flatMap(Records, (records) => records.get(orders, id)).pipe(
    Effect.catchTag("Refused", () => Effect.die(new Error(`${orders.name} ${id} vanished`)))
  )

/** Makes the result of an operation: the view of the order after it. */
export const shownAfter =
  <R, F, V>(orders: Collection<R, F>, view: (record: Stored<R>, now: Instant.Instant) => V) =>
  (id: string, { now }: OperationAct) =>
    Effect.map(reload(orders, id), (record) => view(record, now))

/** Returns the contract that an order in this state has by its invariants; throws if it has none. */
export const contractOf = (cid: string | null, contract: string): string => {
  if (cid === null) throw new Error(`an order in this state has a ${contract}`)
  return cid
}

/** Returns the digest of bank lines that the ledger keeps: the SHA-256 of their canonical JSON. */
export const digestOf = (lines: ReadonlyArray<Cash.CashLine>) =>
  Effect.map(Crypto, (crypto) =>
    crypto.sha256(PlainJson.canonical(Schema.encodeSync(Schema.Array(Cash.CashLine))(lines)))
  )
