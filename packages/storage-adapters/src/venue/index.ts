/** Entry of the venue in one process. */
export * as Venue from "./Venue.ts"
export { VenueClock } from "./VenueClock.ts"
export { Wallets } from "./Wallets.ts"
