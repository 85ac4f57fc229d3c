/** Reads of an instrument's register. */
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
  /** Null for a party that holds units and is no holder of this venue. */
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
  /** Whether any restriction is on it, whatever its mode. Null to an app, always: it is never told. */
  restricted: NullOr(Schema.Boolean),
  /** The day, in UTC, since which units are held without a break. */
  since: Date.schema
})

export const RegisterView = Schema.Struct({
  instrumentId: InstrumentId,
  head: Schema.Struct({
    totalUnits: Decimal.schema,
    /** Supply that the ledger's movements sum to. */
    supplyOnLedger: Decimal.schema,
    /** 0: the lines are the supply. */
    difference: Decimal.schema,
    holders: Integer.schema
  }),
  lines: Schema.Array(Line)
}).annotate({ identifier: "RegisterView", description: "Who holds an instrument, and how much." })

/** Look-ups of one register that run at a time: the store answers one while another is decoded. */
const atOnce = 2

/** The states of a redemption whose units are still its holder's. */
const unburned: ReadonlyArray<Redemption["state"]> = ["claimed", "priced", "funded"]

/** Everything that streams past, kept by a key; where a key repeats, the last one. */
const gathered = <A, E, R>(
  stream: Stream.Stream<{ readonly record: A }, E, R>,
  key: (record: A) => string
) =>
  Effect.map(
    Stream.runCollect(stream),
    (rows) => new Map(rows.map(({ record }) => [key(record), record]))
  )

/** Units by holder, added up. */
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

/** Pending units by holder: in (bought and not delivered), out (redeemed and not burned). */
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
 * How many units there are by the ledger: what its movements have left, a fold of its own beside the
 * lines', and one record. A projection that is older than its movements adds its holdings up.
 */
const supplyAt = Effect.fnUntraced(function* (asset: string, pin: Pin.Resolved) {
  const records = yield* Records
  const known = yield* records.find(supplies, asset, pin)
  if (Option.isSome(known)) return known.value.units
  return yield* records.stream(holdings, { pin, where: { asset: [asset] } }).pipe(
    Stream.runFold(
      () => Decimal.zero,
      (sum, { record }) => Decimal.add(sum, record.amount)
    )
  )
})

/** How a register that is kept in base units is shown: at the last index of its oracle. */
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

/** Which holder each party is: its admission says so, and where it has none, the venue's own list. */
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
  const known = new Map(others.map(({ party, holderId }): [string, string] => [party, holderId]))
  return (party: string) => admitted.get(party)?.holderId ?? known.get(party) ?? null
})

/** Who reads what an instrument's holders hold: no investor, and a registrar its own instruments. */
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
        // The last one offered is last, and counts.
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
      const waiting = (known: ReadonlyMap<string, Decimal.Decimal>) =>
        (holderId === null ? undefined : known.get(holderId)) ?? Decimal.zero
      return {
        holderId,
        party,
        units: show(units),
        locked: show(locked),
        pendingIn: waiting(pending.incoming),
        pendingOut: waiting(pending.outgoing),
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
