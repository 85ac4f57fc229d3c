/** Pure rules of a holder's attributes: stated, verified, rejected, revoked, expired. */
import type { Result } from "effect"
import { condition, judge as judgeGates } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as PlainJson from "../../kernel/PlainJson.ts"
import { refuse, type Refused } from "../../kernel/Refusal.ts"
import { type Attribute, AttributeMachine } from "./Attribute.ts"

/** One attribute of a request: the state it is to have, and the hash of its evidence. */
export interface Change {
  readonly name: string
  readonly value: string
  readonly state: "pending" | "valid" | "rejected" | "revoked"
  readonly validFrom: Instant.Instant | null
  readonly validUntil: Instant.Instant | null
  readonly evidenceHash: string
}

/** Actor and instant of a change of attributes. */
export interface ChangeOrigin {
  readonly now: Instant.Instant
  readonly setBy: string
}

/** Largest number of attribute names of a holder. */
const namesMax = 32

type Attributes = ReadonlyArray<Attribute>

/**
 * Checks whether the attribute is not verified: an earlier verified attribute of its name still counts.
 */
export const isStated = ({ state }: Pick<Attribute, "state">): boolean =>
  state === "pending" || state === "rejected"

/**
 * Checks whether every change can be made (docs/domain/holders.md#attributes). Refuses
 * `state-conflict` where a revocation meets no valid attribute, and `rule-refused` by the first
 * condition that does not hold.
 */
export const judge = (
  attributes: Attributes,
  changes: ReadonlyArray<Change>,
  by: ChangeOrigin
): Result.Result<void, Refused<"state-conflict" | "rule-refused">> => {
  const names = changes.map(({ name }) => name)
  const revoking = changes.find(
    (change) => change.state === "revoked" && verifiedOf(attributes, change)?.state !== "valid"
  )
  if (revoking !== undefined) {
    return refuse("state-conflict", {
      check: AttributeMachine.name,
      detail: `The holder has no valid ${revoking.name} of this value.`
    })
  }
  return judgeGates([
    condition("attribute-repeated", new Set(names).size === names.length),
    condition(
      "attribute-period",
      !changes.some(({ validFrom, validUntil }) => isPast(validUntil, validFrom ?? by.now))
    ),
    condition(
      "attribute-in-time",
      !changes.some(
        (change) => change.state === "valid" && isPast(endOf(attributes, change), by.now)
      )
    ),
    condition(
      "attributes-max",
      new Set([...names, ...attributes.map(({ name }) => name)]).size <= namesMax,
      { recovery: `A holder has at most ${namesMax} attributes.` }
    )
  ])
}

/** End of a verified attribute: the decision's own, else the end that the holder stated. */
const endOf = (attributes: Attributes, to: Change): Instant.Instant | null =>
  to.validUntil ?? statedOf(attributes, to)?.validUntil ?? null

/** The verified attribute of a name and value, valid or expired. */
const verifiedOf = (attributes: Attributes, { name, value }: Change): Attribute | undefined =>
  attributes.find(
    (attribute) => attribute.name === name && attribute.value === value && !isStated(attribute)
  )

/**
 * The attributes after changes that `judge` has accepted. A new value of a name is a new attribute:
 * it supersedes the earlier one when it is verified; before that, and when its evidence is
 * rejected, the earlier one counts. Never refuses: between judgement and commit an attribute can
 * only have expired, and the revocation of an expired attribute changes nothing.
 */
export const change = (
  attributes: Attributes,
  changes: ReadonlyArray<Change>,
  by: ChangeOrigin
): Attributes => inOrder(changes.reduce((after, to) => changed(after, to, by), attributes))

/**
 * Checks whether every change is still in force: the holder has an attribute of its name and value, on its
 * evidence and in the state that it set. An attribute that expired, was revoked, or was superseded by
 * another value is not.
 */
export const areSet = (attributes: Attributes, changes: ReadonlyArray<Change>): boolean =>
  changes.every((to) =>
    attributes.some(
      (attribute) =>
        attribute.state === to.state &&
        isOf(attribute, to) &&
        (to.validFrom === null || attribute.validFrom === to.validFrom) &&
        (to.validUntil === null || attribute.validUntil === to.validUntil)
    )
  )

const changed = (attributes: Attributes, to: Change, by: ChangeOrigin): Attributes => {
  if (to.state === "revoked") return revoked(attributes, to, by)
  const others = attributes.filter(({ name }) => name !== to.name)
  const verified = attributes.filter(
    (attribute) => attribute.name === to.name && !isStated(attribute)
  )
  const pendingAttribute = statedOf(attributes, to)
  const made = decided(pendingAttribute, to, by)
  return to.state === "valid" ? [...others, made] : [...others, ...verified, made]
}

/** The pending attribute that a change is about: of its name and value, on the same evidence. */
export const statedOf = (attributes: Attributes, to: Change): Attribute | undefined =>
  attributes.find((attribute) => attribute.state === "pending" && isOf(attribute, to))

/** Checks whether a decision is about this statement: the same name and value on the same evidence. */
const isOf = (attribute: Attribute, to: Change): boolean =>
  attribute.name === to.name &&
  attribute.value === to.value &&
  attribute.evidenceHash === to.evidenceHash

const triggers = { valid: "verify", rejected: "reject" } as const

