/** Order of search terms, and where a page begins and ends in each of its ranges. */
import type { TermPlace, TermRange } from "@bursar/engine-core/ports"
import { SearchText } from "@bursar/engine-core/kernel"

/** Compares places as pages order them: whole terms first, then by text, collection and record. */
export const compare = (a: TermPlace, b: TermPlace): number =>
  SearchText.compare(a.rank, b.rank) ||
  SearchText.compare(a.text, b.text) ||
  SearchText.compare(a.collection, b.collection) ||
  SearchText.compare(a.recordId, b.recordId)

/** Text after every text and every id. */
const LAST = "\u{10ffff}".repeat(64)

/** The first text, by code point, after all those that begin with a prefix. */
export const endOf = (prefix: string): string => {
  const points = [...prefix].map((character) => character.codePointAt(0)!)
  while (points.length > 0) {
    const last = points.pop()!
    // Surrogates are no characters of a text.
    if (last !== 0x10ffff)
      return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
  }
  return LAST
}

/** A page's range of one collection and rank: terms after this text and id are in it. */
interface RangeStart extends TermRange {
  readonly text: string
  readonly recordId: string
}

/** The ranges of a page, each once, from where the page begins in it; those before the place are left out. */
export const startsOf = ({
  after,
  prefix,
  ranges
}: {
  readonly ranges: ReadonlyArray<TermRange>
  readonly prefix: string
  readonly after?: TermPlace
}): ReadonlyArray<RangeStart> => {
  const distinct = new Map(ranges.map((range) => [`${range.rank} ${range.collection}`, range]))
  return [...distinct.values()].flatMap(({ collection, rank }): ReadonlyArray<RangeStart> => {
    // Every id is after the empty one.
    const first = { collection, rank, text: prefix, recordId: "" }
    if (after === undefined) return [first]
    const ranks = SearchText.compare(rank, after.rank)
    if (ranks < 0) return []
    if (ranks > 0 || SearchText.compare(after.text, prefix) < 0) return [first]
    const order = SearchText.compare(collection, after.collection)
    const recordId = order > 0 ? "" : order === 0 ? after.recordId : LAST
    return [{ collection, rank, text: after.text, recordId }]
  })
}
