/** Expected failures of the demo's environment, printed as a sentence without a stack. */
import { DemoFailed } from "#demo/DemoFailed.ts"

export const isExpected = (error: unknown): error is Error =>
  error instanceof DemoFailed ||
  (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"))
