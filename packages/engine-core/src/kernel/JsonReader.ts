/**
 * Single-pass JSON parser of PlainJson: keeps numbers as text, enforces limits, points to the
 * fault.
 */
import { PlainNumber } from "./PlainNumber.ts"

/** JSON with numbers as their own text. */
export type Plain =
  | null
  | boolean
  | string
  | PlainNumber
  | ReadonlyArray<Plain>
  | { readonly [member: string]: Plain }

/** Fault of a text: the reason, and an RFC 6901 pointer to the value or member at fault. */
export interface JsonFault {
  readonly pointer: string
  readonly detail: string
  /** Character of the text at which reading stopped, counted from 0. */
  readonly at: number
}

/** A limit on everything a body can make the parser do. */
export interface JsonLimits {
  readonly depth: number
  /** Values and member names together. */
  readonly tokens: number
  readonly number: number
  /** Members of one object. */
  readonly members: number
  /** Items of one array. */
  readonly items: number
  /** UTF-8 bytes of one string or member name. */
  readonly string: number
}

/** Returned in place of a value by every step of the reader after a refusal. */
export const FAULT = Symbol("fault")
type Fault = typeof FAULT

/** A pointer longer than this is cut to the last ancestor that fits, so a fault stays small. */
const POINTER_MAX = 512

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const MINUS = 0x2d

/** Reads one text from its start to its end; recursion is bounded by the limit on depth. */
export class JsonReader {
  readonly text: string
  readonly within: JsonLimits
  at = 0
  depth = 0
  tokens = 0
  detail = ""
  /** Path to the fault, innermost member first. */
  readonly path: Array<string | number> = []

  constructor(text: string, within: JsonLimits) {
    this.text = text
    this.within = within
  }

  document(): Plain | Fault {
    const value = this.value(this.next())
    if (value === FAULT) return FAULT
    return Number.isNaN(this.next()) ? value : this.refuse("text follows the value")
  }

  fault(): JsonFault {
    let pointer = ""
    for (const step of this.path.reverse()) {
      const longer = `${pointer}/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`
      if (longer.length > POINTER_MAX) break
      pointer = longer
    }
    return { pointer, detail: this.detail, at: this.at }
  }

  /** Records the fault and its place in the text; answers what the caller answers in turn. */
  refuse(detail: string): Fault {
    this.detail = `${detail} (at character ${this.at})`
    return FAULT
  }

