/**
 * Look-ups of the gates of a reserve's proposal: its instrument, and whether the instrument is in
 * use.
 */
import { Effect, Option, Result } from "effect"
import {
  configurationOf,
  type Instrument,
  instruments
} from "../../instruments/instrument/Instrument.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import { supplies } from "../../instruments/register/Supply.ts"
import type { Collection } from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Machine from "../../kernel/Machine.ts"
import { dealingCycles, DealingCycleMachine } from "../../orders/dealing-cycle/DealingCycle.ts"
import { latestMarket } from "../../orders/primary-market/PrimaryMarketLookups.ts"
import { redemptions, RedemptionMachine } from "../../orders/redemption/Redemption.ts"
import {
  standingSettlements,
  StandingSettlementMachine
} from "../../orders/standing-settlement/StandingSettlement.ts"
import { subscriptions, SubscriptionMachine } from "../../orders/subscription/Subscription.ts"
import { contracts } from "../../projection/Contract.ts"
import { Records } from "../../records/Records.ts"
import { InstrumentConfiguration } from "../../templates/Registry.ts"
import { decodePayload, type LfRecord } from "../../templates/Template.ts"
import { backingOf } from "./ReserveLookups.ts"

/** Loads the facts that the proposal of a reserve is judged by; refuses an unknown instrument. */
export const proposingOf = Effect.fnUntraced(function* (instrumentId: string) {
  const records = yield* Records
  const instrument = yield* records.get(instruments, instrumentId)
  return {
    instrument,
    issuer: yield* issuerOf(instrument),
    isUnused: yield* isUnused(instrument),
    isBacked: (yield* backingOf(instrumentId)) !== null
  }
})

/** Loads the issuer that the registrar's current configuration names; null: there is none. */
const issuerOf = Effect.fnUntraced(function* (instrument: Instrument) {
  const contractId = configurationOf(instrument)
  if (contractId === null) return null
  const records = yield* Records
  const found = yield* records.find(contracts, contractId)
  if (Option.isNone(found)) return null
  const payload = decodePayload(InstrumentConfiguration, found.value.payload as LfRecord)
  if (Result.isFailure(payload)) throw new Error(`configuration ${contractId} cannot be decoded`)
  return payload.success.issuer
})

/** Whether an instrument has no units, no open order, cycle or settlement, and no primary market. */
const isUnused = Effect.fnUntraced(function* (instrument: Instrument) {
  const records = yield* Records
  const { instrumentId, registrar } = instrument
  const supply = yield* records.find(supplies, assetKeyOf({ registrar, instrumentId }))
  if (Option.isSome(supply) && !Decimal.isZero(supply.value.units)) return false
  if ((yield* latestMarket(instrumentId)) !== null) return false
  return (
    (yield* hasNone(subscriptions, openOf(SubscriptionMachine), instrumentId)) &&
    (yield* hasNone(redemptions, openOf(RedemptionMachine), instrumentId)) &&
    (yield* hasNone(dealingCycles, openOf(DealingCycleMachine), instrumentId)) &&
    (yield* hasNone(standingSettlements, openOf(StandingSettlementMachine), instrumentId))
  )
})

/** States that are not the end. */
const openOf = <M extends Machine.Machine>(machine: M): ReadonlyArray<string> =>
  machine.schema.literals.filter((state) => !Machine.isTerminal(machine, state))

const hasNone = Effect.fnUntraced(function* <R, F>(
  collection: Collection<R, F>,
  state: ReadonlyArray<string>,
  instrumentId: string
) {
  const records = yield* Records
  const found = yield* records.list(collection, {
    where: { instrumentId: [instrumentId], state },
    limit: 1
  })
  return found.length === 0
})
