/** The moves that records wait for: those the document lists are those the engine names, each described. */
import { Vocabulary } from "@bursar/engine-core"
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const sources = new URL("../../packages/engine-core/src/", import.meta.url)

/** Every action that a record's `waitingOn`, or a proposal's reading, names in so many words. */
const named = new Set(
  readdirSync(sources, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => [
      ...readFileSync(new URL(path, sources), "utf8").matchAll(/\baction: "([^"]+)"/gu)
    ])
    .flatMap(([, action]) => action ?? [])
    .filter((action) => !(Vocabulary.AuditAction.members as ReadonlyArray<string>).includes(action))
)
const own = Object.keys(Vocabulary.waitingActions)

interface Schemas {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly description: string }>>
  }
}
const document = JSON.parse(
  readFileSync(new URL("../../packages/http-host/openapi.json", import.meta.url), "utf8")
) as Schemas

describe("what a record waits for", () => {
  it("is a write, or a move that is listed: none is named that is not, none listed that is not named", () => {
    expect([...named].toSorted()).toEqual(own.toSorted())
  })

  it("is described in the document, move by move", () => {
    const { description } = document.components.schemas["WaitingAction"] ?? { description: "" }
    expect(own.filter((action) => !description.includes(`\`${action}\`: `))).toEqual([])
  })

  it("holds every kind of write, since an operation waits for itself to run", () => {
    const members: ReadonlyArray<string> = Vocabulary.WaitingAction.members
    expect(Vocabulary.OperationKind.members.filter((kind) => !members.includes(kind))).toEqual([])
  })
})
