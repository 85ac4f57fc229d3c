/**
 * Folded texts by which records are searched: in compatibility form (NFKC), without case, and with one
 * space between words.
 */

/** Bytes of UTF-8 of a term; a longer text is found by its first ones, and then compared as a whole. */
const termBytes = 120

const bytesOf = (codePoint: number): number =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4

// Upper case first, which makes one of `ß` and `ss`; a final sigma depends on what follows it.
const withoutCase = (text: string): string =>
  text.normalize("NFKC").toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFKC")

/** Printable characters of ASCII, whose spaces are the only ones. */
const plain = /^[ -~]*$/u
const spaces = / {2,}/gu

/**
 * Folds a text. Texts that differ by case, by compatible characters or by their spaces fold to one; a
 * control character counts as a space.
 *
 * @example
 * ```ts
 * import { SearchText } from "@bursar/engine-core/kernel"
 *
 * SearchText.fold("  Müller\tSTRASSE ") // => "müller strasse"
 * ```
 */
export const fold = (text: string): string => {
  // Ids, codes and most names: each step below leaves them as they are, but for their case and spaces.
  if (plain.test(text)) return text.toLowerCase().replaceAll(spaces, " ").trim()
  // Folding once may make what folds again, such as a capital that has no small letter of its own.
  const folded = withoutCase(withoutCase(text.toWellFormed()))
  return folded.replaceAll(/[\s\p{Cc}]+/gu, " ").trim()
}

/** The first bytes of a folded text, as a term has them: whole characters. */
export const cut = (folded: string): string => {
  if (folded.length <= termBytes && (folded.length * 3 <= termBytes || plain.test(folded))) {
    return folded
  }
  let bytes = 0
  let at = 0
  for (const character of folded) {
    bytes += bytesOf(character.codePointAt(0)!)
    if (bytes > termBytes) return folded.slice(0, at)
    at += character.length
  }
  return folded
}

/** A folded name from each of its words on: `acme trust` and `trust`. */
export const fromEachWord = (folded: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const { index } of folded.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) found.push(folded.slice(index))
  return folded === "" || found[0] === folded ? found : [folded, ...found]
}

/** Compares texts by code point, as UTF-8 sorts. */
export const compare = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (left === right) continue
    // A surrogate stands for a code point after every other one.
    const isPair = (unit: number) => unit >= 0xd800 && unit <= 0xdfff
    if (isPair(left) !== isPair(right)) return isPair(left) ? 1 : -1
    return left < right ? -1 : 1
  }
  return a.length - b.length
}

/** Number of characters (code points) of a text. */
export const lengthOf = (text: string): number => {
  let count = 0
  for (const _ of text) count += 1
  return count
}
