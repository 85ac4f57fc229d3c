/** Types of the catalogue's writes, by their kind: body, result and refusals. */
import type { DeclaredOperation } from "../catalogue.ts"
import type { ProgramInput } from "../kernel/ProgramInput.ts"
import type * as CallRefusals from "../writes/CallRefusals.ts"
import type { WriteAnswer } from "../writes/WriteAnswer.ts"

/** Kinds of write that a person or a program makes. */
export type WriteKind = DeclaredOperation["kind"]

/** The declared write of a kind. */
type DeclaredOf<K extends WriteKind> = Extract<DeclaredOperation, { readonly kind: K }>

/**
 * Body of a write: the ids of its path, the members of its body and the one that If-Match fills, in
 * one object. Members with a default are optional; a decimal is text or a Decimal.
 */
export type WriteBody<K extends WriteKind> = ProgramInput<
  DeclaredOf<K>["input"]["Type"],
  DeclaredOf<K>["input"]["Encoded"]
>

/** Result of a write that succeeded, such as the view of the record that it made. */
export type WriteResult<K extends WriteKind> = DeclaredOf<K>["result"]["Type"]

/** Slugs by which a write of a kind can be refused: at its call, at an approval, and as it ends. */
export type RefusalOf<K extends WriteKind> = CallRefusals.SlugOf<DeclaredOf<K>>

/** Conditions of a kind: one of them is the `check` of a refusal by a business rule. */
export type ConditionOf<K extends WriteKind> = CallRefusals.ConditionOf<K>

/** A write as it stands: an operation, or an action that awaits its approvers. */
export type Action<K extends WriteKind = WriteKind> = Omit<WriteAnswer, "kind" | "result"> & {
  readonly kind: K
  /** Result of the write; null until it has succeeded. */
  readonly result: WriteResult<K> | null
}

/** A write that has succeeded. */
export type SucceededAction<K extends WriteKind = WriteKind> = Omit<
  Action<K>,
  "state" | "result"
> & {
  readonly state: "succeeded"
  readonly result: WriteResult<K>
}
