/** What the pages of an instrument show, computed from its records: facts, policies compared, the register. */
import type { ColumnRow } from "../record/Columns.ts"
import type { Fact, FactRow } from "../record/Fact.ts"
import type { TabRow } from "../record/Tabs.ts"
import * as Decimals from "../words/Decimals.ts"

type Row = Readonly<Record<string, unknown>>

const isRow = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Columns of the list. */
export const instrumentColumns: ReadonlyArray<ColumnRow> = [
  { member: "legalName", title: "Name" },
  { member: "valuation", as: "words" },
  { member: "currency" },
  { member: "holderCount", title: "Holders", as: "figure" },
  { member: "holderCap", title: "Of at most", as: "figure" },
  { member: "onRegistry", title: "On the registry" },
  { member: "inManifest", title: "In the manifest" },
  { member: "waitingOn", as: "moves" }
]

/** Tabs of an instrument, with the reads that each makes besides the instrument. */
export const instrumentTabs: ReadonlyArray<TabRow> = [
  { name: "overview", title: "Overview", reads: ["instruments.get"] },
  { name: "policy", title: "Policy", reads: ["instruments.policy-versions"] },
  { name: "prices", title: "Prices", reads: ["instruments.prices"] },
  { name: "register", title: "Register", reads: ["instruments.register"] },
  { name: "movements", title: "Movements", reads: ["instruments.movements"] },
  { name: "market", title: "Market and powers", reads: ["instruments.get"] },
  { name: "orders", title: "Orders", reads: ["open-orders.list"] },
  { name: "holds", title: "Holds", reads: ["holds.list"] },
  { name: "distributions", title: "Distributions", reads: ["distributions.list"] },
  { name: "reconciliation", title: "Reconciliation", reads: ["findings.list"] },
  { name: "reserve", title: "Reserve", reads: ["reserves.list"] }
]

/** Facts of the overview by their sheet. */
export const overviewSheets: ReadonlyArray<{
  readonly title: string
  readonly rows: ReadonlyArray<FactRow>
}> = [
  {
    title: "Terms",
    rows: [
      { member: "legalName" },
      { member: "valuation" },
      { member: "currency" },
      { member: "unitDecimals", name: "Places of a unit" },
      { member: "parValue", unitOf: "currency" },
      { member: "pricing" },
      { member: "minimumSubscription", unitOf: "currency" },
      { member: "minimumHolding", unit: "units" },
      { member: "residual" },
      { member: "businessZone" },
      { member: "policyVersion" }
    ]
  },
  {
    title: "Parties and state",
    rows: [
      { member: "registrar" },
      { member: "oracle" },
      { member: "holderCount", name: "Holders" },
      { member: "holderCap", name: "Holders at most" },
      { member: "onRegistry", name: "On the registry" },
      { member: "inManifest", name: "In the manifest" },
      { member: "navFeedState", name: "State of the NAV feed" }
    ]
  }
]

/** Cut-off of an instrument as a sentence: `16:00 America/New_York on monday, tuesday`; null: it has none. */
export const cutOffText = (cutOff: unknown): string | null => {
  if (!isRow(cutOff)) return null
  const { days, time, zone } = cutOff
  const named = Array.isArray(days) ? days.join(", ") : ""
  return `${String(time)} ${String(zone)}${named === "" ? "" : ` on ${named}`}`
}

/** Identifiers that an instrument has, by their scheme. */
export const identifiersOf = (
  identifiers: unknown
): ReadonlyArray<readonly [scheme: string, id: string]> => {
  if (!isRow(identifiers)) return []
  const { others, ...own } = identifiers
  return [
    ...Object.entries(own).flatMap(([scheme, id]) =>
      typeof id === "string" ? [[scheme, id] as const] : []
    ),
    ...(Array.isArray(others) ? others : [])
      .filter(isRow)
      .map(({ id, scheme }) => [String(scheme), String(id)] as const)
  ]
}

/** Terms of a policy in groups; those that no group names stand in the last. */
export const termGroups: ReadonlyArray<{
  readonly title: string
  readonly members: ReadonlyArray<string>
}> = [
  {
    title: "Units and price",
    members: [
      "valuation",
      "oracle",
      "currency",
      "unitDecimals",
      "parValue",
      "pricing",
      "swing",
      "guardrail",
      "navFeed"
    ]
  },
  {
    title: "Dealing",
    members: [
      "cutOff",
      "fees",
      "minimumSubscription",
      "minimumHolding",
      "residual",
      "limits",
      "window",
      "deliverBeforeCash"
    ]
  },
  { title: "Holders", members: ["holderCap", "rescreenAfter"] },
  { title: "Distribution", members: ["distribution", "partialDistribution", "rateChange"] },
  { title: "Control", members: ["tolerances", "grace"] },
  { title: "Names", members: ["legalName", "identifiers", "display", "businessZone"] }
]

const part = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1")

const leaves = (value: unknown, path = ""): ReadonlyArray<readonly [string, unknown]> =>
  isRow(value) && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([name, inner]) => leaves(inner, `${path}/${part(name)}`))
    : [[path, value]]

/** Terms of a policy that stand together: those that say something, and the names of those that do not. */
export interface PolicyGroup {
  readonly title: string
  readonly facts: ReadonlyArray<Fact>
  /** Pointers of the terms that are not set. */
  readonly unset: ReadonlyArray<string>
}

const isUnset = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (Array.isArray(value) && value.length === 0) ||
  (isRow(value) && Object.keys(value).length === 0)

