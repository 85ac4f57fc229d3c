/** Faults of blobs. */
import { Blobs } from "@bursar/engine-core/ports"
import { Effect, Option } from "effect"
import { type Fault, replace } from "./Fault.ts"

export const faults = {
  "shared-bytes": {
    does: "keeps the caller's own bytes",
    noticedBy: ["keeps the bytes as they were put"],
    spoil: replace(Blobs, () => {
      const kept = new Map<string, Uint8Array>()
      return {
        put: ({ hash, bytes }) => Effect.sync(() => void kept.set(hash, bytes)),
        get: (hash) => Effect.sync(() => Option.fromUndefinedOr(kept.get(hash)))
      }
    })
  }
} satisfies Record<string, Fault>
