/**
 * Runner of screening requests: asks the source at least once for each, and records its answers.
 */
import { Context, Duration, Effect, Layer, Option, Queue, Schema, Stream } from "effect"
import { restrict } from "../restriction/RestrictionOperations.ts"
import { Settings } from "../../engine/Settings.ts"
import * as Instant from "../../kernel/Instant.ts"
import { refused, type Refused, type Unavailable } from "../../kernel/Refusal.ts"
import { Answer, type Found, ScreeningSource } from "../../ports/ScreeningSource.ts"
import type { LeaseLost } from "../../ports/storage/StorageError.ts"
import { type Lease, WorkQueue } from "../../ports/storage/WorkQueue.ts"
import type { Act } from "../../records/Act.ts"
import { stored } from "../../records/PortFailure.ts"
import * as LeasedWork from "../../records/LeasedWork.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { FourEyes } from "../../writes/FourEyes.ts"
import { type Holder, holders, isEnded } from "../../holders/holder/Holder.ts"
import { activated } from "../../holders/holder/HolderReadings.ts"
import { askAgain, queue } from "../../holders/screening/AskRunner.ts"
import { screenings } from "../../holders/screening/Screening.ts"
import { ages } from "../../holders/screening/ScreeningAgeLookups.ts"
import { ScreeningMachine } from "../../holders/screening/ScreeningMachine.ts"
import * as ScreeningRules from "../../holders/screening/ScreeningRules.ts"

/** Requests that one instance has under way at a time. */
const atOnce = 8

/** Milliseconds after which a source that does not answer counts as away. */
const answerWithin = 30_000

/** Milliseconds until a source that was away is asked again. */
const awayFor = 60_000

/** Milliseconds until it is asked again what it has not answered, or nobody has judged. */
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

/** The source's answer; undefined: it is unavailable, too late, or answers nonsense. */
const heard = Effect.fnUntraced(function* (requestId: string, holder: Holder) {
  const source = yield* ScreeningSource
  const answer = yield* source.ask(requestOf(requestId, holder)).pipe(
    Effect.timeout(Duration.millis(answerWithin)),
    Effect.tapError((error) => Effect.logWarning("the screening source is away", String(error))),
    Effect.option
  )
  if (Option.isNone(answer)) return undefined
  if (isAnswer(answer.value)) return answer.value
  yield* Effect.logError("the screening source answered what is no answer", { requestId })
  return undefined
})

/**
 * Notes an answer with its request and moves the holder; the last of what a pending holder waits
 * for makes it active. A confirmed hit refuses the holder at every gate `screening` from here on,
 * and the engine restricts it in the same transaction.
 */
const note = Effect.fnUntraced(function* (
  requestId: string,
  holder: Stored<Holder>,
  answer: Found,
  now: Instant.Instant
) {
  const records = yield* Records
  if (holder.screening === null) throw new Error("a holder that was asked about has a screening")
  const screening = ScreeningRules.answered(holder.screening, answer, yield* ages)
  if (screening === undefined) return
  const act: Act = { cause: { by: "screening", requestId }, now }
  const request = yield* records
    .get(screenings, requestId)
    .pipe(Effect.catchTag("Refused", () => Effect.die(new Error("a request vanished"))))
  const { found, screenedAt, listVersion, reason } = answer
  const finding = { found, screenedAt, listVersion, reason, answeredAt: now }
  yield* records.record(screenings, request, { on: "answer", finding }, act)
  const after = yield* records.record(holders, holder, { on: "screen", screening }, act)
  yield* activated(after, { act, effectiveAt: now })
  if (found === "confirmed") yield* frozen(requestId, holder.holderId)
})

/**
 * The engine opens holder.restrict itself (docs/domain/holders.md#screening): nothing in or out, of
 * everything, until two approvers lift it. Once for each request that ends in a hit, so that one
 * after a lift restricts again.
 */
const frozen = Effect.fnUntraced(function* (requestId: string, holderId: string) {
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
    /** Asks what is due now; answers how much it took. For tests and for embedders. */
    readonly once: Effect.Effect<number, Unavailable>
    /** Runs until interrupted; a request under way is given back and sent again. */
    readonly run: Effect.Effect<never>
    /**
     * Has a holder screened again on somebody's request: the only way out of a confirmed hit
     * (docs/domain/holders.md#screening). Refuses `state-conflict` where a request is under way
     * already.
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

  /**
   * The holder that a request waits for; none where it has ended or is not asked about any more.
   */
  const asking = (requestId: string) =>
    Effect.map(
      records.find(holders, requestId.slice(0, requestId.lastIndexOf(":"))),
      Option.filter(
        (holder) =>
          !isEnded(holder) &&
          (holder.screening?.state === "pending" || holder.screening?.state === "review")
      )
    )

  const one = Effect.fnUntraced(function* (lease: Lease) {
    const requestId = lease.itemId
    const holder = yield* asking(requestId)
    if (Option.isNone(holder)) return yield* stored(work.finish(lease))
    const answer = yield* heard(requestId, holder.value)
    if (answer === undefined) return yield* stored(work.release(lease, { delay: awayFor }))
    if (answer.found === "nothing-yet") {
      return yield* stored(work.release(lease, { delay: againAfter[answer.found] }))
    }
    yield* records.transact(
      Effect.gen(function* () {
        // Demands the fence: whoever lost the lease notes nothing, and the next one asks again.
        yield* stored(work.hold(lease))
        const before = yield* asking(requestId)
        if (Option.isSome(before)) yield* note(requestId, before.value, answer, yield* Instant.now)
        yield* answer.found === "possible"
          ? stored(work.release(lease, { delay: againAfter.possible }))
          : stored(work.finish(lease))
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
        failedFor: awayFor
      },
      doing
    )

  const once =
    source.screens === "no"
      ? Effect.succeed(0)
      : Effect.gen(function* () {
          const leases = yield* stored(
            work.lease({ queue, worker, limit: atOnce, leaseMillis: settings.lease })
          )
          yield* Effect.forEach(leases, (lease) => under(lease, provided(one(lease))), {
            concurrency: "unbounded",
            discard: true
          })
          return leases.length
        })

  const rings = Effect.fnUntraced(function* () {
    const bell = yield* Queue.sliding<void>(1)
    yield* work.wakes(queue).pipe(
      Stream.runForEach(() => Queue.offer(bell, undefined)),
      // Without wakes the poll below still finds the work.
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
            const bell = yield* rings()
            const pause = Effect.raceFirst(
              Queue.take(bell),
              Effect.sleep(Duration.millis(settings.poll))
            )
            const round = LeasedWork.round(
              Effect.flatMap(once, (had) => (had === 0 ? pause : Effect.void)),
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

  return ScreeningRunner.of({ once, run, rescreen })
})

export const layer: Layer.Layer<ScreeningRunner, never, Records | WorkQueue | FourEyes> =
  Layer.effect(ScreeningRunner, make)
