/** Nearest words of a set to a word that is not in it, by their edit distance. */

/** Characters of a word that are compared; texts of callers may be longer. */
const comparedMax = 64

/** Number of insertions, deletions and replacements of a character that turn one word into the other. */
export const distance = (text: string, word: string): number => {
  const from = text.slice(0, comparedMax).toLowerCase()
  const to = word.slice(0, comparedMax).toLowerCase()
  let above = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 0; i < from.length; i++) {
    const row = [i + 1]
    for (let j = 0; j < to.length; j++) {
      const replaced = (above[j] ?? 0) + (from[i] === to[j] ? 0 : 1)
      row.push(Math.min(replaced, (above[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1))
    }
    above = row
  }
  return above[to.length] ?? 0
}

/** Distance of a word from a given one; the last parts of a dotted word are one step from the whole. */
const stepsTo = (text: string, word: string): number =>
  word.toLowerCase().endsWith(`.${text.toLowerCase()}`) ? 1 : distance(text, word)

/** The words that are nearest to a given one, nearest first; at equal distance in their own order. */
export const words = (
  text: string,
  { count, set }: { readonly set: ReadonlyArray<string>; readonly count: number }
): ReadonlyArray<string> =>
  set
    .map((word) => ({ word, far: stepsTo(text, word) }))
    .toSorted((a, b) => a.far - b.far)
    .slice(0, count)
    .map(({ word }) => word)

/** Characters in which a misspelt text of a length may differ from what it means: two, or one of three. */
export const mayDiffer = (length: number): number => Math.max(2, Math.floor(length / 3))

/** The word of a set that a misspelt one most likely means; null where none is near. */
export const near = (text: string, set: ReadonlyArray<string>): string | null => {
  const isNear = (word: string): boolean => {
    const length = Math.min(comparedMax, Math.max(text.length, word.length))
    const far = stepsTo(text, word)
    // A word of two letters is not near to every other one.
    return far <= mayDiffer(length) && far < length
  }
  return words(text, { set: set.filter(isNear), count: 1 })[0] ?? null
}

/** Characters that a sentence shows of a text of a caller. */
const shownMax = 100

/** Sentence on a word that a set lacks, with the nearest one where one is near. */
export const sentence = (
  noun: string,
  { word, set }: { readonly word: string; readonly set: ReadonlyArray<string> }
): string => {
  const nearest = near(word, set)
  const shown = JSON.stringify(word.slice(0, shownMax))
  return `There is no ${noun} ${shown}${nearest === null ? "." : `; the nearest is "${nearest}".`}`
}
