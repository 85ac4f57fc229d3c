/** Layer of `Records`: assembles its parts over the storage ports. */
import { Effect, Layer } from "effect"
import { Settings } from "../engine/Settings.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Atomically } from "../ports/storage/Atomically.ts"
import { Bulk } from "../ports/storage/Bulk.ts"
import { Documents } from "../ports/storage/Documents.ts"
import { FactLog } from "../ports/storage/FactLog.ts"
import { Feed } from "../ports/storage/Feed.ts"
import { Terms } from "../ports/storage/Terms.ts"
import { WorkQueue } from "../ports/storage/WorkQueue.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import * as Codecs from "./Codecs.ts"
import * as Consequence from "./Consequence.ts"
import * as Flush from "./Flush.ts"
import * as Listing from "./Listing.ts"
import * as Loading from "./Loading.ts"
import * as Outbox from "./Outbox.ts"
import { storeUnavailable } from "./PortFailure.ts"
import { Records } from "./Records.ts"
import * as SearchIndexing from "./SearchIndexing.ts"
import * as SearchTerms from "./SearchTerms.ts"
import * as Timely from "./Timely.ts"
import * as Transactions from "./Transactions.ts"
import * as UnitOfWork from "./UnitOfWork.ts"
import * as Versions from "./Versions.ts"
import * as WaitIndexing from "./WaitIndexing.ts"
import * as Waits from "./Waits.ts"
import * as Writing from "./Writing.ts"
import { settleConsequences } from "./ConsequenceRounds.ts"

const forgetting = ({
  documents,
  factLog,
  terms,
  kinds
}: Pick<Flush.Ports, "documents" | "factLog" | "kinds" | "terms">): Records["Service"]["forget"] =>
  Effect.fnUntraced(function* (collection, recordIds) {
    if (recordIds.length === 0) return
    const { forgotten } = yield* UnitOfWork.within
    forgotten.push(...recordIds)
    const ended = { collection: collection.name, recordIds }
    const kind = kinds.get(collection.name)
    if (kind !== undefined) {
      const rows = yield* documents.get({ ...ended, pin: { by: "latest" } })
      const records = Codecs.of(collection).decodeRows(rows)
      yield* terms.delete(records.flatMap((record) => SearchTerms.rowsOf(kind, record)))
    }
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
  const terms = yield* Terms
  const kinds = yield* SearchTerms.Declared
  const search = SearchIndexing.make({
    ...{ atomically, documents, feed, terms, kinds },
    parts: yield* SearchTerms.DeclaredParts
  })
  const crypto = yield* Crypto
  const { sha256 } = crypto
  const { tenantId } = yield* Settings
  const timely = yield* Timely.Declared
  const consequences = yield* Consequence.Declared
  const waiting = yield* Waits.Declared
  const scope = yield* Effect.scope
  const outbox = Outbox.make(documents)
  const versions = Versions.make()
  const ports: Flush.Ports = {
    ...{ feed, factLog, documents, queue, outbox, sha256, tenantId, terms, kinds, waiting }
  }
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
    ...Writing.make({ find: loading.find, versions, timely, consequences, kinds, waiting }),
    ...UnitOfWork.collecting,
    search,
    waits: WaitIndexing.make({ atomically, documents, feed, waiting }),
    forget: forgetting({ documents, factLog, terms, kinds })
  })
  return service
})

/** Records, events and audit over the storage ports provided to it. */
export const layer: Layer.Layer<
  Records,
  never,
  Atomically | Bulk | FactLog | Documents | Feed | WorkQueue | Terms | Crypto
> = Layer.effect(Records, make)
