/**
 * Notifications of new work and events: inside this host at once, to other hosts by `notify` soon
 * after.
 */
import { type PgClient, PgConnection } from "@effect/sql-pg"
import { Effect, Latch, Queue, Schedule, type Scope } from "effect"
import * as Local from "../memory/Wakes.ts"
import type { Sessions } from "./Sessions.ts"

const CHANNEL = "bursar"
/**
 * Sent after the commit, in batches: `notify` inside the writing transactions would serialise all
 * commits.
 */
const GATHER = "20 millis"
const RECONNECT = Schedule.spaced("5 seconds")

export const make = Effect.fnUntraced(function* (options: {
  readonly sessions: Sessions
  readonly connection: Pick<PgClient.PgClientConfig, "url">
}): Effect.fn.Return<Local.Wakes, never, Scope.Scope> {
  const local = Local.make()
  const pending = new Set<string>()
  const news = yield* Latch.make(false)

  const tell = Effect.gen(function* () {
    yield* news.await
    yield* Effect.sleep(GATHER)
    news.closeUnsafe()
    const topics = [...pending]
    pending.clear()
    // A notification may be lost: subscribers poll as well.
    yield* Effect.catch(
      options.sessions.askApart(
        `select pg_notify('${CHANNEL}', topic) from unnest($1::text[]) topic`,
        [topics]
      ),
      (error) => Effect.logDebug(`Other hosts were not woken: ${error.detail}`)
    )
  })
  yield* Effect.forkScoped(Effect.forever(tell))

  const hear = Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* PgConnection.make({
        url: options.connection.url,
        applicationName: "bursar wakes"
      })
      const notices = yield* connection.listen(CHANNEL)
      // Notifications sent while no connection listened are lost: every subscriber looks.
      local.wakeAll()
      return yield* Effect.forever(
        Effect.map(Queue.take(notices), (notice) => local.wake(notice.payload))
      )
    })
  )
  yield* Effect.forkScoped(Effect.retry(hear, RECONNECT))

  return {
    wake: (topic) => {
      local.wake(topic)
      pending.add(topic)
      news.openUnsafe()
    },
    stream: local.stream
  }
})
