/** The table of refusals (slug, status, title) and the order of the gates. */
import { Inspectable, Result } from "effect"
import type { OwnWord } from "../vocabulary/OwnWord.ts"

/** Row of the table: what a refusal answers over HTTP. */
export interface RefusalRow {
  readonly status: number
  /** True: the same call may succeed later without change. */
  readonly retryable: boolean
  readonly title: string
}

/**
 * Table of all refusals, drawn as docs/refusals.md; the shape of the answer is
 * docs/contract/problems.md#members.
 */
export const refusals = {
  "invalid-request": { status: 400, retryable: false, title: "The request is malformed." },
  unauthenticated: { status: 401, retryable: false, title: "Sign-in is missing or not valid." },
  "signature-required": { status: 401, retryable: false, title: "This caller signs its requests." },
  "signature-invalid": { status: 401, retryable: false, title: "The signature is not valid." },
  "signature-expired": {
    status: 401,
    retryable: false,
    title: "The signature's time is outside the window."
  },
  "nonce-reused": { status: 401, retryable: false, title: "The nonce has been used." },
  "permission-denied": {
    status: 403,
    retryable: false,
    title: "The caller's roles do not admit this."
  },
  "same-approver": {
    status: 403,
    retryable: false,
    title: "The maker of an action never approves it."
  },
  "auditor-never-approves": { status: 403, retryable: false, title: "An auditor never approves." },
  "not-found": { status: 404, retryable: false, title: "There is no such route or record." },
  "method-not-allowed": {
    status: 405,
    retryable: false,
    title: "The route does not take this method."
  },
  "not-acceptable": {
    status: 406,
    retryable: false,
    title: "The answer's form is not one the caller accepts."
  },
  "request-timeout": {
    status: 408,
    retryable: true,
    title: "The request was not received in time."
  },
  "offset-unavailable": {
    status: 409,
    retryable: true,
    title: "The projection does not hold this offset."
  },
  "before-horizon": { status: 409, retryable: false, title: "The instant is before the history." },
  "approval-rejected": { status: 409, retryable: false, title: "The action was rejected." },
  "approval-decided": { status: 409, retryable: false, title: "The action is decided." },
  "approval-ambiguous": {
    status: 409,
    retryable: false,
    title: "Several awaiting actions match this call."
  },
  "idempotency-in-progress": {
    status: 409,
    retryable: true,
    title: "The same write is still running."
  },
  "already-exists": { status: 409, retryable: false, title: "The id is taken." },
  "state-conflict": {
    status: 409,
    retryable: false,
    title: "The record's state does not allow this."
  },
  "contract-stale": {
    status: 409,
    retryable: true,
    title: "A ledger contract was used up in between."
  },
  "webhook-configured": {
    status: 409,
    retryable: false,
    title: "The webhook belongs to the configuration."
  },
  "cursor-expired": {
    status: 410,
    retryable: false,
    title: "The cursor is before what the feed keeps."
  },
  "body-too-large": { status: 413, retryable: false, title: "The body is too large." },
  "uri-too-long": { status: 414, retryable: false, title: "The request line is too long." },
  "unsupported-media-type": {
    status: 415,
    retryable: false,
    title: "The body's form is not one this route takes."
  },
  "headers-too-large": { status: 431, retryable: false, title: "The headers are too large." },
  "idempotency-key-reused": {
    status: 422,
    retryable: false,
    title: "The idempotency key named another write."
  },
  "rule-refused": { status: 422, retryable: false, title: "A business rule refuses this." },
  "webhook-url-refused": {
    status: 422,
    retryable: false,
    title: "The address is not one webhooks go to."
  },
  "ledger-rejected": { status: 422, retryable: false, title: "The ledger refused the command." },
  "rate-limited": { status: 429, retryable: true, title: "Too many requests." },
  internal: { status: 500, retryable: true, title: "Something went wrong." },
  "not-ready": { status: 503, retryable: true, title: "The engine is not ready." },
  "ledger-unavailable": { status: 503, retryable: true, title: "The ledger is not available." },
  "identity-provider-unavailable": {
    status: 503,
    retryable: true,
    title: "The identity provider is not available."
  },
  overloaded: { status: 503, retryable: true, title: "The engine is overloaded." },
  "ledger-timeout": { status: 504, retryable: true, title: "The ledger did not answer in time." }
} as const satisfies Readonly<Record<string, RefusalRow>>

