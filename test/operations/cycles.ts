/** A fund with several holders whose ledger-paid orders join dealing cycles: where cycles are walked. */
import { Records, Workers } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { dealingCycles } from "#core/orders/dealing-cycle/DealingCycle.ts"
import { redemptions } from "#core/orders/redemption/Redemption.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import { contracts } from "#core/projection/Contract.ts"
import * as Calls from "../engine/calls.ts"
import * as Outsiders from "../engine/outsiders.ts"
import * as Fund from "./fund.ts"

const { acts, does } = Outsiders

/** The Friday of the stage, at its instrument's cut-off; then the Monday's. */
export const friday = "2026-07-31T20:00:00Z"
export const monday = "2026-08-03T20:00:00Z"

export const at = (instant: string) =>
  Effect.andThen(TestClock.setTime(Instant.toEpochMillis(Instant.of(instant))), Calls.settle)

/** Runs the engine's due writes. */
export const turns = Effect.gen(function* () {
  const schedules = yield* Workers.runnerOf("schedules")
  for (let turn = 0; turn < 3; turn++) {
    yield* TestClock.adjust(60_000)
    yield* schedules.runOnce
    yield* Calls.settle
  }
})

/** The active contracts of a template, as the ledger shows them. */
export const active = <T extends Templates.Template>(template: T) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* Stream.runCollect(
      records.stream(contracts, {
        where: { template: [Templates.key(template.typeRef)], active: ["true"] }
      })
    )
    return found
      .map(({ record }) => record)
      .toSorted((a, b) => a.createdOffset - b.createdOffset)
      .map(({ contractId, payload }) => ({
        cid: contractId,
        payload: payload as unknown as Templates.Payload<T>
      }))
  })

/** The one contract of a template with these members. */
const saying = <T extends Templates.Template>(template: T, member: string, value: string) =>
  Effect.map(active(template), (found) => {
    const last = found.findLast(
      ({ payload }) => (payload as Readonly<Record<string, unknown>>)[member] === value
    )
    if (last === undefined) throw new Error(`no ${template.typeRef.entity} with ${member} ${value}`)
    return last
  })

/** Onboards a holder that accepts everything: active and admitted. */
export const joins = (stage: Fund.Parties, holderId: string) =>
  Effect.flatMap(Fund.outsider(holderId), (who) => joinsAs(stage, holderId, who))

/** An invited holder accepts, and signs terms that the venue accepts. */
export const registers = (who: Fund.Outsider, holderId: string) =>
  Effect.gen(function* () {
    yield* Fund.accepts({ holder: who }, holderId)
    const { documentHash } = Fund
    yield* does(who, acts.investor.signTerms({ documentHash, holderId }))
    yield* Calls.write("accepted-terms.accept", { holderId }, {})
  })

/** The same for a party that is there already. */
export const joinsAs = ({ asset }: Fund.Parties, holderId: string, who: Fund.Outsider) =>
  Effect.gen(function* () {
    const admissions = [{ instrumentId: asset.id }]
    const holder = { holderId, party: who.party, taxResidences: [], admissions }
    yield* Calls.write("holder.onboard", {}, holder)
    yield* registers(who, holderId)
    yield* does(who, acts.investor.acceptOffer(asset.id))
    return { ...who, holderId }
  })
export type Holder = Effect.Success<ReturnType<typeof joins>>

export const cash = (stage: Fund.Parties) => ({ admin: stage.bank.party, id: "USD" })

/** A registrar issues an asset that it administers, and the receiver accepts it. */
export const issues = (
  { registrar, to, venue }: Record<"registrar" | "to", Fund.Outsider> & Pick<Fund.Parties, "venue">,
  issue: { readonly instrumentId: string; readonly amount: string }
) =>
  Effect.gen(function* () {
    const { instrumentId } = issue
    const amount = Decimal.of(issue.amount)
    const reference = registrar.nextReference()
    const parties = { provider: venue, receiver: to.party }
    yield* does(registrar, acts.registrar.issue({ instrumentId, amount, reference, ...parties }))
    yield* does(to, acts.investor.acceptTransfer(instrumentId))
  })

/** The bank gives a party cash. */
export const paysIn = (stage: Fund.Parties, to: Fund.Outsider, amount: string) =>
  issues({ registrar: stage.bank, to, venue: stage.venue }, { instrumentId: "USD", amount })

/** A free holding of a party's in an asset, large enough. */
const free = (owner: string, assetId: string, amount: string) =>
  Effect.map(active(Templates.Holding), (found) => {
    const holding = found.find(
      ({ payload }) =>
        payload.owner === owner &&
        payload.instrument.id === assetId &&
        payload.lock === null &&
        Decimal.atLeast(Decimal.of(String(payload.amount)), Decimal.of(amount))
    )
    if (holding === undefined) throw new Error(`${owner} has no free ${amount} of ${assetId}`)
    return holding.cid
  })

/** A party locks cash or units for the venue to move: as often as it is said, where a wallet does it once. */
export const allocates = (
  stage: Fund.Parties,
  by: Fund.Outsider,
  payment: {
    readonly assetId: string
    readonly amount: string
    readonly to: Fund.Outsider
    readonly reference: string
  }
) =>
  Effect.gen(function* () {
    yield* by.act(
      Templates.exercise(
        Templates.Holding,
        yield* free(by.party, payment.assetId, payment.amount),
        "Allocate",
        {
          allocationId: payment.reference,
          executor: stage.venue,
          receiver: payment.to.party,
          amount: Decimal.of(payment.amount),
          settleBefore: Instant.of("2026-08-20T20:00:00Z")
        }
      )
    )
  })

