/**
 * Stage of a statement that is received: its bytes in encrypted chunks, swept unless a statement is
 * recorded of them (docs/domain/statements.md#intake).
 */
import { Effect, Option, Schema, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Ids } from "../../ports/Ids.ts"
import { Blobs } from "../../ports/storage/Blobs.ts"
import { Bulk } from "../../ports/storage/Bulk.ts"
import { type WorkItem, WorkQueue } from "../../ports/storage/WorkQueue.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import { chunkBytes, numberedChunks } from "./StageChunks.ts"
import { entryTerms } from "./EntryTerms.ts"
import * as StageSeal from "./StageSeal.ts"
import {
  contentKeyOf,
  type ExternalStatement,
  ExternalStatementId,
  externalStatements,
  fileIdOf,
  ownerOf
} from "./ExternalStatement.ts"

/** Queue of stages that are to be swept. */
export const queue = "statement-stages"

/**
 * Milliseconds after which a stage is swept: longer than the longest request that hands a statement
 * in, so that no stage is swept under a reader.
 */
const sweptAfter = 3_600_000

/** Payload of the item of a statement whose lines and bytes retention has released. */
export const prunedPayload = "pruned"

/**
 * Makes the queue item by which the lines and the bytes of a pruned statement are deleted, late
 * enough for reads and runs that began before to end.
 */
export const sweepOfPruned = ({
  externalStatementId: itemId
}: Pick<ExternalStatement, "externalStatementId">): WorkItem => ({
  queue,
  itemId,
  resource: itemId,
  payload: prunedPayload,
  delay: sweptAfter
})

/** Chunks and rows that a sweep deletes at a time. */
const chunksAtOnce = 16
const rowsAtOnce = 10_000

const path = "/v1/external-statements"

const newStageId = Effect.flatMap(Ids, ({ make }) => make("est"))

/** Name of the file of a statement's bytes. */
export const fileOf = (stageId: string): string => `statement/${stageId}`

/** Number of chunks of a file of this size. */
export const chunkCount = (size: number): number => Math.ceil(size / chunkBytes)

/** Makes a stage and queues its sweep, in a transaction of its own, before anything is written. */
const opened = Effect.gen(function* () {
  const records = yield* Records
  const stageId = yield* newStageId
  const item = { queue, itemId: stageId, resource: stageId, payload: "", delay: sweptAfter }
  yield* records.transact(records.enqueue([item]))
  return stageId
})

/**
 * Makes the sweep of stages due at once. A stage of which a statement was recorded has no queued
 * sweep any more. Where the store is unreachable, the queued sweep follows later.
 */
const dropped = (stageIds: ReadonlyArray<string>) =>
  Effect.flatMap(WorkQueue, (work) => work.hasten({ queue, itemIds: stageIds })).pipe(
    Effect.catchCause((cause) =>
      Effect.logWarning(`stage ${stageIds.join(", ")} is swept later`, cause)
    )
  )

/**
 * Makes an effect that opens the stage of a further statement of a file, and answers its id: a stage of
 * rows alone, since the bytes lie in that of the file. They are dropped with the scope, as the file is.
 */
export const furtherStages = Effect.gen(function* () {
  const opens: Array<string> = []
  yield* Effect.addFinalizer(() => (opens.length === 0 ? Effect.void : dropped(opens)))
  return Effect.tap(opened, (stageId) => Effect.sync(() => opens.push(stageId)))
})

/** Writes bytes to a stage that is dropped with the scope; hashes them as they pass. */
export const stage = Effect.fnUntraced(function* <E>(upload: {
  readonly query: string
  readonly bytes: Stream.Stream<Uint8Array, E>
}) {
  const crypto = yield* Crypto
  const blobs = yield* Blobs
  const ids = yield* Ids
  const { sealingKeys: keys } = yield* Settings
  const stageId = yield* Effect.acquireRelease(opened, (id) => dropped([id]))
  const content = crypto.sha256Parts()
  const call = crypto.sha256Parts()
  call.update(new TextEncoder().encode(`POST\n${path}\n${upload.query}\n`))
  const text = textCheck()
  let size = 0
  yield* numberedChunks(upload.bytes).pipe(
    Stream.runForEach(({ bytes, chunk }) =>
      Effect.gen(function* () {
        content.update(bytes)
        call.update(bytes)
        text.add(bytes)
        size += bytes.length
        const nonce = yield* ids.bytes(StageSeal.nonceBytes)
        const sealed = StageSeal.seal({ stageId, chunk, bytes }, { keys, nonce }, crypto)
        yield* orUnavailable(blobs.append({ file: fileOf(stageId), chunk, bytes: sealed }))
      })
    )
  )
  return {
    stageId,
    contentHash: content.digest(),
    fingerprint: call.digest(),
    size,
    encoding: text.isText() ? ("utf-8" as const) : ("base64" as const)
  }
})

