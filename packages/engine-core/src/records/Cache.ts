/** LRU cache of immutable values. */

export interface Cache<A> {
  readonly get: (key: string) => A | undefined
  readonly set: (key: string, value: A) => void
}

export const make = <A>(limit: number): Cache<A> => {
  const kept = new Map<string, A>()
  // An iterator that stays: a new one would first pass over the places of all that was evicted before.
  const oldestFirst = kept.keys()
  return {
    get: (key) => {
      const value = kept.get(key)
      if (value === undefined) return undefined
      kept.delete(key)
      kept.set(key, value)
      return value
    },
    set: (key, value) => {
      kept.set(key, value)
      if (kept.size > limit) {
        const oldest = oldestFirst.next().value
        if (oldest !== undefined) kept.delete(oldest)
      }
    }
  }
}
