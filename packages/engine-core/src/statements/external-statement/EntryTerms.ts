/**
 * Terms of booked entries: their references, by which their statement is found. They are written as a file
 * is read, and found once its statement is recorded.
 */
import { masking } from "../../holders/external-account/ExternalAccount.ts"
import * as SearchText from "../../kernel/SearchText.ts"
import type { TermRow } from "../../ports/storage/Terms.ts"
import type { StatementLine } from "./StatementLine.ts"

/** Name of the terms of entries, in the place of a collection. */
export const entryTerms = "statement-entry"

/**
 * Terms of the references of lines of a statement, each reference once, with the numbers of accounts in
 * them masked. References that begin alike for longer than a term is have one term.
 */
export const termsOf = (
  externalStatementId: string,
  lines: ReadonlyArray<StatementLine>
): ReadonlyArray<TermRow> => {
  const found = new Map<string, TermRow>()
  for (const line of lines) {
    if (line.kind !== "cash") continue
    for (const reference of [line.reference, line.bankReference]) {
      if (reference === null) continue
      const shown = masking(reference, null)
      const text = SearchText.cut(SearchText.fold(shown))
      if (text === "" || found.has(text)) continue
      const recordId = externalStatementId
      found.set(text, { collection: entryTerms, rank: "whole", text, recordId, shown })
    }
  }
  return [...found.values()]
}
