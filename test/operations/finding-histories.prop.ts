/** Findings over histories by chance: every stored figure is what the books of the walk say. */
import { expect, it } from "vitest"
import { walked } from "./finding-histories.ts"

it("never lose, double or age findings otherwise than the runs that looked, and hold no more and no less", async () => {
  await walked({ length: 30, count: Number(process.env["FINDING_HISTORIES"] ?? 2) })
  expect.hasAssertions()
})
