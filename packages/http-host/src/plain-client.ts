/**
 * The plain client: every write and read of the catalogue by its name, over fetch, typed by the
 * declarations and without a schema at run time. It runs in browsers and wherever the web platform is.
 */
import type { Venue } from "@bursar/engine-core"
import type { CallTable, OwnTable } from "./plain-client/CallTable.ts"
import {
  ActionNotRun,
  AnswerNotJson,
  CallRefusal,
  InputFault,
  NoAnswer
} from "./plain-client/Errors.ts"
import * as JsonNumbers from "./plain-client/JsonNumbers.ts"
import type {
  ActionJson,
  AnswerJson,
  ApprovalJson,
  BodyJson,
  FeedEventJson,
  FeedFilters,
  ListName,
  OwnActionJson,
  OwnAnswerJson,
  OwnBodyJson,
  OwnListName,
  OwnPageJson,
  OwnParamsJson,
  OwnRead,
  OwnReadingJson,
  OwnValueName,
  OwnWrite,
  PageJson,
  ParamsJson,
  ReadingJson,
  ReadName,
  ReceivedFileJson,
  RowJson,
  RunJson,
  RunRequestJson,
  SucceededActionJson,
  ValueName,
  WriteKind
} from "./plain-client/JsonTypes.ts"
import { askAgain, heldFor, lookAgain, withinDefault } from "./plain-client/Patience.ts"
import * as Requests from "./plain-client/Requests.ts"
import { callTable } from "./plain-client/table.ts"

export type { CallTable, OwnTable } from "./plain-client/CallTable.ts"
export {
  ActionNotRun,
  AnswerNotJson,
  CallRefusal,
  InputFault,
  NoAnswer,
  type ProblemJson
} from "./plain-client/Errors.ts"
export type * from "./plain-client/JsonTypes.ts"
export type {
  CallOptions,
  FileBody,
  ParsedAnswer,
  Request,
  RequestOptions
} from "./plain-client/Requests.ts"
export { callTable } from "./plain-client/table.ts"

/** Options of a client; its table has the types of the writes and reads that a venue declares itself. */
export interface ClientOptions<W extends OwnWrite = never, R extends OwnRead = never>
  extends Requests.RequestOptions {
  /** Makes an Idempotency-Key for a call without one; random UUIDs by default. */
  readonly makeKey?: () => string
  /** Call table of a venue with declarations of its own; that of this release by default. */
  readonly table?: OwnTable<W, R>
}

/**
 * Idempotency key of a call: repeated under its key, it answers what the first call made. Absent: a new
 * key; null: no key is sent, and the write is identified by its body.
 */
export interface KeyedOptions extends Requests.CallOptions {
  readonly key?: string | null
}

/** Options of a write. */
export interface WriteOptions extends KeyedOptions {
  /** Whole seconds, at most 60, for which the service holds its answer back until the write has ended. */
  readonly wait?: number
}

/** Options of a wait for the end of a write. */
export interface DoneOptions extends Requests.CallOptions {
  /**
   * Seconds after which the wait fails with a `TimeoutError`, one day by default; the write itself goes
   * on. A refusal with a longer Retry-After ends the wait at once.
   */
  readonly within?: number
  /** Called after each look at the operation, also where nothing has changed. */
  readonly progress?: (action: ActionJson) => void
}

/** Point of the past that a read answers at; both at once are refused. */
export interface PointOptions extends Requests.CallOptions {
  /** An offset of the ledger, such as an earlier answer has. */
  readonly at?: number
  /** An instant, such as the `now` of an earlier answer. */
  readonly asOf?: string
}

/** Filter, page and point of a list. */
export interface ListOptions<R extends ListName> extends PointOptions {
  readonly where?: ParamsJson<R>
  /** Records of a page, 1 to 1000; absent: the whole list in one answer. */
  readonly limit?: number
  /** Cursor of an earlier page. */
  readonly after?: string
  /** Window of changes: records that changed from this instant on, and before that one. */
  readonly updatedFrom?: string
  readonly updatedTo?: string
}

