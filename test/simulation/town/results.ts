/**
 * Comparison of an operation's result in the town with the record it is about, at that very
 * version.
 */
import { Records } from "@bursar/engine-core"
import type { Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { operations } from "#core/writes/OperationRecord.ts"
import { again, places } from "../../operations/results.ts"
import { same } from "../books.ts"
import { note, type Town } from "./town.ts"

export const make = () => {
  let since: Instant.Instant | undefined
  const compared = new Set<string>()

  return {
    /** The operations that have succeeded since the last look. */
    look: Effect.fnUntraced(function* (town: Town) {
      const records = yield* Records
      const rows = yield* records.list(operations, {
        where: { state: ["succeeded"] },
        limit: 1_000,
        ...(since === undefined ? {} : { updatedFrom: since })
      })
      for (const { record } of rows) {
        if (since === undefined || record.updatedAt > since) since = record.updatedAt
        if (compared.has(record.operationId)) continue
        compared.add(record.operationId)
        // Without a version nothing tells whether the record has moved on in the same instant.
        const isVersioned =
          "version" in ((record.result ?? {}) as object) &&
          places[record.kind]?.member === undefined
        const { differences, how } = isVersioned
          ? yield* again(record)
          : { differences: [], how: "without a version" }
        note(town, `result ${how} ${record.kind}`)
        same(
          differences,
          [],
          `what the result of ${record.kind} ${record.operationId} says otherwise than its record`
        )
      }
    })
  }
}
