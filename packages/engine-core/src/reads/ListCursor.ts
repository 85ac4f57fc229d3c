/** Cursors of list pages: what a cursor is bound to, and the pin that it carries to the next page. */
import { Result } from "effect"
import * as Offset from "../kernel/Offset.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import type * as Pin from "../kernel/Pin.ts"
import type { Refused } from "../kernel/Refusal.ts"
import * as Cursor from "./Cursor.ts"
import type * as Point from "./Point.ts"
import type { PointParams } from "./Point.ts"
import { publishedName, type Ranges, type Scope } from "./Read.ts"
import type { PageParams } from "./Queries.ts"

/** Text that a list's cursor is bound to: everything that decides which records come in which order. */
export const boundOf = ({
  read,
  tenantId,
  where,
  ranges,
  point,
  page
}: {
  readonly read: { readonly name: string; readonly direction: string }
  readonly tenantId: string
  readonly where: Scope
  readonly ranges: Ranges
  readonly point: PointParams
  readonly page: Omit<PageParams, "limit">
}): string =>
  PlainJson.canonical({
    list: publishedName(read.name),
    tenant: tenantId,
    direction: read.direction,
    where,
    ranges: Object.entries(ranges).map(([column, { from, to }]) => [
      column,
      from ?? null,
      to ?? null
    ]),
    at: point.at === undefined ? null : String(point.at),
    from: page.updatedFrom === undefined ? null : String(page.updatedFrom),
    to: page.updatedTo === undefined ? null : String(page.updatedTo)
  })

/**
 * The place at which a page begins; undefined for the first page. Refuses a cursor that this list
 * did not issue, and one that was issued as of another instant.
 */
export const placeOf = (
  cursors: Cursor.Cursors,
  {
    list,
    binding,
    text,
    point
  }: {
    readonly list: string
    readonly binding: string
    readonly text: string | undefined
    readonly point: PointParams
  }
): Result.Result<Cursor.Place | undefined, Refused<"invalid-request">> => {
  if (text === undefined) return Result.succeed(undefined)
  return Result.flatMap(cursors.read({ list, binding, count: Cursor.placeKeys, text }), (going) =>
    Cursor.placeOf(going, point.asOf)
  )
}

/** The pin of a page that begins at a place: that of the pages before it. */
export const pinOf = (place: Cursor.Place): Point.ResolvedPoint => {
  const { offset, ledgerEpoch, ledgerTime, judgedAt, instant } = place
  const select: Pin.ResolvedPin["select"] =
    place.select === "offset"
      ? { by: "offset" }
      : place.select === "latest" || instant === null
        ? { by: "latest" }
        : { by: place.select, instant }
  return { offset, ledgerEpoch, ledgerTime, judgedAt, select }
}

/**
 * The place after a record of a page that was read at a pin. A list without pins has neither offset
 * nor ledger epoch: its records outlast a ledger.
 */
export const placeAfter = (
  { pinned }: { readonly pinned: boolean },
  { offset, ledgerEpoch, select, ledgerTime, judgedAt }: Point.ResolvedPoint,
  sortKey: string
): Cursor.Place => ({
  offset: pinned ? offset : Offset.zero,
  ledgerEpoch: pinned ? ledgerEpoch : 0,
  select: select.by,
  instant: "instant" in select ? select.instant : null,
  ledgerTime,
  judgedAt,
  sortKey
})
