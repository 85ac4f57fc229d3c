/** Read of an instrument's prices. */
import { Effect, Option, Schema, Struct } from "effect"
import * as Instant from "../../kernel/Instant.ts"
import * as LazyStruct from "../../kernel/LazyStruct.ts"
import * as Read from "../../reads/Read.ts"
import * as RecordView from "../../records/RecordView.ts"
import { Records } from "../../records/Records.ts"
import { InstrumentId, instruments } from "../instrument/Instrument.ts"
import { instrumentInSight } from "../instrument/InstrumentLookups.ts"
import { policyVersions } from "../policy/PolicyVersion.ts"
import { PricePoint, pricePoints } from "./PricePoint.ts"
import { official } from "./PriceRules.ts"

const shown = Struct.pick(PricePoint.fields, [
  "contractId",
  "instrumentId",
  "price",
  "incomePerUnit",
  "withholding",
  "valuationTime",
  "publishedAt",
  "source",
  "offset",
  "statementId",
  "corrects",
  // Why a point is not official: it was corrected, or withdrawn.
  "correctedBy",
  "isLive"
])

const PriceView = Schema.Struct({
  ...shown,
  /**
   * Whether the point may price orders at the pin: of the instrument's oracle, live, not corrected.
   */
  official: Schema.Boolean,
  ...RecordView.fields
}).annotate({
  identifier: "PriceView",
  description: "A price that the instrument's oracle published."
})

/** Roles that read prices and series: a registrar those of its own instruments. */
export const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all",
  investor: "all",
  app: "all",
  registrar: "near"
} as const satisfies Read.Audience

export const list = Read.list({
  name: "instruments.prices",
  doc: "Lists the prices that an instrument's oracles published, by offset: the present one and those before it.",
  route: "GET /v1/instruments/{instrumentId}/prices",
  audience,
  pinned: true,
  collection: pricePoints,
  params: Schema.Struct({
    instrumentId: InstrumentId,
    /** Valued at this instant or later. */
    from: Schema.optionalKey(Instant.schema),
    /** Valued before this instant. */
    to: Schema.optionalKey(Instant.schema)
  }),
  item: PriceView,
  direction: "asc",
  order: "by offset",
  changes: false,
  acted: "never",
  parent: ({ instrumentId }, asking) => Effect.asVoid(instrumentInSight(instrumentId, asking)),
  where: ({ instrumentId }) => ({ instrumentId: [instrumentId] }),
  ranges: ({ from, to }) => ({
    valuationTime: {
      ...(from === undefined ? {} : { from: Instant.sortable(from) }),
      ...(to === undefined ? {} : { to: Instant.sortable(to) })
    }
  }),
  // Points of parties that were never the instrument's oracle are left out: they price nothing.
  narrow: Effect.fnUntraced(function* ({ instrumentId }, { pin }) {
    const records = yield* Records
    const oracles = yield* records.countBy(policyVersions, "oracle", {
      pin,
      where: { instrumentId: [instrumentId], state: ["current", "superseded"] }
    })
    return { source: [...oracles.keys()] }
  }),
  view: Effect.fnUntraced(function* (points, { pin }, { instrumentId }) {
    const records = yield* Records
    const instrument = Option.getOrUndefined(yield* records.find(instruments, instrumentId, pin))
    const oracle = instrument?.manifest?.oracle ?? null
    return points.map((point) =>
      LazyStruct.extend(RecordView.of(pricePoints, shown, point), {
        official: oracle !== null && official([point], oracle).length === 1
      })
    )
  })
})

export const queries = [list] as const
