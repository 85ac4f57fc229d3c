/**
 * Streaming tree walk over the elements of an ISO 20022 message: a form names the elements that it
 * reads, each is handed over as it ends, and all others are passed over
 * (docs/domain/statements.md#xml).
 */
import { StatementSource } from "@bursar/engine-core/ports"
import { refused } from "./Faults.ts"
import { LineBuffer, repeated } from "./LineBuffer.ts"
import type { Step } from "./Steps.ts"
import { type Tag, XmlParser } from "./XmlParser.ts"

/** Elements that a form names, by the names of those within them. */
export interface Shape {
  readonly within: ReadonlyMap<string, Shape>
  readonly keepsText: boolean
  /** True: the element is handed over as it ends, and its parent does not keep it. */
  readonly isRecord: boolean
}

type Names = Readonly<Record<string, Shape>>

const none: Names = {}
const shape = (names: Names, is: Omit<Shape, "within">): Shape => ({
  within: new Map(Object.entries(names)),
  ...is
})

/** An element of text alone. */
export const text = shape(none, { keepsText: true, isRecord: false })
/** An element with elements in it, and its own text where a version of the form has it instead. */
export const textOr = (names: Names): Shape => shape(names, { keepsText: true, isRecord: false })
export const element = (names: Names): Shape => shape(names, { keepsText: false, isRecord: false })
/** An element that is handed to the reader as it ends, and not kept. */
export const record = (names: Names): Shape => shape(names, { keepsText: false, isRecord: true })

/** An element of the file that the form names, with the named elements within it. */
export class Element {
  readonly name: string
  readonly line: number
  /** Attribute `Ccy`, the only one that is read; null: it has none. */
  readonly currency: string | null
  text = ""
  readonly children: Array<Element> = []

  constructor(is: {
    readonly name: string
    readonly line: number
    readonly currency: string | null
  }) {
    this.name = is.name
    this.line = is.line
    this.currency = is.currency
  }
}

/** Reader of one message: gets the records of its shape. */
interface Message {
  readonly began: (record: Element) => void
  readonly ended: (record: Element) => void
  /** The header of the file's one statement; null: each statement was handed on as it ended. */
  readonly end: () => StatementSource.Header | null
}

/** A form of messages: its namespaces, the elements that it reads, and what they mean. */
export interface Form {
  readonly namespaces: ReadonlyArray<{
    /** Name and variant of the message, such as `camt.053.001`. */
    readonly message: string
    readonly versions: { readonly from: number; readonly to: number }
  }>
  /** Elements within `Document`. */
  readonly document: Shape
  readonly read: (
    reading: StatementSource.Reading,
    /** Hands on a line of an element; refuses a position that the file states twice. */
    emit: (line: StatementSource.Line, element: Element) => void,
    /** Hands on the header of a statement that ends: lines after it are of the next one. */
    endStatement: (header: StatementSource.Header, place: StatementSource.StatementPlace) => void
  ) => Message
}

/** Limits of a file, each in one element: docs/domain/statements.md#xml. */
const depthMax = 32
const textMax = 65_536
const attributesMax = 100
/** Bindings of prefixes that are in force at a time. */
const bindingsMax = 100
/** Named elements of a record, and characters of their texts. */
const recordElementsMax = 1_000
const recordTextMax = 262_144
/** Characters of one tag, comment or text as the file writes it. */
const tokenMax = 1_048_576

const urn = "urn:iso:std:iso:20022:tech:xsd:"
const xmlNamespace = "http://www.w3.org/XML/1998/namespace"

const short = (name: string): string => (name.length > 100 ? `${name.slice(0, 100)}…` : name)

const isOf = (form: Form, uri: string): boolean =>
  form.namespaces.some(({ message, versions }) => {
    const prefix = `${urn}${message}.`
    if (!uri.startsWith(prefix) || !/^[0-9]{2}$/u.test(uri.slice(prefix.length))) return false
    const version = Number(uri.slice(prefix.length))
    return version >= versions.from && version <= versions.to
  })

const expected = (form: Form): string =>
  form.namespaces
    .map(({ message, versions: { from, to } }) =>
      [from, to].map((version) => `${message}.${String(version).padStart(2, "0")}`).join(" to ")
    )
    .join(" or ")