/** Options of a list; those that name its path's ids or a filter it requires cannot be left out. */
type ListCall<R extends ListName> =
  Record<never, never> extends ParamsJson<R>
    ? readonly [options?: ListOptions<R>]
    : readonly [options: ListOptions<R> & { readonly where: ParamsJson<R> }]

/** Filter and start of a walk through the feed. */
export interface FeedOptions extends FeedFilters, Requests.CallOptions {
  /** Cursor of the last event that was handled; absent: the feed begins with its oldest event. */
  readonly after?: string
  /** Events that are read together, 500 by default. */
  readonly limit?: number
  /** Seconds between two looks at the feed's end where the service does not wait; one by default. */
  readonly every?: number
  /** `now`: the feed ends with the last event that is there. Absent: it waits for the next. */
  readonly until?: "now"
}

/** Name of a file of statements, and the statement that it replaces. */
export interface FileOptions extends KeyedOptions {
  /** Instrument of the file, where its source is of several. */
  readonly instrumentId?: string
  /** Business date, for a form that has none of its own. */
  readonly businessDate?: string
  /** Id of the statement that this one replaces. */
  readonly corrects?: string
}

/** The calls of one caller. Each throws `CallRefusal` where it is refused, and `NoAnswer` where there is none. */
export interface Client {
  /**
   * Makes a write; the answer is an operation, or an action that awaits its approvers: `done` waits for
   * either. An approver signs another person's action by the same write under its maker's key, or under
   * no key.
   */
  readonly write: <K extends WriteKind>(
    kind: K,
    body: BodyJson<K>,
    options?: WriteOptions
  ) => Promise<ActionJson<K>>
  /**
   * Signs an action with the figures that it was read with and no others. Once they have moved, it is
   * refused (`rule-refused`, check `figures-moved`), and the action has to be read again.
   */
  readonly approve: <K extends WriteKind>(
    action: ActionJson<K>,
    options?: WriteOptions
  ) => Promise<ActionJson<K>>
  /** Rejects an action, or takes it back where its maker calls. */
  readonly reject: (
    action: Pick<ActionJson, "actionKey">,
    options?: KeyedOptions & { readonly reason?: string }
  ) => Promise<ApprovalJson>
  /**
   * Waits until a write has ended, its approvers included, and answers its result. Throws the refusal of
   * a write that failed, and `ActionNotRun` where its action was rejected or has lapsed. Calls that end
   * with 429, 503 or no answer are made again, never sooner than their Retry-After says.
   */
  readonly done: <K extends WriteKind>(
    action: ActionJson<K>,
    options?: DoneOptions
  ) => Promise<SucceededActionJson<K>>
  /** Answers a value. */
  readonly read: <R extends ValueName>(
    name: R,
    params: ParamsJson<R>,
    point?: PointOptions
  ) => Promise<AnswerJson<R>>
  /** Answers a value with the point that it was read at, by which it can be read again. */
  readonly reading: <R extends ValueName>(
    name: R,
    params: ParamsJson<R>,
    point?: PointOptions
  ) => Promise<ReadingJson<R>>
  /** Answers a page of a list. */
  readonly list: <R extends ListName>(name: R, ...options: ListCall<R>) => Promise<PageJson<R>>
  /** All pages of a list at one point; the next one is asked for once the last was taken. */
  readonly pages: <R extends ListName>(
    name: R,
    ...options: ListCall<R>
  ) => AsyncIterable<PageJson<R>>
  /** All records of a list at one point. */
  readonly records: <R extends ListName>(
    name: R,
    ...options: ListCall<R>
  ) => AsyncIterable<RowJson<R>>
  /** Text of a table, piece by piece; a read without one refuses it. */
  readonly csv: <R extends ReadName>(
    name: R,
    params: ParamsJson<R>,
    point?: PointOptions
  ) => AsyncIterable<string>
  /** Judges an act by every condition of every gate, and writes nothing. */
  readonly precheck: (
    act: ParamsJson<"instruments.precheck">["act"],
    params: Omit<ParamsJson<"instruments.precheck">, "act">,
    point?: PointOptions
  ) => Promise<AnswerJson<"instruments.precheck">>
  /** Events in their one order, at least once each; ended by its reader, or with `until: "now"` by itself. */
  readonly feed: (options?: FeedOptions) => AsyncIterable<FeedEventJson>
  /** Hands in a file of a configured source; the same bytes again answer the same statement. */
  readonly receive: (
    externalSourceId: string,
    file: Requests.FileBody,
    options?: FileOptions
  ) => Promise<ReceivedFileJson>
  /** Runs a reconciliation in the call; refused with `overloaded` while another one runs. */
  readonly reconcile: (request: RunRequestJson, options?: KeyedOptions) => Promise<RunJson>
  /** Any call of the interface by its method and path; its answer is not typed. */
  readonly call: (request: Requests.Request) => Promise<Requests.ParsedAnswer>
}

