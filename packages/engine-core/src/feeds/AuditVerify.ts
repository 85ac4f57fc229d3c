/**
 * Verification of an audit log as an outsider does it: every hash, every signature, and the
 * checkpoints kept elsewhere.
 */
import { Result, Schema } from "effect"
import * as Instant from "../kernel/Instant.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import type { Crypto } from "../ports/Crypto.ts"
import type { AuditHead, AuditRow } from "../ports/storage/Feed.ts"
import * as Audit from "../records/Audit.ts"
import * as Checkpoint from "./Checkpoint.ts"

/** Keys and checkpoints that a log is verified against. */
export interface Trust {
  readonly tenantId: string
  readonly crypto: Pick<Crypto["Service"], "sha256" | "ed25519">
  readonly publicKeys: Checkpoint.PublicKeys
  /** Checkpoints kept elsewhere: only they show that the tail was cut or the whole rewritten. */
  readonly anchors: ReadonlyArray<Checkpoint.Anchor>
  /**
   * `start`: the records begin with the log's first, and a log that begins later must hold the
   * record of its pruning. `middle`: the records begin anywhere, and the hash before them is
   * trusted.
   */
  readonly from: "start" | "middle"
}

/** The first record that is wrong, and why. */
export interface Fault {
  readonly seq: number
  readonly why: string
}

/** State of a verification, which stops at the first fault. */
export interface Progress {
  readonly records: number
  readonly first: number | null
  readonly last: { readonly seq: number; readonly hash: string } | null
  /** The log's own word on its beginning: its first record, or the record of a pruning. */
  readonly begins: "as made" | "as pruned" | "unsaid"
  readonly fault: Fault | null
}

/** Progress of a verification that has read nothing yet. */
export const start: Progress = {
  records: 0,
  first: null,
  last: null,
  begins: "unsaid",
  fault: null
}

/** Members of a record that its columns and its neighbours must agree with. */
const RecordText = Schema.Struct({
  seq: Schema.String,
  at: Schema.String,
  action: Schema.String,
  actor: Schema.NullOr(Schema.String),
  resourceKind: Schema.NullOr(Schema.String),
  resourceId: Schema.NullOr(Schema.String),
  prevHash: Schema.String,
  detail: Schema.NullOr(Schema.Record(Schema.String, Schema.String))
})
type RecordText = typeof RecordText.Type

const decode = Schema.decodeUnknownOption(RecordText)

/** Replaces a number by its text, so that numbers compare exactly. */
const plain = (value: PlainJson.Plain | undefined): unknown =>
  PlainJson.isPlainNumber(value) ? value.text : value

/** Decodes the text of a record; undefined: it is none. */
const decodeText = (text: string): RecordText | undefined => {
  const parsed = PlainJson.parse(text)
  if (Result.isFailure(parsed)) return undefined
  const record = parsed.success
  if (typeof record !== "object" || record === null || !("detail" in record)) return undefined
  const { detail } = record
  const found = decode({
    ...Object.fromEntries(Object.entries(record).map(([name, value]) => [name, plain(value)])),
    detail:
      typeof detail === "object" && detail !== null && !PlainJson.isPlainNumber(detail)
        ? Object.fromEntries(Object.entries(detail).map(([name, value]) => [name, plain(value)]))
        : detail
  })
  return found._tag === "Some" ? found.value : undefined
}

const micros = (sortable: string): string => Instant.format(Instant.toMicros(Instant.of(sortable)))

/** Name of a column that differs from the record's text; undefined: all agree. */
const column = (row: AuditRow, recordText: RecordText): string | undefined => {
  const pairs: ReadonlyArray<readonly [name: string, column: unknown, text: unknown]> = [
    ["seq", String(row.seq), recordText.seq],
    ["at", micros(row.at), recordText.at],
    ["action", row.action, recordText.action],
    ["actor", row.actor, recordText.actor],
    ["resourceKind", row.resourceKind, recordText.resourceKind],
    ["resourceId", row.resourceId, recordText.resourceId],
    ["prevHash", row.prevHash, recordText.prevHash]
  ]
  return pairs.find(([, columnValue, text]) => columnValue !== text)?.[0]
}

/** Reads the checkpoint of a record's detail; undefined: the detail is none. */
const anchorOf = (
  tenantId: string,
  detail: RecordText["detail"]
): Checkpoint.Anchor | undefined => {
  const { size, head, signature, keyId } = detail ?? {}
  return size === undefined ||
    head === undefined ||
    signature === undefined ||
    keyId === undefined ||
    !/^[0-9]{1,15}$/.test(size)
    ? undefined
    : { tenantId, size: Number(size), head, signature, keyId }
}

const checkpointFault = (
  trust: Trust,
  row: AuditRow,
  recordText: RecordText
): string | undefined => {
  const anchor = anchorOf(trust.tenantId, recordText.detail)
  if (anchor === undefined) return "it is a checkpoint and does not say of what"
  if (anchor.size !== row.seq - 1 || anchor.head !== row.prevHash) {
    return "its checkpoint is not of the record before it"
  }
  return Checkpoint.fault(trust.crypto, anchor, trust.publicKeys)
}

