/** Placeholder of a transaction's stamp, in the results of writes that are read before the stamp exists. */
import * as Instant from "../kernel/Instant.ts"

/**
 * Placeholder of the stamp in `createdAt` and `updatedAt` of a record that is written now: within
 * the microsecond of the call's own now, and no instant that a store or a ledger keeps, since those
 * have whole microseconds.
 */
export const stamp = (now: Instant.Instant): Instant.Instant =>
  Instant.fromNanos(Instant.toMicros(now) + 999n)

/** Pattern of an instant in a text whose last three digits are those of a placeholder. */
const placeholder = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}999Z/gu

/**
 * Replaces the placeholders of a transaction in a text that it stores. One pass over the text,
 * however many calls share the transaction and so however many placeholders there are.
 */
export const stamped = (
  awaited: ReadonlySet<Instant.Instant>,
  at: Instant.Instant
): ((text: string) => string) => {
  const placeholders = new Set([...awaited].map(Instant.format))
  const stamp = Instant.format(at)
  return (text) =>
    text.includes("999Z")
      ? text.replace(placeholder, (found) => (placeholders.has(found) ? stamp : found))
      : text
}
