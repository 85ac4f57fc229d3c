/** Route that starts a reconciliation run. */
import { RunRequest, RunView, starters } from "@bursar/engine-core"
import { Schema } from "effect"
import type { ServedRoute } from "./Served.ts"

const bodyMax = 256 * 1024

export const served: ReadonlyArray<ServedRoute> = [
  {
    name: "reconciliation-runs.start",
    doc: "Runs the checks of reconciliation in the call: compares, records what was found, and holds or clears.",
    route: "POST /v1/reconciliation-runs",
    admits: { by: "role", roles: starters },
    action: "reconciliation.start",
    bodyMax,
    refuses: ["not-found", "idempotency-key-reused", "idempotency-in-progress", "overloaded"],
    params: Schema.Struct({}),
    body: RunRequest,
    success: { 201: RunView, 200: RunView }
  }
]
