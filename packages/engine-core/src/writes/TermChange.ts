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

export const RequestedChange = Schema.Struct({
  ...TermChange.fields,
  /** Null: the term has no order, such as an attribute of a holder. */
  direction: Schema.NullOr(sets.ChangeDirection.schema)
}).annotate({
  identifier: "RequestedChange",
  description: "A member that an action would replace, with its values and the change's direction."
})
export type RequestedChange = typeof RequestedChange.Type

/**
 * Lists the members that differ between two values without an order, each with its path and a null
 * direction. Objects are compared member by member; any other value, and one that is new or gone, as a
 * whole.
 */
export const unordered = (
  { from, to }: Direction.Pair<PlainJson.Plain>,
  path: ReadonlyArray<string> = []
): ReadonlyArray<RequestedChange> => {
  if (PlainJson.canonical(from) === PlainJson.canonical(to)) return []
  if (!isObject(from) || !isObject(to)) {
    return [{ path: Shape.pointer(path), from, to, direction: null }]
  }
  const names = new Set([...Object.keys(from), ...Object.keys(to)])
  return [...names].flatMap((name) =>
    unordered({ from: valueAt(from, [name]), to: valueAt(to, [name]) }, [...path, name])
  )
}

const isObject = (
  value: PlainJson.Plain
): value is { readonly [member: string]: PlainJson.Plain } =>
  value !== null && typeof value === "object" && !Array.isArray(value) && !isPlainNumber(value)

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
