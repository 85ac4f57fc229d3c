/** Scheduled task that adds the records of before to the search, once for a store. */
import { Effect } from "effect"
import type { Task } from "../../engine/Schedule.ts"
import { Bulk, type BulkRow } from "../../ports/storage/Bulk.ts"
import { byItself } from "../../records/BatchedWork.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import { entryTerms, termsOf } from "./EntryTerms.ts"
import { type ExternalStatement, externalStatements, ownerOf } from "./ExternalStatement.ts"
import * as LineRows from "./LineRows.ts"

/** Milliseconds until the first turn, and between turns, in one of which a program with more kinds fills them. */
const first = 1_000
const every = 60_000

interface StatementRow {
  readonly sortKey: string
  readonly record: ExternalStatement
}

const rowsAtOnce = 1_000
const statementsAtOnce = 100

/** Adds the references of the entries of a statement; lines never change once they are recorded. */
const addedEntries = Effect.fnUntraced(function* (statement: ExternalStatement) {
  const { search } = yield* Records
  const bulk = yield* Bulk
  const owner = ownerOf(statement)
  for (let after: string | undefined = ""; after !== undefined; ) {
    const rows: ReadonlyArray<BulkRow> = yield* orUnavailable(
      bulk.read({ owner, limit: rowsAtOnce, ...(after === "" ? {} : { after }) })
    )
    yield* search.put(termsOf(statement.externalStatementId, rows.map(LineRows.lineOf)))
    after = rows.length < rowsAtOnce ? undefined : rows.at(-1)?.key
  }
})

const filledEntries = Effect.gen(function* () {
  const records = yield* Records
  for (let after: string | undefined = ""; after !== undefined; ) {
    const rows: ReadonlyArray<StatementRow> = yield* records.list(externalStatements, {
      limit: statementsAtOnce,
      ...(after === "" ? {} : { after })
    })
    for (const { record } of rows) {
      if (record.kind !== "cash" || record.prunedAt !== undefined) continue
      yield* byItself(addedEntries(record), `the search, without ${record.externalStatementId},`)
    }
    after = rows.length < statementsAtOnce ? undefined : rows.at(-1)?.sortKey
  }
  yield* records.search.markFilled(entryTerms)
})

export const searchFilling: Task<Records | Bulk> = {
  name: "search-terms",
  doc: "Adds the records that were written before the search to it.",
  every: first,
  run: Effect.fn("search-terms")(function* (turn) {
    const { search } = yield* Records
    yield* search.claim
    for (const part of yield* search.unfilled) {
      yield* Effect.logInfo("adding the records of before to the search", { of: part })
      yield* part === entryTerms ? filledEntries : search.fill(part)
    }
    yield* turn.next({ delay: every, state: "" })
  })
}
