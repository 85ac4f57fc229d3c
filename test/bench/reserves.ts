/** Views of reserves and lists of their mints, against plain SQL that gives the same answer. */
import assert from "node:assert"
import { Queries } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assetQuotes } from "#core/instruments/price/AssetQuote.ts"
import { supplies } from "#core/instruments/register/Supply.ts"
import * as Decimal from "#core/kernel/Decimal.ts"
import { reserves } from "#core/reserves/reserve/Reserve.ts"
import { type Mint, mints } from "#core/reserves/reserve-order/Mint.ts"
import type { ReserveView } from "#core/reserves/reserve/ReserveView.ts"
import { registrar } from "../operations/instrumentBody.ts"
import * as StoredReserves from "../operations/storedReserves.ts"
import { caller, engineOn, listOf, printed, readOf, withDatabase } from "./database.ts"
import { type Bench, inTurns, type Options, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import * as ReserveSql from "./reserve-sql.ts"
import * as Seeded from "./seeded-register.ts"

const assetsEach = 20
/** Assets that the reserves share. */
const assets = 1_000
const now = Instant.of("2026-01-01T00:00:00Z")
const assetIdOf = (n: number) => `BILL-${n % assets}`

/** A reserve of twenty priced assets, each with a haircut and a cap. */
const reserveOf = (n: number) =>
  StoredReserves.reserveOf({
    instrumentId: `fund-${n}`,
    outstanding: "1000",
    locked: Object.fromEntries(
      Array.from({ length: assetsEach }, (_, k) => [assetIdOf(n * 7 + k), `${40 + k}.5`])
    ),
    haircut: "0.05",
    maxShare: "0.25",
    now
  })

const seeded = Effect.fnUntraced(function* (count: number) {
  yield* Seeded.putEach({ count: assets }, (n) => [
    Seeded.drawn(
      assetQuotes,
      StoredReserves.quoteOf({ assetId: assetIdOf(n), price: `1.${n + 1}`, now })
    )
  ])
  yield* Seeded.putEach({ count }, (n) => [
    Seeded.drawn(reserves, reserveOf(n)),
    Seeded.drawn(supplies, {
      ...{ registrar: registrar as never, instrumentId: `fund-${n}`, units: Decimal.of("1000") },
      ...{ holders: 1, seq: 1 }
    })
  ])
  const sql = yield* SqlClient.SqlClient
  yield* sql`analyze bursar.document`
})

/** Text of an amount as JSON numbers print it. */
const numberOf = (amount: Decimal.Decimal): number => Number(Decimal.formatPlain(amount))

/** Checks once that both sides answer alike, figure by figure and basis by basis. */
const alike = (view: ReserveView, text: ReserveSql.Row) => {
  const figures: ReserveSql.Figures = JSON.parse(text.figures)
  const [ofAssets, ...others] = JSON.parse(text.basis)
  const { required, counted, mintable, supply } = view
  const ours = { required, counted, mintable, supply }
  for (const name of ["required", "counted", "mintable", "supply"] as const) {
    assert.strictEqual(numberOf(ours[name]), figures[name], name)
  }
  assert.strictEqual(view.cover.ratio === null ? null : numberOf(view.cover.ratio), figures.ratio)
  assert.strictEqual(view.cover.state, figures.cover)
  assert.strictEqual(view.openOrders, figures.openOrders)
  assert.deepStrictEqual(
    view.assets.map(({ value, counted }) => [numberOf(value), numberOf(counted)]),
    figures.assets.map(({ value, counted }) => [value, counted])
  )
  assert.deepStrictEqual(JSON.parse(printed(view.basis)), [...ofAssets.flat(), ...others])
}

/** Views of a round, each of another reserve. */
const viewsEach = 100

const viewed = ({ rounds, size = 10_000 }: Options) =>
  Effect.gen(function* () {
    yield* seeded(size)
    const sql = yield* SqlClient.SqlClient
    const queries = yield* Queries
    const get = readOf("reserves.get")
    const idOf = (n: number) => `res-fund-${(n * 37) % size}`
    const ours = (n: number) =>
      Effect.map(queries.one(get, { caller, params: { reserveId: idOf(n) }, point: {} }), (one) => {
        printed(one.value)
        return one
      })
    const { value, offset } = yield* ours(0)
    const bound = (n: number) =>
      Effect.map(sql.unsafe<ReserveSql.Row>(ReserveSql.view, [idOf(n), offset]), ([row]) => row)
    const row = yield* bound(0)
    if (row === undefined) return yield* Effect.die(new Error("there is no reserve"))
    alike(value as ReserveView, row)
    const meter = Meters.of(sql)
    let callCount = 0
    const times = <A, E>(answer: (n: number) => Effect.Effect<A, E>) => ({
      meter,
      run: () =>
        timed(
          viewsEach,
          Effect.forEach(Array.from({ length: viewsEach }), () => answer(callCount++), {
            discard: true
          })
        )
    })
    return yield* inTurns({ rounds, ours: times(ours), bound: times(bound) })
  })

/** Mints of one reserve, of which one in a hundred is ready to settle and the others have settled. */
const mintOf = (n: number, reserveId: string): Mint => {
  const reserve = reserveOf(1)
  const isReady = n % 100 === 7
  const asset = { admin: reserve.holder, id: assetIdOf(7) }
  return {
    mintId: `mint-${String(n).padStart(7, "0")}` as Mint["mintId"],
    ...{ reserveId, instrumentId: "fund-1" as Mint["instrumentId"], registrar: reserve.issuer },
    ...{ holder: reserve.holder, holderId: "holder-1" as Mint["holderId"], party: reserve.holder },
    ...{ asset, units: Decimal.of("10"), deposit: Decimal.of("10.5") },
    ...{ price: Decimal.one, pointCid: null, sharePrice: Decimal.one, decimals: 6, unit: "USD" },
    ...{
      coverBefore: Decimal.one,
      coverAfter: Decimal.one,
      readyAt: now,
      intentCid: null,
      lost: false
    },
    deadline: Instant.of("2099-01-01T00:00:00Z"),
    ...(isReady
      ? {
          ...{ state: "ready", endedAs: null, endedAt: null, updateId: null },
          ...{ orderCid: "00aa" as NonNullable<Mint["orderCid"]> },
          heldCid: "00aa" as NonNullable<Mint["heldCid"]>
        }
      : {
          ...{ state: "settled", endedAs: "settled", endedAt: now, updateId: "00aa" },
          ...{ orderCid: null, heldCid: null }
        })
  }
}

const pageSize = 50
const pagesEach = 100

/** The members that a page of the list shows, by one select of the same rows. */
const mintsSql = `select d.body, d.created_at, d.from_instant, d.version from bursar.document d
  where d.collection = 'mint' and d.to_offset is null and d.filters ->> 'reserveId' = $1
    and d.filters ->> 'state' = $2
  order by d.sort_key limit ${pageSize}`

const listed = ({ rounds, size = 100_000 }: Options) =>
  Effect.gen(function* () {
    yield* seeded(10)
    const reserveId = "res-fund-1"
    yield* Seeded.putEach({ count: size }, (n) => [Seeded.drawn(mints, mintOf(n, reserveId))])
    const sql = yield* SqlClient.SqlClient
    yield* sql`analyze bursar.document`
    const queries = yield* Queries
    const list = listOf("reserves.mints")
    const meter = Meters.of(sql)
    const inState = (state: string) => {
      const expecting = (rows: ReadonlyArray<unknown>) => {
        printed(rows)
        const isWhole = rows.length === Math.min(pageSize, size / 100)
        return isWhole ? Effect.void : Effect.die(new Error(`a page of ${rows.length} mints`))
      }
      const params = { reserveId, state: [state] }
      const page = Effect.flatMap(
        queries.page(list, { caller, params, point: {}, page: { limit: pageSize } }),
        ({ value }) => expecting(value)
      )
      const plain = Effect.flatMap(
        sql.unsafe<{ readonly body: string }>(mintsSql, [reserveId, state]),
        (rows) => expecting(rows.map(({ body, ...kept }) => ({ ...JSON.parse(body), ...kept })))
      )
      const times = <E>(effect: Effect.Effect<void, E>) => ({
        meter,
        run: () =>
          timed(
            pagesEach,
            Effect.forEach(Array.from({ length: pagesEach }), () => effect, { discard: true })
          )
      })
      return inTurns({ rounds, ours: times(page), bound: times(plain) })
    }
    return { settled: yield* inState("settled"), ready: yield* inState("ready") }
  })

const ofMints = {
  unit: "pages/s",
  against: "one select of the same rows, parsed and printed, same driver",
  goal: 0.5,
  note: "one caller, the first page; one in a hundred mints of one reserve is ready"
}

export const bench: Bench = async (options) => {
  const compared = await withDatabase(({ storage }) =>
    viewed(options).pipe(Effect.scoped, Effect.provide(engineOn(storage)))
  )
  const name = (options.size ?? 10_000).toLocaleString("en-US")
  return [
    {
      bench: `view of a reserve of ${assetsEach} assets among ${name}`,
      unit: "views/s",
      against: "one select that computes and prints the same figures and the basis of each",
      goal: 0.5,
      note: "one caller, each time another reserve",
      ...compared
    }
  ]
}

/** Pages of the mints of a reserve by their state. */
export const mintPages = {
  bench: (async (options) => {
    const { settled, ready } = await withDatabase(({ storage }) =>
      listed(options).pipe(Effect.scoped, Effect.provide(engineOn(storage)))
    )
    const name = (options.size ?? 100_000).toLocaleString("en-US")
    return [
      { bench: `${pageSize} settled mints among ${name}`, ...ofMints, ...settled },
      { bench: `${pageSize} ready mints among ${name}`, ...ofMints, ...ready }
    ]
  }) satisfies Bench
}
