/** Computes the head of a register inside the store, without loading its lines. */
import { Effect, Option, Stream } from "effect"
import { assetKeyOf, holdings } from "../../instruments/register/Holding.ts"
import { registerEntries } from "../../instruments/register/RegisterEntry.ts"
import { headOf, shownUnits } from "../../instruments/register/RegisterRules.ts"
import { supplies } from "../../instruments/register/Supply.ts"
import { type Instrument, isRecorded } from "../../instruments/instrument/Instrument.ts"
import { quotes } from "../../instruments/price/PricePoint.ts"
import { priceOf, quoteIdsOf } from "../../instruments/price/QuoteRules.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Bulk } from "../../ports/storage/Bulk.ts"
import { storeUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import { storedPin } from "../../records/StorageQuery.ts"

/** Conversion of a register's stored units to those that are shown. */
export interface UnitConversion {
  /** Latest index of a rebasing instrument; null: units are shown as they are stored. */
  readonly index: Decimal.Decimal | null
  readonly unitDecimals: number
  readonly show: (units: Decimal.Decimal) => Decimal.Decimal
}

/** Loads the index of a rebasing instrument, at which its base units are shown. */
export const showing = Effect.fnUntraced(function* (instrument: Instrument, pin: Pin.ResolvedPin) {
  const asStored: UnitConversion = {
    index: null,
    unitDecimals: Decimal.places,
    show: (units) => units
  }
  if (!isRecorded(instrument) || instrument.manifest.valuation !== "rebasing") return asStored
  const records = yield* Records
  const [quote] = yield* records.many(quotes, quoteIdsOf(instrument), pin)
  const { valuation, unitDecimals } = instrument.manifest
  const { price: index } = priceOf(instrument, quote, pin.judgedAt)
  const shown: UnitConversion = {
    index,
    unitDecimals,
    show: (units) => shownUnits({ units, valuation, index, unitDecimals })
  }
  return shown
})

/** Owner of no bulk rows: the other side of a comparison that only sums. */
const nothing = { owner: "", amount: 0 }

/** Sums the units of an asset's lines; with `times`, each line's multiplied and rounded half up. */
const unitsOf = Effect.fnUntraced(function* (
  asset: string,
  pin: Pin.ResolvedPin,
  times?: { readonly factor: string; readonly places: number }
) {
  const bulk = yield* Bulk
  const lines = {
    collection: registerEntries.name,
    pin: storedPin(registerEntries.keptBy, pin),
    where: { column: "asset", is: asset },
    // All lines have the asset that they are selected by, and so are summed together.
    match: "asset",
    member: "units",
    ...(times === undefined ? {} : { times })
  }
  const sums = bulk.differences({ left: lines, right: nothing, tolerance: "0" })
  const sum = yield* Stream.runHead(Stream.mapError(sums, storeUnavailable))
  return Option.match(sum, {
    onNone: () => Decimal.zero,
    onSome: ({ left }) => Decimal.of(left ?? "0")
  })
})

/**
 * Loads the supply of an instrument on the ledger, a fold of its movements that is independent of
 * the register's lines. A projection from before movements were recorded sums the holdings instead.
 */
const supplyOf = Effect.fnUntraced(function* (asset: string, pin: Pin.ResolvedPin) {
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

/** Computes the head of a register at a pin: a sum and a count of its lines, and the supply. */
export const headAt = Effect.fnUntraced(function* (
  instrument: Instrument,
  { index, show, unitDecimals }: UnitConversion,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const asset = assetKeyOf(instrument)
  const units = yield* unitsOf(asset, pin)
  const totalUnits =
    index === null
      ? units
      : yield* unitsOf(asset, pin, { factor: Decimal.formatPlain(index), places: unitDecimals })
  const counted = yield* records.countBy(registerEntries, "asset", {
    pin,
    where: { asset: [asset] }
  })
  const supply = yield* supplyOf(asset, pin)
  return headOf({ holders: counted.get(asset) ?? 0, units, totalUnits, supply, show })
})
