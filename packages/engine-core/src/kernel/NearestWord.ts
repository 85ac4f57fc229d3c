/** Edit distance: the word of a list that a misspelt word most likely means, for refusals that name it. */

/** Longest word that is compared; a longer one is none that anybody misspelt. */
const lengthMax = 100

/**
 * The nearest of the words by Levenshtein's distance; null where none is near: more than a third of
 * the letters would have to change.
 */
export const of = (word: string, words: ReadonlyArray<string>): string | null => {
  if (word.length > lengthMax) return null
  let nearest: { readonly word: string; readonly distance: number } | null = null
  for (const candidate of words) {
    const distance = distanceOf(word.toLowerCase(), candidate.toLowerCase())
    if (distance * 3 > Math.max(word.length, candidate.length)) continue
    if (nearest === null || distance < nearest.distance) nearest = { word: candidate, distance }
  }
  return nearest?.word ?? null
}

/** Sentence on a word that no list has, with the nearest one where there is one. */
export const sentence = (
  what: string,
  { word, words }: { readonly word: string; readonly words: ReadonlyArray<string> }
): string => {
  const nearest = of(word, words)
  const shown = JSON.stringify(word.slice(0, lengthMax))
  return `There is no ${what} ${shown}${nearest === null ? "." : `; the nearest is "${nearest}".`}`
}

const distanceOf = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [before, letter] of [...from].entries()) {
    const next = [before + 1]
    for (const [at, other] of [...to].entries()) {
      const replaced = row[at]! + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, row[at + 1]! + 1, next[at]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
