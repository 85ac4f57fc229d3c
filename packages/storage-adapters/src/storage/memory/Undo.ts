/** Changes to the memory store's tables that record their undo. */
import type { Transaction } from "./Transactions.ts"

export const set = <K, V>(transaction: Transaction, map: Map<K, V>, key: K, value: V): void => {
  const before = map.get(key)
  const present = map.has(key)
  map.set(key, value)
  transaction.undo.push(() => {
    if (present) map.set(key, before as V)
    else map.delete(key)
  })
}

export const remove = <K, V>(transaction: Transaction, map: Map<K, V>, key: K): void => {
  if (!map.has(key)) return
  const before = map.get(key) as V
  map.delete(key)
  transaction.undo.push(() => map.set(key, before))
}

export const push = <V>(transaction: Transaction, list: Array<V>, value: V): void => {
  list.push(value)
  transaction.undo.push(() => list.pop())
}

/** Replaces an element of a list. */
export const put = <V>(transaction: Transaction, list: Array<V>, index: number, value: V): void => {
  const before = list[index] as V
  list[index] = value
  transaction.undo.push(() => {
    list[index] = before
  })
}

/** Removes the elements of a list from an index on. */
export const cut = <V>(
  transaction: Transaction,
  list: Array<V>,
  { from, count }: { readonly from: number; readonly count: number }
): void => {
  const taken = list.splice(from, count)
  transaction.undo.push(() => void list.splice(from, 0, ...taken))
}

/** Replaces members of a record that is changed in place. */
export const patch = <R extends object>(
  transaction: Transaction,
  record: R,
  members: Partial<R>
): void => {
  const before = { ...record }
  Object.assign(record, members)
  transaction.undo.push(() => Object.assign(record, before))
}
