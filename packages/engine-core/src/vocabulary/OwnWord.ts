/**
 * Words of the rooms that a venue adds. They begin with `x-`, as no word of the engine ever does, so that
 * neither can take a word of the other.
 */
import { Schema } from "effect"

/** Word of a room of a venue's own: a kind of record, a refusal, a condition. */
export type OwnWord = `x-${string}`

/** Word of two parts, the record and what becomes of it: `x-loan.assess`, `x-loan.assessed`. */
export type OwnDottedWord = `x-${string}.${string}`

/** Most characters of a word of a room. */
export const lengthMax = 64

const part = "[a-z][a-z0-9]*(?:-[a-z0-9]+)*"
const plainPattern = new RegExp(`^x-${part}$`, "u")
const dottedPattern = new RegExp(`^x-${part}\\.${part}$`, "u")

/** Checks whether a text begins as the words of rooms do, whether or not it is one. */
export const isOwn = (text: string): text is OwnWord => text.startsWith("x-")

/** Checks whether a text is a word of one part: `x-`, then lower-case words joined by dashes. */
export const isPlain = (text: string): text is OwnWord =>
  text.length <= lengthMax && plainPattern.test(text)

/** Checks whether a text is a word of two parts, with a dot between them. */
export const isDotted = (text: string): text is OwnDottedWord =>
  text.length <= lengthMax && dottedPattern.test(text)

const schemaOf = <W extends OwnWord>(pattern: RegExp): Schema.Codec<W, string> =>
  // Cast: the pattern accepts words of this form alone.
  Schema.String.check(
    Schema.isPattern(pattern, { expected: "a word of a room, which begins with x-" }),
    Schema.isMaxLength(lengthMax)
  ) as unknown as Schema.Codec<W, string>

/** Schema of a word of one part. */
export const plain: Schema.Codec<OwnWord, string> = schemaOf(plainPattern)

/** Schema of a word of two parts. */
export const dotted: Schema.Codec<OwnDottedWord, string> = schemaOf(dottedPattern)
