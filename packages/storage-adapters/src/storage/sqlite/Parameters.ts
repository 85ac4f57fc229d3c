/** Values of a statement that is put together, by names that may stand in it several times. */
import type { Value } from "./Database.ts"

export interface Parameters {
  readonly values: Record<string, Value>
  /** Adds a value and returns its placeholder. */
  readonly add: (value: Value) => string
}

export const make = (): Parameters => {
  const values: Record<string, Value> = {}
  let count = 0
  return {
    values,
    add: (value) => {
      const name = `p${++count}`
      values[name] = value
      return `:${name}`
    }
  }
}
