/** Write that claims a redemption: its conditions, and its claim contract. */
import { Effect, Schema } from "effect"
import { isRecorded } from "../../instruments/instrument/Instrument.ts"
import { notRecorded } from "../../instruments/instrument/InstrumentGates.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { judge } from "../../kernel/Gates.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import type { OperationAct } from "../../records/Act.ts"
import * as Field from "../../templates/Field.ts"
import { PrimaryMarket as PrimaryMarketTemplate } from "../../templates/Market.ts"
import { RedemptionClaim } from "../../templates/Redemption.ts"
import { create, exercise } from "../../templates/Template.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, sentence } from "../../writes/Summary.ts"
import * as NavFeedLookups from "../../statements/nav-feed/NavFeedLookups.ts"
import * as OrderClaimSteps from "../order/OrderClaimSteps.ts"
import * as OrderClaim from "../order/OrderClaim.ts"
import { join } from "../dealing-cycle/JoiningSteps.ts"
import { take } from "./ClaimedUnitsSteps.ts"
import { RedemptionId, redemptions } from "./Redemption.ts"
import * as Gates from "./RedemptionGates.ts"
import { lastPriceOf } from "../order/LastPriceLookups.ts"
import { shownAfter } from "../order/OrderSteps.ts"
import { isRebasing } from "../order/RebasingRules.ts"
import { unitsOf } from "./RedemptionLookups.ts"
import * as RedemptionView from "./RedemptionView.ts"

const Claim = Schema.Struct({
  /** Id of the redemption; the engine makes one when the caller names none. */
  redemptionId: Field.optional(RedemptionId),
  ...OrderClaim.fields
}).check(OrderClaim.isWhole)
type Claim = typeof Claim.Type

const idOf = ({ redemptionId }: Pick<Claim, "redemptionId">) =>
  RecordId.made(redemptionId, "a redemption")

export const claim = Operation.defineOnLedger("redemption.claim", {
  ...OrderClaimSteps.sharedDeclaration,
  doc: "Places a holder's order to give units back, by the units or by the cash it wants for them.",
  summary: (request, subject) =>
    sentence`Places redemption ${subject.resource.id}${concerning(subject)}${OrderClaim.sizeOf(request)}.`,
  route: "POST /v1/redemptions",
  input: Claim,
  resource: {
    kind: "redemption",
    id: idOf,
    href: (input) => `/v1/redemptions/${idOf(input)}`,
    instrumentId: ({ instrumentId }) => instrumentId,
    holderId: ({ holderId }) => holderId
  },
  complete: (input, makeId) =>
    input.redemptionId === null
      ? { ...input, redemptionId: Schema.decodeSync(RedemptionId)(makeId()) }
      : input,
  gates: Effect.fn("redemption.claim.gates")(function* (input, act) {
    const subject = yield* subjectOf(input)
    if (!isRecorded(subject.instrument)) return [...subject.ofControls, notRecorded]
    return (yield* judged(input, subject, act)).rows
  }),
  plan: Effect.fn("redemption.claim.plan")(function* (input, act) {
    const order = yield* judged(input, yield* subjectOf(input), act)
    yield* Effect.fromResult(judge(order.rows))
    const units = Gates.takenBy(order)?.moved ?? Decimal.zero
    yield* take(input, { redemptionId: idOf(input), units }, act)
    const { cycleId } = order
    if (cycleId !== null) yield* join(cycleId, { kind: "redemptions", orderId: idOf(input) }, act)
    return { commands: commandsOf(order, input, act), last: true }
  }),
  finish: (input, act) => shown(idOf(input), act),
  lasts: Lasting.whileIn(redemptions, ({ redemptionId }) => [redemptionId ?? ""], [
    "claimed",
    "priced",
    "funded",
    "burned"
  ]),
  result: RedemptionView.RedemptionView
})

const shown = shownAfter(redemptions, RedemptionView.of)

const subjectOf = (input: Claim) =>
  OrderClaimSteps.subjectOf(input, {
    id: input.redemptionId,
    orders: redemptions,
    passing: "units-back"
  })

/** Loads the records that a redemption is checked against, and makes one row for each check. */
const judged = Effect.fnUntraced(function* (
  input: Claim,
  subject: OrderClaimSteps.Subject,
  act: OperationAct
) {
  const loaded = yield* OrderClaimSteps.load("redemption", input, subject, act)
  const { holder, instrument, market, payment } = loaded
  const oracle = market?.terms.oracle ?? instrument.manifest.oracle
  const lastPrice = yield* lastPriceOf(instrument, oracle, loaded.now)
  const {
    free,
    held: heldUnits,
    leaving
  } = yield* unitsOf(
    { ...instrument, ...holder },
    { payment, lastPrice, operationId: act.operationId }
  )
  const ofFeed = yield* NavFeedLookups.againstClaim(loaded, oracle, loaded.now)
  const rows = Gates.againstClaim({ ...loaded, oracle, free, heldUnits, leaving, lastPrice }, [
    ...loaded.ofOrder,
    ofFeed
  ])
  return { ...loaded, oracle, free, lastPrice, rows }
})
type JudgedClaim = Effect.Success<ReturnType<typeof judged>>

/**
 * Commands of a claim that has passed its gates: its contract, and the request of its cash from the
 * fund; the redemptions of a dealing cycle are paid by the cycle.
 */
const commandsOf = (
  order: JudgedClaim,
  input: Claim,
  act: OperationAct
): Operation.Plan["commands"] => {
  const redemptionId = idOf(input)
  const { amount, cycleCid, free, holder, oracle, terms, units } = order
  const signed = OrderClaimSteps.signedOf(order)
  if (signed === null) {
    if (oracle === null) throw new Error("an order that passed its gates has an oracle")
    const claimed = create(RedemptionClaim, {
      ...OrderClaimSteps.wireFields(order, act),
      redemptionId,
      orderedUnits: units,
      orderedAmount: amount,
      oracle,
      remainderOf: null,
      cutOffAt: null,
      ...(isRebasing(terms.manifest) ? { freeUnits: free } : {})
    })
    return [claimed]
  }
  const { market } = signed
  const claimed = exercise(PrimaryMarketTemplate, market.marketCid, "ClaimRedemption", {
    ...OrderClaimSteps.marketArgument(order, signed),
    redemptionId
  })
  if (cycleCid !== null) return [claimed]
  const reference = { kind: "redemption", id: redemptionId } as const
  const payment = { reference, sender: market.fund, receiver: holder.party }
  return [claimed, ...OrderClaimSteps.allocationRequest(order, signed, payment, act)]
}
