/**
 * Worker of screening requests: sends each to the screening source at least once, and records
 * answers.
 */
import { Duration, Effect, Option, Schema } from "effect"
import { restrict } from "../restriction/RestrictionOperations.ts"
import * as Instant from "../../kernel/Instant.ts"
import {
  EngineScreening,
  ScreeningAnswer,
  type ScreeningFinding
} from "../../ports/ScreeningSource.ts"
import type { Lease } from "../../ports/storage/WorkQueue.ts"
import type { Act } from "../../records/Act.ts"
import * as LeasedWork from "../../records/LeasedWork.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as Worker from "../../records/Worker.ts"
import { FourEyes } from "../../writes/FourEyes.ts"
import { type Holder, holders, isEnded } from "../../holders/holder/Holder.ts"
import { activateIfComplete } from "../../holders/holder/HolderFromLedger.ts"
import { queue } from "../../holders/screening/AskRunner.ts"
import { screenings } from "../../holders/screening/Screening.ts"
import { ages } from "../../holders/screening/ScreeningAgeLookups.ts"
import * as ScreeningRules from "../../holders/screening/ScreeningRules.ts"

/** Milliseconds after which a source that does not answer counts as unavailable. */
const answerWithin = 30_000

/** Milliseconds until a request to an unavailable source is sent again. */
const retryDelay = 60_000

/** Milliseconds until a request is sent again, without an answer or with a possible hit. */
const againAfter = { "nothing-yet": 5_000, possible: 60_000 } as const

const requestOf = (requestId: string, holder: Holder) => ({
  requestId,
  holderId: holder.holderId,
  party: holder.party,
  legalName: holder.legalName,
  lei: holder.lei,
  classification: holder.classification,
  countries: holder.taxResidences.map(({ country }) => country)
})

const isAnswer = Schema.is(ScreeningAnswer)

/** Asks the source; undefined where it is unavailable, too late, or its answer is malformed. */
const askSource = Effect.fnUntraced(function* (requestId: string, holder: Holder) {
  const source = yield* EngineScreening
  const answer = yield* source.ask(requestOf(requestId, holder)).pipe(
    Effect.timeout(Duration.millis(answerWithin)),
    Effect.tapError((error) =>
      Effect.logWarning("the screening source is unavailable", String(error))
    ),
    Effect.option
  )
  if (Option.isNone(answer)) return undefined
  if (isAnswer(answer.value)) return answer.value
  yield* Effect.logError("the screening source sent a malformed answer", { requestId })
  return undefined
})

/**
 * Records an answer on its request and on the holder, and activates a pending holder that is now
 * complete. A confirmed hit is refused by every gate `screening`, and the engine restricts the holder
 * in the same transaction.
 */
const recordAnswer = Effect.fnUntraced(function* (
  requestId: string,
  holder: Stored<Holder>,
  answer: ScreeningFinding,
  now: Instant.Instant
) {
  const records = yield* Records
  if (holder.screening === null) throw new Error("a screened holder has no screening")
  const screening = ScreeningRules.answered(holder.screening, answer, yield* ages)
  if (screening === undefined) return
  const act: Act = { cause: { by: "screening", requestId }, now }
  const request = yield* records
    .get(screenings, requestId)
    .pipe(
      Effect.catchTag("Refused", () => Effect.die(new Error("a screening request has no record")))
    )
  const { found, screenedAt, listVersion, reason } = answer
  const finding = { found, screenedAt, listVersion, reason, answeredAt: now }
  yield* records.append(screenings, request, { on: "answer", finding }, act)
  const after = yield* records.append(holders, holder, { on: "screen", screening }, act)
  yield* activateIfComplete(after, { act, effectiveAt: now })
  if (found === "confirmed") yield* freeze(requestId, holder.holderId)
})

/**
 * Opens holder.restrict with mode `freeze` on all instruments, until two approvers lift it
 * (docs/domain/holders.md#screening). The idempotency key is the request's, so that each request
 * that ends in a confirmed hit restricts, also after a lift.
 */
const freeze = Effect.fnUntraced(function* (requestId: string, holderId: string) {
  const fourEyes = yield* FourEyes
  yield* fourEyes
    .open(restrict, { holderId, mode: "freeze", reason: "sanctions" }, `screening:${requestId}`)
    .pipe(
      Effect.catchTag("Refused", ({ slug }) =>
        Effect.die(new Error(`the restriction of a hit could not be opened: ${slug}`))
      )
    )
})

/** Loads the holder of a request; none where it has ended or its screening needs no answer. */
const holderOf = (requestId: string) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(
      records.find(holders, requestId.slice(0, requestId.lastIndexOf(":"))),
      Option.filter(
        (holder) =>
          !isEnded(holder) &&
          (holder.screening?.state === "pending" || holder.screening?.state === "review")
      )
    )
  )

/** Sends a request, and records its answer. */
const workOn = Effect.fnUntraced(function* (lease: Lease) {
  const records = yield* Records
  const requestId = lease.itemId
  const holder = yield* holderOf(requestId)
  if (Option.isNone(holder)) return yield* LeasedWork.finish(lease)
  const answer = yield* askSource(requestId, holder.value)
  if (answer === undefined) return yield* LeasedWork.release(lease, { delay: retryDelay })
  if (answer.found === "nothing-yet") {
    return yield* LeasedWork.release(lease, { delay: againAfter[answer.found] })
  }
  yield* records.transact(
    Effect.gen(function* () {
      // A worker that lost the lease records nothing, and the next owner sends the request again.
      yield* LeasedWork.fence(lease)
      const before = yield* holderOf(requestId)
      if (Option.isSome(before))
        yield* recordAnswer(requestId, before.value, answer, yield* Instant.now)
      yield* answer.found === "possible"
        ? LeasedWork.release(lease, { delay: againAfter.possible })
        : LeasedWork.finish(lease)
    })
  )
})

/** Worker of the requests to the screening source, of a venue that screens. */
export const screeningWorker = Worker.define({
  name: "screenings",
  doc: "Asks the screening source about holders, and records its answers.",
  queue,
  item: "screening",
  atOnce: 8,
  again: retryDelay,
  isEnabled: Effect.map(EngineScreening, ({ screens }) => screens === "yes"),
  work: workOn
})
