/** Read of the verdicts of instruments: as their latest runs left them, or as they would have been. */
import { Effect, Option, Schema, Stream } from "effect"
import { NotCompared } from "../../findings/NotCompared.ts"
import * as Counterfactual from "../../instruments/policy/Counterfactual.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Offset from "../../kernel/Offset.ts"
import { refused } from "../../kernel/Refusal.ts"
import { versionAsked } from "../../orders/order/SuppositionLookups.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { isConcealedCheck } from "../../vocabulary/ReconciliationChecks.ts"
import type { Role } from "../../vocabulary/Role.ts"
import { Verdict } from "../../vocabulary/sets.ts"
import { isConcealedFrom } from "../../writes/Concealment.ts"
import { type InstrumentVerdict, instrumentVerdicts, shownOf } from "./InstrumentVerdict.ts"
import { supposed } from "./VerdictLookups.ts"

const { NullOr, optionalKey, Struct } = Schema

const Params = Struct({
  instrumentId: optionalKey(InstrumentId),
  verdict: optionalKey(Schema.Array(Verdict.schema)),
  ...Counterfactual.fields
})
type Params = typeof Params.Type

export const VerdictView = Struct({
  instrumentId: InstrumentId,
  verdict: Verdict.schema,
  runId: Schema.String,
  /** Offset of the ledger at which the run read everything. */
  asOf: Offset.schema,
  open: Struct({ blocking: Integer.schema, warning: Integer.schema, info: Integer.schema }),
  oldestDays: NullOr(Integer.schema),
  /** Input that checks had and did not compare the latest time that a run asked for them. */
  notCompared: Schema.Array(NotCompared)
}).annotate({
  identifier: "ReconciliationVerdictView",
  description: "What the latest reconciliation run that covered an instrument came to."
})
export type VerdictView = typeof VerdictView.Type

const viewOf = (self: InstrumentVerdict, role: Role): VerdictView => {
  const isConcealed = isConcealedFrom(role)
  const { open, oldestDays, verdict } = isConcealed ? shownOf(self) : self
  return {
    instrumentId: self.instrumentId,
    verdict,
    runId: self.runId,
    asOf: self.pin.offset,
    open,
    oldestDays,
    notCompared: isConcealed
      ? self.notCompared.filter(({ check }) => !isConcealedCheck(check))
      : self.notCompared
  }
}

const whereOf = ({ instrumentId, verdict }: Params): Read.Scope => ({
  ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] }),
  ...(verdict === undefined ? {} : { verdict })
})

/** Checks whether a verdict is among those that a caller asks for, as its role reads it. */
const matches = (self: InstrumentVerdict, role: Role, { verdict }: Params): boolean =>
  verdict?.includes(viewOf(self, role).verdict) ?? true

/**
 * Loads a page of the stored verdicts. Investors and apps find them by the verdict that they are shown,
 * which no column of the store has.
 */
const stored = Effect.fnUntraced(function* (
  page: { readonly after?: string | undefined; readonly limit: number },
  { pin, role }: Pick<Read.ReadContext, "pin" | "role">,
  params: Params
) {
  const records = yield* Records
  const { verdict, ...where } = whereOf(params)
  const isMatched = isConcealedFrom(role) && verdict !== undefined
  const query = {
    pin,
    where: isMatched ? where : whereOf(params),
    ...(page.after === undefined ? {} : { after: page.after })
  }
  if (!isMatched) return yield* records.list(instrumentVerdicts, { ...query, limit: page.limit })
  return yield* records.stream(instrumentVerdicts, query).pipe(
    Stream.filter(({ record }) => matches(record, role, params)),
    Stream.take(page.limit),
    Stream.runCollect
  )
})

export const list = Read.list({
  name: "reconciliation-verdict.list",
  doc: "Lists the verdicts of instruments: that of the latest run that covered each. With a policy version or a price, of one instrument: what the run would have found, computed again at its pin; nothing is stored.",
  route: "GET /v1/reconciliation-verdict",
  audience: {
    operator: "all",
    approver: "all",
    risk: "all",
    auditor: "all",
    app: "all",
    monitor: "all"
  },
  pinned: true,
  collection: instrumentVerdicts,
  params: Params,
  item: VerdictView,
  direction: "asc",
  order: "by instrument id",
  changes: false,
  acted: "never",
  parent: Effect.fnUntraced(function* (params) {
    if (!Counterfactual.isAsked(params)) return
    const { instrumentId, policyVersion } = params
    if (instrumentId === undefined) {
      const detail = "A policy version or a price is one of an instrument: name it."
      return yield* Effect.fail(
        refused("invalid-request", { errors: [{ pointer: "/query/instrumentId", detail }] })
      )
    }
    if (policyVersion !== undefined) yield* versionAsked(instrumentId, policyVersion)
  }),
  where: (params) => ({
    ...whereOf(params),
    // They bind the cursor alone.
    ...(params.policyVersion === undefined
      ? {}
      : { policyVersion: [String(params.policyVersion)] }),
    ...(params.price === undefined ? {} : { price: [String(params.price)] })
  }),
  rows: Effect.fnUntraced(function* (page, asking, params) {
    const { pin, role } = asking
    if (!Counterfactual.isAsked(params)) {
      const found = yield* stored(page, asking, params)
      return found.map(({ record, sortKey }) => ({ sortKey, row: record }))
    }
    const { instrumentId } = params
    if (instrumentId === undefined || page.after !== undefined) return []
    const records = yield* Records
    const latest = Option.getOrNull(yield* records.find(instrumentVerdicts, instrumentId, pin))
    if (latest === null) return []
    const row = yield* Effect.catchTag(supposed(latest, params), "Refused", () =>
      Effect.die(new Error(`${instrumentId} lost a policy version during a read`))
    )
    return matches(row, role, params) ? [{ sortKey: instrumentId, row }] : []
  }),
  view: (found, { role }) => Effect.succeed(found.map((record) => viewOf(record, role)))
})

export const queries = [list] as const
