/** The point that the page reads at: the latest, or an offset of the ledger, kept in the address. */
import { signal } from "@preact/signals"

/** Offset of the pinned page as digits; null: the latest. */
export const point = signal<string | null>(null)

/** The ledger's time at the pinned point, once an answer has told it; null: not known, or the latest. */
export const pointTime = signal<string | null>(null)

/** Takes the point of an address; a text that is no offset is the latest. */
export const takePoint = (text: string | undefined): void => {
  const next = text !== undefined && /^\d{1,18}$/u.test(text) ? text : null
  if (next === point.value) return
  pointTime.value = null
  point.value = next
}
