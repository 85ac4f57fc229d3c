/** What one request goes by: its id, which every answer repeats, and the trace it belongs to. */
import { RequestId } from "@bursar/engine-core/kernel"

const traceparent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

/** The trace id of a W3C traceparent; null when there is none or it is not valid. */
export const traceIdOf = (header: string | undefined): string | null => {
  if (header === undefined) return null
  const parts = traceparent.exec(header.slice(0, 512))
  if (parts === null) return null
  const [, version, traceId, parentId] = parts
  const plain = version === "00" && header.length !== 55
  const zero = /^0+$/
  if (version === "ff" || plain || traceId === undefined || parentId === undefined) return null
  return zero.test(traceId) || zero.test(parentId) ? null : traceId
}

/** The caller's own request id; undefined when it sent none; null when what it sent is no id. */
export const sent = (values: ReadonlyArray<string>): string | undefined | null => {
  const [only, second] = values
  if (only === undefined) return undefined
  return second === undefined && RequestId.isRequestId(only) ? only : null
}
