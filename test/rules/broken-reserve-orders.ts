/** The acts of mints and reserve redemptions, each with a way to make every check of it refuse. */
import { Decimal, Duration } from "@bursar/engine-core/kernel"
import type * as CoverRules from "#core/reserves/reserve/CoverRules.ts"
import { keyOf } from "#core/reserves/reserve/ReserveTerms.ts"
import * as Gates from "#core/reserves/reserve-order/ReserveOrderGates.ts"
import { party } from "../machines/subscriptions.ts"
import * as Broken from "./broken.ts"

const d = Decimal.of
const { act, free, frozen, held, instrument, nextMonth: later, now, offRegistry, past } = Broken
const h1 = Broken.holder.holderId

const bank = party("bank")
const asset = (id: string) => ({ admin: bank, id })
const [cash, bill] = [asset("USD"), asset("BILL")]
const key = keyOf(bill)

/** Units at par: cash that covers everything by itself, and bills that the oracle prices. */
const books = (): CoverRules.ReserveBooks => ({
  valuation: { mode: "par", parValue: Decimal.one },
  terms: {
    minCover: Decimal.one,
    assets: [
      { asset: cash, priceSource: null, freshness: null, haircut: Decimal.zero, maxShare: null },
      {
        asset: bill,
        priceSource: party("oracle"),
        freshness: Duration.hours(1),
        haircut: Decimal.zero,
        maxShare: null
      }
    ]
  },
  locked: new Map([
    [keyOf(cash), d("5000")],
    [key, d("500")]
  ]),
  points: new Map([[key, { price: d("2"), valuationTime: now }]]),
  outstanding: d("1500"),
  at: now,
  decimals: 6,
  priceDecimals: 10,
  currencyDecimals: 2
})

type Context = Parameters<typeof Gates.againstRedemption>[0] &
  Parameters<typeof Gates.againstMint>[0]

const sound = {
  ...free,
  instrument: instrument(),
  holder: { ...Broken.holder, attributes: [] },
  reserve: { state: "active", holder: party("custodian"), pending: null },
  books: books(),
  asset: bill,
  assetCredential: "given",
  now
} as const

const minting = {
  ...sound,
  admission: { state: "admitted", validFrom: null, credentialCid: "00bb" },
  required: [],
  agreement: { state: "active" }
} as const

type OfMint = Pick<Context, keyof typeof minting>
type Common = Pick<Context, keyof typeof sound>

const booked = <S extends Common>(context: S, change: Partial<CoverRules.ReserveBooks>): S => ({
  ...context,
  books: { ...context.books, ...change }
})
const pointing = <S extends Common>(context: S, change: Partial<CoverRules.AssetPoint>): S => {
  const point = context.books.points.get(key)
  return point === undefined
    ? context
    : booked(context, { points: new Map([[key, { ...point, ...change }]]) })
}

const lapsed = <S extends Common>(context: S): S => ({
  ...context,
  holder: { ...context.holder, state: "closed" }
})
const reviewed = <S extends Common>(context: S): S => ({
  ...context,
  holder: { ...context.holder, screening: Broken.review }
})
const inState =
  (state: "closing" | "closed") =>
  <S extends Common>(context: S): S => ({ ...context, reserve: { ...context.reserve, state } })
/** The terms that are pending leave the asset out; those in force have it. */
const dropped = <S extends Common>(context: S): S => ({
  ...context,
  reserve: {
    ...context.reserve,
    pending: {
      amendmentId: "am-1",
      effectiveAt: later,
      terms: { ...context.books.terms, assets: context.books.terms.assets.slice(0, 1) } as never
    }
  }
})
const outOfTerms = <S extends Common>(context: S): S =>
  booked(context, {
    terms: { ...context.books.terms, assets: context.books.terms.assets.slice(0, 1) }
  })
