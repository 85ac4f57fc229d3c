/** Conditional requests (ETag, If-None-Match). */

/** Checks whether an If-None-Match lists this ETag, or is `*`. */
export const isKnown = (given: string | undefined, etag: string): boolean =>
  given?.split(",").some((tag) => [etag, `W/${etag}`, "*"].includes(tag.trim())) === true
