/** Many records at once, written as one transaction would write them, without asking for each. */
import { type Collection, Instant } from "@bursar/engine-core/kernel"
import { Atomically, Documents, FactLog, Feed } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { causeText } from "#core/kernel/Fact.ts"
import * as Codecs from "#core/records/Codecs.ts"
import * as Columns from "#core/records/Columns.ts"

const together = 2_000

/** Opens records in transactions of some thousands, each under its own stamp. */
export const seed = Effect.fnUntraced(function* <R, F>(
  collection: Collection.Collection<R, F>,
  records: ReadonlyArray<R>
) {
  const { run } = yield* Atomically
  const documents = yield* Documents
  const facts = yield* FactLog
  const feed = yield* Feed
  const codecs = Codecs.of(collection)
  for (let from = 0; from < records.length; from += together) {
    yield* run(
      Effect.gen(function* () {
        const head = yield* feed.take(Instant.sortable(yield* Instant.now))
        const stamp = Instant.of(head.at)
        const some = records.slice(from, from + together).map((record) => ({
          record,
          body: codecs.encodeRecord(record),
          collection: collection.name,
          recordId: collection.id(record),
          version: 1
        }))
        yield* facts.append(
          some.map(({ record: _, body, ...row }) => ({
            ...row,
            fact: Codecs.openedText(body),
            cause: causeText({ by: "request", requestId: "seed" }),
            offset: head.projectionOffset + 1,
            recordedAt: head.at
          }))
        )
        yield* documents.put(
          some.map(({ record, ...row }) => ({
            ...row,
            closes: 0,
            sortKey: collection.sortKey(record, stamp),
            filters: Columns.of(collection, record),
            createdAt: head.at,
            fromOffset: head.projectionOffset + 1,
            fromInstant: head.at
          }))
        )
        yield* feed.append(head, { events: [], audit: [], webhooks: "same" })
      })
    )
  }
})
