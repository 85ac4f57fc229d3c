/** Refusal as an error, for programs of promises: thrown, with what its value says. */
import {
  type Fault,
  type Refused as RefusalValue,
  rowOf,
  type Slug,
  type Unavailable
} from "../kernel/Refusal.ts"

/** A call that was refused, or a port that is unavailable and may answer later. */
export class Refused<S extends Slug = Slug> extends Error {
  override readonly name = "Refused"
  /** One of the table of refusals. */
  readonly slug: S
  /** Status that a host answers it with. */
  readonly status: number
  /** True: the same call may succeed later without change. */
  readonly retryable: boolean
  /** Whole seconds after which to call again. */
  readonly retryAfter: number | null
  readonly gate: string | null
  /** Condition that does not hold. */
  readonly check: string | null
  /** Advice by which the caller makes the call pass. */
  readonly recovery: string | null
  /** First fault of the input, as an RFC 6901 pointer in {body, query, path}. */
  readonly pointer: string | null
  readonly errors: ReadonlyArray<Fault>

  constructor(refusal: (RefusalValue<S> | Unavailable) & { readonly slug: S }) {
    super(String(refusal), { cause: refusal })
    const details = refusal._tag === "Refused" ? refusal.details : refusal
    const { check, errors = [], gate, recovery } = "slug" in details ? {} : details
    const row = rowOf(refusal)
    this.slug = refusal.slug
    this.status = row.status
    this.retryable = ("retryable" in details ? details.retryable : undefined) ?? row.retryable
    this.retryAfter = details.retryAfter ?? null
    this.gate = gate ?? null
    this.check = check ?? null
    this.recovery = recovery ?? null
    this.pointer = errors[0]?.pointer ?? null
    this.errors = errors
  }
}
