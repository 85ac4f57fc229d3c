/** Resolves the point of a read: which offset answers, and at which instant time is judged. */
import { Effect, Option, Result, type Scope } from "effect"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import type * as Pin from "../kernel/Pin.ts"
import { refused, type Refused, type Unavailable } from "../kernel/Refusal.ts"
import type { Ledger } from "../ports/Ledger.ts"
import type { Feed, FeedHead } from "../ports/storage/Feed.ts"
import type { ProjectionHead, ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import * as SharedAnswers from "./SharedAnswers.ts"

/** Point of a read, as its caller names it; both at once is `invalid-request`. */
export interface PointParams {
  readonly at?: Offset.Offset
  readonly asOf?: Instant.Instant
}

/** The instant at which clock states are judged before the first fact of the ledger: none has expired. */
const beginning = Instant.fromNanos(0n)

/** Checks whether an answer at a pin is as recent as one whose instant is given out for it. */
export const isRecent = ({ judgedAt }: ResolvedPoint, clock: Instant.Instant): boolean =>
  judgedAt >= clock - SharedAnswers.sameInstant

/** Seconds of `Retry-After` for an offset that was pruned, which no retry finds again. */
const prunedRetry = 3_600

/** A pin, with the epoch of the ledger that its offset belongs to. */
export interface ResolvedPoint extends Pin.ResolvedPin {
  readonly ledgerEpoch: number
  /** The head's counter of appends, where the pin is that of a head: nothing was written since. */
  readonly moves?: number
}

/**
 * Pin of a read without `at` or `asOf`. `answered`: to an instant given out for this answer,
 * which is `judgedAt`; a read as of that instant always answers the same. `kept`: the same, but the
 * instant may be one given out shortly before, for an answer that was kept. `snapshot`: to everything
 * written so far, also for a list's later pages. `as-it-is`: not pinned, for one record that no
 * offset dates.
 */
export type Latest = "answered" | "kept" | "snapshot" | "as-it-is"

export interface Points {
  /** Resolves the point asked for; `latest` says how a read that names none is pinned. */
  readonly resolve: (
    pointParams: PointParams,
    now: Instant.Instant,
    options: { readonly latest: Latest }
  ) => Effect.Effect<ResolvedPoint, Refused | Unavailable>
  /**
   * Checks that the offset of an earlier page can still be read. Refuses `offset-unavailable`, not
   * retryable, once the projection has pruned it or follows another ledger.
   */
  readonly checkHeld: (place: {
    readonly offset: Offset.Offset
    readonly ledgerEpoch: number
  }) => Effect.Effect<void, Refused<"offset-unavailable"> | Unavailable>
}

/** The ports that answer which offset and instant a read is pinned to. */
interface Ports {
  readonly log: ProjectionLog["Service"]
  readonly feed: Feed["Service"]
  readonly ledger: Ledger["Service"]
}

export const make = Effect.fnUntraced(function* (
  ports: Ports
): Effect.fn.Return<Points, never, Scope.Scope> {
  const giveAnswer = yield* SharedAnswers.ofFeed(ports.feed, SharedAnswers.sameInstant)
  const giveKept = yield* SharedAnswers.ofFeed(ports.feed, SharedAnswers.keptInstant)
  const ledgerTimeOf = ledgerTimes(ports)
  return {
    checkHeld: ({ offset, ledgerEpoch }) =>
      Effect.flatMap(orUnavailable(ports.log.head), (head) =>
        ledgerEpoch === head.ledgerEpoch && offset >= head.horizonOffset
          ? Effect.void
          : notHeld(ports, head, "pruned")
      ),
    resolve: (pointParams, now, { latest }) =>
      Effect.suspend((): Effect.Effect<ResolvedPoint, Refused | Unavailable> => {
        if (pointParams.at !== undefined && pointParams.asOf !== undefined)
          return Effect.fail(twoPoints())
        if (pointParams.at !== undefined) return atOffset(ports, pointParams.at)
        if (pointParams.asOf !== undefined)
          return atInstant(ports, ledgerTimeOf, pointParams.asOf, now)
        if (latest === "as-it-is") return Effect.succeed(asItIs(now))
        if (latest === "snapshot") return snapshotAt(ports, ledgerTimeOf, now)
        const give = latest === "kept" ? giveKept : giveAnswer
        return Effect.flatMap(give(now), (head) => ofHead(ledgerTimeOf, head))
      })
  }
})

/** Pins to everything written so far, outside a read; clock states are judged at `now`. */
export const newest = (
  ports: Pick<Ports, "log" | "feed">,
  now: Instant.Instant
): Effect.Effect<ResolvedPoint, Unavailable> => snapshotAt(ports, ledgerTimes(ports), now)

/**
 * Pins to what was written by an instant, outside a read, time judged then. Refuses an instant before
 * the history that is kept, after `now`, and one that the projection has not reached.
 */
export const asOf = (
  ports: Ports,
  instant: Instant.Instant,
  now: Instant.Instant
): Effect.Effect<ResolvedPoint, Refused | Unavailable> =>
  atInstant(ports, ledgerTimes(ports), instant, now)

const snapshotAt = (
  { feed }: Pick<Ports, "feed">,
  ledgerTimeOf: LedgerTimeOf,
  now: Instant.Instant
) => Effect.flatMap(orUnavailable(feed.head), (head) => ofHead(ledgerTimeOf, head, now))

const instantOf = (text: string | null): Instant.Instant | null =>
  text === null ? null : Instant.of(text)

const twoPoints = () => {
  const detail = "at and asOf exclude each other."
  return refused("invalid-request", {
    errors: [
      { pointer: "/query/at", detail },
      { pointer: "/query/asOf", detail }
    ]
  })
}

/** The ledger's end; null while the ledger is unavailable, since no answer depends on it alone. */
const endOf = ({ ledger }: Ports) =>
  Effect.map(
    Effect.result(ledger.ledgerEnd),
    Result.match({ onSuccess: (offset): number | null => offset, onFailure: () => null })
  )

/** Fails with `offset-unavailable`: retryable for an offset not reached yet, not for a pruned one. */
const notHeld = Effect.fnUntraced(function* (
  ports: Ports,
  head: ProjectionHead,
  why: "pruned" | "not-reached"
) {
  const ledgerEnd = yield* endOf(ports)
  return yield* Effect.fail(
    refused("offset-unavailable", {
      projectionOffset: head.offset,
      ...(ledgerEnd === null ? {} : { ledgerEnd }),
      retryAfter: why === "pruned" ? prunedRetry : 1,
      retryable: why !== "pruned"
    })
  )
})

type LedgerTimeOf = (offset: number) => Effect.Effect<Instant.Instant | null, Unavailable>

/** Ledger time of an offset, memoised for the last one asked for: what was reached never changes. */
const ledgerTimes = ({ log }: Pick<Ports, "log">): LedgerTimeOf => {
  let memo: { readonly offset: number; readonly ledgerTime: Instant.Instant | null } | undefined
  return (offset) =>
    Effect.suspend(() =>
      memo?.offset === offset
        ? Effect.succeed(memo.ledgerTime)
        : Effect.map(orUnavailable(log.ledgerTimeAt(offset)), (text) => {
            const ledgerTime = instantOf(Option.getOrNull(text))
            memo = { offset, ledgerTime }
            return ledgerTime
          })
    )
}

const atOffset = Effect.fnUntraced(function* (ports: Ports, offset: Offset.Offset) {
  const head = yield* orUnavailable(ports.log.head)
  if (offset > head.offset) return yield* notHeld(ports, head, "not-reached")
  if (offset < head.horizonOffset) return yield* notHeld(ports, head, "pruned")
  const text = yield* orUnavailable(ports.log.ledgerTimeAt(offset))
  const ledgerTime = instantOf(Option.getOrNull(text))
  return {
    offset,
    ledgerEpoch: head.ledgerEpoch,
    ledgerTime,
    select: { by: "offset" as const },
    judgedAt: ledgerTime ?? beginning
  }
})

const offsetAsOf = ({ log }: Ports, instant: string) =>
  Effect.flatMap(
    orUnavailable(log.offsetAsOf(instant)),
    Option.match({
      onNone: () => Effect.fail(refused("before-horizon")),
      onSome: (asOf) => Effect.succeed(asOf)
    })
  )

const atInstant = Effect.fnUntraced(function* (
  ports: Ports,
  ledgerTimeOf: LedgerTimeOf,
  instant: Instant.Instant,
  now: Instant.Instant
) {
  const { at } = yield* orUnavailable(ports.feed.head)
  const text = Instant.sortable(instant)
  // Another instance's clock may be ahead: what it has stamped and answered is no later than now.
  if (instant > now && text > at) {
    return yield* Effect.fail(
      refused("invalid-request", {
        errors: [{ pointer: "/query/asOf", detail: "The instant is later than now." }]
      })
    )
  }
  let found = yield* offsetAsOf(ports, text)
  if (!found.settled) {
    yield* checkReached(ports, instant)
    const { feed } = ports
    yield* SharedAnswers.settled(feed, SharedAnswers.answerAt(feed, instant))
    found = yield* offsetAsOf(ports, text)
  } else if (text > at) yield* orUnavailable(ports.feed.pass(text))
  const { ledgerEpoch } = yield* orUnavailable(ports.log.head)
  const offset = Offset.of(found.offset)
  return {
    offset,
    ledgerEpoch,
    ledgerTime: yield* ledgerTimeOf(offset),
    select: { by: found.answered ? ("snapshot" as const) : ("instant" as const), instant },
    judgedAt: instant
  }
})

/** Refuses an instant whose answer could still change, since updates before it are not read yet. */
const checkReached = Effect.fnUntraced(function* (ports: Ports, instant: Instant.Instant) {
  const head = yield* orUnavailable(ports.log.head)
  const watermark = instantOf(head.ledgerTime)
  if (watermark !== null && instant <= watermark) return
  const ledgerEnd = yield* endOf(ports)
  if (ledgerEnd !== null && ledgerEnd > head.offset) yield* notHeld(ports, head, "not-reached")
})

/** Everything written by the instant of a head; clock states are judged at `judgedAt`, or at it. */
const ofHead = (ledgerTimeOf: LedgerTimeOf, head: FeedHead, judgedAt?: Instant.Instant) =>
  Effect.map(ledgerTimeOf(head.projectionOffset), (ledgerTime): ResolvedPoint => {
    // A feed that nothing was ever written to has no instant yet.
    const instant = head.at === "" ? beginning : Instant.of(head.at)
    return {
      offset: Offset.of(head.projectionOffset),
      ledgerEpoch: head.ledgerEpoch,
      moves: head.moves,
      ledgerTime,
      select: { by: "snapshot", instant },
      judgedAt: judgedAt ?? instant
    }
  })

const asItIs = (now: Instant.Instant): ResolvedPoint => ({
  offset: Offset.zero,
  ledgerEpoch: 0,
  ledgerTime: null,
  select: { by: "latest" },
  judgedAt: now
})
