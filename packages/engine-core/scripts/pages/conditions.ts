/** Every condition that a refusal may name, by gate: what must hold, and what to do where it does not. */
import { conditions } from "../../src/kernel/Conditions.ts"
import { gates } from "../../src/kernel/Refusal.ts"
import { code, type Page, page, table } from "./page.ts"

const rows = Object.entries(conditions)

const tableOf = (gate: string | null): ReadonlyArray<string> => {
  const own = rows.filter(([, row]) => row.gate === gate)
  return own.length === 0
    ? []
    : [
        `## ${gate === null ? "No gate" : code(gate)}`,
        table(
          ["Condition", "What must hold", "Recovery"],
          own.map(([name, { recovery, sentence }]) => [code(name), sentence, recovery ?? "–"])
        )
      ]
}

export const conditionPage = (): Page =>
  page(
    "conditions.md",
    "# Conditions",
    "A business rule is made of conditions. Each belongs to a gate; the gates are asked in the order of [refusals](refusals.md#gates), and a precheck shows each condition of an act. A refusal names the first condition that does not hold as `check`, its gate as `gate`, and what to do as `recovery`: the text below, or one that names the figures of the case.",
    "The set is open: a later version of the engine may add conditions. A `state-conflict` names the set of states that does not allow the act, such as `HolderState`, which is a page of [machines](machines/README.md); a precheck shows it at the gate `policy`.",
    ...[...gates, null].flatMap(tableOf)
  )
