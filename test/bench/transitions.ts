/** A step of a subscription: our decide and evolve, and the bare table, against XState's transition. */
import { Machine } from "@bursar/engine-core"
import { Effect } from "effect"
import { createMachine, initialTransition, transition } from "xstate"
import { SubscriptionMachine } from "#core/orders/subscription/Subscription.ts"
import { type Bench, computing, inTurns } from "./measure.ts"

type State = Machine.State<typeof SubscriptionMachine>
type Trigger = Machine.TriggerOf<typeof SubscriptionMachine>

/** claimed → priced → delivered → closed, as often as asked. */
const path: ReadonlyArray<Trigger> = ["price", "deliver", "settle"]

/** The same states and moves, read off our table, as an XState machine. */
const theirs = createMachine({
  id: "subscription",
  initial: SubscriptionMachine.initial,
  states: Object.fromEntries(
    Object.entries(SubscriptionMachine.moves).map(([state, moves]) => [
      state,
      { on: Object.fromEntries(Object.entries(moves).map(([on, to]) => [on, { target: to }])) }
    ])
  )
})

const ours = (times: number): State => {
  let state: State = "claimed"
  for (let i = 0; i < times; i++) {
    if (i % path.length === 0) state = "claimed"
    const on = path[i % path.length] ?? "price"
    const admitted = Machine.admit(SubscriptionMachine, { state }, on)
    if (admitted._tag === "Failure") throw new Error("the path leaves the table")
    state = Machine.follow(SubscriptionMachine, state, on)
  }
  return state
}

const [start] = initialTransition(theirs)
const events = path.map((type) => ({ type }))

const bound = (times: number): unknown => {
  let snapshot = start
  for (let i = 0; i < times; i++) {
    if (i % path.length === 0) snapshot = start
    const event = events[i % path.length]
    if (event === undefined) throw new Error("the path is empty")
    snapshot = transition(theirs, snapshot, event)[0]
  }
  return snapshot
}

export const bench: Bench = async ({ rounds }) => [
  {
    bench: "transitions",
    unit: "transitions/s",
    against: "xstate transition()",
    goal: null,
    note: "admit and follow on the subscription machine's own table",
    ...(await Effect.runPromise(
      inTurns({ rounds, ours: computing(ours), bound: computing(bound) })
    ))
  }
]
