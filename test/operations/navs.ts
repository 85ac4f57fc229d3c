/** NAV statements of an administrator, planted as records: where prices are judged by a feed. */
import { Records } from "@bursar/engine-core"
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import { Effect, Option } from "effect"
import {
  dateKeyOf,
  type ExternalStatement,
  externalStatements,
  statementsOfDates
} from "#core/statements/external-statement/ExternalStatement.ts"

/** Terms of an instrument whose administrator is `nav-1`. */
export const fed = { navFeed: { externalSourceId: "nav-1", grace: "PT2H" } } as const

/** Statement of the administrator; it corrects the statement of the same date, if there is one. */
export interface Stated {
  readonly instrumentId?: string
  readonly businessDate: string
  readonly official: string
  readonly ripcord?: boolean
  readonly expiresAt?: string
}

let number = 0

/** Stores a statement of a NAV as the intake would, and answers its id. */
export const states = (statement: Stated) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    const externalStatementId = `nav-${++number}` as ExternalStatement["externalStatementId"]
    const act = { cause: { by: "request", requestId: externalStatementId }, now } as const
    const date = {
      externalSourceId: "nav-1",
      instrumentId: statement.instrumentId ?? "fund-a",
      businessDate: Date.of(statement.businessDate)
    }
    yield* records.transact(
      Effect.gen(function* () {
        const slot = yield* records.find(statementsOfDates, dateKeyOf(date))
        const corrects = Option.isSome(slot) ? slot.value.externalStatementId : null
        yield* records.open(
          externalStatements,
          {
            ...date,
            externalStatementId,
            kind: "nav",
            asOf: now,
            period: null,
            reference: null,
            currency: "USD",
            totalQuantity: null,
            totalAmount: null,
            lineCount: 0,
            externalAccountId: null,
            statedLines: null,
            rawFormat: "application/json",
            rawEncoding: "utf-8",
            rawBytes: 2,
            adapter: "json",
            contentHash: "ab".repeat(32),
            receivedAt: now,
            receivedBy: "feed-1",
            basis: null,
            opening: null,
            closing: null,
            nav: {
              official: Decimal.of(statement.official),
              indicative: null,
              indicativeAsOf: null,
              expiresAt: Instant.of(statement.expiresAt ?? "2027-01-01T00:00:00Z"),
              ripcord: statement.ripcord ?? false
            },
            corrects,
            supersededBy: null
          },
          act
        )
        if (Option.isNone(slot)) {
          yield* records.open(statementsOfDates, { ...date, externalStatementId }, act)
          return
        }
        const fact = { on: "replace", externalStatementId } as const
        yield* records.append(statementsOfDates, slot.value, fact, act)
        const before = yield* records.get(externalStatements, slot.value.externalStatementId)
        yield* records.append(
          externalStatements,
          before,
          { on: "supersede", by: externalStatementId },
          act
        )
      })
    )
    return externalStatementId as string
  })
