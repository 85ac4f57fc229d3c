/** What the pages of dealing cycles and standing settlements show, computed from their records. */
import type { ColumnRow } from "../record/Columns.ts"
import type { Fact, FactRow } from "../record/Fact.ts"
import { factsOf } from "../record/Fact.ts"
import * as Decimals from "../words/Decimals.ts"
import { isDecimal } from "../words/Figures.ts"

type Row = Readonly<Record<string, unknown>>

const isRow = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const cycleColumns: ReadonlyArray<ColumnRow> = [
  { member: "state", as: "state" },
  { member: "instrumentId", title: "Instrument" },
  { member: "cutOffAt", title: "Cut-off", as: "near" },
  { member: "acceptsOrders", title: "Takes orders" },
  { member: "price", as: "figure", unitOf: "currency" },
  { member: "settleBy", as: "deadline" },
  { member: "waitingOn", as: "moves" }
]

export const cycleFacts: ReadonlyArray<FactRow> = [
  { member: "cutOffAt", name: "Cut-off" },
  { member: "acceptsOrders", name: "Takes orders" },
  { member: "settleBy" },
  { member: "policyVersion" },
  { member: "pointCid", name: "Price point" },
  { member: "updateId", name: "Update on the ledger" }
]

/** Number of the orders of a cycle by kind; of a list without them there is none. */
export const ordersOf = (
  cycle: Row
): {
  readonly subscriptions: ReadonlyArray<string>
  readonly redemptions: ReadonlyArray<string>
} => {
  const { orders } = cycle
  const ids = (member: string): ReadonlyArray<string> => {
    const all = isRow(orders) ? orders[member] : undefined
    return Array.isArray(all) ? all.map(String) : []
  }
  return { subscriptions: ids("subscriptions"), redemptions: ids("redemptions") }
}

/** Figures of a cycle, under names by which two of them stand side by side. */
export const cycleFigures = (cycle: Row): ReadonlyArray<Fact> => {
  const money = { unitOf: "currency" } as const
  const units = { unit: "units" } as const
  const inner = (member: string, rows: ReadonlyArray<FactRow>): ReadonlyArray<Fact> => {
    const value = cycle[member]
    return isRow(value)
      ? factsOf({ ...value, currency: cycle["currency"] }, rows).map((fact) => ({
          ...fact,
          member: `${member}/${fact.member}`
        }))
      : []
  }
  return [
    ...factsOf(cycle, [
      { member: "price", name: "Price of a unit", ...money },
      { member: "swungPrice", name: "Swung price", ...money }
    ]),
    ...inner("gross", [
      { member: "subscribed", name: "Subscribed", ...money },
      { member: "refunded", name: "Refunded", ...money },
      { member: "redeemed", name: "Redeemed", ...money },
      { member: "minted", name: "Minted", ...units },
      { member: "burned", name: "Burned", ...units }
    ]),
    ...inner("fundNet", [
      { member: "cash", name: "Fund's net cash", ...money },
      { member: "units", name: "Net units", ...units }
    ]),
    ...inner("gate", [
      { member: "factor", name: "Gate factor" },
      { member: "capacity", name: "Capacity", ...money },
      { member: "reason", name: "Reason of the gate" }
    ])
  ]
}

/** A figure under two suppositions. */
export interface Beside {
  readonly name: string
  readonly today: Fact | null
  readonly supposed: Fact | null
  readonly differs: boolean
}

/** Figures of today beside those of a supposition, each once, in the order of today's. */
export const besides = (
  today: ReadonlyArray<Fact>,
  supposed: ReadonlyArray<Fact>
): ReadonlyArray<Beside> => {
  const find = (facts: ReadonlyArray<Fact>, member: string) =>
    facts.find((fact) => fact.member === member) ?? null
  return [...new Set([...today, ...supposed].map(({ member }) => member))].map((member) => {
    const [before, after] = [find(today, member), find(supposed, member)]
    return {
      name: before?.name ?? after?.name ?? member,
      today: before,
      supposed: after,
      differs: String(before?.value ?? "") !== String(after?.value ?? "")
    }
  })
}

export interface Leg {
  readonly from: string
  readonly to: string
  readonly asset: string
  readonly amount: string
}

export const legsOf = (cycle: Row): ReadonlyArray<Leg> => {
  const { legs } = cycle
  return (Array.isArray(legs) ? legs : []).filter(isRow).map(({ amount, asset, from, to }) => ({
    from: String(from),
    to: String(to),
    asset: isRow(asset) ? String(asset["id"]) : String(asset),
    amount: String(amount)
  }))
}

/** What a party gives and gets on balance of an asset. */
export interface PartyNet {
  readonly party: string
  readonly asset: string
  readonly net: string
}

