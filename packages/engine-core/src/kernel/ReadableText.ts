/** Texts that people read: names, references, reasons; none is empty to the eye or misleads it. */
import { Schema } from "effect"

/** Characters without a shape of their own, marks of direction among them, and private ones. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u

/**
 * Invisible characters that spelling needs: joiners between letters of scripts that join them, and
 * selectors of a variant of a Han character.
 */
const spelling =
  /(?<=[\p{L}\p{M}])(?<!\p{Script=Latin}|\p{Script=Greek}|\p{Script=Cyrillic})[\u200c\u200d](?=[\p{L}\p{M}])|(?<=\p{Script=Han})[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu

const seen = /[\p{L}\p{N}\p{P}\p{S}]/u
const spaceAtEnd = /^\s|\s$/u

/** Checks that a text of one line can be read as it is: something to see, and nothing hidden. */
export const isLine = (text: string): boolean => {
  const spelled = text.replaceAll(spelling, "")
  return !invisible.test(spelled) && seen.test(spelled) && !spaceAtEnd.test(text)
}

/** As `isLine`, where lines may also end. */
export const isProse = (text: string): boolean => isLine(text.replaceAll(/\r?\n|\t/gu, " ").trim())

const expected = {
  line: "a text of one line that can be read, without spaces at its ends or hidden characters",
  prose: "a text that can be read, without hidden characters"
}

/** A name, label or reference: a line of at most so many characters. */
export const line = (most: number) =>
  Schema.String.check(
    Schema.isMinLength(1),
    Schema.isMaxLength(most),
    Schema.makeFilter((text) => (isLine(text) ? undefined : expected.line), {
      expected: expected.line
    })
  )

/** A reason or terms: lines of at most so many characters in all. */
export const prose = (most: number) =>
  Schema.String.check(
    Schema.isMinLength(1),
    Schema.isMaxLength(most),
    Schema.makeFilter((text) => (isProse(text) ? undefined : expected.prose), {
      expected: expected.prose
    })
  )
