/** Payments and turns in PostgreSQL: rows that were stored before have the columns that they would be written with. */
import { Decimal, Instant, Offset, Party } from "@bursar/engine-core/kernel"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { expect } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import { statements as migration } from "#adapters/storage/postgres/migrations/0019-payments-and-turns/up.ts"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import { type PartyMovement, partyMovements } from "#core/instruments/register/Movement.ts"
import * as Codecs from "#core/records/Codecs.ts"
import * as Columns from "#core/records/Columns.ts"
import * as Given from "../machines/distributions.ts"

const party = (hint: string) => Party.make({ hint, fingerprint: `1220${"ab".repeat(32)}` })
const [h1, h2] = [party("h1"), party("h2")]
const at = Instant.of("2026-07-31T23:59:59.999999Z")

const moved = (
  seq: number,
  partyMovement: Pick<PartyMovement, "kind" | "from" | "to"> & {
    units: string
    balanceAfter: string
  }
) =>
  ({
    ...{ registrar: party("reg"), instrumentId: "fund-a", party: h1, seq, at, ledgerTime: at },
    ...{
      offset: Offset.of(seq),
      updateId: "u",
      reference: null,
      restricted: false,
      ...partyMovement
    },
    units: Decimal.of(partyMovement.units),
    balanceAfter: Decimal.of(partyMovement.balanceAfter)
  }) satisfies PartyMovement

const movements: ReadonlyArray<PartyMovement> = [
  moved(1, { kind: "mint", from: null, to: h1, units: "10", balanceAfter: "10" }),
  moved(2, { kind: "mint", from: null, to: h1, units: "10", balanceAfter: "20" }),
  moved(3, { kind: "lock", from: h1, to: h1, units: "20", balanceAfter: "20" }),
  moved(4, {
    kind: "transfer",
    from: h1,
    to: h2,
    units: "19.9999999999",
    balanceAfter: "0.0000000001"
  }),
  moved(5, { kind: "burn", from: h1, to: null, units: "0.0000000001", balanceAfter: "0" }),
  moved(6, { kind: "transfer", from: h2, to: h1, units: "3", balanceAfter: "3" }),
  moved(7, { kind: "transfer", from: h1, to: h2, units: "1.5", balanceAfter: "1.5" })
]

const delivered = {
  deliveredUid: "u3",
  state: "delivered",
  directed: null,
  deliveredAt: at
} as const
const late = { offset: Offset.of(9), ledgerTime: Instant.of("2026-08-01T00:00:00Z") }
const lines = [
  Given.line(),
  Given.line([], { ...delivered, delivery: late }),
  Given.line([], { ...delivered, delivery: null }),
  Given.line([], { ...delivered, delivery: late, holderId: null }),
  Given.line([], { ...delivered, state: "rolled", delivery: late, holderId: "h2" })
]

it.live("finds payments and turns that were stored before by what they would be written with", () =>
  Effect.gen(function* () {
    const url = yield* TestDatabase.url
    const store = yield* Layer.build(Layer.fresh(Postgres.layer({ url: Redacted.make(url) })))
    const sql = Context.get(store, SqlClient.SqlClient)
    const rows = [
      ...movements.map((record) => ({
        collection: "party-movement",
        body: Codecs.of(partyMovements).encodeRecord(record),
        filters: Columns.of(partyMovements, record)
      })),
      ...lines.map((record) => ({
        collection: "distribution-line",
        body: Codecs.of(distributionLines).encodeRecord(record),
        filters: Columns.of(distributionLines, record)
      }))
    ]
    for (const [nth, { body, collection, filters }] of rows.entries()) {
      const { paidIn: _paidIn, turned: _turned, ...before } = filters
      yield* sql`insert into bursar.document (collection, record_id, version, sort_key, body, filters,
          created_at, from_offset, from_instant)
        values (${collection}, ${String(nth)}, 1, ${String(nth).padStart(4, "0")}, ${body},
          ${JSON.stringify(before)}::jsonb, '2020', 1, '2020')`
    }
    for (const statement of migration.slice(0, 2)) yield* sql.unsafe(statement)
    const kept = yield* sql<{ readonly paid: string | null; readonly turned: string | null }>`
      select filters ->> 'paidIn' as paid, filters ->> 'turned' as turned
      from bursar.document where created_at = '2020' order by sort_key`
    const written = rows.map(({ filters }) => ({
      paid: filters["paidIn"] ?? null,
      turned: filters["turned"] ?? null
    }))
    expect(kept).toEqual(written)
    expect(written.map(({ paid, turned }) => paid ?? (turned === null ? null : "turned"))).toEqual([
      ...["turned", null, null, null, "turned", "turned", null],
      ...[null, "h1 2026-08", "h1 2026-07", null, "h2 2026-08"]
    ])
  }).pipe(Effect.scoped)
)
