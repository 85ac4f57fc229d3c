/** A set of states that is not stored but judged: a pure function of a record and an instant. */
import { Record, type Schema } from "effect"
import * as ValueSet from "../vocabulary/ValueSet.ts"

/** Set of states that are computed of a subject as of a read, and are not stored. */
export interface JudgedState<S extends string = string, Subject = never> {
  readonly kind: "judged"
  readonly name: string
  readonly doc: string
  readonly states: Readonly<Record<S, string>>
  /** The state of a subject; a pinned read gives its pin's instant in the subject. */
  readonly judge: (subject: Subject) => S
  readonly schema: Schema.Literals<ReadonlyArray<S>>
}

/** A judged set of any subject, as the catalogue lists it. */
export type AnyJudged = Omit<JudgedState, "judge">

/**
 * Declares a judged set. Its states depend on the subject alone, which includes the instant; no
 * clock is read.
 */
export const declare =
  <Subject>() =>
  <const S extends string>(
    name: string,
    table: {
      readonly doc: string
      readonly states: Readonly<Record<S, string>>
      readonly judge: (subject: Subject) => NoInfer<S>
    }
  ): JudgedState<S, Subject> => ({
    kind: "judged",
    name,
    ...table,
    schema: ValueSet.schemaOf({
      name,
      doc: table.doc,
      members: Record.keys(table.states) as ReadonlyArray<S>,
      growth: "extensible"
    })
  })
