/** A database with one instrument in many hands, written through the storage ports in bulk. */
import { Decimal, Instant, Offset, type Party, Party as Parties } from "@bursar/engine-core/kernel"
import { Atomically, Documents, Feed, Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { HolderId } from "#core/holders/holder/HolderId.ts"
import { holders, holderParties } from "#core/holders/holder/Holder.ts"
import { admissions } from "#core/admissions/Admission.ts"
import { movements, partyMovements } from "#core/instruments/register/Movement.ts"
import { lots } from "#core/instruments/lot/Lot.ts"
import { holdings } from "#core/instruments/register/Holding.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { supplies } from "#core/instruments/register/Supply.ts"
import type { Collection } from "#core/kernel/Collection.ts"
import { contracts } from "#core/projection/Contract.ts"
import * as Codecs from "#core/records/Codecs.ts"
import * as Columns from "#core/records/Columns.ts"

const perTransaction = 1_000
const at = Instant.of("2026-01-01T00:00:00Z")
const units = Decimal.of("1000.5")

export const holderId = (n: number): string => `holder-${String(n).padStart(6, "0")}`

export const partyOf = (n: number): Party.Party =>
  Parties.make({ hint: holderId(n), fingerprint: `1220${"ab".repeat(32)}` })

/** A record to seed, with its collection. */
export interface Row {
  readonly collection: Collection<never, never>
  readonly record: unknown
}

export const drawn = <R, F>(collection: Collection<R, F>, record: NoInfer<R>): Row => ({
  collection: collection as unknown as Row["collection"],
  record
})

interface SeededInstrument {
  readonly instrumentId: string
  readonly registrar: Party.Party
}

const recordsOf = (n: number, instrument: SeededInstrument) => {
  const party = partyOf(n)
  const asset = { registrar: instrument.registrar, instrumentId: instrument.instrumentId }
  return [
    drawn(registerEntries, {
      ...asset,
      party,
      units,
      locked: Decimal.zero,
      since: at,
      emptySince: null
    }),
    drawn(holderParties, { party, holderId: HolderId.make(holderId(n)) }),
    drawn(admissions, {
      ...asset,
      admissionId: `adm_${n}`,
      holderId: holderId(n),
      party,
      state: "admitted",
      offeredAt: at,
      offset: Offset.of(n + 1),
      expiresAt: null,
      admittedAt: at,
      validFrom: null,
      validUntil: null,
      offerCid: null,
      credentialCid: "ab".repeat(34),
      endedAt: null,
      endedBy: null,
      recoveredBy: null
    }),
    drawn(movements, {
      ...asset,
      seq: n + 1,
      at,
      offset: Offset.of(n + 1),
      updateId: "ab".repeat(34),
      kind: "subscription",
      from: null,
      to: party,
      units,
      balanceAfter: balanceOf(n),
      reference: null,
      ledgerTime: at,
      restricted: true,
      holdersAfter: n + 1
    }),
    drawn(holders, {
      holderId: HolderId.make(holderId(n)),
      party,
      state: "active",
      custodian: null,
      legalName: null,
      lei: null,
      classification: "entity",
      taxResidences: [],
      registeredAt: at,
      acceptedAt: at,
      validUntil: null,
      attributes: [],
      screening: null,
      terms: { documentHash: "ab".repeat(32), acceptedAt: at, cid: "ab".repeat(34) },
      successor: null,
      predecessor: null,
      consents: [],
      externalAccounts: [],
      closedAs: null,
      endedAt: null,
      invitationCid: null,
      registrationCid: "ab".repeat(34),
      signedTermsCid: null,
      told: { version: 1, at }
    } as never)
  ]
}

/** A register whose holdings are on the ledger too. */
interface OnLedger extends SeededInstrument {
  readonly venue: Party.Party
}

const contractIdOf = (n: number): string => `00${n.toString(16).padStart(8, "0")}`

/** The contract of a holder's holding, as the ledger has it active and the projection keeps it. */
const contractOf = (n: number, { instrumentId, registrar, venue }: OnLedger): Ledger.Active => {
  const owner = partyOf(n)
  return {
    _tag: "Created",
    nodeId: 0,
    contractId: contractIdOf(n),
    template: Templates.Holding.typeRef,
    packageId: "seeded",
    payload: Templates.create(Templates.Holding, {
      registrar,
      owner,
      provider: venue,
      instrument: { admin: registrar, id: instrumentId },
      amount: units,
      restricted: false,
      lock: null,
      label: "",
      meta: {}
    }).args,
    views: [],
    signatories: [registrar, owner],
    observers: [venue],
    witnesses: [],
    createdAt: at,
    blob: Option.none(),
    inAcs: true,
    synchronizerId: "seeded"
  }
}

/** Contracts that are active beside what the ledger of the scene has, which no update created. */
let seeded: Stream.Stream<Ledger.Active> = Stream.empty

/** The ledger with the seeded contracts among its active ones, for runs that compare it with the engine. */
export const besides = (ledger: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
  ...ledger,
  acs: (query) => Stream.concat(seeded, ledger.acs(query))
})

