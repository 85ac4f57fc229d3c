/** Layer of `Records`: assembles its parts over the storage ports. */
import { Effect, Layer } from "effect"
import { Settings } from "../engine/Settings.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Atomically } from "../ports/storage/Atomically.ts"
import { Bulk } from "../ports/storage/Bulk.ts"
import { Documents } from "../ports/storage/Documents.ts"
import { FactLog } from "../ports/storage/FactLog.ts"
import { Feed } from "../ports/storage/Feed.ts"
import { WorkQueue } from "../ports/storage/WorkQueue.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import * as Consequence from "./Consequence.ts"
import * as Flush from "./Flush.ts"
import * as Listing from "./Listing.ts"
import * as Loading from "./Loading.ts"
import * as Outbox from "./Outbox.ts"
import { storeUnavailable } from "./PortFailure.ts"
import { Records } from "./Records.ts"
import * as Timely from "./Timely.ts"
import * as Transactions from "./Transactions.ts"
import * as UnitOfWork from "./UnitOfWork.ts"
import * as Versions from "./Versions.ts"
import * as Writing from "./Writing.ts"
import { settleConsequences } from "./ConsequenceRounds.ts"

const forgetting = (
  documents: Documents["Service"],
  factLog: FactLog["Service"]
): Records["Service"]["forget"] =>
  Effect.fnUntraced(function* (collection, recordIds) {
    if (recordIds.length === 0) return
    const { forgotten } = yield* UnitOfWork.within
    forgotten.push(...recordIds)
    const ended = { collection: collection.name, recordIds }
    yield* documents.forget(ended)
    yield* factLog.forget(ended)
  }, Effect.mapError(storeUnavailable))

const make = Effect.gen(function* () {
  const atomically = yield* Atomically
  const factLog = yield* FactLog
  const bulk = yield* Bulk
  const documents = yield* Documents
  const feed = yield* Feed
  const queue = yield* WorkQueue
  const crypto = yield* Crypto
  const { sha256 } = crypto
  const { tenantId } = yield* Settings
  const timely = yield* Timely.Declared
  const consequences = yield* Consequence.Declared
  const scope = yield* Effect.scope
  const outbox = Outbox.make(documents)
  const versions = Versions.make()
  const ports: Flush.Ports = { feed, factLog, documents, queue, outbox, sha256, tenantId }
  const flush = Flush.flush(ports)
  const loading = Loading.make({ documents, versions })
  // The consequences write through the service that they are a part of.
  const settle: Effect.Effect<void, Unavailable> = Effect.suspend(() =>
    settleConsequences.pipe(
      Effect.provideService(Records, service),
      Effect.provideService(Bulk, bulk),
      Effect.provideService(Crypto, crypto)
    )
  )
  const service: Records["Service"] = Records.of({
    ...Transactions.make({ scope, atomically, flush, settle }),
    ...loading,
    ...Listing.make(documents, versions),
    ...Writing.make({ find: loading.find, versions, timely, consequences }),
    ...UnitOfWork.collecting,
    forget: forgetting(documents, factLog)
  })
  return service
})

/** Records, events and audit over the storage ports provided to it. */
export const layer: Layer.Layer<
  Records,
  never,
  Atomically | Bulk | FactLog | Documents | Feed | WorkQueue | Crypto
> = Layer.effect(Records, make)