const uncredited = <S extends Common>(context: S): S => ({ ...context, assetCredential: "missing" })
const unpriced = <S extends Common>(context: S): S => booked(context, { points: new Map() })
const stale = <S extends Common>(context: S): S => pointing(context, { valuationTime: past })

const ofMint = {
  "hold not-held": <S extends OfMint>(context: S): S => ({
    ...context,
    holds: [{ holdId: "hold-1", instrumentId: Broken.instrumentId, blocks: ["mint"] }]
  }),
  "admission holder-active": <S extends OfMint>(context: S): S => ({
    ...context,
    holder: { ...context.holder, state: "lapsed" }
  }),
  "admission admitted": <S extends OfMint>(context: S): S => ({
    ...context,
    admission: context.admission === null ? null : { ...context.admission, state: "expired" }
  }),
  "admission credential-in-force": <S extends OfMint>(context: S): S => ({
    ...context,
    admission: context.admission === null ? null : { ...context.admission, validFrom: later }
  }),
  "admission asset-credential": uncredited,
  "attribute attributes-valid": <S extends OfMint>(context: S): S => ({
    ...context,
    required: [{ property: "accredited", value: "" }]
  }),
  "screening screening-clear": reviewed,
  "policy reserve-active": inState("closing"),
  "policy asset-in-terms": dropped,
  "policy lock-agreement": <S extends OfMint>(context: S): S => ({
    ...context,
    agreement: { state: "proposed" }
  })
} as const

/** The reserve with a required cover beyond cash and bills. */
const demanding = <S extends Common>(context: S): S =>
  booked(context, { terms: { ...context.books.terms, minCover: d("100") } })

export const mintStart = act<Parameters<typeof Gates.againstMint>[0]>({
  name: "mint.start",
  sound: { ...minting, deposit: d("10"), deadline: later },
  rows: Gates.againstMint,
  faults: {
    "hold not-held": ofMint["hold not-held"],
    "restriction may-subscribe": frozen(h1),
    "admission holder-active": ofMint["admission holder-active"],
    "admission admitted": ofMint["admission admitted"],
    "admission credential-in-force": ofMint["admission credential-in-force"],
    "admission asset-credential": ofMint["admission asset-credential"],
    "attribute attributes-valid": ofMint["attribute attributes-valid"],
    "screening screening-clear": ofMint["screening screening-clear"],
    "policy reserve-active": ofMint["policy reserve-active"],
    "policy asset-in-terms": ofMint["policy asset-in-terms"],
    "policy lock-agreement": ofMint["policy lock-agreement"],
    "policy own-reserve": (context) => ({
      ...context,
      reserve: { ...context.reserve, holder: context.holder.party }
    }),
    "window deadline-ahead": (context) => ({ ...context, deadline: now }),
    "units too-small": (context) => ({ ...context, deposit: d("0.0000001") }),
    "reserve-cover price-known": unpriced,
    "reserve-cover price-fresh": stale,
    "reserve-cover cover": demanding,
    "ledger on-registry": offRegistry
  },
  never: [
    ["units too-small", "reserve-cover price-known"],
    ["reserve-cover price-known", "reserve-cover price-fresh"],
    ["reserve-cover price-known", "reserve-cover cover"]
  ]
})

export const mintSettle = act<Parameters<typeof Gates.againstMintSettlement>[0]>({
  name: "mint.settle",
  sound: { ...minting, order: { deposit: d("10"), units: d("20"), heldCid: "00ee" } },
  rows: Gates.againstMintSettlement,
  faults: {
    "hold not-held": ofMint["hold not-held"],
    "restriction may-receive": frozen(h1),
    "admission holder-active": ofMint["admission holder-active"],
    "admission admitted": ofMint["admission admitted"],
    "admission credential-in-force": ofMint["admission credential-in-force"],
    "admission asset-credential": ofMint["admission asset-credential"],
    "attribute attributes-valid": ofMint["attribute attributes-valid"],
    "screening screening-clear": ofMint["screening screening-clear"],
    "policy reserve-active": ofMint["policy reserve-active"],
    "policy asset-in-terms": ofMint["policy asset-in-terms"],
    "policy lock-agreement": ofMint["policy lock-agreement"],
    "cash allocation-live": (context) => ({
      ...context,
      order: { ...context.order, heldCid: null }
    }),
    "reserve-cover price-known": unpriced,
    "reserve-cover price-fresh": stale,
    "reserve-cover price-moved": (context) => pointing(context, { price: d("1.9999999999") }),
    "reserve-cover cover": demanding,
    "ledger on-registry": offRegistry
  },
  never: [
    ["reserve-cover price-known", "reserve-cover price-fresh"],
    ["reserve-cover price-known", "reserve-cover price-moved"]
  ]
})

