/** What the pages of reconciliation say, computed: verdicts, checks of a run, a finding and what to do of it. */
import * as Decimals from "../words/Decimals.ts"
import { word } from "../words/Words.ts"

type Row = Readonly<Record<string, unknown>>

interface CheckWords {
  /** What the check compares or looks for, as a sentence. */
  readonly does: string
  /** What cures its finding, as a sentence. */
  readonly cure: string
}

const corrected =
  "The sender corrects its statement, or the records are put right; the next run judges."
const fault = "It is a fault of the venue: tell whoever runs it, with the run and the finding."

const checks: Readonly<Record<string, CheckWords>> = {
  "register-supply": {
    does: "Compares the units on the register with the supply on the ledger.",
    cure: fault
  },
  "movements-balance": {
    does: "Compares what a party's movements come to with its units on the register.",
    cure: fault
  },
  "register-line": {
    does: "Compares the units that a statement states of each holder with the register at the statement's moment.",
    cure: corrected
  },
  "statement-total": {
    does: "Compares the total and the number of lines that a statement states with its lines.",
    cure: "The sender corrects its statement: its own figures do not agree."
  },
  "lots-holdings": {
    does: "Compares the lots of each party with its units on the register.",
    cure: fault
  },
  "supply-outstanding": {
    does: "Compares the administrator's total of units with the supply at the statement's moment.",
    cure: corrected
  },
  "nav-price": {
    does: "Compares the administrator's NAV of a business date with the official price of that date.",
    cure: "The administrator corrects its NAV, or the oracle corrects the price; the next run judges."
  },
  "nav-movement": {
    does: "Warns of a latest NAV outside the guardrail around the last accepted price.",
    cure: "The administrator corrects or confirms its NAV; until then the date's point prices nothing."
  },
  "nav-usable": {
    does: "Warns of a feed of NAVs that confirms no price while an order waits for one.",
    cure: "The administrator sends the NAV, or lifts its suspension."
  },
  "statement-overdue": {
    does: "Finds business dates whose statements are overdue.",
    cure: "Hand in the missing statements, or ask the sender for them."
  },
  "statement-gap": {
    does: "Warns of business dates between a source's first and last statement without one.",
    cure: "Hand in the missing statements, or ask the sender for them."
  },
  "cash-settlement": {
    does: "Finds delivered orders that no bank lines pay, and orders of which cash was taken back.",
    cure: "Settle the order by the bank lines that pay it, or take the cash up with the payer."
  },
  "cash-unmatched": {
    does: "Finds what orders have not taken of booked bank lines.",
    cure: "Settle the order that the line pays, or return the cash; the next run judges."
  },
  "cash-balance": {
    does: "Compares opening balance and entries with the closing balance, and the opening with the closing before it.",
    cure: "The bank corrects its statement, or the statement between the two is handed in."
  },
  "burned-unpaid": {
    does: "Finds redemptions whose units are burned, and which are not paid or not settled in time.",
    cure: "Pay the redemption and settle it by the bank line of the payment."
  },
  "claim-aging": {
    does: "Warns of orders that nobody prices after their cut-off, or burns after their burn request.",
    cure: "The party whose move it is acts, or the order is withdrawn."
  },
  "custody-reserve": {
    does: "Compares what a custodian states of a reserve's accounts with what is locked for it on the ledger.",
    cure: "The custodian corrects its statement, or the reserve's holder locks what is missing."
  },
  "reserve-cover": {
    does: "Compares the value of the locked assets of a reserve with the value that its minimum cover asks for.",
    cure: "Lock more assets, or wait for a price that covers; an amendment may tighten the terms meanwhile."
  },
  "reserve-report": {
    does: "Compares the figures that the ledger reported of a reserve with those that the engine computes.",
    cure: fault
  },
  "reserve-price-fresh": {
    does: "Warns of assets of a reserve that have no price, or one that is too old.",
    cure: "The price source publishes a price."
  },
  "distribution-recompute": {
    does: "Compares the stored lines of a distribution with those computed again from its pins.",
    cure: fault
  },
  "distribution-identity": {
    does: "Tests that the sums of a distribution add up, and that they are those which the ledger sealed.",
    cure: fault
  },
  "distribution-unpaid": {
    does: "Warns of payable distributions with lines that nobody paid or rolled long after their payment date.",
    cure: "The registrar pays the lines, or they are rolled."
  },
  "suspended-lines": {
    does: "Compares the balance of the account for suspended payments with the sum of the suspended lines.",
    cure: "Move the cash of the suspended lines to their account; the bank's next statement shows it."
  },
  "restriction-effect": {
    does: "Finds units that left a holder while a restriction forbade it.",
    cure: "Judge the movement: force it back by an order, or accept it with its reason."
  },
  "admission-effect": {
    does: "Finds units of parties that have no valid admission.",
    cure: "Admit the holder, or force the units back by an order."
  },
  "holder-cap": {
    does: "Warns of more admitted and offered holders than the cap of the policy has places.",
    cure: "Withdraw offers, or set a policy with a higher cap."
  },
  "projection-drift": {
    does: "Compares what the projection keeps of the active contracts with those that are active on the ledger.",
    cure: fault
  },
  "orphan-locks": {
    does: "Warns of units that are locked for an order or a reserve that has ended.",
    cure: "Release the lock of the order or the reserve that has ended."
  },
  "policy-replay": {
    does: "Finds orders that were claimed under another policy than that in force, and facts that a record does not allow.",
    cure: "Judge the fact: undo it by an order, or accept it with its reason."
  }
}

/** Checks that the table has words for; the test compares them with the interface. */
export const listedChecks: ReadonlyArray<string> = Object.keys(checks)

