/** Raw bytes in memory: blobs by their hash, and files in chunks. */
import { Effect, Option } from "effect"
import type { Blobs } from "@bursar/engine-core/ports"
import { type Transactions, unlessSealing } from "./Transactions.ts"
import * as Undo from "./Undo.ts"

interface File {
  readonly chunks: Map<number, Uint8Array>
  sealed: boolean
}

export const make = (transactions: Transactions): Blobs["Service"] => {
  const blobs = new Map<string, Uint8Array>()
  const files = new Map<string, File>()
  return {
    store: transactions.store,
    put: ({ hash, bytes }) =>
      transactions.write((transaction) => {
        if (!blobs.has(hash)) Undo.set(transaction, blobs, hash, bytes.slice())
      }),
    get: (hash) =>
      transactions.read(() =>
        Option.map(Option.fromUndefinedOr(blobs.get(hash)), (b) => b.slice())
      ),
    append: ({ file: name, chunk, bytes }) =>
      unlessSealing(
        transactions,
        () => files.get(name),
        () => {
          const file = files.get(name) ?? { chunks: new Map(), sealed: false }
          if (file.sealed) throw new Error(`Blobs.append: ${name} is sealed`)
          files.set(name, file)
          if (!file.chunks.has(chunk)) file.chunks.set(chunk, bytes.slice())
        }
      ),
    chunk: ({ file, chunk }) =>
      transactions.read(() =>
        Option.map(Option.fromUndefinedOr(files.get(file)?.chunks.get(chunk)), (b) => b.slice())
      ),
    seal: ({ file: name, chunks }) =>
      transactions.write((transaction) => {
        const file = files.get(name)
        if (file === undefined || file.sealed || file.chunks.size !== chunks) {
          throw new Error(`Blobs.seal: ${name} is sealed, or has not ${chunks} chunks`)
        }
        Undo.patch(transaction, file, { sealed: true })
      }),
    discard: ({ file: name, limit, sparesSealed = false }) =>
      Effect.sync(() => {
        const file = files.get(name)
        if (file === undefined || (sparesSealed && file.sealed)) return 0
        file.sealed = false
        const gone = [...file.chunks.keys()].toSorted((a, b) => a - b).slice(0, Math.max(0, limit))
        for (const chunk of gone) file.chunks.delete(chunk)
        if (file.chunks.size === 0) files.delete(name)
        return gone.length
      })
  }
}