/** Net of each party by asset, computed of the legs; those of an asset add up to zero. */
export const netsOf = (legs: ReadonlyArray<Leg>): ReadonlyArray<PartyNet> => {
  const nets = new Map<string, PartyNet>()
  const book = (party: string, asset: string, amount: string) => {
    const key = JSON.stringify([asset, party])
    const before = nets.get(key)?.net ?? "0"
    nets.set(key, { party, asset, net: Decimals.sum([before, amount]) })
  }
  for (const { amount, asset, from, to } of legs) {
    if (!isDecimal(amount)) continue
    book(from, asset, Decimals.negated(amount))
    book(to, asset, amount)
  }
  return [...nets.values()]
}

/** Whether the nets of every asset add up to zero. */
export const isBalanced = (nets: ReadonlyArray<PartyNet>): boolean =>
  [...new Set(nets.map(({ asset }) => asset))].every((asset) =>
    Decimals.same(
      Decimals.sum(["0", ...nets.filter((one) => one.asset === asset).map(({ net }) => net)]),
      "0"
    )
  )

/** Members of a supposition: their form, and what is wrong with a text of another. */
const supposable = {
  price: { form: /^\d{1,10}(?:\.\d{1,10})?$/u, fault: "a price in digits, such as 101.5" },
  policyVersion: { form: /^\d{1,9}$/u, fault: "the number of a version, in digits" }
} as const

export type Supposable = keyof typeof supposable

/** A supposition of an address, and the fault of each text that has not the form of its member. */
export interface Supposition {
  /** Another price or policy version; null: none is supposed, also where a text has a fault. */
  readonly named: Readonly<Partial<Record<Supposable, string>>> | null
  readonly faults: Readonly<Partial<Record<Supposable, string>>>
}

export const supposed = (parameters: Pick<URLSearchParams, "get">): Supposition => {
  const members = Object.keys(supposable) as ReadonlyArray<Supposable>
  const texts = members.flatMap((member) => {
    const text = parameters.get(member) ?? ""
    return text === "" ? [] : [[member, text] as const]
  })
  const faults = texts.flatMap(([member, text]) => {
    const { fault, form } = supposable[member]
    return form.test(text) ? [] : [[member, fault] as const]
  })
  return {
    named: texts.length === 0 || faults.length > 0 ? null : Object.fromEntries(texts),
    faults: Object.fromEntries(faults)
  }
}

/** What is supposed, as the caption of its figures. */
export const supposedText = ({
  policyVersion,
  price
}: Readonly<Partial<Record<Supposable, string>>>): string =>
  `Supposed: ${[
    ...(price === undefined ? [] : [`a price of ${price}`]),
    ...(policyVersion === undefined ? [] : [`policy version ${policyVersion}`])
  ].join(" and ")}; nothing is written`

export const standingColumns: ReadonlyArray<ColumnRow> = [
  { member: "state", as: "state" },
  { member: "instrumentId", title: "Instrument" },
  { member: "parties" },
  { member: "iterations", title: "Settled", as: "figure" },
  { member: "lastSettledAt", title: "Last settled", as: "near" },
  { member: "expiresAt", as: "deadline" },
  { member: "waitingOn", as: "moves" }
]

export const standingFacts: ReadonlyArray<FactRow> = [
  { member: "instrumentId", name: "Instrument" },
  { member: "iterations", name: "Iterations settled" },
  { member: "lastSettledAt", name: "Last settled" },
  { member: "deadline" },
  { member: "expiresAt", name: "Expires" }
]

/** What a party of a standing settlement puts in, and what it has committed of it; null: nothing yet. */
export interface Funding {
  readonly party: string
  readonly asset: string
  readonly amount: string
  readonly committed: string | null
}

export const fundingOf = (record: Row): ReadonlyArray<Funding> => {
  const rows = (member: string): ReadonlyArray<Row> => {
    const value = record[member]
    return Array.isArray(value) ? value.filter(isRow) : []
  }
  const assetOf = ({ asset }: Row): string => (isRow(asset) ? String(asset["id"]) : String(asset))
  const committed = rows("committed")
  return rows("funding").map((row) => {
    const same = committed.filter(
      (one) => one["party"] === row["party"] && assetOf(one) === assetOf(row)
    )
    return {
      party: String(row["party"]),
      asset: assetOf(row),
      amount: String(row["amount"]),
      committed: same.length === 0 ? null : Decimals.sum(same.map(({ amount }) => String(amount)))
    }
  })
}

/** Sentences of the acts of cycles and standing settlements. */
export const cycleSays: Readonly<Record<string, string>> = {
  "dealing-cycle.settle":
    "Settles all orders of the cycle in one transaction, on the figures that are signed.",
  "dealing-cycle.release":
    "Gives the cycle up: its orders are withdrawn or released, nothing is settled.",
  "standing-settlement.settle":
    "Settles an iteration of the orders that you choose, from what is committed.",
  "standing-settlement.pause": "Lets no iteration run until it is resumed.",
  "standing-settlement.resume": "Lets iterations run again; another person signs it.",
  "standing-settlement.close": "Ends it for good and gives back what is committed."
}
