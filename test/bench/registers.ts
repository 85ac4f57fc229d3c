/** The register and a portfolio at 100,000 holders against the plain statements that answer the same. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Caller, Catalogue, Engine, type Read, Reads } from "@bursar/engine-core"
import { Party } from "@bursar/engine-core/kernel"
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { ledgerOf } from "../engine/world.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import { write } from "../operations/stage.ts"
import { median, type Row, row } from "./measure.ts"
import * as Seeded from "./seeded-register.ts"

const holders = Number(process.env["HOLDERS"] ?? 100_000)
const rounds = 5
const perRound = 400
const callers = 8

const caller: Caller.Caller = {
  sub: "bench",
  name: null,
  email: null,
  roles: ["operator"],
  holderId: null,
  party: null
}

const readOf = (name: string): Read.One => {
  const found = Catalogue.reads.find(
    (one): one is Read.One => one.name === name && one.shape === "one"
  )
  if (found === undefined) throw new Error(`${name} is not read`)
  return found
}

const text = (rows: unknown) =>
  JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value))

/** Answers per second of an effect, asked by so many at a time. */
const speed = <A, E, R>(
  effect: (n: number) => Effect.Effect<A, E, R>,
  of: { readonly times: number; readonly callers: number }
) =>
  Effect.gen(function* () {
    const began = performance.now()
    yield* Effect.forEach(Array.from({ length: of.times }), (_, n) => effect(n), {
      concurrency: of.callers,
      discard: true
    })
    return (of.times * 1000) / (performance.now() - began)
  })

const byTurns = <A, B, E, F, R, S>(
  ours: (n: number) => Effect.Effect<A, E, R>,
  theirs: (n: number) => Effect.Effect<B, F, S>,
  of: { readonly times: number; readonly callers: number }
) =>
  Effect.gen(function* () {
    const one: Array<number> = []
    const two: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      one.push(yield* speed(ours, of))
      two.push(yield* speed(theirs, of))
    }
    return { ours: median(one.slice(1)), theirs: median(two.slice(1)) }
  })

const program = Effect.gen(function* () {
  const registrar = Party.make({ hint: "registrar", fingerprint: `1220${"cd".repeat(32)}` })
  const recorded = yield* write(
    "instrument.record",
    {},
    { ...bodyOf(), instrumentId: "fund-a", registrar }
  )
  if (recorded.state !== "succeeded") return yield* Effect.die(new Error(recorded.why))
  yield* Seeded.register({ instrumentId: "fund-a", count: holders, registrar })
  const sql = yield* SqlClient.SqlClient
  yield* sql`analyze bursar.document`
  const reads = yield* Reads
  const ask = (name: string, params: unknown) =>
    Effect.map(reads.one(readOf(name), { caller, params, point: {} }), ({ value }) => value)

  const register = yield* byTurns(
    () => ask("instruments.register", { instrumentId: "fund-a" }),
    () =>
      Effect.map(
        sql`select a.body::json ->> 'holderId' as "holderId", e.body::json ->> 'party' as party,
              e.body::json -> 'units' as units, e.body::json -> 'locked' as locked,
              (e.body::json ->> 'units')::numeric / sum((e.body::json ->> 'units')::numeric) over () as share,
              a.body::json ->> 'state' as state, e.body::json ->> 'since' as since
            from bursar.document e
            left join bursar.document a on a.collection = 'admission' and a.to_offset is null
              and a.filters @> '{"instrumentId":"fund-a"}'
              and a.body::json ->> 'party' = e.body::json ->> 'party'
            where e.collection = 'register-entry' and e.to_offset is null
              and e.filters @> ${JSON.stringify({ asset: `${registrar}/fund-a` })}::jsonb
            order by e.sort_key`,
        text
      ),
    { times: 1, callers: 1 }
  )
  const spot = (n: number) => Seeded.holderId((n * 7919) % holders)
  const portfolio = yield* byTurns(
    (n) => ask("holders.portfolio", { holderId: spot(n) }),
    (n) =>
      Effect.map(
        // Given the party, which the read has to find: a join by it is planned as a scan.
        sql`select i.body as instrument, e.body as entry, q.body as quote
            from bursar.document e
            join bursar.document i on i.collection = 'instrument' and i.to_offset is null
              and i.record_id = 'fund-a'
            left join bursar.document q on q.collection = 'quote' and q.to_offset is null
              and q.record_id = (i.body::json -> 'manifest' ->> 'oracle') || '/' || i.record_id
            where e.collection = 'register-entry' and e.to_offset is null
              and e.filters @> ${JSON.stringify({ party: Seeded.partyOf((n * 7919) % holders) })}::jsonb`,
        text
      ),
    { times: perRound, callers }
  )
  const movements = Catalogue.reads.find(
    (one): one is Read.List => one.name === "instruments.movements" && one.shape === "list"
  )
  if (movements === undefined) return yield* Effect.die(new Error("movements are not listed"))
  const page = yield* byTurns(
    () =>
      reads.page(movements, {
        caller,
        params: { instrumentId: "fund-a" },
        point: {},
        page: { limit: 50 }
      }),
    () =>
      Effect.map(
        sql`select body from bursar.document where collection = 'movement' and to_offset is null
              and filters @> ${JSON.stringify({ asset: `${registrar}/fund-a` })}::jsonb
            order by sort_key limit 51`,
        text
      ),
    { times: perRound, callers }
  )
  return { register, portfolio, page }
})

const onDatabase = async () => {
  const folder = await mkdtemp(join(tmpdir(), "bursar-bench-"))
  try {
    const storage = Layer.unwrap(
      Effect.map(Embedded.start({ dataFolder: folder }), ({ url }) =>
        Postgres.layer({ url: Redacted.make(url) })
      )
    )
    const layer = Engine.layer.pipe(
      Layer.provideMerge(Layer.mergeAll(storage, NodeCrypto.layer, ledgerOf()))
    )
    return await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(layer), Effect.orDie))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export const bench = async (): Promise<ReadonlyArray<Row>> => {
  const { register, portfolio, page } = await onDatabase()
  const many = holders.toLocaleString("en-US")
  return [
    row({
      bench: `register of ${many}`,
      ours: register.ours,
      unit: "registers/s",
      against: "select and stringify, same driver",
      theirs: register.theirs,
      target: 0.5,
      note: `${Math.round(register.ours * holders).toLocaleString("en-US")} lines/s`
    }),
    row({
      bench: `portfolio among ${many}`,
      ours: portfolio.ours,
      unit: "answers/s",
      against: "one select and stringify",
      theirs: portfolio.theirs,
      target: 0.5,
      note: `${callers} callers`
    }),
    row({
      bench: `50 movements among ${many}`,
      ours: page.ours,
      unit: "pages/s",
      against: "one select and stringify",
      theirs: page.theirs,
      target: 0.5,
      note: `${callers} callers`
    })
  ]
}
