/** Look-ups of a precheck: the operation of the act, its input, and its record. */
import { Effect, Result } from "effect"
import { execute as executeDistribution } from "../../distributions/distribution/ExecuteOperations.ts"
import { byInstrument as forceTransfer } from "../../powers/ForcedTransferOperations.ts"
import { byInstrument as recover } from "../../powers/RecoveryOperations.ts"
import { holders } from "../../holders/holder/Holder.ts"
import type * as Instant from "../../kernel/Instant.ts"
import { type Refused, refused } from "../../kernel/Refusal.ts"
import * as Shape from "../../kernel/Shape.ts"
import { dealingCycles } from "../../orders/dealing-cycle/DealingCycle.ts"
import { settle as settleCycle } from "../../orders/dealing-cycle/SettleOperations.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { claim as claimRedemption } from "../../orders/redemption/RedemptionClaimOperations.ts"
import * as Redemption from "../../orders/redemption/RedemptionOperations.ts"
import { claim as claimSubscription } from "../../orders/subscription/SubscriptionClaimOperations.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import * as Subscription from "../../orders/subscription/SubscriptionOperations.ts"
import { start as startMint } from "../../reserves/reserve-order/MintOperations.ts"
import { start as startReserveRedemption } from "../../reserves/reserve-order/ReserveRedemptionOperations.ts"
import { backingOf } from "../../reserves/reserve/ReserveLookups.ts"
import type { ReadContext } from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import type { Operation } from "../../writes/Operation.ts"
import { offerAdmission } from "../../admissions/AdmissionOperations.ts"
import { type InstrumentId, instruments } from "../../instruments/instrument/Instrument.ts"
import { type PrecheckedAct, acts, type ActParameters } from "./PrecheckRules.ts"

/** The operation of each act, whose gates a precheck shows. */
export const operations: Readonly<Record<PrecheckedAct, Operation>> = {
  "admission.offer": offerAdmission,
  "subscription.claim": claimSubscription,
  "subscription.deliver": Subscription.deliver,
  "subscription.settle": Subscription.settle,
  "redemption.claim": claimRedemption,
  "redemption.settle": Redemption.settle,
  "dealing-cycle.settle": settleCycle,
  "distribution.execute": executeDistribution,
  "instrument.force-transfer": forceTransfer,
  "instrument.recover": recover,
  "mint.start": startMint,
  "reserve-redemption.start": startReserveRedemption
}

const decoders = new Map<PrecheckedAct, Shape.Decoder<unknown>>()
const decoderOf = (act: PrecheckedAct): Shape.Decoder<unknown> => {
  const decoder = decoders.get(act) ?? Shape.decoder(operations[act].input)
  decoders.set(act, decoder)
  return decoder
}

const takesInstrument = (act: PrecheckedAct): boolean =>
  acts[act].about === "holder" || acts[act].about === "instrument"

/**
 * Loads the member of the act's input that follows from the instrument: the instrument itself, or the
 * reserve that backs it. The record of an order or a cycle names its own. Refuses `not-found` where
 * nothing backs the instrument.
 */
export const namedBy = Effect.fnUntraced(function* (
  act: PrecheckedAct,
  { instrumentId, pin }: { readonly instrumentId: InstrumentId; readonly pin: ReadContext["pin"] }
) {
  if (takesInstrument(act)) return { instrumentId }
  if (acts[act].about !== "reserve") return {}
  const reserve = yield* backingOf(instrumentId, pin)
  if (reserve !== null) return { reserveId: reserve.reserveId }
  return yield* Effect.fail(refused("not-found", { detail: "No reserve backs the instrument." }))
})

/**
 * Decodes the act's input by the operation's own codec; `named` are members that follow from the
 * instrument, and `members` are the parameters. Refuses `invalid-request`.
 */
export const inputOf = (
  act: PrecheckedAct,
  members: Readonly<Record<string, unknown>>,
  named: Readonly<Record<string, string>>
) =>
  decoderOf(act)
    .decode({ ...members, ...named }, (member) =>
      member !== undefined && member in named ? "/path" : "/query"
    )
    .pipe(Result.mapError(ofParameters))

/** Shortens the pointers of faults to the query parameter, whose value has no members. */
const ofParameters = ({ slug, details }: Refused<"invalid-request">): Refused<"invalid-request"> =>
  refused(slug, {
    ...details,
    errors: (details.errors ?? []).map(({ pointer, detail }) => ({
      pointer: pointer.split("/").slice(0, 3).join("/"),
      detail
    }))
  })

/** Subject of an act: holder, instrument, and the cut-off of the orders it settles. */
export interface ActSubject {
  readonly instrumentId: InstrumentId
  /** Null where the act is not about a single holder. */
  readonly holderId: string | null
  readonly cutOffAt: Instant.Instant | null
}

/** Loads the record that an act is about, at the pin. */
const named = Effect.fnUntraced(function* (
  act: PrecheckedAct,
  parameters: ActParameters,
  { instrumentId, pin }: { readonly instrumentId: InstrumentId; readonly pin: ReadContext["pin"] }
) {
  const records = yield* Records
  switch (acts[act].about) {
    case "holder":
    case "reserve":
      return {
        instrumentId,
        holderId: parameters.holderId ?? null,
        cutOffAt: null
      } satisfies ActSubject
    case "subscription":
      return yield* records.get(subscriptions, parameters.subscriptionId ?? "", pin)
    case "redemption":
      return yield* records.get(redemptions, parameters.redemptionId ?? "", pin)
    case "dealing-cycle":
      return {
        ...(yield* records.get(dealingCycles, parameters.cycleId ?? "", pin)),
        holderId: null
      }
    case "instrument":
      return { instrumentId, holderId: null, cutOffAt: null } satisfies ActSubject
  }
})

const collections = {
  holder: holders,
  subscription: subscriptions,
  redemption: redemptions,
  "dealing-cycle": dealingCycles,
  instrument: instruments,
  reserve: holders
} as const

/**
 * Loads the subject of an act, where the caller may precheck it. Refuses `not-found` for a record
 * of another instrument or, to an investor, of another holder; refuses `permission-denied` to an
 * investor for acts that concern other holders' units.
 */
export const subjectOf = Effect.fnUntraced(function* (
  act: PrecheckedAct,
  parameters: ActParameters,
  { asking, instrumentId }: { readonly instrumentId: InstrumentId; readonly asking: ReadContext }
) {
  const { caller, pin, sight } = asking
  const { about } = acts[act]
  const isOfAll = about === "dealing-cycle" || about === "instrument"
  if (sight !== "all" && (caller.holderId === null || isOfAll)) {
    const detail =
      caller.holderId === null
        ? "The sign-in does not say whose records these are."
        : "What this act is judged by rests on what others hold or ordered."
    return yield* Effect.fail(refused("permission-denied", { detail }))
  }
  const subject: ActSubject = yield* named(act, parameters, { instrumentId, pin })
  if (
    subject.instrumentId !== instrumentId ||
    (sight !== "all" && subject.holderId !== caller.holderId)
  ) {
    const { name } = collections[about]
    return yield* Effect.fail(refused("not-found", { detail: `There is no such ${name}.` }))
  }
  return subject
})
