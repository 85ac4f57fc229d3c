/** Generic handler of reads: parses point and page, answers in the read envelope. */
import {
  type Around,
  type Caller,
  Csv,
  type Export,
  type KeptAnswers,
  type Read,
  Refusal,
  type Queries,
  type PrintedAnswer,
  type Signals,
  type Whole
} from "@bursar/engine-core"
import { Instant, JsonPrinter, PlainJson, Shape } from "@bursar/engine-core/kernel"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Result, Schema, type Scope, Stream } from "effect"
import * as Params from "../api/Params.ts"
import * as Verb from "../api/Verb.ts"
import type { Arrival } from "../middleware/Arrival.ts"
import * as Answer from "../middleware/Answer.ts"
import type { PassedRequest } from "../middleware/Gates.ts"
import * as Limits from "../middleware/Limits.ts"
import type { Wait } from "../middleware/Waits.ts"
import * as Body from "../wire/Body.ts"
import * as Query from "../wire/Query.ts"
import * as Faults from "../wire/Faults.ts"
import { Times } from "../wire/Times.ts"

const overloaded = Refusal.unavailable("overloaded", "The read took too long.", 5)

/** Timeout of the first byte of a read's answer; fails with `overloaded`. */
export const inTime = <A, E, R>(
  read: Effect.Effect<A, E, R>
): Effect.Effect<A, E | Refusal.Unavailable, R> =>
  Effect.flatMap(Times, ({ firstByteWithin }) =>
    Effect.timeoutOrElse(read, {
      duration: firstByteWithin,
      orElse: () => Effect.fail(overloaded)
    })
  )

const standard = Shape.decoder(Params.Standard)

/** Parameters of a reading route: its own, and its standard ones. */
interface ReadParameters<P> {
  readonly params: Schema.Codec<P, unknown>
  readonly standard: ReadonlySet<string>
  /** Names of the path's parameters. */
  readonly inPath: ReadonlySet<string>
}

/**
 * Parses the parameters of a read, standard ones apart from its own; the refusal has every fault.
 */
export const asking = <P>({ params, standard: standardParams, inPath }: ReadParameters<P>) => {
  const decoder = Shape.decoder(Schema.toCodecArrayFromSingle(params), [...standardParams])
  const place = (member: string | undefined) =>
    member !== undefined && inPath.has(member) ? "/path" : "/query"

  return (arrival: Arrival["Service"]) => {
    const query = Query.parse(arrival.query)
    if (Result.isFailure(query)) return Result.fail(query.failure)
    const shared: Record<string, unknown> = {}
    const rest: Record<string, unknown> = Object.assign(Object.create(null), arrival.params)
    const doubled: Array<Refusal.Fault> = []
    for (const [name, value] of Object.entries(query.success)) {
      if (standardParams.has(name)) shared[name] = value
      else if (inPath.has(name)) doubled.push(unknownParameter(name))
      else rest[name] = value
    }
    if (shared.at !== undefined && shared.asOf !== undefined) doubled.push(...bothPoints)
    const misplaced =
      doubled.length === 0 ? Result.void : Refusal.refuse("invalid-request", { errors: doubled })
    const point = named(standard.decode(shared, place), query.success)
    const decoded = named(decoder.decode(rest, place), query.success)
    const refused = Faults.together([misplaced, point, decoded])
    if (refused !== undefined) return Result.fail(refused)
    return Result.flatMap(point, (standard) =>
      Result.map(decoded, (params) => ({ standard, params }))
    )
  }
}

const takenBy = (read: Read.Read): ReadParameters<unknown> => ({
  params: read.params,
  standard: Params.names(read),
  inPath: new Set(Verb.parse(read.route).names)
})

type ParsedRead<A> = Result.Result<A, Refusal.Refused<"invalid-request">>

/** Points each fault at the parameter, and not at a value within it. */
const named = <A>(judged: ParsedRead<A>, query: Query.Query): ParsedRead<A> =>
  Result.mapError(judged, ({ slug, details }) => {
    const faults = new Map(
      details.errors?.map(({ pointer, detail }) => {
        const [, place = "", name = ""] = pointer.split("/")
        const parameter = `/${place}/${name}`
        // A list where a single text is expected. Where a list is permitted, a fault concerns one
        // text of it.
        const isRepeated = pointer === parameter && Array.isArray(query[name])
        return [
          parameter,
          { pointer: parameter, detail: isRepeated ? "it is given more than once" : detail }
        ] as const
      })
    )
    const errors = [...faults.values()]
    const [first] = errors
    return Refusal.refused(slug, {
      ...details,
      ...(first === undefined ? {} : { detail: Shape.summary(first) }),
      errors
    })
  })

