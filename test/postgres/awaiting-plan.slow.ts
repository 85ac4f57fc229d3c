/** Plan of the look-up of awaiting actions: it reads the awaiting ones, however many decided ones are stored. */
import { Records } from "@bursar/engine-core"
import { Instant, Offset } from "@bursar/engine-core/kernel"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { expect } from "vitest"
import * as AwaitingActionLookups from "#core/reads/AwaitingActionLookups.ts"
import * as RecordsLayer from "#core/records/layer.ts"
import { type Approval, approvals } from "#core/writes/Approval.ts"
import { isLong } from "../long-run.ts"
import * as Plans from "./plans.ts"

const decided = isLong ? 100_000 : 20_000
const awaits = 12
const hrefOf = (n: number) => `/v1/holds/h${n}`

const action = (n: number): Approval => ({
  actionKey: `act_${n}`,
  kind: "hold.release",
  state: "awaiting",
  resource: { kind: "hold", id: `h${n}`, href: hrefOf(n) },
  instrumentId: null,
  holderId: null,
  method: "POST",
  path: `${hrefOf(n)}:release`,
  fingerprint: `f${n}`,
  request: {},
  maker: "olga",
  makerName: null,
  makerEmail: null,
  makerRole: "operator",
  madeAt: Instant.of("2026-01-01T00:00:00Z"),
  required: 1,
  signatures: [],
  key: `k${n}`,
  rejectedBy: null,
  rejectedAt: null,
  rejectedKey: null,
  reason: null,
  operationId: null,
  expiresAt: Instant.of("2036-01-01T00:00:00Z"),
  requestId: "r",
  traceId: null
})

/** Decided actions, of the same records as those that await. */
const seed = (sql: SqlClient.SqlClient) => sql`
  insert into bursar.document (collection, record_id, version, sort_key, body, filters, created_at,
    from_offset, from_instant)
  select 'approval', 'old_' || n, 1, '2020-01-01T00:00:00.000000000Z old_' || n, '{}',
    jsonb_build_object('state', 'approved', 'kind', 'hold.release', 'resourceKind', 'hold',
      'fingerprint', 'f' || n, 'href', '/v1/holds/h' || (n % 100)),
    '2020-01-01T00:00:00.000000000Z', 0, '2020-01-01T00:00:00.000000000Z'
  from generate_series(1, ${decided}::int4) n`

it.live(
  `finds what awaits fifty records among ${decided} decided actions by what awaits alone`,
  () =>
    Effect.gen(function* () {
      const { url, statements } = yield* Plans.server
      const store = yield* Layer.build(
        RecordsLayer.layer.pipe(
          Layer.provide(NodeCrypto.layerCrypto),
          Layer.provideMerge(Postgres.layer({ url: Redacted.make(url) }))
        )
      )
      const sql = Context.get(store, SqlClient.SqlClient)
      const records = Context.get(store, Records)
      const now = Instant.of("2026-02-01T00:00:00Z")
      const act = { cause: { by: "request" as const, requestId: "r" }, now }
      const open = (from: number) =>
        records.transactAlone(
          Effect.forEach(
            Array.from({ length: awaits / 2 }, (_, n) => from + n),
            (n) => records.open(approvals, action(n), act)
          )
        )
      const look = AwaitingActionLookups.awaiting({
        hrefs: Array.from({ length: 50 }, (_, n) => hrefOf(n)),
        pin: {
          offset: Offset.zero,
          ledgerTime: null,
          select: { by: "snapshot", instant: Instant.of("2035-01-01T00:00:00Z") },
          judgedAt: Instant.of("2027-01-01T00:00:00Z")
        }
      }).pipe(Effect.provideContext(store))
      yield* open(0)
      // Plans that were made while the table was young are kept.
      for (let n = 0; n < 8; n++) yield* look
      yield* seed(sql)
      yield* open(awaits / 2)
      for (const statistics of ["absent", "fresh"]) {
        if (statistics === "fresh") yield* sql`analyze bursar.document`
        for (let n = 0; n < 8; n++) {
          const { value, statements: run } = yield* statements(look)
          expect(value.size).toBe(awaits)
          const rows = run
            .filter(({ sql }) => sql.includes("bursar.document"))
            .map(({ plan }) => Plans.rowsOf(plan))
          expect(rows, `statistics ${statistics}`).toHaveLength(1)
          expect(rows[0], `statistics ${statistics}, time ${n}`).toBeLessThan(20 * awaits)
        }
      }
    }).pipe(Effect.scoped)
)
