/** Bytes that a first visit of the console loads: the shell alone, whatever pages the areas gain. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { built, buildIfStale } from "../../packages/http-host/scripts/console.ts"

/** Bytes of scripts and styles of the first load, gzipped; some above what they are. */
const bytesMax = 70_000

/** A sentence of a page of each area, and where it is written. */
const sentences: ReadonlyArray<readonly [sentence: string, source: string]> = [
  ["Suppose nothing", "cycles/Area.tsx"],
  ["Open, and have it logged", "holders/TaxTab.tsx"],
  ["Register against the ledger", "instruments/RegisterTab.tsx"],
  ["Bank lines that pay it", "orders/OrderPage.tsx"],
  ["Restrict many holders at once", "restraints/Area.tsx"]
]

describe("the first load of the console", () => {
  let files: ReadonlyArray<string>
  beforeAll(async () => {
    await buildIfStale()
    const page = readFileSync(join(built, "index.html"), "utf8")
    files = [...page.matchAll(/\.\/(assets\/[^"]+\.(?:js|css))/gu)].map(([, file = ""]) => file)
  })

  it("is the shell with the client, and of a size that no page of an area adds to", () => {
    expect(files.length).toBeGreaterThan(3)
    const bytes = files.map((file) => readFileSync(join(built, `${file}.gz`)).length)
    expect(bytes.reduce((all, one) => all + one, 0)).toBeLessThan(bytesMax)
  })

  it.each(sentences)("has nothing of the page that says “%s”", (sentence, source) => {
    // The sentence is still one of the page, so that its absence says something.
    expect(readFileSync(join(built, "../../console/src", source), "utf8")).toContain(sentence)
    const holding = files.filter((file) =>
      readFileSync(join(built, file), "utf8").includes(sentence)
    )
    expect(holding).toEqual([])
  })
})
