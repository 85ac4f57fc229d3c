/**
 * Table of the console's pages of lists and records: what each reads, which members a row shows, and where
 * it stands in the navigation. The reads decide who is offered a page.
 */

/** A list: its address, its read, and the members of a row in their order. */
export interface ListRow {
  readonly path: string
  readonly title: string
  readonly read: string
  /** Member that names the record, whose page a row opens. */
  readonly id: string
  readonly columns: ReadonlyArray<string>
  /** Kind of write that makes such a record. */
  readonly makes?: ReadonlyArray<string>
  /** Says what would be here, and why there may be nothing. */
  readonly empty: string
}

/** A record: its read with the parameter that its address gives, and what belongs to it. */
export interface RecordRow {
  readonly path: string
  readonly title: string
  readonly read: string
  readonly id: string
  /** Member of the answer that is the record; absent: the answer is. */
  readonly within?: string
  /** Members that stand at the head, in their order; the others follow as they come. */
  readonly head: ReadonlyArray<string>
  /** Lists of the record, by the parameter of their path or a filter. */
  readonly lists: ReadonlyArray<{
    readonly title: string
    readonly read: string
    readonly columns: ReadonlyArray<string>
    /** Filter that has the record's id; absent: the path of the read has it. */
    readonly filter?: string
    readonly idOf?: string
    readonly page?: string
    readonly empty: string
  }>
  /** Writes that act on the record. */
  readonly acts: ReadonlyArray<string>
}

export const lists: ReadonlyArray<ListRow> = [
  {
    path: "operations",
    title: "Operations",
    read: "operations.list",
    id: "operationId",
    columns: ["kind", "resource", "state", "actor", "role", "createdAt", "finishedAt", "offset"],
    empty: "Every write is an operation. None fits the filter."
  },
  {
    path: "proposals",
    title: "Proposals",
    read: "proposals.list",
    id: "proposalId",
    columns: [
      "kind",
      "from",
      "awaiting",
      "instrumentId",
      "holderId",
      "at",
      "expiresAt",
      "waitingOn"
    ],
    empty: "A proposal waits for a party to agree on the ledger. None is open."
  },
  {
    path: "audit-log",
    title: "Audit log",
    read: "audit-log.list",
    id: "seq",
    columns: [
      "seq",
      "at",
      "actor",
      "role",
      "action",
      "stage",
      "status",
      "resourceKind",
      "resourceId"
    ],
    empty: "Every call leaves a record here. None fits the filter."
  },
  {
    path: "webhooks",
    title: "Webhooks",
    read: "webhooks.list",
    id: "webhookId",
    columns: ["url", "events", "source", "createdBy", "createdAt"],
    makes: ["webhook.register"],
    empty: "No webhook is registered."
  }
]

export const records: ReadonlyArray<RecordRow> = [
  {
    path: "operations",
    title: "Operation",
    read: "operations.get",
    id: "operationId",
    head: [
      "kind",
      "state",
      "resource",
      "actor",
      "actorName",
      "role",
      "createdAt",
      "startedAt",
      "finishedAt",
      "offset",
      "updateId",
      "actionKey"
    ],
    lists: [],
    acts: []
  },
  {
    path: "webhooks",
    title: "Webhook",
    read: "webhooks.get",
    id: "webhookId",
    head: ["url", "events", "source", "createdBy", "createdAt"],
    lists: [],
    acts: ["webhook.test", "webhook.remove"]
  }
]
