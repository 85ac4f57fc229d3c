/**
 * Intake of a statement from its first byte to its record: a table of 1,000,000 holdings and a camt.053
 * of 200,000 entries, against the bare parser whose rows are written by one statement a batch, and that
 * stores the file as well.
 */
import { createCipheriv, createHash, hash, randomBytes } from "node:crypto"
import { Intake, Queries, Records, settingsDefaults } from "@bursar/engine-core"
import { Date as Day, Instant, PlainJson } from "@bursar/engine-core/kernel"
import { Crypto } from "@bursar/engine-core/ports"
import * as Statements from "@bursar/storage-adapters/statements"
import { PgTypes } from "@effect/sql-pg"
import { Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as Values from "#adapters/storage/postgres/Values.ts"
import { externalAccounts } from "#core/holders/external-account/ExternalAccount.ts"
import * as Secrets from "#core/writes/Secrets.ts"
import * as Calls from "../engine/calls.ts"
import * as Intakes from "../operations/intakes.ts"
import * as generate from "../statements/generate.ts"
import { caller, engineOn, listOf, recordInstrument, withDatabase } from "./database.ts"
import { type Bench, inTurns, median, type Options, type Row, timed } from "./measure.ts"
import { held, heldWhile, withHeap } from "./memory.ts"
import * as Meters from "./meter.ts"
import * as Files from "./statement-files.ts"

const accountId = "xa-1"

/** Files of a form, and how their source and the bound read them. */
interface Form {
  readonly source: string
  readonly mediaType: Intake.MediaType
  readonly pieces: (file: Files.File) => Iterable<Uint8Array>
  /** Reads the pieces with the bare parser and hands the rows on, a piece at a time. */
  readonly bare: (
    pieces: Iterable<Uint8Array>,
    write: (rows: ReadonlyArray<BareRow>) => Promise<void>
  ) => Promise<unknown>
}

/** Columns of a row that a line is kept in, as texts. */
interface BareRow {
  /** Name and account of the counterparty, which the bound seals a batch at a time. */
  readonly counterparty?: string
  /** Texts by which the statement is found. */
  readonly references?: ReadonlyArray<string>
  readonly key: string
  readonly match: string
  readonly group: string
  readonly amount: string
  readonly body: string
}

const keyOf = (line: number) => String(line).padStart(9, "0")

const table: Form = {
  source: "holdings",
  mediaType: "text/csv",
  pieces: Files.csv,
  bare: (pieces, write) => {
    let line = 0
    return Files.bareCsv(pieces, (rows) =>
      write(
        rows.map(([account = "", quantity = "", locked = ""]) => {
          line++
          const units = quantity.replace(",", ".")
          // A digest in the place of the account's keyed one, so that the rows are as long.
          const hashed = `k1.${hash("sha256", account)}`
          const body = { kind: "holdings", line, account: hashed, quantity: units, locked }
          return {
            key: keyOf(line),
            match: hashed,
            group: "",
            amount: units,
            body: JSON.stringify(body)
          }
        })
      )
    )
  }
}

const entries: Form = {
  source: "cash",
  mediaType: "application/xml",
  pieces: Files.camt,
  bare: (pieces, write) => {
    let line = 0
    return Files.bareCamt(pieces, (found) =>
      write(
        found.map((entry) => {
          line++
          const { AcctSvcrRef: bankReference = "", Amt: amount = "0", EndToEndId = "" } = entry
          const body = {
            ...{ kind: "cash", line, bookingDate: entry["Dt"], valueDate: entry["Dt"], amount },
            ...{ currency: "EUR", direction: "credit", bankReference, reference: EndToEndId }
          }
          return {
            key: keyOf(line),
            match: bankReference,
            group: "credit/EUR",
            amount,
            body: JSON.stringify(body),
            counterparty: JSON.stringify({ name: entry["Nm"], account: entry["IBAN"] }),
            references: [EndToEndId, bankReference]
          }
        })
      )
    )
  }
}

const settings = {
  ...settingsDefaults,
  ...Intakes.sealing,
  statementSources: [
    Intakes.source({
      externalSourceId: table.source as never,
      adapter: "csv",
      accountIs: null,
      csv: generate.csvForm("holdings")
    }),
    Intakes.source({
      externalSourceId: entries.source as never,
      kind: "cash",
      adapter: "camt.053",
      account: accountId,
      accountIs: null
    })
  ]
}

/** Opens the account of the source of cash, with its number sealed. */
const mapped = Effect.gen(function* () {
  const records = yield* Records
  const crypto = yield* Crypto
  const nonce = new Uint8Array(Secrets.chanceBytes(1))
  const sealed = Secrets.seal(Files.accountNumber, { keys: settings.sealingKeys, nonce }, crypto)
  const account = {
    ...{ externalAccountId: accountId as never, kind: "cash" as const, currency: "EUR" },
    ...{ segregated: false, holderId: null, instrumentId: "fund-a", masked: "****3957" },
    ...{ mappedBy: "olga", sealed }
  }
  const act = { cause: { by: "clock" }, now: yield* Instant.now } as const
  yield* records.transact(Effect.orDie(records.open(externalAccounts, account, act)))
})

/** Hands a file in; dies where not every line was taken. */
const taken = (form: Form, file: Files.File) =>
  Effect.scoped(
    Effect.gen(function* () {
      const intake = yield* Intake.StatementIntake
      const named = {
        externalSourceId: form.source,
        instrumentId: null,
        businessDate: Day.of(Files.dateOf(file)),
        corrects: null
      }
      const bytes = Stream.fromIterable(form.pieces(file), { chunkSize: 1 })
      const query = new URLSearchParams({
        externalSourceId: form.source,
        businessDate: named.businessDate
      }).toString()
      const staged = yield* intake.stage({ query, bytes })
      const { replayed, value } = yield* intake.receive({
        caller: Calls.operator,
        identity: Calls.identity(),
        key: null,
        named,
        mediaType: form.mediaType,
        charset: null,
        staged
      })
      const { lineCount } = JSON.parse(PlainJson.stringify(value)) as { readonly lineCount: number }
      if (replayed || lineCount !== file.lines) {
        return yield* Effect.die(new Error(`${lineCount} lines of ${file.lines} were taken`))
      }
    })
  )

/** Rows of the bound by one statement and one commit a batch, as many rows as the engine writes. */
const perBatch = 1_000

/** Bytes of a chunk of the file, as many as the engine stores together. */
const perChunk = 1_048_576

const bareKey = randomBytes(32)
const sealed = (data: Uint8Array): Buffer => {
  const nonce = randomBytes(12)
  const cipher = createCipheriv("aes-256-gcm", bareKey, nonce)
  return Buffer.concat([nonce, cipher.update(data), cipher.final(), cipher.getAuthTag()])
}

/** Hands the pieces of a file on, and its bytes in sealed chunks; hashes it, to find it again. */
function* kept(pieces: Iterable<Uint8Array>, chunkOf: (bytes: Buffer) => void) {
  const content = createHash("sha256")
  let waiting: Array<Uint8Array> = []
  let size = 0
  const write = () => {
    if (size > 0) chunkOf(sealed(Buffer.concat(waiting)))
    waiting = []
    size = 0
  }
  for (const piece of pieces) {
    content.update(piece)
    waiting.push(piece)
    size += piece.length
    if (size >= perChunk) write()
    yield piece
  }
  write()
  content.digest("hex")
}

/**
 * Bound: the parser alone, and plain SQL that stores what an answer of the API needs: the rows, the
 * counterparties of a batch sealed together, the texts by which the statement is found, and the file
 * itself, sealed.
 */
const bare = Effect.fnUntraced(function* (form: Form, file: Files.File) {
  const sql = yield* SqlClient.SqlClient
  const name = `bare_${form.source}_${file.number}`
  yield* sql.unsafe(`create table public.${name} (
    key text collate "C" primary key, match text collate "C" not null,
    "group" text collate "C" not null, amounts numeric[] not null, body text not null)`)
  yield* sql.unsafe(
    `create table public.${name}_parties (key text primary key, sealed bytea not null)`
  )
  yield* sql.unsafe(
    `create table public.${name}_terms (collection text collate "C", rank text collate "C",
      text text collate "C", record_id text collate "C", shown text,
      primary key (collection, rank, text, record_id))`
  )
  yield* sql.unsafe(`create index on public.${name}_terms (record_id) where shown is not null`)
  yield* sql.unsafe(
    `create table public.${name}_file (chunk int8 primary key, bytes bytea not null)`
  )
  let chunks = 0
  let storing: Promise<unknown> = Promise.resolve()
  const chunkOf = (bytes: Buffer) => {
    const values = [String(chunks++), PgTypes.bytea(bytes)]
    const statement = sql.unsafe(`insert into public.${name}_file values ($1::int8, $2)`, values)
    storing = Promise.all([storing, Effect.runPromise(statement)])
  }
  const insert = (rows: ReadonlyArray<BareRow>) =>
    Effect.runPromise(
      sql.unsafe(
        `insert into public.${name} select key, match, "group", amounts::numeric[], body
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
           as r(key, match, "group", amounts, body)`,
        [
          Values.texts(rows.map(({ key }) => key)),
          Values.texts(rows.map(({ match }) => match)),
          Values.texts(rows.map(({ group }) => group)),
          Values.texts(rows.map(({ amount }) => `{${amount}}`)),
          Values.texts(rows.map(({ body }) => body))
        ]
      )
    )
  const insertParties = async (rows: ReadonlyArray<BareRow>) => {
    const parties = rows.flatMap(({ counterparty = [] }) => counterparty)
    if (parties.length === 0) return
    const values = [rows[0]?.key, PgTypes.bytea(sealed(Buffer.from(`[${parties.join(",")}]`)))]
    await Effect.runPromise(
      sql.unsafe(`insert into public.${name}_parties values ($1, $2)`, values)
    )
  }
  const insertTerms = async (rows: ReadonlyArray<BareRow>) => {
    const texts = [...new Set(rows.flatMap(({ references = [] }) => references))]
    if (texts.length === 0) return
    await Effect.runPromise(
      sql.unsafe(
        `insert into public.${name}_terms select 'entry', 'whole', lower(text), 'est', text
         from unnest($1::text[]) as r(text) on conflict do nothing`,
        [Values.texts(texts)]
      )
    )
  }
  let waiting: Array<BareRow> = []
  let lines = 0
  const write = async (rows: ReadonlyArray<BareRow>) => {
    for (const row of rows) {
      lines++
      waiting.push(row)
    }
    if (waiting.length < perBatch) return
    const batch = waiting
    waiting = []
    await Promise.all([storing, insertParties(batch), insertTerms(batch), insert(batch)])
  }
  yield* Effect.promise(() => form.bare(kept(form.pieces(file), chunkOf), write))
  yield* Effect.promise(() =>
    Promise.all([storing, insertParties(waiting), insertTerms(waiting), insert(waiting)])
  )
  if (lines !== file.lines) {
    return yield* Effect.die(new Error(`the bound wrote ${lines} lines of ${file.lines}`))
  }
})

/** Milliseconds between two calls that are made while a file is taken in. */
const askedEvery = 20

/**
 * Milliseconds until other calls are answered while an effect runs, from when each was due: the 99th
 * percentile and the longest.
 */
const answeredWhile = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const list = listOf("instruments.list")
    const waits: Array<number> = []
    const asking = Effect.gen(function* () {
      for (let due = performance.now(); ; due += askedEvery) {
        const early = due - performance.now()
        if (early > 0) yield* Effect.sleep(early)
        yield* queries.page(list, { caller, params: {}, point: {}, page: { limit: 50 } })
        waits.push(performance.now() - due)
        // A call that was late puts the next ones off, as a caller does that waits for its answer.
        due = Math.max(due, performance.now() - askedEvery)
      }
    })
    yield* Effect.raceFirst(effect, asking)
    const sorted = waits.toSorted((a, b) => a - b)
    return {
      calls: sorted.length,
      p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
      longest: sorted.at(-1) ?? Number.NaN,
      median: median(sorted)
    }
  })