const unknownParameter = (name: string): Refusal.Fault => ({
  pointer: Query.pointer(name),
  detail: "no such parameter"
})

const bothPoints: ReadonlyArray<Refusal.Fault> = ["at", "asOf"].map((name) => ({
  pointer: `/query/${name}`,
  detail: "at and asOf exclude each other"
}))

/** JSON of the envelope's members before its value. */
export const opening = (around: Around & { readonly zone?: string | undefined }): string => {
  const time = around.ledgerTime
  const ledgerTime =
    time === undefined
      ? ""
      : `"ledgerTime":${time === null ? "null" : `"${Instant.format(time)}"`},`
  const zone = around.zone === undefined ? "" : `"zone":${PlainJson.stringify(around.zone)},`
  return `{"offset":${around.offset},${ledgerTime}"now":"${Instant.format(around.now)}",${zone}"value":`
}

export const closing = (next: string | null): string => `,"next":${PlainJson.stringify(next)}}`

export const one = (
  read: Read.One,
  {
    queries,
    signals
  }: { readonly queries: Queries["Service"]; readonly signals: Signals.Signals["Service"] }
) => {
  const ask = asking(takenBy(read))
  const print = printer(read.value)
  const printText = JsonPrinter.of(read.value)
  const printOne = (value: unknown) => Effect.sync(() => printed([print(value)], 1))
  return Effect.fnUntraced(function* (
    arrival: Arrival["Service"],
    caller: Caller.Caller,
    wait: Wait
  ) {
    const { standard, params } = yield* Effect.fromResult(ask(arrival))
    const { requestId } = arrival.identity
    const { csv } = read
    const table = csv?.format(params) === "csv" ? csv : undefined
    yield* acceptable(arrival, table)
    const request = { caller, params, point: standard }
    if (table === undefined && read.lookAgain === undefined) {
      const { target } = arrival
      const answer = yield* inTime(
        queries.onePrinted(read, { ...request, target, print: printOne })
      )
      return answered(arrival, answer, "}")
    }
    const current = inTime(queries.one(read, request))
    const first = yield* current
    const awaitedOf = ({ value }: typeof first) => read.awaitedOperation?.(value) ?? null
    const { answer, applied } =
      read.awaitedOperation === undefined
        ? { answer: first, applied: {} }
        : yield* wait.hold({
            first,
            signal: Effect.suspend(() => signals.operation(awaitedOf(first) ?? "")),
            read: current,
            isFinal: (answer) => awaitedOf(answer) === null
          })
    const { value, ...around } = answer
    if (table !== undefined) {
      yield* dropWhenNotTaken(arrival)
      const lines = Stream.fromIterable(Csv.text(table, value))
      const bytes = Stream.map(lines, (text) => Buffer.from(text))
      return Answer.stream({ requestId, bytes, mediaType: `${Csv.mediaType}; charset=utf-8` })
    }
    const seconds = read.lookAgain?.(value, around.now) ?? null
    return Answer.json({
      requestId,
      status: 200,
      text: `${opening(around)}${printText(value)}}`,
      extra: { ...applied, ...(seconds === null ? {} : { "retry-after": String(seconds) }) }
    })
  })
}