/**
 * Checks whether an error is the refusal of a call; with the kind of the write that was called, its slug
 * is one of that kind's.
 */
export const isRefusal = <K extends WriteKind = WriteKind>(
  error: unknown,
  _kind?: K
): error is CallRefusal<Venue.RefusalOf<K>> => error instanceof CallRefusal

/** Records of a page of `pages` and `records` where the caller names no number. */
const pageLimit = 500

/** Longest delay of the platform's timers in seconds. */
const timerMax = 2_000_000

/** Calls of the writes and reads that a venue declares itself, beside those of this release. */
interface OwnCalls<W extends OwnWrite, R extends OwnRead> {
  readonly write: <K extends W["kind"]>(
    kind: K,
    body: OwnBodyJson<Extract<W, { readonly kind: K }>>,
    options?: WriteOptions
  ) => Promise<OwnActionJson<Extract<W, { readonly kind: K }>>>
  readonly approve: <A extends OwnActionJson<W>>(action: A, options?: WriteOptions) => Promise<A>
  readonly done: <A extends OwnActionJson<W>>(
    action: A,
    options?: DoneOptions
  ) => Promise<A & { readonly state: "succeeded"; readonly result: NonNullable<A["result"]> }>
  readonly read: <N extends OwnValueName<R>>(
    name: N,
    params: OwnParamsJson<Extract<R, { readonly name: N }>>,
    point?: PointOptions
  ) => Promise<OwnAnswerJson<Extract<R, { readonly name: N }>>>
  readonly reading: <N extends OwnValueName<R>>(
    name: N,
    params: OwnParamsJson<Extract<R, { readonly name: N }>>,
    point?: PointOptions
  ) => Promise<OwnReadingJson<Extract<R, { readonly name: N }>>>
  readonly list: <N extends OwnListName<R>>(
    name: N,
    ...options: OwnListCall<Extract<R, { readonly name: N }>>
  ) => Promise<OwnPageJson<Extract<R, { readonly name: N }>>>
  readonly pages: <N extends OwnListName<R>>(
    name: N,
    ...options: OwnListCall<Extract<R, { readonly name: N }>>
  ) => AsyncIterable<OwnPageJson<Extract<R, { readonly name: N }>>>
  readonly records: <N extends OwnListName<R>>(
    name: N,
    ...options: OwnListCall<Extract<R, { readonly name: N }>>
  ) => AsyncIterable<OwnAnswerJson<Extract<R, { readonly name: N }>>>
  readonly csv: <N extends R["name"]>(
    name: N,
    params: OwnParamsJson<Extract<R, { readonly name: N }>>,
    point?: PointOptions
  ) => AsyncIterable<string>
}

/** Filter, page and point of a list of the venue's own. */
export interface OwnListOptions<R extends OwnRead> extends Omit<ListOptions<ListName>, "where"> {
  readonly where?: OwnParamsJson<R>
}

type OwnListCall<R extends OwnRead> =
  Record<never, never> extends OwnParamsJson<R>
    ? readonly [options?: OwnListOptions<R>]
    : readonly [options: OwnListOptions<R> & { readonly where: OwnParamsJson<R> }]

