/** The order of the rooms, drawn into a region of ARCHITECTURE.md; the rest of that page is written by hand. */
import { readFileSync } from "node:fs"
import { rooms } from "../rooms.ts"
import { code, type Page, table } from "./page.ts"

const path = "ARCHITECTURE.md"
const begin = "<!-- rooms: generated from scripts/rooms.ts by `npm run docs` -->"
const end = "<!-- /rooms -->"

/** The page with its region drawn anew. */
export const roomRegion = (docs: URL): Page => {
  const text = readFileSync(new URL(path, docs), "utf8")
  const [before, rest] = text.split(`${begin}\n`)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) {
    throw new Error(`${path} has no region of rooms`)
  }
  const drawn = table(
    ["Room", "Holds"],
    Object.entries(rooms).map(([room, holds]) => [code(room), holds])
  )
  return { path, text: `${before}${begin}\n${drawn}\n${end}${after}` }
}
