/** Breaches of records that the ledger keeps: each is kept, and found, under the kind of its record. */
import { describe, expect, it } from "vitest"
import { sources } from "../architecture/sources.ts"

/** Names of collections by the constants that hold them. */
const nameOf = new Map(
  sources.flatMap(({ text }) =>
    text
      .matchAll(/export const (?<held>\w+) = Collection\.define<[^(]*>\(\s*"(?<name>[^"]+)"/gu)
      .toArray()
      .map(({ groups }) => [groups?.["held"] ?? "", groups?.["name"] ?? ""] as const)
  )
)

const follows = sources.flatMap(({ path, text }) =>
  text
    .matchAll(
      /transitionsOf\(\{\s*collection: (?<held>\w+),[^}]*resourceKind: "(?<resourceKind>[^"]+)"/gu
    )
    .toArray()
    .map(({ groups }) => ({
      path,
      collection: nameOf.get(groups?.["held"] ?? ""),
      resourceKind: groups?.["resourceKind"]
    }))
)

describe("the breaches of a record", () => {
  it.each(follows)(
    "are kept under its kind: $collection in $path",
    ({ collection, resourceKind }) => {
      expect(collection).toBeDefined()
      // A line is found by its distribution.
      expect(resourceKind).toBe(collection === "distribution-line" ? "distribution" : collection)
    }
  )

  it("are those of every record that has a reading of its own", () => {
    expect(follows.length).toBeGreaterThan(10)
  })
})
