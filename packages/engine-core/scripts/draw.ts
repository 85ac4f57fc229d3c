/** Draws the generated pages of docs/ from the tables of the core; with --check it only compares. */
import { mkdir, rm, writeFile } from "node:fs/promises"
import { pages } from "./pages/index.ts"
import { architecture } from "./pages/regions.ts"
import { docs, orphans, stale } from "./stale.ts"

const draw = async (): Promise<void> => {
  await mkdir(new URL("machines/", docs), { recursive: true })
  const drawn = [...pages(), architecture(docs)]
  await Promise.all(drawn.map(({ path, text }) => writeFile(new URL(path, docs), text)))
  await Promise.all((await orphans()).map((path) => rm(new URL(path, docs))))
  console.log(`${drawn.length} pages drawn`)
}

const check = async (): Promise<void> => {
  const paths = await stale()
  if (paths.length === 0) return console.log("the generated pages are current")
  console.error(
    `not current, run npm run docs:\n${paths.map((path) => `  docs/${path}`).join("\n")}`
  )
  process.exitCode = 1
}

await (process.argv.includes("--check") ? check() : draw())