export const list = (read: Read.List, queries: Queries["Service"]) => {
  const ask = asking(takenBy(read))
  const printPage = inSlices(printer(read.item))
  // A list without a limit is not memoised: its views would fill the memory.
  const printOnce = JsonPrinter.of(read.item)
  return Effect.fnUntraced(function* (
    arrival: Arrival["Service"],
    caller: Caller.Caller,
    { charge, found }: Pick<PassedRequest, "charge" | "found">
  ) {
    const { standard, params } = yield* Effect.fromResult(ask(arrival))
    const { limit, ...page } = standard
    const { requestId } = arrival.identity
    const { csv } = read
    const table = csv?.format(params) === "csv" ? csv : undefined
    const zone = read.zone?.(params)
    if (table !== undefined) yield* Effect.fromResult(unpaged(standard))
    yield* acceptable(arrival, table)
    if (limit === undefined) {
      const request = { caller, params, point: standard, page }
      const { value, ...around } = yield* inTime(queries.all(read, request))
      yield* dropWhenNotTaken(arrival)
      if (table !== undefined) return tableOf(arrival, table, charged(value, charge))
      const rows = logged(charged(value, charge), (records) => found({ records, params }))
      const bytes = inChunks(rows, {
        before: `${opening({ ...around, zone })}[`,
        print: (chunk) => chunk.map(printOnce).join(","),
        between: ",",
        after: `]${closing(null)}`
      })
      return Answer.stream({ requestId, bytes })
    }
    const request = { caller, params, point: standard, page: { ...page, limit } }
    const { target } = arrival
    const answer = yield* inTime(
      queries.pagePrinted(read, { ...request, target, print: printPage })
    )
    const { records } = answer.printed
    yield* found({ records, params })
    yield* charge(callsOf(records))
    return answered(arrival, { ...answer, zone }, closing(answer.next))
  })
}

/** Streams a record and all rows of its list, as JSON or as a table of the rows. */
export const exported = (read: Read.Export, queries: Queries["Service"]) => {
  const ask = asking(takenBy(read))
  const printRecord = JsonPrinter.of(read.record.value)
  const printRow = JsonPrinter.of(read.rows.item)
  const { csv, recordIn, rowsIn } = read
  return Effect.fnUntraced(function* (
    arrival: Arrival["Service"],
    caller: Caller.Caller,
    charge: PassedRequest["charge"]
  ) {
    const { standard, params } = yield* Effect.fromResult(ask(arrival))
    const { requestId } = arrival.identity
    const table = csv.format(params) === "csv" ? csv : undefined
    yield* acceptable(arrival, table)
    const answer = yield* inTime(queries.exported(read, { caller, params, point: standard }))
    yield* dropWhenNotTaken(arrival)
    const rows = charged(answer.rows, charge)
    if (table !== undefined) return tableOf(arrival, table, rows)
    const record = `${PlainJson.stringify(recordIn)}:${printRecord(answer.record)}`
    const bytes = inChunks(rows, {
      before: `${opening(answer)}{${record},${PlainJson.stringify(rowsIn)}:[`,
      print: (chunk) => chunk.map(printRow).join(","),
      between: ",",
      after: "]}}"
    })
    return Answer.stream({ requestId, bytes })
  })
}

/** Streams a record, its rows, and a text or the totals of the rows as one JSON value. */
export const streamed = (read: Read.StreamedRead, queries: Queries["Service"]) => {
  const ask = asking(takenBy(read))
  const printRecord = JsonPrinter.of(read.record)
  const printRow = JsonPrinter.of(read.row)
  const printTotals = read.totalsIn === undefined ? null : JsonPrinter.of(read.totalsIn.value)
  const named = (member = "") => PlainJson.stringify(member)
  const { csv, recordIn, rowsIn, textIn, totalsIn } = read
  // Without its brackets, a record's members are members of the answer.
  const membersOf = (record: unknown): string =>
    recordIn === undefined
      ? printRecord(record).slice(1, -1)
      : `${named(recordIn)}:${printRecord(record)}`
  const printRows = inSlices((row) => Buffer.from(printRow(row)))
  const print = ({ record, rows }: Whole<unknown, unknown>) =>
    Effect.map(printRows(rows), ({ bytes, records }) =>
      printed(
        [Buffer.from(`{${membersOf(record)},${named(rowsIn)}:`), bytes, Buffer.from("}")],
        records
      )
    )
  return Effect.fnUntraced(function* (
    arrival: Arrival["Service"],
    caller: Caller.Caller,
    charge: PassedRequest["charge"]
  ) {
    const { standard, params } = yield* Effect.fromResult(ask(arrival))
    const { requestId } = arrival.identity
    const table = csv?.format(params) === "csv" ? csv : undefined
    yield* acceptable(arrival, table)
    const request = { caller, params, point: standard }
    if (table !== undefined) {
      const { rows } = yield* inTime(queries.streamed(read, request))
      yield* dropWhenNotTaken(arrival)
      return tableOf(arrival, table, charged(rows ?? Stream.empty, charge))
    }
    const answer = yield* inTime(queries.streamedPrinted(read, { ...request, print }))
    if ("printed" in answer) {
      yield* charge(callsOf(answer.printed.records))
      return answered(arrival, answer, "}")
    }
    yield* dropWhenNotTaken(arrival)
    const [first, last] = answer.rows === null ? ["null", ""] : ["[", "]"]
    const rows = inChunks(charged(answer.rows ?? Stream.empty, charge), {
      before: `${opening(answer)}{${membersOf(answer.record)},${named(rowsIn)}:${first}`,
      print: (chunk) => chunk.map(printRow).join(","),
      between: ",",
      after: last
    })
    const quote = answer.text === null ? "" : '"'
    const text =
      answer.text === undefined
        ? Stream.empty
        : inChunks(chargedByLength(answer.text ?? Stream.empty, charge), {
            before: `,${named(textIn)}:${answer.text === null ? "null" : quote}`,
            // Without its quotes: the pieces are the contents of one string. PlainJson would refuse
            // NUL, which a file may hold.
            print: (pieces) => JSON.stringify(pieces.join("")).slice(1, -1),
            between: "",
            after: quote
          })
    const totals =
      answer.totals === undefined || printTotals === null
        ? Stream.empty
        : Stream.fromEffect(answer.totals).pipe(
            Stream.map((value) => Buffer.from(`,${named(totalsIn?.member)}:${printTotals(value)}`))
          )
    const end = Stream.succeed(Buffer.from("}}"))
    const bytes: Stream.Stream<Uint8Array, Refusal.Unavailable> = rows.pipe(
      Stream.concat(text),
      Stream.concat(totals),
      Stream.concat(end)
    )
    return Answer.stream({ requestId, bytes })
  })
}

