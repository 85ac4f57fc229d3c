/**
 * Findings that a run sees again, stored in one transaction, against SQL that writes the same rows; and
 * the verdicts of many instruments, against one select.
 */
import { Queries, Records, settingsDefaults } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { compare } from "#core/reconciliation/run/CompareSteps.ts"
import * as RecordSteps from "#core/reconciliation/run/RecordSteps.ts"
import { RunId, type RunScope } from "#core/reconciliation/run/Run.ts"
import * as Reconciling from "../operations/reconciling.ts"
import {
  caller,
  engineOn,
  listOf,
  printed,
  recordInstrument,
  registrar,
  withDatabase
} from "./database.ts"
import { type Bench, comparedOf, inTurns, metered, type Options, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import * as Scene from "./scene.ts"
import * as Seeded from "./seeded.ts"
import * as Stated from "./stated-register.ts"
import * as StoredRows from "./stored-rows.ts"

const scope: RunScope = { instrumentIds: [Stated.instrumentId as never], checks: ["register-line"] }

/** Transaction that stores what a run found; the comparison before it is not measured. */
const storing = Effect.fnUntraced(function* (runId: string) {
  const records = yield* Records
  const compared = yield* compare(scope)
  return records.transactAlone(
    Effect.gen(function* () {
      const id = Schema.decodeSync(RunId)(runId)
      const act = { cause: { by: "run", runId: id } as const, now: yield* Instant.now }
      yield* RecordSteps.record({ runId: id, trigger: "manual", scope, compared }, act)
    })
  )
})

const findingsStored = Effect.fnUntraced(function* ({ rounds, findings }: Sizes) {
  yield* Stated.founded({ holders: 2 * findings, differing: findings })
  const sql = yield* SqlClient.SqlClient
  const rows = yield* StoredRows.make
  const meter = Meters.of(sql)
  const count = Effect.map(
    sql<{ readonly count: number }>`select count(*)::int4 as count from bursar.document
      where collection = 'finding' and to_offset is null and filters ->> 'state' = 'open'`,
    ([row]) => row?.count
  )
  // A run opens a thousand new findings, so that it takes several until all of them are found again.
  let run = 0
  while ((yield* count) !== findings) {
    if (run++ > findings / 1_000) return yield* Effect.die(new Error("findings are not opened"))
    yield* yield* storing(`run_open_${run}`)
  }
  const ours: Array<Effect.Success<ReturnType<typeof metered>>> = []
  const bound: Array<Effect.Success<ReturnType<typeof metered>>> = []
  for (let round = 0; round < rounds; round++) {
    const store = yield* storing(`run_again_${round}`)
    yield* rows.begin
    ours.push(yield* metered({ meter, run: () => timed(findings, store) }, round))
    const stored = yield* rows.take
    bound.push(yield* metered({ meter, run: () => timed(findings, rows.write(stored, 1)) }, round))
  }
  return comparedOf(ours, bound)
})

interface Sizes {
  readonly rounds: number
  readonly findings: number
}

export const bench: Bench = async ({ rounds, size = 10_000 }) => {
  const compared = await withDatabase((database) =>
    Scene.on(database, { settings: settingsDefaults })(findingsStored({ rounds, findings: size }))
  )
  const seconds = size / compared.ours.speed.median
  return [
    {
      bench: `${size.toLocaleString("en-US")} findings seen again, stored`,
      unit: "findings/s",
      against: "the same rows by one statement a table, in one transaction",
      goal: 0.3,
      note: `a transaction of ${seconds.toFixed(2)} s; built for 5 s at most`,
      ...compared
    }
  ]
}

const perRound = 20

const verdictsRead = ({ rounds, size: instruments = 1_000 }: Options) =>
  Effect.gen(function* () {
    yield* recordInstrument("aaa-first")
    yield* Seeded.instruments({ like: "aaa-first", count: instruments - 1, registrar })
    const sql = yield* SqlClient.SqlClient
    yield* sql`analyze bursar.document`
    yield* Reconciling.run(JSON.stringify({ scope: { checks: ["register-supply"] } }))
    yield* sql`analyze bursar.document`
    const queries = yield* Queries
    const list = listOf("reconciliation-verdict.list")
    const expecting = <E, R>(rows: Effect.Effect<number, E, R>) =>
      Effect.flatMap(rows, (count) =>
        count === instruments
          ? Effect.void
          : Effect.die(new Error(`${count} verdicts of ${instruments}`))
      )
    const page = Effect.map(
      queries.page(list, { caller, params: {}, point: {}, page: { limit: instruments } }),
      ({ value }) => {
        printed(value)
        return value.length
      }
    )
    const plain = Effect.map(
      sql<{ readonly body: string }>`select body from bursar.document
        where collection = 'instrument-verdict' and to_offset is null
        order by sort_key limit ${instruments}`,
      (rows) => {
        const shown = rows.map(({ body }) => {
          const { instrumentId, verdict, runId, pin, open, oldestDays } = JSON.parse(body)
          return { instrumentId, verdict, runId, asOf: pin.offset, open, oldestDays }
        })
        printed(shown)
        return shown.length
      }
    )
    const meter = Meters.of(sql)
    const times = <E, R>(rows: Effect.Effect<number, E, R>) => ({
      meter,
      run: () =>
        timed(
          perRound * instruments,
          Effect.forEach(Array.from({ length: perRound }), () => expecting(rows), { discard: true })
        )
    })
    return yield* inTurns({ rounds, ours: times(page), bound: times(plain) })
  })

export const verdicts = {
  bench: (async (options) => {
    const compared = await withDatabase(({ storage }) =>
      verdictsRead(options).pipe(Effect.scoped, Effect.provide(engineOn(storage)))
    )
    const name = (options.size ?? 1_000).toLocaleString("en-US")
    return [
      {
        bench: `verdicts of ${name} instruments`,
        unit: "verdicts/s",
        against: "one select, parsed and printed, same driver",
        goal: 0.5,
        note: "one page, one caller",
        ...compared
      }
    ]
  }) satisfies Bench
}
