/** Laws of state machines, and their tests. */
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Machine from "../kernel/Machine.ts"
import { EventType } from "../vocabulary/EventType.ts"
import { OperationKind } from "../vocabulary/OperationKind.ts"
import { isDotted } from "../vocabulary/OwnWord.ts"

type AnyMachine = Machine.Machine

/** A law of machines: returns the states or moves that break it. */
export type Law = (machine: AnyMachine) => ReadonlyArray<string>

const statesOf = (machine: AnyMachine): ReadonlyArray<string> => Object.keys(machine.states)
const triggersOf = (machine: AnyMachine): ReadonlyArray<string> => Object.keys(machine.triggers)

/** Reads the target of a move from the table itself, without the code under test. */
const targetOf = (machine: AnyMachine, state: string, on: string): string | undefined =>
  Object.entries(machine.moves[state] ?? {}).find(([trigger]) => trigger === on)?.[1]

const nextOf = (machine: AnyMachine, state: string): ReadonlyArray<string> =>
  Object.values(machine.moves[state] ?? {}).filter((to) => to !== undefined)

const reach = (machine: AnyMachine, from: ReadonlyArray<string>): ReadonlySet<string> => {
  const reached = new Set(from)
  // Iteration of a set also visits states that are added meanwhile, so this reaches all of them.
  for (const state of reached) for (const next of nextOf(machine, state)) reached.add(next)
  return reached
}

const isEnd = (machine: AnyMachine, state: string): boolean => nextOf(machine, state).length === 0

const actors: ReadonlySet<string> = new Set([
  ...OperationKind.members,
  "ledger",
  "run",
  "clock",
  "screening",
  "worker",
  "approver",
  "maker"
])

/** The laws by their names; a name says what holds. */
export const laws: Readonly<Record<string, Law>> = {
  "every state says in a sentence what it means": (machine) =>
    Object.entries(machine.states)
      .filter(([, sentence]) => !/^[A-Z].*\.$/su.test(sentence))
      .map(([state]) => state),

  "a record opens in its initial state at least, and only in states there are": (machine) =>
    [...machine.opensIn, machine.initial].filter(
      (state) => !Object.hasOwn(machine.states, state) || !machine.opensIn.includes(machine.initial)
    ),

  "every move leads from a state there is to a state there is, by a trigger there is": (machine) =>
    Object.entries(machine.moves).flatMap(([from, row]) =>
      Object.entries(row)
        .filter(
          ([on, to]) =>
            !Object.hasOwn(machine.states, from) ||
            !Object.hasOwn(machine.triggers, on) ||
            to === undefined ||
            !Object.hasOwn(machine.states, to)
        )
        .map(([on, to]) => `${from} ${on} ${to}`)
    ),

  "every state is reached from those a record opens in": (machine) => {
    const reached = reach(machine, machine.opensIn)
    return statesOf(machine).filter((state) => !reached.has(state))
  },

  "every trigger moves a record from some state": (machine) => {
    const used = new Set(Object.values(machine.moves).flatMap((row) => Object.keys(row)))
    return triggersOf(machine).filter((on) => !used.has(on))
  },

  "every state can come to an end, unless the machine says why none does": (machine) => {
    const ends = statesOf(machine).filter((state) => isEnd(machine, state))
    if (machine.endless !== null) return ends
    return statesOf(machine).filter((state) => {
      const reached = reach(machine, [state])
      return !ends.some((end) => reached.has(end))
    })
  },

  "somebody whom the vocabulary knows pulls every trigger": (machine) =>
    Object.entries({ "(opens)": machine.opens, ...machine.triggers }).flatMap(([on, { by }]) =>
      by.length === 0
        ? [`${on}: nobody`]
        : by.filter((who) => !actors.has(who) && !isDotted(who)).map((who) => `${on}: ${who}`)
    ),

  "every announcement is an event the vocabulary knows": (machine) =>
    Object.entries({ "(opens)": machine.opens, ...machine.triggers }).flatMap(
      ([on, { announces = [] }]) =>
        announces.filter((type) => !EventType.has(type)).map((type) => `${on}: ${type}`)
    ),

  "every forward trigger is a trigger there is, and moves the record": (machine) =>
    machine.forward
      .filter((on) => !triggersOf(machine).includes(on))
      .concat(
        machine.forward.filter((on) =>
          statesOf(machine).some((state) => targetOf(machine, state, on) === state)
        )
      )
}

/** Undeclared triggers, among them names of members that every object inherits. */
const strays = ["constructor", "toString", "hasOwnProperty", "__proto__", "", "nothing"]

/** Generates sequences of triggers, mostly declared ones. */
const walks = (machine: AnyMachine): fc.Arbitrary<ReadonlyArray<string>> =>
  fc.array(
    fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...triggersOf(machine)) },
      { weight: 1, arbitrary: fc.constantFrom(...strays) }
    ),
    { maxLength: 40 }
  )

/** Marks that `follow` has thrown and returned no state. */
const thrown = Symbol("thrown")

const followed = (machine: AnyMachine, state: string, on: string): string | typeof thrown => {
  try {
    return Machine.follow(machine, state, on)
  } catch {
    return thrown
  }
}

/** Walks the machine by triggers and compares admit, allows and follow with its table; returns faults. */
export const walk = (
  machine: AnyMachine,
  from: string,
  triggers: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const faults: Array<string> = []
  let state = from
  for (const on of triggers) {
    const to = targetOf(machine, state, on)
    const step = `${state} ${on}`
    const admitted = Machine.admit(machine, { state }, on)
    if (Result.isSuccess(admitted) !== (to !== undefined)) faults.push(`${step}: admit`)
    if (Machine.allows(machine, state, on) !== (to !== undefined)) faults.push(`${step}: allows`)
    if (followed(machine, state, on) !== (to ?? thrown)) faults.push(`${step}: follow`)
    if (Result.isFailure(admitted) && admitted.failure.details.check !== machine.name) {
      faults.push(`${step}: the refusal does not name the state set`)
    }
    if (Machine.isTerminal(machine, state) !== isEnd(machine, state)) faults.push(`${step}: end`)
    state = to ?? state
  }
  return faults
}

/** Registers the tests every machine gets: its laws, and walks of any triggers in any order. */
export const machineLaws = (machine: AnyMachine): void => {
  describe(machine.name, () => {
    for (const [name, law] of Object.entries(laws)) {
      it(name, () => {
        expect(law(machine)).toEqual([])
      })
    }
    it("any triggers in any order move it as its table says, and are refused where it does not", () => {
      fc.assert(
        fc.property(fc.constantFrom(...machine.opensIn), walks(machine), (from, triggers) => {
          expect(walk(machine, from, triggers)).toEqual([])
        })
      )
    })
  })
}
