/** Events that the room of distributions announces: distributions and their standing approvals. */
import { Schema } from "effect"
import * as Date from "../kernel/Date.ts"
import * as Decimal from "../kernel/Decimal.ts"
import * as Integer from "../kernel/Integer.ts"
import * as Month from "../kernel/Month.ts"
import { about, announcing } from "../records/EventDeclaration.ts"
import { OperationKind } from "../vocabulary/OperationKind.ts"
import * as sets from "../vocabulary/sets.ts"
import { DistributionMachine } from "./distribution/DistributionMachine.ts"

const { NullOr, String: Text, Struct } = Schema
const Count = Integer.schema

export const events = {
  "distribution.payable": about(
    "distribution",
    Struct({ state: DistributionMachine.schema, month: Month.schema, runId: Text })
  ),
  "distribution.held": about(
    "distribution",
    Struct({ state: DistributionMachine.schema, month: Month.schema, holdId: Text })
  ),
  "distribution.paid": about(
    "distribution",
    Struct({ state: DistributionMachine.schema, month: Month.schema, rolled: Count })
  ),
  "distribution.rate-changed": about(
    "distribution",
    Struct({ month: Month.schema, rate: Decimal.schema, ratesSeen: Schema.Array(Decimal.schema) })
  ),
  "distribution.carried": about("distribution", Struct({ month: Month.schema, carried: Count })),
  "distribution.due": about(
    "scheduled-distribution",
    Struct({
      month: Month.schema,
      recordDate: Date.schema,
      refused: NullOr(Struct({ operationId: Text, problem: Text }))
    })
  ),
  "standing-approval.granted": about(
    "standing-approval",
    Struct({ action: OperationKind.schema, rateChange: sets.RateChange.schema })
  ),
  "standing-approval.revoked": about("standing-approval", Struct({ action: OperationKind.schema }))
} as const

export const make = announcing(events)
