/** Closed list of the names of the workers, by which metrics and embedders name them. */
export const workerNames = [
  "operations",
  "deliveries",
  "removed-webhooks",
  "schedules",
  "screenings",
  "stages",
  "reconciliation",
  "venue-reconciliation"
] as const

export type WorkerName = (typeof workerNames)[number]
