/** Single commands of an actor, each with its arguments. */
import { randomUUID } from "node:crypto"
import { Result } from "effect"
import { acts } from "./Acts.ts"
import * as Deliveries from "./Deliveries.ts"
import { type Actor, once, type DutyParser } from "./Duty.ts"
import * as Flags from "./Flags.ts"
import * as ActorInputs from "./ActorInputs.ts"
import * as OracleBot from "./OracleBot.ts"
import * as Wallet from "./Wallet.ts"
import type * as World from "./World.ts"

const byId =
  (name: Flags.Name, plan: (id: string) => World.Plan): DutyParser =>
  (flags) =>
    Result.map(
      flags.text("contract-id") === undefined
        ? Flags.needed(flags, name)
        : Flags.needed(flags, "contract-id"),
      (id) => once(plan(id))
    )

const { attestor, custodian, fund, oracle, registrar } = acts

/** Commands of a holder, and of a fund, about holdings that are offered to them. */
const transfers: { readonly [command: string]: DutyParser } = {
  "accept-transfer": byId("instrument", fund.acceptTransfer),
  "reject-transfer": byId("instrument", fund.rejectTransfer)
}

/** Commands of a holder, for its own wallet or for the custodian that hosts it. */
const holder: { readonly [command: string]: DutyParser } = {
  "accept-invitation": byId("holder-id", acts.investor.acceptInvitation),
  "decline-invitation": byId("holder-id", acts.investor.declineInvitation),
  "accept-offer": byId("instrument", acts.investor.acceptOffer),
  "decline-offer": byId("instrument", acts.investor.declineOffer),
  "grant-consent": byId("reference", acts.investor.grantConsent),
  "refuse-consent": byId("reference", acts.investor.refuseConsent),
  "revoke-consent": byId("reference", acts.investor.revokeConsent),
  ...transfers,
  "withdraw-order": byId("order-id", acts.investor.withdrawOrder),
  pay: byId("reference", acts.investor.pay),
  "sign-terms": (flags) =>
    Result.gen(function* () {
      const holderId = yield* Flags.needed(flags, "holder-id")
      const documentHash = yield* Flags.needed(flags, "document-hash")
      return once(acts.investor.signTerms({ holderId, documentHash }))
    }),
  order: (flags) => Result.map(orderOf(flags), (order) => once(acts.investor.order(order))),
  redeem: (flags) =>
    Result.gen(function* () {
      const custodian = yield* Flags.optional(flags, "custodian", Flags.party)
      const order = { ...(yield* orderOf(flags)), custodian }
      return once(acts.investor.redeem(order))
    }),
  "accept-mint": byId("reference", acts.investor.acceptMint),
  "decline-mint": byId("reference", acts.investor.declineMint),
  "accept-reserve-redemption": byId("reference", acts.investor.acceptReserveRedemption),
  "decline-reserve-redemption": byId("reference", acts.investor.declineReserveRedemption),
  "withdraw-allocation": byId("reference", acts.investor.withdrawAllocation),
  "hand-over": byId("redemption-id", acts.investor.handOver),
  commit: byId("reference", acts.investor.commit),
  "withdraw-burn": byId("redemption-id", acts.investor.withdrawBurn),
  "request-burn": byId("redemption-id", acts.investor.requestBurn),
  allocate: (flags) =>
    Result.gen(function* () {
      const allocation = {
        reference: yield* Flags.needed(flags, "reference"),
        venue: yield* Flags.party(flags, "venue"),
        receiver: yield* Flags.party(flags, "to"),
        instrument: yield* assetOf(flags, "instrument"),
        amount: yield* Flags.decimal(flags, "amount"),
        settleBefore: yield* Flags.instant(flags, "settle-before")
      }
      return once(acts.investor.allocate(allocation))
    }),
  holdings: () => Result.succeed({ kind: "show", show: Wallet.holdings }),
  payouts: () => Result.succeed({ kind: "show", show: Wallet.payouts })
}

const orderOf = (flags: Flags.Flags) =>
  Result.gen(function* () {
    return {
      venue: yield* Flags.party(flags, "venue"),
      fund: yield* Flags.party(flags, "fund"),
      orderId: yield* Flags.needed(flags, "order-id"),
      instrument: yield* assetOf(flags, "instrument"),
      paymentAsset: yield* assetOf(flags, "payment"),
      ordered:
        flags.text("units") === undefined
          ? { amount: yield* Flags.decimal(flags, "amount") }
          : { units: yield* Flags.decimal(flags, "units") },
      expiresAt: yield* Flags.optional(flags, "expires-at", Flags.instant)
    }
  })

/** Payment of the line that is to be delivered; none for units. */
const paymentsOf = (flags: Flags.Flags, lineId: string) =>
  flags.text("reference") === undefined
    ? Result.succeed([])
    : Result.gen(function* () {
        const payment = {
          paid: lineId,
          reference: yield* Flags.needed(flags, "reference"),
          paidOn: yield* Flags.needed(flags, "paid-on")
        }
        return [yield* Flags.shaped(Deliveries.Payment, payment)]
      })

