/** Judged states of a distribution's roll: how many of its delivered lines are rolled. */
import * as Judged from "../../kernel/Judged.ts"

export interface Subject {
  /** Number of lines that are delivered and not rolled. */
  readonly delivered: number
  readonly rolled: number
}

export const DistributionRoll = Judged.declare<Subject>()("DistributionRollState", {
  doc: "How many of a distribution's delivered lines are rolled.",
  states: {
    waiting: "No line is delivered.",
    ready: "Lines are delivered, none is rolled.",
    partial: "Some of the delivered lines are rolled.",
    rolled: "All delivered lines are rolled."
  },
  judge: ({ delivered, rolled }) => {
    if (rolled === 0) return delivered === 0 ? "waiting" : "ready"
    return delivered === 0 ? "rolled" : "partial"
  }
})