/** Movement and lot behind the units of a holder of the register. */
const booksOf = (n: number, instrument: SeededInstrument) => {
  const party = partyOf(n)
  const asset = { registrar: instrument.registrar, instrumentId: instrument.instrumentId }
  return [
    drawn(partyMovements, {
      ...asset,
      party,
      seq: n + 1,
      at,
      offset: Offset.of(n + 1),
      updateId: "ab".repeat(34),
      kind: "subscription",
      from: null,
      to: party,
      units,
      balanceAfter: units,
      reference: null,
      ledgerTime: at,
      restricted: true
    }),
    drawn(lots, {
      ...asset,
      party,
      lotId: `lot_${n}`,
      acquiredAt: at,
      receivedAt: null,
      basePrice: null,
      units,
      remaining: units,
      cost: null,
      costLeft: null,
      currency: null,
      origin: null
    })
  ]
}

/** Contract of a holder's holding and what the projection keeps of it. */
const holdingOf = (n: number, holding: OnLedger) => {
  const asset = { registrar: holding.registrar, instrumentId: holding.instrumentId }
  const { contractId, createdAt, observers, packageId, payload, signatories, template } =
    contractOf(n, holding)
  return [
    drawn(contracts, {
      ...{ contractId, packageId, signatories, observers },
      payload: payload as never,
      template: Templates.key(template),
      contractCreatedAt: createdAt,
      createdOffset: Offset.zero,
      archivedOffset: null
    }),
    drawn(holdings, {
      ...asset,
      contractId,
      owner: partyOf(n),
      amount: units,
      lock: null,
      endedOffset: null
    } as never)
  ]
}

/** Writes records in one transaction, as the projection's next update. */
export const put = Effect.fnUntraced(function* (rows: ReadonlyArray<Row>) {
  const { run } = yield* Atomically
  const documents = yield* Documents
  const feed = yield* Feed
  yield* run(
    Effect.gen(function* () {
      const head = yield* feed.take(Instant.sortable(at))
      yield* documents.put(
        rows.map(({ collection, record }) => ({
          collection: collection.name,
          recordId: collection.id(record as never),
          version: 1,
          closes: 0,
          body: Codecs.of(collection).encodeRecord(record as never),
          sortKey: collection.sortKey(record as never, at),
          filters: Columns.of(collection, record as never),
          createdAt: head.at,
          fromOffset: head.projectionOffset + 1,
          fromInstant: head.at
        }))
      )
      yield* feed.append(head, { events: [], audit: [], webhooks: "same" })
    })
  )
})

/** Writes the records of so many, a thousand of them in a transaction. */
export const putEach = Effect.fnUntraced(function* <O>(
  options: O & { readonly count: number },
  rowsOf: (n: number, options: O) => ReadonlyArray<Row>
) {
  for (let from = 0; from < options.count; from += perTransaction) {
    const count = Math.min(perTransaction, options.count - from)
    yield* put(Array.from({ length: count }, (_, n) => rowsOf(from + n, options)).flat())
  }
})

/** Number that no seeded record has, in whose place each copy puts its own. */
export const pattern = 987_654_321

/** Texts of the pattern's records, and the SQL of what stands in their place in the copy `n`; in turn. */
export type Replaced = ReadonlyArray<readonly [text: string, sql: string]>

const balanceOf = (n: number) =>
  Decimal.multiplyRounded(units, Decimal.fromInteger(n + 1), { places: 10, rounding: "floor" })