const assetOf = (flags: Flags.Flags, what: "instrument" | "payment") =>
  Result.gen(function* () {
    const [admin, id] =
      what === "instrument"
        ? (["instrument-admin", "instrument"] as const)
        : (["payment-admin", "payment-instrument"] as const)
    return { admin: yield* Flags.party(flags, admin), id: yield* Flags.needed(flags, id) }
  })

/** Commands of an issuer and its registrar about powers over their instrument. */
const powers: { readonly [command: string]: DutyParser } = {
  "accept-powers": byId("reference", fund.acceptPowers),
  "decline-powers": byId("reference", fund.declinePowers),
  "end-powers": byId("reference", fund.endPowers)
}

/** Commands of the issuer of a backed instrument, and of the reserve's holder, about the reserve. */
const reserves: { readonly [command: string]: DutyParser } = {
  "accept-reserve": byId("reference", fund.acceptReserve),
  "decline-reserve": byId("reference", fund.declineReserve)
}

/** Commands of an asset's registrar, and of a reserve's holder, about locked holdings. */
const locks: { readonly [command: string]: DutyParser } = {
  "accept-lock": byId("reference", custodian.acceptLock),
  "decline-lock": byId("reference", custodian.declineLock)
}

const issuing: { readonly [command: string]: DutyParser } = {
  ...reserves,
  "accept-amendment": byId("reference", fund.acceptAmendment),
  "decline-amendment": byId("reference", fund.declineAmendment),
  recount: (flags) =>
    Result.gen(function* () {
      const reserveId = yield* Flags.needed(flags, "reference")
      return once(fund.recount({ reserveId, units: yield* Flags.decimal(flags, "units") }))
    })
}

export const commands: { readonly [actor in Actor]: { readonly [command: string]: DutyParser } } = {
  registrar: {
    ...powers,
    ...issuing,
    ...locks,
    "accept-market": byId("reference", registrar.acceptMarket),
    "decline-market": byId("reference", registrar.declineMarket),
    "accept-consent": byId("instrument", registrar.acceptConsent),
    "decline-consent": byId("instrument", registrar.declineConsent),
    "accept-mint": byId("reference", registrar.acceptMint),
    "reject-mint": byId("reference", registrar.rejectMint),
    "accept-burn": byId("reference", registrar.acceptBurn),
    "reject-burn": byId("reference", registrar.rejectBurn),
    deliver: (flags) =>
      Result.gen(function* () {
        const lineId = yield* Flags.needed(flags, "line-id")
        const payments = yield* paymentsOf(flags, lineId)
        return once(registrar.deliver(lineId, payments))
      }),
    configure: (flags) =>
      Result.gen(function* () {
        const instrument = {
          instrumentId: yield* Flags.needed(flags, "instrument"),
          provider: yield* Flags.party(flags, "provider"),
          issuer: yield* Flags.party(flags, "issuer")
        }
        return once(registrar.configure(instrument))
      }),
    issue: (flags) =>
      Result.gen(function* () {
        const issue = {
          instrumentId: yield* Flags.needed(flags, "instrument"),
          provider: yield* Flags.party(flags, "provider"),
          receiver: yield* Flags.party(flags, "to"),
          amount: yield* Flags.decimal(flags, "amount"),
          reference: flags.text("reference") ?? randomUUID()
        }
        const until = yield* Flags.optional(flags, "execute-before", Flags.instant)
        return once(
          registrar.issue({ ...issue, ...(until === null ? {} : { executeBefore: until }) })
        )
      })
  },
  fund: {
    ...powers,
    ...transfers,
    commit: byId("reference", fund.commit),
    ...issuing,
    "accept-market": byId("reference", fund.acceptMarket),
    "decline-market": byId("reference", fund.declineMarket),
    "accept-provision": byId("reference", fund.acceptProvision),
    "decline-provision": byId("reference", fund.declineProvision),
    pay: byId("reference", fund.pay)
  },
  attestor: {
    attest: (flags) =>
      Result.gen(function* () {
        const { instruments } = yield* ActorInputs.terms(flags)
        const subscriptionId = yield* Flags.needed(flags, "subscription-id")
        return once(attestor.attest(subscriptionId, ...instruments))
      })
  },
  oracle: {
    price: (flags) =>
      Result.gen(function* () {
        const { instruments } = yield* ActorInputs.terms(flags)
        const redemptionId = yield* Flags.needed(flags, "redemption-id")
        return once(oracle.price(redemptionId, ...instruments))
      }),
    publish: (flags) =>
      Result.gen(function* () {
        const metric = flags.text("metric")
        const quote = yield* Flags.shaped(OracleBot.Quote, {
          instrumentId: yield* Flags.needed(flags, "instrument"),
          value: yield* Flags.needed(flags, "price"),
          valuationTime: yield* Flags.needed(flags, "valuation-time"),
          ...(metric === undefined ? {} : { metric })
        })
        const { audience } = yield* ActorInputs.audienceOf(flags)
        return once(oracle.publish(quote, audience))
      })
  },
  custodian: {
    ...holder,
    ...reserves,
    ...locks,
    "lock-more": (flags) =>
      Result.gen(function* () {
        const addition = {
          lockAgreementId: yield* Flags.needed(flags, "reference"),
          amount: yield* Flags.decimal(flags, "amount"),
          reference: flags.text("order-id") ?? randomUUID()
        }
        return once(custodian.lockMore(addition))
      })
  },
  investor: holder
}
