/** Interface of the simulated node, for every party by its own token. */
import type { Instant, Offset, Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Context } from "effect"
import type { Duration, Effect, Option, Stream } from "effect"
import type * as Entry from "./Entry.ts"
import type { Faults } from "./Faults.ts"
import type { LedgerError } from "./LedgerError.ts"
import type * as Users from "./Users.ts"

/** One submission as a user makes it. */
export interface Attempt {
  readonly commandId: string
  readonly actAs: ReadonlyArray<Party.Party>
  readonly readAs: ReadonlyArray<Party.Party>
  readonly commands: ReadonlyArray<Ledger.Command>
  /** Null means the longest window. */
  readonly dedup: Ledger.Dedup | null
  /** Fresh per attempt; the caller makes it. */
  readonly submissionId: string
  readonly workflowId: string | null
  readonly disclosed: ReadonlyArray<Ledger.Disclosed>
  readonly minLedgerTime: Instant.Instant | null
  readonly traceparent: string | null
}

/** A party's filter of events; an empty one shows nothing, `wildcard` everything. */
export interface PartyFilter {
  readonly wildcard: boolean
  readonly templates: ReadonlyArray<Ledger.TypeRef>
  readonly interfaces: ReadonlyArray<{ readonly ref: Ledger.TypeRef; readonly view: boolean }>
  /** Created events come with their blob: for everything, or for the listed types. */
  readonly blobs: "all" | ReadonlyArray<Ledger.TypeRef>
}

export interface Reading {
  readonly shape: "LEDGER_EFFECTS" | "ACS_DELTA"
  readonly byParty: ReadonlyMap<Party.Party, PartyFilter>
}

/** The end of a contract as ACS_DELTA shows it. */
export interface Archived {
  readonly _tag: "Archived"
  readonly nodeId: number
  readonly contractId: string
  readonly template: Ledger.TypeRef
  readonly packageId: string
  readonly witnesses: ReadonlyArray<Party.Party>
}

export interface SeenExercised extends Ledger.Exercised {
  readonly packageId: string
}

/** An active contract with the offset that created it. */
export type SeenActive = Ledger.Active & { readonly createdOffset: Offset.Offset }

export type SeenEvent = Ledger.Created | SeenExercised | Archived

/** A transaction cut to what the readers see. */
export interface SeenTransaction extends Omit<Ledger.Transaction, "events"> {
  readonly traceparent: string | null
  readonly events: ReadonlyArray<SeenEvent>
}

export type SeenUpdate = SeenTransaction | Ledger.Checkpoint

/** A prepared transaction, as an external party's wallet shows and signs it. */
export interface Prepared {
  readonly bytes: Uint8Array
  readonly hash: Uint8Array
}

export interface Signature {
  readonly party: Party.Party
  /** The fingerprint of the key. */
  readonly signedBy: string
  /** 64 bytes, Ed25519. */
  readonly signature: Uint8Array
}

/** A new party with its token, which is shown only here. */
export interface PartyAdded {
  readonly party: Party.Party
  readonly userId: string
  readonly token: string
}

type Answer<A> = Effect.Effect<A, LedgerError>

