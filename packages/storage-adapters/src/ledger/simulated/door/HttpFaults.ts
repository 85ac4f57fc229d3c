/** Fault injection of the HTTP layer: counts requests and breaks their answers by plan. */
import type * as Faults from "../Faults.ts"

export interface HttpFaults {
  readonly wire: () => Faults.Wire | undefined
  /** Counts a request and returns its number, from 1; a new plan restarts the count. */
  readonly count: () => number
}

export const make = (faults: Faults.Faults): HttpFaults => {
  let plan = faults.plan()
  let counted = 0
  return {
    wire: () => faults.plan().wire,
    count: () => {
      if (faults.plan() !== plan) {
        plan = faults.plan()
        counted = 0
      }
      return ++counted
    }
  }
}

/** Fault of one request: answered, or its answer lost before or after the node acted. */
export type Fate = "answered" | "lost-before" | "lost-after"

export const fate = (wire: Faults.Wire | undefined, request: number): Fate =>
  wire?.html502?.includes(request) === true
    ? "lost-before"
    : wire?.text503?.includes(request) === true
      ? "lost-after"
      : "answered"