/** A client, with the calls of a venue's own declarations where it has any. */
export type ClientWith<W extends OwnWrite, R extends OwnRead> = [W | R] extends [never]
  ? Client
  : Client & OwnCalls<W, R>

/**
 * Makes a client of a service's address. Throws on an address that is none. A venue with rooms of its own
 * gives their table, whose types are those of their declarations (`ClientTable.ofRooms`); of a table
 * that a build wrote down they are named: `make<typeof assess | typeof draw, typeof loans>({ table, … })`.
 */
export const make = <W extends OwnWrite = never, R extends OwnRead = never>(
  options: ClientOptions<W, R>
): ClientWith<W, R> => {
  const { makeKey = () => crypto.randomUUID() } = options
  const table: CallTable = options.table ?? callTable
  const requests = Requests.make(options, JsonNumbers.make(table))
  const keyed = ({ key = makeKey(), signal, traceparent }: KeyedOptions = {}) => ({
    key,
    ...callOptions({ signal, traceparent })
  })
  const writing = (writeOptions: WriteOptions = {}) =>
    writeOptions.wait === undefined
      ? keyed(writeOptions)
      : { ...keyed(writeOptions), wait: writeOptions.wait }

  const operation = (
    operationId: string,
    { within, ...requestOptions }: Pick<DoneOptions, "signal" | "traceparent" | "within">
  ) =>
    requests.patiently(
      {
        ...getting(`/v1/operations/${segment("operationId", operationId)}`),
        ...requestOptions,
        wait: heldFor
      },
      "operations.get",
      within
    )

  const write = async (kind: string, input: object, writeOptions?: WriteOptions) => {
    const { body, ...target } = targetOf(table, kind, input)
    const { location, value } = await requests.call(
      { ...target, ...(target.method === "DELETE" ? {} : { body }), ...writing(writeOptions) },
      "write"
    )
    if (value !== null) return value
    // A removal that this call completed has no body; its Location names the operation.
    const operationId = location?.split("/").at(-1)
    if (operationId === undefined) throw new AnswerNotJson(204, "it has no Location")
    const { signal, traceparent } = writeOptions ?? {}
    return valueOf(await operation(operationId, callOptions({ signal, traceparent })))
  }

  const ended = async (operationId: string, doneOptions: DoneOptions) => {
    for (;;) {
      const answer = await operation(operationId, doneOptions)
      const action = valueOf(answer) as ActionJson
      doneOptions.progress?.(action)
      if (action.state === "succeeded") return action
      if (action.state === "failed" && action.problem !== null) {
        throw new CallRefusal(action.problem, operationId)
      }
      // The service has waited in place of the caller.
      if (!answer.hasWaited) await sleep(answer.retryAfter ?? lookAgain, doneOptions.signal)
    }
  }

  const approved = async (actionKey: string, doneOptions: DoneOptions) => {
    for (;;) {
      const { signal, traceparent, within } = doneOptions
      const answer = await requests.patiently(
        { ...getting(approvalPath(actionKey)), ...callOptions({ signal, traceparent }) },
        "approvals.get",
        within
      )
      const { operationId, reason, state } = valueOf(answer) as ApprovalJson
      if (operationId !== null) return ended(operationId, doneOptions)
      if (state !== "awaiting") throw new ActionNotRun({ actionKey, state, reason })
      await sleep(askAgain, signal)
    }
  }

  const done = async ({ actionKey, operationId }: ActionJson, doneOptions: DoneOptions = {}) => {
    const { within = withinDefault } = doneOptions
    const late = new AbortController()
    const timer = setTimeout(
      () => late.abort(new DOMException(`no end within ${within} s`, "TimeoutError")),
      Math.min(within, timerMax) * 1000
    )
    const signal =
      doneOptions.signal === undefined
        ? late.signal
        : AbortSignal.any([doneOptions.signal, late.signal])
    try {
      const limited = { ...doneOptions, within, signal }
      return operationId === null
        ? await approved(awaitedKey(actionKey), limited)
        : await ended(operationId, limited)
    } finally {
      clearTimeout(timer)
    }
  }

  const asking = (
    name: string,
    params: object,
    { signal, traceparent, ...point }: PointOptions
  ) => {
    const { path, rest } = filled(rowOf(table.reads, name, "read"), params)
    return {
      ...getting(path),
      query: { ...rest, ...point },
      ...callOptions({ signal, traceparent })
    }
  }

  const reading = async (name: string, params: object, point: PointOptions = {}) =>
    (await requests.call(asking(name, params, point), name)).value

  const pageRequest = (name: string, { where = {}, ...page }: ListOptions<ListName>) =>
    asking(name, where, page)

  async function* pages(name: string, listOptions: ListOptions<ListName> = {}) {
    let after: string | null | undefined = listOptions.after
    do {
      const page: ListOptions<ListName> =
        after === undefined ? listOptions : { ...listOptions, after }
      const { value } = await requests.patiently(
        pageRequest(name, { limit: pageLimit, ...page }),
        name
      )
      const answer = value as PageJson<ListName>
      yield answer
      after = answer.next
    } while (after !== null)
  }

  async function* records(name: string, listOptions?: ListOptions<ListName>) {
    for await (const { value } of pages(name, listOptions)) yield* value as ReadonlyArray<unknown>
  }

  async function* csv(name: string, params: object, point: PointOptions = {}) {
    const request = asking(name, params, point)
    const response = await requests.send({
      ...request,
      query: { ...request.query, format: "csv" },
      headers: { accept: "text/csv, application/json" }
    })
    if (!response.ok || response.body === null) throw await requests.refusalOf(response)
    const reader = response.body.getReader()
    const decoder = new TextDecoder()
    try {
      for (;;) {
        const { done: isEnd, value } = await reader.read().catch((error: unknown) => {
          throw new NoAnswer(`${name} ended before its table did`, { cause: error })
        })
        const text = decoder.decode(value, { stream: !isEnd })
        if (text !== "") yield text
        if (isEnd) return
      }
    } finally {
      // The reader of a table may leave it early; the rest is then not sent.
      await reader.cancel().catch(() => undefined)
    }
  }

  async function* feed(feedOptions: FeedOptions = {}) {
    const {
      after: start,
      every = 1,
      limit = pageLimit,
      signal,
      traceparent,
      until,
      ...filters
    } = feedOptions
    let after = start
    for (;;) {
      const { hasWaited, value } = await requests.patiently(
        {
          ...getting("/v1/events"),
          query: { ...filters, limit, after },
          ...callOptions({ signal, traceparent }),
          ...(until === "now" ? {} : { wait: heldFor })
        },
        "events.list"
      )
      const page = value as { readonly value: ReadonlyArray<FeedEventJson>; readonly next: string }
      const last = page.value.at(-1)
      for (const event of page.value) yield { ...event, cursor: event === last ? page.next : null }
      if (last === undefined) {
        if (until === "now") return
        if (!hasWaited) await sleep(every, signal)
      }
      after = page.next
    }
  }

  // Cast: the row that a name selects has the types that the name stands for.
  return {
    write,
    approve: async ({ actionKey, figuresHash }: ActionJson, writeOptions?: WriteOptions) => {
      const path = `${approvalPath(awaitedKey(actionKey))}:approve`
      const request = {
        method: "POST",
        path,
        body: {},
        ifMatch: figuresHash,
        ...writing(writeOptions)
      }
      return (await requests.call(request, "write")).value
    },
    reject: async (
      { actionKey }: Pick<ActionJson, "actionKey">,
      { reason, ...keyOptions }: KeyedOptions & { readonly reason?: string } = {}
    ) => {
      const path = `${approvalPath(awaitedKey(actionKey))}:reject`
      const body = { reason: reason ?? null }
      return (
        await requests.call({ method: "POST", path, body, ...keyed(keyOptions) }, "approvals.get")
      ).value
    },
    done,
    read: async (name: string, params: object, point?: PointOptions) =>
      ((await reading(name, params, point)) as { readonly value: unknown }).value,
    reading,
    list: async (name: string, listOptions: ListOptions<ListName> = {}) =>
      (await requests.call(pageRequest(name, listOptions), name)).value,
    pages,
    records,
    csv,
    precheck: async (act: string, params: object, point?: PointOptions) =>
      (
        (await reading("instruments.precheck", { ...params, act }, point)) as {
          readonly value: unknown
        }
      ).value,
    feed,
    receive: async (
      externalSourceId: string,
      file: Requests.FileBody,
      fileOptions: FileOptions = {}
    ) => {
      const { businessDate, corrects, instrumentId } = fileOptions
      const query = { externalSourceId, instrumentId, businessDate, corrects }
      const request = { method: "POST", path: "/v1/external-statements", query, file }
      return (await requests.call({ ...request, ...keyed(fileOptions) }, "external-statements.get"))
        .value
    },
    reconcile: async (body: RunRequestJson, keyOptions?: KeyedOptions) => {
      const request = { method: "POST", path: "/v1/reconciliation-runs", body }
      return (await requests.call({ ...request, ...keyed(keyOptions) }, "reconciliation-runs.get"))
        .value
    },
    call: (request: Requests.Request) => requests.call(request, "call")
  } as unknown as ClientWith<W, R>
}

