/** Request ids: the caller's own or a new one, echoed on every answer. */
import { RequestId } from "@bursar/engine-core/kernel"

/**
 * The caller's request id; undefined where none was sent; null where the text is not a valid id.
 */
export const sent = (values: ReadonlyArray<string>): string | undefined | null => {
  const [only, second] = values
  if (only === undefined) return undefined
  return second === undefined && RequestId.isRequestId(only) ? only : null
}
