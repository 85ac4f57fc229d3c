/** Consent policy of a party's bot: everything, a list, nothing, or after a delay. */
import { Schema } from "effect"

const Which = Schema.Union([Schema.Literal("all"), Schema.Array(Schema.String)])

/** Ids are contract ids or those of the business, such as a holderId or an instrumentId. */
export const Policy = Schema.Struct({
  accept: Schema.optionalKey(Which),
  /** A rejection overrides an acceptance. */
  reject: Schema.optionalKey(Which),
  /** Seconds to wait before any answer. */
  delay: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 86_400 })))
})
export type Policy = typeof Policy.Type

/** Policy that accepts everything. */
export const acceptAll: Policy = { accept: "all" }

/** Verdict of a policy on what a party is asked for. */
export type Verdict = "accept" | "reject" | "wait"

const names = (which: typeof Which.Type | undefined, ids: ReadonlyArray<string>): boolean =>
  which !== undefined && (which === "all" || ids.some((id) => which.includes(id)))

/** Without a list everything is accepted; with one, other ids wait. */
export const judge = (policy: Policy, ids: ReadonlyArray<string>): Verdict =>
  names(policy.reject, ids) ? "reject" : names(policy.accept ?? "all", ids) ? "accept" : "wait"
