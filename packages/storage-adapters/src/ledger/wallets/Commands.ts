/** Single commands of an actor, each with its arguments. */
import { randomUUID } from "node:crypto"
import { Duration, Instant } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as Agreements from "./Agreements.ts"
import * as AttestorBot from "./AttestorBot.ts"
import * as Deliveries from "./Deliveries.ts"
import { type Actor, make, once, type DutyParser } from "./Duty.ts"
import * as Flags from "./Flags.ts"
import * as FundBot from "./FundBot.ts"
import * as ActorInputs from "./ActorInputs.ts"
import * as OracleBot from "./OracleBot.ts"
import * as Orders from "./Orders.ts"
import type * as Policy from "./Policy.ts"
import * as Powers from "./Powers.ts"
import * as RegistrarBot from "./RegistrarBot.ts"
import * as Reserves from "./Reserves.ts"
import * as Wallet from "./Wallet.ts"
import type * as World from "./World.ts"

/** Policy that accepts one id only. */
const only = (id: string): Policy.Policy => ({ accept: [id] })
const never = (id: string): Policy.Policy => ({ accept: [], reject: [id] })

const byId =
  (name: Flags.Name, plan: (id: string) => World.Plan): DutyParser =>
  (flags) =>
    Result.map(
      flags.text("contract-id") === undefined
        ? Flags.needed(flags, name)
        : Flags.needed(flags, "contract-id"),
      (id) => once(plan(id))
    )

