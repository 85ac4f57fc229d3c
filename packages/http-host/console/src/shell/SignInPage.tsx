/** Page before anybody is signed in: the venue's name, one button, and what came of the last sign-in. */
import { useState } from "preact/hooks"
import { Failure } from "../kit/Outcome.tsx"
import * as Session from "./Session.ts"
import * as SignIn from "./SignIn.ts"
import { ClockNotice } from "./SignInNotice.tsx"
import type { Tenant } from "./Tenant.ts"

export const SignInPage = ({ tenant }: { readonly tenant: Tenant }) => {
  const [error, setError] = useState<unknown>(null)
  const [isLeaving, leave] = useState(false)
  const begin = async () => {
    leave(true)
    setError(null)
    try {
      await SignIn.begin(tenant, location.pathname + location.search)
    } catch (failure) {
      setError(new Error(SignIn.sentenceOf(failure)))
      leave(false)
    }
  }
  return (
    <main class="sign-in">
      <h1>{tenant.displayName}</h1>
      <p>The console of the venue's staff.</p>
      <ClockNotice />
      {Session.notice.value === null ? null : (
        <p role="alert" class="failure">
          {Session.notice.value}
        </p>
      )}
      {error === null ? null : <Failure error={error} />}
      <button type="button" class="main" disabled={isLeaving} onClick={() => void begin()}>
        {isLeaving
          ? "Going to the provider …"
          : `Sign in with ${new URL(tenant.signIn.issuer).host}`}
      </button>
    </main>
  )
}