const { sleep } = Requests

/** Options that a request takes, without those that are absent. */
const callOptions = ({
  signal,
  traceparent
}: {
  readonly signal: AbortSignal | undefined
  readonly traceparent: string | undefined
}): Requests.CallOptions => ({
  ...(signal === undefined ? {} : { signal }),
  ...(traceparent === undefined ? {} : { traceparent })
})

const getting = (path: string) => ({ method: "GET", path })

const valueOf = ({ value }: Requests.ParsedAnswer): unknown =>
  (value as { readonly value: unknown }).value

const awaitedKey = (actionKey: string | null): string => {
  if (actionKey !== null) return actionKey
  throw new InputFault("/actionKey", "a write of one person awaits no approval")
}

const approvalPath = (actionKey: string): string =>
  `/v1/approvals/${segment("actionKey", actionKey)}`

const rowOf = (rows: Readonly<Record<string, string>>, name: string, what: string): string => {
  const row = Object.hasOwn(rows, name) ? rows[name] : undefined
  if (row === undefined) throw new InputFault("", `no ${what} is called ${JSON.stringify(name)}`)
  return row
}

/** Segment of a path; the platform would take one of dots for a step to another path. */
const segment = (name: string, value: unknown): string => {
  if (value === undefined || value === null) throw new InputFault(`/${name}`, "is missing")
  const text = String(value)
  if (/^\.{0,2}$/.test(text)) throw new InputFault(`/${name}`, `no id is ${JSON.stringify(text)}`)
  return encodeURIComponent(text)
}

/** Fills the ids of a path from an input; the rest of the input is body or query. */
const filled = (template: string, input: object) => {
  if (input === null || typeof input !== "object" || Array.isArray(input)) {
    throw new InputFault("", "an input is an object of members")
  }
  const rest: Record<string, unknown> = { ...input }
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const { [name]: value } = rest
    delete rest[name]
    return segment(name, value)
  })
  return { path, rest }
}

/** Method, path, If-Match and body of a write. */
const targetOf = (table: CallTable, kind: string, input: object) => {
  const [method = "", template = "", matched] = rowOf(table.writes, kind, "write").split(" ")
  const { path, rest } = filled(template, input)
  const { [matched ?? ""]: tag = null, ...others } = rest
  const body = matched === undefined ? rest : others
  const [surplus] = Object.keys(body)
  if (method === "DELETE" && surplus !== undefined) {
    throw new InputFault(`/${surplus}`, `${kind} has no such member`)
  }
  return { method, path, body, ifMatch: matched === undefined || tag === null ? null : String(tag) }
}
