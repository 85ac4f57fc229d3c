/** Parser of the preference `wait` of a call (RFC 7240). */

/** Longest wait in seconds; a longer preference is honoured as this one. */
export const waitMax = 60

/**
 * Seconds that the caller prefers to wait for the end of its call; undefined where the header states
 * none that can be honoured. Of a preference that is given twice the first counts, and the header
 * itself is never refused.
 */
export const waitOf = (header: string | undefined): number | undefined => {
  if (header === undefined) return undefined
  for (const preference of split(header, ",")) {
    const [nameAndValue = ""] = split(preference, ";")
    const [name = "", ...value] = nameAndValue.split("=")
    if (name.trim().toLowerCase() !== "wait") continue
    const seconds = unquoted(value.join("=").trim())
    return /^\d+$/u.test(seconds) ? Math.min(Number(seconds), waitMax) : undefined
  }
  return undefined
}

/** Splits a text at a separator outside of quoted strings. */
const split = (text: string, separator: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let begin = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (isQuoted && character === "\\") at++
    else if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && character === separator) {
      parts.push(text.slice(begin, at))
      begin = at + 1
    }
  }
  return [...parts, text.slice(begin)]
}

const unquoted = (text: string): string =>
  text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
