/** Read of a restatement: the compensation list of a corrected NAV, streamed and never stored. */
import { Effect, Schema, Stream } from "effect"
import { refused, type Unavailable } from "../../kernel/Refusal.ts"
import type { Crypto } from "../../ports/Crypto.ts"
import type { LedgerReach } from "../../records/LedgerReach.ts"
import * as Read from "../../reads/Read.ts"
import * as PinnedRecords from "../../records/PinnedRecords.ts"
import { Records } from "../../records/Records.ts"
import {
  ExternalStatementId,
  externalStatements
} from "../../statements/external-statement/ExternalStatement.ts"
import * as Restatement from "./Restatement.ts"
import * as RestatementLookups from "./RestatementLookups.ts"
import * as Rules from "./RestatementRules.ts"

export const get = Read.streamed({
  name: "external-statements.restatement",
  doc: "Every order and distribution line that a point of a corrected NAV priced, at the corrected NAV: what was dealt, what it should have been, and what is owed. Nothing is written.",
  route: "GET /v1/external-statements/{externalStatementId}/restatement",
  audience: { operator: "all", approver: "all", risk: "all", auditor: "all" },
  audited: { resourceKind: "external-statement", named: "externalStatementId" },
  pinned: true,
  params: Schema.Struct({ externalStatementId: ExternalStatementId }),
  value: Restatement.Restatement,
  refuses: ["not-found"],
  record: Restatement.RestatementHeader,
  rowsIn: "rows",
  row: Restatement.RestatedRow,
  totalsIn: { member: "totals", value: Restatement.RestatedTotals },
  run: Effect.fn("external-statements.restatement")(function* ({ externalStatementId }, { pin }) {
    const records = PinnedRecords.at(yield* Records, pin)
    const context = yield* Effect.context<Crypto | LedgerReach>()
    const statement = yield* records.get(externalStatements, externalStatementId)
    const restating = yield* RestatementLookups.restatingOf(statement, pin).pipe(
      Effect.provideService(Records, records)
    )
    if (restating === null) {
      return yield* Effect.fail(
        refused("not-found", { detail: "The statement corrects no NAV that could price." })
      )
    }
    let sums: Rules.Sums = new Map()
    const rows: Stream.Stream<Restatement.RestatedRow, Unavailable> = Stream.suspend(() => {
      sums = new Map()
      return RestatementLookups.rowsOf(restating).pipe(
        Stream.tap((some) =>
          Effect.sync(() => {
            sums = Rules.added(sums, some)
          })
        ),
        Stream.flatMap((some) => Stream.fromIterable(some)),
        Stream.provideService(Records, records),
        Stream.provideContext(context)
      )
    })
    return { record: restating.header, rows, totals: Effect.sync(() => Rules.totalsOf(sums)) }
  })
})

export const queries = [get] as const
