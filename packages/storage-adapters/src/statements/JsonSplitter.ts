/**
 * Splitter of a JSON file: cuts the elements of the array `lines` out of the text as they end, and
 * keeps the rest of the file, so that no more than an element and the header are in memory.
 *
 * It looks for quotes and brackets alone. The grammar is judged by the parser that gets the pieces.
 */
import { PlainJson } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import { after, type DecodingPlace } from "./Decoding.ts"
import { malformed } from "./Faults.ts"

/** Characters of an element, and of the header. */
const pieceMax = 1_048_576

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/**
 * Place of the cursor: before the object, in its members, in or between the elements, or after it.
 */
type State = "before" | "members" | "first" | "line" | "comma" | "next" | "after"

/** Piece of a file. */
export interface Piece {
  readonly text: string
  /** Place of a character of the piece, counted from 0, in the file. */
  readonly placeOf: (at: number) => DecodingPlace
}

export class JsonSplitter {
  readonly #onLine: (line: Piece) => void
  #state: State = "before"
  /** Text that is not cut yet, and the place of its first character. */
  #text = ""
  #place: DecodingPlace = { line: 1, column: 1 }
  /** First character of the present piece, and the cursor. */
  #start = 0
  #at = 0
  /** Brackets that are open around the cursor within the piece, or within the file for its members. */
  #depth = 0
  #inString = false
  #stringStart = 0
  /** Text of the latest string among the members, and name of the member whose value is read. */
  #string = ""
  #name: string | null = null
  /** The file without the elements of `lines`. */
  readonly #rest: Array<Piece> = []

  constructor(onLine: (line: Piece) => void) {
    this.#onLine = onLine
  }

  write(text: string): void {
    this.#text += text
    while (this.#at < this.#text.length && this.#step());
    this.#place = after(this.#place, this.#text.slice(0, this.#start))
    this.#text = this.#text.slice(this.#start)
    this.#at -= this.#start
    this.#stringStart -= this.#start
    this.#start = 0
    if (this.#text.length > pieceMax) {
      throw malformed(
        `An element or the header is longer than ${pieceMax} characters.`,
        this.#place
      )
    }
  }

  /** The file without the elements of `lines`, in pieces. */
  end(): ReadonlyArray<Piece> {
    if (this.#state === "after") return this.#rest
    throw malformed("The text ends too early.", after(this.#place, this.#text))
  }

  /** Moves the cursor on; false where the text does not suffice. */
  #step(): boolean {
    switch (this.#state) {
      case "before":
        return this.#skip({ [OPEN_BRACE]: "members" }, "A statement is a JSON object.")
      case "first":
        return this.#skip({ [OPEN_BRACE]: "line", [CLOSE_BRACKET]: "members" }, anObject)
      case "comma":
        return this.#skip(
          { [COMMA]: "next", [CLOSE_BRACKET]: "members" },
          "A comma or ] is expected."
        )
      case "next":
        return this.#skip({ [OPEN_BRACE]: "line" }, anObject)
      case "after":
        return this.#skip({}, "Text follows the statement.")
      case "members":
        return this.#scan((code) => this.#inMembers(code))
      case "line":
        return this.#scan((code) => this.#inLine(code))
    }
  }

  /** Passes over white space to a character that leads to another state. */
  #skip(states: Readonly<Record<number, State>>, expected: string): boolean {
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) continue
      const state = states[code]
      if (state === undefined) throw malformed(expected, this.#placeOf(this.#at))
      this.#state = state
      this.#start = this.#at
      // The bracket that closes `lines` is the first character of the members after it.
      this.#depth = code === CLOSE_BRACKET ? 1 : 0
      if (code === CLOSE_BRACKET || code === COMMA) this.#at++
      return true
    }
    this.#start = this.#at
    return false
  }

  /** Passes over text and strings up to a bracket at which `on` leaves the state. */
  #scan(on: (code: number) => boolean): boolean {
    const text = this.#text
    for (; this.#at < text.length; this.#at++) {
      const code = text.charCodeAt(this.#at)
      if (!this.#inString) {
        if (code === QUOTE) {
          this.#inString = true
          this.#stringStart = this.#at
        } else if (on(code)) return true
      } else if (code === BACKSLASH) {
        // Passes over the escaped character, which may be the first of the next text.
        this.#at++
      } else if (code === QUOTE) {
        this.#inString = false
        if (this.#state === "members") this.#string = text.slice(this.#stringStart, this.#at + 1)
      }
    }
    return false
  }

  #inMembers(code: number): boolean {
    const isOfFile = this.#depth === 1
    if (code === COLON && isOfFile) this.#name = nameOf(this.#string)
    else if (code === COMMA && isOfFile) this.#name = null
    else if (code === OPEN_BRACKET && isOfFile && this.#name === "lines") return this.#enter()
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) this.#depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      this.#depth--
      if (this.#depth === 0) return this.#leave("after")
    }
    return false
  }

  /** A second array would cut the file into pieces without end. */
  #enter(): true {
    if (this.#rest.length > 0)
      throw malformed("/lines: a member is repeated", this.#placeOf(this.#at))
    return this.#leave("first")
  }

  #inLine(code: number): boolean {
    if (code === OPEN_BRACE || code === OPEN_BRACKET) this.#depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      this.#depth--
      if (this.#depth === 0) return this.#leave("comma")
    }
    return false
  }

  /** Cuts the piece that ends with the character under the cursor. */
  #leave(state: State): true {
    this.#at++
    const start = this.#start
    const piece: Piece = {
      text: this.#text.slice(start, this.#at),
      placeOf: (at) => this.#placeOf(start + at)
    }
    if (this.#state === "line") this.#onLine(piece)
    else this.#rest.push({ ...piece, placeOf: fixed(piece.placeOf(0), piece.text) })
    this.#start = this.#at
    this.#state = state
    return true
  }

  #placeOf(at: number): DecodingPlace {
    return after(this.#place, this.#text.slice(0, at))
  }
}

/** Places of a piece that is kept beyond the text that it was cut out of. */
const fixed =
  (start: DecodingPlace, text: string) =>
  (at: number): DecodingPlace =>
    after(start, text.slice(0, at))

/** Name of a member by its text in the file, escapes and all; null where it is no string. */
const nameOf = (text: string): string | null => {
  const name = PlainJson.parse(text)
  return Result.isSuccess(name) && typeof name.success === "string" ? name.success : null
}

const anObject = "An element of lines is an object."
