/** Boundary of a page: what fails while it is drawn is said in its place, and the rest of the console stays. */
import type { ComponentChildren } from "preact"
import { useErrorBoundary } from "preact/hooks"
import { forms } from "../kit/Form.tsx"
import { Failure } from "../kit/Outcome.tsx"
import * as Upgrade from "./Upgrade.ts"

export const Boundary = ({ children }: { readonly children: ComponentChildren }) => {
  const [error, again] = useErrorBoundary((failure: unknown) => {
    if (!Upgrade.isMissingFile(failure)) return
    const isFirst = Upgrade.isFirst(sessionStorage)
    if (forms.hasWork() || !isFirst) return
    Upgrade.mark(sessionStorage)
    location.reload()
  })
  if (error === undefined) return <>{children}</>
  return Upgrade.isMissingFile(error) ? (
    <section class="failure" role="alert">
      <h1>A file of this page is missing</h1>
      <p>
        The host may have been upgraded since this page was opened, or was not reached.{" "}
        {forms.hasWork()
          ? "What you typed is still in its form: go back and send it, or reload without it."
          : "Reload the page; you sign in again."}
      </p>
      <p class="acts">
        <button type="button" onClick={() => history.back()}>
          Go back
        </button>
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </p>
    </section>
  ) : (
    <>
      <h1>This page cannot be drawn</h1>
      <Failure error={error} />
      <button type="button" onClick={again}>
        Try again
      </button>
    </>
  )
}
