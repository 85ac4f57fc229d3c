/**
 * Requests of new screenings: those of people, and those of a scheduled task for holders whose screening
 * is missing or stale.
 */
import { Context, Duration, Effect, Layer, Option, Stream } from "effect"
import type { Task } from "../../engine/Schedule.ts"
import * as Instant from "../../kernel/Instant.ts"
import { refused, type Refused, type Unavailable } from "../../kernel/Refusal.ts"
import { EngineScreening } from "../../ports/ScreeningSource.ts"
import { together } from "../../records/BatchedWork.ts"
import { type Query, Records } from "../../records/Records.ts"
import * as Worker from "../../records/Worker.ts"
import { holders } from "../../holders/holder/Holder.ts"
import { askAgain } from "../../holders/screening/AskRunner.ts"
import { ages } from "../../holders/screening/ScreeningAgeLookups.ts"
import { ScreeningMachine } from "../../holders/screening/Screening.ts"
import * as ScreeningRules from "../../holders/screening/ScreeningRules.ts"

/** Milliseconds after which a source that does not answer counts as unavailable. */
const answerWithin = 30_000

/** Largest number of holders in one transaction. */
const batchMax = 100

/**
 * Queries of holders to be screened again: never screened, too old, or under another list version.
 */
const dueQueries = ({
  listVersion,
  before
}: {
  readonly listVersion: string | undefined
  readonly before: Instant.Instant | undefined
}): ReadonlyArray<Pick<Query, "where" | "ranges">> => {
  const clear = { screening: ["clear"] }
  return [
    { where: { screening: ["none", "unscreened", "stale"] } },
    ...(listVersion === undefined
      ? []
      : [
          { where: clear, ranges: { screenedUnder: { to: listVersion } } },
          // The lower bound right after this version: U+0001, since not every store can hold
          // U+0000.
          { where: clear, ranges: { screenedUnder: { from: `${listVersion}\u0001` } } }
        ]),
    ...(before === undefined
      ? []
      : [{ where: clear, ranges: { screenedAt: { to: Instant.sortable(before) } } }])
  ]
}

/** Requests the screenings of some holders, in one transaction. */
const requested = (holderIds: ReadonlyArray<string>) =>
  Effect.flatMap(Records, (records) =>
    records.transact(
      Effect.gen(function* () {
        const now = yield* Instant.now
        for (const holder of yield* records.many(holders, holderIds)) yield* askAgain(holder, now)
      })
    )
  )

/**
 * Every minute finds holders whose screening is too old, was made under another version of the
 * lists, or was never made because the source is new, and requests their screenings
 * (docs/domain/holders.md#screening). Possible and confirmed hits are left out: a person decides
 * them.
 */
export const rescreenings: Task<Records> = {
  name: "rescreenings",
  doc: "Has holders screened again whose screening is too old, or older than the lists.",
  every: 60_000,
  run: Effect.fnUntraced(function* () {
    const records = yield* Records
    const source = yield* EngineScreening
    if (source.screens === "no") return
    const before = ScreeningRules.tooOldBefore(yield* Instant.now, yield* ages)
    const listVersion = yield* source.listVersion.pipe(
      Effect.timeout(Duration.millis(answerWithin)),
      Effect.tapError((error) =>
        Effect.logWarning("the screening source is unavailable", String(error))
      ),
      Effect.option
    )
    for (const query of dueQueries({ listVersion: Option.getOrUndefined(listVersion), before })) {
      // By ids alone: a holder that cannot be read or asked for keeps no other one from its screening.
      yield* records.ids(holders, query).pipe(
        Stream.grouped(batchMax),
        Stream.runForEach((ids) =>
          together(ids, requested, (holderId) => `the screening of the holder ${holderId}`)
        )
      )
    }
  })
}

/** Service that has a holder screened again at its operator's request. */
export class Screenings extends Context.Service<
  Screenings,
  {
    /**
     * Requests another screening of a holder: the only transition out of a confirmed hit
     * (docs/domain/holders.md#screening). Refuses `state-conflict` where a request is under way.
     */
    readonly rescreen: (
      holderId: string
    ) => Effect.Effect<void, Refused<"not-found" | "state-conflict"> | Unavailable>
  }
>()("@bursar/engine-core/restraints/screening/Screenings") {}

const rescreen = Effect.fnUntraced(function* (holderId: string) {
  const records = yield* Records
  yield* records.transact(
    Effect.gen(function* () {
      const holder = yield* records.get(holders, holderId)
      const before = ScreeningRules.startOf(holder.screening)
      const after = yield* askAgain(holder, yield* Instant.now)
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
})

export const layer: Layer.Layer<Screenings, never, Records> = Layer.effect(
  Screenings,
  Effect.map(Worker.servicesOf<Records>(), (services) =>
    Screenings.of({
      rescreen: (holderId) => Effect.provideContext(rescreen(holderId), services)
    })
  )
)
