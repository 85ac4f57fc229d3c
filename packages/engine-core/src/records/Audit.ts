/** Hash-chained audit log: who did what, when and how it ended. */
import * as Instant from "../kernel/Instant.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import * as PlainNumber from "../kernel/PlainNumber.ts"
import type { AuditHead, AuditRow } from "../ports/storage/Feed.ts"
import type { AuditAction, AuditStage } from "../vocabulary/AuditAction.ts"
import type { Role } from "../vocabulary/Role.ts"

/** An audit record before its transaction gives it number, time and hash. */
export interface Entry {
  readonly action: AuditAction
  readonly stage: AuditStage
  /** A sub, never a name; null for the engine's own acts. */
  readonly actor: string | null
  readonly role: Role | null
  readonly method: string | null
  /** The route's template, so that no record's id hides in it. */
  readonly route: string | null
  readonly resourceKind: string | null
  readonly resourceId: string | null
  readonly operationId: string | null
  readonly actionKey: string | null
  readonly requestId: string | null
  readonly traceId: string | null
  /** The signing key of the request. */
  readonly keyId: string | null
  readonly status: number | null
  readonly problem: string | null
  /** The request's fingerprint: proves what was asked without holding it. */
  readonly bodyHash: string | null
  /** Texts and integers; never decimals, names, secrets or bodies. */
  readonly detail: Readonly<Record<string, string | number>> | null
}

/**
 * An entry that depends on the log's head (a checkpoint): made inside the transaction, once size
 * and last hash are known; null: nothing is logged.
 */
export type Late = (head: AuditHead) => Entry | null

/** Makes an entry; members that are left out are null. */
export const entry = (
  members: Pick<Entry, "action" | "stage"> & Partial<Omit<Entry, "action" | "stage">>
): Entry => ({
  actor: null,
  role: null,
  method: null,
  route: null,
  resourceKind: null,
  resourceId: null,
  operationId: null,
  actionKey: null,
  requestId: null,
  traceId: null,
  keyId: null,
  status: null,
  problem: null,
  bodyHash: null,
  detail: null,
  ...members
})

/** `prevHash` of a log's first record. */
export const origin = "0".repeat(64)

const integer = (value: number): PlainJson.Plain => PlainNumber.of(value.toFixed(0))

const detailOf = (detail: Entry["detail"]): PlainJson.Plain =>
  detail === null
    ? null
    : Object.fromEntries(
        Object.entries(detail).map(([name, value]) => [
          name,
          typeof value === "number" ? integer(value) : value
        ])
      )

/** A time with exactly six fractional digits, so that the hashed text equals the stored one. */
const timeOf = (at: Instant.Instant): string => Instant.format(Instant.toMicros(at))

/** The canonical JSON (RFC 8785) of a record without its hash: the bytes that are hashed and kept. */
export const textOf = (
  row: Entry & { readonly seq: number; readonly at: Instant.Instant; readonly prevHash: string }
): string =>
  PlainJson.canonical({
    ...row,
    seq: integer(row.seq),
    at: timeOf(row.at),
    status: row.status === null ? null : integer(row.status),
    detail: detailOf(row.detail)
  })

/** Text whose SHA-256 is a record's hash (docs/contract/audit-log.md#hash-chain). */
export const hashed = (tenantId: string, text: string): string =>
  `bursar-audit-v1\n${tenantId}\n${text}`

/** Numbers and chains the records of one transaction after the log's head. */
export const chain = (
  log: {
    readonly tenantId: string
    readonly head: AuditHead
    readonly at: Instant.Instant
    readonly sha256: (text: string) => string
  },
  entries: ReadonlyArray<Entry | Late>
): ReadonlyArray<AuditRow> => {
  let { seq, hash: prevHash, checkpoint } = log.head
  const at = Instant.sortable(log.at)
  return entries.flatMap((entryOrLate) => {
    const entry =
      typeof entryOrLate === "function"
        ? entryOrLate({ seq, hash: prevHash, checkpoint })
        : entryOrLate
    if (entry === null) return []
    seq += 1
    if (entry.action === "audit.checkpoint") checkpoint = seq
    const text = textOf({ ...entry, seq, at: log.at, prevHash })
    const hash = log.sha256(hashed(log.tenantId, text))
    const row: AuditRow = {
      seq,
      at,
      action: entry.action,
      actor: entry.actor,
      resourceKind: entry.resourceKind,
      resourceId: entry.resourceId,
      text,
      prevHash,
      hash
    }
    prevHash = hash
    return [row]
  })
}

/** The number of the last checkpoint among records; undefined: there is none. */
export const checkpointOf = (rows: ReadonlyArray<AuditRow>): number | undefined =>
  rows.findLast(({ action }) => action === "audit.checkpoint")?.seq

/** A record as the API answers it: the hashed members, and the hash. */
export const print = ({ text, hash }: Pick<AuditRow, "text" | "hash">): string =>
  `${text.slice(0, -1)},"hash":"${hash}"}`
