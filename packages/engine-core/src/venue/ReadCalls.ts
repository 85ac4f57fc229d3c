/** Reads of one caller: values, lists, tables, prechecks and the feed. */
import { Duration, Effect, Option, Result, type Schema, Stream } from "effect"
import type { Catalogue } from "../catalogue.ts"
import { EventParams } from "../feeds/EventParams.ts"
import type { Event, EventQueries } from "../feeds/EventQueries.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import type { ProgramInput } from "../kernel/ProgramInput.ts"
import { refuse, refused, type Refused, type Unavailable } from "../kernel/Refusal.ts"
import * as Shape from "../kernel/Shape.ts"
import * as Csv from "../reads/Csv.ts"
import type { Export as Table } from "../reads/Export.ts"
import type { PointParams } from "../reads/Point.ts"
import type { Around, PageParams, Queries } from "../reads/Queries.ts"
import type { Export, List, Read, StreamedParts, StreamedRead } from "../reads/Read.ts"
import type { Caller } from "../writes/Caller.ts"
import { pathNames } from "../writes/Operation.ts"
import * as Calls from "./Calls.ts"
import * as Inspected from "./Inspected.ts"
import type {
  ListCall,
  Listing,
  ListName,
  ListOptions,
  PastPoint,
  ValueReading,
  ReadParams,
  ReadValue,
  ValueName
} from "./ReadTypes.ts"

/** Filters of the feed, where it begins, and how often it is looked at. */
export interface FeedOptions
  extends Omit<ProgramInput<EventParams, typeof EventParams.Encoded>, "order"> {
  /** Cursor of the last event that was handled; left out, the feed begins with its oldest event. */
  readonly after?: string
  /** Interval between two looks at the feed's end; one second by default. */
  readonly every?: Duration.Input
  /** `now`: the stream ends with the last event that is there. Left out, it waits for the next. */
  readonly until?: "now"
}

/**
 * An event with its number in the feed, `seq`. The last one of each page has the cursor after it; a
 * reader that keeps the last cursor and goes on there misses none, and may read some twice.
 */
export type FeedEvent = Event & { readonly cursor: string | null }

export interface ReadCalls {
  /** Answers a value, its rows or its table, now or at a point of the past. */
  readonly read: <R extends ValueName>(
    name: R,
    params: ReadParams<R>,
    point?: PastPoint
  ) => ValueReading<R>
  /** Answers a list: a page, all records or a table, now or at a point of the past. */
  readonly list: <R extends ListName>(name: R, ...options: ListCall<R>) => Listing<R>
  /**
   * Judges an act by every condition of every gate, and writes nothing; with the price or the policy
   * version of a supposition, as it would be judged then.
   */
  readonly precheck: (
    act: ReadParams<"instruments.precheck">["act"],
    params: Omit<ReadParams<"instruments.precheck">, "act">,
    point?: PastPoint
  ) => Effect.Effect<ReadValue<"instruments.precheck">, Refused | Unavailable>
  /** Events in their one order, each once; ended by its reader, or with `until: "now"` by itself. */
  readonly feed: (options?: FeedOptions) => Stream.Stream<FeedEvent, Refused | Unavailable>
}

interface Needs {
  readonly caller: Caller
  readonly queries: Queries["Service"]
  readonly events: EventQueries["Service"]
  readonly catalogue: Pick<Catalogue, "queries">
}

type Failure = Refused | Unavailable

/** Records of a page where its reader names no number, and the largest number. */
const limitDefault = 100
const limitMax = 1000

/** Events that are read together. */
const feedPage = 500