/** Slug of a refusal of the engine. */
export type BuiltInSlug = keyof typeof refusals
/** Slug of a refusal of the engine, or of a room that a venue adds. */
export type Slug = BuiltInSlug | OwnWord

/**
 * The gates of a business rule, in the order in which they refuse
 * (docs/domain/every-record.md#gate-order).
 */
export const gates = [
  "four-eyes",
  "hold",
  "restriction",
  "admission",
  "attribute",
  "screening",
  "consent",
  "policy",
  "window",
  "units",
  "cash",
  "nav-feed",
  "reserve-cover",
  "ledger"
] as const

/** Group of conditions that an act passes or fails as one. */
export type Gate = (typeof gates)[number]

/** A fault of the request's shape: where it is (RFC 6901, in {body, query, path, header}) and what. */
export interface Fault {
  readonly pointer: string
  readonly detail: string
}

/** Members of a refusal beside its slug; those that do not apply are left out. */
export interface RefusalDetails {
  readonly detail?: string
  readonly gate?: Gate
  readonly check?: string
  readonly reason?: string
  readonly recovery?: string
  readonly packageName?: string
  readonly party?: string
  readonly contractId?: string
  readonly code?: number
  readonly policyVersion?: number
  readonly projectionOffset?: number
  readonly ledgerEnd?: number
  readonly retryAfter?: number
  /** Only where one occurrence differs from the table. */
  readonly retryable?: boolean
  readonly errors?: ReadonlyArray<Fault>
  /**
   * The refusal for callers who must not learn that this gate refuses; absent where no other gate
   * refuses.
   */
  readonly instead?: RefusalDetails
}

/** A refusal: a value, cheap to make, never thrown. As text it says what was refused, and why. */
export interface Refused<out S extends Slug = Slug> {
  readonly _tag: "Refused"
  readonly slug: S
  readonly details: RefusalDetails
  /** Row of a refusal of a room, which no table of the engine has; absent: the engine's own. */
  readonly row?: RefusalRow
}

/**
 * Refusal of a slug, with its details.
 *
 * @example
 * ```ts
 * import { Refusal } from "@bursar/engine-core"
 *
 * const refusal = Refusal.refused("not-found")
 * [refusal.slug, String(refusal)] // => ["not-found", "not-found: There is no such route or record."]
 * ```
 */
export const refused = <const S extends BuiltInSlug>(
  slug: S,
  details: RefusalDetails = {}
): Refused<S> => new PrintedRefusal(slug, details)

/** A refusal of a room, by its row: the one that the room declares, or that a problem states. */
export const refusedBy = <const S extends OwnWord>(
  row: RefusalRow,
  slug: S,
  details: RefusalDetails = {}
): Refused<S> => new PrintedRefusal(slug, details, row)

/** Checks whether a slug is one of the engine's table. */
export const isBuiltIn = (slug: string): slug is BuiltInSlug => Object.hasOwn(refusals, slug)

/** Row of a refusal. Throws where neither the table nor the refusal has one: a bug. */
export const rowOf = ({ slug, row }: Pick<Refused, "slug" | "row">): RefusalRow => {
  if (row !== undefined) return row
  if (isBuiltIn(slug)) return refusals[slug]
  throw new Error(`the refusal ${slug} is made without its row`)
}

/** Refusals that a room declares: their rows, and the makers of their values. */
export interface RoomRefusals<S extends OwnWord = OwnWord> {
  readonly rows: Readonly<Record<S, RefusalRow>>
  readonly refused: <const T extends S>(slug: T, details?: RefusalDetails) => Refused<T>
  readonly refuse: <const T extends S>(
    slug: T,
    details?: RefusalDetails
  ) => Result.Result<never, Refused<T>>
}

/** Declares the refusals of a room; each slug begins with `x-`. */
export const declare = <const S extends OwnWord>(
  rows: Readonly<Record<S, RefusalRow>>
): RoomRefusals<S> => {
  const refused = <const T extends S>(slug: T, details: RefusalDetails = {}) =>
    refusedBy(rows[slug], slug, details)
  return { rows, refused, refuse: (slug, details) => Result.fail(refused(slug, details)) }
}

