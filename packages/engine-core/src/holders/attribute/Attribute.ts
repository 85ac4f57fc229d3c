/** Eligibility attribute of a holder: its states, its record, and the forms in which callers state it. */
import { Result, Schema } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as ReadableText from "../../kernel/ReadableText.ts"
import * as Field from "../../templates/Field.ts"

export const AttributeMachine = Machine.declare("AttributeState", {
  doc: "One eligibility attribute of a holder. A new value of the same name is a new attribute.",
  states: {
    pending: "Its evidence is not verified.",
    valid: "Verified, and in time.",
    expired: "Past the instant it was valid until.",
    revoked: "Its value was withdrawn.",
    rejected: "Its evidence was refused."
  },
  triggers: {
    verify: { by: ["holder.set-attributes"] },
    reject: { by: ["holder.set-attributes"] },
    expire: { by: ["clock"] },
    revoke: { by: ["holder.set-attributes"] }
  },
  initial: "pending",
  opensIn: ["pending", "valid", "rejected"],
  opens: { by: ["holder.set-attributes", "holder.onboard"] },
  moves: {
    pending: { verify: "valid", reject: "rejected" },
    valid: { expire: "expired", revoke: "revoked" },
    expired: {},
    revoked: {},
    rejected: {}
  },
  forward: ["verify"]
})

export const Attribute = Schema.Struct({
  name: Schema.String,
  value: Schema.String,
  state: AttributeMachine.schema,
  validFrom: Instant.schema,
  validUntil: Schema.NullOr(Instant.schema),
  evidenceHash: Field.digest,
  setBy: Schema.String
})
export type Attribute = typeof Attribute.Type

const valueMax = 200
/** Value as stored: earlier ones may hold characters that requests no longer name. */
const storedValue = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(valueMax))
const readable = ReadableText.line(valueMax)

/** Largest number of attributes in one request. */
const entriesMax = 32

const statedMembers = {
  name: Schema.String.check(Schema.isPattern(/^[a-z][a-z0-9-]{0,63}$/)),
  value: storedValue,
  validFrom: Field.optional(Instant.schema),
  validUntil: Field.optional(Instant.schema),
  evidenceHash: Field.digest
} as const

/** Forms of the values that the engine computes with (docs/domain/holders.md#attributes). */
const forms: Readonly<
  Record<string, { readonly is: (value: string) => boolean; readonly expected: string }>
> = {
  "tax-rate": {
    is: (value) =>
      Result.match(Decimal.parse(value), {
        onFailure: () => false,
        onSuccess: (rate) => rate >= Decimal.zero && rate <= Decimal.one
      }),
    expected: "a tax-rate is a decimal from 0 to 1"
  },
  "tax-exemption": {
    is: (value) => /^[0-9]{2}$/.test(value),
    expected: "a tax-exemption is a code of two digits"
  }
}

/** Fault of a value that does not have the form of its name; undefined: it has, or needs none. */
const misformed = ({ name, value }: { readonly name: string; readonly value: string }) => {
  const form = Object.hasOwn(forms, name) ? forms[name] : undefined
  return form === undefined || form.is(value)
    ? undefined
    : { path: ["value"], issue: form.expected }
}

/** Fault of a value that a person cannot read; undefined: it can be read. */
const unreadable = ({ value }: { readonly value: string }) =>
  ReadableText.isLine(value) ? undefined : { path: ["value"], issue: "a text that can be read" }

/** An eligibility attribute as a caller states it, before its evidence is verified. */
export const StatedAttribute = Schema.Struct({ ...statedMembers, value: readable }).check(
  Schema.makeFilter(misformed)
)
export type StatedAttribute = typeof StatedAttribute.Type
export const StatedList = Schema.Array(StatedAttribute).check(
  Schema.isMaxLength(entriesMax),
  Schema.makeFilter((attributes: ReadonlyArray<StatedAttribute>) =>
    new Set(attributes.map(({ name }) => name)).size === attributes.length
      ? undefined
      : "attributes of different names"
  )
)

/** An attribute as the venue sets it, with the state it is to have. */
export const Changed = Schema.Struct({
  ...statedMembers,
  state: Schema.Literals(["pending", "valid", "rejected", "revoked"])
}).check(
  // A value that was stored in another form can still be rejected or revoked.
  Schema.makeFilter((changed) =>
    changed.state === "rejected" || changed.state === "revoked"
      ? undefined
      : (unreadable(changed) ?? misformed(changed))
  )
)
export const ChangedList = Schema.Array(Changed).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(entriesMax)
)
