/** Every kind of write has a sentence that an approver reads: of ids and figures, and never too long. */
import { Catalogue } from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { OperationKind } from "#core/vocabulary/OperationKind.ts"
import type { AnyOperation, Operation } from "#core/writes/Operation.ts"
import * as Request from "#core/writes/Request.ts"
import { lengthMax, sentence, summaryOf } from "#core/writes/Summary.ts"
import { seed } from "../seeds.ts"
import { inputsOf } from "./inputs.ts"

const declared: ReadonlyArray<AnyOperation> = [
  ...Catalogue.operations,
  ...Catalogue.timely.map(({ operation }) => operation)
]
const byKind = new Map(declared.map((operation) => [operation.kind, operation]))

/** Members of requests that a sentence may name: ids, and words of closed lists. */
const nameable = /(?:Ids?$|^(?:accept|asset|closedAs|currency|kind|mode|month|powers|valuation)$)/u
/** Instants, which a sentence may name too. */
const instants = /^(?:from|until|validUntil|effectiveFrom|cutOffAt)$/u
const person = "Jane Roe"
const longest = "x".repeat(128)

/** A request in which every id has the greatest length, and every other text names a person. */
const named = (request: PlainJson.Plain, { kind }: AnyOperation, member = ""): PlainJson.Plain => {
  if (typeof request === "string") {
    if (instants.test(member)) return "2026-11-30T12:00:00.123456789Z"
    if (member.endsWith("Id") || member.endsWith("Ids")) return longest
    const isWord = nameable.test(member) || (member === "reason" && kind === "holder.restrict")
    return isWord ? request : person
  }
  if (request === null || typeof request !== "object" || PlainJson.isPlainNumber(request)) {
    return request
  }
  if (Array.isArray(request)) {
    return request.map((item: PlainJson.Plain) => named(item, { kind } as AnyOperation, member))
  }
  return Object.fromEntries(
    Object.entries(request as Record<string, PlainJson.Plain>).map(([name, value]) => [
      name,
      // The id of an asset stands beside the party that administers it.
      named(value, { kind } as AnyOperation, member.endsWith("sset") && name === "id" ? "Id" : name)
    ])
  )
}

const figures = {
  direction: "tighten",
  price: "1.0000000001",
  subscriptions: "1000",
  redemptions: "1",
  lines: "200000",
  net: "9999999999999999999999999999.99"
}
const subjectOf = (id: string) => ({
  resource: { kind: "holder" as const, id, href: `/v1/holders/${id}` },
  instrumentId: id,
  holderId: id,
  figures
})

/** Requests of a kind as they are stored. */
const requestsOf = (operation: AnyOperation): ReadonlyArray<PlainJson.Plain> =>
  inputsOf(operation as Operation).map((input) =>
    Request.encode(operation, operation.complete?.(input, () => "made-1") ?? input)
  )

describe("the summary of a write", () => {
  it.each(OperationKind.members)("is declared for %s, and is one short sentence", (kind) => {
    const operation = byKind.get(kind)
    if (operation?.summary === undefined) throw new Error(`${kind} has no summary`)
    const requests = requestsOf(operation)
    expect(requests.length).toBeGreaterThan(0)
    for (const request of requests) {
      for (const id of ["a-1", longest]) {
        for (const form of [request, named(request, operation)]) {
          const text = operation.summary(form, subjectOf(id))
          expect(text.length, text).toBeLessThanOrEqual(lengthMax)
          expect(text).toMatch(/^[A-Z][^\n]*\.$/u)
          expect(text).not.toMatch(/undefined|null|\[object|NaN| {2}|\. [A-Z]/u)
          expect(text).not.toContain(person)
        }
      }
    }
  })

  it.each(OperationKind.members)("of %s says the record that it acts on, or makes", (kind) => {
    const operation = byKind.get(kind) as AnyOperation
    for (const partial of inputsOf(operation as Operation)) {
      const input = operation.complete?.(partial, () => "made-1") ?? partial
      const { resource } = operation
      const { id, instrumentId, holderId } = {
        id: resource.id(input),
        instrumentId: resource.instrumentId?.(input) ?? null,
        holderId: resource.holderId?.(input) ?? null
      }
      const subject = { resource: { kind: resource.kind, id, href: "/" }, instrumentId, holderId }
      const text = summaryOf(operation, {
        kind: operation.kind,
        request: Request.encode(operation, input),
        ...subject
      })
      const names = [id, instrumentId, holderId].filter((name) => (name ?? "") !== "")
      if (kind === "holder.restrict-batch" || text.includes("…")) continue
      expect(
        names.some((name) => text.includes(name ?? "")),
        `${text} names ${names}`
      ).toBe(true)
    }
  })

  it("is the kind and the record where a room declares none, or has gone", () => {
    const write = { kind: "x-loan.grant" as const, request: null, ...subjectOf("loan-1") }
    expect(summaryOf(undefined, write)).toBe("x-loan.grant of holder loan-1.")
    expect(summaryOf({}, write)).toBe("x-loan.grant of holder loan-1.")
  })
})

describe("a sentence", () => {
  const unit = fc.constantFrom("a", "0", "-", "é", "😀")
  const text = fc.string({ unit, minLength: 1, maxLength: 300 })

  it("is whole up to its limit, and beyond it cuts only the longest values", () => {
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        const whole = `Moves ${a} from ${b} to ${c}.`
        const made = sentence`Moves ${a} from ${b} to ${c}.`
        expect(made.length).toBeLessThanOrEqual(lengthMax)
        expect(made.isWellFormed()).toBe(true)
        if (whole.length <= lengthMax) expect(made).toBe(whole)
        else expect(made.length).toBeGreaterThan(lengthMax - 6)
        for (const value of [a, b, c]) if (value.length <= 50) expect(made).toContain(value)
      }),
      { seed }
    )
  })

  it("stays one line in one direction whatever others chose as an id", () => {
    expect(sentence`Takes ${"a\n\u202e\u0000b  c "} and ${" "}.`).toBe("Takes a b c and ?.")
  })
})
