/** Limits of a body that is a file and is streamed (docs/contract/limits.md#statements). */
import { Context } from "effect"

export interface Uploads {
  /** Largest size of a file in bytes. */
  readonly bytesMax: number
  /** Time in milliseconds within which a whole request with a file must arrive. */
  readonly within: number
}

/** The limits in force: the settings `statements.maxBytes` and `statements.timeLimit`. */
export const Uploads = Context.Reference<Uploads>("@bursar/http-host/wire/Uploads", {
  defaultValue: () => ({ bytesMax: 16 * 1024 * 1024, within: 30_000 })
})
