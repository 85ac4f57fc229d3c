/** Files of outside parties, handed in by a program without a host. */
// #region a file handed in
import { Engine, Intake } from "@bursar/engine-core"
import { Effect, Schema, Stream } from "effect"
import { type File, sourceId } from "../statements.ts"
import { felix } from "./people.ts"

/**
 * Stages the bytes of a file, has it read and recorded, and answers the statement's id; then the
 * engine runs the reconciliation that each new statement starts.
 */
export const handedIn = (instrumentId: string, { feed, mediaType, text }: File) =>
  Effect.gen(function* () {
    const intake = yield* Intake.StatementIntake
    const externalSourceId = sourceId(feed, instrumentId)
    const staged = yield* intake.stage({
      query: `externalSourceId=${externalSourceId}`,
      bytes: Stream.make(new TextEncoder().encode(text))
    })
    const { value } = yield* intake.receive({
      caller: felix,
      identity: { requestId: "example", traceId: null, keyId: null },
      key: null,
      named: { externalSourceId, instrumentId: null, businessDate: null, corrects: null },
      mediaType,
      charset: null,
      staged
    })
    yield* (yield* Engine.Engine).settle
    const { externalStatementId } = Schema.decodeUnknownSync(Intake.StatementReceipt)(value)
    return externalStatementId
  }).pipe(Effect.scoped)
// #endregion
