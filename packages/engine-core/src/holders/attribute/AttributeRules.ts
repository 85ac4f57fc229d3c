/** Pure rules of attributes: how stating, verifying, refusing or withdrawing one changes them. */
import type { Result } from "effect"
import { check, judge as judgeGates } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as PlainJson from "../../kernel/PlainJson.ts"
import { refuse, type Refused } from "../../kernel/Refusal.ts"
import type { Attribute } from "../holder/HolderDetails.ts"
import { AttributeMachine } from "./AttributeMachine.ts"

/** An attribute as a call sets it: what it shall be, and the evidence of that. */
export interface Change {
  readonly name: string
  readonly value: string
  readonly state: "pending" | "valid" | "rejected" | "revoked"
  readonly validFrom: Instant.Instant | null
  readonly validUntil: Instant.Instant | null
  readonly evidenceHash: string
}

/** Who sets them, and when. */
export interface Setting {
  readonly now: Instant.Instant
  readonly setBy: string
}

/** Largest number of attribute names of a holder. */
export const namesMax = 32

type Attributes = ReadonlyArray<Attribute>

/** Whether the attribute is pending or rejected: the verified one before it still counts. */
const isStated = ({ state }: Pick<Attribute, "state">): boolean =>
  state === "pending" || state === "rejected"

/**
 * Whether every change can be made, or why the first that cannot is refused
 * (docs/domain/holders.md#attributes).
 */
export const judge = (
  attributes: Attributes,
  changes: ReadonlyArray<Change>,
  by: Setting
): Result.Result<void, Refused<"state-conflict" | "rule-refused">> => {
  const names = changes.map(({ name }) => name)
  const revoking = changes.find(
    (one) => one.state === "revoked" && verifiedOf(attributes, one)?.state !== "valid"
  )
  if (revoking !== undefined) {
    return refuse("state-conflict", {
      check: AttributeMachine.name,
      detail: `The holder has no valid ${revoking.name} of this value.`
    })
  }
  return judgeGates([
    check("attribute-repeated", new Set(names).size === names.length),
    check(
      "attribute-period",
      !changes.some((one) => isPast(one.validUntil, one.validFrom ?? by.now))
    ),
    check(
      "attribute-in-time",
      !changes.some((one) => one.state === "valid" && isPast(endOf(attributes, one), by.now))
    ),
    check(
      "attributes-max",
      new Set([...names, ...attributes.map(({ name }) => name)]).size <= namesMax,
      { recovery: `A holder has at most ${namesMax} attributes.` }
    )
  ])
}

/** A decision that names no end leaves the stated one, which may have passed while nobody decided. */
const endOf = (attributes: Attributes, to: Change): Instant.Instant | null =>
  to.validUntil ?? statedOf(attributes, to)?.validUntil ?? null

/** The verified attribute of a name and value, valid or expired. */
const verifiedOf = (attributes: Attributes, { name, value }: Change): Attribute | undefined =>
  attributes.find((one) => one.name === name && one.value === value && !isStated(one))

/**
 * The attributes after changes that were judged. A new value of a name is a new attribute. It
 * supersedes the one before it when it is verified; until then, and for good when its evidence is
 * refused, the one before it counts. It never refuses: between its judgement and its commit an
 * attribute may only have run out, and what ran out is not revoked any more.
 */
export const change = (
  attributes: Attributes,
  changes: ReadonlyArray<Change>,
  by: Setting
): Attributes => inOrder(changes.reduce((after, to) => changed(after, to, by), attributes))

const changed = (attributes: Attributes, to: Change, by: Setting): Attributes => {
  if (to.state === "revoked") return revoked(attributes, to, by)
  const others = attributes.filter(({ name }) => name !== to.name)
  const counting = attributes.filter((one) => one.name === to.name && !isStated(one))
  const stated = statedOf(attributes, to)
  const made = decided(stated, to, by)
  return to.state === "valid" ? [...others, made] : [...others, ...counting, made]
}

const statedOf = (attributes: Attributes, to: Change): Attribute | undefined =>
  attributes.find((one) => one.state === "pending" && isOf(one, to))

