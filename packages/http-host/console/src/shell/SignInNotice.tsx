/** Notice that the sign-in ends, with the button that renews it; on the page and in each dialog over it. */
import { clockOff, isWrong } from "../reads/Clock.ts"
import * as Session from "./Session.ts"

export const SignInNotice = () => (
  <>
    {Session.needsPerson.value ? (
      <p class="notice" role="alert">
        Your sign-in ends.{" "}
        <button
          type="button"
          onClick={() => void Session.renewByPerson(new AbortController().signal)}
        >
          Sign in again beside this page
        </button>{" "}
        What you typed stays.
      </p>
    ) : null}
    {Session.notice.value === null ? null : (
      <p class="notice" role="alert">
        {Session.notice.value}
      </p>
    )}
  </>
)

/** Notice that this machine's clock is wrong, before and after the sign-in. */
export const ClockNotice = () =>
  clockOff.value !== null && isWrong() ? (
    <p class="notice" role="alert">
      This machine's clock differs from the venue's by more than a minute. The page goes by the
      venue's; set the clock of this machine.
    </p>
  ) : null
