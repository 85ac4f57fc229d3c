/** Resolves the point of a read: which offset answers, and at which instant time is judged. */
import { Effect, Option, Result, type Scope } from "effect"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import type * as Pin from "../kernel/Pin.ts"
import { refused, type Refused, type Unavailable } from "../kernel/Refusal.ts"
import type { Ledger } from "../ports/Ledger.ts"
import type { Feed } from "../ports/storage/Feed.ts"
import type { ProjectionHead, ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import type { StorageUnavailable } from "../ports/storage/StorageError.ts"
import { storeUnavailable } from "../records/PortFailure.ts"
import type { PointAsked } from "./Reads.ts"
import * as SharedAnswers from "./SharedAnswers.ts"

/** Before the first fact of the ledger nothing has run out yet. */
const beginning = Instant.fromNanos(0n)

/**
 * Nanoseconds by which an answer may be older than the clock while nothing was written since. So
 * answers are written down a thousand times a second at the most, however many are given.
 */
const sameInstant = 999_000n

/** Seconds after which an offset that was pruned may as well be asked again: never soon. */
const prunedRetry = 3_600

/** A pin, and which of the ledgers the engine has followed its offset belongs to. */
export interface Resolved extends Pin.Resolved {
  readonly ledgerEpoch: number
}

/**
 * How a read without `at` or `asOf` is pinned. `answered`: to an instant given out for this answer,
 * which is `judgedAt`; asOf that instant answers the same for ever. `snapshot`: to everything written so
 * far, also for a list's later pages. `as-it-is`: not pinned, for one record that no offset dates.
 */
export type Latest = "answered" | "snapshot" | "as-it-is"

export interface Points {
  /** The point asked for; where none is, `latest` says which the latest one is. */
  readonly resolve: (
    asked: PointAsked,
    now: Instant.Instant,
    of: { readonly latest: Latest }
  ) => Effect.Effect<Resolved, Refused | Unavailable>
  /**
   * Whether an offset that an earlier page was pinned to can still be read: refuses
   * `offset-unavailable` for good once the projection has dropped it, or follows another ledger.
   */
  readonly stillHeld: (place: {
    readonly offset: Offset.Offset
    readonly ledgerEpoch: number
  }) => Effect.Effect<void, Refused<"offset-unavailable"> | Unavailable>
}

const instantOf = (text: string | null): Instant.Instant | null =>
  text === null ? null : Instant.of(text)

export const make = Effect.fnUntraced(function* (ports: {
  readonly log: ProjectionLog["Service"]
  readonly feed: Feed["Service"]
  readonly ledger: Ledger["Service"]
}): Effect.fn.Return<Points, never, Scope.Scope> {
  const stored = <A>(effect: Effect.Effect<A, StorageUnavailable>) =>
    Effect.mapError(effect, storeUnavailable)

  /** The ledger's end as far as it can be asked; null when it is away, since the answer stands anyway. */
  const end = Effect.map(
    Effect.result(ports.ledger.ledgerEnd),
    Result.match({ onSuccess: (offset): number | null => offset, onFailure: () => null })
  )

  const notHeld = Effect.fnUntraced(function* (head: ProjectionHead, pruned: boolean) {
    const ledgerEnd = yield* end
    return yield* Effect.fail(
      refused("offset-unavailable", {
        projectionOffset: head.offset,
        ...(ledgerEnd === null ? {} : { ledgerEnd }),
        retryAfter: pruned ? prunedRetry : 1,
        retryable: !pruned
      })
    )
  })

  const atOffset = Effect.fnUntraced(function* (offset: Offset.Offset) {
    const head = yield* stored(ports.log.head)
    if (offset > head.offset) return yield* notHeld(head, false)
    if (offset < head.horizonOffset) return yield* notHeld(head, true)
    const text = yield* stored(ports.log.ledgerTimeAt(offset))
    const ledgerTime = instantOf(Option.getOrNull(text))
    return {
      offset,
      ledgerEpoch: head.ledgerEpoch,
      ledgerTime,
      select: { by: "offset" as const },
      judgedAt: ledgerTime ?? beginning
    }
  })

  /** The head at the instant of an answer, which is the one given or a later one. */
  const answer = (instant: Instant.Instant) =>
    stored(
      ports.feed.answer({
        now: Instant.sortable(instant),
        since: Instant.sortable(Instant.fromNanos(instant - sameInstant))
      })
    )
  const sharedAnswer = yield* SharedAnswers.make(answer)

  const atInstant = Effect.fnUntraced(function* (instant: Instant.Instant, now: Instant.Instant) {
    const { at } = yield* stored(ports.feed.head)
    const text = Instant.sortable(instant)
    // Another instance's clock may be ahead: what it has stamped and answered is no later than now.
    if (instant > now && text > at) {
      return yield* Effect.fail(
        refused("invalid-request", {
          errors: [{ pointer: "/query/asOf", detail: "The instant is later than now." }]
        })
      )
    }
    const dated = Effect.flatMap(
      stored(ports.log.offsetAsOf(text)),
      Option.match({
        onNone: () => Effect.fail(refused("before-horizon")),
        onSome: (found) => Effect.succeed(found)
      })
    )
    let found = yield* dated
    if (!found.settled) {
      const head = yield* stored(ports.log.head)
      const watermark = instantOf(head.ledgerTime)
      if (watermark === null || instant > watermark) {
        // The answer could still change while the ledger is ahead of us.
        const ledgerEnd = yield* end
        if (ledgerEnd !== null && ledgerEnd > head.offset) return yield* notHeld(head, false)
      }
    }
    if (!found.settled) {
      yield* answer(instant)
      found = yield* dated
    } else if (text > at) yield* stored(ports.feed.pass(text))
    const { ledgerEpoch } = yield* stored(ports.log.head)
    const offset = Offset.of(found.offset)
    return {
      offset,
      ledgerEpoch,
      ledgerTime: yield* ledgerTimeOf(offset),
      select: { by: found.answered ? ("snapshot" as const) : ("instant" as const), instant },
      judgedAt: instant
    }
  })

  /** The time of the last offset that was asked for: what has been reached never changes. */
  let lately: { readonly offset: number; readonly ledgerTime: Instant.Instant | null } | undefined
  const ledgerTimeOf = (offset: number) =>
    Effect.suspend(() =>
      lately?.offset === offset
        ? Effect.succeed(lately.ledgerTime)
        : Effect.map(stored(ports.log.ledgerTimeAt(offset)), (text) => {
            const ledgerTime = instantOf(Option.getOrNull(text))
            lately = { offset, ledgerTime }
            return ledgerTime
          })
    )

  const answered = Effect.fnUntraced(function* (now: Instant.Instant) {
    const head = yield* sharedAnswer(now)
    const instant = Instant.of(head.at)
    return {
      offset: Offset.of(head.projectionOffset),
      ledgerEpoch: head.ledgerEpoch,
      ledgerTime: yield* ledgerTimeOf(head.projectionOffset),
      select: { by: "snapshot" as const, instant },
      judgedAt: instant
    }
  })

  const snapshot = Effect.fnUntraced(function* (now: Instant.Instant) {
    const head = yield* stored(ports.feed.head)
    // A feed on which nothing was ever written has no instant yet.
    const instant = head.at === "" ? beginning : Instant.of(head.at)
    return {
      offset: Offset.of(head.projectionOffset),
      ledgerEpoch: head.ledgerEpoch,
      ledgerTime: yield* ledgerTimeOf(head.projectionOffset),
      select: { by: "snapshot" as const, instant },
      judgedAt: now
    }
  })

  const asItIs = (now: Instant.Instant): Resolved => ({
    offset: Offset.zero,
    ledgerEpoch: 0,
    ledgerTime: null,
    select: { by: "latest" },
    judgedAt: now
  })

  return {
    stillHeld: Effect.fnUntraced(function* ({ offset, ledgerEpoch }) {
      const head = yield* stored(ports.log.head)
      if (ledgerEpoch === head.ledgerEpoch && offset >= head.horizonOffset) return
      return yield* notHeld(head, true)
    }),
    resolve: (asked, now, { latest }) =>
      Effect.suspend((): Effect.Effect<Resolved, Refused | Unavailable> => {
        if (asked.at !== undefined && asked.asOf !== undefined) {
          const detail = "at and asOf exclude each other."
          return Effect.fail(
            refused("invalid-request", {
              errors: [
                { pointer: "/query/at", detail },
                { pointer: "/query/asOf", detail }
              ]
            })
          )
        }
        if (asked.at !== undefined) return atOffset(asked.at)
        if (asked.asOf !== undefined) return atInstant(asked.asOf, now)
        if (latest === "answered") return answered(now)
        return latest === "snapshot" ? snapshot(now) : Effect.succeed(asItIs(now))
      })
  }
})
