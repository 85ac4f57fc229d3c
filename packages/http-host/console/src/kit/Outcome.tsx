/** What came of a read or a write: a failure as a sentence with what to do, an answer that is awaited. */
import { saidOf } from "../words/Problems.ts"
import { Quote } from "./Values.tsx"

export const Failure = ({ error }: { readonly error: unknown }) => {
  const { detail, recovery, requestId, title } = saidOf(error)
  return (
    <section class="failure" role="alert">
      <h3>{title}</h3>
      <p>{detail}</p>
      {recovery === null ? null : <Quote value={recovery} />}
      {requestId === null ? null : (
        <p class="fine">
          Request <code>{requestId}</code>
        </p>
      )}
    </section>
  )
}

export const Loading = () => (
  <p class="loading" aria-busy="true">
    Reading …
  </p>
)
