/**
 * Kit of reserves as a table or a generator states them: what is locked of each asset at which price,
 * and what is outstanding. Its figures are read by the view, by the ledger's report and by prechecks.
 */
import { Decimal, Instant, type Offset } from "@bursar/engine-core/kernel"
import type * as Templates from "@bursar/engine-core/templates"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as PrecheckQueries from "#core/overviews/precheck/PrecheckQueries.ts"
import * as ReportQueries from "#core/reserves/report/ReportQueries.ts"
import * as ReserveQueries from "#core/reserves/reserve/ReserveQueries.ts"
import * as Calls from "../engine/calls.ts"
import { id } from "../machines/subscriptions.ts"
import * as Backed from "./backed.ts"
import * as Covered from "./covered.ts"
import * as Venue from "./venue.ts"

const reserveId = id<"ReserveId">("res-1")
const instrumentId = id<"InstrumentId">("fund-a")

export interface StatedAsset {
  /** Units that are locked. */
  readonly units: string
  /** Price by the oracle; absent: the asset has no price source, and is worth 1; null: none was published. */
  readonly price?: string | null
  /** Age of the price in microseconds; below 0: it is of the future. */
  readonly age?: number
  readonly freshness?: string | null
  readonly haircut?: string
  readonly maxShare?: string | null
}

export interface Stated {
  /** By the id of the asset, in the order of the terms. */
  readonly assets: Readonly<Record<string, StatedAsset>>
  readonly minCover: string
  /** Units that the register has. */
  readonly outstanding: string
  /** Units by the ledger's own count; absent: none, since the registrar issued the units by itself. */
  readonly counted?: string
  /** Share price while nothing is outstanding; absent: the units are at par. */
  readonly accumulating?: string
  readonly parValue?: string
  readonly decimals?: number
  readonly priceDecimals?: number
}

/** Terms of a stated reserve as a caller sends them. */
export const termsOf = (
  { bank, oracle }: Pick<Backed.Scene, "bank" | "oracle">,
  { assets, minCover }: Pick<Stated, "assets" | "minCover">
) => ({
  minCover: Number(minCover),
  assets: Object.entries(assets).map(([name, statedAsset]) => {
    const { price, freshness = "PT1H", haircut = "0", maxShare = null } = statedAsset
    const isPriced = price !== undefined
    return {
      asset: { admin: bank.party, id: name },
      priceSource: isPriced ? oracle.party : null,
      freshness: isPriced ? freshness : null,
      haircut: Number(haircut),
      maxShare: maxShare === null ? null : Number(maxShare)
    }
  })
})

/** The oracle publishes the price of an asset, of an instant so many microseconds ago. */
export const publishes = (
  scene: Backed.Scene,
  name: string,
  { price, age = 0 }: Pick<StatedAsset, "price" | "age">
) =>
  Effect.gen(function* () {
    if (price === undefined || price === null) return
    const now = yield* Instant.now
    const valuationTime = Instant.fromEpochMicros(Instant.toEpochMicros(now) - BigInt(age))
    yield* Backed.prices(scene, price, { instrumentId: name, valuationTime })
  })

export const assetOf = ({ bank }: Pick<Backed.Scene, "bank">, name: string): Templates.Asset => ({
  admin: bank.party,
  id: name
})

/** Body of reserve.propose of a stated reserve. */
export const bodyOf = (scene: Backed.Scene, statement: Stated) => ({
  terms: termsOf(scene, statement),
  ...(statement.decimals === undefined ? {} : { decimals: statement.decimals }),
  ...(statement.priceDecimals === undefined ? {} : { priceDecimals: statement.priceDecimals }),
  ...(statement.accumulating === undefined
    ? {}
    : { initialSharePrice: Number(statement.accumulating) })
})

/** The instrument that a stated reserve is to back. */
export const opened = ({ accumulating, decimals = 6, parValue }: Partial<Stated>) =>
  Backed.opened({
    unitDecimals: Math.max(6, decimals),
    ...(accumulating === undefined ? {} : { valuation: "accumulating" }),
    ...(parValue === undefined ? {} : { parValue: Number(parValue) })
  })