export const make = ({ caller, catalogue, events, queries }: Needs): ReadCalls => {
  const declarationOf = lookUp(catalogue)
  const admitted = Calls.admitted(caller)

  const value = (name: string, params: unknown, point: PastPoint = {}) => {
    const call = Effect.gen(function* () {
      yield* admitted
      const read = yield* declarationOf("read", name)
      if (read.shape === "list") return yield* Effect.die(new Error(`${name} is a list`))
      return { read, ...(yield* questionOf(read, params, point, caller)) }
    })
    const answer = Effect.flatMap(call, ({ read, question }) => valueOf(queries, read, question))
    const rows = Effect.map(call, ({ read, question }) =>
      Stream.map(rowsOf(queries, read, question), (row) =>
        read.shape === "one" ? row : Inspected.attachBy(rowSchemaOf(read), row)
      )
    )
    const csv = Effect.flatMap(call, ({ read, question }) =>
      Effect.map(tableOf(read), (table) => csvOf(queries, table, { read, question }))
    )
    return Object.assign(
      Effect.map(answer, (answered) => answered.value),
      { answer, rows: Stream.unwrap(rows), csv: Stream.unwrap(csv) }
    )
  }

  const list = (name: string, options: ListOptions<ListName> = {}) => {
    const call = Effect.gen(function* () {
      yield* admitted
      const read = yield* declarationOf("list", name)
      if (read.shape !== "list") return yield* Effect.die(new Error(`${name} is no list`))
      const page = yield* Effect.fromResult(pageOf(read, options))
      return { read, page, ...(yield* questionOf(read, options.where ?? {}, options, caller)) }
    })
    const all = Effect.flatMap(call, ({ read, question, page: { limit: _, ...page } }) =>
      Effect.map(queries.all(read, { ...question, page }), (answer) => answer.value)
    )
    const inspected = Effect.map(call, ({ read }) =>
      Stream.map(Stream.unwrap(all), (item) => Inspected.attachBy(read.item, item))
    )
    const csv = Effect.flatMap(call, ({ read }) =>
      Effect.map(tableOf(read), (table) => printed(table, Stream.unwrap(all)))
    )
    return Object.assign(
      Effect.flatMap(call, ({ read, question, page }) =>
        Effect.map(queries.page(read, { ...question, page }), ({ value, ...around }) => ({
          ...around,
          value: value.map((item) => Inspected.attachBy(read.item, item))
        }))
      ),
      { stream: Stream.unwrap(inspected), csv: Stream.unwrap(csv) }
    )
  }

  const feed = ({ after, every, until, ...filters }: FeedOptions = {}) => {
    const params = Effect.andThen(
      admitted,
      Effect.fromResult(decoded(EventParams, filters, () => "/query"))
    )
    const pages = (params: EventParams) =>
      Stream.paginate(after, (cursor) =>
        Effect.gen(function* () {
          const page = yield* events.page({
            caller,
            params,
            limit: feedPage,
            ...(cursor === undefined ? {} : { after: cursor })
          })
          const isEnd = page.value.length === 0
          if (isEnd && until === undefined) yield* Effect.sleep(every ?? Duration.seconds(1))
          const last = page.value.at(-1)
          const found = page.value.map((event) => ({
            ...event,
            cursor: event === last ? page.next : null
          }))
          return [found, isEnd && until === "now" ? Option.none() : Option.some(page.next)] as const
        })
      )
    return Stream.unwrap(Effect.map(params, pages))
  }

  // Cast: the declaration that a name selects has the types that the name stands for.
  return {
    read: value,
    list,
    feed,
    precheck: (act: string, params: object, point?: PastPoint) =>
      value("instruments.precheck", { ...params, act }, point)
  } as unknown as ReadCalls
}

/**
 * Makes the look-up of a read by its name, which refuses with the nearest of the names that are right in
 * its place: `list` of a list, `read` of any other read.
 */
const lookUp = ({ queries }: Pick<Catalogue, "queries">) => {
  const lists = queries.filter(({ shape }) => shape === "list")
  const values = queries.filter(({ shape }) => shape !== "list")
  return (what: "list" | "read", name: string) => {
    const reads = what === "list" ? lists : values
    return Calls.named(what, {
      word: name,
      words: reads.map((read) => read.name),
      found: reads.find((read) => read.name === name)
    })
  }
}

type ValueRead = Exclude<Read, List>

interface Question {
  readonly caller: Caller
  readonly params: unknown
  readonly point: PointParams
}

const questionOf = Effect.fnUntraced(function* (
  read: Read,
  input: unknown,
  point: PastPoint,
  caller: Caller
) {
  const inPath = new Set(pathNames(read.route))
  const place = (member: string | undefined) =>
    member !== undefined && inPath.has(member) ? "/path" : "/query"
  const params = yield* Effect.fromResult(decoded(read.params, input, place))
  return { question: { caller, params, point: yield* Effect.fromResult(pointOf(read, point)) } }
})

/** Memo of the decoders of parameters. */
const decoders = new WeakMap<Schema.Top, Shape.Decoder<unknown>>()

const decoded = <P>(
  schema: Schema.Codec<P, unknown>,
  input: unknown,
  place: (member: string | undefined) => string
): Result.Result<P, Refused<"invalid-request">> => {
  const decoder = (decoders.get(schema) ?? Shape.decoder(schema)) as Shape.Decoder<P>
  decoders.set(schema, decoder)
  return Result.flatMap(Calls.plainOf(schema, input, "/query"), (plain) =>
    decoder.decode(plain, place)
  )
}

const wrong = (name: string, detail: string) =>
  refuse("invalid-request", { detail, errors: [{ pointer: `/query/${name}`, detail }] })

const instantOf = (
  name: string,
  value: Instant.Instant | string
): Result.Result<Instant.Instant, Refused<"invalid-request">> => {
  if (typeof value !== "string") return Result.succeed(value)
  const parsed = Instant.parse(value)
  return Result.isSuccess(parsed)
    ? Result.succeed(parsed.success)
    : wrong(name, parsed.failure.detail)
}

const pointOf = (
  read: Read,
  { at, asOf }: PastPoint
): Result.Result<PointParams, Refused<"invalid-request">> =>
  Result.gen(function* () {
    if (!read.pinned && (at ?? asOf) !== undefined) {
      const detail = `${read.name} is read as it is now: no point of the past answers it.`
      yield* wrong(at === undefined ? "asOf" : "at", detail)
    }
    if (at !== undefined && !Offset.isOffset(at)) {
      yield* wrong("at", "an offset is a whole number, 0 or more")
    }
    return {
      ...(at === undefined ? {} : { at: Offset.of(at) }),
      ...(asOf === undefined ? {} : { asOf: yield* instantOf("asOf", asOf) })
    }
  })