/** A holder with the cash for it signs an order, which the venue claims; the holder locks the cash. */
export const subscribes = (
  stage: Fund.Parties,
  by: Holder,
  claim: { readonly id: string; readonly amount: string }
) =>
  Effect.gen(function* () {
    yield* signs(stage, by, claim)
    const claimed = yield* Calls.write("subscription.claim", {}, claimOf(by, claim.id))
    if (claimed.why !== "") return claimed
    const { amount, id: reference } = claim
    yield* allocates(stage, by, { assetId: "USD", amount, to: stage.fund, reference })
    return claimed
  })

/** A holder has the cash of an order, and signs it. */
export const signs = (
  stage: Fund.Parties,
  by: Holder,
  claim: { readonly id: string; readonly amount: string }
) =>
  Effect.gen(function* () {
    yield* paysIn(stage, by, claim.amount)
    const ordered = { amount: Decimal.of(claim.amount) }
    yield* does(by, acts.investor.order({ ...orderOf(stage, claim.id), ordered }))
  })

/** What every order of the stage's fund says. */
const orderOf = (stage: Fund.Parties, id: string) => ({
  venue: stage.venue,
  fund: stage.fund.party,
  orderId: `order-${id}`,
  instrument: stage.asset,
  paymentAsset: cash(stage),
  expiresAt: null
})

/** Claim of an order that its holder has signed. */
export const claimOf = ({ holderId }: Holder, id: string) => ({
  ...{ subscriptionId: id, instrumentId: "fund-a", holderId },
  ...{ payment: "ledger", orderId: `order-${id}` }
})

/** A holder signs an order to give units back, which the venue claims; the holder locks the units. */
export const redeems = (
  stage: Fund.Parties,
  by: Holder,
  claim: { readonly id: string; readonly units: string }
) =>
  Effect.gen(function* () {
    const ordered = { units: Decimal.of(claim.units) }
    const order = { ...orderOf(stage, claim.id), ordered, custodian: null }
    yield* does(by, acts.investor.redeem(order))
    const { subscriptionId: redemptionId, ...body } = claimOf(by, claim.id)
    const claimed = yield* Calls.write("redemption.claim", {}, { redemptionId, ...body })
    if (claimed.why !== "") return claimed
    yield* locksUnits(stage, by, claim)
    return claimed
  })

export const locksUnits = (
  stage: Fund.Parties,
  by: Holder,
  redemption: { readonly id: string; readonly units: string }
) =>
  allocates(stage, by, {
    assetId: "fund-a",
    amount: redemption.units,
    to: stage.fund,
    reference: redemption.id
  })

/** The attestor prices a claim at the last point. */
export const attests = (
  stage: Fund.Parties,
  redemption: { readonly id: string; readonly units: string; readonly price: string }
) =>
  Effect.gen(function* () {
    const claim = yield* saying(Templates.SubscriptionClaim, "subscriptionId", redemption.id)
    const point = yield* Fund.newestContract(Templates.OraclePoint)
    yield* stage.attestor.act(
      Templates.exercise(Templates.SubscriptionClaim, claim.cid, "Attest", {
        attestor: stage.attestor.party,
        pointCid: point.cid,
        price: Decimal.of(redemption.price),
        units: Decimal.of(redemption.units)
      })
    )
  })

/** The oracle prices a redemption at its last point. */
export const pays = (
  stage: Fund.Parties,
  redemption: {
    readonly id: string
    readonly units: string
    readonly price: string
    readonly proceeds: string
  }
) =>
  Effect.gen(function* () {
    const claim = yield* saying(Templates.RedemptionClaim, "redemptionId", redemption.id)
    const point = yield* Fund.newestContract(Templates.OraclePoint)
    yield* stage.oracle.act(
      Templates.exercise(Templates.RedemptionClaim, claim.cid, "Price", {
        pointCid: point.cid,
        price: Decimal.of(redemption.price),
        units: Decimal.of(redemption.units),
        proceeds: Decimal.of(redemption.proceeds)
      })
    )
  })

/** Replaces this version of the policy by one that holds at once, or from an instant. */
export const changes = (version: number, body: Readonly<Record<string, Calls.Json>>) =>
  Calls.write("policy.set", { instrumentId: "fund-a" }, body, Calls.operator, String(version))

export const opens = (cycleId: string, body: Readonly<Record<string, Calls.Json>> = {}) =>
  Calls.write("dealing-cycle.open", {}, { cycleId, instrumentId: "fund-a", ...body })
export const settles = (cycleId: string) => Calls.write("dealing-cycle.settle", { cycleId }, {})
export const releases = (cycleId: string) => Calls.write("dealing-cycle.release", { cycleId }, {})

export const cycle = (id: string) =>
  Effect.flatMap(Records, (records) => records.get(dealingCycles, id))
export const subscription = (id: string) =>
  Effect.flatMap(Records, (records) => records.get(subscriptions, id))
export const redemption = (id: string) =>
  Effect.flatMap(Records, (records) => records.get(redemptions, id))

/** Units that a party holds of an asset, locked or not. */
export const holds = (who: Fund.Outsider, assetId: string) =>
  Effect.map(active(Templates.Holding), (found) =>
    Decimal.formatPlain(
      Decimal.sum(
        found
          .filter(({ payload }) => payload.owner === who.party && payload.instrument.id === assetId)
          .map(({ payload }) => Decimal.of(String(payload.amount)))
      )
    )
  )

/** The stage with its market and so many holders. */
export const opened = (
  holderIds: ReadonlyArray<string>,
  change: Readonly<Record<string, Calls.Json>> = {}
) =>
  Effect.gen(function* () {
    const stage = yield* Fund.opened({ holderCap: 100, ...change })
    yield* Fund.market(stage)
    const holders: Array<Holder> = []
    for (const holderId of holderIds) holders.push(yield* joins(stage, holderId))
    return { stage, holders }
  })
