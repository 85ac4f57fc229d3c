/**
 * Bounds on answers that wait to be sent: bytes of a subject and of the host, streams and reads at a
 * time of a subject (docs/contract/limits.md#unread-answers).
 */
import { Refusal } from "@bursar/engine-core"
import { Effect, Metric, Semaphore } from "effect"
import type { HttpServerResponse } from "effect/http"
import { UnreadLimits } from "../wire/Unread.ts"
import * as Counters from "./Counters.ts"
import type { Away } from "./Waits.ts"

/** Bounds by which a read is refused. */
export const bounds = ["subject", "host", "streams"] as const
type BudgetBound = (typeof bounds)[number]

type Response = HttpServerResponse.HttpServerResponse

interface AnswerBudget {
  /**
   * Works on a read of a subject once it has a place among the subject's own, and refuses it with
   * `overloaded` where answers wait that the subject, or the callers of this host, do not take.
   */
  readonly read: (
    request: Recipient
  ) => <E, R>(work: Work<E, R>) => Effect.Effect<Response, E | Refusal.Unavailable, R>
  /** Counts the answer of a write, which is never refused: what was written must be told. */
  readonly write: (request: Recipient) => <E, R>(work: Work<E, R>) => Effect.Effect<Response, E, R>
}

/** Work on an answer, which leaves its place by `away` while it only waits. */
type Work<E, R> = (away: Away) => Effect.Effect<Response, E, R>

/** A write has no place to leave. */
const stays: Away = (waiting) => waiting

/** Subject that an answer is sent to, and Node's object that it is written to. */
interface Recipient {
  readonly subject: string
  readonly to: {
    readonly destroyed: boolean
    readonly once: (event: "close", listener: () => void) => unknown
  }
}

/** Requests and bytes that one subject has open. */
interface Account {
  bytes: number
  streams: number
  /** Reads in progress or waiting, and answers that wait: an account without any is dropped. */
  uses: number
  readonly places: Semaphore.Semaphore
}

const retryAfter = 1

const refusals: Readonly<Record<BudgetBound, Refusal.Unavailable>> = {
  subject: Refusal.unavailable(
    "overloaded",
    "Answers to this caller wait to be read; read them first.",
    retryAfter
  ),
  host: Refusal.unavailable("overloaded", "Too many answers wait to be read.", retryAfter),
  streams: Refusal.unavailable(
    "overloaded",
    "Too many streamed answers to this caller are open; read them first.",
    retryAfter
  )
}

export const make: Effect.Effect<AnswerBudget> = Effect.gen(function* () {
  const { hostBytes, subjectBytes, subjectReads, subjectStreams } = yield* UnreadLimits
  const context = yield* Effect.context<never>()
  const accounts = new Map<string, Account>()
  let inAll = 0

  const enter = (subject: string): Account => {
    const account = accounts.get(subject) ?? {
      bytes: 0,
      streams: 0,
      uses: 0,
      places: Semaphore.makeUnsafe(subjectReads)
    }
    accounts.set(subject, account)
    account.uses += 1
    return account
  }
  const leave = (subject: string, account: Account): void => {
    account.uses -= 1
    if (account.uses === 0) accounts.delete(subject)
  }
  const refuse = (bound: BudgetBound): Effect.Effect<never, Refusal.Unavailable> =>
    Effect.andThen(
      Metric.update(Metric.withAttributes(Counters.answersRefused, { bound }), 1),
      Effect.fail(refusals[bound])
    )

  /**
   * The bound that further bytes would exceed. An answer for which nothing else waits is always in
   * order, however long it is.
   */
  const exceeded = (account: Account, bytes: number): BudgetBound | undefined => {
    if (account.bytes > 0 && account.bytes + bytes > subjectBytes) return "subject"
    return inAll > 0 && inAll + bytes > hostBytes ? "host" : undefined
  }

  /** Counts an answer until it has been taken or its connection has ended. */
  const hold = ({ subject, to }: Recipient, { body }: Response): void => {
    const bytes = body._tag === "Uint8Array" ? body.contentLength : 0
    const streams = body._tag === "Stream" ? 1 : 0
    if (to.destroyed || bytes + streams === 0) return
    const account = enter(subject)
    const add = (sign: 1 | -1) => {
      account.bytes += sign * bytes
      account.streams += sign * streams
      inAll += sign * bytes
      if (bytes > 0) Counters.answersWaiting.updateUnsafe(inAll, context)
    }
    add(1)
    to.once("close", () => {
      add(-1)
      leave(subject, account)
    })
  }

  /** Counts the answer of a read, or refuses it where it does not fit. */
  const judge = (
    sent: Recipient,
    account: Account,
    response: Response
  ): Effect.Effect<Response, Refusal.Unavailable> => {
    const { body } = response
    if (body._tag === "Stream" && account.streams >= subjectStreams) return refuse("streams")
    const bound = body._tag === "Uint8Array" ? exceeded(account, body.contentLength) : undefined
    if (bound !== undefined) return refuse(bound)
    hold(sent, response)
    return Effect.succeed(response)
  }

  return {
    read: (sent) => (work) =>
      Effect.suspend(() => {
        const account = enter(sent.subject)
        const full = Effect.suspend(() => {
          const bound = exceeded(account, 0)
          return bound === undefined ? Effect.void : refuse(bound)
        })
        return full.pipe(
          Effect.andThen(
            inPlace(account.places, (away) =>
              // Asked again: the answers of those before may wait by now.
              Effect.andThen(
                full,
                Effect.flatMap(work(away), (response) => judge(sent, account, response))
              )
            )
          ),
          Effect.ensuring(Effect.sync(() => leave(sent.subject, account)))
        )
      }),
    write: (sent) => (work) =>
      Effect.tap(work(stays), (response) => Effect.sync(() => hold(sent, response)))
  }
})

/** Runs work in a place, which the work gives up for as long as it is away. */
const inPlace = <A, E, R>(
  places: Semaphore.Semaphore,
  work: (away: Away) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      let isHeld = false
      const take = Effect.map(restore(places.take(1)), () => {
        isHeld = true
      })
      const leave = Effect.suspend(() => {
        if (!isHeld) return Effect.void
        isHeld = false
        return places.release(1)
      })
      const away: Away = (waiting) =>
        Effect.uninterruptibleMask((restoreWaiting) =>
          leave.pipe(
            Effect.andThen(restoreWaiting(waiting)),
            Effect.tap(() => restoreWaiting(places.take(1))),
            Effect.tap(() =>
              Effect.sync(() => {
                isHeld = true
              })
            )
          )
        )
      yield* take
      return yield* Effect.ensuring(restore(work(away)), leave)
    })
  )
