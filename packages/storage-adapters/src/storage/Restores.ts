/** Restores of a store from a copy, as its head keeps them: a JSON array, the oldest first. */
import type { StoreRestore } from "@bursar/engine-core/ports"

export const parse = (text: string): ReadonlyArray<StoreRestore> =>
  JSON.parse(text) as ReadonlyArray<StoreRestore>

/**
 * Adds a restore; in the place of the last one, where nothing was written since. That one's instant
 * is then of no event and of no cursor.
 */
export const added = (
  restores: ReadonlyArray<StoreRestore>,
  restore: StoreRestore
): ReadonlyArray<StoreRestore> => {
  const last = restores.at(-1)
  return last?.seq === restore.seq && last.auditSeq === restore.auditSeq
    ? [...restores.slice(0, -1), restore]
    : [...restores, restore]
}
