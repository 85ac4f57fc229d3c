/** Route that takes the file of a statement. */
import { Intake } from "@bursar/engine-core"
import type { ServedRoute } from "./Served.ts"

/** Upper bound of the setting `statements.maxBytes`, the longest file that a deployment takes. */
const fileMax = 1024 * 1024 * 1024

export const served: ReadonlyArray<ServedRoute> = [
  {
    name: "external-statements.receive",
    doc: "Takes the file of a statement, or of several of a bank, as its source sends it: all of them are recorded, or none. The same bytes again are the statement that is there. A feed is answered a receipt, and reads nothing else.",
    route: "POST /v1/external-statements",
    admits: { by: "role", roles: Intake.senders },
    action: "statement.receive",
    bodyMax: fileMax,
    file: { mediaTypes: Intake.mediaTypes },
    refuses: ["not-found", "idempotency-key-reused", "idempotency-in-progress", "rule-refused"],
    params: Intake.StatementQuery,
    body: null,
    success: { 201: Intake.StatementAnswer, 200: Intake.StatementAnswer }
  }
]
