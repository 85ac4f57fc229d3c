/**
 * Publish and subscribe for callers that wait: signals that an operation has ended, or that the feed has
 * new events. A wait takes no connection of the store and polls nothing.
 */
import { Context, Duration, Effect, Layer, Queue, type Scope, Stream } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import { Feed } from "../ports/storage/Feed.ts"
import type { EventType } from "../vocabulary/EventType.ts"

/**
 * Completes at the next signal, or at once where one came since the last completion. A signal only
 * says that the record or the feed is to be read again.
 */
export type Signal = Effect.Effect<void>

/** Service that wakes those who wait for the end of an operation or for the next event. */
export class Signals extends Context.Service<
  Signals,
  {
    /**
     * Subscribes to the end of an operation, whichever instance runs it, until the scope ends. The
     * subscriber reads the operation after it has subscribed, because an end before that is not
     * signalled. A signal may be lost with the store's notification: a wait has a time limit.
     */
    readonly operation: (operationId: string) => Effect.Effect<Signal, never, Scope.Scope>
    /** Subscribes to new events of the feed, until the scope ends. */
    readonly events: Effect.Effect<Signal, never, Scope.Scope>
  }
>()("@bursar/engine-core/feeds/SignalRunner") {}

/** Events by which an operation ends. */
const endings: ReadonlyArray<EventType> = ["operation.succeeded", "operation.failed"]

/** Events of endings that are read at a time. */
const endingsAtOnce = 1_000

type Bell = Queue.Queue<void>

const make = Effect.gen(function* () {
  const feed = yield* Feed
  const { poll } = yield* Settings
  const eventBells = new Set<Bell>()
  const operationBells = new Map<string, Set<Bell>>()
  /** Number of the last event that was judged; undefined while nobody waits for an operation. */
  let judged: number | undefined

  const ring = (bells: Iterable<Bell>): void => {
    for (const bell of bells) Queue.offerUnsafe(bell, undefined)
  }

  /** All who wait for an operation look. */
  const ringOperations = (): void =>
    ring([...operationBells.values()].flatMap((bells) => [...bells]))

  /** One read of the feed for all who wait for an operation, however many they are. */
  const ringEnded = Effect.gen(function* () {
    if (operationBells.size === 0) {
      judged = undefined
      return
    }
    if (judged === undefined) {
      judged = (yield* feed.head).seq
      // Which operations have ended since the first subscription is not known: all look.
      return ringOperations()
    }
    for (let after: number = judged; ; after = judged) {
      const query = { order: "asc", after, limit: endingsAtOnce, type: endings } as const
      const { events, scanned } = yield* feed.read(query)
      for (const { payload } of events) ring(operationBells.get(operationOf(payload)) ?? [])
      judged = Math.max(judged, scanned)
      if (events.length < endingsAtOnce) return
    }
  })

  yield* feed.wakes.pipe(
    Stream.runForEach(() => {
      ring(eventBells)
      return ringEnded.pipe(
        Effect.catchTag("StorageUnavailable", ({ detail }) =>
          Effect.logDebug(`who waits for an operation was not woken: ${detail}`)
        ),
        // One event that cannot be judged ends no other wait: all look, and the next signal begins anew.
        Effect.catchDefect((defect) => {
          judged = undefined
          ringOperations()
          return Effect.logError("the end of an operation was not signalled", defect)
        })
      )
    }),
    Effect.catchTag("StorageUnavailable", () => Effect.sleep(Duration.millis(poll))),
    Effect.forever,
    Effect.forkScoped
  )

  /** A bell that hangs as long as the scope; `hang` returns how it is taken down. */
  const hung = (hang: (bell: Bell) => () => void): Effect.Effect<Signal, never, Scope.Scope> =>
    Effect.gen(function* () {
      const bell = yield* Queue.sliding<void>(1)
      yield* Effect.acquireRelease(
        Effect.sync(() => hang(bell)),
        (takeDown) => Effect.sync(takeDown)
      )
      return Queue.take(bell)
    })

  return Signals.of({
    events: hung((bell) => {
      eventBells.add(bell)
      return () => void eventBells.delete(bell)
    }),
    // The set is found and joined in one step: a set of the map is never empty, and never left behind.
    operation: (operationId) =>
      hung((bell) => {
        const bells = operationBells.get(operationId) ?? new Set<Bell>()
        operationBells.set(operationId, bells.add(bell))
        return () => {
          bells.delete(bell)
          if (bells.size === 0) operationBells.delete(operationId)
        }
      })
  })
})

/** Id of the operation that an event of its end names. */
const operationOf = (payload: string): string => {
  const value = PlainJson.parseTrusted(payload)
  const id =
    typeof value === "object" && value !== null && "operationId" in value
      ? value["operationId"]
      : undefined
  if (typeof id !== "string") throw new Error(`an event of an operation names none: ${payload}`)
  return id
}

/** Signals of one engine, over its storage. */
export const layer = Layer.effect(Signals, make)
