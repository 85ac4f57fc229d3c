/**
 * Stored entries of the simulated ledger: transactions with their nodes, contracts, and
 * completions.
 */
import type { Instant, Offset, Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import type { LedgerError } from "./LedgerError.ts"

/** Contract of the simulated ledger. */
export interface Contract {
  readonly contractId: string
  readonly template: Ledger.TypeRef
  readonly packageId: string
  readonly payload: Ledger.LfRecord
  readonly signatories: ReadonlyArray<Party.Party>
  readonly observers: ReadonlyArray<Party.Party>
  readonly createdAt: Instant.Instant
  readonly createdOffset: Offset.Offset
}

interface NodeOf {
  readonly nodeId: number
  readonly contractId: string
  readonly template: Ledger.TypeRef
  readonly packageId: string
  readonly signatories: ReadonlyArray<Party.Party>
  readonly observers: ReadonlyArray<Party.Party>
  /** Parties that see the node: its informees and those of every ancestor. */
  readonly witnesses: ReadonlyArray<Party.Party>
  /** The contract was created and consumed in this one transaction. */
  readonly transient: boolean
}

/** Node of a transaction that creates a contract. */
export interface CreateNode extends NodeOf {
  readonly _tag: "Create"
  readonly payload: Ledger.LfRecord
}

/** Node of a transaction that exercises a choice. */
export interface ExerciseNode extends NodeOf {
  readonly _tag: "Exercise"
  readonly lastDescendant: number
  readonly iface: Ledger.TypeRef | null
  readonly choice: string
  readonly arg: Ledger.LfValue
  readonly result: Ledger.LfValue
  readonly actors: ReadonlyArray<Party.Party>
  readonly consuming: boolean
}

/** Node of a transaction. */
export type Node = CreateNode | ExerciseNode

/** Transaction of the simulated ledger. */
export interface Transaction {
  readonly offset: Offset.Offset
  readonly updateId: string
  readonly changeId: string
  readonly commandId: string
  readonly userId: string
  readonly workflowId: string | null
  readonly actAs: ReadonlyArray<Party.Party>
  readonly effectiveAt: Instant.Instant
  readonly recordTime: Instant.Instant
  readonly traceparent: string | null
  readonly nodes: ReadonlyArray<Node>
}

/** Completion of a command: committed, or refused with its reason. */
export interface Completion {
  readonly _tag: "Completion"
  readonly offset: Offset.Offset
  readonly changeId: string
  readonly userId: string
  readonly commandId: string
  readonly submissionId: string
  readonly actAs: ReadonlyArray<Party.Party>
  readonly recordTime: Instant.Instant
  readonly outcome:
    | { readonly _tag: "Committed"; readonly updateId: string }
    | { readonly _tag: "Rejected"; readonly error: LedgerError }
}

/** One step of the ledger: a completion at its offset, and a transaction unless it was rejected. */
export interface Entry {
  readonly offset: Offset.Offset
  readonly completion: Completion
  readonly transaction: Transaction | null
  /** Contracts that outlive the transaction. */
  readonly created: ReadonlyArray<Contract>
  /** Contracts of earlier transactions that this one consumed. */
  readonly archived: ReadonlyArray<string>
}
