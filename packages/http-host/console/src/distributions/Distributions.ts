/** What the pages of distributions show, computed: the calendar, the strip, identities, and what cures a line. */
import * as Decimals from "../words/Decimals.ts"

type Row = Readonly<Record<string, unknown>>

export interface CalendarGrid {
  /** Months of the columns, earliest first. */
  readonly months: ReadonlyArray<string>
  readonly instruments: ReadonlyArray<{
    readonly instrumentId: string
    /** One for each month; null: the instrument has no period in it. */
    readonly periods: ReadonlyArray<Row | null>
  }>
}

/** Periods as a grid: months across, instruments down in the order in which they come first. */
export const gridOf = (rows: ReadonlyArray<Row>): CalendarGrid => {
  const months = [...new Set(rows.map(({ month }) => String(month)))].toSorted()
  const ids = [...new Set(rows.map(({ instrumentId }) => String(instrumentId)))]
  return {
    months,
    instruments: ids.map((instrumentId) => ({
      instrumentId,
      periods: months.map(
        (month) =>
          rows.find((row) => row["instrumentId"] === instrumentId && row["month"] === month) ?? null
      )
    }))
  }
}

/** Whether a line is delivered and not rolled, in whatever state its distribution is; true where no count says. */
export const isToRoll = ({ counts }: Row): boolean => {
  const delivered = ((counts ?? {}) as Row)["delivered"]
  return delivered === undefined || delivered === null || String(delivered) !== "0"
}

/** A step of a distribution: reached, with its instant where the record has one, or ahead. */
export interface Step {
  readonly name: string
  readonly at: string | null
  readonly isReached: boolean
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null)

/** Strip of a distribution; one under a hold shows that in the place of payable. */
export const stepsOf = (distribution: Row): ReadonlyArray<Step> => {
  const { executedAt, sealedAt, state } = distribution
  const isOver = state === "paid"
  return [
    { name: "executed", at: textOf(executedAt), isReached: true },
    { name: "sealed", at: textOf(sealedAt), isReached: textOf(sealedAt) !== null },
    state === "held"
      ? { name: "held", at: null, isReached: true }
      : { name: "payable", at: null, isReached: state === "payable" || isOver },
    { name: "paid", at: null, isReached: isOver }
  ]
}

export interface Identity {
  readonly name: string
  readonly formula: string
  /** Null: the totals alone do not say; a run judges it over all lines. */
  readonly isSame: boolean | null
}

/** The identities of a distribution; that of its totals is recomputed, the others a run judges by the lines. */
export const identitiesOf = (totals: Row): ReadonlyArray<Identity> => {
  const [gross, net, withheld] = ["gross", "net", "withheld"].map((member) =>
    Decimals.figureOf(totals[member])
  )
  return [
    {
      name: "Paid or withheld",
      formula: "Σ gross = Σ net + Σ withheld",
      isSame:
        gross == null || net == null || withheld == null
          ? null
          : Decimals.same(gross, Decimals.sum([net, withheld]))
    },
    {
      name: "Nothing lost between months",
      formula: "Σ gross + Σ carried out + rests of leavers = Σ entitlement + Σ carried in",
      isSame: null
    },
    {
      name: "Income of the units",
      formula: "Σ entitlement + what rounding takes = units · (price at the end − price before)",
      isSame: null
    }
  ]
}

/** States of lines in the order of their lives. */
const lineStates = ["due", "delivered", "rolled", "suspended", "carried", "void"] as const

/** Number of lines by state, in the order of their lives, further words of a later release at the end. */
export const countsOf = (
  counts: unknown
): ReadonlyArray<readonly [state: string, count: string]> => {
  const all = (counts ?? {}) as Row
  const names = [
    ...lineStates.filter((state) => Object.hasOwn(all, state)),
    ...Object.keys(all).filter((state) => !lineStates.some((each) => each === state))
  ]
  return names.flatMap((state) => {
    const count = Decimals.figureOf(all[state])
    return count === null ? [] : [[state, count] as const]
  })
}

/** Whether the lines by state are as many as the distribution has; null: it does not say. */
export const isCounted = ({ counts, totals }: Row): boolean | null => {
  const lines = Decimals.figureOf((totals as Row | null)?.["holders"])
  const parts = countsOf(counts)
  return lines === null || parts.length === 0
    ? null
    : Decimals.same(lines, Decimals.sum(parts.map(([, count]) => count)))
}

