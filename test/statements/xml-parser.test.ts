/** Parser of XML: its object keeps the form in which V8 reads a property fast. */
import { setFlagsFromString } from "node:v8"
import { expect, it } from "vitest"
import { type HandledEvent, XmlParser } from "#adapters/statements/XmlParser.ts"

const events: Readonly<Record<HandledEvent, true>> = {
  attribute: true,
  cdata: true,
  closetag: true,
  comment: true,
  doctype: true,
  error: true,
  opentag: true,
  processinginstruction: true,
  text: true
}

/** Whether V8 keeps the properties of an object by their place, and not in a hash table. */
const isFast = (object: object): boolean => {
  setFlagsFromString("--allow-natives-syntax")
  const ask: unknown = new Function("object", "return %HasFastProperties(object)")
  if (typeof ask !== "function") throw new Error("a function is no function")
  return ask(object) === true
}

it("gets no property by a handler, of which a few would turn it into a hash table", () => {
  const parser = new XmlParser()
  const before = Object.keys(parser)
  for (const event of Object.keys(events) as ReadonlyArray<HandledEvent>) {
    parser.on(event, () => undefined)
    expect(Object.keys(parser), event).toEqual(before)
  }
  expect(isFast(parser)).toBe(true)
})
