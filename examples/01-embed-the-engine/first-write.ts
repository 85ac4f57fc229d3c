/** The smallest program around the engine: a write that one person asks for and another agrees to. */
// #region readme
import { Venue } from "@bursar/storage-adapters/venue"

const venue = await Venue.open(Venue.memory())
const olive = venue.as({ sub: "olive", roles: ["operator"] })
const anna = venue.as({ sub: "anna", roles: ["approver"] })
const parties = { registrar: "registrar::1220aa", oracle: "oracle::1220bb" }
const units = { currency: "USD", unitDecimals: 6, holderCap: 100 }
const income = { schedule: "none", withholding: "0", payoutDecimals: 2, payout: "cash" } as const
const cutOff = { time: "16:00", days: ["monday", "friday"], zone: "America/New_York" } as const
const fees = { subscription: "0", redemption: "0" }
const deal = { valuation: "accumulating", pricing: "historic", residual: "refund", fees } as const
const body = { instrumentId: "elf", ...parties, ...units, ...deal, distribution: income, cutOff }
const action = await olive.write("instrument.record", body)
console.log(action.state, action.recovery) // awaiting One approver other than the maker …
await anna.approve(action)
const { result, signedBy } = await olive.done(action)
console.log(result.instrumentId, signedBy) // elf [ "anna" ]
await venue.close()
// #endregion
