/** Problems over HTTP: the engine's mapping from refusals, and the headers of a problem. */
import { Problem as Core } from "@bursar/engine-core/kernel"

/**
 * RFC 9457, every member present. The mapping is the core's, because stored operations keep
 * problems too.
 */
export const { Problem, from, internal, slugOf } = Core
export type Problem = Core.Problem

/** Headers that repeat members of a problem. */
export const headers = (problem: Problem): Readonly<Record<string, string>> => ({
  ...(problem.retryAfter === null ? {} : { "retry-after": String(problem.retryAfter) }),
  ...(problem.status === 401 ? { "www-authenticate": 'Bearer error="invalid_token"' } : {})
})
