/**
 * The lines of an executed month: exported as a table, against a server that selects and prints them;
 * and computed again by reconciliation, against one statement that computes and compares the same.
 */
import { Instant } from "@bursar/engine-core/kernel"
import { Feed, ProjectionLog } from "@bursar/engine-core/ports"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import * as Decimal from "#core/kernel/Decimal.ts"
import * as Point from "#core/reads/Point.ts"
import { checks } from "#core/reconciliation/checks/AllChecks.ts"
import { pointOf } from "#core/reconciliation/checks/ReserveBatchLookups.ts"
import { Records } from "#core/records/Records.ts"
import { type Database, withDatabase } from "./database.ts"
import { type Bench, inTurns, type Options, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import * as Months from "./months.ts"
import * as Processes from "./processes.ts"
import * as Scene from "./scene.ts"

const { distributionId } = Months
const path = `/v1/distributions/${distributionId}/export?format=csv`
const barePath = `/lines?of=${distributionId}`

const check = checks.find(({ name }) => name === "distribution-recompute")

/** Differences of the check that computes the lines again; none is expected. */
const recomputed = Effect.gen(function* () {
  if (check === undefined) return yield* Effect.die(new Error("there is no such check"))
  const records = yield* Records
  const feed = yield* Feed
  const log = yield* ProjectionLog
  const instrument = yield* records.get(instruments, "fund-a")
  const pin = yield* Point.newest({ feed, log }, yield* Instant.now)
  const terms = { tolerance: null, grace: null, now: pin.judgedAt }
  const differences = check
    .facts(instrument, yield* pointOf([instrument], { pin, horizonOffset: 0 }), terms)
    .pipe(Stream.map((fact) => check.differences(fact, Decimal.zero, terms).length))
  return yield* Stream.runSum(differences)
})

/** Lines that differ from what one statement computes from the points of the plan and the register. */
const bySql = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly count: string }>`
    with point as (
      select p.income, p.days, p."offset" from bursar.document plan
      cross join json_to_recordset(plan.body::json -> 'points')
        as p(income numeric, days numeric, "offset" int8)
      where plan.collection = 'distribution-plan' and plan.to_offset is null),
    computed as (
      select d.record_id, min(d.body::json ->> 'party') as party,
        sum((d.body::json ->> 'units')::numeric * point.income * point.days) as entitlement
      from point join bursar.document d on d.collection = 'register-entry'
        and d.filters ? 'asset' and d.from_offset <= point."offset"
        and (d.to_offset is null or d.to_offset > point."offset")
      group by d.record_id),
    stored as (
      select l.line ->> 'party' as party, (l.line ->> 'entitlement')::numeric as entitlement,
        (l.line ->> 'gross')::numeric as gross, (l.line ->> 'withheld')::numeric as withheld,
        (l.line ->> 'net')::numeric as net
      from (select body::json as line from bursar.document where collection = 'distribution-line'
        and to_offset is null and filters ->> 'distributionId' = ${distributionId}) l)
    select count(*)::text as count from computed c full join stored s on s.party = c.party
    where s.party is null or c.party is null or s.entitlement <> c.entitlement
      or s.gross <> trunc(c.entitlement, 2) or s.net <> s.gross - s.withheld`
  return Number(row?.count)
})

const without = <E, R>(differences: Effect.Effect<number, E, R>) =>
  Effect.flatMap(differences, (count) =>
    count === 0 ? Effect.void : Effect.die(new Error(`${count} lines differ`))
  )

const program = ({ url, folder }: Database, { rounds, size: lines = 100_000 }: Options) =>
  Effect.gen(function* () {
    yield* Months.founded(lines)
    yield* Months.executed
    const sql = yield* SqlClient.SqlClient
    yield* sql`analyze bursar.document`
    const host = yield* Processes.start({ file: "list-host.ts", folder, args: [url] })
    const bare = yield* Processes.start({ file: "bare-server.ts", folder, args: [url] })
    const idle = Processes.residentOf(host.pid)
    let most = idle
    const timer = setInterval(() => {
      most = Math.max(most, Processes.residentOf(host.pid))
    }, 100)
    const reading = (server: Processes.Served, target: string) => ({
      meter: Meters.of(sql, () => [server.pid]),
      run: () =>
        timed(
          lines,
          Effect.promise(() => Processes.read(server, target))
        )
    })
    const exported = yield* inTurns({
      rounds,
      ours: reading(host, path),
      bound: reading(bare, barePath)
    }).pipe(Effect.ensuring(Effect.sync(() => clearInterval(timer))))
    const meter = Meters.of(sql)
    const computed = yield* inTurns({
      rounds,
      ours: { meter, run: () => timed(lines, without(recomputed)) },
      bound: { meter, run: () => timed(lines, without(bySql)) }
    })
    const name = lines.toLocaleString("en-US")
    return [
      {
        bench: `export of ${name} lines as CSV`,
        unit: "lines/s",
        against: "node:http, a cursor over the same rows, parsed and printed",
        goal: 0.5,
        note: `host's resident memory ${Math.round(idle)} MiB before, at most ${Math.round(most)} MiB`,
        ...exported
      },
      {
        bench: `${name} lines computed again`,
        unit: "lines/s",
        against: "one statement that computes and compares the same lines",
        goal: 0.5,
        note: "reconciliation's check distribution-recompute, with the hash of all lines",
        ...computed
      }
    ]
  })

export const bench: Bench = (options) =>
  withDatabase((database) =>
    Scene.on(database, { settings: Months.settings })(program(database, options))
  )
