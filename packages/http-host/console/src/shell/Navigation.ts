/** Navigation by role: the pages whose reads a person's roles may make, and which of them each meets first. */
import type { InterfaceTable } from "../interface/Interface.ts"

export interface NavigationRow {
  readonly path: string
  readonly title: string
  /** Reads of which a person needs one. */
  readonly reads: ReadonlyArray<string>
  /** Key after `g`. */
  readonly letter: string
}

export interface NavigationGroup {
  readonly title: string
  readonly rows: ReadonlyArray<NavigationRow>
}

export const groups: ReadonlyArray<NavigationGroup> = [
  {
    title: "Work",
    rows: [
      {
        path: "work",
        title: "My work",
        reads: ["work.list", "approvals.list", "operations.list"],
        letter: "w"
      },
      { path: "approvals", title: "Approvals", reads: ["approvals.list"], letter: "a" },
      { path: "operations", title: "Operations", reads: ["operations.list"], letter: "x" },
      { path: "proposals", title: "Proposals", reads: ["proposals.list"], letter: "q" }
    ]
  },
  {
    title: "Orders",
    rows: [
      { path: "open-orders", title: "Open orders", reads: ["open-orders.list"], letter: "o" },
      { path: "subscriptions", title: "Subscriptions", reads: ["subscriptions.list"], letter: "s" },
      { path: "redemptions", title: "Redemptions", reads: ["redemptions.list"], letter: "r" },
      {
        path: "dealing-cycles",
        title: "Dealing cycles",
        reads: ["dealing-cycles.list"],
        letter: "c"
      },
      {
        path: "standing-settlements",
        title: "Standing settlements",
        reads: ["standing-settlements.list"],
        letter: "t"
      }
    ]
  },
  {
    title: "Register",
    rows: [
      { path: "instruments", title: "Instruments", reads: ["instruments.list"], letter: "i" },
      { path: "holders", title: "Holders", reads: ["holders.list"], letter: "h" },
      { path: "restrictions", title: "Restrictions", reads: ["restrictions.list"], letter: "k" },
      { path: "holds", title: "Holds", reads: ["holds.list"], letter: "b" }
    ]
  },
  {
    title: "Money against records",
    rows: [
      {
        path: "external-statements",
        title: "Statements",
        reads: ["external-statements.list"],
        letter: "m"
      },
      { path: "external-sources", title: "Sources", reads: ["external-sources.list"], letter: "n" },
      {
        path: "reconciliation",
        title: "Reconciliation",
        reads: ["reconciliation-verdict.list"],
        letter: "v"
      },
      {
        path: "reconciliation-runs",
        title: "Runs",
        reads: ["reconciliation-runs.list"],
        letter: "u"
      },
      { path: "findings", title: "Findings", reads: ["findings.list"], letter: "f" },
      {
        path: "distribution-calendar",
        title: "Distribution calendar",
        reads: ["distribution-calendar.list"],
        letter: "y"
      },
      { path: "distributions", title: "Distributions", reads: ["distributions.list"], letter: "d" },
      {
        path: "standing-approvals",
        title: "Standing approvals",
        reads: ["standing-approvals.list"],
        letter: "p"
      },
      { path: "reserves", title: "Reserves", reads: ["reserves.list"], letter: "e" }
    ]
  },
  {
    title: "Venue",
    rows: [
      { path: "events", title: "Live feed", reads: ["events.list"], letter: "l" },
      { path: "audit-log", title: "Audit log", reads: ["audit-log.list"], letter: "g" },
      { path: "webhooks", title: "Webhooks", reads: ["webhooks.list"], letter: "z" },
      {
        path: "external-accounts",
        title: "Accounts",
        reads: ["external-accounts.list"],
        letter: "j"
      }
    ]
  }
]

/** Roles of the venue's staff, who meet pages at all. */
export const staff: ReadonlySet<string> = new Set([
  "operator",
  "approver",
  "risk",
  "compliance",
  "auditor",
  "monitor",
  "app",
  "registrar"
])

const mayRead = (
  table: Pick<InterfaceTable, "reads">,
  read: string,
  roles: ReadonlyArray<string>
) => table.reads[read]?.roles.some((role) => roles.includes(role)) === true

/** Groups of the pages that the roles may read; a page that they may not is not among them. */
export const offered = (
  table: Pick<InterfaceTable, "reads">,
  roles: ReadonlyArray<string>
): ReadonlyArray<NavigationGroup> =>
  roles.some((role) => staff.has(role))
    ? groups
        .map((group) => ({
          ...group,
          rows: group.rows.filter(({ reads }) => reads.some((read) => mayRead(table, read, roles)))
        }))
        .filter(({ rows }) => rows.length > 0)
    : []

/** Page that each role meets first, the first role of this order deciding. */
const firstPages: ReadonlyArray<readonly [role: string, path: string]> = [
  ["operator", "work"],
  ["approver", "approvals"],
  ["risk", "holds"],
  ["compliance", "work"],
  ["auditor", "audit-log"],
  ["monitor", "events"],
  ["app", "open-orders"],
  ["registrar", "open-orders"]
]

/** Page that a person meets first; null: the console has none for these roles. */
export const firstPage = (roles: ReadonlyArray<string>): string | null =>
  firstPages.find(([role]) => roles.includes(role))?.[1] ?? null
