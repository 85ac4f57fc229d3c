/** Notice that the sign-in ends, with the button that renews it; on the page and in each dialog over it. */
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