const ofHolders: Replaced = [
  [holderId(pattern), "'holder-' || lpad(n::text, greatest(6, length(n::text)), '0')"],
  [
    Decimal.format(balanceOf(pattern)),
    `((n + 1) * ${Decimal.format(units)})::numeric(38, 10)::text`
  ],
  [contractIdOf(pattern), "'00' || lpad(to_hex(n), 8, '0')"],
  [Offset.sortable(Offset.of(pattern + 1)), "lpad((n + 1)::text, 16, '0')"],
  [String(pattern + 1), "(n + 1)::text"],
  [String(pattern), "n::text"]
]

/** Runs an effect while the table of versions has no index but its primary key, and makes the others again. */
const withoutIndexes = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const sql = yield* SqlClient.SqlClient
  const indexes = yield* sql<{ readonly name: string; readonly definition: string }>`
    select indexname as name, indexdef as definition from pg_indexes
    where schemaname = 'bursar' and tablename = 'document' and indexname <> 'document_pkey'`
  for (const { name } of indexes) yield* sql.unsafe(`drop index bursar.${name}`)
  const value = yield* effect
  for (const { definition } of indexes) yield* sql.unsafe(definition)
  return value
})

/** Rows that one statement copies. */
const rowsAtOnce = 50_000

/**
 * Writes the records of so many, each as the projection's next update would: those of a pattern go through
 * the storage port, and are copied inside the database with other texts in the place of theirs.
 */
export const copyEach = Effect.fnUntraced(function* (
  rows: ReadonlyArray<Row>,
  { count, replaced }: { readonly count: number; readonly replaced: Replaced }
) {
  const sql = yield* SqlClient.SqlClient
  yield* put(rows)
  const isOne = rows
    .map(({ collection, record }) => [collection.name, collection.id(record as never)])
    .map(([name, id]) => `(d.collection = '${name}' and d.record_id = '${id}')`)
    .join(" or ")
  yield* sql.unsafe(
    `create table public.pattern as select d.* from bursar.document d where ${isOne}`
  )
  yield* sql.unsafe(`delete from bursar.document d where ${isOne}`)
  const own = (column: string) =>
    replaced.reduce((text, [found, put]) => `replace(${text}, '${found}', ${put})`, column)
  const copy = (from: number) =>
    sql.unsafe(
      `insert into bursar.document (collection, record_id, version, sort_key, body, filters,
         created_at, from_offset, from_instant)
       select d.collection, ${own("d.record_id")}, d.version, ${own("d.sort_key")}, ${own("d.body")},
         ${own("d.filters::text")}::jsonb, d.created_at, d.from_offset, d.from_instant
       from public.pattern d, generate_series($1::int4, $2::int4) n`,
      [from, Math.min(from + rowsAtOnce, count) - 1]
    )
  const starts = Array.from({ length: Math.ceil(count / rowsAtOnce) }, (_, nth) => nth * rowsAtOnce)
  const copies = Effect.forEach(starts, copy, { discard: true })
  yield* sql.withTransaction(count < rowsAtOnce / 5 ? copies : withoutIndexes(copies))
  yield* sql.unsafe("drop table public.pattern")
})

/** Writes rows for each of so many holders, and the supply of all. */
const seed = Effect.fnUntraced(function* (
  rows: ReadonlyArray<Row>,
  options: SeededInstrument & { readonly count: number }
) {
  yield* copyEach(rows, { count: options.count, replaced: ofHolders })
  yield* put([
    drawn(supplies, {
      registrar: options.registrar,
      instrumentId: options.instrumentId,
      units: balanceOf(options.count - 1),
      holders: options.count,
      seq: options.count
    })
  ])
})

/** Holders in this number, each admitted to the instrument and with equal holdings of it. */
export const register = (options: SeededInstrument & { readonly count: number }) =>
  seed(recordsOf(pattern, options), options)

const bookedOf = (n: number, instrument: SeededInstrument) => [
  ...recordsOf(n, instrument),
  ...booksOf(n, instrument)
]

/** The same, with the movements and lots behind the units of each. */
export const booked = (options: SeededInstrument & { readonly count: number }) =>
  seed(bookedOf(pattern, options), options)

/** The same, with the holdings, and the contracts that reconciliation compares them with. */
export const reconciled = Effect.fnUntraced(function* (
  options: SeededInstrument & { readonly count: number }
) {
  const { venue } = yield* Ledger.Ledger
  const ofVenue = { ...options, venue }
  yield* seed([...bookedOf(pattern, options), ...holdingOf(pattern, ofVenue)], options)
  seeded = Stream.range(0, options.count - 1).pipe(Stream.map((n) => contractOf(n, ofVenue)))
})