const program = (
  form: Form,
  { rounds, size }: { readonly rounds: number; readonly size: number }
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* recordInstrument("fund-a")
    yield* mapped
    const meter = Meters.of(sql)
    const warm = { lines: Math.min(size, 10_000), number: rounds + 1 }
    yield* taken(form, warm)
    const heapOf = (file: Files.File) =>
      Effect.map(withHeap(taken(form, file)), ({ heap }) => heap.most - heap.before)
    const tenth = Math.ceil(size / 10)
    const ofTenth = yield* heapOf({ lines: tenth, number: rounds + 2 })
    const idle = (yield* held) / 2 ** 20
    const heldBy = (file: Files.File) =>
      Effect.map(heldWhile(taken(form, file)), (most) => most - idle)
    const heldByTenth = yield* heldBy({ lines: tenth, number: rounds + 4 })
    const heldByAll = yield* heldBy({ lines: size, number: rounds + 5 })
    const heaps: Array<number> = []
    const compared = yield* inTurns({
      rounds,
      ours: {
        meter,
        run: (number) =>
          timed(
            size,
            Effect.map(heapOf({ lines: size, number }), (heap) => heaps.push(heap))
          )
      },
      bound: { meter, run: (number) => timed(size, bare(form, { lines: size, number })) }
    })
    const { calls, p99, longest } = yield* answeredWhile(
      taken(form, { lines: size, number: rounds + 3 })
    )
    const mebibytes = (heap: number) => `${Math.round(heap)} MiB`
    return {
      note: [
        `heap ${mebibytes(Math.max(...heaps))} over idle, ${mebibytes(ofTenth)} at a tenth`,
        `held after full collections ${mebibytes(heldByAll)}, ${mebibytes(heldByTenth)} at a tenth`,
        `${calls} other calls meanwhile, ${p99.toFixed(1)} ms at the 99th percentile, ${Math.round(longest)} ms at most`
      ].join("; "),
      ...compared
    }
  })