interface Cause {
  readonly says: string
  readonly cure: string
  /** Where it is cured: the holder's page, its restrictions, or earlier lines of the holder. */
  readonly at: "holder" | "restrictions" | "distributions" | null
}

const causes: Readonly<Record<string, Cause>> = {
  restriction: {
    says: "a restriction stops its payment",
    cure: "The line is due once the restriction is lifted or ends.",
    at: "restrictions"
  },
  "court-order": {
    says: "a court's order stops its payment",
    cure: "The line is due once the order is lifted; the clock never lifts it.",
    at: "restrictions"
  },
  registration: {
    says: "the holder's registration is not in force",
    cure: "The line is due once the registration is renewed.",
    at: "holder"
  },
  admission: {
    says: "the holder is not admitted to the instrument",
    cure: "The line is due once the holder is admitted.",
    at: "holder"
  },
  attribute: {
    says: "an attribute that the instrument requires is missing or over",
    cure: "The line is due once the holder has a valid attribute.",
    at: "holder"
  },
  screening: {
    says: "the holder's screening is not clear",
    cure: "The line is due once the screening is clear.",
    at: "holder"
  },
  "no-holder": {
    says: "the party is no holder",
    cure: "The line is due once the party is registered, active and admitted.",
    at: null
  },
  unrolled: {
    says: "an earlier line of the holder is not rolled",
    cure: "Its amount is carried to the next month; roll the earlier line to pay again.",
    at: "distributions"
  },
  "below-smallest": {
    says: "its gross is below the smallest amount",
    cure: "Its amount is carried to the next month; nothing is to be done.",
    at: null
  }
}

/** Causes that the table has; the test compares them with the interface. */
export const listedCauses: ReadonlyArray<string> = Object.keys(causes)

/** Why a line waits or is carried, and what cures it; null: it has no cause. */
export const causeOf = ({
  holderId,
  instrumentId,
  reason
}: Row): { readonly says: string; readonly cure: string; readonly page: string | null } | null => {
  if (typeof reason !== "string") return null
  const cause = Object.hasOwn(causes, reason) ? causes[reason] : undefined
  if (cause === undefined) return { says: `“${reason}”`, cure: "", page: null }
  const holder = typeof holderId === "string" ? encodeURIComponent(holderId) : null
  const page =
    holder === null
      ? null
      : cause.at === "holder"
        ? `holders/${holder}`
        : cause.at === "restrictions"
          ? `restrictions?holderId=${holder}`
          : cause.at === "distributions"
            ? `distributions?instrumentId=${encodeURIComponent(String(instrumentId))}`
            : null
  return { says: cause.says, cure: cause.cure, page }
}

/** Lines of a page by their cause, the most frequent first. */
export const causesOf = (
  rows: ReadonlyArray<Row>
): ReadonlyArray<readonly [reason: string, count: string]> => {
  const counts = new Map<string, bigint>()
  for (const { reason } of rows) {
    if (typeof reason === "string") counts.set(reason, (counts.get(reason) ?? 0n) + 1n)
  }
  return [...counts]
    .toSorted(([a, m], [b, n]) => (m > n ? -1 : m < n ? 1 : a < b ? -1 : 1))
    .map(([reason, count]) => [reason, count.toString()] as const)
}

const missing: Readonly<Record<string, string>> = {
  "before-horizon": "Retention has deleted the register or the points that it was computed from.",
  "plan-missing": "A snapshot of the ledger showed it, without the plan of its execution.",
  "not-computed": "The register of its record date gives no such line."
}

export const listedMissing: ReadonlyArray<string> = Object.keys(missing)

/** Why a line has no basis, as a sentence. */
export const basisMissingSentence = (why: string): string =>
  Object.hasOwn(missing, why) ? (missing[why] ?? why) : `It has no basis: “${why}”.`

/** What may still be used of an approval: its uses and its net; null: without a limit. */
export const leftOf = (used: unknown, most: unknown): string | null => {
  const [all, part] = [Decimals.figureOf(most), Decimals.figureOf(used)]
  return all === null || part === null ? null : Decimals.less(all, part)
}

/** Instrument and month of a period's id. */
export const periodOf = (
  id: string
): { readonly instrumentId: string; readonly month: string } | null => {
  const parts = /^(?<instrumentId>.+):(?<month>\d{4}-\d{2})$/u.exec(id)?.groups
  return parts === undefined
    ? null
    : { instrumentId: parts["instrumentId"] ?? "", month: parts["month"] ?? "" }
}
