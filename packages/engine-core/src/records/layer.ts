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
import * as Columns from "./Columns.ts"
import * as Consequence from "./Consequence.ts"
import * as Flush from "./Flush.ts"
import * as Listing from "./Listing.ts"
import * as Loading from "./Loading.ts"
import * as Outbox from "./Outbox.ts"
import { orUnavailable } from "./PortFailure.ts"
import { Records } from "./Records.ts"
import * as Timely from "./Timely.ts"
import * as Transactions from "./Transactions.ts"
import * as UnitOfWork from "./UnitOfWork.ts"
import * as Versions from "./Versions.ts"
import * as Writing from "./Writing.ts"
import { settleConsequences } from "./ConsequenceRounds.ts"

/** Adds to the fiber's unit of work. */
const adding = (add: (work: UnitOfWork.UnitOfWork) => void): Effect.Effect<void> =>
  Effect.map(Transactions.within, add)

const collecting: Pick<
  Records["Service"],
  "uncommitted" | "announce" | "enqueue" | "whenCommitted" | "audit"
> = {
  uncommitted: ({ name }, { column, anyOf }) =>
    Effect.map(Transactions.within, (work) => {
      const drafts = UnitOfWork.draftsOf(work, name)
      if (drafts.length === 0) return []
      const values = new Set<string | null | undefined>(anyOf)
      const found = drafts.filter(({ collection, record }) =>
        values.has(Columns.of(collection, record)[column])
      )
      return [...new Set(found.map(({ recordId }) => recordId))]
    }),
  announce: (announcements) => adding((work) => void work.announcements.push(...announcements)),
  enqueue: (items) => adding(({ work }) => void work.push(...items)),
  whenCommitted: (effect) => adding(({ committed }) => void committed.push(effect)),
  audit: (entries) => adding(({ audit }) => void audit.push(...entries))
}

const forgetting =
  (documents: Documents["Service"], factLog: FactLog["Service"]): Records["Service"]["forget"] =>
  (collection, recordIds) => {
    const ended = { collection: collection.name, recordIds }
    return recordIds.length === 0
      ? Effect.void
      : adding(({ forgotten }) => void forgotten.push(...recordIds)).pipe(
          Effect.andThen(documents.forget(ended)),
          Effect.andThen(factLog.forget(ended)),
          Effect.asVoid,
          orUnavailable
        )
  }

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
  const flush = (work: UnitOfWork.UnitOfWork) => Flush.flush(ports, work)
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
    ...collecting,
    forget: forgetting(documents, factLog)
  })
  return service
})

export const layer: Layer.Layer<
  Records,
  never,
  Atomically | Bulk | FactLog | Documents | Feed | WorkQueue | Crypto
> = Layer.effect(Records, make)
