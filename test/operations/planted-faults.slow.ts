/** Faults planted into statements by chance: exactly the finding of each appears, blocking or not, and without a fault none. */
import { expect, it } from "vitest"
import { world } from "../engine/world.ts"
import { walked } from "./planted-faults.ts"

it("are each found exactly, and nothing else is", async () => {
  await walked({ count: Number(process.env["PLANTED_FAULTS"] ?? 2), over: world })
  expect.hasAssertions()
})
