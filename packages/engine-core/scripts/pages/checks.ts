/** Every check that a refusal may name, by gate: what must hold, and what to do where it does not. */
import { checks } from "../../src/kernel/Checks.ts"
import { gates } from "../../src/kernel/Refusal.ts"
import { code, type Page, page, table } from "./page.ts"

const rows = Object.entries(checks)

const tableOf = (gate: string | null): ReadonlyArray<string> => {
  const own = rows.filter(([, row]) => row.gate === gate)
  return own.length === 0
    ? []
    : [
        `## ${gate === null ? "No gate" : code(gate)}`,
        table(
          ["Check", "What must hold", "Recovery"],
          own.map(([name, { recovery, sentence }]) => [code(name), sentence, recovery ?? "–"])
        )
      ]
}

export const checkPage = (): Page =>
  page(
    "checks.md",
    "# Checks",
    "A business rule is made of checks. Each belongs to a gate; the gates are asked in the order of [refusals](refusals.md#gates), and a precheck shows each check of an act. A refusal names the first check that fails as `check`, its gate as `gate`, and what to do as `recovery`: the text below, or one that names the figures of the case.",
    "The set is open: a later version of the engine may add checks. A `state-conflict` names the set of states that does not allow the act, such as `HolderState`, which is a page of [machines](machines/README.md); a precheck shows it at the gate `policy`.",
    ...[...gates, null].flatMap(tableOf)
  )
