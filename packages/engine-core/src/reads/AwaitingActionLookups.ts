/** Look-up of the four-eyes actions that await a decision about records, for the records' views. */
import { Effect, type Schema, SchemaAST } from "effect"
import type * as Pin from "../kernel/Pin.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { Records } from "../records/Records.ts"
import type { Role } from "../vocabulary/Role.ts"
import { type Approval, approvals } from "../writes/Approval.ts"
import { awaits } from "../writes/WriteAnswer.ts"
import { approvalAudience } from "./WriteQueries.ts"
import type { AwaitedAct } from "../records/RecordView.ts"

/** Largest number of actions that one look-up returns. */
const batchMax = 1_000

/** A view with the parties and roles that its record waits on. */
interface Waits {
  readonly waitingOn: ReadonlyArray<AwaitedAct>
}

const waits = (view: unknown): view is Waits =>
  typeof view === "object" && view !== null && "waitingOn" in view && Array.isArray(view.waitingOn)

/** A read, and the parameters that it was asked with. */
interface AskedRead {
  readonly route: string
  readonly params: unknown
}

/** Path of a read with its parameters filled in: the `href` by which an action names its record. */
const pathOf = ({ params, route }: AskedRead): string =>
  route
    .slice(route.indexOf(" ") + 1)
    .replaceAll(/\{([a-zA-Z]+)\}/g, (_, name: string) =>
      typeof params === "object" && params !== null
        ? String((params as Readonly<Record<string, unknown>>)[name])
        : ""
    )

/** Largest number of awaiting actions of the whole venue that are matched with paths in memory. */
const fewMax = 200

/** Actions in the order of their list. */
type Actions = ReadonlyArray<{ readonly record: Approval }>

/** Loads the actions of the whole venue that awaited a decision, or the oldest `few` and one more. */
const ofVenue = (
  pin: Pin.ResolvedPin,
  few = fewMax
): Effect.Effect<Actions, Unavailable, Records> =>
  Effect.flatMap(Records, (records) =>
    records.list(approvals, { pin, where: { state: ["awaiting"] }, limit: few + 1 })
  )

/** Checks whether views of this schema may show who is waited for. */
const mayWait = ({ ast }: Schema.Codec<unknown, unknown>): boolean =>
  SchemaAST.isObjects(ast) && ast.propertySignatures.some(({ name }) => name === "waitingOn")

/** Checks whether views show the actions that await their records. */
const isShown = (role: Role, pin: Pin.ResolvedPin): boolean =>
  pin.select.by !== "offset" && role in approvalAudience

/**
 * Loads the actions that awaited the records at these paths, by path, oldest first. Queries by state
 * alone, and by state and path only where more than `few` actions await: a query by 50 paths
 * compares each of them with every row that it looks at.
 */
export const awaiting = Effect.fnUntraced(function* ({
  hrefs,
  pin,
  few = fewMax,
  actions
}: {
  readonly hrefs: ReadonlyArray<string>
  readonly pin: Pin.ResolvedPin
  readonly few?: number
  /** Actions of the whole venue, where they are loaded already. */
  readonly actions?: Actions | undefined
}) {
  const records = yield* Records
  const askedHrefs = new Set(hrefs)
  const found = new Map<string, Array<AwaitedAct>>()
  const keep = (rows: Actions): void => {
    for (const { record } of rows) {
      const { href } = record.resource
      if (askedHrefs.has(href)) found.set(href, [...(found.get(href) ?? []), ...awaits(record)])
    }
  }
  const rows = actions ?? (yield* ofVenue(pin, few))
  if (rows.length <= few) {
    keep(rows)
    return found
  }
  for (let after: string | undefined; ; ) {
    const page = yield* records.list(approvals, {
      pin,
      where: { state: ["awaiting"], href: hrefs },
      limit: batchMax,
      ...(after === undefined ? {} : { after })
    })
    keep(page)
    after = page.at(-1)?.sortKey
    if (page.length < batchMax) return found
  }
})

/**
 * Checks whether any action awaits a record of a list. A streamed list checks it once, in place of a
 * look-up for each batch of records.
 */
export const any = Effect.fnUntraced(function* (read: AskedRead, pin: Pin.ResolvedPin) {
  const records = yield* Records
  const path = pathOf(read)
  const rows = yield* records.list(approvals, {
    pin,
    where: { state: ["awaiting"] },
    // Prefix search for the path and a slash: `0` is the character after `/`.
    ranges: { href: { from: `${path}/`, to: `${path}0` } },
    limit: 1
  })
  return rows.length > 0
})

/** Views of records, and what is answered beside them. */
export interface MadeViews<V> {
  readonly views: ReadonlyArray<V>
  /** Ids of the records under the path of their read; null: the path itself is that of the record. */
  readonly ids: ReadonlyArray<string | null>
}

/** The read of an answer, its point, and the schema of its views. */
export interface Answer<V> {
  readonly role: Role
  /** The pin of the answer; undefined: no action can await these records. */
  readonly pin: Pin.ResolvedPin | undefined
  readonly read: AskedRead
  readonly view: Schema.Codec<V, unknown>
}

/** Loads the actions of the whole venue before the views are there; undefined: they are not needed yet. */
export const ahead = Effect.fnUntraced(function* <V>({ pin, role, view }: Answer<V>) {
  return pin !== undefined && isShown(role, pin) && mayWait(view) ? yield* ofVenue(pin) : undefined
})

/**
 * Adds to views the four-eyes actions that awaited their records, for roles that read approvals
 * (docs/domain/every-record.md#waiting-on). Actions have no ledger offset, so a read at an offset is
 * answered without them.
 */
export const added = Effect.fnUntraced(function* <V, M extends MadeViews<V>>(
  made: M & MadeViews<V>,
  { actions, pin, read, role }: Answer<V> & { readonly actions: Actions | undefined }
) {
  if (pin === undefined || !isShown(role, pin) || !made.views.some(waits)) return made
  const path = pathOf(read)
  const hrefs = made.ids.map((id) => (id === null ? path : `${path}/${id}`))
  const found = yield* awaiting({ hrefs: [...new Set(hrefs)], pin, actions })
  if (found.size === 0) return made
  const views = made.views.map((view, index) => {
    const more = found.get(hrefs[index] ?? "")
    return more === undefined || !waits(view)
      ? view
      : { ...view, waitingOn: [...view.waitingOn, ...more] }
  })
  return { ...made, views }
})
