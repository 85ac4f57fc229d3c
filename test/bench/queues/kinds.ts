/** Work queues that the bench compares with the lease queue. */
import * as Cluster from "./cluster.ts"
import type { Kind } from "./job-queue.ts"
import * as LeaseQueue from "./lease-queue.ts"
import * as PersistedQueue from "./persisted-queue.ts"
import * as StateQueue from "./state-queue.ts"

export const others: ReadonlyArray<Kind> = [
  StateQueue.kind,
  PersistedQueue.kind,
  Cluster.entity,
  Cluster.workflow
]

export const kinds: ReadonlyArray<Kind> = [LeaseQueue.kind, ...others]