/** Commands of a holder, for its own wallet or for the custodian that hosts it. */
const holder: { readonly [command: string]: DutyParser } = {
  "accept-invitation": byId("holder-id", (id) => Wallet.invitations(only(id))),
  "decline-invitation": byId("holder-id", (id) => Wallet.invitations(never(id))),
  "accept-offer": byId("instrument", (id) => Wallet.offers(only(id))),
  "decline-offer": byId("instrument", (id) => Wallet.offers(never(id))),
  "grant-consent": byId("reference", (id) => Powers.consents(only(id))),
  "refuse-consent": byId("reference", (id) => Powers.consents(never(id))),
  "revoke-consent": byId("reference", Powers.revokeConsent),
  "accept-transfer": byId("instrument", (id) => Agreements.transferOffers(only(id))),
  "reject-transfer": byId("instrument", (id) => Agreements.transferOffers(never(id))),
  "withdraw-order": byId("order-id", Wallet.withdrawOrder),
  pay: byId("reference", (id) => Agreements.all(Agreements.legs(only(id)), Orders.dues(only(id)))),
  "sign-terms": (flags) =>
    Result.gen(function* () {
      const holderId = yield* Flags.needed(flags, "holder-id")
      const documentHash = yield* Flags.needed(flags, "document-hash")
      return once(Wallet.signTerms({ holderId, documentHash }))
    }),
  order: (flags) =>
    Result.map(orderOf(flags), (order) => make((party) => Wallet.order(party, order))),
  redeem: (flags) =>
    Result.gen(function* () {
      const custodian = yield* Flags.optional(flags, "custodian", Flags.party)
      const order = { ...(yield* orderOf(flags)), custodian }
      return make((party) => Wallet.redeem(party, order))
    }),
  "accept-mint": byId("reference", (id) => Reserves.mints(only(id))),
  "decline-mint": byId("reference", (id) => Reserves.mints(never(id))),
  "accept-reserve-redemption": byId("reference", (id) => Reserves.redemptions(only(id))),
  "decline-reserve-redemption": byId("reference", (id) => Reserves.redemptions(never(id))),
  "withdraw-allocation": byId("reference", Reserves.withdrawAllocation),
  "hand-over": byId("redemption-id", (id) => Orders.units(only(id))),
  "request-burn": byId("redemption-id", (id) => Orders.burns(only(id), () => true)),
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
      return once(Wallet.allocate(allocation))
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

const inDays = (now: Instant.Instant, days: number): Instant.Instant =>
  Instant.add(now, Duration.days(days))

/** Commands of an issuer and its registrar about powers over their instrument. */
const powers: { readonly [command: string]: DutyParser } = {
  "accept-powers": byId("reference", (id) => Powers.agreements(only(id))),
  "decline-powers": byId("reference", (id) => Powers.agreements(never(id))),
  "end-powers": byId("reference", Powers.endAgreement)
}

/** Commands of the issuer of a backed instrument, and of the reserve's holder, about the reserve. */
const reserves: { readonly [command: string]: DutyParser } = {
  "accept-reserve": byId("reference", (id) => Reserves.proposals(only(id))),
  "decline-reserve": byId("reference", (id) => Reserves.proposals(never(id)))
}

/** Commands of an asset's registrar, and of a reserve's holder, about locked holdings. */
const locks: { readonly [command: string]: DutyParser } = {
  "accept-lock": byId("reference", (id) => Reserves.locks(only(id))),
  "decline-lock": byId("reference", (id) => Reserves.locks(never(id)))
}

const issuing: { readonly [command: string]: DutyParser } = {
  ...reserves,
  "accept-amendment": byId("reference", (id) => Reserves.amendments(only(id))),
  "decline-amendment": byId("reference", (id) => Reserves.amendments(never(id))),
  recount: (flags) =>
    Result.gen(function* () {
      const reserveId = yield* Flags.needed(flags, "reference")
      return once(Reserves.recount({ reserveId, units: yield* Flags.decimal(flags, "units") }))
    })
}

export const commands: { readonly [actor in Actor]: { readonly [command: string]: DutyParser } } = {
  registrar: {
    ...powers,
    ...issuing,
    ...locks,
    "accept-burn": byId("reference", (id) => RegistrarBot.burns(only(id))),
    "reject-burn": byId("reference", (id) => RegistrarBot.burns(never(id))),
    deliver: (flags) =>
      Result.gen(function* () {
        const lineId = yield* Flags.needed(flags, "line-id")
        const payments = yield* paymentsOf(flags, lineId)
        return once(Deliveries.plan({ policy: only(lineId), payments }))
      }),
    configure: (flags) =>
      Result.gen(function* () {
        const instrument = {
          instrumentId: yield* Flags.needed(flags, "instrument"),
          provider: yield* Flags.party(flags, "provider"),
          issuer: yield* Flags.party(flags, "issuer")
        }
        return make((party) => RegistrarBot.configure(party, instrument))
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
        return once(({ party, now }) => [
          RegistrarBot.issue(party, { ...issue, executeBefore: until ?? inDays(now, 7) })
        ])
      })
  },
  fund: {
    ...powers,
    ...issuing,
    "accept-market": byId("reference", (id) => FundBot.markets(only(id))),
    "decline-market": byId("reference", (id) => FundBot.markets(never(id))),
    "accept-provision": byId("reference", (id) => FundBot.provisions(only(id))),
    "decline-provision": byId("reference", (id) => FundBot.provisions(never(id))),
    pay: byId("reference", (id) =>
      Agreements.all(
        Agreements.legs(only(id)),
        FundBot.redemptions(only(id)),
        FundBot.nets(only(id))
      )
    )
  },
  attestor: {
    attest: (flags) =>
      Result.gen(function* () {
        const { instruments } = yield* ActorInputs.terms(flags)
        const policy = only(yield* Flags.needed(flags, "subscription-id"))
        return once(AttestorBot.plan({ instruments, policy }))
      })
  },
  oracle: {
    price: (flags) =>
      Result.gen(function* () {
        const { instruments } = yield* ActorInputs.terms(flags)
        const policy = only(yield* Flags.needed(flags, "redemption-id"))
        return once(OracleBot.redemptions({ instruments, policy }))
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
        const audience = yield* ActorInputs.audienceOf(flags)
        return once(OracleBot.plan({ quotes: () => [quote], ...audience }))
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
        return once(Reserves.lockMore(addition))
      })
  },
  investor: holder
}
