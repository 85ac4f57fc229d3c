/** Switches of the caches, for runs of the tests with every cache off or of one entry: edits of the sources as they are loaded. */
import type { Plugin } from "vite"

/** Capacity of every cache in a run. */
export type Size = "off" | "one entry"

interface Edit {
  /** Text that is in the file exactly once. */
  readonly text: string
  readonly by: string
}

export interface Switch {
  /** Path under `packages`. */
  readonly file: string
  readonly off: ReadonlyArray<Edit>
  /** Edits to one entry; the cache of one entry by nature is left as it is. */
  readonly one?: ReadonlyArray<Edit>
}

/**
 * The caches whose entries could be stale, or another caller's; the table of caches of
 * ARCHITECTURE.md has all others too.
 */
export const switches: ReadonlyArray<Switch> = [
  {
    file: "engine-core/src/reads/KeptAnswers.ts",
    off: [{ text: "if (size > bytesMax) return", by: "if (size >= 0) return" }],
    one: [{ text: "if (bytes <= bytesMax) return", by: "if (entries.size <= 1) return" }]
  },
  {
    file: "engine-core/src/records/Versions.ts",
    off: [{ text: "if (entries.size > limit)", by: "if (entries.size > 0)" }],
    one: [{ text: "if (entries.size > limit)", by: "if (entries.size > 1)" }]
  },
  {
    file: "engine-core/src/records/RecordView.ts",
    off: [
      {
        text: "if (cachedRecords.has(record)) memos.set(",
        by: "if (memos.has(record)) memos.set("
      },
      { text: "if (cachedRecords.has(record)) plain.set(", by: "if (plain.has(record)) plain.set(" }
    ]
  },
  {
    file: "engine-core/src/records/FindMemo.ts",
    off: [{ text: "if (memo !== undefined) return Effect.succeed(memo)", by: "" }],
    one: [
      { text: "const key = ", by: "if (foundAtPin.size > 1) foundAtPin.clear()\n    const key = " }
    ]
  },
  {
    file: "engine-core/src/reads/EmptyCollections.ts",
    off: [{ text: "if (memo !== undefined) return memo", by: "" }],
    one: [
      {
        text: "if (memo !== undefined) return memo",
        by: "if (memo !== undefined) return memo\n      isEmptyById.clear()"
      }
    ]
  },
  {
    file: "engine-core/src/reads/Point.ts",
    off: [{ text: "memo?.offset === offset", by: "memo === null" }]
  },
  {
    file: "engine-core/src/orders/dealing-cycle/SettleOperations.ts",
    off: [{ text: "memo.version === cycle.version", by: "memo.version < 0" }]
  },
  {
    file: "engine-core/src/distributions/distribution/ExecuteOperations.ts",
    off: [{ text: "if (memo !== undefined) return memo", by: "" }]
  },
  {
    file: "engine-core/src/distributions/distribution/LineLookups.ts",
    off: [{ text: "if (memo !== undefined) return memo", by: "" }]
  },
  {
    file: "engine-core/src/records/Outbox.ts",
    off: [{ text: "cache = { moved, all }", by: "" }]
  },
  {
    file: "engine-core/src/feeds/webhook/DeliveryRunner.ts",
    off: [{ text: "webhooksMoved !== cache.moved", by: "webhooksMoved >= 0" }]
  },
  {
    file: "http-host/src/handlers/read.ts",
    off: [{ text: "memo.set(value, bytes)", by: "" }]
  },
  {
    file: "http-host/src/middleware/Authentication.ts",
    off: [{ text: "remember(digest, { caller, payload, now })", by: "" }],
    one: [{ text: "remembered.size < rememberedMax", by: "remembered.size < 1" }]
  },
  {
    file: "storage-adapters/src/node/NodeCrypto.ts",
    off: [{ text: "keysByName.set(name, key)", by: "" }],
    one: [{ text: "keysByName.size >= keysMax", by: "keysByName.size >= 1" }]
  },
  {
    file: "storage-adapters/src/storage/postgres/Columns.ts",
    off: [{ text: "judged.add(fields)", by: "" }]
  },
  {
    file: "storage-adapters/src/storage/postgres/PgFeed.ts",
    off: [{ text: "text !== last?.head", by: "text !== null" }]
  }
]

/** Edits a source by the switch of its file; throws where a text is not in it exactly once. */
export const edited = (source: string, { file, off, one = [] }: Switch, size: Size): string =>
  (size === "off" ? off : one).reduce((text, edit) => {
    if (text.split(edit.text).length !== 2) throw new Error(`${file}: not once: ${edit.text}`)
    return text.replace(edit.text, () => edit.by)
  }, source)

/** Plugin of a run of tests: loads the sources of caches with their switch turned. */
export const switching = (size: Size): Plugin => ({
  name: "caches",
  enforce: "pre",
  transform: (source, id) => {
    const found = switches.find(({ file }) => id.endsWith(`/packages/${file}`))
    return found === undefined ? null : { code: edited(source, found, size), map: null }
  }
})
