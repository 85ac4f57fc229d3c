/** Founding of a town: its instruments, the agreements about them, and their parties. */
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import * as Calls from "../../engine/calls.ts"
import * as Fund from "../../operations/fund.ts"
import { bodyOf, rebasingTerms } from "../../operations/instrumentBody.ts"
import { plain } from "./figures.ts"
import type * as Town from "./town.ts"
import * as Wallets from "./wallets.ts"

export interface Founding {
  readonly instrumentId: string
  readonly valuation: Town.Fund["valuation"]
  readonly marketed: boolean
  /** Whether issuer and registrar agree powers over it without a market: with one they do. */
  readonly empowered?: true
  readonly atom: bigint
  readonly residual: "refund" | "fund"
  readonly fees: { readonly subscription: bigint; readonly redemption: bigint }
  readonly distribution: Town.Distributing | null
  readonly pricing: Town.Fund["pricing"]
}

/** A fund whose units are shown by an index, and ordered by wire alone. */
const rebasing = (founding: Pick<Founding, "atom" | "distribution" | "pricing">): Founding => ({
  instrumentId: "fund-r",
  valuation: "rebasing",
  marketed: false,
  empowered: true,
  residual: "refund",
  fees: { subscription: 50n, redemption: 35n },
  ...founding
})

/** Funds of a town that does not distribute; `dealing`: one whose people mostly order. */
export const foundingsOf = ({
  dealing
}: {
  readonly dealing: boolean
}): ReadonlyArray<Founding> => [
  ...foundings,
  // Whole units leave cents over.
  rebasing({ atom: dealing ? 10_000_000_000n : 10_000n, distribution: null, pricing: "historic" })
]

const foundings: ReadonlyArray<Founding> = [
  {
    instrumentId: "fund-a",
    valuation: "accumulating",
    marketed: true,
    atom: 10_000_000_000n,
    residual: "refund",
    fees: { subscription: 50n, redemption: 35n },
    distribution: null,
    pricing: "forward"
  },
  {
    instrumentId: "fund-b",
    valuation: "accumulating",
    marketed: false,
    // Hundredths of a unit: of most amounts a cent or nothing is left over.
    atom: 100_000_000n,
    residual: "refund",
    fees: { subscription: 0n, redemption: 0n },
    distribution: null,
    pricing: "forward"
  },
  {
    instrumentId: "fund-p",
    valuation: "par",
    marketed: true,
    // Whole units: what an amount leaves over of the last stays in the fund.
    atom: 10_000_000_000n,
    residual: "fund",
    fees: { subscription: 0n, redemption: 0n },
    distribution: null,
    pricing: "forward"
  }
]

/**
 * Funds of a town that distributes: a par fund that pays cash, one that accumulates and pays as the town does,
 * and a third. Where the town pays cash that is a par fund that pays units; else a rebasing one, which reports
 * its income and pays nothing.
 */
export const distributingFoundings = (payout: "cash" | "units"): ReadonlyArray<Founding> => [
  {
    instrumentId: "fund-p",
    valuation: "par",
    marketed: true,
    atom: 10_000_000_000n,
    residual: "fund",
    fees: { subscription: 0n, redemption: 0n },
    distribution: { payout: "cash", recordDay: 31, paymentLagDays: 3 },
    pricing: "forward"
  },
  payout === "units"
    ? rebasing({
        // A shown unit has nearly as many places as the ledger.
        atom: 100n,
        distribution: { payout: "none", recordDay: 20, paymentLagDays: 0 },
        pricing: "forward"
      })
    : {
        instrumentId: "fund-u",
        valuation: "par",
        marketed: true,
        atom: 100_000_000n,
        residual: "refund",
        fees: { subscription: 0n, redemption: 0n },
        distribution: { payout: "units", recordDay: 20, paymentLagDays: 0 },
        pricing: "forward"
      },
  {
    instrumentId: "fund-x",
    valuation: "accumulating",
    marketed: true,
    atom: 100_000_000n,
    residual: "refund",
    fees: { subscription: 50n, redemption: 0n },
    distribution: { payout, recordDay: 28, paymentLagDays: 1 },
    pricing: "forward"
  }
]

/** Terms of a fund's distributions, as the instrument is recorded with them. */
const distributionOf = ({ distribution, valuation }: Founding) =>
  distribution === null
    ? valuation === "rebasing"
      ? rebasingTerms.distribution
      : bodyOf().distribution
    : {
        schedule: "monthly",
        // The income of a fund that rebases is in the units already: nothing is withheld or paid.
        withholding: distribution.payout === "none" ? 0 : 0.15,
        payoutDecimals: 2,
        payout: distribution.payout === "none" ? "units" : distribution.payout,
        calendar: {
          frequency: "monthly",
          recordDay: distribution.recordDay,
          paymentLagDays: distribution.paymentLagDays
        }
      }