/** Checks bytes that come in parts for UTF-8. */
const textCheck = () => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  let isText = true
  const decode = (bytes: Uint8Array | undefined) => {
    if (!isText) return
    try {
      decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      // The decoder fails only on bytes that are no UTF-8.
      isText = false
    }
  }
  return {
    add: decode,
    isText: () => {
      decode(undefined)
      return isText
    }
  }
}

/** Streams the bytes of a stage, or of a recorded statement, a chunk at a time. */
export const bytesOf = ({
  size,
  stageId
}: {
  readonly stageId: string
  readonly size: number
}): Stream.Stream<Uint8Array, Unavailable, Blobs | Crypto> =>
  Stream.paginate(0, (chunk: number) =>
    Effect.gen(function* () {
      const total = chunkCount(size)
      if (chunk >= total) return [[], Option.none()] as const
      const blobs = yield* Blobs
      const crypto = yield* Crypto
      const { sealingKeys: keys } = yield* Settings
      const sealed = yield* orUnavailable(blobs.chunk({ file: fileOf(stageId), chunk }))
      if (Option.isNone(sealed)) {
        return yield* Effect.die(new Error(`chunk ${chunk} of ${stageId} is missing`))
      }
      const bytes = StageSeal.unseal({ stageId, chunk, sealed: sealed.value }, { keys }, crypto)
      return [[bytes], chunk + 1 < total ? Option.some(chunk + 1) : Option.none()] as const
    })
  )

/**
 * Owner of the index rows by reference that earlier versions wrote for the entries of a statement of
 * cash. No version reads them: they are deleted with their statement.
 */
const unreadOwnerOf = (owner: string): string => `${owner}/references`

/**
 * Deletes the bytes and the rows of a stage that was never recorded, a part at a time: only what is not
 * sealed, since a reader that slept may record the stage after the sweep has looked for its statement, and
 * other statements of the file may have been recorded.
 */
export const discard = (stageId: string) =>
  Effect.andThen(
    discardRows(stageId, { sparesSealed: true }),
    discardFile(stageId, { sparesSealed: true })
  )

/**
 * Deletes the rows of a statement that was pruned, and the bytes of its file where no other statement of
 * the file is stored with its lines, or was pruned later.
 */
export const discardPruned = Effect.fnUntraced(function* (statement: ExternalStatement) {
  const records = yield* Records
  yield* discardRows(statement.externalStatementId, { sparesSealed: false })
  const fileId = fileIdOf(statement)
  const { prunedAt } = statement
  const isNeeded = yield* records
    .stream(externalStatements, { where: { content: [contentKeyOf(statement)] } })
    .pipe(
      Stream.filter(({ record }) => fileIdOf(record) === fileId),
      Stream.filter(
        ({ record }) =>
          record.prunedAt === undefined ||
          prunedAt === undefined ||
          Instant.isAfter(record.prunedAt, prunedAt)
      ),
      Stream.runHead
    )
  if (Option.isNone(isNeeded)) yield* discardFile(fileId, { sparesSealed: false })
})

interface DiscardOptions {
  readonly sparesSealed: boolean
}

const discardRows = Effect.fnUntraced(function* (
  stageId: string,
  { sparesSealed }: DiscardOptions
) {
  const bulk = yield* Bulk
  const records = yield* Records
  const owner = ownerOf({ externalStatementId: toId(stageId) })
  for (const each of [unreadOwnerOf(owner), owner]) {
    while (
      (yield* orUnavailable(bulk.discard({ owner: each, limit: rowsAtOnce, sparesSealed }))) > 0
    ) {
      yield* Effect.yieldNow
    }
  }
  // After the rows: a stage that has lost some is recorded no more, and of one that was its terms stay.
  if (!sparesSealed || Option.isNone(yield* records.find(externalStatements, stageId))) {
    while (
      (yield* records.search.forget({
        ...{ collection: entryTerms, recordId: stageId, limit: rowsAtOnce }
      })) > 0
    ) {
      yield* Effect.yieldNow
    }
  }
})

const discardFile = Effect.fnUntraced(function* (
  stageId: string,
  { sparesSealed }: DiscardOptions
) {
  const blobs = yield* Blobs
  const file = fileOf(stageId)
  while ((yield* orUnavailable(blobs.discard({ file, limit: chunksAtOnce, sparesSealed }))) > 0) {
    yield* Effect.yieldNow
  }
})

export const toId = Schema.decodeSync(ExternalStatementId)
