/**
 * Harness that a ledger adapter gives its conformance suite: the venue's port, and sessions of
 * outside parties.
 */
import type { Offset, Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Context } from "effect"
import type { Effect, Stream } from "effect"

/** Session of an outside party, authorized by its own token. */
export interface Session {
  readonly party: Party.Party
  readonly submit: (
    submission: Ledger.Submission & {
      /** Parties to act as; the session's own party by default. */
      readonly actAs?: ReadonlyArray<Party.Party>
    }
  ) => Effect.Effect<Ledger.Receipt, Ledger.SubmitError>
  readonly updates: (query: Ledger.UpdatesQuery) => Stream.Stream<Ledger.Update, Ledger.ReadError>
  readonly acs: (query: Ledger.ActiveQuery) => Stream.Stream<Ledger.Active, Ledger.ReadError>
}

/** Faults that the suite injects; each counts submissions from its injection. */
export type Mishap =
  | { readonly _tag: "DropBeforeCommit" }
  | { readonly _tag: "DropAfterCommit" }
  | { readonly _tag: "Contention" }
  | { readonly _tag: "Skew" }
  | { readonly _tag: "ParticipantChange" }
  | { readonly _tag: "None" }

/** Ledger under test: its port, and parties with sessions of their own. */
export class LedgerUnderTest extends Context.Service<
  LedgerUnderTest,
  {
    /** The port, bound to the venue. */
    readonly venue: Ledger.Ledger["Service"]
    /** Adds a local party and opens its session, which may also act as the further parties. */
    readonly party: (hint: string, further?: ReadonlyArray<Party.Party>) => Effect.Effect<Session>
    readonly prune: (upTo: Offset.Offset) => Effect.Effect<void>
    readonly plant: (mishap: Mishap) => Effect.Effect<void>
  }
>()("@bursar/storage-adapters/conformance/LedgerUnderTest") {}

/** Optional abilities of an adapter; laws that need a missing one are skipped by name. */
export interface Supports {
  /** `prune` works. */
  readonly pruning: boolean
  /** `plant` works. */
  readonly mishaps: boolean
  /** The ledger carries the templates of LedgerProbes. */
  readonly probes: boolean
}

/** Abilities by which a law may be skipped, each with what its absence leaves unproven. */
export const absences: { readonly [ability in keyof Supports]: string } = {
  pruning: "the harness cannot prune the ledger",
  mishaps: "the harness cannot plant mishaps, such as a lost connection",
  probes: "the ledger does not carry the templates of LedgerProbes"
}

/** Parts of the suite, in the order in which an adapter is best made to keep them. */
export const lawGroups = [
  "reading",
  "atomicity",
  "authority",
  "privacy",
  "deduplication",
  "spent command ids",
  "time and horizon",
  "distributions",
  "reserves"
] as const
/** Part of the suite. */
export type LawGroup = (typeof lawGroups)[number]

/** Law of the ledger's port, as a test. */
export interface Law {
  /** Number of the law; several tests may prove one. */
  readonly id: string
  readonly group: LawGroup
  /** The promise, as a sentence. */
  readonly name: string
  /** Reliance of the engine on the law. */
  readonly proves: string
  /** Usual mistake of an adapter that breaks the law. */
  readonly mistake: string
  readonly needs?: keyof Supports
  readonly check: Effect.Effect<void, unknown, LedgerUnderTest>
}

/** Laws of one part of the suite. */
export const grouped = (
  group: LawGroup,
  laws: ReadonlyArray<Omit<Law, "group">>
): ReadonlyArray<Law> => laws.map((law) => ({ ...law, group }))
