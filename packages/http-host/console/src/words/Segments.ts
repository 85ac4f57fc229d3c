/** Ids within a path: one segment each, whatever letters an id has. */

/** Segment of a path. Throws on what the platform would take for a step to another path. */
export const segmentOf = (id: string): string => {
  if (/^\.{0,2}$/u.test(id)) throw new Error(`no id is ${JSON.stringify(id)}`)
  return encodeURIComponent(id)
}
