/**
 * A month of a par fund from its approval to the roll, its lines executed, delivered and rolled,
 * against SQL that stores the same rows.
 */
import { Engine, Records, settingsDefaults } from "@bursar/engine-core"
import { Date, Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { distributionContracts } from "#core/distributions/distribution/DistributionContract.ts"
import { distributions } from "#core/distributions/distribution/Distribution.ts"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import { findings } from "#core/findings/Finding.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Executions from "../operations/executions.ts"
import * as Fund from "../operations/fund.ts"
import { withDatabase } from "./database.ts"
import { type Bench, comparedOf, figureOf, metered, quantity, type Row, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import * as Processes from "./processes.ts"
import * as Scene from "./scene.ts"
import * as Seeded from "./seeded-register.ts"
import * as StoredRows from "./stored-rows.ts"

export const distributionId = "fund-a.2026-07"
const pollMillis = 20
/** Settings of the engine and of its ledger, which takes transactions of many contracts. */
export const settings = { ...settingsDefaults, inputsMax: 1_000_000, linesMax: 10_000_000 }
const { batchLines } = settings

/** Business days of the month: a point is dated on each. */
const days = Array.from(
  { length: 31 },
  (_, n) => `2026-07-${String(n + 1).padStart(2, "0")}`
).filter((date) => ![0, 6].includes(new globalThis.Date(`${date}T00:00:00Z`).getUTCDay()))

/** A fund with so many holders, its month at an end, and nothing executed. */
export const founded = Effect.fnUntraced(function* (holders: number) {
  yield* Scene.setClock("2026-06-30T12:00:00Z")
  const stage = yield* Fund.founded({ ...Executions.par, holderCap: 10_000_000 })
  const registrar = stage.registrar.party
  yield* Seeded.reconciled({ instrumentId: "fund-a", count: holders, registrar })
  for (const date of days) {
    yield* Scene.setClock(`${date}T18:00:00Z`)
    yield* Executions.publishes(stage, "0.000103333", `${date}T17:00:00Z`)
  }
  yield* Scene.setClock("2026-08-03T09:00:00Z")
  yield* Calls.settle
  const sql = yield* SqlClient.SqlClient
  yield* swept
  yield* sql`analyze bursar.document`
  return stage
})

/**
 * Runs the engine until its clock has swept the database, which it does once, some seconds after it runs
 * there for the first time: it reads every holder and every admission.
 */
const swept = Effect.suspend(() =>
  runsUntil(
    Effect.map(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`select from bursar.work
          where queue = 'schedules' and item_id = 'clock' and payload <> ''`
      ),
      (found) => found.length > 0
    )
  )
)

/** Waits, while the engine runs, until a look finds what it looks for. */
const runsUntil = <E, R>(found: Effect.Effect<boolean, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const engine = yield* Engine.Engine
      yield* Effect.forkScoped(engine.run)
      while (!(yield* found)) yield* Effect.sleep(pollMillis)
    })
  )

const sealed = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.find(distributions, distributionId)
  return Option.exists(found, ({ sealedAt }) => sealedAt !== null)
})

/** Opens the execution of the month, which an approver has still to sign. */
const proposed = Effect.map(
  Calls.openAction("distribution.execute", {}, { instrumentId: "fund-a", month: "2026-07" }),
  String
)

/** Signs the execution, and runs the engine until the month is sealed. */
const signed = (actionKey: string) =>
  Effect.gen(function* () {
    yield* Calls.approve(actionKey, Calls.person("ada", "approver"))
    yield* runsUntil(sealed)
  })

/** Executes the month: every line is stored, and none is delivered. */
export const executed = Effect.flatMap(proposed, signed)

/** Runs the engine until a run has cleared the month, and the ledger lets the registrar deliver. */
const opened = runsUntil(
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.find(distributions, distributionId)
    if (Option.exists(found, ({ state }) => state === "held")) {
      return yield* Effect.die(new Error("a run found a difference"))
    }
    const [finding] = yield* records.list(findings, { where: { state: ["open"] }, limit: 1 })
    if (finding !== undefined) {
      return yield* Effect.die(new Error(`a run found ${finding.record.check}: it clears nothing`))
    }
    const contract = yield* records.find(distributionContracts, distributionId)
    return Option.exists(contract, ({ isOpen }) => isOpen)
  })
)

