/** A database with many instruments and many events, written through the storage ports in bulk. */
import { Atomically, Documents, FactLog, Feed } from "@bursar/engine-core/ports"
import { Effect } from "effect"

const perTransaction = 1_000
const name = (n: number): string => `seeded-${String(n).padStart(7, "0")}`

/** Copies of one stored instrument under ids of their own, each as if it had been recorded by itself. */
export const instruments = Effect.fnUntraced(function* (options: {
  readonly like: string
  readonly count: number
  readonly registrar: string
}) {
  const { run } = yield* Atomically
  const documents = yield* Documents
  const facts = yield* FactLog
  const feed = yield* Feed
  const [like] = yield* documents.get({
    collection: "instrument",
    recordIds: [options.like],
    pin: { by: "latest" }
  })
  if (like === undefined) return yield* Effect.die(new Error(`there is no ${options.like}`))
  const [opened] = yield* facts.read({ collection: "instrument", recordId: options.like })
  for (let from = 0; from < options.count; from += perTransaction) {
    const ids = Array.from({ length: Math.min(perTransaction, options.count - from) }, (_, n) =>
      name(from + n)
    )
    yield* run(
      Effect.gen(function* () {
        const head = yield* feed.take(like.createdAt)
        const at = { offset: head.projectionOffset + 1, instant: head.at }
        yield* facts.append(
          ids.map((recordId) => ({
            collection: "instrument",
            recordId,
            version: 1,
            fact: (opened?.fact ?? "").replaceAll(options.like, recordId),
            cause: opened?.cause ?? "",
            offset: at.offset,
            recordedAt: at.instant
          }))
        )
        yield* documents.put(
          ids.map((recordId) => ({
            collection: "instrument",
            recordId,
            version: 1,
            closes: 0,
            body: like.body.replaceAll(options.like, recordId),
            sortKey: recordId,
            filters: { instrumentId: recordId, registrar: options.registrar, listed: "yes" },
            createdAt: at.instant,
            fromOffset: at.offset,
            fromInstant: at.instant
          }))
        )
        yield* feed.append(head, { events: [], audit: [], webhooks: "same" })
      })
    )
  }
})

/** Control events about as many records. */
export const events = Effect.fnUntraced(function* (count: number) {
  const { run } = yield* Atomically
  const feed = yield* Feed
  for (let from = 0; from < count; from += perTransaction) {
    yield* run(
      Effect.gen(function* () {
        const head = yield* feed.take("2026-01-01T00:00:00.000000000Z")
        yield* feed.append(head, {
          events: Array.from({ length: Math.min(perTransaction, count - from) }, (_, n) => ({
            seq: head.seq + 1 + n,
            kind: "control",
            type: "operation.succeeded",
            at: head.at,
            offset: null,
            instrumentId: name(from + n),
            party: null,
            resourceKind: "instrument",
            resourceId: name(from + n),
            holderIds: [],
            payload: `{"kind":"instrument.record","role":"operator","operationId":"op_${from + n}"}`,
            source: null
          })),
          audit: [],
          webhooks: "same"
        })
      })
    )
  }
})
