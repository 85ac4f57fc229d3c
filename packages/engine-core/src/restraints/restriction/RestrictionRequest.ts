/** Request of one restriction: mode, reason, cited order, end. */
import { Schema } from "effect"
import { type Holder, isEnded, HolderMachine } from "../../holders/holder/Holder.ts"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import { failed } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import { refused, type Refused } from "../../kernel/Refusal.ts"
import * as Field from "../../templates/Field.ts"
import * as sets from "../../vocabulary/sets.ts"
import { CitedOrder } from "../CitedOrder.ts"
import { neverReleased, type RestrictionId } from "./Restriction.ts"

/**
 * An id that a caller may choose: shorter than other record ids and without a `~`, so that ids
 * derived from it (of a batch's entries, of carried restrictions) are valid and unique.
 */
export const ChosenId = Field.optional(
  Schema.String.check(
    Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,57}$/, { expected: "a record id of at most 58" })
  )
)

export const fields = {
  holderId: HolderId,
  /** Without one the restriction covers all instruments. */
  instrumentId: Field.optional(InstrumentId),
  mode: sets.RestrictionMode.schema,
  reason: sets.RestrictionReason.schema,
  order: Field.optional(CitedOrder),
  /** Instant at which the clock ends the restriction; null: never. */
  autoReleaseAt: Field.optional(Instant.schema)
} as const
export type RestrictionRequest = Schema.Struct<typeof fields>["Type"]

/**
 * Filter of a request: the reason `court-order` needs a cited order, and a restriction by a
 * sanctions list or a court has no end by the clock (docs/domain/restraints.md#restricting).
 */
export const isWhole = Schema.makeFilter(
  ({
    reason,
    order,
    autoReleaseAt
  }: Pick<RestrictionRequest, "reason" | "order" | "autoReleaseAt">) => [
    ...(reason === "court-order" && order === null
      ? [{ path: ["order"], issue: "the order, where the reason is court-order" }]
      : []),
    ...(autoReleaseAt !== null && neverReleased.includes(reason)
      ? [{ path: ["autoReleaseAt"], issue: `no end of its own, where the reason is ${reason}` }]
      : [])
  ]
)

/** Loaded records that a request names, and the instant of the judgement. */
interface NamedRecords {
  readonly holder: Holder | undefined
  /** True if the instrument exists, or if none is named. */
  readonly hasInstrument: boolean
  readonly now: Instant.Instant
}

type Slug = "not-found" | "state-conflict" | "rule-refused"

/** A refusal of a restriction, and the request's member at fault. */
interface Fault {
  readonly member: keyof RestrictionRequest
  readonly refusal: Refused<Slug>
}

/** Faults of a request, in their order of precedence; empty: none. */
export const against = (
  { autoReleaseAt }: Pick<RestrictionRequest, "autoReleaseAt">,
  { holder, hasInstrument, now }: NamedRecords
): ReadonlyArray<Fault> => [
  ...(holder === undefined
    ? [fault("holderId", refused("not-found", { detail: "There is no such holder." }))]
    : []),
  ...(holder !== undefined && isEnded(holder) ? [fault("holderId", ended(holder))] : []),
  ...(hasInstrument
    ? []
    : [fault("instrumentId", refused("not-found", { detail: "There is no such instrument." }))]),
  ...(autoReleaseAt !== null && Instant.atOrBefore(autoReleaseAt, now)
    ? [fault("autoReleaseAt", past)]
    : [])
]

const fault = (member: keyof RestrictionRequest, refusal: Refused<Slug>): Fault => ({
  member,
  refusal
})

const ended = ({ state }: Holder) =>
  refused("state-conflict", {
    check: HolderMachine.name,
    detail: `A holder in state ${state} is not restricted any more.`
  })

const past = refused(
  "rule-refused",
  failed("auto-release-at", { detail: "It would have ended already." })
)

/** Id of the nth restriction of a batch; the first has the batch's own id. */
export const idOfEntry = (restrictionId: RestrictionId, nth: number): string =>
  nth === 0 ? restrictionId : `${restrictionId}-${nth + 1}`
