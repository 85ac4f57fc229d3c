/**
 * Maps a refusal of the ledger to the problem that the caller of the write reads
 * (docs/domain/ledger-writes.md#refusals-of-the-ledger).
 */
import { refused, type Refused } from "../kernel/Refusal.ts"
import type { Refused as LedgerRefused } from "../ports/Ledger.ts"

/** Error codes of commands on a contract that was archived in the meantime. */
const stale: ReadonlySet<string> = new Set([
  "CONTRACT_NOT_FOUND",
  "CONTRACT_NOT_ACTIVE",
  "LOCAL_VERDICT_INACTIVE_CONTRACTS"
])

export const isStale = (error: Pick<LedgerRefused, "code">): boolean => stale.has(error.code)

/** Error codes that say nothing of one command: another one of the same template is refused as well. */
const common: ReadonlySet<string> = new Set([
  "PACKAGE_NAMES_NOT_FOUND",
  "NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME",
  "UNRESOLVED_PACKAGE_NAME"
])

export const isCommon = (error: Pick<LedgerRefused, "code">): boolean => common.has(error.code)

const byCode: Readonly<Record<string, string>> = {
  DAML_AUTHORIZATION_ERROR: "authority",
  TEMPLATE_PRECONDITION_VIOLATED: "precondition",
  COMMAND_PREPROCESSING_FAILED: "command",
  PACKAGE_NAMES_NOT_FOUND: "package",
  NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME: "package",
  UNRESOLVED_PACKAGE_NAME: "package"
}

const byCategory: Readonly<Record<number, string>> = {
  2: "ledger-busy",
  3: "outcome-unknown",
  4: "ledger-internal",
  5: "ledger-security",
  8: "command",
  9: "choice",
  10: "exists",
  11: "stale-contract",
  14: "ledger-version"
}

/** Categories whose message may reveal internals to a caller. */
const guarded: ReadonlySet<number> = new Set([4, 5, 6, 7])

/** Longest text of the ledger that is passed on, in characters. */
const textMax = 1_000
const codeMax = 128

/** Cuts a text of the ledger to one line of limited length. */
const cut = (text: string, max: number = textMax): string =>
  text
    .slice(0, max)
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, " ")

export const from = (error: LedgerRefused): Refused<"ledger-rejected" | "contract-stale"> => {
  const check = byCode[error.code] ?? byCategory[error.category] ?? "ledger-internal"
  return refused(isStale(error) ? "contract-stale" : "ledger-rejected", {
    detail: guarded.has(error.category) ? "The ledger refused the command." : cut(error.cause),
    gate: "ledger",
    check,
    reason:
      error.category < 0 ? "redacted" : cut(error.code, codeMax).toLowerCase().replaceAll("_", "-"),
    ...(error.grpc === undefined ? {} : { code: error.grpc }),
    ...(error.party === undefined ? {} : { party: cut(error.party) }),
    ...(error.contractId === undefined ? {} : { contractId: cut(error.contractId) }),
    ...(error.packageName === undefined ? {} : { packageName: cut(error.packageName) })
  })
}
