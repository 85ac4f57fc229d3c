/** Every check of reconciliation: what it finds, by which terms, and what it needs to be able to compare. */
import * as Duration from "../../src/kernel/Duration.ts"
import { checks } from "../../src/reconciliation/checks/AllChecks.ts"
import type { Check } from "../../src/reconciliation/checks/Check.ts"
import { reconciliationChecks } from "../../src/vocabulary/ReconciliationChecks.ts"
import { isOwn } from "../../src/vocabulary/OwnWord.ts"
import { code, type Page, page, table } from "./page.ts"

/** Row of a check of the engine: of the checks of rooms the page shows none. */
const rowOf = (name: Check["name"]) => {
  if (isOwn(name)) throw new Error(`${name} is no check of the engine`)
  return reconciliationChecks[name]
}

const severityOf = ({ name, severity }: Check): string =>
  severity ?? rowOf(name).severities.join(", ")

const toleranceOf = ({ derives, fractionOf, name }: Check): string => {
  const { tolerance } = rowOf(name)
  return derives ?? (fractionOf === undefined ? tolerance : `${tolerance} of ${fractionOf}`)
}

const daysOf = (grace: string): string => {
  const days = Duration.nanos(Duration.of(grace)) / Duration.NANOS_PER_DAY
  return `${days} days`
}

const graceOf = ({ name }: Check): string => {
  const { grace } = rowOf(name)
  switch (grace) {
    case null:
      return "–"
    case "endless":
      return "without end"
    case "source":
      return "that of the source"
    default:
      return daysOf(grace)
  }
}

const reasonsOf = ({ cannot }: Check): string =>
  Object.entries(cannot)
    .map(([why, sentence]) => `${code(why)}: ${sentence}`)
    .join("; ") || "–"

export const checkPage = (): Page =>
  page(
    "checks.md",
    "# Checks",
    "A reconciliation run makes these checks, in this order for each instrument; facts of the whole venue, which `projection-drift` and `policy-replay` compare, come before the instruments ([what a run does](domain/reconciliation.md#what-a-run-does)). A policy may name a tolerance for each check, and a grace time for those that have one; the table has what counts where it names none. A tolerance has no effect on `nav-movement`, `nav-usable`, `statement-overdue`, `statement-gap` and `projection-drift`, which compare no amounts of their own, nor on numbers of records. It is an amount in the unit of the finding, where the table names no fraction, and a difference equal to it is within it. The grace time of `nav-usable` is the largest age, at the claim, of a price point that was published before it and prices the order; the check itself judges by the times of the mapped feed. A difference of `register-line` or `supply-outstanding` that items in flight explain as a whole is `info`. A statement is in force until a correction replaces it; `ripcord` is the mark by which an administrator suspends the valuation.",
    table(
      ["Check", "Finds", "Severity", "Tolerance", "Grace time"],
      checks.map((check) => [
        `[${code(check.name)}](domain/reconciliation.md#${check.rule})`,
        check.doc,
        severityOf(check),
        toleranceOf(check),
        graceOf(check)
      ])
    ),
    "## What each can compare",
    "Without what it needs, a check has run and had nothing to compare (`nothing-to-compare`), but where the table says otherwise. Input that it has and cannot compare is listed by name, with the reason as `why` ([not compared](domain/reconciliation.md#not-compared)). Any check may also say `ledger-unreachable`, and `internal` where a defect ended it.",
    table(
      ["Check", "Needs", "Says where it cannot"],
      checks.map((check) => [code(check.name), check.needs, reasonsOf(check)])
    )
  )