/** The registrar delivers so many lines more on the ledger; the engine has not read it yet. */
const delivered = Effect.fnUntraced(function* (stage: Fund.Parties, count: number) {
  const records = yield* Records
  const { cid } = Option.getOrThrow(yield* records.find(distributionContracts, distributionId))
  const evidence = { reference: "wire 1", paidOn: Date.of("2026-08-03") }
  yield* records
    .stream(distributionLines, { where: { distributionId: [distributionId], state: ["due"] } })
    .pipe(
      Stream.take(count),
      Stream.grouped(batchLines),
      Stream.runForEach((found) =>
        stage.registrar.submit(
          ...found.map(({ record: { lineCid } }) =>
            Templates.exercise(Templates.DistributionLine, lineCid ?? "", "Deliver", {
              distributionCid: cid,
              credentialCid: null,
              configurationCid: null,
              evidence
            })
          )
        )
      )
    )
})

/** Rolls every line, and runs the engine until the operation has ended. */
const rolled = Effect.gen(function* () {
  const by = { caller: Calls.operator, ifMatch: null }
  const answer = yield* Calls.submitKind("distribution.roll", { distributionId }, {}, by)
  const operationId = String(Calls.field(answer, "operationId"))
  yield* runsUntil(
    Effect.flatMap(Records, (records) =>
      Effect.map(records.get(operations, operationId), ({ state }) => state === "succeeded")
    )
  )
})

/**
 * Share of the execution in which the projection had read a step and the next one had not begun, and
 * the longest such wait: from the record of the distribution's contract to the plan of the next step.
 */
const waiting = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const projected = yield* sql<{ readonly millis: number }>`
    select extract(epoch from from_instant::timestamptz)::float8 * 1000 as millis
    from bursar.document
    where collection = 'distribution-contract' and record_id = ${distributionId}
    order by version`
  const planned = yield* sql<{ readonly millis: number }>`
    select distinct extract(epoch from (body::json -> 'step' ->> 'plannedAt')::timestamptz)::float8
      * 1000 as millis
    from bursar.document
    where collection = 'operation' and body::json ->> 'kind' = 'distribution.execute'
      and body::json -> 'step' ->> 'plannedAt' is not null
    order by 1`
  const waits = planned
    .slice(1)
    .map(({ millis }, n) => millis - (projected[n]?.millis ?? Number.NaN))
  const whole = (projected.at(-1)?.millis ?? Number.NaN) - (planned[0]?.millis ?? Number.NaN)
  const waited = waits.reduce((sum, millis) => sum + millis, 0)
  return { share: waited / whole, longest: Math.max(...waits) }
})

/** One month of so many lines on a database of its own; the bound of each part stores the same rows. */
const program = Effect.fnUntraced(function* (lines: number) {
  const rows = yield* StoredRows.make
  const meter = Meters.of(yield* SqlClient.SqlClient)
  const beside = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>) {
    yield* rows.begin
    const ours = yield* metered({ meter, run: () => timed(lines, work) }, 0)
    const stored = yield* rows.take
    const write = rows.write(stored, Math.ceil(lines / batchLines))
    const bound = yield* metered({ meter, run: () => timed(lines, write) }, 0)
    return { ours, bound }
  })
  const stage = yield* founded(lines)
  const execution = yield* beside(signed(yield* proposed))
  const waits = yield* waiting
  yield* opened
  yield* delivered(stage, lines)
  const delivery = yield* beside(Calls.settle)
  const roll = yield* beside(rolled)
  return { execution, delivery, roll, waits }
})

export const bench: Bench = async ({ rounds, size = 10_000 }) => {
  const measured: Array<Effect.Success<ReturnType<typeof program>>> = []
  for (let round = 0; round < rounds; round++) {
    measured.push(await withDatabase((database) => Scene.on(database, { settings })(program(size))))
  }
  const name = size.toLocaleString("en-US")
  const rowOf = (part: "execution" | "delivery" | "roll", words: string, note: string): Row => ({
    bench: `${name} lines ${words}`,
    unit: "lines/s",
    against: `the same rows by set-based SQL, ${batchLines} lines a transaction`,
    goal: 0.3,
    note,
    ...comparedOf(
      measured.map((round) => round[part].ours),
      measured.map((round) => round[part].bound)
    )
  })
  const waits = measured.map((round) => round.waits)
  const share = figureOf(waits.map((wait) => 100 * wait.share)).median.toFixed(1)
  const longest = Math.round(Math.max(...waits.map((wait) => wait.longest)))
  return [
    rowOf(
      "execution",
      "executed",
      `from the signature to the seal that is read; ${share} % of it between steps, ${longest} ms at most`
    ),
    rowOf("delivery", "delivered", "read off the ledger, 500 an update"),
    rowOf("roll", "rolled", "from the call to the last line")
  ]
}

/** Resident memory of this process is sampled so often. */
const sampledEveryMillis = 250

/** Updates that the ledger of a whole month keeps behind the projection; nothing reads further back. */
const updatesKept = 50

/** Has the ledger forget, once in so many milliseconds, what the projection read a while ago. */
const prunedEveryMillis = 1_000

