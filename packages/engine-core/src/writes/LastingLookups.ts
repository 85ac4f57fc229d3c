/**
 * Duration of a write's outcome: it lasts until the record that it made leaves the states that it was made
 * into. Then the key of the call's body binds no longer (docs/contract/idempotency.md#without-a-key).
 */
import { Effect, Option } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { Records, type Stored } from "../records/Records.ts"
import type { AnyOperation } from "./Operation.ts"
import { type OperationRecord, operations } from "./OperationRecord.ts"
import * as JudgeWrite from "./JudgeWrite.ts"

/** A write that succeeded, with its encoded result. */
interface Outcome {
  readonly operationId: string
  readonly result: Plain
}

/**
 * Checks that the records that a write made are all in one of these states, by their filter column
 * `state`. Which they are is named by the input, and by the outcome where the engine made the id.
 */
export const whileIn =
  <I, R, F>(
    collection: Collection<R, F>,
    idsOf: (input: I, outcome: Outcome) => ReadonlyArray<string>,
    states: ReadonlyArray<string>
  ) =>
  (input: I, outcome: Outcome): Effect.Effect<boolean, Unavailable, Records> => {
    const stateOf = collection.filters["state"]
    if (stateOf === undefined) throw new Error(`${collection.name} has no filter of its state`)
    const ids = idsOf(input, outcome)
    return Effect.map(
      Effect.forEach(ids, (id) =>
        Effect.flatMap(Records, (records) => records.find(collection, id))
      ),
      (found) => found.every(Option.exists((record) => states.includes(stateOf(record) ?? "")))
    )
  }

/**
 * Loads the operation of an outcome; null: retention has deleted it. Rules that ask what came after a
 * write compare with the instant at which it was opened.
 */
export const operationOf = ({
  operationId
}: Pick<Outcome, "operationId">): Effect.Effect<
  Stored<OperationRecord> | null,
  Unavailable,
  Records
> =>
  Effect.map(
    Effect.flatMap(Records, (records) => records.find(operations, operationId)),
    Option.getOrNull
  )

/** Integer that a member of an encoded result states, as text; a result without it is a defect. */
export const integerOf = (result: Plain, member: string): string => {
  const members = new Map(
    typeof result === "object" && result !== null ? Object.entries(result) : []
  )
  const text = String(members.get(member))
  if (!/^[0-9]+$/u.test(text)) throw new Error(`a result states no ${member}`)
  return text
}

/**
 * Checks that a write's outcome lasts: it has not ended, it failed, or what it made is as it was made.
 */
export const lasts = Effect.fnUntraced(function* (operation: AnyOperation, self: OperationRecord) {
  if (operation.lasts === undefined || self.state !== "succeeded") return true
  const input = yield* JudgeWrite.inputOf(operation, self)
  return yield* operation.lasts(input, { operationId: self.operationId, result: self.result })
})
