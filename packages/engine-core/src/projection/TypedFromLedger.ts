/** Facts from the ledger, typed: payload, choice arguments and results decoded by the template. */
import { Effect, Result } from "effect"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Created, Exercised, LfRecord } from "../ports/Ledger.ts"
import type { Records } from "../records/Records.ts"
import {
  type Argument,
  type ChoiceName,
  decodeArgument,
  decodePayload,
  decodeResult,
  key,
  type Outcome,
  type Payload,
  type Template
} from "../templates/Template.ts"
import type { Node, FromLedger, Whole } from "./FromLedger.ts"
import * as Unexpected from "./Unexpected.ts"

/** An exercise, decoded: the contract's payload, and the choice's argument and result. */
export interface ChoiceExercise<T extends Template, K extends ChoiceName<T>> {
  readonly payload: Payload<T>
  readonly argument: Argument<T, K>
  readonly result: Outcome<T, K>
}

type Read = Effect.Effect<void, Unavailable, Records>

interface Of<T extends Template> {
  created?(payload: Payload<T>, node: Node, event: Created): Read
  readonly exercised?: {
    readonly [K in ChoiceName<T>]?: (choosing: ChoiceExercise<T, K>, node: Node) => Read
  }
  /** After every other node of the update: see `FromLedger`. */
  readonly concluded?: {
    readonly [K in ChoiceName<T>]?: (choosing: ChoiceExercise<T, K>, node: Node) => Read
  }
}

/**
 * A contract that does not decode, names another venue, or ends by no choice of its template is
 * kept as a breach: an outside party wrote it, so it must neither move a record nor stop the
 * projection.
 */
export const of = <T extends Template>(template: T, on: Of<T>): FromLedger => ({
  template: template.typeRef,
  created: (payload, node, event) => {
    if (!isOurs(payload, node)) return unread(template, node, "it is another venue's")
    return Result.match(decodePayload(template, payload), {
      onFailure: (error) => unread(template, node, error.message),
      onSuccess: (typed) => on.created?.(typed, node, event) ?? Effect.void
    })
  },
  exercised: (choice, payload, node, event) =>
    isOurs(payload, node)
      ? chosen(template, on.exercised, { choice, payload, node, event })
      : Effect.void,
  // A payload that does not decode was kept as a breach when the node itself was read.
  ...(on.concluded === undefined
    ? {}
    : {
        concluded: (choice, payload, node, event) =>
          isOurs(payload, node) && isChoice(template, choice)
            ? typed(template, on.concluded, { choice, payload, node, event }, () => Effect.void)
            : Effect.void
      })
})

/** A contract that an update created, decoded, and its node. */
interface MadeContract<T extends Template> {
  readonly payload: Payload<T>
  readonly node: Node
}

/**
 * Finds the contracts of a template that an update created, for facts that follow from the whole of
 * it. Contracts that do not decode or name another venue are left out: `of` has kept them as breaches.
 */
export const madeIn = <T extends Template>(
  template: T,
  update: Whole
): ReadonlyArray<MadeContract<T>> =>
  update.events.flatMap((event) => {
    if (event._tag !== "Created" || key(event.template) !== key(template.typeRef)) return []
    const { contractId, nodeId, payload } = event
    if (!isOurs(payload, update)) return []
    return Result.match(decodePayload(template, payload), {
      onFailure: () => [],
      onSuccess: (typed) => [{ payload: typed, node: { ...update, contractId, nodeId } }]
    })
  })

/**
 * Checks whether a contract names this venue; other parties may create contracts that name another
 * venue.
 */
const isOurs = (payload: LfRecord, node: Pick<Node, "venue">): boolean =>
  payload.venue === undefined || payload.venue === node.venue

interface Exercise {
  readonly choice: string
  readonly payload: LfRecord
  readonly node: Node
  readonly event: Exercised
}

const chosen = <T extends Template>(
  template: T,
  on: Of<T>["exercised"],
  { choice, payload, node, event }: Exercise
): Read => {
  if (!isChoice(template, choice)) {
    return event.consuming ? unread(template, node, `it was ended by ${choice}`) : Effect.void
  }
  return typed(template, on, { choice, payload, node, event }, (why) => unread(template, node, why))
}

const typed = <T extends Template, K extends ChoiceName<T>>(
  template: T,
  on: Of<T>["exercised"],
  { choice, payload, node, event }: Exercise & { readonly choice: K },
  broken: (why: string) => Read
): Read => {
  const read = on?.[choice]
  if (read === undefined) return Effect.void
  const choosing = Result.gen(function* () {
    return {
      payload: yield* decodePayload(template, payload),
      argument: yield* decodeArgument(template, choice, event.arg),
      result: yield* decodeResult(template, choice, event.result)
    }
  })
  return Result.match(choosing, {
    onFailure: (error) => broken(error.message),
    onSuccess: (found) => read(found, node)
  })
}

const isChoice = <T extends Template>(template: T, choice: string): choice is ChoiceName<T> =>
  Object.hasOwn(template.choices, choice)

/** Longest decoder message that is kept. */
const detailMax = 500

const unread = (template: Template, node: Node, why: string): Read =>
  Unexpected.keep(node, {
    resourceKind: "contract",
    resourceId: node.contractId,
    on: "read",
    detail: `${key(template.typeRef)}: ${why}`.slice(0, detailMax)
  })
