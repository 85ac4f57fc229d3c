/**
 * Task that requests new screenings for holders whose screening is too old or older than the lists.
 */
import { Duration, Effect, Option } from "effect"
import type { Task } from "../../feeds/Schedule.ts"
import * as Instant from "../../kernel/Instant.ts"
import { ScreeningSource } from "../../ports/ScreeningSource.ts"
import { type Query, Records } from "../../records/Records.ts"
import { holders } from "../../holders/holder/Holder.ts"
import { askAgain } from "../../holders/screening/AskRunner.ts"
import { ages } from "../../holders/screening/ScreeningAgeLookups.ts"
import * as ScreeningRules from "../../holders/screening/ScreeningRules.ts"

/** Milliseconds after which a source that does not answer counts as away. */
const answerWithin = 30_000

/** Holders that are looked at in one transaction. */
const batchMax = 100

/** Query of holders to be screened again: never asked, too old, or made under other lists. */
const dueAgain = (of: {
  readonly listVersion: string | undefined
  readonly before: Instant.Instant | undefined
}): ReadonlyArray<Pick<Query, "where" | "ranges">> => {
  const { before, listVersion } = of
  const clear = { screening: ["clear"] }
  return [
    { where: { screening: ["none", "unscreened", "stale"] } },
    ...(listVersion === undefined
      ? []
      : [
          { where: clear, ranges: { screenedUnder: { to: listVersion } } },
          // The first text after it: no store need hold a text with a zero in it.
          { where: clear, ranges: { screenedUnder: { from: `${listVersion}\u0001` } } }
        ]),
    ...(before === undefined
      ? []
      : [{ where: clear, ranges: { screenedAt: { to: Instant.sortable(before) } } }])
  ]
}

const batch = Effect.fnUntraced(function* (query: Pick<Query, "where" | "ranges">) {
  const records = yield* Records
  const found = yield* records.list(holders, { ...query, limit: batchMax })
  if (found.length === 0) return 0
  yield* records.transact(
    Effect.gen(function* () {
      const now = yield* Instant.now
      const ids = found.map(({ record }) => record.holderId)
      for (const holder of yield* records.many(holders, ids)) yield* askAgain(holder, now)
    })
  )
  return found.length
})

/**
 * Looks every minute whose screening is too old, was made under another version of the lists, or
 * was never made because the source is new here, and asks about them again
 * (docs/domain/holders.md#screening). A confirmed hit and a possible one stay as they are: a person
 * decides those.
 */
export const rescreenings: Task<Records> = {
  name: "rescreenings",
  doc: "Has holders screened again whose screening is too old, or older than the lists.",
  every: 60_000,
  run: Effect.fnUntraced(function* () {
    const source = yield* ScreeningSource
    if (source.screens === "no") return
    const before = ScreeningRules.tooOldBefore(yield* Instant.now, yield* ages)
    const listVersion = yield* source.listVersion.pipe(
      Effect.timeout(Duration.millis(answerWithin)),
      Effect.tapError((error) => Effect.logWarning("the screening source is away", String(error))),
      Effect.option
    )
    for (const query of dueAgain({ listVersion: Option.getOrUndefined(listVersion), before })) {
      // Each that was asked about leaves what the next batch finds.
      yield* Effect.repeat(batch(query), { while: (had) => had === batchMax })
    }
  })
}
