/** The keys a deployment makes for itself: once, for its owner alone, and never another by accident. */
import { DeploymentKeys } from "@bursar/http-host"
import { Effect, Logger, Result } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

let data = ""
beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), "bursar-keys-"))
})
afterAll(() => rmSync(data, { recursive: true }))

const logs: Array<string> = []
const log = Logger.layer([Logger.make((one) => void logs.push(Logger.formatJson.log(one)))])

const own = (use: DeploymentKeys.Use) =>
  Effect.runPromise(
    Effect.result(DeploymentKeys.own({ use, data, setting: `webhooks.${use}` })).pipe(
      Effect.provide(log)
    )
  )

describe("a deployment without a key of its settings", () => {
  it("makes one, keeps it to itself, says so, and has the same one at every later start", async () => {
    const made = Result.getOrThrow(await own("webhook"))
    expect(made.secret).toHaveLength(32)
    expect(made.keyId).toMatch(/^webhook-[0-9a-f]{8}$/)
    const file = join(data, "keys", "webhook.json")
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(data, "keys")).mode & 0o777).toBe(0o700)
    expect(logs.join("\n")).toContain(file)
    expect(logs.join("\n")).not.toContain(Buffer.from(made.secret).toString("base64"))
    expect(Result.getOrThrow(await own("webhook"))).toEqual(made)
    expect(Result.getOrThrow(await own("sealing")).secret).not.toEqual(made.secret)
  })

  it("has one key though several start at the same time, and leaves nothing else behind", async () => {
    const all = await Promise.all(Array.from({ length: 16 }, () => own("audit")))
    const ids = new Set(all.map((one) => Result.getOrThrow(one).keyId))
    expect(ids.size).toBe(1)
    expect(readdirSync(join(data, "keys")).toSorted()).toEqual([
      "audit.json",
      "sealing.json",
      "webhook.json"
    ])
  })

  it("does not start with a file that is no key: what it sealed would be lost with another", async () => {
    const file = join(data, "keys", "sealing.json")
    const before = readFileSync(file, "utf8")
    for (const text of [
      "",
      "{}",
      before.slice(0, 40),
      before.replace(/"secret":"...../, '"secret":"')
    ]) {
      writeFileSync(file, text)
      const fault = await own("sealing")
      expect(Result.isFailure(fault) && fault.failure.message, text).toContain(file)
    }
    writeFileSync(file, `{\n  "secret": "planted-secret",\n}`)
    const broken = await own("sealing")
    const said = Result.isFailure(broken) ? broken.failure.message : ""
    expect(said).toContain("it is not JSON at line 3, column 1: ")
    expect(said).not.toContain("planted-secret")
    writeFileSync(file, before)
    expect(Result.isSuccess(await own("sealing"))).toBe(true)
  })
})
