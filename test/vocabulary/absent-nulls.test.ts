/** A null of an optional member is answered as an absent one, in the body of every write and call. */
import { Result, type Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { operations } from "#core/catalogue.ts"
import * as AbsentNulls from "#core/kernel/AbsentNulls.ts"
import * as Shape from "#core/kernel/Shape.ts"
import { RunRequest } from "#core/reconciliation/run/RunRequest.ts"
import { ApproveBody, RejectBody } from "#host/api/WritesApi.ts"

const bodies: ReadonlyArray<readonly [string, Schema.Codec<unknown, unknown>]> = [
  ...operations.map(({ kind, input }) => [kind, input] as const),
  ["reconciliation run", RunRequest],
  [":approve", ApproveBody],
  [":reject", RejectBody]
] as never

/** An object that has nothing but what leads to a place, with or without the null at its end. */
const skeleton = (place: AbsentNulls.Place, end: "null" | "absent"): unknown => {
  const [name, ...rest] = place
  if (name === undefined) return null
  const inner = skeleton(rest, end)
  if (name === "*") return [inner]
  return rest.length === 0 && end === "absent" ? {} : { [name]: inner }
}

const answer = (schema: Schema.Codec<unknown, unknown>, body: unknown) => {
  const decoded = Shape.decoder(schema).decode(body, () => "/body")
  return Result.isSuccess(decoded)
    ? { input: decoded.success }
    : { errors: decoded.failure.details.errors ?? [] }
}

const isNullTaken = (path: string) => new RegExp(`^/body${path.replaceAll("/*", "/0")}$`, "u")

describe("a null of an optional member", () => {
  const cases = bodies.flatMap(([kind, schema]) =>
    [...new Set(AbsentNulls.optionalsOf(schema).map((place) => JSON.stringify(place)))].map(
      (place) => [kind, JSON.parse(place) as AbsentNulls.Place, schema] as const
    )
  )

  it("is looked for in every body that has optional members", () => {
    expect(cases.length).toBeGreaterThan(150)
    const places = cases.map(([kind, place]) => `${kind} ${place.join(".")}`)
    expect(places).toContain("reserve.propose priceDecimals")
    expect(places).toContain("reserve.propose loosenDelay")
    expect(places).toContain("hold.release accept")
  })

  it.each(cases)("of %s, %j, is no fault of its own", (kind, place, schema) => {
    const path = place.map((name) => `/${name}`).join("")
    const withNull = answer(schema, skeleton(place, "null"))
    expect(
      (withNull.errors ?? []).filter(({ pointer }) => isNullTaken(path).test(pointer))
    ).toEqual([])
    // A member whose null clears what was set says something else than nothing at all.
    const { input: absent, ...errors } = answer(schema, skeleton(place, "absent"))
    const { input: given, ...faults } = withNull
    expect(faults).toEqual(errors)
    if (kindsThatClear.has(kind)) return
    expect(given).toEqual(absent)
  })

  it("is left out wherever it stands in a whole body, and nothing else is", () => {
    const [, schema] = bodies.find(([kind]) => kind === "reserve.propose")!
    const terms = { minCover: 1, assets: [] }
    const body = { reserveId: "r", terms, decimals: 6 }
    fc.assert(
      fc.property(fc.subarray(["priceDecimals", "loosenDelay"]), (names) => {
        const nulls = Object.fromEntries(names.map((name) => [name, null]))
        expect(AbsentNulls.of(schema)({ ...body, ...nulls })).toEqual(body)
      })
    )
    expect(AbsentNulls.of(schema)({ ...body, reserveId: null })).toEqual({
      ...body,
      reserveId: null
    })
  })
})

/** Writes that change what is there: null takes a value away where the member says so. */
const kindsThatClear: ReadonlySet<string> = new Set([
  "policy.set",
  "webhook.register",
  // The reason of a rejection is null where none is given.
  ":reject"
])
