/** Queries of reconciliation runs: all of them, or one. */
import { Effect, Schema, Stream } from "effect"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { RunTrigger, Verdict } from "../../vocabulary/sets.ts"
import { everyInstrument, RunId, runs } from "./Run.ts"
import { runInstruments } from "./RunInstrument.ts"
import * as RunView from "./RunView.ts"

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  auditor: "all"
} as const satisfies Read.Audience

const list = Read.list({
  name: "reconciliation-runs.list",
  doc: "Lists reconciliation runs; of an instrument, those that covered it or every instrument.",
  route: "GET /v1/reconciliation-runs",
  audience,
  pinned: true,
  collection: runs,
  params: Schema.Struct({
    trigger: Schema.optionalKey(Schema.Array(RunTrigger.schema)),
    verdict: Schema.optionalKey(Schema.Array(Verdict.schema)),
    instrumentId: Schema.optionalKey(InstrumentId)
  }),
  item: RunView.RunView,
  direction: "desc",
  order: "newest first",
  changes: false,
  acted: "never",
  where: ({ trigger, verdict }) => ({
    ...(trigger === undefined ? {} : { trigger }),
    ...(verdict === undefined ? {} : { verdict })
  }),
  narrow: Effect.fn("reconciliation-runs.list.narrow")(function* ({ instrumentId }, { pin }) {
    if (instrumentId === undefined) return {}
    const records = yield* Records
    const several = yield* records
      .stream(runInstruments, { pin, where: { instrumentId: [instrumentId] } })
      .pipe(
        Stream.map(({ record }) => record.runId),
        Stream.runCollect
      )
    return { covers: [everyInstrument, instrumentId, ...several] }
  }),
  view: (found) => Effect.succeed(found.map(RunView.of))
})

const get = Read.one({
  name: "reconciliation-runs.get",
  doc: "A reconciliation run.",
  route: "GET /v1/reconciliation-runs/{runId}",
  audience,
  pinned: true,
  params: Schema.Struct({ runId: RunId }),
  value: RunView.RunView,
  refuses: ["not-found"],
  run: Effect.fn("reconciliation-runs.get")(function* ({ runId }, { pin }) {
    const records = yield* Records
    return RunView.of(yield* records.get(runs, runId, pin))
  })
})

export const queries = [list, get] as const
