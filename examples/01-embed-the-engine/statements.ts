/** Files of outside parties, handed in by a program without a host. */
// #region a file handed in
import { Venue } from "@bursar/engine-core"
import { Effect } from "effect"
import { type File, sourceId } from "../statements.ts"

/**
 * Has the bytes of a file read and recorded, and answers the statement's id; the engine runs the
 * reconciliation that each new statement starts.
 */
export const handedIn = (instrumentId: string, { feed, text }: File) =>
  Effect.gen(function* () {
    const venue = yield* Venue.make
    const bytes = new TextEncoder().encode(text)
    const { externalStatementId } = yield* venue.receive(sourceId(feed, instrumentId), bytes)
    return externalStatementId
  })
// #endregion