export class Participant extends Context.Service<
  Participant,
  {
    readonly ledgerId: string
    readonly participantId: Effect.Effect<string>
    readonly synchronizerId: string
    /** 401 unless the token stands. */
    readonly authenticate: (token: string | undefined) => Answer<Users.User>
    /** Commits, or fails; 403 before anything else unless the user may act as each actAs. */
    readonly submit: (user: Users.User, attempt: Attempt) => Answer<Entry.Transaction>
    /** As `submit`, answered once it is queued; the completion has the outcome. */
    readonly submitAsync: (user: Users.User, attempt: Attempt) => Answer<void>
    readonly updates: (
      user: Users.User,
      query: {
        readonly after: Offset.Offset
        readonly through: Option.Option<Offset.Offset>
        readonly reading: Reading
      }
    ) => Stream.Stream<SeenUpdate, LedgerError>
    readonly update: (
      user: Users.User,
      query: {
        readonly by: { readonly updateId: string } | { readonly offset: Offset.Offset }
        readonly reading: Reading
      }
    ) => Answer<SeenTransaction>
    /** A committed transaction as these readers see it; None where they see no node. */
    readonly seen: (
      user: Users.User,
      query: { readonly transaction: Entry.Transaction; readonly reading: Reading }
    ) => Answer<Option.Option<SeenTransaction>>
    readonly acs: (
      user: Users.User,
      query: { readonly at: Offset.Offset; readonly reading: Reading }
    ) => Stream.Stream<SeenActive, LedgerError>
    /** Completions of this user for these parties; a tail unless `through` is given. */
    readonly completions: (
      user: Users.User,
      query: {
        readonly parties: ReadonlyArray<Party.Party>
        readonly after: Offset.Offset
        readonly through: Option.Option<Offset.Offset>
      }
    ) => Stream.Stream<Entry.Completion | Ledger.Checkpoint, LedgerError>
    /** The created event of a contract and, when it has ended, its end, as the parties see it. */
    readonly contractById: (
      user: Users.User,
      query: { readonly contractId: string; readonly reading: Reading }
    ) => Answer<{
      readonly created: Ledger.Created
      readonly createdOffset: Offset.Offset
      readonly archivedOffset: Offset.Offset | null
    }>
    readonly ledgerEnd: Effect.Effect<Offset.Offset, LedgerError>
    readonly horizon: Effect.Effect<Offset.Offset, LedgerError>
    readonly packages: Effect.Effect<
      ReadonlyArray<{ readonly name: string; readonly version: string; readonly packageId: string }>
    >
    /** Interprets for an external party and answers what its wallet must sign. */
    readonly prepare: (
      user: Users.User,
      ask: {
        readonly userId: string
        readonly commandId: string
        readonly commands: ReadonlyArray<Ledger.Command>
        readonly actAs: ReadonlyArray<Party.Party>
        readonly disclosed: ReadonlyArray<Ledger.Disclosed>
        readonly maxRecordTime: Instant.Instant | null
        readonly minLedgerTime: Instant.Instant | null
      }
    ) => Answer<Prepared>
    /** Runs what was prepared, on the signatures of every party it acts as. */
    readonly execute: (
      user: Users.User,
      ask: {
        readonly prepared: Uint8Array
        readonly signatures: ReadonlyArray<Signature>
        readonly submissionId: string
      }
    ) => Answer<Entry.Transaction>
    /** The parties for which the user has a right. */
    readonly parties: (user: Users.User) => Answer<ReadonlyArray<Users.PartyRecord>>
    readonly admin: Admin
    /** The faults in force, of which the HTTP door reads its part. */
    readonly faults: Faults
  }
>()("@bursar/storage-adapters/simulated-ledger/Participant") {}

/** Administration by the node's operator; never offered over HTTP. */
export interface Admin {
  /** A local party gets a user that may act as it; an external one a user that may read and execute only. */
  readonly addParty: (party: {
    readonly hint: string
    readonly kind: "local" | "external"
    /** 32 bytes; for a local party one is made when absent, and its private half thrown away. */
    readonly publicKey?: Uint8Array
    /** The hint when absent. */
    readonly userId?: string
    /** Further rights, such as those of the parties a custodian hosts. */
    readonly rights?: ReadonlyArray<Ledger.Right>
  }) => Answer<PartyAdded>
  readonly parties: Answer<ReadonlyArray<Users.PartyRecord>>
  readonly users: Answer<ReadonlyArray<Users.User>>
  /** A new token for the user; the old one ends. */
  readonly issueToken: (userId: string, validFor?: Duration.Duration) => Answer<string>
  readonly revokeToken: (userId: string) => Answer<void>
  /** Everything at or before the offset is gone from the stream of updates; active contracts stay. */
  readonly prune: (upTo: Offset.Offset) => Answer<void>
}
