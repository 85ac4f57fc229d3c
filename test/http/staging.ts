/** Intake of statements for tests of the wire alone: it keeps what it was handed, and reads nothing. */
import { Intake, type Refusal } from "@bursar/engine-core"
import type { PlainJson } from "@bursar/engine-core/kernel"
import { Effect, Layer, Stream } from "effect"
import { createHash } from "node:crypto"

export interface Handed {
  readonly named: Intake.StatementName
  readonly mediaType: string
  readonly charset: string | null
  readonly keyId: string | null
  readonly bytes: Buffer
}

export interface Staging {
  readonly layer: Layer.Layer<Intake.StatementIntake>
  /** Files that were read, in their order. */
  readonly handed: Array<Handed>
  /** Stages that are open now, and those that were ever opened. */
  open: number
  opened: number
  /** Bytes that reached a stage. */
  bytes: number
}

/** Id that this kit gives to a statement of these bytes. */
export const idOf = (bytes: string | Uint8Array): string =>
  `st-${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}`

export const make = (
  options: { readonly refuse?: Refusal.Refused<"rule-refused"> } = {}
): Staging => {
  const stages = new Map<string, Buffer>()
  const stage: Intake.StatementIntake["Service"]["stage"] = ({ query, bytes }) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        staging.open += 1
        staging.opened += 1
        return `stage-${staging.opened}`
      }),
      (stageId) =>
        Effect.sync(() => {
          staging.open -= 1
          stages.delete(stageId)
        })
    ).pipe(
      Effect.flatMap((stageId) => {
        const parts: Array<Uint8Array> = []
        const content = createHash("sha256")
        const call = createHash("sha256").update(`POST\n/v1/external-statements\n${query}\n`)
        return Stream.runForEach(bytes, (chunk) =>
          Effect.sync(() => {
            staging.bytes += chunk.length
            content.update(chunk)
            call.update(chunk)
            parts.push(chunk)
          })
        ).pipe(
          Effect.map(() => {
            const whole = Buffer.concat(parts)
            stages.set(stageId, whole)
            return {
              stageId,
              contentHash: content.digest("hex"),
              fingerprint: call.digest("hex"),
              size: whole.length,
              encoding: "utf-8" as const
            }
          })
        )
      })
    )
  const recorded = new Map<string, string>()
  const receive: Intake.StatementIntake["Service"]["receive"] = (receiving) =>
    Effect.suspend(() => {
      if (options.refuse !== undefined) return Effect.fail(options.refuse)
      const { caller, charset, identity, mediaType, named, staged } = receiving
      const bytes = stages.get(staged.stageId)
      if (bytes === undefined) throw new Error("a stage was read after its scope had ended")
      const { keyId } = identity
      staging.handed.push({ named, mediaType, charset, keyId, bytes })
      const externalStatementId = idOf(bytes)
      const replayed = recorded.has(staged.contentHash)
      recorded.set(staged.contentHash, externalStatementId)
      const receipt = {
        externalStatementId,
        contentHash: staged.contentHash,
        businessDate: named.businessDate ?? "2026-07-31",
        statements: []
      }
      const value: PlainJson.Plain = caller.roles.includes("operator")
        ? { ...receipt, ...record, externalSourceId: named.externalSourceId }
        : receipt
      const location = `/v1/external-statements/${externalStatementId}`
      return Effect.succeed({ value, location, replayed })
    })
  const staging: Staging = {
    layer: Layer.succeed(Intake.StatementIntake, { stage, receive }),
    handed: [],
    open: 0,
    opened: 0,
    bytes: 0
  }
  return staging
}

const record = {
  kind: "holdings",
  instrumentId: "fund-a",
  asOf: "2026-07-31T22:00:00Z"
}