/** Decides the pending attribute, or opens a new one in the state that the call names. */
const decided = (
  pendingAttribute: Attribute | undefined,
  to: Change,
  { now, setBy }: ChangeOrigin
): Attribute => {
  const on = to.state === "valid" || to.state === "rejected" ? triggers[to.state] : undefined
  if (pendingAttribute === undefined || on === undefined) {
    return { ...to, validFrom: to.validFrom ?? now, setBy }
  }
  return {
    ...pendingAttribute,
    state: Machine.follow(AttributeMachine, pendingAttribute.state, on),
    validFrom: to.validFrom ?? pendingAttribute.validFrom,
    validUntil: to.validUntil ?? pendingAttribute.validUntil,
    setBy
  }
}

const revoked = (attributes: Attributes, to: Change, { setBy }: ChangeOrigin): Attributes => {
  const verified = verifiedOf(attributes, to)
  return attributes.map((attribute) =>
    attribute === verified && Machine.allows(AttributeMachine, attribute.state, "revoke")
      ? {
          ...attribute,
          state: Machine.follow(AttributeMachine, attribute.state, "revoke"),
          evidenceHash: to.evidenceHash,
          setBy
        }
      : attribute
  )
}

/** Sorted by name; of one name the verified attribute first, then the pending one. */
const inOrder = <A extends Pick<Attribute, "name" | "state">>(
  attributes: ReadonlyArray<A>
): ReadonlyArray<A> =>
  attributes.toSorted((a, b) =>
    a.name === b.name ? Number(isStated(a)) - Number(isStated(b)) : a.name < b.name ? -1 : 1
  )

/** The attributes at an instant: valid ones past their end are expired. */
export const expired = (attributes: Attributes, now: Instant.Instant): Attributes =>
  attributes.map((attribute) =>
    attribute.state === "valid" && isPast(attribute.validUntil, now)
      ? { ...attribute, state: Machine.follow(AttributeMachine, attribute.state, "expire") }
      : attribute
  )

/** Earliest instant at which a valid attribute expires; null: none does. */
export const endsAt = (attributes: Attributes): Instant.Instant | null =>
  attributes
    .flatMap(({ state, validUntil }) =>
      state === "valid" && validUntil !== null ? validUntil : []
    )
    .reduce<Instant.Instant | null>(
      (first, at) => (first === null ? at : Instant.min(first, at)),
      null
    )

/** Earliest instant after `after` from which a verified attribute counts; null: none begins. */
export const beginsAt = (attributes: Attributes, after: Instant.Instant): Instant.Instant | null =>
  attributes
    .flatMap(({ state, validFrom }) =>
      state === "valid" && Instant.isAfter(validFrom, after) ? validFrom : []
    )
    .reduce<Instant.Instant | null>(
      (first, at) => (first === null ? at : Instant.min(first, at)),
      null
    )

const isPast = (at: Instant.Instant | null, now: Instant.Instant): boolean =>
  at !== null && Instant.atOrBefore(at, now)

/**
 * Checks whether the attribute is verified and inside its period, even before the clock's notice is
 * recorded.
 */
export const counts = (
  { state, validFrom, validUntil }: Pick<Attribute, "state" | "validFrom" | "validUntil">,
  now: Instant.Instant
): boolean => state === "valid" && Instant.atOrBefore(validFrom, now) && !isPast(validUntil, now)

/** Attribute that an instrument requires of its holders; an empty value accepts any value. */
export interface RequiredAttribute {
  readonly property: string
  readonly value: string
}

/** Names of attributes that say who a holder is; any other name is a rate, a code or a note. */
const ofEligibility: ReadonlySet<string> = new Set([
  "kyc",
  "accredited",
  "qualified",
  "professional"
])

/**
 * Checks whether a holder's attributes permit its admission. An instrument requires the attributes that
 * its registrar's configuration names as holder requirements, by name and, where it gives one, by
 * value. Without requirements each attribute of eligibility that the holder has must be valid; its
 * rate of tax, its exemption and notes never count (docs/domain/holders.md#attributes).
 */
export const areValid = (
  attributes: ReadonlyArray<Attribute>,
  required: ReadonlyArray<RequiredAttribute>,
  now: Instant.Instant
): boolean =>
  required.length === 0
    ? attributes
        .filter(({ name }) => ofEligibility.has(name))
        .every(({ name }) =>
          attributes.some((attribute) => attribute.name === name && counts(attribute, now))
        )
    : required.every(({ property, value }) =>
        attributes.some(
          (attribute) =>
            attribute.name === property &&
            (value === "" || attribute.value === value) &&
            counts(attribute, now)
        )
      )

/**
 * Canonical text of the attributes, whose SHA-256 the ledger keeps: a party that has the attributes
 * can verify the digest, and the ledger shows none of them. Expired attributes count as valid in
 * it, because no act on the ledger accompanies an expiry.
 */
export const digestText = (
  attributes: ReadonlyArray<
    Pick<Attribute, "name" | "value" | "evidenceHash" | "validUntil" | "state">
  >
): string =>
  PlainJson.canonical(
    inOrder(attributes).map(({ name, value, evidenceHash, validUntil, state }) => ({
      name,
      value,
      evidenceHash,
      validUntil: validUntil === null ? null : Instant.format(validUntil),
      state: state === "expired" ? "valid" : state
    }))
  )
