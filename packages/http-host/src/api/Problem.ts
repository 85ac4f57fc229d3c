/** A problem over HTTP: the engine's mapping, and the headers that go with it. */
import { Problem as Core } from "@bursar/engine-core/kernel"

/** RFC 9457, every member present; the mapping itself is the core's, for operations keep problems too. */
export const { Problem, from, internal, slugOf } = Core
export type Problem = Core.Problem

/** The headers a problem's members repeat. */
export const headers = (problem: Problem): Readonly<Record<string, string>> => ({
  ...(problem.retryAfter === null ? {} : { "retry-after": String(problem.retryAfter) }),
  ...(problem.status === 401 ? { "www-authenticate": 'Bearer error="invalid_token"' } : {})
})