const rowOf = async (
  form: Form,
  row: Pick<Row, "against" | "unit"> & {
    readonly name: (size: string) => string
    readonly size: number
    readonly rounds: number
  }
): Promise<ReadonlyArray<Row>> => {
  const measured = await withDatabase(({ storage }) =>
    program(form, row).pipe(
      Effect.scoped,
      Effect.provide(engineOn(Layer.merge(storage, Statements.layer), settings))
    )
  )
  const { against, unit } = row
  return [
    { bench: row.name(row.size.toLocaleString("en-US")), unit, against, goal: 0.5, ...measured }
  ]
}

export const bench: Bench = ({ rounds, size = 1_000_000 }: Options) =>
  rowOf(table, {
    name: (lines) => `intake of a CSV of ${lines} lines`,
    unit: "lines/s",
    against: "csv-parse, the same rows written by one statement a batch, and the file, sealed",
    size,
    rounds
  })

export const cash = {
  bench: (({ rounds, size = 200_000 }) =>
    rowOf(entries, {
      name: (lines) => `intake of a camt.053 of ${lines} entries`,
      unit: "entries/s",
      against:
        "saxes, the same rows written by one statement a batch, their counterparties sealed together, and the file, sealed",
      size,
      rounds
    })) satisfies Bench
}
