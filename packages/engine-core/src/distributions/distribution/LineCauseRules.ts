/**
 * Pure rules: every cause for which a distribution line waits (docs/domain/distributions.md#suspense).
 */
import type { Admission } from "../../admissions/Admission.ts"
import * as AttributeRules from "../../holders/attribute/AttributeRules.ts"
import type { Holder } from "../../holders/holder/Holder.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type { Restriction } from "../../restraints/restriction/Restriction.ts"
import {
  covers,
  type MovementDirection,
  permits,
  type RestrictionInForce
} from "../../restraints/restriction/RestrictionRules.ts"
import type { PayoutForm } from "../../vocabulary/sets.ts"
import { causes, type LineCause } from "./DistributionLine.ts"

/** Facts at an instant from which the causes of a holder's lines of one instrument are judged. */
export interface Subject {
  readonly instrumentId: string
  readonly payout: PayoutForm
  /** Null: the party is no holder. */
  readonly holder: Pick<Holder, "holderId" | "state" | "attributes" | "screening"> | null
  /** Restrictions of the holder that are in force. */
  readonly restrictions: ReadonlyArray<RestrictionInForce & Pick<Restriction, "reason">>
  /** The latest admission of the holder to the instrument; null: there never was one. */
  readonly admission: Pick<Admission, "state"> | null
  /** Attributes that the instrument's registrar requires of holders. */
  readonly required: ReadonlyArray<AttributeRules.RequiredAttribute>
  readonly now: Instant.Instant
}

/**
 * Returns every cause for which a line waits, none for a line that is due
 * (docs/domain/distributions.md#suspense). Registration, admission and attributes that ran out do
 * not suspend a line while a receive-only restriction for expired evidence covers the instrument: it
 * is delivered, and the holder cannot move it on.
 */
export const causesOf = (subject: Subject): ReadonlyArray<LineCause> => {
  const { holder } = subject
  if (holder === null) return ["no-holder"]
  const passage = {
    holderId: holder.holderId,
    instrumentId: subject.instrumentId,
    passing: passingOf(subject)
  }
  const stopping = subject.restrictions.filter((restriction) => !permits([restriction], passage))
  const isReceiving = subject.restrictions.some(
    (restriction) =>
      restriction.mode === "receive-only" &&
      restriction.reason === "kyc-expired" &&
      covers(restriction, passage)
  )
  const waits = (lack: Lack): boolean => lack === "ended" || (lack === "expired" && !isReceiving)
  const hasCause: Readonly<Record<LineCause, boolean>> = {
    restriction: stopping.some(({ reason }) => reason !== "court-order"),
    "court-order": stopping.some(({ reason }) => reason === "court-order"),
    registration: waits(registrationLack(holder)),
    admission: waits(admissionLack(subject)),
    attribute: waits(attributeLack(holder, subject)),
    screening: holder.screening?.state === "review" || holder.screening?.state === "match",
    "no-holder": false
  }
  return causes.filter((cause) => hasCause[cause])
}

const passingOf = ({ payout }: Subject): MovementDirection =>
  payout === "units" ? "units-in" : "cash-in"

/** Fault of a condition: none, expired by its date, or ended before it. */
type Lack = "nothing" | "expired" | "ended"

const registrationLack = ({ state }: Pick<Holder, "state">): Lack =>
  state === "active" ? "nothing" : state === "lapsed" ? "expired" : "ended"

/**
 * Fault of the admission. An admission that ran out may be offered anew, so that an offer counts as
 * expired.
 */
const admissionLack = ({ admission }: Subject): Lack => {
  if (admission?.state === "admitted") return "nothing"
  return admission?.state === "expired" || admission?.state === "offered" ? "expired" : "ended"
}

type Attributes = Pick<Holder, "attributes">["attributes"]

/**
 * Fault of the holder's attributes: of those alone that the instrument's registrar requires. Another
 * one that ended or ran out, such as a rate of tax or a note, stops no payment: a line without a valid
 * rate of the holder's own is withheld at the rate of the point or of the terms (docs/domain/holders.md#attributes).
 */
const attributeLack = (
  { attributes }: Pick<Holder, "attributes">,
  { required, now }: Subject
): Lack => {
  const groups: ReadonlyArray<Attributes> = required.map(({ property, value }) =>
    attributes.filter(
      (attribute) =>
        attribute.name === property &&
        (value === "" || attribute.value === value) &&
        isVerified(attribute)
    )
  )
  const lacking = groups.filter(
    (group) => !group.some((attribute) => AttributeRules.counts(attribute, now))
  )
  if (lacking.length === 0) return "nothing"
  const isExpired = (group: Attributes): boolean =>
    group.some(({ state }) => state === "expired" || state === "valid")
  return lacking.every(isExpired) ? "expired" : "ended"
}

const isVerified = ({ state }: Attributes[number]): boolean =>
  state === "valid" || state === "expired" || state === "revoked"
