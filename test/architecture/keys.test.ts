/** One file carries the idempotency of every call; beside it only retention uses the port of keys. */
import { describe, expect, it } from "vitest"
import { sources } from "./sources.ts"

const port = "packages/engine-core/src/ports/storage/"
const users = sources
  .filter(({ path }) => path.startsWith("packages/engine-core/src/") && !path.startsWith(port))
  .filter(({ imports }) =>
    imports.some(({ specifier }) => specifier.endsWith("ports/storage/Keys.ts"))
  )
  .map(({ path }) => path.slice("packages/engine-core/src/".length))

describe("the port of keys", () => {
  it("is used by the calls' one file, and by retention", () => {
    expect(users.toSorted()).toEqual([
      "feeds/RetentionRunner.ts",
      "feeds/RetentionSteps.ts",
      "reconciliation/run/RunRetentionSteps.ts",
      "writes/KeyedCall.ts"
    ])
  })
})
