/** In-memory storage of one process: every storage port, for tests and first steps. */
import {
  Atomically,
  Blobs,
  Bulk,
  Documents,
  FactLog,
  Feed,
  Keys,
  ProjectionLog,
  RateWindow,
  Terms,
  WorkQueue
} from "@bursar/engine-core/ports"
import { Context, Effect, Layer } from "effect"
import * as MemoryBlobs from "./MemoryBlobs.ts"
import * as MemoryBulk from "./MemoryBulk.ts"
import * as MemoryDocuments from "./MemoryDocuments.ts"
import * as MemoryFactLog from "./MemoryFactLog.ts"
import * as MemoryFeed from "./MemoryFeed.ts"
import * as MemoryKeys from "./MemoryKeys.ts"
import * as MemoryProjectionLog from "./MemoryProjectionLog.ts"
import * as MemoryRateWindow from "./MemoryRateWindow.ts"
import * as MemoryTerms from "./MemoryTerms.ts"
import * as MemoryWorkQueue from "./MemoryWorkQueue.ts"
import * as Transactions from "./Transactions.ts"
import * as Wakes from "./Wakes.ts"

/** The eleven storage services of the engine. */
export type Storage =
  | Atomically
  | Blobs
  | Bulk
  | Documents
  | FactLog
  | Feed
  | Keys
  | ProjectionLog
  | RateWindow
  | Terms
  | WorkQueue

const storage = Effect.sync((): Context.Context<Storage> => {
  const transactions = Transactions.make()
  const wakes = Wakes.make()
  const head = MemoryFeed.makeHead()
  const documents = MemoryDocuments.make(transactions)
  return Context.make(Atomically, {
    store: transactions.store,
    run: transactions.run,
    // No flush: records in memory are never made more durable.
    reading: (effect) => effect,
    // Only one transaction runs at a time, which excludes everybody else.
    lock: () => transactions.inside("Atomically.lock", () => {})
  }).pipe(
    Context.add(Blobs, MemoryBlobs.make(transactions)),
    Context.add(Bulk, MemoryBulk.make({ transactions, matching: documents.matching })),
    Context.add(Documents, documents.service),
    Context.add(FactLog, MemoryFactLog.make(transactions)),
    Context.add(Feed, MemoryFeed.make({ transactions, head, wakes })),
    Context.add(Keys, MemoryKeys.make(transactions)),
    Context.add(ProjectionLog, MemoryProjectionLog.make({ transactions, head })),
    Context.add(RateWindow, MemoryRateWindow.make(transactions.store)),
    Context.add(Terms, MemoryTerms.make(transactions)),
    Context.add(WorkQueue, MemoryWorkQueue.make({ transactions, wakes }))
  )
})

/** Layer of a new, empty store; its clock is Effect's. */
export const layer: Layer.Layer<Storage> = Layer.effectContext(storage)