export const reserveRedemptionStart = act<Parameters<typeof Gates.againstRedemption>[0]>({
  name: "reserve-redemption.start",
  sound: {
    ...sound,
    units: d("10"),
    deadline: later,
    free: d("100"),
    promised: d("1")
  },
  rows: Gates.againstRedemption,
  faults: {
    "hold not-held": held,
    "restriction may-redeem": frozen(h1),
    "admission holder-active": lapsed,
    "admission asset-credential": uncredited,
    "screening screening-clear": reviewed,
    "policy reserve-active": inState("closed"),
    "policy asset-in-terms": outOfTerms,
    "window deadline-ahead": (context) => ({ ...context, deadline: now }),
    "units unit-decimals": (context) => ({
      ...context,
      units: Decimal.add(context.units, d("0.0000001"))
    }),
    "units units-free": (context) => ({ ...context, free: Decimal.zero }),
    "units too-small": (context) => pointing(context, { price: d("1000000000") }),
    "reserve-cover price-known": unpriced,
    "reserve-cover price-fresh": stale,
    "reserve-cover asset-available": (context) => ({ ...context, promised: d("499.999999") }),
    "ledger on-registry": offRegistry
  },
  never: [
    ["policy asset-in-terms", "units too-small"],
    ["policy asset-in-terms", "reserve-cover price-known"],
    ["policy asset-in-terms", "reserve-cover price-fresh"],
    ["policy asset-in-terms", "reserve-cover asset-available"],
    ["units too-small", "reserve-cover price-known"],
    ["units too-small", "reserve-cover asset-available"],
    ["reserve-cover price-known", "reserve-cover price-fresh"],
    ["reserve-cover price-known", "reserve-cover asset-available"]
  ]
})

export const reserveRedemptionSettle = act<Parameters<typeof Gates.againstRedemptionSettlement>[0]>(
  {
    name: "reserve-redemption.settle",
    sound: { ...sound, order: { units: d("10"), payout: d("5"), heldCid: "00ee" } },
    rows: Gates.againstRedemptionSettlement,
    faults: {
      "hold not-held": held,
      "restriction may-redeem": frozen(h1),
      "admission holder-active": lapsed,
      "admission asset-credential": uncredited,
      "screening screening-clear": reviewed,
      "policy reserve-active": inState("closed"),
      "policy asset-in-terms": outOfTerms,
      "units units-allocated": (context) => ({
        ...context,
        order: { ...context.order, heldCid: null }
      }),
      "reserve-cover price-known": unpriced,
      "reserve-cover price-fresh": stale,
      "reserve-cover price-moved": (context) => pointing(context, { price: d("2.0000001") }),
      "reserve-cover asset-available": (context) =>
        booked(context, { locked: new Map([[key, d("4.9999999999")]]) }),
      "ledger on-registry": offRegistry
    },
    never: [
      ["policy asset-in-terms", "reserve-cover price-known"],
      ["policy asset-in-terms", "reserve-cover price-fresh"],
      ["policy asset-in-terms", "reserve-cover price-moved"],
      ["reserve-cover price-known", "reserve-cover price-fresh"],
      ["reserve-cover price-known", "reserve-cover price-moved"]
    ]
  }
)
