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

/** Path of a read with its parameters filled in: the `href` by which an action names its record. */
export const pathOf = (route: string, params: unknown): string =>
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
export type Actions = ReadonlyArray<{ readonly record: Approval }>

/** Loads the actions of the whole venue that awaited a decision, or the oldest `few` and one more. */
const ofVenue = (
  pin: Pin.ResolvedPin,
  few = fewMax
): Effect.Effect<Actions, Unavailable, Records> =>
  Effect.flatMap(Records, (records) =>
    records.list(approvals, { pin, where: { state: ["awaiting"] }, limit: few + 1 })
  )

/**
 * Loads the actions of the whole venue for a page that is looked up meanwhile; undefined where the
 * page cannot show them.
 */
export const ahead = ({
  pin,
  role,
  view
}: {
  readonly role: Role
  readonly pin: Pin.ResolvedPin | undefined
  readonly view: Schema.Codec<unknown, unknown>
}): Effect.Effect<Actions | undefined, Unavailable, Records> => {
  const { ast } = view
  const waits =
    SchemaAST.isObjects(ast) && ast.propertySignatures.some(({ name }) => name === "waitingOn")
  return pin !== undefined && isShown(role, pin) && waits ? ofVenue(pin) : Effect.succeed(undefined)
}

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
 * Checks whether any action awaits a record whose path is under this one. A streamed list checks it
 * once, in place of a look-up for each batch of records.
 */
export const any = Effect.fnUntraced(function* (path: string, pin: Pin.ResolvedPin) {
  const records = yield* Records
  const rows = yield* records.list(approvals, {
    pin,
    where: { state: ["awaiting"] },
    // Prefix search for the path and a slash: `0` is the character after `/`.
    ranges: { href: { from: `${path}/`, to: `${path}0` } },
    limit: 1
  })
  return rows.length > 0
})

/**
 * Adds to views the four-eyes actions that awaited their records, for roles that read approvals
 * (docs/domain/every-record.md#waiting-on). Actions have no ledger offset, so a read at an offset is
 * answered without them.
 */
export const shown = <V>(
  views: ReadonlyArray<V>,
  {
    pin,
    role,
    actions,
    href
  }: {
    readonly role: Role
    /** The pin of the answer; undefined: no action can await these records. */
    readonly pin: Pin.ResolvedPin | undefined
    /** Path of the record that the view of this index shows. */
    readonly href: (index: number) => string
    /** Actions that `ahead` has loaded. */
    readonly actions?: Actions | undefined
  }
): Effect.Effect<ReadonlyArray<V>, Unavailable, Records> => {
  if (pin === undefined || !isShown(role, pin) || !views.some(waits)) return Effect.succeed(views)
  const hrefs = views.map((_, index) => href(index))
  return Effect.map(awaiting({ hrefs: [...new Set(hrefs)], pin, actions }), (found) =>
    found.size === 0
      ? views
      : views.map((view, index) => {
          const more = found.get(hrefs[index] ?? "")
          return more === undefined || !waits(view)
            ? view
            : { ...view, waitingOn: [...view.waitingOn, ...more] }
        })
  )
}
