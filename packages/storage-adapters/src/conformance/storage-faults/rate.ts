/** Faults of rate windows. */
import { RateWindow } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { type Fault, replace } from "./Fault.ts"

export const faults = {
  "budget-forgotten": {
    does: "forgets who still owes",
    noticedBy: ["forgets whose budget has long been whole"],
    spoil: replace(RateWindow, ({ forget }) => ({
      forget: ({ limit }) => forget({ idle: -1_000_000_000, limit })
    }))
  },
  "budgets-kept": {
    does: "forgets no subject",
    noticedBy: ["forgets whose budget has long been whole"],
    spoil: replace(RateWindow, () => ({ forget: () => Effect.succeed(0) }))
  },
  "budgets-forgotten-beyond-the-limit": {
    does: "forgets more subjects than the limit",
    noticedBy: ["forgets whose budget has long been whole"],
    spoil: replace(RateWindow, ({ forget }) => ({
      forget: ({ idle }) => forget({ idle, limit: 1000 })
    }))
  },
  "refusal-charged": {
    does: "charges a refused call",
    noticedBy: ["charges nothing for a refusal"],
    spoil: replace(RateWindow, ({ take }) => {
      const owed = new Map<string, number>()
      return {
        take: (request) =>
          Effect.map(
            take({ ...request, cost: request.cost + (owed.get(request.subject) ?? 0) }),
            (answer) => {
              if (!answer.admitted) owed.set(request.subject, request.cost)
              return answer
            }
          )
      }
    })
  },
  "no-limit": {
    does: "admits every call",
    noticedBy: ["admits exactly the budget", "counts a call although"],
    spoil: replace(RateWindow, ({ take }) => ({
      take: (request) => Effect.map(take(request), (answer) => ({ ...answer, admitted: true }))
    }))
  }
} satisfies Record<string, Fault>
