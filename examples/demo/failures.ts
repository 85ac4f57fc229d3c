/** Expected failures of the demo's environment, printed as a sentence without a stack. */
import { ChildFailed } from "./Child.ts"
import { SecretsMissing } from "./parties.ts"
import { NotAnswered } from "./VenueClient.ts"
import { WrongSetting } from "./Settings.ts"

export const isExpected = (error: unknown): error is Error =>
  error instanceof ChildFailed ||
  error instanceof NotAnswered ||
  error instanceof SecretsMissing ||
  error instanceof WrongSetting ||
  (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"))
