/**
 * SQL of the versions in force at a pin. Of one record the version is found by a seek in an index, so
 * that its cost does not grow with the versions written since.
 */
import type { StoredPin } from "@bursar/engine-core/ports"

/**
 * Records with few versions are in no index of their own: those up to this number are read one by one
 * from the primary key, so that most writes cost no index entry more (migration 0008).
 */
const EARLY_MAX = 8

/** A pin that selects among all versions, in terms of the columns that it is compared with. */
export interface PinColumns {
  /** Column of the point from which a version is in force. */
  readonly from: "from_offset" | "from_instant"
  /** Column of the point at which the next version took its place; null: none has. */
  readonly to: "to_offset" | "to_instant"
  /** Expression of the point itself. */
  readonly point: string
}

/** Columns of a pin; undefined for the latest versions, which are the open ones. */
export const pinnedAt = (
  pin: StoredPin,
  { add }: { readonly add: (value: unknown) => string }
): PinColumns | undefined => {
  switch (pin.by) {
    case "latest":
      return undefined
    case "offset":
      return { from: "from_offset", to: "to_offset", point: `${add(String(pin.offset))}::int8` }
    case "instant":
      return { from: "from_instant", to: "to_instant", point: add(pin.instant) }
  }
}

/** Condition that a version had begun at the pin. */
export const begunAt = ({ from, point }: PinColumns): string => `d.${from} <= ${point}`

/** Condition that a version was closed after the pin. */
export const closedSince = ({ to, point }: PinColumns): string => `d.${to} > ${point}`

/**
 * Select of all versions of a collection at a pin that meet a condition, in no order: the open
 * versions that had begun, and those closed since.
 */
export const versions =
  (
    {
      pin,
      collection,
      condition
    }: { readonly collection: string; readonly pin: StoredPin; readonly condition: string },
    sqlParameters: { readonly add: (value: unknown) => string }
  ) =>
  (columns: string): string => {
    const pinned = pinnedAt(pin, sqlParameters)
    const rows = `select ${columns} from bursar.document d
      where d.collection = ${sqlParameters.add(collection)} and ${condition}`
    const open = `${rows} and d.to_offset is null`
    if (pinned === undefined) return open
    return `${open} and ${begunAt(pinned)}
      union all ${rows} and ${closedSince(pinned)} and ${begunAt(pinned)}`
  }

/**
 * Version at a pin, if there is one, of the record whose latest version is `r`: that one where it had
 * begun, or else the first one that was closed after the pin.
 */
export const inForce = (pinned: PinColumns, collection: string): string => {
  const closed = (which: string, order: string) =>
    `(select d.* from bursar.document d where ${collection} and d.record_id = r.record_id
      and ${closedSince(pinned)} and ${which} order by ${order} limit 1)`
  return `select * from (
    (select r.*)
    union all ${closed(`d.version > ${EARLY_MAX}`, `d.${pinned.to}, d.version`)}
    union all ${closed(`d.version <= ${EARLY_MAX}`, "d.version")}
  ) d where ${begunAt(pinned)} limit 1`
}

/**
 * Versions of the record whose latest version is `r` that were in force at some point from `since` to
 * the pin: the one at the pin, and those closed after `since` and up to the pin. Where the latest one
 * had begun by `since` none was closed later, so that no index is searched for them.
 */
export const inForceSince = (pinned: PinColumns, collection: string, since: string): string => {
  const { from, to, point } = pinned
  const closed = (which: string) =>
    `(select d.* from bursar.document d where ${collection} and d.record_id = r.record_id
      and r.${from} > ${since}
      and d.${to} > ${since} and d.${to} <= ${point} and d.${from} < d.${to} and ${which})`
  return `(${inForce(pinned, collection)})
    union all ${closed(`d.version > ${EARLY_MAX}`)}
    union all ${closed(`d.version <= ${EARLY_MAX}`)}`
}
