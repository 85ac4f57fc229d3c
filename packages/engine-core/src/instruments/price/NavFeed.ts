/** Judged states of the NAV feed that an instrument's administrator delivers. */
import * as Instant from "../../kernel/Instant.ts"
import * as Judged from "../../kernel/Judged.ts"

export interface FeedSubject {
  /** The feed mapped to the instrument; null: none. */
  readonly feed: {
    /** The latest statement; null before the first. */
    readonly latest: {
      /** Whether the administrator has withdrawn all values of the statement. */
      readonly ripcord: boolean
      readonly expiresAt: Instant.Instant
      /**
       * Move against the latest accepted point, inside or outside the guardrail; a first one is
       * inside.
       */
      readonly move: "inside" | "outside"
    } | null
    /** The due business date's statement: received, or missing from an instant on. */
    readonly businessDate: "received" | { readonly missingFrom: Instant.Instant }
  } | null
  readonly now: Instant.Instant
}

export const NavFeed = Judged.declare<FeedSubject>()("NavFeedState", {
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
    // A feed without any statement cannot price, even before its first due date.
    if (latest === null) return "missing"
    if (Instant.atOrAfter(now, latest.expiresAt)) return "stale"
    return latest.move === "outside" ? "deviating" : "usable"
  }
})
