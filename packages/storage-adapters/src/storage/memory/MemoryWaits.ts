/** Index of waiting records in memory: the waits of each record, with the points between which they count. */
import type {
  Documents,
  FilledWait,
  KeptBy,
  StoredPin,
  StoredWait,
  VersionRow,
  WaitCount,
  WaitQuery,
  WaitRow
} from "@bursar/engine-core/ports"
import { everyWait, waitSortKey } from "@bursar/engine-core/ports"
import * as WaitItem from "../WaitItem.ts"
import type { Transaction, Transactions } from "./Transactions.ts"
import * as Undo from "./Undo.ts"

/** A wait of a record, and the points between which it counts. */
interface Wait extends Omit<FilledWait, "toOffset" | "toInstant" | "recordId"> {
  readonly keptBy: KeptBy
  /** Text of the row as it was put, by which a later version's equal row is known. */
  readonly item: string
  readonly sortKey: string
  toOffset: number | null
  toInstant: string | null
}

/** Parts of the port of documents that read and write waits, and what its other parts do to them. */
interface MemoryWaits {
  readonly service: Pick<
    Documents["Service"],
    "waits" | "countWaits" | "waitConditions" | "waitMarks" | "markWaits" | "fillWaits"
  >
  readonly put: (transaction: Transaction, row: VersionRow) => void
  readonly forget: (transaction: Transaction, collection: string, recordId: string) => void
  readonly prune: (
    transaction: Transaction,
    ended: { readonly collection: string; readonly through: number }
  ) => void
}

const keyOf = (collection: string, recordId: string): string => `${collection}/${recordId}`

export const make = (transactions: Transactions): MemoryWaits => {
  const byRecord = new Map<string, Array<Wait>>()
  const marks: Array<string> = [everyWait]

  const all = function* (): Generator<Wait> {
    for (const waits of byRecord.values()) yield* waits
  }
  const matching = (query: WaitQuery): ReadonlyArray<Wait> => {
    const audience = new Set(
      query.audience.map(({ role, resourceKind }) => `${role} ${resourceKind}`)
    )
    const conditions = new Set(query.conditions)
    const found: Array<Wait> = []
    for (const wait of all()) {
      if (
        audience.has(`${wait.role} ${wait.resourceKind}`) &&
        isInForce(wait, query.pins) &&
        matches(wait, query, conditions)
      ) {
        found.push(wait)
      }
    }
    return found.toSorted((a, b) => (a.sortKey < b.sortKey ? -1 : 1))
  }

  return {
    service: {
      waits: ({ after, limit, ...query }) =>
        transactions.read(() =>
          matching(query)
            .filter(({ sortKey }) => after === undefined || sortKey > after)
            .slice(0, Math.max(0, limit))
            .map(stored)
        ),
      countWaits: ({ most, ...query }) =>
        transactions.read(() => counted(matching(query), { most, judgedAt: query.judgedAt })),
      waitConditions: ({ pins }) =>
        transactions.read(() => {
          const keys = new Set<string>()
          for (const wait of all()) {
            if (wait.condition !== null && isInForce(wait, pins)) keys.add(wait.condition.key)
          }
          return [...keys]
        }),
      waitMarks: transactions.read(() => [...marks]),
      markWaits: (mark) =>
        transactions.write((transaction) => {
          if (!marks.includes(mark)) Undo.push(transaction, marks, mark)
        }),
      fillWaits: ({ collection, keptBy, recordIds, rows }) =>
        transactions.write((transaction) => {
          for (const recordId of recordIds) {
            Undo.remove(transaction, byRecord, keyOf(collection, recordId))
          }
          for (const [recordId, filled] of Map.groupBy(rows, (row) => row.recordId)) {
            const waits = filled.map(({ recordId: _, ...row }) => ({
              ...row,
              keptBy,
              item: WaitItem.print(row),
              sortKey: waitSortKey(row)
            }))
            Undo.set(transaction, byRecord, keyOf(collection, recordId), waits)
          }
        })
    },
    put: (transaction, { collection, fromInstant, fromOffset, recordId, waits }) => {
      if (waits === undefined) return
      const key = keyOf(collection, recordId)
      const list = byRecord.get(key) ?? []
      if (!byRecord.has(key)) Undo.set(transaction, byRecord, key, list)
      const open = list.filter(({ toInstant }) => toInstant === null)
      const items = waits.rows.map(WaitItem.print)
      for (const wait of open) {
        if (items.includes(wait.item)) continue
        Undo.patch(transaction, wait, { toOffset: fromOffset, toInstant: fromInstant })
      }
      for (const [index, row] of waits.rows.entries()) {
        const item = items[index]!
        if (open.some((wait) => wait.item === item)) continue
        const since = row.since ?? continuedSince(open, row, fromInstant)
        Undo.push(transaction, list, {
          ...row,
          ...{ keptBy: waits.keptBy, item, since, sortKey: waitSortKey({ ...row, since }) },
          ...{ fromOffset, fromInstant, toOffset: null, toInstant: null }
        })
      }
    },
    forget: (transaction, collection, recordId) =>
      Undo.remove(transaction, byRecord, keyOf(collection, recordId)),
    prune: (transaction, { collection, through }) => {
      for (const [key, list] of byRecord) {
        if (!key.startsWith(`${collection}/`)) continue
        const rest = list.filter(({ toOffset }) => toOffset === null || toOffset > through)
        if (rest.length < list.length) Undo.set(transaction, byRecord, key, rest)
      }
    }
  }
}

