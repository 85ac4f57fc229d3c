/** Write that claims a redemption: its conditions, and its claim contract. */
import { Effect, Schema } from "effect"
import * as Field from "../../templates/Field.ts"
import { PrimaryMarket as PrimaryMarketTemplate } from "../../templates/Market.ts"
import { RedemptionClaim } from "../../templates/Redemption.ts"
import { create, exercise } from "../../templates/Template.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import * as NavFeedLookups from "../../statements/nav-feed/NavFeedLookups.ts"
import * as OrderClaimSteps from "../order/OrderClaimSteps.ts"
import * as OrderClaim from "../OrderClaim.ts"
import { RedemptionId, redemptions } from "./Redemption.ts"
import * as Gates from "./RedemptionGates.ts"
import { lastPriceOf } from "../order/LastPriceLookups.ts"
import { isRebasing } from "../RebasingRules.ts"
import { unitsOf } from "./RedemptionLookups.ts"
import * as RedemptionView from "./RedemptionView.ts"

const Claim = Schema.Struct({
  /** Id of the redemption; the engine makes one when the caller names none. */
  redemptionId: Field.optional(RedemptionId),
  ...OrderClaim.fields
}).check(OrderClaim.isWhole)
type Claim = typeof Claim.Type

export const claim = Operation.defineOnLedger("redemption.claim", {
  ...OrderClaimSteps.declaration({
    kind: "redemption",
    orders: redemptions,
    idOf: ({ redemptionId }: Claim) => redemptionId,
    passing: "units-back",
    view: RedemptionView.of,
    judged: (_, loaded) => judged(loaded),
    byWire: ({ amount, free, oracle, terms, units }, redemptionId, fields) => {
      if (oracle === null) throw new Error("an order that passed its gates has an oracle")
      return create(RedemptionClaim, {
        ...fields,
        redemptionId,
        orderedUnits: units,
        orderedAmount: amount,
        oracle,
        remainderOf: null,
        cutOffAt: null,
        ...(isRebasing(terms.manifest) ? { freeUnits: free } : {})
      })
    },
    onLedger: (_, redemptionId, { argument, marketCid }) =>
      exercise(PrimaryMarketTemplate, marketCid, "ClaimRedemption", { ...argument, redemptionId })
  }),
  doc: "Places a holder's order to give units back, by the units or by the cash it wants for them.",
  route: "POST /v1/redemptions",
  input: Claim,
  complete: (input, makeId) =>
    input.redemptionId === null
      ? { ...input, redemptionId: Schema.decodeSync(RedemptionId)(makeId()) }
      : input,
  lasts: Lasting.whileIn(redemptions, ({ redemptionId }) => [redemptionId ?? ""], [
    "claimed",
    "priced",
    "funded",
    "burned"
  ]),
  result: RedemptionView.RedemptionView
})

const judged = Effect.fnUntraced(function* (loaded: OrderClaimSteps.LoadedClaim) {
  const { holder, instrument, market, payment } = loaded
  const oracle = market?.terms.oracle ?? instrument.manifest.oracle
  const lastPrice = yield* lastPriceOf(instrument, oracle, loaded.now)
  const { free, held, leaving } = yield* unitsOf(
    { ...instrument, ...holder },
    { payment, lastPrice }
  )
  const claiming: Gates.ClaimContext = { ...loaded, oracle, free, held, leaving, lastPrice }
  const ofFeed = yield* NavFeedLookups.againstClaim(loaded, oracle, loaded.now)
  return {
    ...loaded,
    oracle,
    free,
    rows: Gates.againstClaim(claiming, [...loaded.ofOrder, ofFeed])
  }
})
