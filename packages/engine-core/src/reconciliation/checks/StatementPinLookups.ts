/** Resolves the moments of statements to pins, at which the engine's records are compared with them. */
import { Effect } from "effect"
import type * as Instant from "../../kernel/Instant.ts"
import { Ledger } from "../../ports/Ledger.ts"
import { Feed } from "../../ports/storage/Feed.ts"
import { ProjectionLog } from "../../ports/storage/ProjectionLog.ts"
import * as Instants from "../../reads/Point.ts"
import { CheckNotRun, type Point } from "./Check.ts"

/**
 * Resolves the pin of an instant by the time of a run. The check does not run where the history kept
 * begins later (`before-horizon`), where the projection has not read it all (`not-reached`), and where
 * the instant lies after the run's (`as-of-ahead`).
 */
export const pinAt = Effect.fnUntraced(function* (instant: Instant.Instant, { pin }: Point) {
  const ports = { log: yield* ProjectionLog, feed: yield* Feed, ledger: yield* Ledger }
  const now = pin.judgedAt
  if (instant > now) return yield* new CheckNotRun({ why: "as-of-ahead" })
  return yield* Instants.asOf(ports, instant, now).pipe(
    Effect.catchTag("Refused", ({ slug }) =>
      Effect.fail(
        new CheckNotRun({ why: slug === "before-horizon" ? "before-horizon" : "not-reached" })
      )
    )
  )
})
