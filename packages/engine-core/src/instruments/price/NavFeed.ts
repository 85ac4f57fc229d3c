/** Judged states of the NAV feed of an instrument's administrator. */
import * as Instant from "../../kernel/Instant.ts"
import * as Judged from "../../kernel/Judged.ts"

export interface Subject {
  /** The feed that is mapped to the instrument, if one is. */
  readonly feed: {
    /** The latest statement, if one ever came. */
    readonly latest: {
      /** The administrator's own stop: nothing of the statement may be used. */
      readonly ripcord: boolean
      readonly expiresAt: Instant.Instant
      /** Where the move against the last accepted point lies; a first one has no move. */
      readonly move: "inside" | "outside"
    } | null
    /** Whether the business date's statement was received, or since when it is missing. */
    readonly businessDate: "received" | { readonly missingFrom: Instant.Instant }
  } | null
  readonly now: Instant.Instant
}

export const NavFeed = Judged.declare<Subject>()("NavFeedState", {
  doc: "Whether the administrator's NAV may price an instrument; the first that holds, as listed.",
  states: {
    none: "No feed is mapped: the oracle point alone prices.",
    ripcord: "The administrator pulled its ripcord: no value of that statement is used at all.",
    missing: "No statement of the business date came in time.",
    stale: "The latest statement expired.",
    deviating: "The move against the last accepted point is outside the guardrail.",
    usable: "None of these: the official NAV may price."
  },
  judge: ({ feed, now }) => {
    if (feed === null) return "none"
    const { businessDate, latest } = feed
    if (latest?.ripcord === true) return "ripcord"
    if (businessDate !== "received" && Instant.atOrAfter(now, businessDate.missingFrom)) {
      return "missing"
    }
    // A feed that never sent anything has nothing to price from, whatever its calendar says.
    if (latest === null) return "missing"
    if (Instant.atOrAfter(now, latest.expiresAt)) return "stale"
    return latest.move === "outside" ? "deviating" : "usable"
  }
})
