/** Gates of an offer of admission. */
import * as AttributeRules from "../holders/attribute/AttributeRules.ts"
import { type Holder, isScreened } from "../holders/holder/Holder.ts"
import { condition, inOrder, type Judgement } from "../kernel/Gates.ts"
import * as Instant from "../kernel/Instant.ts"
import type { RecordedInstrument } from "../instruments/instrument/Instrument.ts"
import type { Admission } from "./Admission.ts"
import type { AdmissionConsent } from "./AdmissionConsent.ts"

/** Input of the gates of an offer. */
export interface OfferContext {
  readonly holder: Pick<Holder, "attributes" | "screening">
  readonly instrument: RecordedInstrument
  /** The latest admission of the holder to the instrument; null: none. */
  readonly latest: Pick<Admission, "state"> | null
  readonly consent: Pick<AdmissionConsent, "state"> | null
  /** Holder requirements of the registrar. */
  readonly required: ReadonlyArray<AttributeRules.RequiredAttribute>
  /** Number of taken places under the holder cap: admitted, offered and reserved. */
  readonly takenPlaces: number
  readonly expiresAt: Instant.Instant | null
  readonly validFrom: Instant.Instant | null
  readonly validUntil: Instant.Instant | null
  readonly now: Instant.Instant
}

const isPast = (at: Instant.Instant | null, now: Instant.Instant): boolean =>
  at !== null && Instant.atOrBefore(at, now)

const ofHolder = (offering: OfferContext): ReadonlyArray<Judgement> => [
  condition(
    "attributes-valid",
    AttributeRules.areValid(offering.holder.attributes, offering.required, offering.now)
  ),
  condition("screening-clear", isScreened(offering.holder))
]

const beforeHolder = ({ latest }: OfferContext): ReadonlyArray<Judgement> => [
  condition("not-admitted-yet", latest?.state !== "offered" && latest?.state !== "admitted")
]

const afterHolder = (offering: OfferContext): ReadonlyArray<Judgement> => [
  condition("admission-consent", offering.consent?.state === "agreed"),
  condition("holder-cap", offering.takenPlaces < offering.instrument.manifest.holderCap, {
    policyVersion: offering.instrument.policyVersion
  }),
  condition(
    "offer-in-time",
    !isPast(offering.expiresAt, offering.now) && !isPast(offering.validUntil, offering.now)
  ),
  condition(
    "offer-period",
    offering.validFrom === null || !isPast(offering.validUntil, offering.validFrom)
  )
]

/**
 * Checks of an offer, in the order of the gates. Holds and restrictions are left out: an admission
 * moves no units, and they stop later acts themselves.
 */
export const against = (offering: OfferContext): ReadonlyArray<Judgement> =>
  inOrder([...beforeHolder(offering), ...ofHolder(offering), ...afterHolder(offering)])

/** Checks of an offer at onboarding, without those of the holder, who is not verified yet. */
export const againstAtOnboarding = (offering: OfferContext): ReadonlyArray<Judgement> =>
  inOrder([...beforeHolder(offering), ...afterHolder(offering)])
