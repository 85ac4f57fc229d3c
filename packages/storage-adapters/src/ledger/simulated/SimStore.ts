/**
 * Store of the simulated ledger: loaded at the start, then appended to by one process at a time.
 */
import type { Instant, Offset } from "@bursar/engine-core/kernel"
import { Data } from "effect"
import type { Effect, Option } from "effect"
import type * as Entry from "./Entry.ts"
import type * as Users from "./Users.ts"

export interface Head {
  readonly ledgerId: string
  readonly participantId: string
  /** Last offset of a commit or a rejected completion. */
  readonly offset: Offset.Offset
  /** The latest record time; the ledger's clock never falls behind it. */
  readonly clockFloor: Instant.Instant
  readonly prunedOffset: Offset.Offset
}

/** The last successful commit of a change. */
export interface LastCommit {
  readonly offset: Offset.Offset
  readonly recordTime: Instant.Instant
  readonly submissionId: string
  readonly updateId: string
}

export interface LoadedLedger {
  readonly head: Head
  readonly contracts: Iterable<Entry.Contract>
  /** By changeId, in offset order: the commits of the deduplication window. */
  readonly commits: Iterable<readonly [changeId: string, commit: LastCommit]>
  /** Offset up to which commits are forgotten, so that duplicates are not detected before it. */
  readonly forgottenOffset: Offset.Offset
}

/** The store refused the write. After `fenced` another process owns the ledger. */
export class StoreLost extends Data.TaggedError("StoreLost")<{
  readonly fenced: boolean
  readonly detail: string
}> {
  override get message(): string {
    return this.detail
  }
}

export interface Range {
  readonly after: Offset.Offset
  readonly through: Offset.Offset
  readonly limit: number
}

export interface SimStore {
  /** Acquires the ledger for this process and loads its state. MUST fence earlier owners. */
  readonly load: (since: Instant.Instant) => Effect.Effect<LoadedLedger, StoreLost>
  /** Appends the entries in order, all or none, after the head last loaded or committed. */
  readonly commit: (entries: ReadonlyArray<Entry.Entry>) => Effect.Effect<void, StoreLost>
  readonly transactions: (
    range: Range
  ) => Effect.Effect<ReadonlyArray<Entry.Transaction>, StoreLost>
  readonly transaction: (
    by: { readonly updateId: string } | { readonly offset: Offset.Offset }
  ) => Effect.Effect<Option.Option<Entry.Transaction>, StoreLost>
  readonly completions: (range: Range) => Effect.Effect<ReadonlyArray<Entry.Completion>, StoreLost>
  /** A page of the contracts active at the offset, ordered by (createdOffset, contractId). */
  readonly activeAt: (page: {
    readonly at: Offset.Offset
    readonly after: Pick<Entry.Contract, "createdOffset" | "contractId"> | null
    readonly limit: number
  }) => Effect.Effect<ReadonlyArray<Entry.Contract>, StoreLost>
  /** Finds a contract, active or archived, unless it is pruned. */
  readonly contract: (contractId: string) => Effect.Effect<Option.Option<StoredContract>, StoreLost>
  readonly prune: (upTo: Offset.Offset) => Effect.Effect<void, StoreLost>
  readonly parties: Effect.Effect<ReadonlyArray<Users.PartyRecord>, StoreLost>
  readonly putParty: (party: Users.PartyRecord) => Effect.Effect<void, StoreLost>
  readonly users: Effect.Effect<ReadonlyArray<Users.User>, StoreLost>
  readonly userByToken: (tokenHash: string) => Effect.Effect<Option.Option<Users.User>, StoreLost>
  readonly putUser: (user: Users.User) => Effect.Effect<void, StoreLost>
}

export interface StoredContract {
  readonly contract: Entry.Contract
  readonly archivedOffset: Offset.Offset | null
}
