/** Id of a holder, which the records of every room carry. */
import * as RecordId from "../../kernel/RecordId.ts"

export const HolderId = RecordId.make("HolderId")
export type HolderId = typeof HolderId.Type
