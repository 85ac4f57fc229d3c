/** What can go wrong around the demo and is no bug of it: told in its own words, without a stack. */
import { ChildFailed } from "./Child.ts"
import { NotAnswered } from "./Desk.ts"
import { WrongSetting } from "./Settings.ts"

export const isExpected = (error: unknown): error is Error =>
  error instanceof ChildFailed ||
  error instanceof NotAnswered ||
  error instanceof WrongSetting ||
  (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"))
