/** What the page of work shows, computed from the list of work and its counts. */
import * as Pages from "../pages/Pages.ts"
import { areaPages } from "../shell/Areas.ts"

/** An entry of the list of work. */
export interface WorkRow {
  readonly resource: { readonly kind: string; readonly id: string; readonly href: string }
  readonly role: string
  readonly by: string | null
  readonly since: string
  readonly instrumentId: string | null
  readonly holderId: string | null
  readonly summary: string
  readonly actionKey: string | null
}

/** Roles whose work there is; an auditor reads that of all of them. */
export const workRoles: ReadonlyArray<string> = ["operator", "approver", "risk", "compliance"]

/** Roles that a read of work names; undefined: the person's own. */
export const namedRoles = (
  chosen: ReadonlyArray<string>,
  roles: ReadonlyArray<string>
): ReadonlyArray<string> | undefined => {
  if (chosen.length > 0) return chosen
  return roles.some((role) => workRoles.includes(role)) ? undefined : workRoles
}

/** Pages of records, and of lists, by the first part of their paths. */
const recordPages = new Set([
  ...Pages.records.map(({ path }) => path),
  ...areaPages.flatMap(({ path }) => (path.endsWith("/:id") ? [path.slice(0, -"/:id".length)] : []))
])
const listPages = new Set([...Pages.lists, ...areaPages].map(({ path }) => path))

/** Page on which the work is done: that of the action, of the record or what it belongs to, or its list's. */
export const pageOf = ({ actionKey, resource }: Pick<WorkRow, "actionKey" | "resource">) => {
  if (actionKey !== null) return `approvals/${encodeURIComponent(actionKey)}`
  const [list = "", id] = resource.href.replace(/^\/v1\//u, "").split("/")
  if (id !== undefined && recordPages.has(list)) return `${list}/${id}`
  return listPages.has(list) ? list : null
}

/** Work of a kind of record, for all roles of the person together. */
export interface Tally {
  readonly kind: string
  readonly waiting: number
  readonly overdue: number
  /** True: there is more than was counted. */
  readonly isCapped: boolean
}

interface Count {
  readonly resourceKind: string
  readonly waiting: unknown
  readonly overdue: unknown
  readonly capped: boolean
}

/** Counts by kind of record, those with something overdue first, then the most. */
export const tallied = (counts: ReadonlyArray<Count>): ReadonlyArray<Tally> =>
  [...Map.groupBy(counts, ({ resourceKind }) => resourceKind)]
    .map(([kind, some]) => ({
      kind,
      waiting: some.reduce((sum, { waiting }) => sum + whole(waiting), 0),
      overdue: some.reduce((sum, { overdue }) => sum + whole(overdue), 0),
      isCapped: some.some(({ capped }) => capped)
    }))
    .toSorted(
      (a, b) => b.overdue - a.overdue || b.waiting - a.waiting || (a.kind < b.kind ? -1 : 1)
    )

/** A count of at most four digits, however the client gives it. */
const whole = (count: unknown): number => Math.trunc(+String(count))