/** Issuer and registrar agree the powers over an instrument from the start. */
const empowers = Effect.fnUntraced(function* (
  town: Town.Town,
  parties: {
    readonly instrumentId: string
    readonly fund: Town.Wallet
    readonly registrar: Town.Wallet
  }
) {
  const { fund, instrumentId, registrar } = parties
  const powers = ["force-transfer", "recover"]
  const body = { issuer: fund.party, powers, consentRevocable: true }
  yield* Calls.write("issuer-powers-agreement.propose", { instrumentId }, body)
  for (const side of [fund, registrar]) {
    const { cid } = yield* Fund.newestContract(Templates.IssuerPowersAgreementProposal)
    const said = Templates.exercise(Templates.IssuerPowersAgreementProposal, cid, "Accept", {
      party: side.party
    })
    yield* Wallets.act(town, side, "agrees", said)
    yield* Calls.settle
  }
})

/** An instrument is recorded, configured, agreed and, where it has one, given a market. */
export const founds = Effect.fnUntraced(function* (town: Town.Town, founding: Founding) {
  const { instrumentId, marketed } = founding
  const bank = town.bankParty
  const [registrar, fund, oracle, attestor] = yield* Effect.forEach(
    ["registrar", "fund", "oracle", "attestor"],
    (name) => Wallets.party(`${name}-${instrumentId}`)
  )
  if (!registrar || !fund || !oracle || !attestor) throw new Error("no parties")
  const rate = (tenThousandths: bigint) => Number(plain(tenThousandths, 4))
  yield* Calls.write(
    "instrument.record",
    {},
    {
      ...bodyOf(),
      instrumentId,
      valuation: founding.valuation,
      pricing: founding.pricing,
      unitDecimals: 11 - String(founding.atom).length,
      residual: founding.residual,
      distribution: distributionOf(founding),
      registrar: registrar.party,
      oracle: oracle.party,
      holderCap: 250,
      fees: {
        subscription: rate(founding.fees.subscription),
        redemption: rate(founding.fees.redemption)
      }
    }
  )
  // The clock of a town jumps by days, and its wallets burn what is frozen and allocate for orders that
  // have ended: runs would hold every payout for it.
  const change = {
    grace: { "burned-unpaid": "P3650D", "cash-settlement": "P3650D" },
    tolerances: { "restriction-effect": 1_000_000_000, "policy-replay": 1_000_000 }
  }
  yield* Calls.write("policy.set", { instrumentId }, change, Calls.operator, "1")
  const instrument = { admin: registrar.party, id: instrumentId }
  yield* Wallets.act(
    town,
    registrar,
    "configures",
    Templates.create(Templates.InstrumentConfiguration, {
      registrar: registrar.party,
      provider: town.venue,
      issuer: fund.party,
      instrument,
      defaultIdentifier: { source: "venue", id: instrumentId, scheme: "internal" },
      additionalIdentifiers: [],
      holderRequirements: [],
      issuerRequirements: []
    })
  )
  yield* Calls.settle
  const body = { fund: fund.party, terms: "consent" }
  yield* Calls.write("admission-consent.propose", { instrumentId }, body)
  const proposal = yield* Fund.newestContract(Templates.AdmissionConsentProposal)
  const accepts = Templates.exercise(Templates.AdmissionConsentProposal, proposal.cid, "Accept", {})
  yield* Wallets.act(town, registrar, "agrees", accepts)
  yield* Calls.settle
  if (marketed) {
    yield* Calls.write(
      "primary-market.propose",
      { instrumentId },
      {
        fund: fund.party,
        paymentAsset: { admin: bank.party, id: "USD" },
        terms: { attestors: [attestor.party], required: 1 }
      }
    )
    for (const side of [fund, registrar]) {
      const { cid } = yield* Fund.newestContract(Templates.PrimaryMarketProposal)
      const said = Templates.exercise(Templates.PrimaryMarketProposal, cid, "Accept", {
        party: side.party
      })
      yield* Wallets.act(town, side, "agrees", said)
      yield* Calls.settle
    }
  }
  // Without a market the venue needs somebody to attest: its oracle does.
  const attests = marketed ? attestor : oracle
  if (marketed || founding.empowered === true)
    yield* empowers(town, { instrumentId, fund, registrar })
  return { ...founding, registrar, fund, oracle, attestor: attests, bank } satisfies Town.Fund
})
