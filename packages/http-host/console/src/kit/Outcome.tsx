/** What came of a read or a write: a failure as a sentence with what to do, an answer that is awaited. */
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { saidOf } from "../words/Problems.ts"
import { InstantText, Quote, Text } from "./Values.tsx"

export const Failure = ({ error }: { readonly error: unknown }) => {
  const { detail, faults, recovery, requestId, title } = saidOf(error)
  return (
    <section class="failure" role="alert">
      <h3>{title}</h3>
      <p>{detail}</p>
      {faults.length === 0 ? null : (
        <ul>
          {faults.map((fault, at) => (
            <li key={at}>
              <code>{fault.pointer === "" ? "/" : fault.pointer}</code>{" "}
              <Text value={fault.detail} />
            </li>
          ))}
        </ul>
      )}
      {recovery === null ? null : <Quote value={recovery} />}
      {requestId === null ? null : (
        <p class="fine">
          Request <code>{requestId}</code>
        </p>
      )}
    </section>
  )
}

/** Age of an older answer that stays while none newer comes. */
export const Aged = ({
  error,
  now
}: {
  readonly error: unknown
  readonly now: string | undefined
}) =>
  error === null || error === undefined || now === undefined ? null : (
    <p class="notice" role="status">
      What is shown was read at <InstantText at={now} near /> and may be out of date.
    </p>
  )

export const Loading = () => (
  <p class="loading" aria-busy="true">
    Reading …
  </p>
)

/** Outcome in the place of what was pressed, which takes the focus that went with it. */
export const Outcome = ({
  children,
  className
}: {
  readonly className: string
  readonly children: ComponentChildren
}) => {
  const place = useRef<HTMLElement>(null)
  useEffect(() => place.current?.focus(), [])
  return (
    <section ref={place} class={className} role="status" tabIndex={-1}>
      {children}
    </section>
  )
}
