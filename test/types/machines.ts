/** Type errors that a machine must cause; checked by `npm run types`, never run. */
import type { DealingCycleMachine } from "#core/orders/dealing-cycle/DealingCycle.ts"
import type {
  SubscriptionMachine,
  SubscriptionOrder
} from "#core/orders/subscription/Subscription.ts"
import { announcing } from "#core/records/EventDeclaration.ts"
import { approvalEvents } from "#core/writes/Approval.ts"
import * as Judged from "#core/kernel/Judged.ts"
import * as Machine from "#core/kernel/Machine.ts"
import type { EventType, OperationKind } from "#core/vocabulary/index.ts"

type Same<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false
const holds = <_T extends true>(): void => {}

const states = { open: "Open.", shut: "Shut." }
const triggers = { shut: { by: ["run"] } } as const
const opens = { by: ["clock"] } as const

// A machine that is whole.
Machine.declare("Door", {
  doc: "A door.",
  states,
  triggers,
  opens,
  initial: "open",
  moves: { open: { shut: "shut" }, shut: {} }
})

Machine.declare("Door", {
  doc: "A state with no row in moves.",
  states,
  triggers,
  opens,
  initial: "open",
  // @ts-expect-error the row of shut is missing
  moves: { open: { shut: "shut" } }
})

Machine.declare("Door", {
  doc: "A move to a state there is not.",
  states,
  triggers,
  opens,
  initial: "open",
  // @ts-expect-error there is no state ajar
  moves: { open: { shut: "ajar" }, shut: {} }
})

Machine.declare("Door", {
  doc: "A move by a trigger there is not.",
  states,
  triggers,
  opens,
  initial: "open",
  // @ts-expect-error there is no trigger knock
  moves: { open: { shut: "shut", knock: "shut" }, shut: {} }
})

Machine.declare("Door", {
  doc: "A row of a state there is not.",
  states,
  triggers,
  opens,
  initial: "open",
  // @ts-expect-error there is no state ajar
  moves: { open: { shut: "shut" }, shut: {}, ajar: {} }
})

Machine.declare("Door", {
  doc: "An initial state there is not.",
  states,
  triggers,
  opens,
  // @ts-expect-error there is no state ajar
  initial: "ajar",
  moves: { open: { shut: "shut" }, shut: {} }
})

Machine.declare("Door", {
  doc: "A trigger pulled by nobody the engine knows.",
  states,
  // @ts-expect-error no operation kind is called so
  triggers: { shut: { by: ["door.shut"] } },
  opens,
  initial: "open",
  moves: { open: { shut: "shut" }, shut: {} }
})

Machine.declare("Door", {
  doc: "An announcement of an event there is not.",
  states,
  // @ts-expect-error no event type is called so
  triggers: { shut: { by: ["run"], announces: ["door.shut"] } },
  opens,
  initial: "open",
  moves: { open: { shut: "shut" }, shut: {} }
})

Judged.declare<number>()("Sign", {
  doc: "A judge that gives a state there is not.",
  states: { plus: "Above.", minus: "Below." },
  // @ts-expect-error there is no state zero
  judge: (n) => (n === 0 ? "zero" : n > 0 ? "plus" : "minus")
})

// The states that answer to a trigger, and what a record in one can be asked, exactly.
holds<Same<Machine.From<typeof SubscriptionMachine, "deliver">, "priced">>()
// @ts-expect-error nobody delivers what is only claimed
holds<Same<Machine.From<typeof SubscriptionMachine, "deliver">, "priced" | "claimed">>()
holds<Same<Machine.From<typeof DealingCycleMachine, "settle">, "open">>()
holds<Same<Machine.State<typeof DealingCycleMachine>, "open" | "ended">>()
holds<Same<Machine.TriggerOf<typeof DealingCycleMachine>, "settle" | "release">>()
holds<Same<ReturnType<(typeof SubscriptionOrder)["judge"]> extends string ? true : false, true>>()

// An event's payload follows from its type.
const makeEvent = announcing(approvalEvents)
makeEvent("approval.requested", {
  state: "awaiting",
  kind: "reserve.propose",
  makerRole: "operator"
})
// @ts-expect-error the maker's role is missing
makeEvent("approval.requested", { state: "awaiting", kind: "reserve.propose" })
makeEvent("approval.requested", {
  // @ts-expect-error an action is never in this state
  state: "priced",
  kind: "reserve.propose",
  makerRole: "operator"
})
// @ts-expect-error no event is called so
makeEvent("approval.forgotten", {})

// @ts-expect-error not an operation kind
export const kind: OperationKind = "subscription.cancel"
// @ts-expect-error not an event type
export const type: EventType = "subscription.cancelled"
