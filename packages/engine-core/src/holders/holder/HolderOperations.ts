/** Write of a holder: register. */
import { Effect } from "effect"
import * as Operation from "../../writes/Operation.ts"
import { sentence } from "../../writes/Summary.ts"
import * as HolderView from "./HolderView.ts"
import {
  completed,
  described,
  invite,
  judge,
  Registration,
  resource,
  shownResult
} from "./RegistrationSteps.ts"

export const register = Operation.defineOnLedger("holder.register", {
  doc: "Registers a holder: its party is invited, and accepts from its own wallet.",
  summary: (_, { resource }) => sentence`Registers holder ${resource.id}.`,
  route: "POST /v1/holders",
  makers: ["operator", "app"],
  approvers: 0,
  resource,
  input: Registration,
  complete: (input, makeId) => completed(input, makeId),
  result: HolderView.HolderView,
  shownResult,
  refuses: ["already-exists", "rule-refused"],
  plan: Effect.fn("holder.register.plan")(function* (input, act) {
    yield* judge(input, act)
    return { commands: [yield* invite(input, [], act)], last: true }
  }),
  finish: (input, act) => described(input, [], act)
})

export const operations = [register] as const
