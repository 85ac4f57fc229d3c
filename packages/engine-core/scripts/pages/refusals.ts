/** Every way to say no, and the order in which the gates say it. */
import { gates, refusals } from "../../src/kernel/Refusal.ts"
import { code, type Page, page, table } from "./page.ts"

export const refusalPage = (): Page =>
  page(
    "refusals.md",
    "# Refusals",
    "A refusal is a problem whose type ends in its slug. Retryable: the same call may succeed later without change.",
    table(
      ["Slug", "Status", "Retryable", "Title"],
      Object.entries(refusals).map(([slug, { retryable, status, title }]) => [
        code(slug),
        `${status}`,
        retryable ? "yes" : "no",
        title
      ])
    ),
    "## Gates",
    "A business rule names the gate that refused. The gates are asked in this order, and the first that refuses is the answer; a precheck shows them all. [Conditions](conditions.md) lists what each gate asks for.",
    gates.map((gate, place) => `${place + 1}. ${code(gate)}`).join("\n")
  )