/** Refuses a call whose Accept excludes the format of its answer. */
const acceptable = ({ request }: Arrival["Service"], table: object | undefined) => {
  const form = table === undefined ? Body.mediaType : Csv.mediaType
  const unacceptable = Limits.acceptable(request.headers.accept, [form])
  return unacceptable === undefined ? Effect.void : Effect.fail(unacceptable)
}

/** Refuses the parameters of a page: a table holds all records, and has no place for `next`. */
const unpaged = (standard: { readonly limit?: number; readonly after?: string }) => {
  const errors = (["limit", "after"] as const).flatMap((name) =>
    standard[name] === undefined
      ? []
      : [{ pointer: Query.pointer(name), detail: "a table has no pages: format csv takes all" }]
  )
  return errors.length === 0 ? Result.void : Refusal.refuse("invalid-request", { errors })
}

/** Streams rows as a table, chunk by chunk. */
const tableOf = <V, E>(
  { identity }: Arrival["Service"],
  csv: Export.Export<never, ReadonlyArray<V>>,
  rows: Stream.Stream<V, E>
) =>
  Answer.stream({
    requestId: identity.requestId,
    bytes: inChunks(rows, {
      before: Csv.head(csv),
      print: (chunk) => Csv.body(csv, chunk),
      between: "",
      after: ""
    }),
    mediaType: `${Csv.mediaType}; charset=utf-8`
  })

/** Answers with a printed value in its envelope, whose members are those of this request. */
const answered = (
  { identity, request }: Arrival["Service"],
  answer: Around & PrintedAnswer & { readonly zone?: string | undefined },
  end: string
) =>
  Answer.read({
    requestId: identity.requestId,
    ifNoneMatch: request.headers["if-none-match"],
    validator: answer.validator,
    bytes: () =>
      Buffer.concat([Buffer.from(opening(answer)), answer.printed.bytes, Buffer.from(end)])
  })

const printed = (parts: ReadonlyArray<Uint8Array>, records: number): KeptAnswers.PrintedValue => ({
  bytes: Buffer.concat(parts),
  records
})

/** Number of items of a page that are printed between two turns of the event loop. */
const sliceItems = 50

/**
 * Prints a page as a JSON array in slices, and gives the event loop back after each: a page of the
 * largest size would keep every other request of the host waiting.
 */
export const inSlices =
  <V>(print: (value: V) => Uint8Array) =>
  (values: ReadonlyArray<V>): Effect.Effect<KeptAnswers.PrintedValue> =>
    Effect.gen(function* () {
      const parts: Array<Uint8Array> = [Buffer.from("[")]
      for (const [index, value] of values.entries()) {
        if (index > 0) {
          if (index % sliceItems === 0) yield* Effect.yieldNow
          parts.push(comma)
        }
        parts.push(print(value))
      }
      return printed([...parts, Buffer.from("]")], values.length)
    })

