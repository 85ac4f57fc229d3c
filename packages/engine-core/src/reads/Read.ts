/** Declaration of a read: route, audience and sight, parameters, answer. */
import type { Effect, Schema } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type * as Instant from "../kernel/Instant.ts"
import type * as Pin from "../kernel/Pin.ts"
import type * as Party from "../kernel/Party.ts"
import type { Refused, Slug, Unavailable } from "../kernel/Refusal.ts"
import type { Crypto } from "../ports/Crypto.ts"
import type { Range, Records, Stored } from "../records/Records.ts"
import type { ResourceKind } from "../vocabulary/ResourceKind.ts"
import type { Role } from "../vocabulary/Role.ts"
import type { Caller } from "../writes/Caller.ts"
import type { Export } from "./Export.ts"

export type ReadRoute = `GET /v1/${string}`

/**
 * How much a role sees: everything, what is its own (an investor's holder, an app's operations),
 * what is near (a registrar's instruments), or a redacted view (the monitor).
 */
export type Sight = "all" | "own" | "near" | "redacted"
export type Audience = { readonly [R in Role]?: Sight }

/** Who asks and at which point; every clock state is judged at `pin.judgedAt`. */
export interface Asking {
  readonly caller: Caller
  /** The role the read is answered under: the first of the audience that the caller holds. */
  readonly role: Role
  readonly sight: Sight
  /** The party the engine acts as, and would act as. */
  readonly venue: Party.Party
  readonly pin: Pin.Resolved
  readonly now: Instant.Instant
}

/** Who asks, before it is known at which point. */
export type Who = Omit<Asking, "pin">

/** Filter columns that must hold for a caller who does not see everything. */
export type Scope = Readonly<Record<string, ReadonlyArray<string>>>

interface Declared {
  /** `instruments.list`: the group and the member of the typed client. */
  readonly name: `${string}.${string}`
  readonly doc: string
  readonly route: ReadRoute
  readonly audience: Audience
  /** Present where each answer is logged in the audit log: the record that its path names. */
  readonly audited?: { readonly resourceKind: ResourceKind; readonly named: string }
  /** Whether it takes at and asOf and answers with the ledger time; else its offset is 0. */
  readonly pinned: boolean
}

/** Ranges of filter columns: from ≤ value < to, as texts that sort as what they stand for. */
export type Ranges = Readonly<Record<string, Range>>

/** The answer is one value. */
export interface One<P = unknown, V = unknown, S extends Slug = Slug> extends Declared {
  readonly shape: "one"
  /** Path parameters and query parameters in one struct of texts. */
  readonly params: Schema.Codec<P, unknown>
  readonly value: Schema.Codec<V, unknown>
  readonly refuses: ReadonlyArray<S>
  /** Whole seconds after which asking again makes sense, where what is answered may still move. */
  lookAgain?(value: V, now: Instant.Instant): number | null
  /** Present where the answer can be exported as a table. */
  readonly csv?: Export<NoInfer<P>, NoInfer<V>>
  run(params: P, asking: Asking): Effect.Effect<V, Refused<S> | Unavailable, Records | Crypto>
}

/** The answer is a page of a collection's records, or all of them. */
export interface List<R = unknown, F = unknown, P = unknown, V = unknown> extends Declared {
  readonly shape: "list"
  readonly collection: Collection<R, F>
  /**
   * Further collections whose records stand in the same list, in one order with the first one's: they
   * have its filter columns, and no two of them share a sort key.
   */
  readonly beside?: ReadonlyArray<Collection<R, F>>
  readonly params: Schema.Codec<P, unknown>
  readonly item: Schema.Codec<V, unknown>
  /** The order by the collection's sort key, said in words in the docs. */
  readonly direction: "asc" | "desc"
  readonly order: string
  /** Whether it takes updatedFrom and updatedTo. */
  readonly changes: boolean
  /** Said where no write acts on a record of the list, so that none of them ever awaits an action. */
  readonly acted?: "never"
  /** The record that the path names: refuses when there is none, or none in this caller's sight. */
  parent?(
    params: P,
    asking: Asking
  ): Effect.Effect<void, Refused<"not-found"> | Unavailable, Records>
  /** The filter columns that the parameters ask for, as of the instant time is judged at. */
  where(params: P): Scope
  /** The ranges of filter columns that the parameters ask for. */
  ranges?(params: P): Ranges
  /** Ranges of filter columns that follow from the instant at which the read judges what time does. */
  judged?(judgedAt: Instant.Instant): Ranges
  /** Filter columns that follow from records as they stand at the point of the read. */
  narrow?(params: P, asking: Asking): Effect.Effect<Scope, Unavailable, Records>
  /**
   * The filter columns that must hold for this caller; absent: everybody sees everything. It is
   * asked before the point is looked at: what is not one's own is denied first.
   */
  scope?(
    who: Who,
    params: P
  ): Effect.Effect<Scope, Refused<"permission-denied"> | Unavailable, Records>
  /** What a page's records look like to the caller, in the same order; one look-up for all. */
  view(
    records: ReadonlyArray<Stored<R>>,
    asking: Asking,
    params: P
  ): Effect.Effect<ReadonlyArray<V>, Unavailable, Records>
}

export type Read = One | List

/** A read keeps its name as a type, so that a client finds it by it. */
type Named<N> = { readonly name: N }

export const one = <P, V, const S extends Slug, const N extends Declared["name"]>(
  of: Omit<One<P, V, S>, "shape" | "name"> & Named<N>
): One<P, V, S> & Named<N> => ({ shape: "one", ...of })

export const list = <R, F, P, V, const N extends Declared["name"]>(
  of: Omit<List<R, F, P, V>, "shape" | "name"> & Named<N>
): List<R, F, P, V> & Named<N> => ({ shape: "list", ...of })
