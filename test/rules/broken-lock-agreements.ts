/** The proposal and the release of a lock agreement as their gates see them, with one way to make each check refuse. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Gates from "#core/reserves/lock-agreement/LockAgreementGates.ts"
import * as BrokenAmendments from "./broken-amendments.ts"
import { mintStart } from "./broken-reserve-orders.ts"
import { act, nextMonth, now, past } from "./broken.ts"

const { assetTerms } = BrokenAmendments
const [cash, bill] = [assetTerms("USD"), assetTerms("BILL")]
const termsOf = (...assets: ReadonlyArray<typeof cash>) => ({ assets, minCover: Decimal.one })

const pending = (
  self: Gates.ProposalFacts,
  agreement: { readonly assets: ReadonlyArray<typeof cash>; readonly effectiveAt: typeof now }
): Gates.ProposalFacts => ({
  ...self,
  reserve: {
    ...self.reserve,
    pending: {
      amendmentId: "am-1",
      terms: termsOf(...agreement.assets),
      effectiveAt: agreement.effectiveAt
    }
  }
})

/** Bills are to be locked, which the terms in force and those that wait both have. */
const proposed: Gates.ProposalFacts = {
  reserve: {
    state: "active",
    terms: termsOf(cash, bill),
    pending: {
      amendmentId: "am-1",
      terms: termsOf(cash, bill, assetTerms("GOLD")),
      effectiveAt: nextMonth
    }
  },
  asset: bill.asset,
  isAgreed: false,
  now
}

const proposal = {
  sound: proposed,
  rows: Gates.againstProposal,
  faults: {
    "policy reserve-active": (self: Gates.ProposalFacts): Gates.ProposalFacts => ({
      ...self,
      reserve: { ...self.reserve, state: "closing" }
    }),
    "policy asset-in-terms": (self: Gates.ProposalFacts) =>
      pending(self, { assets: [cash], effectiveAt: nextMonth }),
    "policy one-agreement": (self: Gates.ProposalFacts) => ({ ...self, isAgreed: true })
  }
}

export const lock = act({ name: "lock-agreement.propose", ...proposal })

/** The terms in force leave the asset out, as they opened or since others took effect; those that wait do not. */
export const lockLater = act({
  name: "lock-agreement.propose of an asset to come",
  ...proposal,
  faults: {
    ...proposal.faults,
    "policy asset-in-terms": (self: Gates.ProposalFacts): Gates.ProposalFacts => ({
      ...self,
      reserve: { ...self.reserve, terms: termsOf(cash) }
    })
  }
})
export const lockFormer = act({
  name: "lock-agreement.propose of a former asset",
  ...proposal,
  faults: {
    ...proposal.faults,
    "policy asset-in-terms": (self: Gates.ProposalFacts) =>
      pending(self, { assets: [cash], effectiveAt: past })
  }
})

const { books, asset } = mintStart.sound

const released: Gates.ReleaseFacts = { asset, isOrdered: false, books, unit: "USD" }
const ordered = (self: Gates.ReleaseFacts): Gates.ReleaseFacts => ({ ...self, isOrdered: true })

/** Units at par that the cash covers by itself, until there are too many of them. */
export const release = act({
  name: "lock-agreement.release",
  sound: released,
  rows: Gates.againstRelease,
  faults: {
    "policy asset-orders-ended": ordered,
    "reserve-cover cover": (self) => ({
      ...self,
      books: { ...self.books, outstanding: Decimal.of("5001") }
    })
  }
})

/** Units that own what is locked, of which nothing goes back. */
export const releaseOwned = act({
  name: "lock-agreement.release of an accumulating reserve",
  sound: { ...released, books: { ...books, outstanding: Decimal.zero } },
  rows: Gates.againstRelease,
  faults: {
    "policy asset-orders-ended": ordered,
    "reserve-cover cover": (self): Gates.ReleaseFacts => ({
      ...self,
      books: {
        ...self.books,
        valuation: { mode: "accumulating", initialSharePrice: Decimal.one },
        outstanding: Decimal.one
      }
    })
  }
})
