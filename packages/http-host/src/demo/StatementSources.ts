/** Sources of the outside parties' statements of an instrument, as the demo's host is set up for them. */

/** Feeds of an instrument: its bank's, its administrator's register and NAV, its custodian's. */
export type Feed = "bank" | "register" | "nav" | "custodian"

export const sourceId = (feed: Feed, instrumentId: string): string => `${feed}-${instrumentId}`

/** Id of the cash account of an instrument. */
export const accountId = (instrumentId: string): string => `cash-${instrumentId}`

const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday"] as const

/** Sources of an instrument, as a deployment's setting `statements.sources` writes them. */
export const sources = (instrumentId: string) => {
  const source = <const S extends object>(feed: Feed, members: S) => ({
    externalSourceId: sourceId(feed, instrumentId),
    instruments: [instrumentId],
    calendar: weekdays,
    dueBy: { time: "18:00", zone: "UTC", daysAfter: 1 },
    // Days of the past are stated too: without a long grace time, all dates since would be overdue.
    grace: "P3650D",
    zone: "UTC",
    ...members
  })
  return [
    source("bank", { kind: "cash", adapter: "camt.053", account: accountId(instrumentId) }),
    source("register", { kind: "holdings", adapter: "json", accountIs: "holder" }),
    source("nav", { kind: "nav", adapter: "json", validFor: "P1D", zone: "America/New_York" }),
    source("custodian", { kind: "custody", adapter: "json" })
  ]
}
