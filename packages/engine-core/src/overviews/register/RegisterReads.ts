/** Read of an instrument's register. */
import { Effect, Option, Schema, Stream } from "effect"
import { inForce } from "../../restraints/restriction/RestrictionLookups.ts"
import { isRestricted } from "../../restraints/restriction/RestrictionRules.ts"
import { isConcealedFrom } from "../../writes/Concealment.ts"
import { holderParties } from "../../holders/holder/Holder.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Party from "../../kernel/Party.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { type Redemption, redemptions } from "../../orders/redemption/Redemption.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import * as Export from "../../reads/Export.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { type Admission, admissions } from "../../admissions/Admission.ts"
import { AdmissionMachine } from "../../admissions/AdmissionMachine.ts"
import {
  type Instrument,
  InstrumentId,
  isRecorded
} from "../../instruments/instrument/Instrument.ts"
import { instrumentInSight } from "../../instruments/instrument/InstrumentLookups.ts"
import { quotes } from "../../instruments/price/PricePoint.ts"
import { priceOf, quoteIdsOf } from "../../instruments/price/QuoteRules.ts"
import { assetKeyOf, holdings } from "../../instruments/register/Holding.ts"
import { registerEntries } from "../../instruments/register/RegisterEntry.ts"
import { supplies } from "../../instruments/register/Supply.ts"
import { headOf, shareOf, shownUnits } from "../../instruments/register/RegisterRules.ts"

const { NullOr } = Schema

const Line = Schema.Struct({
  /** Null for a party that is no holder of this venue. */
  holderId: NullOr(Schema.String),
  party: Party.schema,
  units: Decimal.schema,
  locked: Decimal.schema,
  /** Units of priced subscriptions that are not delivered. */
  pendingIn: Decimal.schema,
  /** Units of redemptions that are not burned; of one by amount, once it is priced. */
  pendingOut: Decimal.schema,
  share: Decimal.schema,
  admissionState: NullOr(AdmissionMachine.schema),
  /**
   * Whether a restriction of any mode is in force; always null to an app, from which it is
   * concealed.
   */
  restricted: NullOr(Schema.Boolean),
  /** Day, in UTC, since which the party has held units without a break. */
  since: Date.schema
})

export const RegisterView = Schema.Struct({
  instrumentId: InstrumentId,
  head: Schema.Struct({
    totalUnits: Decimal.schema,
    /** Supply that the ledger's movements sum to. */
    supplyOnLedger: Decimal.schema,
    /** Units of the lines less the supply; 0 by the law of the register. */
    difference: Decimal.schema,
    holders: Integer.schema
  }),
  lines: Schema.Array(Line)
}).annotate({ identifier: "RegisterView", description: "Who holds an instrument, and how much." })

/** Concurrent queries of one register: the store answers one while another is decoded. */
const atOnce = 2

/** States of a redemption whose units are not burned. */
const unburned: ReadonlyArray<Redemption["state"]> = ["claimed", "priced", "funded"]

/** Collects a stream into a map by key; the latest row of a key wins. */
const gathered = <A, E, R>(
  stream: Stream.Stream<{ readonly record: A }, E, R>,
  key: (record: A) => string
) =>
  Effect.map(
    Stream.runCollect(stream),
    (rows) => new Map(rows.map(({ record }) => [key(record), record]))
  )

/** Sums units by key. */
const summed = <A, E, R>(
  stream: Stream.Stream<{ readonly record: A }, E, R>,
  of: (record: A) => readonly [key: string, units: Decimal.Decimal]
) =>
  Stream.runFold(
    stream,
    () => new Map<string, Decimal.Decimal>(),
    (sums, { record }) => {
      const [key, units] = of(record)
      if (!Decimal.isZero(units)) sums.set(key, Decimal.add(sums.get(key) ?? Decimal.zero, units))
      return sums
    }
  )

/**
 * Loads pending units by holder: incoming (priced, not delivered) and outgoing (redeemed, not
 * burned).
 */
const pendingAt = Effect.fnUntraced(function* (instrumentId: string, pin: Pin.Resolved) {
  const records = yield* Records
  const where = { instrumentId: [instrumentId] }
  const bought = records.stream(subscriptions, { pin, where: { ...where, state: ["priced"] } })
  const given = records.stream(redemptions, { pin, where: { ...where, state: unburned } })
  return yield* Effect.all({
    incoming: summed(bought, ({ holderId, lot }) => [holderId, lot?.units ?? Decimal.zero]),
    outgoing: summed(given, ({ holderId, units }) => [holderId, units ?? Decimal.zero])
  })
})

