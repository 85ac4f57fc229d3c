/** Differences of statements over histories of orders by chance: what explains them holds nothing and is named. */
import { expect, it } from "vitest"
import { walked } from "./explained-histories.ts"

it("never hold while orders explain them, and block with the age of their first day once those have settled and they stay", async () => {
  await walked({ length: 12, count: Number(process.env["EXPLAINED_HISTORIES"] ?? 2) })
  expect.hasAssertions()
})
