/** Limits of calls that wait for their end (docs/contract/waiting.md#limits). */
import { Context } from "effect"

export interface WaitLimits {
  /** Calls of one subject that may wait at a time; a further one is answered at once. */
  readonly subjectWaits: number
  /** Calls that may wait on this host at a time; a further one is answered at once. */
  readonly hostWaits: number
}

export const waitDefaults: WaitLimits = { subjectWaits: 64, hostWaits: 4_096 }

/** The limits in force: the settings `waits.*`. */
export const WaitLimits = Context.Reference<WaitLimits>("@bursar/http-host/wire/WaitLimits", {
  defaultValue: () => waitDefaults
})