const comma = Buffer.from(",")

/** Memoised printer, of bytes: a cached view is printed once, since views never change. */
const printer = (schema: Schema.Codec<unknown, unknown>): ((value: unknown) => Uint8Array) => {
  const print = JsonPrinter.of(schema)
  const memo = new WeakMap<object, Uint8Array>()
  return (value) => {
    if (typeof value !== "object" || value === null) return Buffer.from(print(value))
    const cached = memo.get(value)
    if (cached !== undefined) return cached
    const bytes = Buffer.from(print(value))
    memo.set(value, bytes)
    return bytes
  }
}

/** Streams items in chunks, so that only one chunk is in memory. */
export const inChunks = <A, E>(
  items: Stream.Stream<A, E>,
  {
    before,
    print,
    between,
    after
  }: {
    readonly before: string
    readonly print: (chunk: ReadonlyArray<A>) => string
    readonly between: string
    readonly after: string
  }
): Stream.Stream<Uint8Array, E> => {
  let first = true
  return Stream.make(Buffer.from(before)).pipe(
    Stream.concat(
      Stream.mapArray(items, (chunk) => {
        const text = print(chunk)
        const separated = first ? text : `${between}${text}`
        first = false
        return [Buffer.from(separated)] as const
      })
    ),
    Stream.concat(Stream.sync(() => Buffer.from(after)))
  )
}

/** Number of records that cost one call (docs/contract/rate-limits.md#cost-of-a-read). */
const recordsACall = 1_000

/** Calls that an answer costs beyond its own, by its records. */
export const callsOf = (records: number): number => Math.floor(records / recordsACall)

/** Size of a text that costs one call, as so many records do. */
const charactersACall = 1024 * 1024

/** Charges a text when its stream ends, however it ends, by the characters that were read for it. */
const chargedByLength = <E>(
  text: Stream.Stream<string, E>,
  charge: PassedRequest["charge"]
): Stream.Stream<string, E> =>
  Stream.suspend(() => {
    let characters = 0
    return text.pipe(
      Stream.tap((piece) =>
        Effect.sync(() => {
          characters += piece.length
        })
      ),
      Stream.ensuring(Effect.suspend(() => charge(Math.floor(characters / charactersACall))))
    )
  })

/** Charges a list when its stream ends, however it ends, by the records that were read for it. */
export const charged = <A, E>(
  items: Stream.Stream<A, E>,
  charge: PassedRequest["charge"]
): Stream.Stream<A, E> =>
  Stream.suspend(() => {
    let records = 0
    return items.pipe(
      // In arrays as they arrive: single items would each be written to the socket alone.
      Stream.mapArray((some) => {
        records += some.length
        return some
      }),
      Stream.ensuring(Effect.suspend(() => charge(callsOf(records))))
    )
  })

/** Logs how many items were sent: at their end, before it is told, and where they end before it. */
const logged = <A>(
  items: Stream.Stream<A, Refusal.Unavailable>,
  log: (records: number) => Effect.Effect<void, Refusal.Unavailable>
): Stream.Stream<A, Refusal.Unavailable> =>
  Stream.suspend(() => {
    let records = 0
    let isLogged = false
    const once = Effect.suspend(() => {
      if (isLogged) return Effect.void
      isLogged = true
      return log(records)
    })
    return items.pipe(
      Stream.mapArray((some) => {
        records += some.length
        return some
      }),
      Stream.concat(Stream.fromEffectDrain(once)),
      Stream.ensuring(
        Effect.catch(once, ({ detail }) =>
          Effect.logWarning("an answer that was broken off could not be logged", { detail })
        )
      )
    )
  })

/** Drops a caller that does not read its answer in time; the timer ends with the request. */
export const dropWhenNotTaken = ({
  request
}: Arrival["Service"]): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Times, ({ takenWithin }) => Effect.sleep(takenWithin)).pipe(
    Effect.andThen(
      Effect.sync(() => void NodeHttpServerRequest.toIncomingMessage(request).socket.destroy())
    ),
    Effect.forkScoped,
    Effect.asVoid
  )
