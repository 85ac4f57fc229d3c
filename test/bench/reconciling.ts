/**
 * A reconciliation run that compares a statement with the register, line by line, against one statement
 * that finds the same differences in the same tables.
 */
import { settingsDefaults } from "@bursar/engine-core"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Reconciling from "../operations/reconciling.ts"
import { withDatabase } from "./database.ts"
import { type Bench, inTurns, timed } from "./measure.ts"
import { withHeap } from "./memory.ts"
import * as Meters from "./meter.ts"
import * as Scene from "./scene.ts"
import * as Stated from "./stated-register.ts"

const differing = 1_000
const scope = JSON.stringify({
  scope: { instrumentIds: [Stated.instrumentId], checks: ["register-line"] }
})

/** Number of findings of a run. */
const found = Effect.gen(function* () {
  const { value } = yield* Reconciling.run(scope)
  const [check] = value.checks
  if (check?.ran !== true)
    return yield* Effect.die(new Error(`the check did not run: ${check?.why}`))
  return check.findings
})

/** Number of holders of whom the statement and the register differ, by hand-written SQL. */
const bySql = (registrar: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql`
      select coalesce(r.holder, s.holder) as holder, r.units::text as units, s.stated::text as stated
      from (
        select p.body::json ->> 'holderId' as holder, sum((e.body::json ->> 'units')::numeric) as units
        from bursar.document e join bursar.document p on p.collection = 'holder-party'
          and p.to_offset is null and p.record_id = e.filters ->> 'party'
        where e.collection = 'register-entry' and e.to_offset is null
          and e.filters ->> 'asset' = ${`${registrar}/${Stated.instrumentId}`}
        group by 1) r
      full join (
        select a.filters ->> 'holderId' as holder, sum(l.amounts[1]) as stated
        from bursar.bulk_row l join bursar.document n on n.collection = 'account-number'
          and n.to_offset is null and n.filters ->> 'hash' = l.match
        join bursar.document a on a.collection = 'external-account' and a.to_offset is null
          and a.record_id = n.filters ->> 'externalAccountId'
        where l.owner = (select max(number) from bursar.bulk)
        group by 1) s on s.holder = r.holder
      where r.units is distinct from s.stated
      order by 1`
    return rows.length
  })

const expecting = <E, R>(count: Effect.Effect<number, E, R>, wanted: number) =>
  Effect.flatMap(count, (number) =>
    number === wanted
      ? Effect.void
      : Effect.die(new Error(`${number} differences were found, not ${wanted}`))
  )

const measured = (options: { readonly rounds: number; readonly holders: number }) =>
  Effect.gen(function* () {
    const { holders, rounds } = options
    const wanted = Math.min(differing, holders)
    const { registrar } = yield* Stated.founded({ holders, differing: wanted })
    const meter = Meters.of(yield* SqlClient.SqlClient)
    const heaps: Array<number> = []
    const compared = yield* inTurns({
      rounds,
      ours: {
        meter,
        run: () =>
          timed(
            holders,
            Effect.map(withHeap(expecting(found, wanted)), ({ heap }) =>
              heaps.push(heap.most - heap.before)
            )
          )
      },
      bound: { meter, run: () => timed(holders, expecting(bySql(registrar), wanted)) }
    })
    return { compared, heap: Math.max(...heaps) }
  })

export const bench: Bench = async ({ rounds, size = 1_000_000 }) => {
  const on = (options: { readonly rounds: number; readonly holders: number }) =>
    withDatabase((database) =>
      Scene.on(database, { settings: settingsDefaults })(measured(options))
    )
  const tenth = await on({ rounds: 1, holders: Math.ceil(size / 10) })
  const { compared, heap } = await on({ rounds, holders: size })
  const name = size.toLocaleString("en-US")
  return [
    {
      bench: `run over a statement of ${name} lines and ${name} holders`,
      unit: "lines/s",
      against: "one statement that finds the same differences in the same tables",
      goal: 0.5,
      note: `${differing} findings; heap ${Math.round(heap)} MiB over idle, ${Math.round(tenth.heap)} MiB at a tenth`,
      ...compared
    }
  ]
}
