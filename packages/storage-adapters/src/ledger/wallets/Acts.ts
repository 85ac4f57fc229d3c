/**
 * Catalogue of the single acts of each outside party, as plans: the program `main.ts` performs them by
 * its commands, and a venue in memory by calls of its wallets. An act that answers a contract is asked
 * for by an id of the business, or by the contract's own id.
 */
import { Duration, type Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import * as Agreements from "./Agreements.ts"
import * as AttestorBot from "./AttestorBot.ts"
import * as Commitments from "./Commitments.ts"
import * as Deliveries from "./Deliveries.ts"
import type { Actor } from "./Duty.ts"
import * as FundBot from "./FundBot.ts"
import * as OracleBot from "./OracleBot.ts"
import * as Orders from "./Orders.ts"
import type * as Policy from "./Policy.ts"
import * as Powers from "./Powers.ts"
import type * as Pricing from "./Pricing.ts"
import * as RegistrarBot from "./RegistrarBot.ts"
import * as Reserves from "./Reserves.ts"
import * as Wallet from "./Wallet.ts"
import type * as World from "./World.ts"

/** Policy that accepts one id only. */
const only = (id: string): Policy.Policy => ({ accept: [id] })
/** Policy that rejects one id only; others wait. */
const never = (id: string): Policy.Policy => ({ accept: [], reject: [id] })

/** Plan of one act of the party itself, which answers no contract. */
const own =
  (act: (party: Party.Party) => World.Act): World.Plan =>
  ({ party }) => [act(party)]

/** Acts of a holder, and of a fund, about holdings that are offered to them. */
const transfers = {
  acceptTransfer: (instrumentId: string) => Agreements.transferOffers(only(instrumentId)),
  rejectTransfer: (instrumentId: string) => Agreements.transferOffers(never(instrumentId))
}

/** Acts of a holder, from its own wallet or by the custodian that hosts it. */
const holder = {
  acceptInvitation: (holderId: string) => Wallet.invitations(only(holderId)),
  declineInvitation: (holderId: string) => Wallet.invitations(never(holderId)),
  signTerms: Wallet.signTerms,
  acceptOffer: (instrumentId: string) => Wallet.offers(only(instrumentId)),
  declineOffer: (instrumentId: string) => Wallet.offers(never(instrumentId)),
  grantConsent: (consentId: string) => Powers.consents(only(consentId)),
  refuseConsent: (consentId: string) => Powers.consents(never(consentId)),
  revokeConsent: Powers.revokeConsent,
  ...transfers,
  order: (order: Wallet.Order) => own((party) => Wallet.order(party, order)),
  redeem: (order: Wallet.Order & { readonly custodian: Party.Party | null }) =>
    own((party) => Wallet.redeem(party, order)),
  withdrawOrder: Wallet.withdrawOrder,
  commit: (standingSettlementId: string) => Commitments.commitments(only(standingSettlementId)),
  /** Pays a leg of a settlement, or a lot that was ordered in units, by its order's id. */
  pay: (reference: string) =>
    Agreements.all(Agreements.legs(only(reference)), Orders.dues(only(reference))),
  allocate: Wallet.allocate,
  withdrawAllocation: Reserves.withdrawAllocation,
  /** Allocates the units of a redemption that is paid on the ledger. */
  handOver: (redemptionId: string) => Orders.units(only(redemptionId)),
  /** Takes a request for a burn back, once its redemption has ended. */
  withdrawBurn: (redemptionId: string) => Orders.straysOf(only(redemptionId)),
  /** Requests the burn of a redemption that is paid by wire. */
  requestBurn: (redemptionId: string) => Orders.burns(only(redemptionId), () => true),
  acceptMint: (mintId: string) => Reserves.mints(only(mintId)),
  declineMint: (mintId: string) => Reserves.mints(never(mintId)),
  acceptReserveRedemption: (redemptionId: string) => Reserves.redemptions(only(redemptionId)),
  declineReserveRedemption: (redemptionId: string) => Reserves.redemptions(never(redemptionId))
}

/** Acts of an issuer and its registrar about powers over their instrument. */
const powers = {
  acceptPowers: (agreementId: string) => Powers.agreements(only(agreementId)),
  declinePowers: (agreementId: string) => Powers.agreements(never(agreementId)),
  endPowers: Powers.endAgreement
}

/** Acts of the issuer of a backed instrument, and of the reserve's holder, about the reserve. */
const reserves = {
  acceptReserve: (reserveId: string) => Reserves.proposals(only(reserveId)),
  declineReserve: (reserveId: string) => Reserves.proposals(never(reserveId))
}

/** Acts of an asset's registrar, and of a reserve's holder, about locked holdings. */
const locks = {
  acceptLock: (lockAgreementId: string) => Reserves.locks(only(lockAgreementId)),
  declineLock: (lockAgreementId: string) => Reserves.locks(never(lockAgreementId))
}

/** Acts of the issuer of a backed instrument about its reserve. */
const issuing = {
  ...reserves,
  acceptAmendment: (amendmentId: string) => Reserves.amendments(only(amendmentId)),
  declineAmendment: (amendmentId: string) => Reserves.amendments(never(amendmentId)),
  recount: Reserves.recount
}

/** Opening cash of an asset, which its registrar issues. */
export interface Issue {
  readonly instrumentId: string
  readonly provider: Party.Party
  readonly receiver: Party.Party
  readonly amount: Decimal.Decimal
  /** Idempotency key of the issue. */
  readonly reference: string
  /** Time until which the receiver may accept it; a week by default. */
  readonly executeBefore?: Instant.Instant
}

const issueWithin = Duration.days(7)

const registrar = {
  ...powers,
  ...issuing,
  ...locks,
  configure: (instrument: RegistrarBot.Instrument) =>
    own((party) => RegistrarBot.configure(party, instrument)),
  issue:
    (issue: Issue): World.Plan =>
    ({ now, party }) => [
      RegistrarBot.issue(party, {
        ...issue,
        executeBefore: issue.executeBefore ?? Instant.add(now, issueWithin)
      })
    ],
  acceptMarket: (marketId: string) => RegistrarBot.markets(only(marketId)),
  declineMarket: (marketId: string) => RegistrarBot.markets(never(marketId)),
  /** Consents that a fund's holders are admitted to the register of an instrument. */
  acceptConsent: (instrumentId: string) => RegistrarBot.consents(only(instrumentId)),
  declineConsent: (instrumentId: string) => RegistrarBot.consents(never(instrumentId)),
  acceptMint: (reference: string) => RegistrarBot.mints(only(reference)),
  rejectMint: (reference: string) => RegistrarBot.mints(never(reference)),
  acceptBurn: (redemptionId: string) => RegistrarBot.burns(only(redemptionId)),
  rejectBurn: (redemptionId: string) => RegistrarBot.burns(never(redemptionId)),
  /** Delivers a line of a distribution; a line of cash needs the evidence of its payment. */
  deliver: (lineId: string, payments: Deliveries.Payments = []) =>
    Deliveries.plan({ policy: only(lineId), payments })
}

const fund = {
  ...powers,
  ...transfers,
  commit: (standingSettlementId: string) => Commitments.commitments(only(standingSettlementId)),
  ...issuing,
  acceptMarket: (marketId: string) => FundBot.markets(only(marketId)),
  declineMarket: (marketId: string) => FundBot.markets(never(marketId)),
  acceptProvision: (provisionId: string) => FundBot.provisions(only(provisionId)),
  declineProvision: (provisionId: string) => FundBot.provisions(never(provisionId)),
  /** Pays a leg, the proceeds of a redemption, or the net of a cycle. */
  pay: (reference: string) =>
    Agreements.all(
      Agreements.legs(only(reference)),
      FundBot.redemptions(only(reference)),
      FundBot.nets(only(reference))
    )
}

const attestor = {
  attest: (subscriptionId: string, ...instruments: ReadonlyArray<Pricing.Terms>) =>
    AttestorBot.plan({ instruments, policy: only(subscriptionId) })
}

const oracle = {
  publish: (quote: OracleBot.Quote, audience?: OracleBot.Audience) =>
    OracleBot.plan({ quotes: () => [quote], ...(audience === undefined ? {} : { audience }) }),
  price: (redemptionId: string, ...instruments: ReadonlyArray<Pricing.Terms>) =>
    OracleBot.redemptions({ instruments, policy: only(redemptionId) })
}

const custodian = {
  ...holder,
  ...reserves,
  ...locks,
  lockMore: Reserves.lockMore
}

/** Acts by actor; an investor is a holder with a wallet of its own. */
export const acts = { registrar, fund, attestor, oracle, custodian, investor: holder } satisfies {
  readonly [actor in Actor]: object
}

/** Acts of every outside party, by name. */
export type Acts = typeof acts
