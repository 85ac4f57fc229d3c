/** Call that starts a reconciliation run and ends with it: its route, its body and its answer. */
import { RunRequest } from "./RunRequest.ts"
import { RunView } from "./RunView.ts"

/** Call that starts a reconciliation run. */
export const reconciliationRun = {
  route: "POST /v1/reconciliation-runs",
  input: RunRequest,
  result: RunView
} as const
