/** Validator of a printed answer (an ETag without its quotes): changes whenever the answer does. */
import * as PlainJson from "../kernel/PlainJson.ts"
import { isVenueStaff, type Role } from "../vocabulary/Role.ts"
import type { PrintedValue } from "./KeptAnswers.ts"
import type * as Point from "./Point.ts"
import type { ReadServices } from "./Prepared.ts"

interface Answer {
  readonly read: { readonly pinned: boolean }
  readonly role: Role
  readonly pin: Point.ResolvedPoint
  readonly printed: PrintedValue
  /** Sort key after which the next page begins; null: there is none. */
  readonly after: string | null
  /** Text that the cursor of a page is bound to. */
  readonly binding?: string
}

/**
 * The validator of an answer: a digest of its bytes, and of the point where the answer says it.
 *
 * The cursor of a page leads to the records of its own point. So a page at the latest point that has
 * a next page is current only while nothing at all has been written since: its validator contains
 * the head's counter of appends. A validator that moves with the writes of others would reveal them,
 * so only the venue's staff receives such a one; undefined for other roles.
 *
 * The digest is keyed with the key of the cursors. Nobody can compute the digest of an answer that is
 * guessed, and a copy whose cursor no longer verifies is not current.
 */
export const of = (
  { crypto, cursors }: Pick<ReadServices, "crypto" | "cursors">,
  { read, role, pin, printed, after, binding }: Answer
): string | undefined => {
  const { ledgerEpoch, ledgerTime, offset, moves } = pin
  const isLatest = moves !== undefined
  if (after !== null && isLatest && !isVenueStaff(role)) return undefined
  const point = read.pinned ? [ledgerEpoch, offset, ledgerTime].map(String) : []
  const next = after === null ? [] : [after, binding ?? "", isLatest ? String(moves) : ""]
  return cursors.authenticated(
    PlainJson.stringify([crypto.sha256(printed.bytes), ...point, ...next])
  )
}
