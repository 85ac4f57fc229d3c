/** Request ids: the caller's own or a new one, echoed on every answer. */
import { RequestId } from "@bursar/engine-core/kernel"

/** The caller's own request id; undefined when it sent none; null when what it sent is no id. */
export const sent = (values: ReadonlyArray<string>): string | undefined | null => {
  const [only, second] = values
  if (only === undefined) return undefined
  return second === undefined && RequestId.isRequestId(only) ? only : null
}
