/** Adapter of saxes: a parser of one file's text, with a handler for each event of `HandledEvent`. */
import { type EventNameToHandler, SaxesParser, type SaxesTagPlain } from "saxes"

/** Namespaces are resolved by the walk: the parser takes twice its time over them. */
const options = {
  xmlns: false,
  position: false,
  forceXMLVersion: true,
  defaultXMLVersion: "1.0"
} as const
type Options = typeof options

export type Tag = SaxesTagPlain

/** Events that have a field in `XmlParser`. */
export type HandledEvent =
  | "attribute"
  | "cdata"
  | "closetag"
  | "comment"
  | "doctype"
  | "error"
  | "opentag"
  | "processinginstruction"
  | "text"

/** The parser's public members, so that a class beneath it may name fields that saxes keeps private. */
interface Public extends Pick<SaxesParser<Options>, "close" | "columnIndex" | "line" | "write"> {
  readonly on: <N extends HandledEvent>(name: N, handler: EventNameToHandler<Options, N>) => void
}
const Base: new (options: Options) => Public = SaxesParser

/**
 * Parser with a field for each handler. saxes adds a handler as a computed property, and V8 turns an
 * object that gets more than seven of them into a hash table, in which every character of a file costs
 * several times as much. A field that the object has already is set without.
 */
export class XmlParser extends Base {
  readonly attributeHandler = undefined
  readonly cdataHandler = undefined
  readonly closeTagHandler = undefined
  readonly commentHandler = undefined
  readonly doctypeHandler = undefined
  readonly errorHandler = undefined
  readonly openTagHandler = undefined
  readonly piHandler = undefined
  readonly textHandler = undefined

  constructor() {
    super(options)
  }
}
