/** Regions of ARCHITECTURE.md that are drawn from tables; the rest of that page is written by hand. */
import { readFileSync } from "node:fs"
import { adapterFolders, hostLayers, packages } from "../packages.ts"
import { rooms } from "../rooms.ts"
import { code, type Page, table } from "./page.ts"

const path = "ARCHITECTURE.md"

const drawRooms = (): string =>
  table(
    ["Room", "Holds"],
    Object.entries(rooms).map(([room, holds]) => [code(room), holds])
  )

const listed = (names: ReadonlyArray<string>): string => names.map(code).join(", ")

const drawPackages = (): string => {
  const layers = hostLayers.map(({ name }) => name)
  const edges = Object.entries(packages).flatMap(([name, { besides, inside }]) => [
    ...inside.map((below) => `  ${name} --> ${below}`),
    ...besides
      .filter(({ imports }) => imports.some((specifier) => specifier.startsWith("@bursar/")))
      .flatMap(({ files, imports }) =>
        imports.map(
          (specifier) => `  ${name} -. ${files} .-> ${specifier.split("/")[1] ?? specifier}`
        )
      )
  ])
  return [
    "```mermaid",
    "flowchart LR",
    `  http-host["http-host<br/>${layers.toReversed().join(" → ")}"]`,
    `  storage-adapters["storage-adapters<br/>a venue runs: ${adapterFolders.runs.join(", ")}<br/>it tests with: ${adapterFolders.tests.join(", ")}"]`,
    ...edges,
    "```",
    "",
    table(
      ["Package", "May import", "Some files, besides", "Never"],
      Object.entries(packages).map(([name, { besides, inside, never, outside }]) => [
        name,
        listed([...inside, ...outside]),
        besides.map(({ files, imports }) => `${code(files)}: ${listed(imports)}`).join("; "),
        never
      ])
    )
  ].join("\n")
}

const regions: ReadonlyArray<readonly [name: string, source: string, draw: () => string]> = [
  ["rooms", "scripts/rooms.ts", drawRooms],
  ["packages", "scripts/packages.ts", drawPackages]
]

/** The page with its regions drawn anew. */
export const architecture = (docs: URL): Page => {
  const text = regions.reduce(
    (page, [name, source, draw]) => {
      const begin = `<!-- ${name}: generated from ${source} by \`npm run docs\` -->`
      const end = `<!-- /${name} -->`
      const [before, rest] = page.split(`${begin}\n`)
      const after = rest?.split(end)[1]
      if (before === undefined || after === undefined) {
        throw new Error(`${path} has no region of ${name}`)
      }
      return `${before}${begin}\n${draw()}\n${end}${after}`
    },
    readFileSync(new URL(path, docs), "utf8")
  )
  return { path, text }
}
