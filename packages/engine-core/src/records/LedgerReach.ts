/** Service: how far the projection has read the ledger, for gates and figures of writes. */
import { Context, Effect, Layer, Option } from "effect"
import * as Instant from "../kernel/Instant.ts"
import type { LedgerEnd } from "../kernel/LedgerEnd.ts"
import * as Offset from "../kernel/Offset.ts"
import type * as Pin from "../kernel/Pin.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { Ledger } from "../ports/Ledger.ts"
import { ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import { ledgerUnavailable, orUnavailable } from "./PortFailure.ts"

export class LedgerReach extends Context.Service<
  LedgerReach,
  {
    /** Head of the projection; its ledger time is null before the first update. */
    readonly projected: Effect.Effect<
      { readonly offset: Offset.Offset; readonly ledgerTime: Instant.Instant | null },
      Unavailable
    >
    /** End of the ledger, asked of the ledger now, and the instant before it was asked. */
    readonly ledgerEnd: Effect.Effect<LedgerEnd, Unavailable>
    /** Horizon of the projection: records cannot be read back at an earlier offset. */
    readonly horizon: Effect.Effect<Offset.Offset, Unavailable>
    /**
     * Finds the last offset whose ledger time is before the instant; None where the projection
     * begins, by a snapshot or after pruning, at that instant or later. It is final once the
     * projection's ledger time has reached the instant. With `through` it is no later offset than that.
     */
    readonly offsetBefore: (
      instant: Instant.Instant,
      through?: Offset.Offset
    ) => Effect.Effect<Option.Option<Offset.Offset>, Unavailable>
  }
>()("@bursar/engine-core/records/LedgerReach") {}

const make = Effect.gen(function* () {
  const log = yield* ProjectionLog
  const ledger = yield* Ledger
  return LedgerReach.of({
    projected: Effect.map(orUnavailable(log.head), ({ offset, ledgerTime }) => ({
      offset: Offset.of(offset),
      ledgerTime: ledgerTime === null ? null : Instant.of(ledgerTime)
    })),
    ledgerEnd: Effect.gen(function* () {
      const readAt = yield* Instant.now
      const offset = yield* Effect.mapError(ledger.ledgerEnd, ledgerUnavailable)
      return { offset, readAt }
    }),
    horizon: Effect.map(orUnavailable(log.head), ({ horizonOffset }) => Offset.of(horizonOffset)),
    offsetBefore: (instant, through) =>
      Effect.map(
        orUnavailable(log.offsetBefore({ instant: Instant.sortable(instant), through })),
        (found) => Option.map(found, Offset.of)
      )
  })
})

export const layer: Layer.Layer<LedgerReach, never, ProjectionLog | Ledger> = Layer.effect(
  LedgerReach,
  make
)

/**
 * `LedgerReach` as it was at a pin, so that the code that judges an act now also prechecks it in the
 * past: the projection had read the ledger up to the pin, and the ledger ended there.
 */
export const at =
  ({ offset, ledgerTime, judgedAt }: Pin.ResolvedPin) =>
  (reach: LedgerReach["Service"]): LedgerReach["Service"] => ({
    projected: Effect.succeed({ offset, ledgerTime }),
    ledgerEnd: Effect.succeed({ offset, readAt: judgedAt }),
    horizon: reach.horizon,
    offsetBefore: (instant, through = offset) =>
      reach.offsetBefore(instant, Offset.min(through, offset))
  })
