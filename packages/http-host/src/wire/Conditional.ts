/** Requests that fetch only what they do not have yet. */

/** Whether an If-None-Match names this tag, or any. */
export const isKnown = (given: string | undefined, etag: string): boolean =>
  given?.split(",").some((tag) => [etag, `W/${etag}`, "*"].includes(tag.trim())) === true
