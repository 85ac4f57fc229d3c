/** Finds generated pages that differ from their tables. */
import { readdir, readFile } from "node:fs/promises"
import { pages } from "./pages/index.ts"
import { architecture } from "./pages/regions.ts"

export const docs = new URL("../docs/", import.meta.url)

const textAt = (path: string): Promise<string | null> =>
  readFile(new URL(path, docs), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null
    throw error
  })

/** Pages of sets that are gone: machines/ holds generated pages alone. */
export const orphans = async (): Promise<ReadonlyArray<string>> => {
  const drawn = new Set(pages().map(({ path }) => path))
  const there = await readdir(new URL("machines/", docs))
  return there.map((name) => `machines/${name}`).filter((path) => !drawn.has(path))
}

/** The paths below docs/ that differ, are missing, or should not be there. */
export const stale = async (): Promise<ReadonlyArray<string>> => {
  const drawn = await Promise.all(
    [...pages(), architecture(docs)].map(async ({ path, text }) =>
      (await textAt(path)) === text ? [] : [path]
    )
  )
  return [...drawn.flat(), ...(await orphans())]
}
