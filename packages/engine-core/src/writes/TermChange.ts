/** Figures of a change of terms: its direction, as approver and record show it. */
import { Schema } from "effect"
import type * as Direction from "../kernel/Direction.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import { PlainSchema } from "../kernel/PlainSchema.ts"
import { isPlainNumber } from "../kernel/PlainNumber.ts"
import * as Shape from "../kernel/Shape.ts"
import * as sets from "../vocabulary/sets.ts"
import type { Figures } from "./Figures.ts"

export const TermChange = Schema.Struct({
  /** The changed term, as a JSON pointer (RFC 6901) into the terms. */
  path: Schema.String,
  from: PlainSchema,
  to: PlainSchema,
  direction: sets.ChangeDirection.schema
}).annotate({
  identifier: "TermChange",
  description: "A changed term, and whether the change loosens or tightens."
})
export type TermChange = typeof TermChange.Type

/** Adds to each change its values before and after, from both terms as they are shown. */
export const withValues = (
  changes: ReadonlyArray<Direction.Change>,
  shownPair: Direction.Pair<PlainJson.Plain>
): ReadonlyArray<TermChange> =>
  changes.map(({ path, direction }) => ({
    path: Shape.pointer(path),
    from: valueAt(shownPair.from, path),
    to: valueAt(shownPair.to, path),
    direction
  }))

const valueAt = (value: PlainJson.Plain, path: ReadonlyArray<string>): PlainJson.Plain => {
  const [name, ...rest] = path
  if (name === undefined) return value
  if (value === null || typeof value !== "object" || isPlainNumber(value)) return null
  const member = Object.entries(value).find(([key]) => key === name)
  return member === undefined ? null : valueAt(member[1], rest)
}

/** Direction of the changes together: one that loosens makes the whole loosen; null: no change. */
export const directionOf = (changes: ReadonlyArray<TermChange>): sets.ChangeDirection | null => {
  if (changes.length === 0) return null
  return changes.some(({ direction }) => direction === "loosen") ? "loosen" : "tighten"
}

/** Longest value that is shown; a longer one is shown by its hash. */
const shownMax = 200

/**
 * Figures that the approver of a change of terms signs: the direction of the whole, or `none`, and
 * by its path each changed term with its values.
 */
export const figuresOf = (
  changes: ReadonlyArray<TermChange>,
  sha256: (text: string) => string
): Figures => {
  const shown = (value: PlainJson.Plain) => {
    const text = PlainJson.canonical(value)
    return text.length > shownMax ? `sha256:${sha256(text)}` : text
  }
  const byPath = Map.groupBy(changes, ({ path }) => path)
  return {
    direction: directionOf(changes) ?? "none",
    ...Object.fromEntries(
      [...byPath].map(([path, all]) => [
        path,
        all
          .map(({ direction, from, to }) => `${direction}: ${shown(from)} -> ${shown(to)}`)
          .join("; ")
      ])
    )
  }
}
