/**
 * Limits of what is answered and not read: pipelined requests, bytes that wait to be sent, and how
 * long a client may take nothing (docs/contract/limits.md#unread-answers).
 */
import { Context } from "effect"

export interface UnreadLimits {
  /** Largest number of requests that wait on a connection behind the one in progress. */
  readonly pipelinedMax: number
  /** Milliseconds after which a connection is closed whose client took nothing of an answer. */
  readonly stalledWithin: number
  /** Bytes of answers that may wait to be sent to one subject. */
  readonly subjectBytes: number
  /** Bytes of answers that may wait to be sent by this host. */
  readonly hostBytes: number
  /** Streamed answers that one subject may have at a time. */
  readonly subjectStreams: number
  /** Reads of one subject that are worked on at a time; further ones wait for a place. */
  readonly subjectReads: number
}

export const unreadDefaults: UnreadLimits = {
  pipelinedMax: 64,
  stalledWithin: 20_000,
  subjectBytes: 16 * 1024 * 1024,
  hostBytes: 128 * 1024 * 1024,
  subjectStreams: 4,
  subjectReads: 8
}

/** The limits in force: the settings `connections.*` and `answers.*`. */
export const UnreadLimits = Context.Reference<UnreadLimits>("@bursar/http-host/wire/Unread", {
  defaultValue: () => unreadDefaults
})