type CheckedPage = PageParams & { readonly limit: number }

const pageOf = (
  read: List,
  { after, limit = limitDefault, updatedFrom, updatedTo }: ListOptions<ListName>
): Result.Result<CheckedPage, Refused<"invalid-request">> =>
  Result.gen(function* () {
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > limitMax) {
      yield* wrong("limit", `a limit is 1 to ${limitMax}`)
    }
    if (!read.changes && (updatedFrom ?? updatedTo) !== undefined) {
      const name = updatedFrom === undefined ? "updatedTo" : "updatedFrom"
      yield* wrong(name, `${read.name} has no window of changes`)
    }
    return {
      limit,
      ...(after === undefined ? {} : { after }),
      ...(updatedFrom === undefined
        ? {}
        : { updatedFrom: yield* instantOf("updatedFrom", updatedFrom) }),
      ...(updatedTo === undefined ? {} : { updatedTo: yield* instantOf("updatedTo", updatedTo) })
    }
  })

type Valuation = Effect.Effect<Around & { readonly value: unknown }, Failure>

/** The value of a read; the rows and the text of one that is streamed are collected. */
const valueOf = (queries: Queries["Service"], read: ValueRead, question: Question): Valuation =>
  Effect.map(lazyValueOf(queries, read, question), ({ value, ...around }) => ({
    ...around,
    value: Inspected.attachBy(read.value, value)
  }))

const lazyValueOf = (
  queries: Queries["Service"],
  read: ValueRead,
  question: Question
): Valuation => {
  switch (read.shape) {
    case "one":
      return queries.one(read, question)
    case "export":
      return exportedValue(queries, read, question)
    case "streamed":
      return streamedValue(queries, read, question)
  }
}

const exportedValue = Effect.fnUntraced(function* (
  queries: Queries["Service"],
  read: Export,
  question: Question
) {
  const { record, rows, ...around } = yield* queries.exported(read, question)
  const value = { [read.recordIn]: record, [read.rowsIn]: yield* Stream.runCollect(rows) }
  return { ...around, value }
})

const streamedValue = Effect.fnUntraced(function* (
  queries: Queries["Service"],
  read: StreamedRead,
  question: Question
) {
  const { record, rows, text, totals, ...around } = yield* queries.streamed(read, question)
  const value = {
    ...(read.recordIn === undefined ? (record as object) : { [read.recordIn]: record }),
    [read.rowsIn]: rows === null ? null : yield* Stream.runCollect(rows),
    ...(read.textIn === undefined
      ? {}
      : { [read.textIn]: (text ?? null) === null ? null : yield* Stream.mkString(text!) }),
    ...(read.totalsIn === undefined || totals === undefined
      ? {}
      : { [read.totalsIn.member]: yield* totals })
  }
  return { ...around, value }
})

const rowSchemaOf = (read: Export | StreamedRead): Schema.Codec<unknown, unknown> =>
  read.shape === "export" ? read.rows.item : read.row

type Rows = Stream.Stream<unknown, Failure>

/** Rows of a value; a value without rows is a bug of a caller that its types let through. */
const rowsOf = (queries: Queries["Service"], read: ValueRead, question: Question): Rows => {
  switch (read.shape) {
    case "one":
      return Stream.die(new Error(`${read.name} has no rows`))
    case "export":
      return Stream.unwrap(Effect.map(queries.exported(read, question), ({ rows }): Rows => rows))
    case "streamed":
      return Stream.unwrap(
        Effect.map(
          queries.streamed(read, question),
          ({ rows }: StreamedParts<unknown, unknown>): Rows => rows ?? Stream.empty
        )
      )
  }
}

type AnyTable = Table<never, never>

const tableOf = (read: Read): Effect.Effect<AnyTable, Refused<"invalid-request">> => {
  const csv: AnyTable | undefined = read.csv
  const detail = `${read.name} has no table.`
  return csv === undefined
    ? Effect.fail(refused("invalid-request", { detail }))
    : Effect.succeed(csv)
}

/** Rows that are printed together. */
const rowsTogether = 500

/** Table of rows: the line of its columns, then a line for each row, in constant memory. */
const printed = (table: AnyTable, rows: Rows): Stream.Stream<string, Failure> =>
  Stream.concat(
    Stream.succeed(Csv.head(table)),
    Stream.map(Stream.grouped(rows, rowsTogether), (chunk) => Csv.body(table, chunk as never))
  )

const csvOf = (
  queries: Queries["Service"],
  table: AnyTable,
  { read, question }: { readonly read: ValueRead; readonly question: Question }
): Stream.Stream<string, Failure> =>
  read.shape === "one"
    ? Stream.unwrap(
        Effect.map(queries.one(read, question), ({ value }) =>
          Stream.fromIterable(Csv.text(table, value as never))
        )
      )
    : printed(table, rowsOf(queries, read, question))
