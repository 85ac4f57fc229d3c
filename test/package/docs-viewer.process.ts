/**
 * The viewer at `/docs` in a real browser: it reads the document of all routes, and has no objection to it.
 *
 * Seen red: with sets that are open, and scalars that may be null, as a choice without a type beside it.
 */
import { expect, it } from "vitest"
import * as Wallets from "../http/wallets.ts"
import { consoleOf } from "./browser/console.ts"
import { browser } from "./browser/headless.ts"

/** What the viewer logs once it has read, judged and taken its document. */
const taken = "addDocument: "

it.skipIf(browser === undefined)(
  "never would warn, in a browser (chromium), of the document that its host gives it",
  async () => {
    const venue = await Wallets.open()
    try {
      const lines = await consoleOf(`${venue.url}/docs`, ({ text }) => text.startsWith(taken))
      expect(lines.filter(({ level }) => level !== "info")).toEqual([])
    } finally {
      await venue.close()
    }
  }
)