/**
 * Prunes the ledger while an effect runs, as a participant is pruned: it keeps the active contracts and
 * the last updates.
 */
const whilePruned = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { admin } = yield* SimulatedLedger.Participant
      const sql = yield* SqlClient.SqlClient
      const prune = Effect.gen(function* () {
        const [oldest] = yield* sql<{ readonly offset: number }>`
          select "offset"::float8 as offset from bursar.ledger_update
          order by "offset" desc offset ${updatesKept} limit 1`
        if (oldest !== undefined) yield* admin.prune(Offset.of(oldest.offset))
      })
      yield* Effect.forkScoped(
        Effect.forever(Effect.andThen(Effect.sleep(prunedEveryMillis), prune))
      )
      return yield* work
    })
  )

/** Lines that are delivered on the ledger before the engine reads them. */
const deliveredAtOnce = 50_000

/** Seconds of each phase of a month, and the most mebibytes of this process meanwhile. */
const phases = Effect.fnUntraced(function* (lines: number) {
  const found = new Map<string, { readonly millis: number; readonly most: number }>()
  const phase = Effect.fnUntraced(function* <A, E, R>(name: string, work: Effect.Effect<A, E, R>) {
    const before = found.get(name) ?? { millis: 0, most: 0 }
    let most = Math.max(before.most, Processes.residentOf(process.pid))
    const timer = setInterval(() => {
      most = Math.max(most, Processes.residentOf(process.pid))
    }, sampledEveryMillis)
    const began = performance.now()
    const value = yield* Effect.ensuring(
      work,
      Effect.sync(() => clearInterval(timer))
    )
    const now = { millis: before.millis + performance.now() - began, most }
    found.set(name, now)
    yield* Effect.sync(() =>
      console.log(`${lines} lines, ${new globalThis.Date().toISOString()}: ${phaseText(name, now)}`)
    )
    return value
  })
  const stage = yield* founded(lines)
  const month = Effect.gen(function* () {
    const actionKey = yield* phase("figures", proposed)
    yield* phase("executed", signed(actionKey))
    yield* phase("cleared and opened", opened)
    for (let left = lines; left > 0; left -= deliveredAtOnce) {
      yield* phase("delivered on the ledger", delivered(stage, deliveredAtOnce))
      yield* phase("deliveries read", Calls.settle)
    }
    yield* phase("rolled", rolled)
  })
  yield* whilePruned(month)
  return found
})

const phaseText = (
  name: string,
  { millis, most }: { readonly millis: number; readonly most: number }
) => `${name} ${(millis / 1000).toFixed(1)} s, at most ${Math.round(most)} MiB`

/** PostgreSQL's memory and log for as many records as a month of very many lines writes. */
const large = {
  shared_buffers: "1GB",
  maintenance_work_mem: "1GB",
  max_wal_size: "8GB",
  checkpoint_timeout: "15min"
}

/** Plays a month of so many lines on a database of its own: the row's note, and lines a second. */
const played = async (lines: number, server: Readonly<Record<string, string>> = {}) => {
  const found = await withDatabase(
    (database) => Scene.on(database, { settings })(phases(lines)),
    server
  )
  const millis = [...found.values()].reduce((sum, phase) => sum + phase.millis, 0)
  const note = [...found].map(([name, phase]) => phaseText(name, phase)).join("; ")
  return { note, speed: (1000 * lines) / millis }
}

/**
 * A whole month, against one of a tenth of the lines: both would take as long a line if nothing grew
 * with the number of lines. The ledger is this process's, and keeps the contracts that are active and
 * the updates that are not pruned in memory.
 */
export const whole = {
  bench: (async ({ size = 10_000 }) => {
    const fewer = Math.round(size / 10)
    const ofFewer = await played(fewer)
    const { note, speed } = await played(size)
    return [
      {
        bench: monthOf(size),
        unit: "lines/s",
        against: `a month of ${fewer.toLocaleString("en-US")} lines`,
        goal: null,
        note,
        ours: quantity(speed),
        bound: quantity(ofFewer.speed),
        ratio: figureOf([speed / ofFewer.speed])
      }
    ]
  }) satisfies Bench
}

const monthOf = (lines: number) => `month of ${lines.toLocaleString("en-US")} lines, end to end`

/** The same month against nothing and on a larger server, for a number of lines that takes an hour. */
export const alone = {
  bench: (async ({ size = 10_000 }) => {
    const { note, speed } = await played(size, large)
    const nothing = Number.NaN
    return [
      {
        bench: `${monthOf(size)}, alone`,
        unit: "lines/s",
        against: "nothing",
        goal: null,
        note,
        ours: quantity(speed),
        bound: quantity(nothing),
        ratio: figureOf([nothing])
      }
    ]
  }) satisfies Bench
}
