/** The stamp of a transaction before it is known: what a write's result shows of records written with it. */
import * as Instant from "../kernel/Instant.ts"

/**
 * Stands for the stamp in `createdAt` and `updatedAt` of a record that is written now: within the
 * microsecond of the call's own now, and no instant that a store or a ledger keeps, since those have
 * whole microseconds.
 */
export const stamp = (now: Instant.Instant): Instant.Instant =>
  Instant.fromNanos(Instant.toMicros(now) + 999n)

/** A text to be stored, with the stamp where it was awaited. */
export const known =
  (awaited: ReadonlySet<Instant.Instant>, at: Instant.Instant) =>
  (text: string): string => {
    let told = text
    for (const one of awaited) told = told.replaceAll(Instant.format(one), Instant.format(at))
    return told
  }
