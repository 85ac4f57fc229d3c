/** A refusal as text: in a string, in a template, in Node's inspector, and as the failure of an effect. */
import { inspect } from "node:util"
import { Refusal } from "@bursar/engine-core"
import { Cause, Effect, Exit, Result } from "effect"
import { describe, expect, it } from "vitest"

const frozen = Refusal.refused("rule-refused", {
  detail: "The holder is frozen.",
  gate: "restriction",
  check: "may-subscribe",
  recovery: "Lift the restriction.",
  instead: { detail: "The order cannot be placed.", gate: "policy", check: "auto-release-at" }
})

const frozenText = `rule-refused: The holder is frozen. (gate restriction, condition may-subscribe)
  recovery: Lift the restriction.`

const malformed = Refusal.refused("invalid-request", {
  detail: "The body has two faults.",
  errors: [
    { pointer: "/body/amount", detail: "a decimal is written without an exponent" },
    { pointer: "/body/holderId", detail: "is missing" }
  ]
})

describe("a refusal", () => {
  it("says what was refused, by which condition, and what to do", () => {
    expect(String(frozen)).toBe(frozenText)
    expect(`${frozen}`).toBe(frozenText)
  })

  it("points at each fault of the request", () => {
    expect(String(malformed)).toBe(`invalid-request: The body has two faults.
  /body/amount: a decimal is written without an exponent
  /body/holderId: is missing`)
  })

  it("says its reason, as far as it has one", () => {
    const rejected = Refusal.refused("approval-rejected", { reason: "the figures are old" })
    expect(String(rejected)).toBe(
      "approval-rejected: The action was rejected.\n  reason: the figures are old"
    )
  })

  it.each(Object.entries(Refusal.refusals))("of the slug %s has the row's title", (slug, row) => {
    expect(String(Refusal.refused(slug as Refusal.BuiltInSlug))).toBe(`${slug}: ${row.title}`)
  })

  it("shows the same text in Node's inspector, inside other values too", () => {
    expect(inspect(frozen)).toBe(frozenText)
    expect(inspect({ answer: Result.fail(malformed) })).toContain(
      "/body/amount: a decimal is written without an exponent"
    )
  })

  it("says the same as the failure of an effect", async () => {
    await expect(Effect.runPromise(Effect.fail(frozen))).rejects.toSatisfy((thrown) =>
      String(thrown).includes("The holder is frozen.")
    )
    const exit = await Effect.runPromiseExit(Effect.fail(frozen))
    expect(Exit.isFailure(exit) && Cause.pretty(exit.cause)).toContain("The holder is frozen.")
  })

  it("keeps its members as data, without what prints it", () => {
    expect(Object.keys(frozen)).toEqual(["_tag", "slug", "details"])
    expect(JSON.parse(JSON.stringify(malformed))).toEqual({
      _tag: "Refused",
      slug: "invalid-request",
      details: malformed.details
    })
  })
})

describe("a port that is unavailable", () => {
  const away = Refusal.unavailable("ledger-unavailable", "The ledger does not answer.", 5)

  it("says which, and when to call again", () => {
    const text = "ledger-unavailable: The ledger does not answer. (again in 5 s)"
    expect(String(away)).toBe(text)
    expect(inspect(away)).toBe(text)
    expect(Object.keys(away)).toEqual(["_tag", "slug", "detail", "retryAfter"])
  })
})
