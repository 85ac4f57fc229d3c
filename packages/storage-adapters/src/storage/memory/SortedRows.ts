/** Sorted list in short chunks: a walk starts anywhere, and an insert moves one chunk. */

const PIECE = 512

export interface SortedRows<Row> {
  readonly add: (row: Row) => void
  readonly remove: (row: Row) => void
  readonly size: () => number
  /** Iterates the rows from the first that is not before `from`, or all, in either direction. */
  readonly walk: (range: {
    readonly direction: "asc" | "desc"
    /** Comparator: negative where a row is before the start in ascending order. */
    readonly from?: (row: Row) => number
  }) => Generator<Row>
}

export const make = <Row>(compare: (a: Row, b: Row) => number): SortedRows<Row> => {
  const pieces: Array<Array<Row>> = []
  let size = 0

  /** Index of the piece whose last row is the first that is not before the probe. */
  const pieceAt = (probe: (row: Row) => number): number => {
    let low = 0
    let high = pieces.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (probe(lastOf(pieces[middle])) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  const add = (row: Row): void => {
    size += 1
    const probe = (other: Row) => compare(other, row)
    const at = Math.min(pieceAt(probe), pieces.length - 1)
    const piece = pieces[at]
    if (piece === undefined) {
      pieces.push([row])
      return
    }
    piece.splice(indexIn(piece, probe), 0, row)
    if (piece.length > PIECE * 2) pieces.splice(at + 1, 0, piece.splice(PIECE))
  }

  const remove = (row: Row): void => {
    const probe = (other: Row) => compare(other, row)
    const at = pieceAt(probe)
    const piece = pieces[at]
    const index = piece === undefined ? -1 : indexIn(piece, probe)
    if (piece === undefined || piece[index] === undefined || compare(piece[index], row) !== 0) {
      throw new Error("SortedRows: the row to remove is not there")
    }
    size -= 1
    piece.splice(index, 1)
    if (piece.length === 0) pieces.splice(at, 1)
  }

  function* walk({ direction, from }: Parameters<SortedRows<Row>["walk"]>[0]): Generator<Row> {
    if (direction === "asc") {
      const first = from === undefined ? 0 : pieceAt(from)
      for (let at = first; at < pieces.length; at++) {
        const piece = pieces[at] ?? []
        const start = at === first && from !== undefined ? indexIn(piece, from) : 0
        for (let index = start; index < piece.length; index++) yield piece[index] as Row
      }
      return
    }
    // Descending iteration starts at the last row that is not after the probe.
    const after = from === undefined ? undefined : (row: Row) => (from(row) <= 0 ? -1 : 1)
    const last =
      after === undefined ? pieces.length - 1 : Math.min(pieceAt(after), pieces.length - 1)
    for (let at = last; at >= 0; at--) {
      const piece = pieces[at] ?? []
      const end = at === last && after !== undefined ? indexIn(piece, after) : piece.length
      for (let index = end - 1; index >= 0; index--) yield piece[index] as Row
    }
  }

  return { add, remove, size: () => size, walk }
}

const lastOf = <Row>(piece: ReadonlyArray<Row> | undefined): Row => piece?.[piece.length - 1] as Row

/** The index of the first row of a piece that is not before the probe. */
const indexIn = <Row>(piece: ReadonlyArray<Row>, probe: (row: Row) => number): number => {
  let low = 0
  let high = piece.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (probe(piece[middle] as Row) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Merges several ordered iterations into one. */
export function* merge<Row>(
  walks: ReadonlyArray<Iterator<Row>>,
  compare: (a: Row, b: Row) => number
): Generator<Row> {
  const heads = walks
    .map((walk) => ({ walk, next: walk.next() }))
    .filter((h) => h.next.done !== true)
  while (heads.length > 0) {
    let least = heads[0]
    for (const head of heads) {
      if (least === undefined || compare(head.next.value, least.next.value) < 0) least = head
    }
    if (least === undefined) return
    yield least.next.value
    least.next = least.walk.next()
    if (least.next.done === true) heads.splice(heads.indexOf(least), 1)
  }
}