/** Instant since which the record waits for an act of a role, if it did in the version before. */
const continuedSince = (
  open: ReadonlyArray<Wait>,
  { action, role }: Pick<WaitRow, "action" | "role">,
  fromInstant: string
): string => {
  let since: string | undefined
  for (const wait of open) {
    if (wait.role !== role || wait.action !== action || wait.since > fromInstant) continue
    if (since === undefined || wait.since > since) since = wait.since
  }
  return since ?? fromInstant
}

const isInForce = (wait: Wait, pins: WaitQuery["pins"]): boolean => {
  const pin: StoredPin | undefined = pins[wait.keptBy]
  switch (pin?.by) {
    case undefined:
      return false
    case "latest":
      return wait.toInstant === null
    case "offset":
      return wait.fromOffset <= pin.offset && (wait.toOffset === null || pin.offset < wait.toOffset)
    case "instant":
      return (
        wait.fromInstant <= pin.instant && (wait.toInstant === null || pin.instant < wait.toInstant)
      )
  }
}

const matches = (
  wait: Wait,
  { judgedAt, overdue, subject, where }: WaitQuery,
  conditions: ReadonlySet<string>
): boolean =>
  (wait.from === null || wait.from <= judgedAt) &&
  (wait.until === null || judgedAt < wait.until) &&
  !wait.hiddenFrom.includes(subject) &&
  (wait.condition === null || conditions.has(wait.condition.key) === wait.condition.holds) &&
  (overdue === undefined || isOverdue(wait, judgedAt) === overdue) &&
  where.every(({ column, anyOf }) => {
    const value = wait[column]
    return value !== null && anyOf.includes(value)
  })

const isOverdue = ({ by }: Pick<Wait, "by">, judgedAt: string): boolean =>
  by !== null && by <= judgedAt

const counted = (
  waits: ReadonlyArray<Wait>,
  { judgedAt, most }: { readonly judgedAt: string; readonly most: number }
): ReadonlyArray<WaitCount> =>
  [...Map.groupBy(waits, ({ role, resourceKind }) => `${role} ${resourceKind}`).values()].map(
    (all) => {
      const [{ role, resourceKind, by }] = all as [Wait, ...ReadonlyArray<Wait>]
      const some = all.slice(0, most)
      return {
        ...{ role, resourceKind, by, waiting: some.length },
        overdue: some.filter((wait) => isOverdue(wait, judgedAt)).length
      }
    }
  )

const stored = ({
  sortKey,
  since,
  role,
  action,
  resourceKind,
  state,
  instrumentId,
  holderId,
  by,
  body
}: Wait): StoredWait => ({
  ...{ sortKey, since, role, action, resourceKind, state, instrumentId, holderId, by, body }
})
