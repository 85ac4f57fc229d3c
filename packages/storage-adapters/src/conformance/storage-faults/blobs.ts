/** Faults of blobs. */
import { Blobs } from "@bursar/engine-core/ports"
import { Effect, Option } from "effect"
import { type Fault, replace } from "./Fault.ts"

export const faults = {
  "shared-bytes": {
    does: "keeps the caller's own bytes",
    noticedBy: ["keeps the bytes as they were put"],
    spoil: replace(Blobs, () => {
      const bytesByHash = new Map<string, Uint8Array>()
      return {
        put: ({ hash, bytes }) => Effect.sync(() => void bytesByHash.set(hash, bytes)),
        get: (hash) => Effect.sync(() => Option.fromUndefinedOr(bytesByHash.get(hash)))
      }
    })
  },
  "any-chunks-sealed": {
    does: "seals a file of any number of chunks",
    noticedBy: ["seals a file of so many chunks", "discards a file in parts"],
    spoil: replace(Blobs, () => ({ seal: () => Effect.void }))
  },
  "sealed-file-not-spared": {
    does: "discards a sealed file that it is to spare",
    noticedBy: ["spares a sealed file"],
    spoil: replace(Blobs, ({ discard }) => ({
      discard: ({ file, limit }) => discard({ file, limit })
    }))
  },
  "chunk-replaced": {
    does: "replaces a chunk by one that is appended again",
    noticedBy: ["gives back each chunk of a file as it was appended first"],
    spoil: replace(Blobs, ({ chunk }) => {
      const bytesByChunk = new Map<string, Uint8Array>()
      return {
        append: (piece) =>
          Effect.sync(() => void bytesByChunk.set(`${piece.file}/${piece.chunk}`, piece.bytes)),
        chunk: (piece) =>
          Option.match(Option.fromUndefinedOr(bytesByChunk.get(`${piece.file}/${piece.chunk}`)), {
            onNone: () => chunk(piece),
            onSome: (bytes) => Effect.succeed(Option.some(bytes))
          })
      }
    })
  }
} satisfies Record<string, Fault>
