/** The amendment of a reserve's terms as its gates see it, with one way to make each check refuse. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Gates from "#core/reserves/amendment/AmendmentGates.ts"
import { id, party } from "../machines/subscriptions.ts"
import { act, instrumentId, nextMonth, now } from "./broken.ts"

const bank = party("bank")
/** Terms of an asset that counts whole, at its face value. */
export const assetTerms = (named: string, admin = bank) => ({
  asset: { admin, id: named },
  priceSource: null,
  freshness: null,
  haircut: Decimal.zero,
  maxShare: null
})

const terms = { assets: [assetTerms("USD"), assetTerms("BILL")], minCover: Decimal.of("0.9") }

const changing = (direction: "loosen" | "tighten") => [
  { path: "/minCover", from: "0.85", to: "0.9", direction }
]

/** Terms of an accumulating reserve, which asks for most. */
const sound: Gates.AmendmentFacts = {
  reserve: {
    state: "active",
    instrumentId: String(instrumentId),
    issuer: party("registrar"),
    parValue: null,
    pending: null,
    locked: [{ asset: { admin: bank, id: "USD" }, amount: Decimal.of("10") }]
  },
  proposed: null,
  terms,
  change: changing("tighten"),
  now
}

const reserved = (
  self: Gates.AmendmentFacts,
  change: Partial<Gates.AmendmentFacts["reserve"]>
) => ({
  ...self,
  reserve: { ...self.reserve, ...change }
})

export const amendment = act<Gates.AmendmentFacts>({
  name: "amendment.propose",
  sound,
  rows: Gates.against,
  faults: {
    "policy reserve-active": (self) => reserved(self, { state: "closing" }),
    "policy one-amendment": (self) => ({ ...self, proposed: { amendmentId: id("am-1") } }),
    "policy nothing-pending": (self) => ({
      ...reserved(self, { pending: { amendmentId: "am-2", terms, effectiveAt: nextMonth } }),
      change: changing("loosen")
    }),
    "policy own-asset": (self) => ({
      ...self,
      terms: {
        ...self.terms,
        assets: [...self.terms.assets, assetTerms(String(instrumentId), party("registrar"))]
      }
    }),
    "policy feasible": (self) => ({
      ...self,
      terms: { ...self.terms, minCover: Decimal.of("1.1") }
    }),
    "policy terms-changed": (self) => ({ ...self, change: [] }),
    "policy asset-locked": (self) =>
      reserved(self, {
        locked: [{ asset: { admin: bank, id: "GOLD" }, amount: Decimal.of("1") }]
      })
  },
  never: [["policy nothing-pending", "policy terms-changed"]]
})
