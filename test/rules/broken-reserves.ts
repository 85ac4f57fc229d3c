/** The proposal of a reserve as its gates see it, with one way to make each check refuse. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Gates from "#core/reserves/reserve/ReserveGates.ts"
import { party } from "../machines/subscriptions.ts"
import { assetTerms } from "./broken-amendments.ts"
import { act, type Faults, instrument, instrumentId } from "./broken.ts"

const recorded = instrument()
const registrar = party("registrar")

/** Units at par, issued by their registrar, against cash and bills. */
const sound: Gates.ProposalFacts = {
  instrument: {
    ...recorded,
    manifest: { ...recorded.manifest, valuation: "par", parValue: Decimal.one }
  },
  issuer: registrar,
  isUnused: true,
  isBacked: false,
  body: {
    holder: party("custodian"),
    unit: recorded.manifest.currency,
    decimals: recorded.manifest.unitDecimals,
    initialSharePrice: null,
    terms: { assets: [assetTerms("USD"), assetTerms("BILL")], minCover: Decimal.of("1.02") }
  },
  venue: party("venue")
}

const proposing = (self: Gates.ProposalFacts, change: Partial<Gates.ProposalFacts["body"]>) => ({
  ...self,
  body: { ...self.body, ...change }
})

const termed = (
  self: Gates.ProposalFacts,
  assets: Gates.ProposalFacts["body"]["terms"]["assets"]
) => proposing(self, { terms: { ...self.body.terms, assets } })

/** Gate of the instrument alone: no other is judged of one that no reserve may back. */
const unrecorded = "policy not-recorded"

const faults: Faults<Gates.ProposalFacts> = {
  "policy issuer-is-registrar": (self) => ({ ...self, issuer: party("fund") }),
  "policy unit-is-currency": (self) => proposing(self, { unit: "JPY" }),
  "policy nothing-outstanding": (self) => ({ ...self, isUnused: false }),
  "policy one-reserve": (self) => ({ ...self, isBacked: true }),
  "policy holder-is-venue": (self) => proposing(self, { holder: self.venue }),
  "policy own-asset": (self) => {
    const own = assetTerms(String(instrumentId), registrar)
    const [first = own, ...others] = self.body.terms.assets
    return termed(self, [{ ...first, asset: own.asset }, ...others])
  },
  "policy reserve-decimals": (self) =>
    proposing(self, { decimals: recorded.manifest.unitDecimals + 1 }),
  "policy initial-share-price": (self) => proposing(self, { initialSharePrice: Decimal.one }),
  "policy feasible": (self) =>
    termed(
      self,
      self.body.terms.assets.map((one) => ({ ...one, maxShare: Decimal.of("0.3") }))
    )
}

export const reserve = act<Gates.ProposalFacts>({
  name: "reserve.propose",
  sound,
  rows: Gates.againstProposal,
  faults: {
    [unrecorded]: (self) => ({
      ...self,
      instrument: { ...recorded, manifest: { ...recorded.manifest, valuation: "rebasing" } }
    }),
    ...faults
  },
  never: Object.keys(faults).map((check) => [unrecorded, check])
})
