/** Valid body of instrument.record, as plain JSON. */

export const registrar = "registrar::1220aa"
export const oracle = "oracle::1220bb"

export const bodyOf = () => ({
  instrumentId: "fund-a",
  registrar,
  valuation: "accumulating",
  oracle: oracle as string | null,
  currency: "USD",
  unitDecimals: 6,
  holderCap: 2,
  distribution: { schedule: "none", withholding: 0.15, payoutDecimals: 2, payout: "units" },
  cutOff: {
    time: "16:00",
    days: ["monday", "tuesday", "wednesday", "thursday", "friday"],
    zone: "America/New_York"
  },
  pricing: "forward",
  fees: { subscription: 0, redemption: 0 },
  residual: "refund"
})

/** Terms of an instrument that rebases: its units hold the income, and it withholds nothing. */
export const rebasingTerms = {
  valuation: "rebasing",
  distribution: { ...bodyOf().distribution, withholding: 0 }
} as const
