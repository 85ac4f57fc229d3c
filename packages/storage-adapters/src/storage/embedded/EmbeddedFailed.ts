/** Error of the embedded PostgreSQL, with the reason and an alternative. */
import { Data, Effect } from "effect"

/** Failure of an embedded PostgreSQL. */
export class EmbeddedFailed extends Data.TaggedError("EmbeddedFailed")<{
  readonly detail: string
}> {
  override get message(): string {
    return this.detail
  }
}

const ELSEWHERE = "Or run any PostgreSQL from 15 on and set DATABASE_URL to its address."

export const failed = (detail: string): EmbeddedFailed =>
  new EmbeddedFailed({ detail: `${detail} ${ELSEWHERE}` })

/** Runs a step with files or processes; the error names the step. */
export const step = <A>(
  what: string,
  f: (signal: AbortSignal) => Promise<A>
): Effect.Effect<A, EmbeddedFailed> =>
  Effect.tryPromise({
    try: f,
    catch: (cause) =>
      cause instanceof EmbeddedFailed ? cause : failed(`${what}: ${reasonOf(cause)}.`)
  })

export const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause)
