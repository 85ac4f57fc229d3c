/** The body of a refusal over HTTP (RFC 9457): every member is there, null where it is not given. */
import { Schema } from "effect"
import * as Integer from "./Integer.ts"
import { description } from "./Conditions.ts"
import { isOwn } from "../vocabulary/OwnWord.ts"
import {
  type BuiltInSlug,
  refused,
  type Refused,
  refusedBy,
  refusals,
  rowOf,
  type Unavailable
} from "./Refusal.ts"

const text = Schema.NullOr(Schema.String)
const integer = Schema.NullOr(Integer.schema)

/** Body of a refusal on the wire, as RFC 9457 has it. */
export const Problem = Schema.Struct({
  /** `urn:bursar:problem:<slug>`: an identifier, never an address. */
  type: Schema.String,
  title: Schema.String,
  status: Integer.schema,
  detail: Schema.String,
  requestId: Schema.String,
  gate: text,
  check: Schema.NullOr(Schema.String.annotate({ title: "Condition", description })),
  recovery: text,
  packageName: text,
  party: text,
  contractId: text,
  reason: text,
  retryAfter: integer,
  retryable: Schema.Boolean,
  projectionOffset: integer,
  ledgerEnd: integer,
  code: integer,
  policyVersion: integer,
  errors: Schema.NullOr(
    Schema.Array(Schema.Struct({ pointer: Schema.String, detail: Schema.String }))
  )
}).annotate({ identifier: "Problem", description: "Why a call was refused." })
export type Problem = typeof Problem.Type

const prefix = "urn:bursar:problem:"

/** The slug of a problem's type: the segment after its last colon. */
export const slugOf = (problem: Pick<Problem, "type">): string =>
  problem.type.slice(problem.type.lastIndexOf(":") + 1)

/** Maps a refusal, or a port that is unavailable, to its problem. */
export const from = (cause: Refused | Unavailable, requestId: string): Problem => {
  const common = cause._tag === "Refused" ? cause.details : cause
  const row = cause._tag === "Refused" ? rowOf(cause) : refusals[cause.slug]
  const refusalDetails = cause._tag === "Refused" ? cause.details : {}
  return {
    type: `${prefix}${cause.slug}`,
    title: row.title,
    status: row.status,
    detail: common.detail ?? row.title,
    requestId,
    gate: refusalDetails.gate ?? null,
    check: refusalDetails.check ?? null,
    recovery: refusalDetails.recovery ?? null,
    packageName: refusalDetails.packageName ?? null,
    party: refusalDetails.party ?? null,
    contractId: refusalDetails.contractId ?? null,
    reason: refusalDetails.reason ?? null,
    retryAfter: common.retryAfter ?? null,
    retryable: refusalDetails.retryable ?? row.retryable,
    projectionOffset: refusalDetails.projectionOffset ?? null,
    ledgerEnd: refusalDetails.ledgerEnd ?? null,
    code: refusalDetails.code ?? null,
    policyVersion: refusalDetails.policyVersion ?? null,
    errors: refusalDetails.errors ?? null
  }
}

/** The refusal that a problem was mapped from: that of an operation that ended by it. */
export const refusalOf = (problem: Problem): Refused => {
  const { errors, retryable, status, title, type: _type, ...members } = problem
  const { requestId: _requestId, ...texts } = members
  const details = Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== null))
  // Cast: a problem has the slug of a row; those of a newer release are texts that no row has.
  const text = slugOf(problem)
  const rest = errors === null ? {} : { errors }
  if (isOwn(text)) return refusedBy({ status, retryable, title }, text, { ...details, ...rest })
  const slug = text as BuiltInSlug
  const isOfRow = refusals[slug]?.retryable === retryable
  return refused(slug, {
    ...details,
    ...(isOfRow ? {} : { retryable }),
    ...rest
  })
}

/** The problem of an unplanned failure: only its request id, by which it is found in the log. */
export const internal = (requestId: string): Problem =>
  from({ _tag: "Refused", slug: "internal", details: { detail: requestId } }, requestId)
