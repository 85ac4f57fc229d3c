/** A projection that begins with a snapshot of orders and holdings, against plain inserts of the same contracts. */
import { Engine, Follower } from "@bursar/engine-core"
import { Decimal, Instant, Offset, Party } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Layer, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { portsOn } from "../engine/world.ts"
import { type Database, recordInstrument, registrar, withDatabase } from "./database.ts"
import { type Bench, comparedOf, metered, type Row, timed } from "./measure.ts"
import { heapRow, withHeap } from "./memory.ts"
import * as Meters from "./meter.ts"

const at = Instant.of("2026-07-31T12:00:00Z")
/** Offset of the snapshot, beyond everything that the ledger of the bench has. */
const end = Offset.of(1_000)
const perInsert = 1_000

const cidOf = (n: number): string => `00${n.toString(16).padStart(12, "0")}`
const partyOf = (n: number) =>
  Party.make({ hint: `holder-${n}`, fingerprint: `1220${"ab".repeat(32)}` })

const active = (
  n: number,
  {
    template,
    args: payload
  }: Pick<Extract<Ledger.Command, { _tag: "Create" }>, "template" | "args">
): Ledger.Active => ({
  _tag: "Created",
  nodeId: 0,
  contractId: cidOf(n),
  template,
  packageId: "seeded",
  payload,
  views: [],
  signatories: [],
  observers: [],
  witnesses: [],
  createdAt: at,
  blob: Option.none(),
  inAcs: true,
  synchronizerId: "seeded"
})

/** Of five contracts a registration, two holdings, a subscription's claim and a redemption's. */
const contractOf = (n: number, venue: Party.Party): Ledger.Active => {
  const holder = partyOf(Math.floor(n / 5))
  const instrument = { admin: registrar, id: "fund-a" }
  const order = {
    venue,
    orderId: null,
    instrument,
    holder,
    custodian: null,
    fund: null,
    mode: "wire",
    currency: "USD",
    paymentAsset: null,
    cycleId: null
  } as const
  switch (n % 5) {
    case 0:
      return active(
        n,
        Templates.create(Templates.HolderRegistration, {
          venue,
          holderId: `holder-${Math.floor(n / 5)}`,
          holder,
          custodian: null,
          predecessor: null,
          attributesDigest: "ab".repeat(32),
          validUntil: null
        })
      )
    case 1:
      return active(
        n,
        Templates.create(Templates.SubscriptionClaim, {
          ...order,
          subscriptionId: `s-${n}`,
          cash: Decimal.of("1000"),
          feeRate: null,
          cashDecimals: null,
          oracle: null,
          orderedUnits: null,
          attestors: [registrar],
          required: 1,
          attested: [],
          pointCid: null,
          price: null,
          units: null
        })
      )
    case 2:
      return active(
        n,
        Templates.create(Templates.RedemptionClaim, {
          ...order,
          redemptionId: `r-${n}`,
          orderedUnits: Decimal.of("10"),
          orderedAmount: null,
          oracle: registrar,
          remainderOf: null,
          cutOffAt: null
        })
      )
    default:
      return active(
        n,
        Templates.create(Templates.Holding, {
          registrar,
          owner: holder,
          provider: venue,
          instrument,
          amount: Decimal.of("1000.5"),
          restricted: false,
          lock: null,
          label: "",
          meta: {}
        })
      )
  }
}

const shown = (count: number, venue: Party.Party) =>
  Stream.map(Stream.range(0, count - 1), (n) => contractOf(n, venue))

/** The engine on a ledger that has forgotten all but so many contracts. */
const engineOn = (storage: Database["storage"], count: number) =>
  Engine.layer.pipe(
    Layer.provideMerge(
      portsOn(storage, {
        tamper: (ledger) => ({
          ...ledger,
          horizon: Effect.succeed(end),
          ledgerEnd: Effect.succeed(end),
          acs: () => shown(count, ledger.venue)
        })
      })
    )
  )

const begun = (count: number) =>
  withDatabase(({ storage }) =>
    Effect.gen(function* () {
      const { venue } = yield* Ledger.Ledger
      const sql = yield* SqlClient.SqlClient
      const meter = Meters.of(sql)
      const follower = yield* Follower
      const { heap, value: ours } = yield* withHeap(
        metered({ meter, run: () => timed(count, follower.catchUp) }, 0)
      )
      const orders = Math.floor(count / 5) * 2
      const opened = yield* metered(
        { meter, run: () => timed(orders, recordInstrument("fund-a")) },
        0
      )
      yield* sql`create table bursar.bench_contract (id text primary key, body text not null)`
      const bound = yield* metered(
        {
          meter,
          run: () =>
            timed(
              count,
              shown(count, venue).pipe(
                Stream.grouped(perInsert),
                Stream.runForEach((page) => {
                  const ids = page.map(({ contractId }) => contractId)
                  const bodies = page.map(({ payload }) => JSON.stringify(payload))
                  return sql`insert into bursar.bench_contract
                    select * from unnest(${ids}::text[], ${bodies}::text[])`
                })
              )
            )
        },
        0
      )
      return { bound, heap, opened, ours }
    }).pipe(Effect.provide(engineOn(storage, count)), Effect.scoped, Effect.orDie)
  )

export const bench: Bench = async ({ size: count = 100_000 }) => {
  const fewer = Math.max(5, Math.floor(count / 10))
  const less = await begun(fewer)
  const { bound, heap, opened, ours } = await begun(count)
  const name = count.toLocaleString("en-US")
  const against = `inserts of the contracts, ${perInsert} a statement`
  return [
    {
      bench: `bootstrap from a snapshot of ${name} contracts`,
      unit: "contracts/s",
      against,
      goal: null,
      note: "each contract with its record, its history and its register, in one transaction",
      ...comparedOf([ours], [bound])
    },
    {
      bench: `orders of ${name} contracts, opened as their instrument is recorded`,
      unit: "orders/s",
      against,
      goal: null,
      ...comparedOf([opened], [bound])
    },
    {
      ...heapRow(`it begins with a snapshot of ${name} contracts`, {
        held: heap.most - heap.before,
        fewer: less.heap.most - less.heap.before,
        ofFewer: `of ${fewer.toLocaleString("en-US")} contracts`
      }),
      goal: null,
      note: "the most beyond what was held before, with garbage: a snapshot is one transaction"
    } satisfies Row
  ]
}
