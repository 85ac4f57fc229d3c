/**
 * Runner of screening requests: sends each to the screening source at least once, and records
 * answers.
 */
import { Context, Duration, Effect, Layer, Option, Queue, Schema, Stream } from "effect"
import { restrict } from "../restriction/RestrictionOperations.ts"
import { Settings } from "../../engine/Settings.ts"
import * as Instant from "../../kernel/Instant.ts"
import { refused, type Refused, type Unavailable } from "../../kernel/Refusal.ts"
import { Answer, type ScreeningFinding, ScreeningSource } from "../../ports/ScreeningSource.ts"
import type { LeaseLost } from "../../ports/storage/StorageError.ts"
import { type Lease, WorkQueue } from "../../ports/storage/WorkQueue.ts"
import type { Act } from "../../records/Act.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import * as LeasedWork from "../../records/LeasedWork.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { FourEyes } from "../../writes/FourEyes.ts"
import { type Holder, holders, isEnded } from "../../holders/holder/Holder.ts"
import { activated } from "../../holders/holder/HolderFromLedger.ts"
import { askAgain, queue } from "../../holders/screening/AskRunner.ts"
import { screenings } from "../../holders/screening/Screening.ts"
import { ages } from "../../holders/screening/ScreeningAgeLookups.ts"
import { ScreeningMachine } from "../../holders/screening/ScreeningMachine.ts"
import * as ScreeningRules from "../../holders/screening/ScreeningRules.ts"

/** Largest number of requests that one instance sends at a time. */
const atOnce = 8

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

const isAnswer = Schema.is(Answer)

/** Asks the source; undefined where it is unavailable, too late, or its answer is malformed. */
const askSource = Effect.fnUntraced(function* (requestId: string, holder: Holder) {
  const source = yield* ScreeningSource
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
  yield* activated(after, { act, effectiveAt: now })
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

export class ScreeningRunner extends Context.Service<
  ScreeningRunner,
  {
    /** Sends the requests due now; returns their number. For tests and for embedders. */
    readonly runOnce: Effect.Effect<number, Unavailable>
    /** Runs until interrupted; an interrupted request returns to the queue and is sent again. */
    readonly run: Effect.Effect<never>
    /**
     * Requests another screening of a holder: the only transition out of a confirmed hit
     * (docs/domain/holders.md#screening). Refuses `state-conflict` where a request is under way.
     */
    readonly rescreen: (
      holderId: string
    ) => Effect.Effect<void, Refused<"not-found" | "state-conflict"> | Unavailable>
  }
>()("@bursar/engine-core/restraints/screening/ScreeningRunner") {}

const make = Effect.gen(function* () {
  const records = yield* Records
  const work = yield* WorkQueue
  const settings = yield* Settings
  const source = yield* ScreeningSource
  const fourEyes = yield* FourEyes
  const worker = `screener-${Math.floor(Number(yield* Instant.now) / 1e3)}`

  const provided = <A, E>(effect: Effect.Effect<A, E, Records | FourEyes>) =>
    effect.pipe(
      Effect.provideService(Records, records),
      Effect.provideService(FourEyes, fourEyes),
      Effect.provideService(Settings, settings),
      Effect.provideService(ScreeningSource, source)
    )

  /** Loads the holder of a request; none where it has ended or its screening needs no answer. */
  const holderOf = (requestId: string) =>
    Effect.map(
      records.find(holders, requestId.slice(0, requestId.lastIndexOf(":"))),
      Option.filter(
        (holder) =>
          !isEnded(holder) &&
          (holder.screening?.state === "pending" || holder.screening?.state === "review")
      )
    )

  const process = Effect.fnUntraced(function* (lease: Lease) {
    const requestId = lease.itemId
    const holder = yield* holderOf(requestId)
    if (Option.isNone(holder)) return yield* orUnavailable(work.finish(lease))
    const answer = yield* askSource(requestId, holder.value)
    if (answer === undefined)
      return yield* orUnavailable(work.release(lease, { delay: retryDelay }))
    if (answer.found === "nothing-yet") {
      return yield* orUnavailable(work.release(lease, { delay: againAfter[answer.found] }))
    }
    yield* records.transact(
      Effect.gen(function* () {
        // Fence: a worker that lost the lease records nothing, and the next owner sends the request
        // again.
        yield* orUnavailable(work.hold(lease))
        const before = yield* holderOf(requestId)
        if (Option.isSome(before))
          yield* recordAnswer(requestId, before.value, answer, yield* Instant.now)
        yield* answer.found === "possible"
          ? orUnavailable(work.release(lease, { delay: againAfter.possible }))
          : orUnavailable(work.finish(lease))
      })
    )
  })

  const under = (lease: Lease, doing: Effect.Effect<void, LeaseLost | Unavailable>) =>
    LeasedWork.under(
      {
        work,
        lease,
        leaseMillis: settings.lease,
        failed: `screening ${lease.itemId} was not asked for or not noted`,
        failedFor: retryDelay
      },
      doing
    )

  const runOnce =
    source.screens === "no"
      ? Effect.succeed(0)
      : Effect.gen(function* () {
          const leases = yield* orUnavailable(
            work.lease({ queue, worker, limit: atOnce, leaseMillis: settings.lease })
          )
          yield* Effect.forEach(leases, (lease) => under(lease, provided(process(lease))), {
            concurrency: "unbounded",
            discard: true
          })
          return leases.length
        })

  const notifications = Effect.fnUntraced(function* () {
    const bell = yield* Queue.sliding<void>(1)
    yield* work.wakes(queue).pipe(
      Stream.runForEach(() => Queue.offer(bell, undefined)),
      // Without notifications the poll below still finds the work.
      Effect.catchTag("StorageUnavailable", () => Effect.sleep(Duration.millis(settings.poll))),
      Effect.forever,
      Effect.forkScoped
    )
    return bell
  })

  const run: Effect.Effect<never> =
    source.screens === "no"
      ? Effect.never
      : Effect.scoped(
          Effect.gen(function* () {
            const bell = yield* notifications()
            const pause = Effect.raceFirst(
              Queue.take(bell),
              Effect.sleep(Duration.millis(settings.poll))
            )
            const round = LeasedWork.round(
              Effect.flatMap(runOnce, (count) => (count === 0 ? pause : Effect.void)),
              { failed: "screenings could not be read", pause }
            )
            return yield* Effect.forever(round)
          })
        )

  const rescreen = (holderId: string) =>
    provided(
      records.transact(
        Effect.gen(function* () {
          const holder = yield* records.get(holders, holderId)
          const now = yield* Instant.now
          const before = ScreeningRules.startOf(holder.screening)
          const after = yield* askAgain(holder, now)
          if (after.version === holder.version) {
            return yield* Effect.fail(
              refused("state-conflict", {
                check: ScreeningMachine.name,
                detail: `A screening in state ${before.state} is not asked for again.`
              })
            )
          }
        })
      )
    )

  return ScreeningRunner.of({ runOnce, run, rescreen })
})

export const layer: Layer.Layer<ScreeningRunner, never, Records | WorkQueue | FourEyes> =
  Layer.effect(ScreeningRunner, make)
