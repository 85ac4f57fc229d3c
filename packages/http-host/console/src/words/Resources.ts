/** Pages of records by the kind that a resource names. */

const pages: Readonly<Record<string, string>> = {
  instrument: "instruments",
  holder: "holders",
  subscription: "subscriptions",
  redemption: "redemptions",
  "dealing-cycle": "dealing-cycles",
  "standing-settlement": "standing-settlements",
  reserve: "reserves",
  distribution: "distributions",
  "standing-approval": "standing-approvals",
  "reconciliation-run": "reconciliation-runs",
  "external-statement": "external-statements",
  "external-source": "external-sources",
  restriction: "restrictions",
  hold: "holds",
  finding: "findings",
  webhook: "webhooks",
  operation: "operations"
}

/** Kinds that have a page. */
export const kindsWithPage: ReadonlyArray<string> = Object.keys(pages)

/** Address of the page of a record; null: its kind has none. */
export const pageOfResource = (kind: string, id: string): string | null =>
  Object.hasOwn(pages, kind) ? `${pages[kind]}/${encodeURIComponent(id)}` : null
