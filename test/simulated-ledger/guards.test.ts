/**
 * Page of the ledger's templates (packages/storage-adapters/docs): whoever maps a ledger by it lacks no
 * guard. The compiler holds each choice's list equal to its body (test/types/guards.ts), and the ledger
 * dies of an abort that no list names (limits.spec.ts); here the page is held against the sources, which
 * finds what was kept from both.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Templates from "@bursar/engine-core/templates"
import { describe, expect, it } from "vitest"
import { all } from "#adapters/ledger/simulated/choices/index.ts"
import { jsonFile, pageFile } from "../../packages/storage-adapters/scripts/templates.ts"
import { root } from "../architecture/sources.ts"

const folder = join(root, "packages/storage-adapters/src/ledger/simulated/choices")

/** A text after a condition, or of an abort: each has a space, as no name of a choice has. */
const guardPattern = /(?:,\s*|\babort\(\s*)"(?<text>(?:[^"\\]|\\.)* (?:[^"\\]|\\.)*)"\s*[\])]/gu

/** Texts in the sources; where a file lists its guards, they stand there a second time. */
const written = readdirSync(folder).flatMap((name) =>
  [...readFileSync(join(folder, name), "utf8").matchAll(guardPattern)].map(
    ({ groups }) => groups?.["text"] ?? ""
  )
)

describe("the page of templates", () => {
  const page = readFileSync(pageFile, "utf8")

  it("would prove nothing where no guard is found in the sources", () => {
    expect(new Set(written).size).toBeGreaterThan(150)
  })

  it("never would lack a guard that a choice has", () => {
    const lacking = written.filter((text) => !page.includes(`- aborts: "${text}"`))
    expect(lacking).toEqual([])
  })

  it("never would lack a template or a choice that the ledger runs", () => {
    const { templates }: { templates: ReadonlyArray<PrintedTemplate> } = JSON.parse(
      readFileSync(jsonFile, "utf8")
    )
    const printed = templates.map((template) => [
      Templates.key(template),
      template.choices.map(({ name }) => name)
    ])
    const running = all.map(({ declaration }) => [
      Templates.key(declaration.typeRef),
      declaration.choices.map(({ name }) => name)
    ])
    expect(printed).toEqual(running)
    for (const [key] of running) expect(page).toContain(`\`${String(key)}\`. Signed by`)
  })
})

interface PrintedTemplate extends Templates.TypeRef {
  readonly choices: ReadonlyArray<{ readonly name: string }>
}
