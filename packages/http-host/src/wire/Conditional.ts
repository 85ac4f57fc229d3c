/** Conditional requests (ETag, If-None-Match). */

/** Whether an If-None-Match names this tag, or any. */
export const isKnown = (given: string | undefined, etag: string): boolean =>
  given?.split(",").some((tag) => [etag, `W/${etag}`, "*"].includes(tag.trim())) === true
