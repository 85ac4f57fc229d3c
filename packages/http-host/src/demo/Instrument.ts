/** The instrument of the demo, as its recording is written. */
import type { Venue } from "@bursar/engine-core"
import type { Party } from "@bursar/engine-core/kernel"

export interface Terms {
  readonly instrumentId: string
  readonly registrar: Party.Party
  readonly oracle: Party.Party
  readonly unitDecimals: number
  readonly valuation: "par" | "accumulating"
}

/** Terms of a fund, dealt at the last price published before the order. */
export const instrument = (terms: Terms) =>
  ({
    ...terms,
    currency: "USD",
    holderCap: 100,
    distribution: {
      schedule: "none",
      withholding: "0",
      payoutDecimals: 2,
      payout: "cash"
    },
    legalName: "Example Liquidity Fund",
    businessZone: "America/New_York",
    display: { displayName: "Example Liquidity Fund", symbol: "ELF" },
    cutOff: {
      time: "16:00",
      days: ["monday", "tuesday", "wednesday", "thursday", "friday"],
      zone: "America/New_York"
    },
    pricing: "historic",
    fees: { subscription: "0", redemption: "0" },
    residual: "refund"
  }) as const satisfies Venue.WriteBody<"instrument.record">