interface NamespaceBinding {
  readonly depth: number
  readonly prefix: string
  readonly uri: string
}

/**
 * Walks the text of one file. Throws `StatementMalformed` with line and column where the file is not
 * well formed, holds what no statement needs (DOCTYPE, entities, processing instructions), breaks a
 * limit or is of another namespace; `StatementTooLong` beyond the reading's number of lines.
 */
export const walk = (
  form: Form,
  reading: StatementSource.Reading
): Step<string, StatementSource.Part> => {
  const parser = new XmlParser()
  const malformed = (detail: string) =>
    new StatementSource.StatementMalformed({
      detail,
      line: parser.line,
      column: Math.max(1, parser.columnIndex)
    })

  const buffer = new LineBuffer(reading)
  const message = form.read(
    reading,
    (line, element) => {
      if (!buffer.add(line)) throw repeated(line, element)
    },
    (header, place) => buffer.endStatement(header, place)
  )

  // Namespaces

  const bindings: Array<NamespaceBinding> = []
  const resolve = (prefix: string): string => {
    const uri =
      bindings.findLast((binding) => binding.prefix === prefix)?.uri ??
      (prefix === "" ? "" : prefix === "xml" ? xmlNamespace : undefined)
    if (uri === undefined) throw malformed(`The prefix ${short(prefix)} has no namespace.`)
    return uri
  }
  let defaultUri = ""

  const bind = (prefix: string, uri: string): void => {
    if (prefix !== "" && uri === "") throw malformed("A prefix is bound to an empty namespace.")
    if (prefix === "xmlns" || (prefix === "xml") !== (uri === xmlNamespace)) {
      throw malformed(`The prefix ${short(prefix)} is bound to a namespace that is not its own.`)
    }
    if (bindings.length === bindingsMax) throw malformed("More than 100 namespaces are in force.")
    bindings.push({ depth: depth + 1, prefix, uri })
    if (prefix === "") defaultUri = uri
  }

  const unbind = (): void => {
    while (bindings.length > 0 && (bindings.at(-1) as NamespaceBinding).depth > depth)
      bindings.pop()
    defaultUri = resolve("")
  }

  /** Attributes with a prefix are the same where their namespaces are. */
  const checkPrefixed = (names: ReadonlyArray<string>): void => {
    const expanded = names.map((name) => {
      const [prefix = "", local = ""] = split(name)
      return `${resolve(prefix)} ${local}`
    })
    if (new Set(expanded).size < expanded.length) throw malformed("An attribute is repeated.")
  }

  const split = (name: string): readonly [string, string] => {
    const colon = name.indexOf(":")
    if (colon < 0) return ["", name]
    const local = name.slice(colon + 1)
    if (colon === 0 || local === "" || local.includes(":")) {
      throw malformed(`The name ${short(name)} has a colon too many.`)
    }
    return [name.slice(0, colon), local]
  }

  // Elements

  let depth = 0
  /** Depth of the first element that is passed over; 0: the walk is in a named one. */
  let passedFrom = 0
  /** Depth of `Document`; 0: it has not begun. */
  let documentDepth = 0
  let documentUri = ""
  let hasEnded = false
  const shapes: Array<Shape> = []
  const elements: Array<Element> = []
  /** Sizes of the record that is being read, and of those around it. */
  const sizes: Array<{ elements: number; characters: number }> = [{ elements: 0, characters: 0 }]

  let attributes = 0
  let prefixed: Array<string> = []
  let textLength = 0
  /** Number of characters since the parser's last event. */
  let pending = 0

  const beginDocument = (uri: string): void => {
    if (documentDepth !== 0 || hasEnded) throw malformed("The file has more than one Document.")
    if (!isOf(form, uri)) {
      throw malformed(
        `The namespace of Document is ${uri === "" ? "empty" : short(uri)}; ${expected(form)} is read.`
      )
    }
    documentDepth = depth
    documentUri = uri
    shapes.push(form.document)
    elements.push(new Element({ name: "Document", line: parser.line, currency: null }))
  }

  const beginNamed = (named: Shape, local: string, tag: Tag): void => {
    const begun = new Element({
      name: local,
      line: parser.line,
      currency: tag.attributes["Ccy"] ?? null
    })
    shapes.push(named)
    elements.push(begun)
    if (named.isRecord) {
      sizes.push({ elements: 0, characters: 0 })
      message.began(begun)
      return
    }
    const size = sizes.at(-1) as { elements: number; characters: number }
    size.elements++
    if (size.elements > recordElementsMax) {
      throw malformed(`${elements.at(-2)?.name ?? "An element"} has too many elements in it.`)
    }
  }

  parser.on("attribute", ({ name, value }) => {
    pending = 0
    attributes++
    if (attributes > attributesMax) throw malformed("An element has more than 100 attributes.")
    if (value.length > textMax) throw malformed("An attribute is longer than 64 KiB.")
    if (name === "xmlns") bind("", value)
    else if (name.startsWith("xmlns:")) bind(split(name)[1], value)
    else if (name.includes(":")) prefixed.push(name)
  })

  parser.on("opentag", (tag) => {
    depth++
    pending = 0
    textLength = 0
    attributes = 0
    if (depth > depthMax) throw malformed("Elements lie more than 32 deep.")
    if (prefixed.length > 0) {
      checkPrefixed(prefixed)
      prefixed = []
    }
    const { name } = tag
    const colon = name.indexOf(":")
    const local = colon < 0 ? name : split(name)[1]
    const uri = colon < 0 ? defaultUri : resolve(name.slice(0, colon))
    if (passedFrom !== 0) return
    if (documentDepth === 0) {
      if (local === "Document") beginDocument(uri)
      return
    }
    const around = shapes.at(-1)
    if (around !== undefined && around.keepsText && around.within.size === 0) {
      // Its text would be read as if the element within it were not there.
      const { name: outer } = elements.at(-1) as Element
      throw refused("statement-field", `${outer} has an element within its text.`, parser)
    }
    const named = uri === documentUri ? around?.within.get(local) : undefined
    if (named === undefined) passedFrom = depth
    else beginNamed(named, local, tag)
  })

  const hear = (heardText: string): void => {
    pending = 0
    textLength += heardText.length
    if (textLength > textMax) throw malformed("A text is longer than 64 KiB.")
    if (passedFrom !== 0 || documentDepth === 0 || !(shapes.at(-1) as Shape).keepsText) return
    const size = sizes.at(-1) as { elements: number; characters: number }
    size.characters += heardText.length
    if (size.characters > recordTextMax)
      throw malformed("An entry or position has more than 256 KiB of text.")
    ;(elements.at(-1) as Element).text += heardText
  }
  parser.on("text", hear)
  parser.on("cdata", hear)

  parser.on("closetag", () => {
    pending = 0
    textLength = 0
    if (passedFrom !== 0) {
      if (passedFrom === depth) passedFrom = 0
    } else if (documentDepth === depth) {
      documentDepth = 0
      hasEnded = true
      shapes.pop()
      elements.pop()
    } else if (documentDepth !== 0) endNamed()
    depth--
    if (bindings.length > 0 && (bindings.at(-1) as NamespaceBinding).depth > depth) unbind()
  })

  const endNamed = (): void => {
    const named = shapes.pop() as Shape
    const ended = elements.pop() as Element
    if (named.isRecord) {
      sizes.pop()
      message.ended(ended)
    } else elements.at(-1)?.children.push(ended)
  }

  parser.on("comment", (comment) => {
    pending = 0
    if (comment.length > textMax) throw malformed("A comment is longer than 64 KiB.")
  })
  parser.on("doctype", () => {
    throw malformed("The file has a DOCTYPE.")
  })
  parser.on("processinginstruction", ({ target }) => {
    throw malformed(`The file has a processing instruction, ${short(target)}.`)
  })
  parser.on("error", ({ message: why }) => {
    throw malformed(`The file is no well-formed XML: ${short(why)}`)
  })

  return {
    write: (slice) => {
      pending += slice.length
      parser.write(slice)
      if (pending > tokenMax) throw malformed("A tag, a comment or a text is longer than 1 MiB.")
      return buffer.flush()
    },
    end: () => {
      // Closing sets the parser's place back to the beginning.
      const without = malformed("The file has no Document.")
      parser.close()
      if (!hasEnded) throw without
      const header = message.end()
      return header === null ? buffer.flush() : [...buffer.flush(), { part: "header", header }]
    }
  }
}
