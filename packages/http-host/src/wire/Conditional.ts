/** Conditional requests (RFC 9110): compares If-None-Match with the ETag of an answer. */

/** Entity tag at a place of a list, with the comma that separates it from the next one. */
const listed = /[\t ]*(?:(?:W\/)?("[\x21\x23-\x7E\x80-\xFF]*")[\t ]*)?(?:,|$)/uy

/**
 * Checks whether an If-None-Match is `*` or lists the ETag. The comparison is weak: it ignores
 * `W/`. A header that is no list of entity tags matches nothing.
 */
export const matches = (ifNoneMatch: string | undefined, etag: string): boolean => {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === "*") return true
  const opaque = etag.replace(/^W\//u, "")
  let isListed = false
  for (listed.lastIndex = 0; listed.lastIndex < ifNoneMatch.length; ) {
    const found = listed.exec(ifNoneMatch)
    if (found === null) return false
    isListed ||= found[1] === opaque
  }
  return isListed
}
