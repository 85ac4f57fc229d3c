/** Text of a wait, by which the equal waits of two versions of a record are known, and from which it is read. */
import type { StoredWait, WaitRow } from "@bursar/engine-core/ports"

type Row = Omit<WaitRow, "since">

/** The members of a wait in one order, as JSON text. */
export const print = ({
  role,
  action,
  resourceKind,
  state,
  instrumentId,
  holderId,
  by,
  tie,
  from,
  until,
  condition,
  hiddenFrom,
  body
}: Row): string =>
  JSON.stringify([
    ...[role, action, resourceKind, state, instrumentId, holderId, by, tie, from, until],
    ...[condition, hiddenFrom, body]
  ])

type Members = readonly [
  role: string,
  action: string,
  resourceKind: string,
  state: string | null,
  instrumentId: string | null,
  holderId: string | null,
  by: string | null,
  tie: string,
  from: string | null,
  until: string | null,
  condition: WaitRow["condition"],
  hiddenFrom: ReadonlyArray<string>,
  body: string
]

/** The wait that `print` made this text of, with what its row adds to it. */
export const read = (
  item: string,
  { since, sortKey }: Pick<StoredWait, "since" | "sortKey">
): StoredWait => {
  const [role, action, resourceKind, state, instrumentId, holderId, by, , , , , , body] =
    JSON.parse(item) as Members
  return { role, action, resourceKind, state, instrumentId, holderId, by, body, since, sortKey }
}
