/** Checkpoints of the audit log in their file: each once, whole, and read back as they were. */
import { AuditRunner } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { AuditAnchor } from "@bursar/engine-core/ports"
import { Effect, Layer, Logger } from "effect"
import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Audit from "#core/records/Audit.ts"
import { Records } from "#core/records/Records.ts"
import { line } from "#host/observability/Logs.ts"
import * as AnchorFile from "#host/outbound/AnchorFile.ts"
import { world } from "../engine/world.ts"

let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-anchors-"))
})
afterAll(() => rm(folder, { recursive: true }))

const key = {
  keyId: "au-1",
  seed: Buffer.alloc(32, 7),
  notBefore: Instant.fromNanos(0n),
  notAfter: null
}

describe("the file of checkpoints", () => {
  // Red when a checkpoint that is kept already is written again.
  it("gets each checkpoint once, however often it is offered, and the log a line for it", async () => {
    const file = join(folder, "made", "here", "anchors.jsonl")
    const logs: Array<string> = []
    const entry = Audit.entry({ action: "config.loaded", stage: "succeeded" })
    await Effect.gen(function* () {
      const records = yield* Records
      for (let at = 0; at < 3; at++) {
        yield* records.transact(records.audit([entry]))
        yield* AuditRunner.checkpoint({ newRecords: 1 })
        yield* AuditRunner.checkpoint({ newRecords: 1 })
      }
    }).pipe(
      Effect.provide(
        Layer.mergeAll(world({ settings: { auditKeys: [key] } }), AnchorFile.layer(file))
      ),
      Effect.provide(Logger.layer([Logger.map(line, (text) => void logs.push(text))])),
      Effect.runPromise
    )
    const { anchors, brokenAt } = await AnchorFile.read(file)
    expect([anchors.map(({ size }) => size), brokenAt]).toEqual([[1, 3, 5], null])
    const logLines = logs.map((text): Readonly<Record<string, unknown>> => JSON.parse(text))
    expect(logLines.filter(({ msg }) => msg === "the audit log was signed")).toHaveLength(3)
    expect(await readFile(file, "utf8")).not.toContain(Buffer.from(key.seed).toString("base64"))
  })

  it("that holds anything else says in which line", async () => {
    const file = join(folder, "broken.jsonl")
    await appendFile(
      file,
      `{"tenantId":"v","size":1,"head":"${"0".repeat(64)}","signature":"","keyId":"k"}\n{}\n`
    )
    expect((await AnchorFile.read(file)).brokenAt).toBe(2)
  })

  it("that cannot be written is away, which is told and tried again", async () => {
    const anchor = { tenantId: "v", size: 1, head: "0".repeat(64), signature: "", keyId: "k" }
    const failed = await Effect.gen(function* () {
      return yield* Effect.flip((yield* AuditAnchor.AuditAnchor).keep(anchor))
    }).pipe(
      Effect.provide(AnchorFile.layer(join(folder, "broken.jsonl", "under"))),
      Effect.runPromise
    )
    expect(failed._tag).toBe("AnchorUnavailable")
  })
})
