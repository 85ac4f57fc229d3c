/** Read that judges an act by all its conditions and writes nothing. */
import { Effect, Schema } from "effect"
import * as Concealment from "../../writes/Concealment.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Gates from "../../kernel/Gates.ts"
import * as Offset from "../../kernel/Offset.ts"
import { Crypto } from "../../ports/Crypto.ts"
import * as Read from "../../reads/Read.ts"
import * as JudgedAt from "../../records/JudgedAt.ts"
import * as PinnedRecords from "../../records/PinnedRecords.ts"
import * as LedgerReach from "../../records/LedgerReach.ts"
import { Records } from "../../records/Records.ts"
import { PrecheckAct } from "../../vocabulary/sets.ts"
import * as Figures from "../../writes/Figures.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Judged from "./JudgedActLookups.ts"
import { inputOf, namedBy, operations, subjectOf } from "./PrecheckActLookups.ts"
import { figuresOf } from "./PrecheckFiguresLookups.ts"
import { actSchema, actParams, membersOf } from "./PrecheckRules.ts"
import { supposedBy } from "./PrecheckSuppositionLookups.ts"

const PrecheckView = Schema.Struct({
  act: PrecheckAct.schema,
  /** Whether every condition holds. */
  allowed: Schema.Boolean,
  gates: Schema.Array(Gates.GateCheck),
  /** Figures of the act; null where it has none yet, and where they are concealed from the reader. */
  figures: Schema.NullOr(Figures.Figures),
  /** The hash that an approver of these figures would sign. */
  figuresHash: Schema.NullOr(Schema.String),
  /** The offset that the records were read at. */
  asOf: Offset.schema
}).annotate({
  identifier: "PrecheckView",
  description: "Every check of an act, in the order of the gates, and the act's figures."
})

export const get = Read.one({
  name: "instruments.precheck",
  doc: "Judges an act by every check of every gate, as the records stood at the point of the read, and writes nothing. With a price or a policy version it judges as if those were so. A record whose state does not answer to the act is answered by one row: gate policy, and the name of its states as the check.",
  route: "GET /v1/instruments/{instrumentId}/precheck",
  audience: {
    operator: "all",
    approver: "all",
    risk: "all",
    compliance: "all",
    auditor: "all",
    app: "all",
    investor: "own"
  },
  pinned: true,
  params: Schema.Struct({ instrumentId: InstrumentId, act: actSchema, ...actParams }),
  value: PrecheckView,
  refuses: Judged.refusals,
  run: Effect.fn("instruments.precheck")(function* ({ instrumentId, act, ...params }, asking) {
    const { pin, role } = asking
    const operation = operations[act]
    const members = yield* Effect.fromResult(membersOf(act, params))
    const named = yield* namedBy(act, { instrumentId, pin })
    const input = yield* Effect.fromResult(inputOf(act, members, named))
    const subject = yield* subjectOf(act, params, { instrumentId, asking })
    const supposed = yield* supposedBy(act, params, { subject, pin })
    const records = PinnedRecords.at(yield* Records, pin, supposed)
    const then = Judged.actOf(asking)
    const judged = yield* Effect.gen(function* () {
      const rows = yield* Judged.rowsOf(operation, input, then)
      if (!Concealment.mayReadFigures(operation, role)) return { rows, figures: null }
      const derived = yield* Judged.derivedBy(operation, input, then)
      const figures = derived ?? (yield* figuresOf(act, params, { instrumentId, now: then.now }))
      return { rows, figures }
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
      act,
      allowed: judged.rows.every(({ ok }) => ok),
      gates: Concealment.rowsFor(judged.rows, role),
      figures,
      figuresHash: figures === null ? null : Figures.hashOf(figures, yield* Crypto),
      asOf: pin.offset
    }
  })
})

export const queries = [get] as const
