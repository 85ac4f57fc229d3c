/** The venue's clock as its answers tell it, so that a clock of this machine that is wrong misleads nobody. */
import { signal } from "@preact/signals"

/** Instant of the service's last answer less that of this machine, in milliseconds; null: not known. */
export const clockOff = signal<number | null>(null)

/** Milliseconds by which two answers may differ, since their instants are whole seconds. */
const grain = 2_000

/** Takes the instant of an answer. */
export const note = ({ headers }: Pick<Response, "headers">): void => {
  const at = new Date(headers.get("date") ?? "")
  // A date that is none has no text of an instant.
  if (at.toJSON() === null) return
  const off = at.getTime() - Date.now()
  const before = clockOff.value
  if (before === null || Math.abs(before - off) > grain) clockOff.value = off
}

/** The present in milliseconds of the epoch, by the venue's clock where it is known. */
export const now = (): number => Date.now() + (clockOff.value ?? 0)

/** Milliseconds by which a clock may differ before the page says so. */
const leave = 60_000

/** True: this machine's clock differs from the venue's by more than a minute. */
export const isWrong = (): boolean => Math.abs(clockOff.value ?? 0) > leave