/**
 * Loads the supply of an instrument on the ledger, a fold of its movements that is independent of
 * the register's lines. A projection from before movements were recorded sums the holdings instead.
 */
const supplyAt = Effect.fnUntraced(function* (asset: string, pin: Pin.Resolved) {
  const records = yield* Records
  const supply = yield* records.find(supplies, asset, pin)
  if (Option.isSome(supply)) return supply.value.units
  return yield* records.stream(holdings, { pin, where: { asset: [asset] } }).pipe(
    Stream.runFold(
      () => Decimal.zero,
      (sum, { record }) => Decimal.add(sum, record.amount)
    )
  )
})

/** Converts base units of a rebasing instrument to units at the latest index of its oracle. */
const showing = Effect.fnUntraced(function* (instrument: Instrument, pin: Pin.Resolved) {
  if (!isRecorded(instrument) || instrument.manifest.valuation !== "rebasing") {
    return (units: Decimal.Decimal) => units
  }
  const records = yield* Records
  const [quote] = yield* records.many(quotes, quoteIdsOf(instrument), pin)
  const { valuation, unitDecimals } = instrument.manifest
  const { price: index } = priceOf(instrument, quote)
  return (units: Decimal.Decimal) => shownUnits({ units, valuation, index, unitDecimals })
})

/** Finds the holder of each party: by its admission, else by the index of holders by party. */
const holdersOf = Effect.fnUntraced(function* (
  parties: ReadonlyArray<string>,
  admitted: ReadonlyMap<string, Admission>,
  pin: Pin.Resolved
) {
  const records = yield* Records
  const others = yield* records.many(
    holderParties,
    parties.filter((party) => !admitted.has(party)),
    pin
  )
  const byParty = new Map(others.map(({ party, holderId }): [string, string] => [party, holderId]))
  return (party: string) => admitted.get(party)?.holderId ?? byParty.get(party) ?? null
})

/** Roles that read a register: no investor, and a registrar those of its own instruments. */
export const ofRegister = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all",
  app: "all",
  registrar: "near"
} as const satisfies Read.Audience

export const register = Read.one({
  name: "instruments.register",
  doc: "Answers who holds an instrument, and whether the lines add up to the supply on the ledger.",
  route: "GET /v1/instruments/{instrumentId}/register",
  audience: ofRegister,
  audited: { resourceKind: "instrument", named: "instrumentId" },
  pinned: true,
  params: Schema.Struct({
    instrumentId: InstrumentId,
    ...Export.parameters
  }),
  value: RegisterView,
  csv: Export.of({ row: Line, rows: ({ lines }: typeof RegisterView.Type) => lines }),
  refuses: ["not-found"],
  run: Effect.fn("instruments.register")(function* ({ instrumentId }, asking) {
    const records = yield* Records
    const { pin } = asking
    const instrument = yield* instrumentInSight(instrumentId, asking)
    const asset = assetKeyOf(instrument)
    const where = { instrumentId: [instrumentId] }
    const { entries, admitted, pending, supply, show, restrictions } = yield* Effect.all(
      {
        entries: Stream.runCollect(
          records.stream(registerEntries, { pin, where: { asset: [asset] } })
        ),
        // Sorted by offer: the latest admission of a party wins.
        admitted: gathered(records.stream(admissions, { pin, where }), ({ party }) => party),
        pending: pendingAt(instrumentId, pin),
        supply: supplyAt(asset, pin),
        show: showing(instrument, pin),
        restrictions: isConcealedFrom(asking.role)
          ? Effect.succeed(null)
          : inForce({ instrumentId }, pin)
      },
      { concurrency: atOnce }
    )
    const holderOf = yield* holdersOf(
      entries.map(({ record }) => record.party),
      admitted,
      pin
    )
    const head = headOf({ lines: entries.map(({ record }) => record.units), supply, show })
    const lines = entries.map(({ record: { party, units, locked, since } }) => {
      const holderId = holderOf(party)
      const pendingOf = (units: ReadonlyMap<string, Decimal.Decimal>) =>
        (holderId === null ? undefined : units.get(holderId)) ?? Decimal.zero
      return {
        holderId,
        party,
        units: show(units),
        locked: show(locked),
        pendingIn: pendingOf(pending.incoming),
        pendingOut: pendingOf(pending.outgoing),
        share: shareOf(show(units), head.totalUnits),
        admissionState: admitted.get(party)?.state ?? null,
        restricted:
          restrictions === null
            ? null
            : holderId !== null && isRestricted(restrictions, { holderId, instrumentId }),
        since: Instant.date(since)
      }
    })
    return { instrumentId: instrument.instrumentId, head, lines }
  })
})

export const reads = [register] as const