/** Whether a decision is about this very statement: the same value on the same evidence. */
const isOf = (stated: Attribute, to: Change): boolean =>
  stated.name === to.name && stated.value === to.value && stated.evidenceHash === to.evidenceHash

const triggers = { valid: "verify", rejected: "reject" } as const

/** Decides the pending attribute, or opens a new one in the state that the call names. */
const decided = (stated: Attribute | undefined, to: Change, { now, setBy }: Setting): Attribute => {
  const on = to.state === "valid" || to.state === "rejected" ? triggers[to.state] : undefined
  if (stated === undefined || on === undefined) {
    return { ...to, validFrom: to.validFrom ?? now, setBy }
  }
  return {
    ...stated,
    state: Machine.follow(AttributeMachine, stated.state, on),
    validFrom: to.validFrom ?? stated.validFrom,
    validUntil: to.validUntil ?? stated.validUntil,
    setBy
  }
}

const revoked = (attributes: Attributes, to: Change, { setBy }: Setting): Attributes => {
  const counting = verifiedOf(attributes, to)
  return attributes.map((one) =>
    one === counting && Machine.allows(AttributeMachine, one.state, "revoke")
      ? {
          ...one,
          state: Machine.follow(AttributeMachine, one.state, "revoke"),
          evidenceHash: to.evidenceHash,
          setBy
        }
      : one
  )
}

/** Sorted by name; of one name the verified attribute first, then the pending one. */
const inOrder = <A extends Pick<Attribute, "name" | "state">>(
  attributes: ReadonlyArray<A>
): ReadonlyArray<A> =>
  attributes.toSorted((a, b) =>
    a.name === b.name ? Number(isStated(a)) - Number(isStated(b)) : a.name < b.name ? -1 : 1
  )

/** The attributes once the clock has ended those whose time is over. */
export const expired = (attributes: Attributes, now: Instant.Instant): Attributes =>
  attributes.map((one) =>
    one.state === "valid" && isPast(one.validUntil, now)
      ? { ...one, state: Machine.follow(AttributeMachine, one.state, "expire") }
      : one
  )

/** When the clock ends the next of them; null: it ends none. */
export const endsAt = (attributes: Attributes): Instant.Instant | null =>
  attributes
    .flatMap(({ state, validUntil }) =>
      state === "valid" && validUntil !== null ? validUntil : []
    )
    .reduce<Instant.Instant | null>(
      (first, at) => (first === null ? at : Instant.min(first, at)),
      null
    )

const isPast = (at: Instant.Instant | null, now: Instant.Instant): boolean =>
  at !== null && Instant.atOrBefore(at, now)

/** Whether it is verified and in time at an instant, whatever the clock's last notice says. */
export const counts = (
  { state, validFrom, validUntil }: Pick<Attribute, "state" | "validFrom" | "validUntil">,
  now: Instant.Instant
): boolean => state === "valid" && Instant.atOrBefore(validFrom, now) && !isPast(validUntil, now)

/** An attribute that an instrument asks of its holders; an empty value asks for any. */
export interface Required {
  readonly property: string
  readonly value: string
}

/**
 * Whether a holder's attributes let it be admitted. An instrument asks for what its registrar's
 * configuration names as holder requirements, by name and, where it gives one, by value. Where it
 * names none each name the holder has an attribute of must have a valid one: the venue asked for it.
 */
export const areValid = (
  attributes: ReadonlyArray<Attribute>,
  required: ReadonlyArray<Required>,
  now: Instant.Instant
): boolean =>
  required.length === 0
    ? attributes.every(({ name }) =>
        attributes.some((one) => one.name === name && counts(one, now))
      )
    : required.every(({ property, value }) =>
        attributes.some(
          (one) =>
            one.name === property && (value === "" || one.value === value) && counts(one, now)
        )
      )

/**
 * Text of the attributes whose SHA-256 is on the ledger: whoever has the attributes can make it,
 * and the ledger shows none of them. States that the clock brings about are left out, because no
 * act on the ledger accompanies them.
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
