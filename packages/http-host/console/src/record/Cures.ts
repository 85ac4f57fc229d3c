/** Pages that cure a refusal, by the gate that refused. */

/** Record that was judged. */
export interface JudgedRecord {
  readonly instrumentId: string | null
  readonly holderId: string | null
}

/** Page with the read that a person needs for it. */
export interface Cure {
  readonly path: string
  readonly title: string
  readonly read: string
}

const part = encodeURIComponent

/** Page on which what a gate refuses can be cured; null: there is none, or nothing names its record. */
export const cureOf = (
  { check, gate }: { readonly gate: string; readonly check: string },
  { holderId, instrumentId }: JudgedRecord
): Cure | null => {
  // The name of a record's states: no page but the record's own says more.
  if (check.endsWith("State")) return null
  const instrument = (tab: string, title: string): Cure | null =>
    instrumentId === null
      ? null
      : {
          path: `instruments/${part(instrumentId)}?tab=${tab}`,
          title: `${title} of ${instrumentId}`,
          read: "instruments.get"
        }
  const holder = (tab: string, title: string): Cure | null =>
    holderId === null
      ? null
      : {
          path: `holders/${part(holderId)}?tab=${tab}`,
          title: `${title} of ${holderId}`,
          read: "holders.get"
        }
  switch (gate) {
    case "hold":
      return instrument("holds", "Holds")
    case "policy":
    case "window":
      return instrument("policy", "Policy")
    case "nav-feed":
      return instrument("prices", "Prices")
    case "units":
      return instrument("register", "Register")
    case "restriction":
      return holderId === null
        ? null
        : {
            path: `restrictions?holderId=${part(holderId)}`,
            title: `Restrictions of ${holderId}`,
            read: "restrictions.list"
          }
    case "admission":
      return holder("admissions", "Admissions")
    case "attribute":
    case "screening":
      return holder("overview", "Record")
    case "consent":
      return holder("powers", "Consents")
    case "cash":
      return {
        path: "external-statements",
        title: "Statements of the bank",
        read: "external-statements.list"
      }
    case "reserve-cover":
      return { path: "reserves", title: "Reserves", read: "reserves.list" }
    case "four-eyes":
      return { path: "approvals", title: "Approvals", read: "approvals.list" }
    default:
      return null
  }
}