const isWords = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((item) => typeof item === "string")

/** Terms of a policy by group, each once, also one that this build does not know; inner terms by their pointer. */
export const policyGroups = (body: unknown): ReadonlyArray<PolicyGroup> => {
  if (!isRow(body)) return []
  const placed = new Set(termGroups.flatMap(({ members }) => members))
  const others = Object.keys(body).filter((member) => !placed.has(member))
  return [...termGroups, { title: "Further terms", members: others }]
    .map(({ members, title }) => {
      const terms = members
        .filter((member) => Object.hasOwn(body, member))
        .flatMap((member) => leaves(body[member], `/${part(member)}`))
      return {
        title,
        facts: terms
          .filter(([, value]) => !isUnset(value))
          .map(([path, value]) => ({
            member: path,
            name: null,
            value: isWords(value) ? value.join(", ") : value,
            unit: null
          })),
        unset: terms.filter(([, value]) => isUnset(value)).map(([path]) => path)
      }
    })
    .filter(({ facts, unset }) => facts.length > 0 || unset.length > 0)
}

/** A term that two policies have differently, by its pointer. */
export interface TermDifference {
  readonly path: string
  readonly from: unknown
  readonly to: unknown
}

/**
 * Version that the next one replaces: the highest that was not withdrawn, also one that is scheduled; null: of
 * these none is set.
 */
export const lastSet = (
  versions: ReadonlyArray<Readonly<Record<string, unknown>>>
): string | null =>
  versions
    .filter(({ state }) => state !== "withdrawn")
    .map(({ policyVersion }) => String(policyVersion))
    .reduce<string | null>(
      (last, version) => (last === null || BigInt(version) > BigInt(last) ? version : last),
      null
    )

/** Members in which two policies differ, member by member; a list is one member. */
export const differences = (from: unknown, to: unknown): ReadonlyArray<TermDifference> => {
  const [before, after] = [new Map(leaves(from)), new Map(leaves(to))]
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => JSON.stringify(before.get(path)) !== JSON.stringify(after.get(path)))
    .map((path) => ({ path, from: before.get(path), to: after.get(path) }))
}

/** Direction of each change, where the second version follows the first; else there is none. */
export const directionsOf = (from: Row, to: Row): ReadonlyMap<string, string | null> => {
  const follows =
    BigInt(String(to["policyVersion"] ?? "0")) === BigInt(String(from["policyVersion"] ?? "0")) + 1n
  const changes = to["changes"]
  return new Map(
    follows && Array.isArray(changes)
      ? changes
          .filter(isRow)
          .map(({ direction, path }) => [
            String(path),
            typeof direction === "string" ? direction : null
          ])
      : []
  )
}

/** Columns of the prices. */
export const priceColumns: ReadonlyArray<ColumnRow> = [
  { member: "price", as: "figure" },
  { member: "official", title: "Official" },
  { member: "isLive", title: "In force" },
  { member: "valuationTime", title: "Valued" },
  { member: "publishedAt", title: "Published" },
  { member: "incomePerUnit", title: "Income of a unit", as: "figure" },
  { member: "withholding", as: "figure" },
  { member: "source", title: "Published by" },
  { member: "corrects" },
  { member: "correctedBy" }
]

/** Columns of movements: of an instrument, and of a holder, whose own party stands in each. */
export const movementColumns: ReadonlyArray<ColumnRow> = [
  { member: "at", as: "near" },
  { member: "kind", as: "words" },
  { member: "from" },
  { member: "to" },
  { member: "units", as: "figure" },
  { member: "balanceAfter", title: "Supply after", as: "figure" },
  { member: "reference", title: "By", as: "reference" }
]

/** Columns of the months in which an instrument pays, past and to come. */
export const calendarColumns: ReadonlyArray<ColumnRow> = [
  { member: "month" },
  { member: "periodState", title: "State", as: "state" },
  { member: "recordDate" },
  { member: "exDate" },
  { member: "paymentDate" },
  { member: "zone" },
  { member: "distributionId", title: "Distribution" }
]

/** A line of the register. */
export interface RegisterLine {
  readonly holderId: string | null
  readonly party: string
  readonly units: string
  readonly locked: string
  readonly pendingIn: string
  readonly pendingOut: string
  readonly share: string
  readonly admissionState: string | null
  readonly since: string
}

export interface Register {
  readonly head: {
    readonly totalUnits: string
    readonly supplyOnLedger: string
    readonly difference: string
    readonly holders: unknown
  }
  readonly lines: ReadonlyArray<RegisterLine>
}

/** Whether the lines of a register add up to its total, computed here. */
export const addsUp = ({ head, lines }: Register): boolean =>
  Decimals.same(Decimals.sum(["0", ...lines.map(({ units }) => units)]), head.totalUnits)

/** Whether the supply on the ledger is what the lines add up to. */
export const isWhole = ({ head }: Register): boolean => Decimals.same(head.difference, "0")

/** Metrics of an instrument over time, and which values of a point each has. */
export const metrics = [
  "supply",
  "price",
  "holders",
  "subscriptions",
  "redemptions",
  "distributions",
  "cover"
] as const

/** Value of a point that a chart draws: what flowed in its time, or how it ended. */
export const pointValue = (point: Row): string | null =>
  typeof point["sum"] === "string"
    ? point["sum"]
    : typeof point["close"] === "string"
      ? point["close"]
      : null
