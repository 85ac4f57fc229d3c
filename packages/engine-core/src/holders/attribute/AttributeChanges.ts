/** Pure rules of the view of a change of attributes: each member before and after, for its approvers. */
import { Schema } from "effect"
import * as Instant from "../../kernel/Instant.ts"
import type { Plain } from "../../kernel/PlainJson.ts"
import * as TermChange from "../../writes/TermChange.ts"
import { Attribute } from "./Attribute.ts"
import * as AttributeRules from "./AttributeRules.ts"

const { evidenceHash, state, validUntil, value } = Attribute.fields

/** An attribute without its setter, which is the maker. */
const Shown = Schema.Struct({
  value,
  state,
  /** Null: from the instant at which the write runs. */
  validFrom: Schema.NullOr(Instant.schema),
  validUntil,
  evidenceHash
})
const encode = Schema.encodeSync(Shown)
const encodeEnd = Schema.encodeSync(validUntil)

interface HolderTerms {
  readonly attributes: ReadonlyArray<Attribute>
  /** End of the registration; null: none, or in a request that it stays. */
  readonly validUntil: Instant.Instant | null
}

/**
 * Lists the members that a request changes of a holder. A path names an attribute by its name and by
 * whether it is the `verified` one or the one that is `stated`, pending or rejected: a verified value
 * counts until another one is verified (docs/domain/holders.md#attributes).
 */
export const changesOf = (
  holder: HolderTerms,
  request: {
    readonly attributes: ReadonlyArray<AttributeRules.Change>
    readonly validUntil: Instant.Instant | null
  },
  now: Instant.Instant
): ReadonlyArray<TermChange.RequestedChange> => {
  const after = AttributeRules.change(holder.attributes, request.attributes, { now, setBy: "" })
  const names = [...holder.attributes, ...after].map(({ name }) => name)
  const isFromRun = (attribute: Attribute): boolean =>
    !holder.attributes.includes(attribute) &&
    request.attributes.some(
      (to) =>
        to.name === attribute.name &&
        to.validFrom === null &&
        to.state !== "revoked" &&
        (to.state === "pending" || AttributeRules.statedOf(holder.attributes, to) === undefined)
    )
  const shown = (attribute: Attribute | undefined): Plain =>
    attribute === undefined
      ? null
      : (encode({
          ...attribute,
          validFrom: isFromRun(attribute) ? null : attribute.validFrom
        }) as unknown as Plain)
  const termsOf = (attributes: ReadonlyArray<Attribute>, end: Instant.Instant | null): Plain => ({
    attributes: Object.fromEntries(
      names.map((name) => {
        const own = attributes.filter((attribute) => attribute.name === name)
        return [
          name,
          {
            verified: shown(own.find((attribute) => !AttributeRules.isStated(attribute))),
            stated: shown(own.find(AttributeRules.isStated))
          }
        ]
      })
    ),
    validUntil: encodeEnd(end)
  })
  return TermChange.unordered({
    from: termsOf(holder.attributes, holder.validUntil),
    to: termsOf(after, request.validUntil ?? holder.validUntil)
  })
}
