/**
 * Scopes of reads of holders' records: an investor reads its own, a registrar those of its
 * instruments.
 */
import { Effect } from "effect"
import { refused } from "../../kernel/Refusal.ts"
import type { ReadContext, Scope, ReadCaller } from "../../reads/Read.ts"

/** Columns that restrict a list of holders' records to those the caller may read. */
export const scope = ({ caller, sight }: ReadCaller) => {
  if (sight === "own") return scoped("holderId", caller.holderId)
  if (sight === "near") return scoped("registrar", caller.party)
  return Effect.succeed<Scope>({})
}

/**
 * `scope` of a list that filters by holder: refuses `permission-denied` where an investor names
 * another holder.
 */
export const scopeNaming = (who: ReadCaller, holderIds: ReadonlyArray<string> | undefined) =>
  who.sight === "own" && holderIds?.some((id) => id !== who.caller.holderId) === true
    ? Effect.fail(
        refused("permission-denied", { detail: "An investor asks for its own holder's records." })
      )
    : scope(who)

/**
 * `scope` of a list without a column of holders: refuses `permission-denied` to an investor whose
 * sign-in names no holder, and restricts no other caller.
 */
export const scopeElsewhere = ({ caller, sight }: ReadCaller) =>
  sight === "own" && caller.holderId === null ? unnamed : Effect.succeed<Scope>({})

const scoped = (column: string, claim: string | null) =>
  claim === null ? unnamed : Effect.succeed<Scope>({ [column]: [claim] })

const unnamed = Effect.fail(
  refused("permission-denied", { detail: "The sign-in does not say whose records these are." })
)

/**
 * Refuses `not-found` for a record outside the caller's scope, as for one that does not exist. A sight
 * of everything reads nothing of the caller, so that an answer can be cached for all of the role.
 */
export const demand = (
  asking: ReadContext,
  collection: { readonly name: string },
  { holderId, registrar }: { readonly holderId?: string; readonly registrar?: string }
) => {
  const isSeen =
    asking.sight === "all" ||
    (asking.sight === "own" &&
      asking.caller.holderId !== null &&
      asking.caller.holderId === holderId) ||
    (asking.sight === "near" && asking.caller.party !== null && asking.caller.party === registrar)
  return isSeen
    ? Effect.void
    : Effect.fail(refused("not-found", { detail: `There is no such ${collection.name}.` }))
}
