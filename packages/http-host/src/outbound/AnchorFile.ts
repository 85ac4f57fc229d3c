/** Adapter of the AuditAnchor port: an append-only file, and a log line. */
import { Checkpoint } from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import { AuditAnchor } from "@bursar/engine-core/ports"
import { Effect, Layer, Option, Result, Schema } from "effect"
import { open, readFile } from "node:fs/promises"
import { dirname } from "node:path"
import { DurableFiles } from "../DataFolder.ts"

/** Number of bytes at the file's end that certainly contain its last line. */
const tailBytes = 4_096
/** Longest file of checkpoints in bytes: one line an hour takes a century to fill it. */
const fileMax = 256 * 1024 * 1024

const decode = Schema.decodeUnknownOption(Checkpoint.Anchor)

const anchorOf = (line: string): Option.Option<Checkpoint.Anchor> =>
  Option.flatMap(Result.getSuccess(PlainJson.parse(line)), (json) => decode(json))

/** Checkpoints of a file, as far as they could be parsed, and the first faulty line. */
interface Anchors {
  readonly anchors: ReadonlyArray<Checkpoint.Anchor>
  /** Number of the first line that is not a checkpoint, from 1; null: none. */
  readonly brokenAt: number | null
}

/** Reads a file of checkpoints: one JSON object a line. */
export const read = async (file: string): Promise<Anchors> => {
  const text = await readFile(file, "utf8")
  if (text.length > fileMax) throw new Error("the file is larger than checkpoints make it")
  const lines = text.split("\n").filter((line) => line !== "")
  const anchors = lines.map(anchorOf)
  const broken = anchors.findIndex(Option.isNone)
  return {
    anchors: anchors.flatMap((anchor) => (Option.isSome(anchor) ? [anchor.value] : [])),
    brokenAt: broken < 0 ? null : broken + 1
  }
}

/** Creates the file where it is missing; throws where it cannot be appended to. */
export const create = async (file: string): Promise<void> => {
  await DurableFiles.makeFolder(dirname(file))
  await using handle = await open(file, "a", 0o600)
  await handle.sync()
  await DurableFiles.flushFolder(dirname(file))
}

/** Checks whether a file ends with this line. */
const endsWith = async (file: string, line: string): Promise<boolean> => {
  await using handle = await open(file, "a+", 0o600)
  const { size } = await handle.stat()
  const length = Math.min(size, tailBytes)
  const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length)
  return buffer.toString("utf8").endsWith(line)
}

/** Appends a line and waits until it is on the disk (fsync). */
const append = async (file: string, line: string): Promise<void> => {
  await using handle = await open(file, "a", 0o600)
  await handle.appendFile(line)
  await handle.sync()
}

/**
 * Appends checkpoints to a file, one line each, and logs each, so that a log collector has them
 * too. The file proves that the log was rewritten only where a copy is out of reach of the venue's
 * own staff. Instances that share a file may write the same line twice.
 */
export const layer = (file: string): Layer.Layer<never> =>
  Layer.succeed(AuditAnchor.AuditAnchor, {
    keep: (anchor) =>
      Effect.gen(function* () {
        const line = `${JSON.stringify(anchor)}\n`
        const wasPresent = yield* Effect.tryPromise({
          try: async () => {
            // The file may have been moved away since: it is made anew, with its name on the disk.
            await create(file)
            if (await endsWith(file, line)) return true
            await append(file, line)
            return false
          },
          catch: (cause) => new AuditAnchor.AnchorUnavailable({ detail: String(cause) })
        })
        if (wasPresent) return
        const { size, head, signature, keyId } = anchor
        yield* Effect.logInfo("the audit log was signed").pipe(
          Effect.annotateLogs({ size, head, signature, keyId })
        )
      })
  })
