/**
 * Scope of reads of holders: an investor reads its own holder, a registrar those of its
 * instruments.
 */
import { Effect } from "effect"
import { refused } from "../../kernel/Refusal.ts"
import type { Asking, Scope, Who } from "../../reads/Read.ts"

/** The columns that must hold for this caller in a list of holders' records. */
export const scope = ({ caller, sight }: Who) => {
  if (sight === "own") return scoped("holderId", caller.holderId)
  if (sight === "near") return scoped("registrar", caller.party)
  return Effect.succeed<Scope>({})
}

/** The same where a filter may name holders: naming another's is denied, not answered with nothing. */
export const scopeNaming = (who: Who, holderIds: ReadonlyArray<string> | undefined) =>
  who.sight === "own" && holderIds?.some((id) => id !== who.caller.holderId) === true
    ? Effect.fail(
        refused("permission-denied", { detail: "An investor asks for its own holder's records." })
      )
    : scope(who)

/**
 * The same where it is not a column that says whose a record is: an investor whose sign-in names no
 * holder is denied, and everybody else is asked nothing more here.
 */
export const scopeElsewhere = ({ caller, sight }: Who) =>
  sight === "own" && caller.holderId === null ? unnamed : Effect.succeed<Scope>({})

const scoped = (column: string, claim: string | null) =>
  claim === null ? unnamed : Effect.succeed<Scope>({ [column]: [claim] })

const unnamed = Effect.fail(
  refused("permission-denied", { detail: "The sign-in does not say whose records these are." })
)

/** A record outside the caller's scope is answered exactly as one that does not exist. */
export const demand = (
  { caller, sight }: Asking,
  collection: { readonly name: string },
  of: { readonly holderId: string; readonly registrar?: string }
) => {
  const isSeen =
    sight === "all" ||
    (sight === "own" && caller.holderId === of.holderId) ||
    (sight === "near" && caller.party !== null && caller.party === of.registrar)
  return isSeen
    ? Effect.void
    : Effect.fail(refused("not-found", { detail: `There is no such ${collection.name}.` }))
}
