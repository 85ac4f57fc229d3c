/** Words of the interface as people read them; a word that this build does not know is shown as it came. */

/** Acronyms and names that keep their letters. */
const fixed: Readonly<Record<string, string>> = {
  id: "id",
  lei: "LEI",
  isin: "ISIN",
  cusip: "CUSIP",
  figi: "FIGI",
  nav: "NAV",
  url: "URL",
  cid: "contract"
}

const cased = (words: ReadonlyArray<string>): string =>
  words
    .map((word) => fixed[word.toLowerCase()] ?? word.toLowerCase())
    .join(" ")
    .replace(/^./u, (letter) => letter.toUpperCase())

/** A member's name as a label: `settleBy` is "Settle by"; a pointer by its steps. */
export const label = (member: string): string =>
  member.startsWith("/")
    ? member.slice(1).split("/").map(label).join(" / ")
    : cased(member.replaceAll(/([a-z0-9])([A-Z])/gu, "$1 $2").split(/[ ._-]+/u))

/** A word of a set: `awaiting-cash` is "awaiting cash". */
export const word = (text: string): string => text.replaceAll("-", " ").replaceAll(".", ": ")

/** Kind of mark beside a state: what is over well, what waits, what failed, what is neither. */
export type Mark = "good" | "waits" | "bad" | "plain"

const marks: Readonly<Record<Exclude<Mark, "plain">, ReadonlySet<string>>> = {
  good: new Set([
    "active",
    "settled",
    "delivered",
    "succeeded",
    "approved",
    "ready",
    "clear",
    "cleared",
    "matched",
    "executed",
    "admitted",
    "granted",
    "paid",
    "released",
    "covered",
    "fresh",
    "in-force",
    "consistent",
    "accepted",
    "valid",
    "up",
    "live",
    "complete",
    "redeemed",
    "minted",
    "effective",
    "current",
    "agreed",
    "rolled",
    "passed",
    "received",
    "nil"
  ]),
  waits: new Set([
    "awaiting",
    "queued",
    "running",
    "proposed",
    "offered",
    "open",
    "priced",
    "claimed",
    "pending",
    "scheduled",
    "due",
    "partial",
    "accruing",
    "started",
    "invited",
    "possible-hit",
    "paused",
    "unmatched",
    "warning",
    "findings",
    "incomplete",
    "suspended",
    "payable",
    "carried",
    "closing",
    "degraded"
  ]),
  bad: new Set([
    "failed",
    "rejected",
    "lapsed",
    "expired",
    "blocked",
    "held",
    "restricted",
    "frozen",
    "closed-out",
    "short",
    "stale",
    "overdue",
    "breached",
    "inconsistent",
    "hit",
    "late",
    "lost",
    "low",
    "unknown",
    "declined",
    "missing",
    "exhausted",
    "revoked",
    "blocking"
  ])
}

export const markOf = (state: string): Mark => {
  if (state.startsWith("awaiting")) return "waits"
  for (const mark of ["good", "waits", "bad"] as const) {
    if (marks[mark].has(state)) return mark
  }
  return "plain"
}

/** Sign of each mark, so that colour is never alone. */
export const signs: Readonly<Record<Mark, string>> = { good: "✓", waits: "○", bad: "!", plain: "·" }

/** Hint of a party, without its fingerprint. */
export const hintOf = (party: string): string => party.split("::")[0] ?? party

export const isParty = (text: string): boolean => /^[^\s:]{1,200}::1220[0-9a-f]+$/u.test(text)
