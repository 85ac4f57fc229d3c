/**
 * Partial order of terms by what they permit: whether a change loosens or tightens, member by
 * member.
 */
import { Equal } from "effect"
import type { ChangeDirection } from "../vocabulary/sets.ts"

/** Directions of a change. A change that is not certainly tighter counts as loosening. */
export type Direction = ChangeDirection

/** One member that permits more than before, or less: the path of its names, outermost first. */
export interface Change {
  readonly path: ReadonlyArray<string>
  readonly direction: Direction
}

/** Values of both sides of a movement. */
export interface Pair<A> {
  readonly from: A
  readonly to: A
}

/** Order of the values of a term, or of a struct of terms, by what they permit. */
export interface Scale<in A> {
  readonly changes: (pair: Pair<A>) => ReadonlyArray<Change>
}

/** Direction of several changes: loosening as soon as one of them loosens. */
export const whole = (changes: ReadonlyArray<Change>): Direction | "none" => {
  if (changes.length === 0) return "none"
  return changes.some(({ direction }) => direction === "loosen") ? "loosen" : "tighten"
}

/** The direction from one value to another. */
export const between = <A>(scale: Scale<A>, pair: Pair<A>): Direction | "none" =>
  whole(scale.changes(pair))

const loosened: ReadonlyArray<Change> = [{ path: [], direction: "loosen" }]
const tightened: ReadonlyArray<Change> = [{ path: [], direction: "tighten" }]

/**
 * A term of one value. `contains` checks that one value permits all that another does; where neither
 * contains the other, the change permits something new and so counts as loosening.
 */
export const byContainment = <A>(
  contains: (values: { readonly whole: A; readonly part: A }) => boolean
): Scale<A> => ({
  changes: ({ from, to }) => {
    const isWider = contains({ whole: to, part: from })
    const isTighter = contains({ whole: from, part: to })
    if (isTighter) return isWider ? [] : tightened
    return loosened
  }
})

/** The larger number permits more. */
export const larger: Scale<bigint | number> = byContainment(({ whole, part }) => part <= whole)

/** The smaller number permits more. */
export const smaller: Scale<bigint | number> = byContainment(({ whole, part }) => part >= whole)

/** Reads another value off the term and compares that. */
export const by = <A, B>(read: (value: A) => B, scale: Scale<B>): Scale<A> => ({
  changes: ({ from, to }) => scale.changes({ from: read(from), to: read(to) })
})

/** Words from the narrowest to the widest; one that is not listed compares with itself alone. */
export const ranked = <A extends string | boolean>(...narrowestFirst: ReadonlyArray<A>): Scale<A> =>
  byContainment(({ whole, part }) => {
    const [inner, outer] = [narrowestFirst.indexOf(part), narrowestFirst.indexOf(whole)]
    return part === whole || (inner >= 0 && outer >= 0 && inner <= outer)
  })

/** True permits more than false. */
export const whenTrue: Scale<boolean> = ranked(false, true)

/** The larger set permits more. */
export const inclusion: Scale<ReadonlyArray<string>> = byContainment(({ whole, part }) =>
  part.every((member) => whole.includes(member))
)

/**
 * Values without an order: any other value permits different things, or the same at another price,
 * so that any change counts as loosening.
 */
export const neither: Scale<unknown> = byContainment(({ whole, part }) => Equal.equals(whole, part))

/**
 * Meaning of an absent term. `widest`: nothing is limited. `narrowest`: nothing is permitted.
 * `apart`: comparable with no value, so that adding or removing the term loosens.
 */
export type Absence = "widest" | "narrowest" | "apart"

const vanishing: Readonly<Record<Absence, ReadonlyArray<Change>>> = {
  widest: loosened,
  narrowest: tightened,
  apart: loosened
}
const appearing: Readonly<Record<Absence, ReadonlyArray<Change>>> = {
  widest: tightened,
  narrowest: loosened,
  apart: loosened
}

/** A term that may be absent. */
export const optional = <A>(absence: Absence, scale: Scale<A>): Scale<A | null> => ({
  changes: ({ from, to }) => {
    if (from === null) return to === null ? [] : appearing[absence]
    return to === null ? vanishing[absence] : scale.changes({ from, to })
  }
})

const within = (name: string, changes: ReadonlyArray<Change>): ReadonlyArray<Change> =>
  changes.map(({ path, direction }) => ({ path: [name, ...path], direction }))

/** Every member needs a row; one without a row does not compile. */
export type Rows<A> = { readonly [Name in keyof A]-?: Scale<A[Name]> }

/** A struct permits what all of its members permit, so it is ordered member by member. */
export const struct = <A extends object>(rows: Rows<A>): Scale<A> => {
  const names = namesOf(rows)
  return {
    changes: ({ from, to }) =>
      names.flatMap((name) => within(name, rows[name].changes({ from: from[name], to: to[name] })))
  }
}

const namesOf = <A extends object>(rows: Rows<A>): ReadonlyArray<Extract<keyof A, string>> => {
  const names: Array<Extract<keyof A, string>> = []
  for (const name in rows) names.push(name)
  return names
}

/** Values by name, each on the scale of its name; a name that is not there is null. */
export const named = <A>(
  scaleOf: (name: string) => Scale<A | null>
): Scale<Readonly<Record<string, A>>> => ({
  changes: ({ from, to }) =>
    [...new Set([...Object.keys(from), ...Object.keys(to)])]
      .toSorted()
      .flatMap((name) =>
        within(name, scaleOf(name).changes({ from: valueAt(from, name), to: valueAt(to, name) }))
      )
})

const valueAt = <A>(values: Readonly<Record<string, A>>, name: string): A | null =>
  Object.hasOwn(values, name) ? (values[name] ?? null) : null