/** Refusal whose text, and what Node's inspector shows of it, is that of `describe`. */
class PrintedRefusal<out S extends Slug> implements Refused<S> {
  readonly _tag = "Refused"
  readonly slug: S
  readonly details: RefusalDetails
  declare readonly row?: RefusalRow
  constructor(slug: S, details: RefusalDetails, row?: RefusalRow) {
    this.slug = slug
    this.details = details
    if (row !== undefined) this.row = row
  }
  toString(): string {
    return describe(this)
  }
  [Inspectable.NodeInspectSymbol](): string {
    return describe(this)
  }
}

/**
 * Text of a refusal for a person who reads a log or a console: the slug and the detail with the gate
 * and the condition on one line, then a line for each fault of the request's shape, and one for what
 * to do. The substitute for callers who must not learn of a gate is left out: the text is for the
 * venue's own people.
 */
export const describe = (refusal: Pick<Refused, "slug" | "details" | "row">): string => {
  const { details, slug } = refusal
  const { check, detail, errors = [], gate, reason, recovery } = details
  const judged = [gate && `gate ${gate}`, check && `condition ${check}`].filter(Boolean)
  const first = `${slug}: ${detail ?? rowOf(refusal).title}`
  return [
    judged.length === 0 ? first : `${first} (${judged.join(", ")})`,
    ...errors.map((fault) => `  ${fault.pointer}: ${fault.detail}`),
    ...(reason === undefined ? [] : [`  reason: ${reason}`]),
    ...(recovery === undefined ? [] : [`  recovery: ${recovery}`])
  ].join("\n")
}

/** Effect that fails with a refusal of a slug. */
export const refuse = <const S extends BuiltInSlug>(
  slug: S,
  details: RefusalDetails = {}
): Result.Result<never, Refused<S>> => Result.fail(refused(slug, details))

/** Whether a value is a refusal. */
export const isRefused = (value: unknown): value is Refused =>
  typeof value === "object" && value !== null && "_tag" in value && value._tag === "Refused"

/** Refuses on the first objection that holds. The order written is the order of precedence. */
export const unless = <const S extends BuiltInSlug>(
  ...objections: ReadonlyArray<readonly [holds: boolean, slug: S, details?: RefusalDetails]>
): Result.Result<void, Refused<S>> => {
  const first = objections.find(([holds]) => holds)
  return first === undefined ? Result.void : refuse(first[1], first[2])
}

/** Every objection that holds, in order: what a precheck shows. */
export const objections = <const S extends BuiltInSlug>(
  ...rows: ReadonlyArray<readonly [holds: boolean, slug: S, details?: RefusalDetails]>
): ReadonlyArray<Refused<S>> =>
  rows.filter(([holds]) => holds).map(([, slug, details]) => refused(slug, details))

/** Slugs of a port that is unavailable and may answer later. */
export type UnavailableSlug = Extract<
  Slug,
  | "not-ready"
  | "ledger-unavailable"
  | "identity-provider-unavailable"
  | "overloaded"
  | "ledger-timeout"
>

/** A port is unavailable; the same call may succeed later. As text it says which, and when. */
export interface Unavailable {
  readonly _tag: "Unavailable"
  readonly slug: UnavailableSlug
  readonly detail: string
  /** Whole seconds. */
  readonly retryAfter: number
}

/** Failure of a call that may be repeated: a port did not answer. */
export const unavailable = (
  slug: UnavailableSlug,
  detail: string,
  retryAfter: number
): Unavailable => new PrintedUnavailability({ slug, detail, retryAfter })

/** Unavailability of a port whose text, as Node's inspector shows it too, says when to call again. */
class PrintedUnavailability implements Unavailable {
  readonly _tag = "Unavailable"
  readonly slug: UnavailableSlug
  readonly detail: string
  readonly retryAfter: number
  constructor({ slug, detail, retryAfter }: Omit<Unavailable, "_tag">) {
    this.slug = slug
    this.detail = detail
    this.retryAfter = retryAfter
  }
  toString(): string {
    return `${this.slug}: ${this.detail} (again in ${this.retryAfter} s)`
  }
  [Inspectable.NodeInspectSymbol](): string {
    return this.toString()
  }
}
