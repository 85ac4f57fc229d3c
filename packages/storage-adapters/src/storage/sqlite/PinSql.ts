/** SQL of the versions in force at a pin: the last one of a record that had begun. */
import type { StoredPin } from "@bursar/engine-core/ports"
import type { Parameters } from "./Parameters.ts"

/** Records with few versions are in no index of their own (`Schema.ts`). */
const EARLY_MAX = 8

/** A pin that selects among all versions, by the columns that it is compared with. */
export interface PinColumns {
  /** Column of the point from which a version is in force. */
  readonly from: "from_offset" | "from_instant"
  /** Column of the point at which the next version took its place; null: none has. */
  readonly to: "to_offset" | "to_instant"
  /** Placeholder of the point itself. */
  readonly point: string
  readonly closedIndex: "document_closed_offset" | "document_closed_instant"
}

/** Columns of a pin; undefined for the latest versions, which are the open ones. */
export const pinnedAt = (pin: StoredPin, { add }: Parameters): PinColumns | undefined => {
  switch (pin.by) {
    case "latest":
      return undefined
    case "offset":
      return {
        from: "from_offset",
        to: "to_offset",
        point: add(pin.offset),
        closedIndex: "document_closed_offset"
      }
    case "instant":
      return {
        from: "from_instant",
        to: "to_instant",
        point: add(pin.instant),
        closedIndex: "document_closed_instant"
      }
  }
}

/** Id of the version of a record that was in force at a pin; null where it had not begun. */
export const inForce = (
  { from, point }: PinColumns,
  { collection, recordId }: { readonly collection: string; readonly recordId: string }
): string => {
  const last = (which: string, order: string) =>
    `(select x.id from document x where x.collection = ${collection} and x.record_id = ${recordId}
      and ${which} and x.${from} <= ${point} order by ${order} limit 1)`
  return `coalesce(
    ${last(`x.version > ${EARLY_MAX}`, `x.${from} desc, x.version desc`)},
    ${last(`x.version <= ${EARLY_MAX}`, "x.version desc")})`
}
