/**
 * Error answers of the door: the ledger's error as JSON with its HTTP status, or plain text for an
 * unreadable body.
 */
import type * as Faults from "../Faults.ts"
import type { LedgerError } from "../LedgerError.ts"
import type { JsonObject, Undecodable } from "./Json.ts"

export type Refusal = LedgerError | Undecodable

const statusOf: { readonly [grpc: number]: number } = {
  1: 499,
  2: 500,
  3: 400,
  4: 504,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  9: 400,
  10: 409,
  11: 400,
  12: 501,
  13: 500,
  14: 503,
  15: 500,
  16: 401
}

export const status = (error: LedgerError): number =>
  error.code === "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"
    ? 413
    : (statusOf[error.grpc] ?? 500)

/** A redacted error has its gRPC code, and nothing else that a program could use. */
export const body = (
  error: LedgerError,
  refusalContext: { readonly traceparent: string | null; readonly wire: Faults.Wire | undefined }
): JsonObject => {
  const traceId = refusalContext.traceparent?.split("-")[1]
  const redacted = refusalContext.wire?.redactedError === true
  return {
    code: redacted ? "An error occurred. Please contact the operator" : error.code,
    cause: error.cause,
    ...(traceId === undefined ? {} : { traceId }),
    context: redacted ? {} : error.context,
    resources: redacted ? [] : error.resources,
    errorCategory: redacted ? -1 : error.category,
    grpcCodeValue: error.grpc,
    ...(error.retryAfterMillis === null ? {} : { retryInfo: seconds(error.retryAfterMillis) }),
    definiteAnswer: error.definiteAnswer
  }
}

/** Prints a duration in Scala's format. */
const seconds = (millis: number): string => {
  const whole = Math.max(1, Math.ceil(millis / 1_000))
  return whole === 1 ? "1 second" : `${whole} seconds`
}
