/** Given-when-then helper for tests of machines: record, command, fact or refusal. */
import { Result } from "effect"
import { expect } from "vitest"
import * as Machine from "../kernel/Machine.ts"
import type { Refused, Slug, RefusalDetails } from "../kernel/Refusal.ts"

/** The two functions of a machine: `decide` turns a command into a fact, `evolve` applies a fact. */
export interface Decider<R, C, F, S extends Slug> {
  readonly decide: (self: R, command: C) => Result.Result<F, Refused<S>>
  readonly evolve: (self: R, fact: F) => R
}

/** Expectations of a decision: the facts it appends, or its refusal. */
export interface Then<R, F, S extends Slug> {
  /** The command is admitted and makes exactly this fact true. */
  readonly thenFact: (fact: F) => void
  /** The command is admitted, and the record it leaves has these members. */
  readonly thenRecord: (members: Partial<R>) => void
  /** The command is refused, first with this slug; `details` holds members that the refusal must have. */
  readonly thenRefused: (slug: S, details?: RefusalDetails) => void
}

/** Applies facts to a record; `when` decides a command on it, and expects a fact, record or refusal. */
export const given =
  <R, C, F, S extends Slug>(decider: Decider<R, C, F, S>) =>
  (record: R, ...facts: ReadonlyArray<F>) => {
    const self = facts.reduce(decider.evolve, record)
    return {
      when: (command: C): Then<R, F, S> => {
        const decided = decider.decide(self, command)
        return {
          thenFact: (fact) => expect(outcome(decided)).toEqual({ makes: fact }),
          thenRecord: (members) =>
            expect(
              outcome(Result.map(decided, (fact) => decider.evolve(self, fact)))
            ).toMatchObject({ makes: members }),
          thenRefused: (slug, details = {}) =>
            expect(outcome(decided)).toMatchObject({ refused: { slug, details } })
        }
      }
    }
  }

/** A plain object, so that a failing test prints what was made, or why it was refused. */
const outcome = <A, S extends Slug>(result: Result.Result<A, Refused<S>>) =>
  Result.isSuccess(result) ? { makes: result.success } : { refused: result.failure }

/** Given a state, when a trigger of the machine is pulled, then expects a state or a refusal. */
export const givenState = <S extends string, T extends string>(
  machine: Machine.Machine<S, T>,
  state: S
) => ({
  when: (on: T) => {
    const admitted = Machine.admit(machine, { state }, on)
    return {
      thenState: (to: S): void =>
        expect(outcome(Result.map(admitted, () => Machine.follow(machine, state, on)))).toEqual({
          makes: to
        }),
      thenRefused: (): void =>
        expect(outcome(admitted)).toMatchObject({
          refused: { slug: "state-conflict", details: { check: machine.name } }
        })
    }
  }
})
