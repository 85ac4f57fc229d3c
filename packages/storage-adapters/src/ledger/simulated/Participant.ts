/** Interface of the simulated node, which every party uses with its own token. */
import type { Instant, Offset, Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Context } from "effect"
import type { Duration, Effect, Option, Stream } from "effect"
import type * as Entry from "./Entry.ts"
import type { Faults } from "./Faults.ts"
import type { LedgerError } from "./LedgerError.ts"
import type * as Users from "./Users.ts"

/** A submission of a user. */
export interface Attempt {
  readonly commandId: string
  readonly actAs: ReadonlyArray<Party.Party>
  readonly readAs: ReadonlyArray<Party.Party>
  readonly commands: ReadonlyArray<Ledger.Command>
  /** Null: the longest window. */
  readonly dedup: Ledger.Dedup | null
  /** New for each attempt. */
  readonly submissionId: string
  readonly workflowId: string | null
  readonly disclosed: ReadonlyArray<Ledger.DisclosedContract>
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

/** Shape and filter of a read of the ledger. */
export interface Reading {
  readonly shape: "LEDGER_EFFECTS" | "ACS_DELTA"
  readonly byParty: ReadonlyMap<Party.Party, PartyFilter>
}

/** The archival of a contract, as ACS_DELTA shows it. */
export interface ArchivedContract {
  readonly _tag: "Archived"
  readonly nodeId: number
  readonly contractId: string
  readonly template: Ledger.TypeRef
  readonly packageId: string
  readonly witnesses: ReadonlyArray<Party.Party>
}

/** Exercise of a choice, with those who see it. */
export interface SeenExercised extends Ledger.Exercised {
  readonly packageId: string
}

/** An active contract with the offset that created it. */
export type SeenActive = Ledger.Active & { readonly createdOffset: Offset.Offset }

/** Event of a transaction, as its readers see it. */
export type SeenEvent = Ledger.Created | SeenExercised | ArchivedContract

/** A transaction filtered to the nodes that the readers see. */
export interface SeenTransaction extends Omit<Ledger.Transaction, "events"> {
  readonly traceparent: string | null
  readonly events: ReadonlyArray<SeenEvent>
}

/** Update of the ledger, as its readers see it. */
export type SeenUpdate = SeenTransaction | Ledger.Checkpoint

/** A prepared transaction, as an external party's wallet shows and signs it. */
export interface PreparedTransaction {
  readonly bytes: Uint8Array
  readonly hash: Uint8Array
}

/** Signature of a prepared transaction. */
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

/** Node of the simulated ledger: users, parties, submissions and reads. */
export class Participant extends Context.Service<
  Participant,
  {
    readonly ledgerId: string
    readonly participantId: Effect.Effect<string>
    readonly synchronizerId: string
    /** Returns the user of a token; fails with 401 where the token is not valid. */
    readonly authenticate: (token: string | undefined) => Answer<Users.User>
    /**
     * Submits and waits for the commit; fails with 403 first unless the user may act as each party
     * of `actAs`.
     */
    readonly submit: (user: Users.User, attempt: Attempt) => Answer<Entry.Transaction>
    /** As `submit`, but returns once it is queued; the completion has the outcome. */
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
    /** A committed transaction as these readers see it; None where they see no node of it. */
    readonly seenTransaction: (
      user: Users.User,
      query: { readonly transaction: Entry.Transaction; readonly reading: Reading }
    ) => Answer<Option.Option<SeenTransaction>>
    readonly acs: (
      user: Users.User,
      query: { readonly at: Offset.Offset; readonly reading: Reading }
    ) => Stream.Stream<SeenActive, LedgerError>
    /** Completions of this user for these parties; without `through` an endless tail. */
    readonly completions: (
      user: Users.User,
      query: {
        readonly parties: ReadonlyArray<Party.Party>
        readonly after: Offset.Offset
        readonly through: Option.Option<Offset.Offset>
      }
    ) => Stream.Stream<Entry.Completion | Ledger.Checkpoint, LedgerError>
    /**
     * The created event of a contract and, where it has ended, its archival, as the parties see
     * them.
     */
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
    /**
     * Interprets commands for an external party and returns the transaction that its wallet must
     * sign.
     */
    readonly prepare: (
      user: Users.User,
      ask: {
        readonly userId: string
        readonly commandId: string
        readonly commands: ReadonlyArray<Ledger.Command>
        readonly actAs: ReadonlyArray<Party.Party>
        readonly disclosed: ReadonlyArray<Ledger.DisclosedContract>
        readonly maxRecordTime: Instant.Instant | null
        readonly minLedgerTime: Instant.Instant | null
      }
    ) => Answer<PreparedTransaction>
    /** Executes a prepared transaction with the signatures of all its acting parties. */
    readonly execute: (
      user: Users.User,
      ask: {
        readonly prepared: Uint8Array
        readonly signatures: ReadonlyArray<Signature>
        readonly submissionId: string
      }
    ) => Answer<Entry.Transaction>
    /** Parties for which the user has a right. */
    readonly parties: (user: Users.User) => Answer<ReadonlyArray<Users.PartyRecord>>
    readonly admin: Admin
    /** The faults in force; the HTTP door reads its own part. */
    readonly faults: Faults
  }
>()("@bursar/storage-adapters/simulated-ledger/Participant") {}

/** Administration by the node's operator, never offered over HTTP. */
export interface Admin {
  /**
   * Adds a party with a user: the user of a local party may act as it, the user of an external one
   * may only read and execute.
   */
  readonly addParty: (party: {
    readonly hint: string
    readonly kind: "local" | "external"
    /** 32 bytes; generated for a local party where absent. */
    readonly publicKey?: Uint8Array
    /** The hint by default. */
    readonly userId?: string
    /** Further rights, such as those for the parties that a custodian hosts. */
    readonly rights?: ReadonlyArray<Ledger.Right>
  }) => Answer<PartyAdded>
  readonly parties: Answer<ReadonlyArray<Users.PartyRecord>>
  readonly users: Answer<ReadonlyArray<Users.User>>
  /** Issues a new token for the user and revokes the old one. */
  readonly issueToken: (userId: string, validFor?: Duration.Duration) => Answer<string>
  readonly revokeToken: (userId: string) => Answer<void>
  /** Removes updates at or before the offset; active contracts stay. */
  readonly prune: (upTo: Offset.Offset) => Answer<void>
}
