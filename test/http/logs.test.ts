/**
 * Log lines: the same members everywhere, without secrets and without characters that forge or
 * break a line.
 */
import { Logs } from "@bursar/http-host"
import { Effect, Logger, Redacted } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const linesOf = async (effect: Effect.Effect<unknown>): Promise<ReadonlyArray<string>> => {
  const lines: Array<string> = []
  const layer = Logger.layer([Logger.map(Logs.line, (line) => void lines.push(line))])
  await Effect.runPromise(Effect.provide(effect, layer))
  return lines
}

const broken = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]/u

describe("a line of the log", () => {
  // Red without `escaped`: JSON leaves these characters unescaped, and terminals interpret them.
  it("is one line of JSON and says what it was told, whatever characters are in it", () =>
    fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary" }).map((text) => `${text}\u001b[31m\r\n\u2028\u009b\u007f`),
        fc.string({ unit: "binary" }),
        async (message, annotation) => {
          const lines = await linesOf(
            Effect.logWarning(message).pipe(Effect.annotateLogs({ note: annotation }))
          )
          expect(lines).toHaveLength(1)
          const [line = ""] = lines
          expect(line).not.toMatch(broken)
          const parsed: Readonly<Record<string, unknown>> = JSON.parse(line)
          const wellFormed = (text: string) => JSON.parse(JSON.stringify(text)) as string
          expect([parsed["level"], parsed["msg"], parsed["note"]]).toEqual([
            "warn",
            wellFormed(message),
            wellFormed(annotation)
          ])
        }
      )
    ))

  it("cannot be made to say another level, time or message by what it is annotated with", async () => {
    const [line = ""] = await linesOf(
      Effect.logInfo("true").pipe(Effect.annotateLogs({ msg: "forged", level: "fatal", time: "0" }))
    )
    expect(JSON.parse(line)).toMatchObject({
      msg: "true",
      level: "info",
      time: expect.stringMatching(/^20/)
    })
  })

  it("keeps a secret to itself, wherever it was put", async () => {
    const secret = Redacted.make("planted-secret")
    const lines = await linesOf(
      Effect.andThen(
        Effect.logInfo(secret, { deep: [secret] }).pipe(Effect.annotateLogs({ secret })),
        Effect.logError("failed", new Error("no", { cause: secret }))
      )
    )
    expect(lines).toHaveLength(2)
    expect(lines.join("\n")).not.toContain("planted-secret")
  })

  it("is no longer than a line may be, and says what it left out", async () => {
    const [line = ""] = await linesOf(Effect.logInfo("x".repeat(1_000_000)))
    expect(line.length).toBeLessThan(10_000)
    expect(line).toContain("1000000 characters")
  })
})