/** A reserve as it is stated, signed and locked from wallets; its units are h1's. */
export const stands = (statement: Stated) =>
  Effect.gen(function* () {
    const scene = yield* opened(statement)
    yield* Backed.reserved(scene, bodyOf(scene, statement))
    for (const [name, asset] of Object.entries(statement.assets)) {
      yield* publishes(scene, name, asset)
      const locked = Decimal.isZero(Decimal.of(asset.units)) ? {} : { amount: asset.units }
      yield* Backed.locked(scene, { asset: assetOf(scene, name), ...locked })
    }
    if (!Decimal.isZero(Decimal.of(statement.outstanding)))
      yield* Covered.issues(scene, statement.outstanding)
    if (statement.counted !== undefined) yield* Covered.recounts(scene, statement.counted)
    return scene
  })

// ---- the three that tell figures

/** The view as of a report: at its offset, and so at the ledger's instant of it. */
export const viewAt = (at: Offset.Offset) =>
  Effect.map(Venue.read(ReserveQueries.get, { reserveId }, { point: { at } }), ({ value }) => value)

let reports = 0
/** A report that the ledger makes now. */
export const report = Effect.gen(function* () {
  const reportId = `rep-${++reports}`
  const made = yield* Calls.write("reserve-report.create", { reserveId }, { reportId })
  if (made.state !== "succeeded") throw new Error(`no report: ${made.why}`)
  const { value } = yield* Venue.read(ReportQueries.get, { reserveId, reportId: id(reportId) })
  return value
})

/** A mint or a redemption that is asked for. */
export type Ask =
  | { readonly asset: string; readonly deposit: string }
  | { readonly asset: string; readonly units: string }

/** Answer of a precheck at an offset: the checks that refuse, by name, and the figures. */
export const precheck = (
  scene: Pick<Backed.Scene, "bank">,
  ask: Ask & { readonly holder?: string; readonly at?: Offset.Offset; readonly price?: string }
) =>
  Effect.map(
    Venue.read(
      PrecheckQueries.get,
      {
        instrumentId,
        holderId: id<"HolderId">(ask.holder ?? "h1"),
        asset: assetOf(scene, ask.asset),
        ...(ask.price === undefined ? {} : { price: Decimal.of(ask.price) }),
        ...("deposit" in ask
          ? { act: "mint.start" as const, deposit: Decimal.of(ask.deposit) }
          : { act: "reserve-redemption.start" as const, units: Decimal.of(ask.units) })
      },
      ask.at === undefined ? {} : { point: { at: ask.at } }
    ),
    ({ value: { allowed, figures, gates } }) => {
      const refused = gates.filter(({ ok }) => !ok).map(({ check }) => check)
      assert.strictEqual(allowed, refused.length === 0)
      return { refused, figures: figures as Readonly<Record<string, string>> | null }
    }
  )

type View = Effect.Success<ReturnType<typeof viewAt>>
type Report = Effect.Success<typeof report>

const orNull = (decimal: Decimal.Decimal | null) =>
  decimal === null ? "null" : Decimal.format(decimal)
const cut = (decimal: Decimal.Decimal, rounding: "floor" | "ceiling") =>
  Decimal.formatPlaces(Decimal.round(decimal, { places: 2, rounding }), 2)

/** Figures that the view and the report of a reserve both have, as the view shows them. */
export const shownBy = ({ assets, cover, counted, required, sharePrice, ...totals }: Shared) => ({
  // The view tells the ledger's own count and the supply, and a report the larger of them.
  outstanding: Decimal.format(Decimal.max(totals.outstanding, totals.supply ?? Decimal.zero)),
  assets: assets.map(({ asset, fresh, price, units, value }) =>
    [asset.id, Decimal.format(units), orNull(price), fresh, cut(value, "floor")].join(" ")
  ),
  required: cut(required, "ceiling"),
  counted: cut(counted, "floor"),
  cover: `${orNull(cover.ratio)} ${cover.state}`,
  sharePrice: orNull(sharePrice)
})
type Shared = Pick<View | Report["view"], "counted" | "outstanding" | "required" | "sharePrice"> & {
  readonly assets: ReadonlyArray<
    Pick<View["assets"][number], "asset" | "fresh" | "price" | "units" | "value">
  >
  readonly cover: Pick<View["cover"], "ratio" | "state">
  readonly supply?: Decimal.Decimal
}

/** A report, and the view as of it; fails where they differ in a figure that both have. */
export const agreed = Effect.gen(function* () {
  const reported = yield* report
  const shown = yield* viewAt(reported.off)
  assert.deepStrictEqual(shownBy(reported.view), shownBy(shown))
  return {
    ...{ view: shown, report: reported.view, at: reported.off },
    now: Instant.toEpochMicros(reported.at) * 1_000n
  }
})

/** An hour as the age of a price: the freshness of assets that name none. */
export const hour = 3_600_000_000
