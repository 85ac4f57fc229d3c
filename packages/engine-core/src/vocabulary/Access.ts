/** Access letters: what a role may do on a route. */

export const accesses = {
  R: "Reads.",
  W: "Writes alone.",
  M: "Makes a four-eyes write, which runs once enough approvers approved it.",
  A: "Approves four-eyes writes that others made.",
  own: "Reads its own: an investor its own holder's records, an app the operations it opened.",
  n: "Reads only of instruments it is registrar of.",
  r: "Reads a redacted form."
} as const satisfies Readonly<Record<string, string>>

/** Access that a read can give a role. */
export type Access = keyof typeof accesses

/** The letters a read can give a role. */
export type ReadAccess = Extract<Access, "R" | "own" | "n" | "r">

/** The letters a write can give a role. */
export type WriteAccess = Extract<Access, "W" | "M" | "A">
