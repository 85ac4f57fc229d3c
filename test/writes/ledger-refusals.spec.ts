/** Check of the gate `ledger` that a caller reads for each refusal of the ledger. */
import { describe, expect, it } from "vitest"
import * as LedgerRefusal from "#core/writes/LedgerRefusal.ts"

const refusalOf = (error: { readonly code?: string; readonly category?: number }) =>
  LedgerRefusal.from({
    _tag: "Refused",
    code: "SOME_OTHER_CODE",
    category: 9,
    cause: "the ledger's words",
    ...error
  } as Parameters<typeof LedgerRefusal.from>[0])

describe("a refusal of the ledger", () => {
  it.each([
    ["DAML_AUTHORIZATION_ERROR", "authority"],
    ["TEMPLATE_PRECONDITION_VIOLATED", "precondition"],
    ["COMMAND_PREPROCESSING_FAILED", "command"],
    ["PACKAGE_NAMES_NOT_FOUND", "package"],
    ["NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME", "package"],
    ["UNRESOLVED_PACKAGE_NAME", "package"]
  ])("with the code %s is the check %s, whatever its category", (code, check) => {
    for (const category of [2, 4, 8, 9, 11]) {
      expect(refusalOf({ code, category })).toMatchObject({
        slug: "ledger-rejected",
        details: { check }
      })
    }
  })

  it.each([
    [2, "ledger-busy"],
    [3, "outcome-unknown"],
    [4, "ledger-internal"],
    [5, "ledger-security"],
    [8, "command"],
    [9, "choice"],
    [10, "exists"],
    [11, "stale-contract"],
    [14, "ledger-version"],
    [99, "ledger-internal"]
  ])("of category %i with any other code is the check %s", (category, check) => {
    expect(refusalOf({ category })).toMatchObject({ details: { check, gate: "ledger" } })
  })

  it.each(["CONTRACT_NOT_FOUND", "CONTRACT_NOT_ACTIVE", "LOCAL_VERDICT_INACTIVE_CONTRACTS"])(
    "with the code %s is contract-stale",
    (code) => {
      expect(refusalOf({ code, category: 11 })).toMatchObject({ slug: "contract-stale" })
    }
  )

  it("names the ledger's code in its reason, cut to 128 characters", () => {
    expect(refusalOf({ code: "A_CODE" })).toMatchObject({ details: { reason: "a-code" } })
    expect(refusalOf({ code: "C".repeat(200) })).toMatchObject({
      details: { reason: "c".repeat(128) }
    })
  })

  it("of a category that may tell what an outsider should not read has no words of the ledger", () => {
    for (const category of [4, 5, 6, 7]) {
      expect(JSON.stringify(refusalOf({ category }))).not.toContain("the ledger's words")
    }
    expect(refusalOf({ category: 9 })).toMatchObject({ details: { detail: "the ledger's words" } })
  })
})