/** The fault of a record at this state of the verification; undefined: none. */
const faultOf = (trust: Trust, at: Progress, row: AuditRow): string | undefined => {
  const { last } = at
  if (last !== null && row.seq !== last.seq + 1) {
    return row.seq > last.seq
      ? `${row.seq - last.seq - 1} records before it are gone`
      : "its number was used before"
  }
  if (last !== null && row.prevHash !== last.hash) {
    return "it does not follow the record before it"
  }
  if (last === null && row.seq === 1 && row.prevHash !== Audit.origin) {
    return "it is the first record and follows another"
  }
  if (last === null && trust.from === "start" && row.seq !== 1) {
    if (row.action !== "audit.checkpoint") return "the log begins with it, and it is no checkpoint"
  }
  if (trust.crypto.sha256(Audit.hashed(trust.tenantId, row.text)) !== row.hash) {
    return "its hash is not that of its text"
  }
  const said = decodeText(row.text)
  if (said === undefined) return "its text is not a record"
  const other = column(row, said)
  if (other !== undefined) return `its ${other} is not what its text says`
  const anchored = trust.anchors.find(({ size }) => size === row.seq)
  if (anchored !== undefined && anchored.head !== row.hash) {
    return "another record was anchored under its number: the log was rewritten"
  }
  return said.action === "audit.checkpoint" ? checkpointFault(trust, row, said) : undefined
}

/** Verifies one more record. */
export const step = (trust: Trust, at: Progress, row: AuditRow): Progress => {
  if (at.fault !== null) return at
  const why = faultOf(trust, at, row)
  if (why !== undefined) {
    const seq = at.last !== null && row.seq > at.last.seq + 1 ? at.last.seq + 1 : row.seq
    return { ...at, fault: { seq, why } }
  }
  const first = at.first ?? row.seq
  return {
    records: at.records + 1,
    first,
    last: { seq: row.seq, hash: row.hash },
    begins: first === 1 ? "as made" : saysPruned(row, first) ? "as pruned" : at.begins,
    fault: null
  }
}

/** The record of a pruning names the checkpoint that stayed as the new start. */
const saysPruned = (row: AuditRow, first: number): boolean => {
  if (row.action !== "retention.prune") return false
  const start = decodeText(row.text)?.detail?.["auditStart"]
  return start !== undefined && Number(start) >= first
}

/** Head of the log as the store reports it. */
export interface Head extends Omit<AuditHead, "checkpoint"> {
  /**
   * Size of the log after all records were read: more may have come in the meantime, but none
   * beyond it.
   */
  readonly atEnd?: number
}

/**
 * Ends a verification by comparing it with the store's head and, where there are any, with the
 * anchors, which show a cut tail even when the store's head was altered too.
 */
export const end = (trust: Trust, at: Progress, head: Head): Progress => {
  if (at.fault !== null) return at
  const fault = endFault(trust, at, head)
  return fault === undefined ? at : { ...at, fault }
}

const endFault = (
  trust: Trust,
  { first, last, begins }: Progress,
  head: Head
): Fault | undefined => {
  for (const anchor of trust.anchors) {
    if (anchor.tenantId !== trust.tenantId) {
      return { seq: anchor.size, why: "its anchor is of another venue" }
    }
    const why = Checkpoint.fault(trust.crypto, anchor, trust.publicKeys)
    if (why !== undefined) return { seq: anchor.size, why: `it is anchored, but ${why}` }
  }
  const end = last?.seq ?? 0
  const beyond = trust.anchors.find(({ size }) => size > end)
  if (beyond !== undefined) {
    const why = `the log ends at ${end} and ${beyond.size} is anchored: its tail was cut`
    return { seq: end + 1, why }
  }
  if (last !== null && last.seq < head.seq) {
    return { seq: end + 1, why: `the log ends at ${end} and its head stands at ${head.seq}` }
  }
  if (last !== null && last.seq === head.seq && last.hash !== head.hash) {
    return { seq: end, why: "the log's head has another hash" }
  }
  const atEnd = head.atEnd ?? head.seq
  if (end > atEnd) {
    return { seq: atEnd + 1, why: `the log's head stands at ${atEnd}: what follows was put in` }
  }
  if (last === null && head.seq > 0 && trust.from === "start") {
    return { seq: 1, why: `the log is empty and its head stands at ${head.seq}` }
  }
  if (trust.from === "start" && first !== null && begins === "unsaid") {
    return { seq: first, why: "the log begins with it and does not say that it was pruned" }
  }
  return undefined
}

/** Verifies a whole log in memory. */
export const verify = (trust: Trust, rows: Iterable<AuditRow>, head: Head): Progress => {
  let at = start
  for (const row of rows) at = step(trust, at, row)
  return end(trust, at, head)
}
