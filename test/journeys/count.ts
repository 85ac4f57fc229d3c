/** Count of a journey: its visits of files and its returns, from the files entered in their order. */

export interface Count {
  /** The file entered, each time that it is another than before. */
  readonly visits: ReadonlyArray<string>
  readonly files: number
  /** Number of visits to a file that was visited before. */
  readonly returns: number
  /** Files with returns and their numbers, most first. */
  readonly returnsByFile: ReadonlyArray<readonly [file: string, returns: number]>
}

export const countOf = (entered: ReadonlyArray<string>): Count => {
  const visits = entered.filter((file, index) => file !== entered[index - 1])
  const visitsByFile = new Map<string, number>()
  for (const file of visits) visitsByFile.set(file, (visitsByFile.get(file) ?? 0) + 1)
  const returnsByFile = [...visitsByFile]
    .map(([file, count]) => [file, count - 1] as const)
    .filter(([, returns]) => returns > 0)
    .toSorted(([a, first], [b, second]) => second - first || (a < b ? -1 : 1))
  const files = visitsByFile.size
  return { visits, files, returns: visits.length - files, returnsByFile }
}
