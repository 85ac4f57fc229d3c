/** Precheck of a write of a room: every condition that judges it, and its figures; nothing is written. */
import { Effect, Schema } from "effect"
import * as Decimal from "../kernel/Decimal.ts"
import * as Gates from "../kernel/Gates.ts"
import * as Offset from "../kernel/Offset.ts"
import * as Judged from "../overviews/precheck/JudgedActLookups.ts"
import { Crypto } from "../ports/Crypto.ts"
import * as Read from "../reads/Read.ts"
import * as JudgedAt from "../records/JudgedAt.ts"
import * as LedgerReach from "../records/LedgerReach.ts"
import * as PinnedRecords from "../records/PinnedRecords.ts"
import { Records } from "../records/Records.ts"
import * as Concealment from "../writes/Concealment.ts"
import * as Figures from "../writes/Figures.ts"
import type { Operation } from "../writes/Operation.ts"

const RoomPrecheckView = Schema.Struct({
  act: Schema.String,
  /** Whether every condition holds. */
  allowed: Schema.Boolean,
  gates: Schema.Array(Gates.GateCheck),
  /** Figures of the act; null where it has none, and where they are concealed from the reader. */
  figures: Schema.NullOr(Figures.Figures),
  /** The hash that an approver of these figures would sign. */
  figuresHash: Schema.NullOr(Schema.String),
  /** The offset that the records were read at. */
  asOf: Offset.schema
}).annotate({
  identifier: "RoomPrecheckView",
  description: "Every check of an act of a room, in the order of the gates, and the act's figures."
})

/**
 * Declares the read that judges a write of a room by the conditions of its `gates`, as the records stood at
 * the point of the read. `inputOf` makes the input of the write from the parameters of the read.
 */
export const of = <I, P, E, const N extends Read.Read["name"]>(
  operation: Operation & { readonly input: Schema.Codec<I, unknown> },
  {
    audience,
    inputOf,
    name,
    params,
    route
  }: {
    readonly name: N
    readonly route: Read.ReadRoute
    readonly audience: Read.Audience
    readonly params: Schema.Codec<P, E>
    readonly inputOf: (params: NoInfer<P>) => I
  }
) =>
  Read.one({
    name,
    doc: `Judges ${operation.kind} by every condition of every gate, as the records stood at the point of the read, and writes nothing.`,
    route,
    audience,
    pinned: true,
    params,
    value: RoomPrecheckView,
    refuses: Judged.refusals,
    run: Effect.fnUntraced(function* (actParams: P, asking) {
      const { pin, role } = asking
      const records = PinnedRecords.at(yield* Records, pin)
      const act = Judged.actOf(asking)
      const judged = yield* Effect.all({
        rows: Judged.rowsOf(operation, inputOf(actParams), act),
        figures: Concealment.mayReadFigures(operation, role)
          ? Judged.derivedBy(operation, inputOf(actParams), act)
          : Effect.succeed(null)
      }).pipe(
        Effect.provideService(Records, records),
        Effect.updateService(LedgerReach.LedgerReach, LedgerReach.at(pin)),
        Effect.provideService(JudgedAt.JudgedAt, pin.judgedAt)
      )
      const figures =
        judged.figures === null
          ? null
          : Figures.shown({ figures: judged.figures, tolerance: Decimal.zero })
      return {
        act: operation.kind,
        allowed: judged.rows.every(({ ok }) => ok),
        gates: Concealment.rowsFor(judged.rows, role),
        figures,
        figuresHash: figures === null ? null : Figures.hashOf(figures, yield* Crypto),
        asOf: pin.offset
      }
    })
  })
