/** Layer of `Queries`: answers declared reads from `Records`, as one value, a page, a stream, or an export. */
import { Context, Effect, Layer, Stream } from "effect"
import * as OwnWords from "../engine/OwnWords.ts"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import { pointer } from "../kernel/Shape.ts"
import type * as Pin from "../kernel/Pin.ts"
import type { Refused, Unavailable } from "../kernel/Refusal.ts"
import { Crypto } from "../ports/Crypto.ts"
import { LedgerReach } from "../records/LedgerReach.ts"
import { Ids } from "../ports/Ids.ts"
import { Ledger } from "../ports/Ledger.ts"
import { Atomically } from "../ports/storage/Atomically.ts"
import { Blobs } from "../ports/storage/Blobs.ts"
import { Bulk } from "../ports/storage/Bulk.ts"
import { Feed } from "../ports/storage/Feed.ts"
import { ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import { Records, type Stored } from "../records/Records.ts"
import { isVenueStaff } from "../vocabulary/Role.ts"
import type { Caller } from "../writes/Caller.ts"
import { pathNames } from "../writes/Operation.ts"
import { Operations } from "../writes/Operations.ts"
import * as Access from "./Access.ts"
import * as AwaitingActionLookups from "./AwaitingActionLookups.ts"
import * as Cursor from "./Cursor.ts"
import * as EmptyCollections from "./EmptyCollections.ts"
import * as KeptAnswers from "./KeptAnswers.ts"
import type { PrintedValue } from "./KeptAnswers.ts"
import * as ListCursor from "./ListCursor.ts"
import * as Point from "./Point.ts"
import type { PointParams } from "./Point.ts"
import * as Prepared from "./Prepared.ts"
import * as RowPages from "./RowPages.ts"
import {
  type Export,
  type List,
  type One,
  publishedName,
  type ReadContext,
  type StreamedRead
} from "./Read.ts"
import { type Around, Queries, type PrintedAnswer } from "./Queries.ts"
import * as Validator from "./Validator.ts"
import * as Watch from "./Watch.ts"

/** Number of records whose views are made together while a whole list is streamed. */
const viewBatch = 200

/**
 * The deployment's cursors. Without configured keys an instance makes its own: then a cursor holds
 * only at the instance that issued it, until it stops.
 */
export const cursorsOf = Effect.gen(function* () {
  const crypto = yield* Crypto
  const ids = yield* Ids
  const settings = yield* Settings
  const own = { id: 0, secret: yield* ids.bytes(32) }
  const [first = own, ...older] = settings.cursorKeys
  return Cursor.make(crypto, [first, ...older])
})

const around = (
  { dated, pinned }: { readonly pinned: boolean; readonly dated?: "never" },
  { offset, ledgerTime }: Pin.ResolvedPin,
  now: Instant.Instant
): Around =>
  pinned
    ? { offset: dated === "never" ? Offset.zero : offset, ledgerTime, now }
    : { offset: Offset.zero, now }

/** Checks whether waiting actions are looked up: at an instant, where a write acts on the records. */
const mayAwait = (read: Pick<List, "pinned" | "acted">, { select }: Pin.ResolvedPin): boolean =>
  read.pinned && read.acted !== "never" && select.by !== "offset"

/** A read of one value that has its caller: resolves its point, and asks at it. */
const located = (services: Prepared.ReadServices) =>
  Effect.fnUntraced(function* <P>(
    read: One<P> | StreamedRead<P>,
    {
      params,
      point,
      caller
    }: { readonly caller: Caller; readonly params: P; readonly point: PointParams }
  ) {
    const clock = yield* Instant.now
    const { venue, points } = services
    const reader = yield* Effect.fromResult(
      Access.askerOf(read.audience, { caller, venue, now: clock })
    )
    // One answer is of one moment, however many records it is made of.
    const contextAt = (pin: Pin.ResolvedPin): ReadContext => ({
      ...reader,
      pin,
      now: Prepared.nowOf(read, { point, pin, clock })
    })
    const look = (pin: Pin.ResolvedPin) =>
      Prepared.provided(services, read.run(params, contextAt(pin)))
    const locate = (latest: "answered" | "kept") =>
      Prepared.resolveInSight(points, point, {
        now: clock,
        latest: read.pinned ? latest : "as-it-is",
        look
      })
    return { reader, clock, contextAt, locate }
  })

/** Makes views, and adds the four-eyes actions that await their records, which are looked up meanwhile. */
const withAwaiting = Effect.fnUntraced(function* <
  V,
  M extends AwaitingActionLookups.MadeViews<V>,
  E,
  R
>(
  making: Effect.Effect<M & AwaitingActionLookups.MadeViews<V>, E, R>,
  answer: AwaitingActionLookups.Answer<V>
) {
  const [made, actions] = yield* Effect.all([making, AwaitingActionLookups.ahead(answer)], {
    concurrency: 2
  })
  return yield* AwaitingActionLookups.added(made, { ...answer, actions })
})

/** The value of a read, with the four-eyes actions that await its record. */
const valued = <P, V>(
  read: One<P, V>,
  {
    asking,
    params,
    services
  }: { readonly asking: ReadContext; readonly params: P; readonly services: Prepared.ReadServices }
): Effect.Effect<V, Refused | Unavailable> => {
  const run = Effect.map(read.run(params, asking), (value) => ({ views: [value], ids: [null] }))
  const awaited = withAwaiting(run, {
    role: asking.role,
    pin: read.pinned ? asking.pin : undefined,
    read: { route: read.route, params },
    view: read.value
  })
  return Prepared.provided(
    services,
    Effect.map(awaited, ({ views }) => views[0] as V)
  )
}

const answering = (services: Prepared.ReadServices): Queries["Service"]["one"] =>
  Effect.fnUntraced(function* (read, question) {
    const { contextAt, locate } = yield* located(services)(read, question)
    const pin = yield* locate("answered")
    const asking = contextAt(pin)
    const value = yield* valued(read, { asking, params: question.params, services })
    return { ...around(read, pin, asking.now), value }
  })

/** Views of records for the caller, and the ids of the records. */
const viewed = <R, F, P, V>(
  { collection, view }: List<R, F, P, V>,
  rows: ReadonlyArray<{ readonly record: Stored<R> }>,
  { asking, params }: { readonly asking: ReadContext; readonly params: P }
) => {
  const records = rows.map(({ record }) => record)
  return Effect.map(view(records, asking, params), (views) => ({
    views,
    ids: records.map(collection.id)
  }))
}

/** The views of a page, and the sort key after which the next page begins; null: there is none. */
const paged = Effect.fnUntraced(function* <R, F, P, V>(
  read: List<R, F, P, V>,
  {
    records,
    params,
    limit,
    prepared
  }: {
    readonly prepared: Pick<Prepared.PreparedList, "asking" | "query" | "withMemo">
    readonly records: Records["Service"]
    readonly params: P
    readonly limit: number
  }
) {
  const { asking, withMemo } = prepared
  const query = { ...prepared.query, limit: limit + 1 }
  const page = Effect.gen(function* () {
    const rows = yield* RowPages.page({ read, records, asking, params, withMemo }, query)
    const shown = rows.slice(0, limit)
    const after = rows.length > limit ? (shown.at(-1)?.sortKey ?? null) : null
    return { ...(yield* viewed(read, shown, { asking, params })), after }
  })
  const { after, views } = yield* withMemo(
    withAwaiting(page, {
      role: asking.role,
      pin: mayAwait(read, asking.pin) ? asking.pin : undefined,
      read: { route: read.route, params },
      view: read.item
    })
  )
  return { value: views, after }
})

/** The cursor of the page after a sort key. */
const cursorAfter = (
  { cursors }: Prepared.ReadServices,
  read: Pick<List, "name" | "pinned">,
  {
    after,
    binding,
    pin
  }: Pick<Prepared.PreparedList, "binding" | "pin"> & { readonly after: string | null }
): string | null =>
  after === null
    ? null
    : cursors.write({
        list: publishedName(read.name),
        binding,
        ...Cursor.goingOn(ListCursor.placeAfter(read, pin, after))
      })

const paging = (services: Prepared.ReadServices): Queries["Service"]["page"] =>
  Effect.fnUntraced(function* (read, question) {
    const { records } = services
    const prepared = yield* Prepared.prepare(services, read, question)
    const { params, page } = question
    const { value, after } = yield* paged(read, { prepared, records, params, limit: page.limit })
    const next = cursorAfter(services, read, { ...prepared, after })
    return { ...around(read, prepared.pin, prepared.now), value, next }
  })

/**
 * A printed answer, and the effect that caches it once the commits that it was read from are
 * durable.
 */
interface MadeAnswer extends PrintedAnswer {
  readonly after: string | null
  readonly keep: () => void
}

const nothing = () => {}

/** Answers from the cache, or makes the answer under watch and prints it. */
const keptOr = Effect.fnUntraced(function* <E, F>(
  cache: KeptAnswers.KeptAnswers,
  plan: {
    /** Undefined: the answer is not kept. */
    readonly key: string | undefined
    readonly isLatest: boolean
    readonly reader: Pick<ReadContext, "role">
    readonly clock: Instant.Instant
    readonly services: Prepared.ReadServices
    readonly read: Pick<List, "pinned">
    /** Text that the cursor of a page is bound to. */
    readonly binding?: string
    readonly locate: (latest: "answered" | "kept") => Effect.Effect<Point.ResolvedPoint, F>
    readonly contextAt: (pin: Point.ResolvedPoint) => ReadContext
    readonly make: (
      watch: Watch.Watch
    ) => Effect.Effect<{ readonly printed: PrintedValue; readonly after: string | null }, E>
  }
): Effect.fn.Return<
  MadeAnswer & { readonly asking: ReadContext; readonly pin: Point.ResolvedPoint },
  E | F
> {
  const { key, clock, locate, contextAt } = plan
  const mayBeKept = key !== undefined && cache.has(key)
  // An unchanged instant discloses that nothing was written meanwhile, and is shown to staff alone.
  const found = yield* locate(mayBeKept && isVenueStaff(plan.reader.role) ? "kept" : "answered")
  const cachedAnswer = mayBeKept ? cache.find(key, { pin: found, clock }) : undefined
  if (cachedAnswer !== undefined)
    return { ...cachedAnswer, asking: contextAt(found), pin: found, keep: nothing }
  const isAnswered = !mayBeKept || !plan.isLatest || Point.isRecent(found, clock)
  const pin = isAnswered ? found : yield* locate("answered")
  const asking = contextAt(pin)
  const watch = Watch.make(plan.services.records, { ...asking, pin })
  const made = yield* plan.make(watch)
  const answer = { ...made, asking, pin }
  if (!watch.isTimeless()) return { ...answer, validator: undefined, keep: nothing }
  const { role } = asking
  const validator = Validator.of(plan.services, { ...plan, ...made, role, pin })
  const head = KeptAnswers.headOf(pin)
  const [from, until] = [pin.judgedAt, watch.until()]
  const keep =
    key === undefined || head === undefined
      ? nothing
      : () => cache.keep(key, { ...made, validator, head, from, until })
  return { ...answer, validator, keep }
})

const printing = (services: Prepared.ReadServices, cache: KeptAnswers.KeptAnswers) => ({
  one: Effect.fnUntraced(function* <P, V>(
    read: One<P, V>,
    question: Parameters<typeof Queries.Service.onePrinted<P, V>>[1]
  ) {
    const { params, print, target, point } = question
    const { reader, clock, contextAt, locate } = yield* located(services)(read, question)
    const made = yield* keptOr(cache, {
      services,
      read,
      reader,
      clock,
      locate,
      contextAt,
      isLatest: Prepared.isLatest(read, point),
      key: KeptAnswers.keyOf({ ...reader, read, target, where: {} }),
      make: (watch) =>
        valued(read, {
          asking: watch.asking,
          params,
          services: { ...services, records: watch.records }
        }).pipe(
          Effect.flatMap(print),
          Effect.map((printed) => ({ printed, after: null }))
        )
    })
    return { ...around(read, made.pin, made.asking.now), ...made }
  }),
  page: Effect.fnUntraced(function* <R, F, P, V>(
    read: List<R, F, P, V>,
    question: Parameters<typeof Queries.Service.pagePrinted<R, F, P, V>>[1]
  ) {
    const { params, print, target, page, point } = question
    const requested = yield* Prepared.request(services, read, question)
    const { reader, clock, binding, where } = requested
    const made = yield* keptOr(cache, {
      services,
      read,
      reader,
      binding,
      clock,
      locate: (latest) => Prepared.locate(services, read, { ...question, requested, latest }),
      contextAt: (pin) => Prepared.contextAt(read, { point, requested, pin }),
      isLatest: Prepared.isLatest(read, point),
      // Ranges that follow from the instant are those of no other instant.
      key:
        read.judged === undefined
          ? KeptAnswers.keyOf({ ...reader, read, target, where })
          : undefined,
      make: Effect.fnUntraced(function* ({ asking, records }) {
        const withMemo = Prepared.memoised({ ...services, records })
        const queryInput = { ...question, requested, asking, withMemo }
        const query = yield* Prepared.queried(services, read, queryInput)
        const prepared = { asking, withMemo, query }
        const { limit } = page
        const { value, after } = yield* paged(read, { prepared, records, params, limit })
        return { printed: yield* print(value), after }
      })
    })
    const { pin, asking, after } = made
    const next = cursorAfter(services, read, { binding, pin, after })
    return { ...around(read, pin, asking.now), ...made, next }
  })
})

/** Views of all rows of a list that is prepared, in constant memory. */
const streamed = Effect.fnUntraced(function* <R, F, P, V>(
  services: Prepared.ReadServices,
  read: List<R, F, P, V>,
  {
    asking,
    params,
    pin,
    query
  }: Pick<Prepared.PreparedList, "asking" | "pin" | "query"> & { readonly params: P }
) {
  const { records } = services
  const memo = EmptyCollections.memoised(records, pin)
  const withMemo = Prepared.memoised({ ...services, records: memo })
  const rows = RowPages.stream({ read, records, asking, params, withMemo }, query)
  const question = { route: read.route, params }
  const awaits =
    mayAwait(read, pin) &&
    (yield* Prepared.provided(services, AwaitingActionLookups.any(question, pin)))
  const at = { role: asking.role, pin: awaits ? asking.pin : undefined }
  const views: Stream.Stream<V, Unavailable> = rows.pipe(
    Stream.grouped(viewBatch),
    // The next batch is looked up while this one is printed and sent.
    Stream.mapEffect(
      (batch) =>
        withMemo(
          withAwaiting(viewed(read, batch, { asking, params }), {
            ...at,
            read: question,
            view: read.item
          })
        ),
      { concurrency: 2 }
    ),
    Stream.flatMap(({ views }) => Stream.fromIterable(views))
  )
  return views
})

const streaming = (services: Prepared.ReadServices): Queries["Service"]["all"] =>
  Effect.fnUntraced(function* <R, F, P, V>(
    read: List<R, F, P, V>,
    question: Prepared.ListQuestion<P>
  ) {
    const prepared = yield* Prepared.prepare(services, read, question)
    const value = yield* streamed(services, read, { ...prepared, params: question.params })
    return { ...around(read, prepared.pin, prepared.now), value }
  })

const exporting = (services: Prepared.ReadServices): Queries["Service"]["exported"] =>
  Effect.fnUntraced(function* <P, H, R, F, V>(
    read: Export<P, H, R, F, V>,
    question: Omit<Prepared.ListQuestion<P>, "page">
  ) {
    const { params } = question
    const prepared = yield* Prepared.prepare(services, read.rows, { ...question, page: {} })
    const record = yield* valued(read.record, { asking: prepared.asking, params, services })
    const rows = yield* streamed(services, read.rows, { ...prepared, params })
    return { ...around(read, prepared.pin, prepared.now), record, rows }
  })

const inParts = (services: Prepared.ReadServices): Queries["Service"]["streamed"] =>
  Effect.fnUntraced(function* (read, question) {
    const { contextAt, locate } = yield* located(services)(read, question)
    const asking = contextAt(yield* locate("answered"))
    const parts = yield* Prepared.provided(services, read.run(question.params, asking))
    return { ...around(read, asking.pin, asking.now), ...parts }
  })

/** As `inParts`; a small answer is collected under watch and printed. */
const inPartsOrPrinted = (services: Prepared.ReadServices): Queries["Service"]["streamedPrinted"] =>
  Effect.fnUntraced(function* (read, question) {
    const { contextAt, locate } = yield* located(services)(read, question)
    const pin = yield* locate("answered")
    const asking = contextAt(pin)
    const watch = Watch.make(services.records, { ...asking, pin })
    const watched = { ...services, records: watch.records }
    const parts = yield* Prepared.provided(watched, read.run(question.params, watch.asking))
    const answer = around(read, pin, asking.now)
    const { record, rows, text, totals } = parts
    const isRecordWithRows = rows !== null && text === undefined && totals === undefined
    if (!isRecordWithRows || read.isSmall?.(record) !== true) return { ...answer, ...parts }
    const printed = yield* question.print({ record, rows: yield* Stream.runCollect(rows) })
    const { role } = asking
    const validator = watch.isTimeless()
      ? Validator.of(services, { read, role, pin, printed, after: null })
      : undefined
    return { ...answer, printed, validator }
  })

/** Pointer to the parameter that a place is in: the path has its ids, the query the others. */
const parameterOf =
  ({ route }: Pick<One, "route">) =>
  ([name = ""]: ReadonlyArray<string>): string =>
    `${pathNames(route).includes(name) ? "/path" : "/query"}${pointer([name])}`

const make = Effect.gen(function* () {
  const records = yield* Records
  const bulk = yield* Bulk
  const blobs = yield* Blobs
  const crypto = yield* Crypto
  const { tenantId, answersKept } = yield* Settings
  const ledger = yield* Ledger
  const points = yield* Point.make({ log: yield* ProjectionLog, feed: yield* Feed, ledger })
  const cursors = yield* cursorsOf
  const judge = yield* OwnWords.judging
  const reach = yield* LedgerReach
  // Picked: the other services of the context are those that reads are answered from.
  const compared = Context.pick(
    Ledger,
    Feed,
    ProjectionLog
  )(yield* Effect.context<Ledger | Feed | ProjectionLog>())
  const services = {
    records,
    bulk,
    blobs,
    crypto,
    reach,
    operations: yield* Operations,
    compared,
    points,
    cursors,
    venue: ledger.venue,
    tenantId
  }
  const { reading } = yield* Atomically
  const [one, page] = [answering(services), paging(services)]
  const [all, exported] = [streaming(services), exporting(services)]
  const printed = printing(services, KeptAnswers.make(answersKept))
  /** Puts an answer into the cache once it is settled: a crash may take back an unsettled head. */
  const keeping = <A extends MadeAnswer, E>(answer: Effect.Effect<A, E>) =>
    Effect.tap(orUnavailable(reading(answer)), ({ keep }) => Effect.sync(keep))
  /** Answers a question whose words of rooms are those of this venue. */
  const judged = <P, A, E>(
    read: Pick<One<P>, "params" | "route">,
    { params }: { readonly params: P },
    answer: Effect.Effect<A, E>
  ) => Effect.andThen(Effect.fromResult(judge(read.params, params, parameterOf(read))), answer)
  return Queries.of({
    onePrinted: (read, question) => judged(read, question, keeping(printed.one(read, question))),
    pagePrinted: (read, question) => judged(read, question, keeping(printed.page(read, question))),
    one: (read, question) => judged(read, question, orUnavailable(reading(one(read, question)))),
    page: (read, question) => judged(read, question, orUnavailable(reading(page(read, question)))),
    // A stream settles what it reads; the reading scope is that of its preparation.
    all: (read, question) => judged(read, question, orUnavailable(reading(all(read, question)))),
    exported: (read, question) =>
      judged(read, question, orUnavailable(reading(exported(read, question)))),
    streamed: (read, question) =>
      judged(read, question, orUnavailable(reading(inParts(services)(read, question)))),
    streamedPrinted: (read, question) =>
      judged(read, question, orUnavailable(reading(inPartsOrPrinted(services)(read, question))))
  })
})

export const layer = Layer.effect(Queries, make)