/** What a check does; a check that this build does not know says its name. */
export const checkSentence = (check: string): string =>
  Object.hasOwn(checks, check) ? (checks[check]?.does ?? "") : `Check “${word(check)}”.`

export const cureOf = (check: string): string | null =>
  Object.hasOwn(checks, check) ? (checks[check]?.cure ?? null) : null

const reasons: Readonly<Record<string, string>> = {
  "nothing-to-compare": "it had nothing to compare",
  "not-reached": "the ledger is not yet read up to the statement's moment",
  "as-of-ahead": "the statement's moment is later than the run",
  "before-horizon": "the history that is kept begins later",
  "lines-deleted": "retention has deleted the statement's lines",
  ripcord: "the administrator has suspended the valuation",
  "total-missing": "the NAV does not state the units outstanding",
  "not-recorded": "the terms of the instrument are not recorded",
  "no-oracle": "the terms name no oracle",
  "price-missing": "no official price was published for the date",
  "no-guardrail": "the policy has no guardrail",
  "no-accepted-price": "no price of an earlier date was accepted",
  "balances-none": "the source states no balances",
  "other-currency": "an entry is in another currency than the account",
  "opening-missing": "the statement has no opening balance",
  "closing-missing": "the statement has no closing balance",
  "no-reserve": "no reserve is in force",
  "no-account": "no custody account is mapped",
  "of-snapshot": "a snapshot of the ledger showed it, without its history",
  "plan-missing": "the plan of the execution is not stored",
  "history-deleted": "retention has passed its pins",
  "statement-missing": "the account has no statement in force",
  "dates-differ": "the statements are of several business dates",
  "projection-drift": "the projection differs from the ledger, so that nothing can rest on it",
  "compared-before": "a comparison of the last minutes is relied on",
  "ledger-unreachable": "the ledger was not reached",
  internal: "a fault ended it"
}

export const listedReasons: ReadonlyArray<string> = Object.keys(reasons)

/** Why something was not compared, in words; a reason that this build does not know as it came. */
export const reasonOf = (why: string): string =>
  Object.hasOwn(reasons, why) ? (reasons[why] ?? why) : `“${word(why)}”`

export interface CheckRow {
  readonly check: string
  readonly ran: boolean
  readonly why: string | null
  readonly findings: unknown
}

/** Checks of a run: those that did not run first, then those with findings, each group as it came. */
export const checksInOrder = (rows: ReadonlyArray<CheckRow>): ReadonlyArray<CheckRow> => {
  const place = (row: CheckRow): 0 | 1 | 2 =>
    !row.ran ? 0 : Decimals.figureOf(row.findings) === "0" ? 2 : 1
  return [0, 1, 2].flatMap((group) => rows.filter((row) => place(row) === group))
}

/** What came of a check: that it ran, had nothing to compare, or did not run and why. */
export const outcomeOf = ({ ran, why }: CheckRow): string =>
  why === null
    ? ran
      ? "ran"
      : "did not run"
    : ran
      ? `ran: ${reasonOf(why)}`
      : `did not run: ${reasonOf(why)}`

const severities = ["blocking", "warning", "info"] as const

/** Open findings of a verdict by severity, without those that there are none of. */
export const openOf = (
  open: unknown
): ReadonlyArray<readonly [severity: (typeof severities)[number], count: string]> => {
  const counts = (open ?? {}) as Row
  return severities.flatMap((severity) => {
    const count = Decimals.figureOf(counts[severity])
    return count === null || count === "0" ? [] : [[severity, count] as const]
  })
}

export interface Remainder {
  /** Null: the finding has no amounts. */
  readonly isDifferenceSame: boolean | null
  readonly isUnexplainedSame: boolean | null
  readonly isExplainedSame: boolean | null
}

/** Recomputes a finding: actual less expected, the sum of what explains it, and what is left. */
export const recomputed = (finding: Row): Remainder => {
  const { actual, difference, expected, unexplained } = finding
  const explained = (finding["explained"] ?? {}) as Row
  const items = (explained["by"] ?? []) as ReadonlyArray<Row>
  const figures = [expected, actual, difference, unexplained, explained["amount"]].map(
    Decimals.figureOf
  )
  const [from, to, between, left, explains] = figures
  const parts = items.map(({ amount }) => Decimals.figureOf(amount))
  return {
    isDifferenceSame:
      from == null || to == null || between == null
        ? null
        : Decimals.same(Decimals.less(to, from), between),
    isUnexplainedSame:
      between == null || left == null || explains == null
        ? null
        : Decimals.same(Decimals.less(between, explains), left),
    isExplainedSame:
      explains == null || parts.some((part) => part === null)
        ? null
        : Decimals.same(Decimals.sum(parts.filter((part) => part !== null)), explains)
  }
}

/** At which moment the figures stand, as a sentence. */
export const momentOf = ({ comparedAt }: Row): string =>
  comparedAt === null || comparedAt === undefined
    ? "The figures are those of the run's own moment."
    : "The figures are those of the statement's moment, which is another than the run's."

/** What a person can do of a finding, one sentence each, the nearest first. */
export const nextOf = (finding: Row): ReadonlyArray<string> => {
  const { check, holdId, severity, state } = finding
  if (state === "cleared") return ["Nothing: a later run no longer found the difference."]
  if (state === "accepted")
    return ["Nothing: the difference is accepted, and opens again where it grows or turns."]
  const cure = cureOf(String(check))
  return [
    ...(cure === null ? [] : [cure]),
    typeof holdId === "string"
      ? "To go on without the cure, release its hold and accept this finding there, with a reason; two approvers sign."
      : severity === "blocking"
        ? "No hold is open for it."
        : "It blocks nothing."
  ]
}
