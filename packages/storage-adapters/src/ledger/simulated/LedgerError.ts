/** Errors of the simulated ledger: the ids and categories of the ledger API. */
import type { ArithmeticError } from "@bursar/engine-core/kernel"
import { Data } from "effect"

/** Error id to category; the categories and their numbers are those of the ledger API. */
const categories = {
  SERVICE_NOT_RUNNING: 1,
  SUBMISSION_ALREADY_IN_FLIGHT: 2,
  PARTICIPANT_BACKPRESSURE: 2,
  LOCAL_VERDICT_LOCKED_CONTRACTS: 2,
  ACCESS_TOKEN_EXPIRED: 2,
  STALE_STREAM_AUTHORIZATION: 2,
  JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED: 2,
  REQUEST_TIME_OUT: 3,
  UNAUTHENTICATED: 6,
  PERMISSION_DENIED: 7,
  MISSING_FIELD: 8,
  INVALID_ARGUMENT: 8,
  INVALID_FIELD: 8,
  INVALID_DISCLOSED_CONTRACT: 8,
  INVALID_EXTERNAL_SIGNATURE: 8,
  INVALID_EXTERNAL_TRANSACTION: 8,
  COMMAND_PREPROCESSING_FAILED: 8,
  DAML_AUTHORIZATION_ERROR: 8,
  TEMPLATE_PRECONDITION_VIOLATED: 8,
  CONTRACT_DOES_NOT_IMPLEMENT_INTERFACE: 8,
  WRONGLY_TYPED_CONTRACT: 9,
  DAML_FAILURE: 9,
  UNHANDLED_EXCEPTION: 9,
  INVALID_DEDUPLICATION_PERIOD: 9,
  PARTICIPANT_PRUNED_DATA_ACCESSED: 9,
  LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND: 9,
  LOCAL_VERDICT_FAILED_MODEL_CONFORMANCE_CHECK: 9,
  DUPLICATE_COMMAND: 10,
  PARTY_ALREADY_EXISTS: 10,
  CONTRACT_NOT_FOUND: 11,
  CONTRACT_NOT_ACTIVE: 11,
  LOCAL_VERDICT_INACTIVE_CONTRACTS: 11,
  PACKAGE_NAMES_NOT_FOUND: 11,
  NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME: 11,
  CONTRACT_EVENTS_NOT_FOUND: 11,
  CONTRACT_PAYLOAD_NOT_FOUND: 11,
  UPDATE_NOT_FOUND: 11,
  USER_NOT_FOUND: 11,
  OFFSET_AFTER_LEDGER_END: 12,
  UNIMPLEMENTED: 14
} as const

/** Identifier of an error of the ledger. */
export type ErrorId = keyof typeof categories

const grpcOf: { readonly [category: number]: number } = {
  1: 14,
  2: 10,
  3: 4,
  4: 13,
  5: 3,
  6: 16,
  7: 7,
  8: 3,
  9: 9,
  10: 6,
  11: 5,
  12: 11,
  14: 12
}

/** Resource that an error is about. */
export type Resource = readonly [kind: string, id: string]

/** Error of the simulated ledger, with its category. */
export class LedgerError extends Data.TaggedError("LedgerError")<{
  readonly code: ErrorId
  readonly cause: string
  readonly category: number
  readonly grpc: number
  readonly context: { readonly [key: string]: string }
  readonly resources: ReadonlyArray<Resource>
  /** Null where a retry does not help. */
  readonly retryAfterMillis: number | null
  /** False where the effect may exist nevertheless. */
  readonly definiteAnswer: boolean
}> {
  override get message(): string {
    return `${this.code}: ${this.cause}`
  }
}

/** Makes an error with the category of its id. */
export const make = (
  code: ErrorId,
  cause: string,
  details: {
    readonly context?: { readonly [key: string]: string }
    readonly resources?: ReadonlyArray<Resource>
  } = {}
): LedgerError => {
  const category = categories[code]
  return new LedgerError({
    code,
    cause,
    category,
    grpc: grpcOf[category] ?? 2,
    context: details.context ?? {},
    resources: details.resources ?? [],
    retryAfterMillis: category <= 3 ? 1_000 : null,
    definiteAnswer: category !== 1 && category !== 3
  })
}

/** Form of an error in a rejected completion. */
export interface StoredError {
  readonly code: string
  readonly cause: string
  readonly context: { readonly [key: string]: string }
  readonly resources: ReadonlyArray<Resource>
}

/** Stored form of an error. */
export const toStored = (error: LedgerError): StoredError => ({
  code: error.code,
  cause: error.cause,
  context: error.context,
  resources: error.resources
})

const isErrorId = (code: string): code is ErrorId => Object.hasOwn(categories, code)

/** Error of its stored form. */
export const fromStored = (stored: StoredError): LedgerError => {
  if (!isErrorId(stored.code)) throw new Error(`unknown stored ledger error ${stored.code}`)
  return make(stored.code, stored.cause, stored)
}

/** Error of a choice whose arithmetic has no result: a division by zero, or a figure beyond its range. */
export const arithmetic = (choice: string, { message }: ArithmeticError): LedgerError =>
  make("UNHANDLED_EXCEPTION", `ArithmeticError in ${choice}: ${message}`)

/** Error of a contract that is not there or no longer active. */
export const contractNotFound = (contractId: string): LedgerError =>
  make("CONTRACT_NOT_FOUND", `Contract could not be found with id ${contractId}`, {
    resources: [["CONTRACT_ID", contractId]]
  })

/** Error of an act that lacks parties' authority. */
export const notAuthorized = (what: string, missing: ReadonlyArray<string>): LedgerError =>
  make("DAML_AUTHORIZATION_ERROR", `${what} requires authorizers ${missing.join(", ")}`, {
    resources: missing.map((party) => ["PARTY", party] as const)
  })
