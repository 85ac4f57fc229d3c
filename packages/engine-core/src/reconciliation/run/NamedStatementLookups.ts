/** Look-ups of the statements that findings name, by which a run judges whether it clears them. */
import { Effect } from "effect"
import type { Finding } from "../../findings/Finding.ts"
import { Records } from "../../records/Records.ts"
import { externalStatements } from "../../statements/external-statement/ExternalStatement.ts"
import { feedKeyOf } from "../../statements/external-statement/StatementLookups.ts"
import type * as Rules from "./RunRules.ts"

/** Loads the statements that findings name; null for one that names none. */
export const statementsNamedBy = <F extends Finding>(found: ReadonlyArray<F>) =>
  Effect.gen(function* () {
    const records = yield* Records
    const ids = new Set(found.flatMap(({ statementId }) => statementId ?? []))
    const statements = new Map<string, Rules.NamedStatement>(
      (yield* records.many(externalStatements, [...ids])).map((statement) => [
        statement.externalStatementId,
        { externalStatementId: statement.externalStatementId, feed: feedKeyOf(statement) }
      ])
    )
    return found.map((finding) => ({
      finding,
      statement: statements.get(finding.statementId ?? "") ?? null
    }))
  })