  /** Skips white space; the code of the character then under the cursor, NaN at the end. */
  next(): number {
    const { text } = this
    let code = text.charCodeAt(this.at)
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      code = text.charCodeAt(++this.at)
    }
    return code
  }

  value(code: number): Plain | Fault {
    if (++this.tokens > this.within.tokens) {
      return this.refuse(`there are more than ${this.within.tokens} values and members`)
    }
    switch (code) {
      case QUOTE:
        return this.string()
      case OPEN_BRACE:
        return this.object()
      case OPEN_BRACKET:
        return this.array()
      case 0x74:
        return this.word("true", true)
      case 0x66:
        return this.word("false", false)
      case 0x6e:
        return this.word("null", null)
    }
    return code === MINUS || isDigit(code)
      ? this.number()
      : this.refuse(Number.isNaN(code) ? "the text ends too early" : "a value is expected")
  }

  word<A extends boolean | null>(word: string, value: A): A | Fault {
    if (!this.text.startsWith(word, this.at)) return this.refuse("a value is expected")
    this.at += word.length
    return value
  }

  number(): PlainNumber | Fault {
    const { text } = this
    const start = this.at
    let at = start
    if (text.charCodeAt(at) === MINUS) at++
    const first = at
    at = digitsEnd(text, at)
    if (at === first || (text.charCodeAt(first) === 0x30 && at > first + 1)) return this.noNumber()
    if (text.charCodeAt(at) === 0x2e) {
      const fraction = ++at
      at = digitsEnd(text, at)
      if (at === fraction) return this.noNumber()
    }
    if ((text.charCodeAt(at) | 0x20) === 0x65) {
      const sign = text.charCodeAt(++at)
      if (sign === 0x2b || sign === MINUS) at++
      const exponent = at
      at = digitsEnd(text, at)
      if (at === exponent) return this.noNumber()
    }
    if (at - start > this.within.number) {
      return this.refuse(`a number is longer than ${this.within.number} characters`)
    }
    this.at = at
    return new PlainNumber(text.slice(start, at))
  }

  noNumber(): Fault {
    return this.refuse("a number is written wrongly")
  }

  string(): string | Fault {
    const { text } = this
    const start = ++this.at
    let at = start
    let code = text.charCodeAt(at)
    while (code !== QUOTE && code !== BACKSLASH && code >= 0x20) code = text.charCodeAt(++at)
    this.at = at
    if (code === QUOTE) {
      this.at++
      return this.fitting(text.slice(start, at))
    }
    return code === BACKSLASH ? this.escaped(text.slice(start, at)) : this.badCharacter(code)
  }

  badCharacter(code: number): Fault {
    return this.refuse(
      Number.isNaN(code) ? "a string does not end" : "a string holds a control character"
    )
  }

  /** The rest of a string from its first escape on. */
  escaped(head: string): string | Fault {
    const { text } = this
    let out = head
    let named = false
    for (;;) {
      const start = this.at
      let code = text.charCodeAt(start)
      if (code === BACKSLASH) {
        const unit = this.escape()
        if (unit === FAULT) return FAULT
        named ||= text.charCodeAt(start + 1) === 0x75
        out += unit
        continue
      }
      let at = start
      while (code !== QUOTE && code !== BACKSLASH && code >= 0x20) code = text.charCodeAt(++at)
      if (at > start) out += text.slice(start, at)
      this.at = at
      if (code === BACKSLASH) continue
      if (code !== QUOTE) return this.badCharacter(code)
      this.at++
      if (named && !out.isWellFormed()) return this.refuse("a string holds a lone surrogate")
      return this.fitting(out)
    }
  }

  escape(): string | Fault {
    const letter = this.text.charAt(this.at + 1)
    if (letter !== "u") {
      const simple = ESCAPES.get(letter)
      if (simple === undefined) return this.refuse("a string holds an unknown escape")
      this.at += 2
      return simple
    }
    const hex = this.text.slice(this.at + 2, this.at + 6)
    if (!HEX4.test(hex)) return this.refuse("a string holds an unknown escape")
    const unit = Number.parseInt(hex, 16)
    if (unit === 0) return this.refuse("a string holds NUL")
    this.at += 6
    return String.fromCharCode(unit)
  }

  fitting(value: string): string | Fault {
    const most = this.within.string
    // A UTF-16 unit takes at most three bytes, so almost every string needs no counting.
    if (value.length * 3 <= most || utf8Length(value) <= most) return value
    return this.refuse(`a string is longer than ${most} bytes`)
  }

  array(): ReadonlyArray<Plain> | Fault {
    if (++this.depth > this.within.depth) return this.tooDeep()
    const items: Array<Plain> = []
    this.at++
    let code = this.next()
    if (code !== CLOSE_BRACKET) {
      for (;;) {
        const value =
          items.length < this.within.items
            ? this.value(code)
            : this.refuse(`an array has more than ${this.within.items} items`)
        if (value === FAULT) {
          this.path.push(items.length)
          return FAULT
        }
        items.push(value)
        code = this.next()
        if (code !== COMMA) break
        this.at++
        code = this.next()
      }
      if (code !== CLOSE_BRACKET) return this.refuse("a comma or ] is expected")
    }
    this.at++
    this.depth--
    return items
  }

  object(): { readonly [member: string]: Plain } | Fault {
    if (++this.depth > this.within.depth) return this.tooDeep()
    const members: { [member: string]: Plain } = {}
    let count = 0
    this.at++
    let code = this.next()
    if (code !== CLOSE_BRACE) {
      for (;;) {
        if (code !== QUOTE) return this.refuse("a member name is expected")
        const name = this.name(members, ++count)
        if (name === FAULT) return FAULT
        if (this.next() !== COLON) return this.refuse("a colon is expected")
        this.at++
        const value = this.value(this.next())
        if (value === FAULT) {
          this.path.push(name)
          return FAULT
        }
        members[name] = value
        code = this.next()
        if (code !== COMMA) break
        this.at++
        code = this.next()
      }
      if (code !== CLOSE_BRACE) return this.refuse("a comma or } is expected")
    }
    this.at++
    this.depth--
    return members
  }

  /** The name of the next member, refused when it is one too many, dangerous or repeated. */
  name(members: { readonly [member: string]: Plain }, count: number): string | Fault {
    if (count > this.within.members) {
      return this.refuse(`an object has more than ${this.within.members} members`)
    }
    if (++this.tokens > this.within.tokens) {
      return this.refuse(`there are more than ${this.within.tokens} values and members`)
    }
    const name = this.string()
    if (name === FAULT) return FAULT
    if ((name.length === 9 || name.length === 11) && FORBIDDEN.has(name)) {
      this.path.push(name)
      return this.refuse("a member has a forbidden name")
    }
    // No value is undefined, so a name that is not repeated costs one look-up.
    if (members[name] === undefined || !Object.hasOwn(members, name)) return name
    this.path.push(name)
    return this.refuse("a member is repeated")
  }

  tooDeep(): Fault {
    return this.refuse(`values are nested deeper than ${this.within.depth}`)
  }
}

/** Names of nine and of eleven characters: `name` looks them up for those lengths alone. */
const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"])
const HEX4 = /^[0-9a-fA-F]{4}$/
const ESCAPES = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"]
])

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

const digitsEnd = (text: string, from: number): number => {
  let at = from
  while (isDigit(text.charCodeAt(at))) at++
  return at
}

const utf8Length = (text: string): number => {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    // A surrogate pair is two units and four bytes: each half adds one.
    if (code >= 0x800 && (code < 0xd800 || code > 0xdfff)) bytes += 2
    else if (code >= 0x80) bytes += 1
  }
  return bytes
}
