/** Raw bytes by their hash, in memory. */
import { Option } from "effect"
import type { Blobs } from "@bursar/engine-core/ports"
import type { Transactions } from "./Transactions.ts"
import * as Undo from "./Undo.ts"

export const make = (transactions: Transactions): Blobs["Service"] => {
  const blobs = new Map<string, Uint8Array>()
  return {
    put: ({ hash, bytes }) =>
      transactions.write((transaction) => {
        if (!blobs.has(hash)) Undo.set(transaction, blobs, hash, bytes.slice())
      }),
    get: (hash) =>
      transactions.read(() => Option.map(Option.fromUndefinedOr(blobs.get(hash)), (b) => b.slice()))
  }
}
