/** What the pages of a holder show, computed from its records. */
import type { ColumnRow } from "../record/Columns.ts"
import type { FactRow } from "../record/Fact.ts"
import type { TabRow } from "../record/Tabs.ts"

type Row = Readonly<Record<string, unknown>>

/** Columns of the list. */
export const holderColumns: ReadonlyArray<ColumnRow> = [
  { member: "legalName", title: "Name" },
  { member: "state", as: "state" },
  { member: "party" },
  { member: "classification", as: "words" },
  { member: "registeredAt", title: "Registered", as: "near" },
  { member: "validUntil", as: "near" },
  { member: "waitingOn", as: "moves" }
]

/** Tabs of a holder, with the read that each makes. */
export const holderTabs: ReadonlyArray<TabRow> = [
  { name: "overview", title: "Overview", reads: ["holders.get"] },
  { name: "portfolio", title: "Portfolio", reads: ["holders.portfolio"] },
  { name: "admissions", title: "Admissions", reads: ["holders.admissions"] },
  { name: "orders", title: "Orders", reads: ["open-orders.list"] },
  { name: "movements", title: "Movements", reads: ["holders.movements"] },
  { name: "statements", title: "Statements", reads: ["holders.statements"] },
  { name: "tax", title: "Tax statement", reads: ["holders.tax-statement"] },
  { name: "distributions", title: "Distributions", reads: ["distributions.list"] },
  { name: "restrictions", title: "Restrictions", reads: ["restrictions.list"] },
  { name: "powers", title: "Consents", reads: ["holders.get"] },
  { name: "accounts", title: "Accounts", reads: ["external-accounts.list"] }
]

export const holderFacts: ReadonlyArray<FactRow> = [
  { member: "legalName" },
  { member: "lei", name: "LEI" },
  { member: "classification" },
  { member: "party" },
  { member: "custodian" },
  { member: "registeredAt", name: "Registered" },
  { member: "validUntil" },
  { member: "predecessor" },
  { member: "closedAs" }
]

/** Acts on a holder, with what each does; a state that has ended offers none. */
export const holderActs: ReadonlyArray<{
  readonly kind: string
  readonly says: string
  readonly states: ReadonlyArray<string>
}> = [
  {
    kind: "accepted-terms.accept",
    says: "Countersigns the terms that the holder's wallet has signed.",
    states: ["pending"]
  },
  {
    kind: "holder.set-attributes",
    says: "Sets what is known of the holder, each with the hash of its evidence.",
    states: ["pending", "active", "lapsed"]
  },
  {
    kind: "holder.restrict",
    says: "Restricts the holder at once, under your name alone.",
    states: ["pending", "active", "lapsed"]
  },
  {
    kind: "holder.register-successor",
    says: "Names the party that is to follow this holder, once it has cooled.",
    states: ["active", "lapsed"]
  },
  {
    kind: "holder.recover",
    says: "Moves what the holder holds to its successor; restrictions are carried along.",
    states: ["active", "lapsed"]
  },
  {
    kind: "holder.force-transfer",
    says: "Moves the holder's units to another on an order that is cited.",
    states: ["active", "lapsed"]
  },
  {
    kind: "holder.close",
    says: "Ends the holder for good: it must hold nothing and await nothing.",
    states: ["pending", "active", "lapsed"]
  }
]

/** Acts that a holder's state admits; of a state that this build does not know, all. */
export const holderActsOf = (state: string) => {
  const states = new Set([...holderActs.flatMap((act) => act.states), "succeeded", "closed"])
  return states.has(state) ? holderActs.filter((act) => act.states.includes(state)) : holderActs
}

/** Columns of a portfolio; `restricted` stands in it alone for roles that read restrictions. */
export const portfolioColumns = (readsRestrictions: boolean): ReadonlyArray<ColumnRow> => [
  { member: "instrumentId", title: "Instrument" },
  { member: "units", as: "figure" },
  { member: "locked", as: "figure" },
  { member: "price", as: "figure" },
  { member: "priceAt", title: "Priced", as: "near" },
  { member: "value", as: "figure", unitOf: "currency" },
  { member: "cost", as: "figure", unitOf: "currency" },
  { member: "accrued", title: "Accrued income", as: "figure", unitOf: "currency" },
  ...(readsRestrictions ? [{ member: "restricted" }] : [])
]

export const admissionColumns: ReadonlyArray<ColumnRow> = [
  { member: "instrumentId", title: "Instrument" },
  { member: "state", as: "state" },
  { member: "offeredAt", title: "Offered", as: "near" },
  { member: "expiresAt", title: "Answer by", as: "deadline" },
  { member: "admittedAt", title: "Admitted", as: "near" },
  { member: "validUntil", as: "near" },
  { member: "endedBy" },
  { member: "waitingOn", as: "moves" }
]

/** States of an admission that the venue may end. */
export const mayWithdraw = (state: unknown): boolean => state === "offered" || state === "admitted"

export const holderMovementColumns: ReadonlyArray<ColumnRow> = [
  { member: "at", as: "near" },
  { member: "instrumentId", title: "Instrument" },
  { member: "kind", as: "words" },
  { member: "from" },
  { member: "to" },
  { member: "units", as: "figure" },
  { member: "balanceAfter", title: "Held after", as: "figure" },
  { member: "reference", title: "By", as: "reference" }
]

/** Columns of the distributions in which a holder has a line. */
export const holderDistributionColumns: ReadonlyArray<ColumnRow> = [
  { member: "instrumentId", title: "Instrument" },
  { member: "month" },
  { member: "state", as: "state" },
  { member: "recordDate" },
  { member: "paymentDate" }
]

export const attributeColumns: ReadonlyArray<ColumnRow> = [
  { member: "name" },
  { member: "value" },
  { member: "state", as: "state" },
  { member: "validFrom", as: "near" },
  { member: "validUntil", as: "near" },
  { member: "evidenceHash", title: "Evidence" },
  { member: "setBy", title: "Set by" }
]

/** Sentences of what a holder's successor comes to. */
export const successionOf = (
  record: Row
): { readonly party: string; readonly usableFrom: string } | null => {
  const { successor } = record
  if (typeof successor !== "object" || successor === null) return null
  const { party, usableFrom } = successor as Row
  return { party: String(party), usableFrom: String(usableFrom) }
}

/** Year of a tax statement as an address has it; null: it is none. */
export const yearOf = (text: string | null): string | null =>
  text !== null && /^(?:19|20)\d\d$/u.test(text) ? text : null

/** A tax statement that a person opened: of whom, its year, the zone of its days, and how many the page opened. */
export interface OpenedStatement {
  readonly holderId: string
  readonly year: string
  readonly zone: string
  readonly nth: number
}

/** The opened statement, where the page is still of its holder and in the zone of its days; else none. */
export const openedIn = (
  opened: OpenedStatement | null,
  { holderId, zone }: Pick<OpenedStatement, "holderId" | "zone">
): OpenedStatement | null => (opened?.zone === zone && opened.holderId === holderId ? opened : null)
