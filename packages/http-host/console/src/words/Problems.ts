/** Refusals and failures as a person reads them, and the faults of a form by their fields. */

export interface Fault {
  readonly pointer: string
  readonly detail: string
}

export interface Said {
  readonly title: string
  readonly detail: string
  readonly recovery: string | null
  /** Id of the request, to tell whoever runs the venue. */
  readonly requestId: string | null
  readonly faults: ReadonlyArray<Fault>
}

interface ProblemLike {
  readonly title: string
  readonly detail: string
  readonly recovery: string | null
  readonly requestId: string
  readonly errors: ReadonlyArray<Fault> | null
}

const isProblem = (value: unknown): value is ProblemLike =>
  typeof value === "object" && value !== null && "title" in value && "detail" in value

/** What an error says; an answer that never came says so. */
export const saidOf = (error: unknown): Said => {
  const problem = (error as { readonly problem?: unknown } | null)?.problem
  if (isProblem(problem)) {
    const { detail, errors, recovery, requestId, title } = problem
    return { title, detail, recovery, requestId, faults: errors ?? [] }
  }
  const tag = (error as { readonly _tag?: unknown } | null)?._tag
  if (tag === "NoAnswer") {
    return {
      title: "No answer",
      detail:
        "The service was not reached, or its answer was lost. Sending the same again makes no second write.",
      recovery: null,
      requestId: null,
      faults: []
    }
  }
  const pointer = (error as { readonly pointer?: unknown } | null)?.pointer
  const detail = error instanceof Error ? error.message : String(error)
  return {
    title: "Not done",
    detail,
    recovery: null,
    requestId: null,
    faults: tag === "InputFault" && typeof pointer === "string" ? [{ pointer, detail }] : []
  }
}

/** Faults by the field of a form: pointers of the body lose its first step. */
export const faultsByField = (faults: ReadonlyArray<Fault>): ReadonlyMap<string, string> =>
  new Map(
    faults.map(({ detail, pointer }) => [
      pointer.replace(/^\/(?:body|path|query)(?=\/)/u, ""),
      detail
    ])
  )
