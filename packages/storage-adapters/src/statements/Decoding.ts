/**
 * Decoder of a file's bytes into text, slice by slice. The encoding is that of the byte order mark,
 * else of the declaration, else of the charset parameter (docs/domain/statements.md#encodings).
 */
import { StatementSource } from "@bursar/engine-core/ports"
import type { Step } from "./Steps.ts"

/** Places in which a file may name its encoding. */
interface DeclaredEncodings {
  /** Charset parameter that the sender declared; null: none. */
  readonly charset: string | null
  /** `xml`: by the declaration at the beginning of the file; a name: by the source's configuration. */
  readonly declaration:
    | { readonly by: "xml" }
    | { readonly by: "source"; readonly encoding: string }
    | null
}

type Encoding =
  | "utf-8"
  | "utf-16le"
  | "utf-16be"
  | "iso-8859-1"
  | "iso-8859-15"
  | "windows-1252"
  | "us-ascii"

/** Encodings by their names in declarations; `utf-16` leaves the order of bytes to the mark. */
const labels: Readonly<Record<string, Encoding | "utf-16">> = {
  "utf-8": "utf-8",
  utf8: "utf-8",
  "utf-16": "utf-16",
  utf16: "utf-16",
  "utf-16le": "utf-16le",
  "utf-16be": "utf-16be",
  "iso-8859-1": "iso-8859-1",
  "iso8859-1": "iso-8859-1",
  iso_8859_1: "iso-8859-1",
  "iso_8859-1": "iso-8859-1",
  latin1: "iso-8859-1",
  "iso-8859-15": "iso-8859-15",
  "iso8859-15": "iso-8859-15",
  "iso_8859-15": "iso-8859-15",
  "latin-9": "iso-8859-15",
  "windows-1252": "windows-1252",
  cp1252: "windows-1252",
  "us-ascii": "us-ascii",
  ascii: "us-ascii"
}

const accepted = "UTF-8, UTF-16, ISO-8859-1, ISO-8859-15 and Windows-1252"

/** First bytes of files that are no text of an accepted encoding. */
const signatures: ReadonlyArray<{ readonly bytes: ReadonlyArray<number>; readonly is: string }> = [
  { bytes: [0x50, 0x4b, 0x03, 0x04], is: "a zip archive" },
  { bytes: [0x50, 0x4b, 0x05, 0x06], is: "a zip archive" },
  { bytes: [0x50, 0x4b, 0x07, 0x08], is: "a zip archive" },
  { bytes: [0x1f, 0x8b], is: "gzip" },
  { bytes: [0x25, 0x50, 0x44, 0x46], is: "a PDF document" },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], is: "an office document" },
  { bytes: [0x37, 0x7a, 0xbc, 0xaf], is: "a 7z archive" },
  { bytes: [0xfd, 0x37, 0x7a, 0x58], is: "xz" },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], is: "Zstandard" },
  { bytes: [0x4c, 0x6f, 0xa7, 0x94], is: "XML in EBCDIC" },
  { bytes: [0x2b, 0x2f, 0x76], is: "UTF-7" },
  { bytes: [0x2b, 0x41, 0x44, 0x77], is: "UTF-7" },
  { bytes: [0xff, 0xfe, 0x00, 0x00], is: "UTF-32" },
  { bytes: [0x00, 0x00, 0xfe, 0xff], is: "UTF-32" },
  { bytes: [0x3c, 0x00, 0x00, 0x00], is: "UTF-32" },
  { bytes: [0x00, 0x00, 0x00, 0x3c], is: "UTF-32" }
]

const marks: ReadonlyArray<{ readonly bytes: ReadonlyArray<number>; readonly is: Encoding }> = [
  { bytes: [0xef, 0xbb, 0xbf], is: "utf-8" },
  { bytes: [0xff, 0xfe], is: "utf-16le" },
  { bytes: [0xfe, 0xff], is: "utf-16be" }
]

/** Beginnings of an XML file in UTF-16 without a mark. */
const patterns: ReadonlyArray<{ readonly bytes: ReadonlyArray<number>; readonly is: Encoding }> = [
  { bytes: [0x3c, 0x00], is: "utf-16le" },
  { bytes: [0x00, 0x3c], is: "utf-16be" }
]

const startsWith = (bytes: Uint8Array, start: ReadonlyArray<number>): boolean =>
  start.length <= bytes.length && start.every((byte, index) => bytes[index] === byte)

/** Largest number of bytes of an XML declaration. */
const declarationBytesMax = 1_024

interface Codec {
  /** Number of leading bytes that hold whole characters. */
  readonly whole: (bytes: Uint8Array) => number
  /** Text of whole characters; undefined where the bytes are none of the encoding. */
  readonly text: (bytes: Uint8Array) => string | undefined
}

const wholeUtf8 = (bytes: Uint8Array): number => {
  const length = bytes.length
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back] as number
    if ((byte & 0xc0) === 0x80) continue
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needed > back ? length - back : length
  }
  return length
}

/** A pair of surrogates is one character; `high` is the place in a unit of its high byte. */
const wholeUtf16 =
  (high: 0 | 1) =>
  (bytes: Uint8Array): number => {
    const even = bytes.length - (bytes.length % 2)
    if (even === 0) return 0
    const isHighSurrogate = ((bytes[even - 2 + high] as number) & 0xfc) === 0xd8
    return isHighSurrogate ? even - 2 : even
  }

const all = (bytes: Uint8Array): number => bytes.length

/** Bytes that are made characters in one call: their number is that of its arguments. */
const callBytes = 8_192

/** A character for each byte; the platform's "latin1" is Windows-1252. */
const latin1 = (bytes: Uint8Array): string => {
  let text = ""
  for (let from = 0; from < bytes.length; from += callBytes) {
    text += String.fromCharCode(...bytes.subarray(from, from + callBytes))
  }
  return text
}

/** Decoder of the platform: it keeps the mark, and refuses what is not of the encoding. */
const platformText = (label: "utf-8" | "utf-16le" | "utf-16be") => {
  const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true })
  return (bytes: Uint8Array): string | undefined => {
    try {
      return decoder.decode(bytes)
    } catch {
      // The bytes are none of the encoding; the caller refuses them with their place.
      return undefined
    }
  }
}

const concatenated = (first: Uint8Array, second: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}

const latin9: Readonly<Record<string, string>> = {
  "\u00a4": "€",
  "\u00a6": "Š",
  "\u00a8": "š",
  "\u00b4": "Ž",
  "\u00b8": "ž",
  "\u00bc": "Œ",
  "\u00bd": "œ",
  "\u00be": "Ÿ"
}

/** Characters of the bytes 80 to 9F in Windows-1252; a space where a byte has none. */
const windows = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ"

const windows1252 = (bytes: Uint8Array): string | undefined => {
  let isWhole = true
  const text = latin1(bytes).replaceAll(/[\u0080-\u009f]/gu, (byte) => {
    const character = windows[byte.charCodeAt(0) - 0x80] ?? " "
    isWhole &&= character !== " "
    return character
  })
  return isWhole ? text : undefined
}

const codecs: Readonly<Record<Encoding, Codec>> = {
  "utf-8": {
    whole: wholeUtf8,
    text: platformText("utf-8")
  },
  "utf-16le": {
    whole: wholeUtf16(1),
    text: platformText("utf-16le")
  },
  "utf-16be": {
    whole: wholeUtf16(0),
    text: platformText("utf-16be")
  },
  "iso-8859-1": { whole: all, text: latin1 },
  "iso-8859-15": {
    whole: all,
    text: (bytes) =>
      latin1(bytes).replaceAll(
        /[\u00a4\u00a6\u00a8\u00b4\u00b8\u00bc-\u00be]/gu,
        (byte) => latin9[byte] ?? byte
      )
  },
  "windows-1252": { whole: all, text: windows1252 },
  "us-ascii": {
    whole: all,
    text: (bytes) => (bytes.every((byte) => byte < 0x80) ? latin1(bytes) : undefined)
  }
}

export interface DecodingPlace {
  readonly line: number
  /** Counted from 1, in UTF-16 units. */
  readonly column: number
}

/** Place after a text; a line ends with LF, CR or CR LF. */
export const after = ({ line, column }: DecodingPlace, text: string): DecodingPlace => {
  let ends = 0
  let start = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    ends++
    start = at + 1
  }
  for (let at = text.indexOf("\r"); at >= 0; at = text.indexOf("\r", at + 1)) {
    if (text.charCodeAt(at + 1) === 0x0a) continue
    ends++
    start = Math.max(start, at + 1)
  }
  return { line: line + ends, column: ends === 0 ? column + text.length : text.length - start + 1 }
}

const malformed = (detail: string, { line, column }: DecodingPlace) =>
  new StatementSource.StatementMalformed({ detail, line, column })

const beginning: DecodingPlace = { line: 1, column: 1 }

/** A name as a refusal shows it: short, and of letters that a label may have. */
const shown = (name: string): string => name.slice(0, 40).replaceAll(/[^\w.:-]/gu, "?")

/** Checks whether a declared name means the encoding; `utf-16` means either order of bytes. */
const means = (label: Encoding | "utf-16", encoding: Encoding): boolean =>
  label === encoding || (label === "utf-16" && encoding.startsWith("utf-16"))

/** Name of the encoding in the XML declaration that the text begins with; null: it has none. */
const inDeclaration = (text: string): string | null => {
  if (!/^<\?xml\s/u.test(text)) return null
  const declaration = /^<\?xml\s[^>]*\?>/u.exec(text)
  if (declaration === null) {
    throw malformed("The XML declaration does not end within 1,024 bytes.", beginning)
  }
  return /\sencoding\s*=\s*["'](?<name>[^"']*)["']/u.exec(declaration[0])?.groups?.["name"] ?? null
}

const declaredName = (
  head: Uint8Array,
  declaration: DeclaredEncodings["declaration"],
  found: Encoding | undefined
): string | null => {
  if (declaration === null) return null
  if (declaration.by === "source") return declaration.encoding
  const codec = codecs[found === undefined || found === "utf-8" ? "iso-8859-1" : found]
  const start = head.subarray(found === "utf-8" ? 3 : 0, declarationBytesMax)
  return inDeclaration(
    (codec.text(start.subarray(0, codec.whole(start))) ?? "").replace(/^\ufeff/u, "")
  )
}

const labelOf = (name: string): Encoding | "utf-16" | undefined => labels[name.toLowerCase()]

/** Encoding of a file by its first bytes, its declaration and the charset parameter. */
const encodingOf = (head: Uint8Array, { charset, declaration }: DeclaredEncodings): Encoding => {
  const signature = signatures.find(({ bytes }) => startsWith(head, bytes))
  if (signature !== undefined) {
    throw malformed(`The file is ${signature.is}; text in ${accepted} is read.`, beginning)
  }
  const isXml = declaration?.by === "xml"
  const found = [...marks, ...(isXml ? patterns : [])].find(({ bytes }) =>
    startsWith(head, bytes)
  )?.is
  const name = declaredName(head, declaration, found)
  const label = name === null ? null : labelOf(name)
  if (label === undefined) {
    throw malformed(
      `The file declares the encoding ${shown(name ?? "")}; ${accepted} are read.`,
      beginning
    )
  }
  const sent = charset === null ? null : labelOf(charset)
  const disagrees = (than: string) =>
    new StatementSource.StatementCharset({
      detail: `The charset parameter says ${shown(charset ?? "")}; ${than}.`
    })
  if (sent === undefined) throw disagrees(`${accepted} are read`)
  if (found !== undefined && label !== null && !means(label, found)) {
    throw malformed(
      `The file declares the encoding ${shown(name ?? "")}, and its first bytes are ${found}.`,
      beginning
    )
  }
  const encoding = found ?? label ?? sent ?? "utf-8"
  if (encoding === "utf-16") {
    throw malformed("The file is declared as UTF-16 and has no byte order mark.", beginning)
  }
  if (sent !== null && !means(sent, encoding)) throw disagrees(`the file is ${encoding}`)
  return encoding
}

/** Checks whether the first bytes suffice to decide the encoding. */
const suffices = (head: Uint8Array, { declaration }: DeclaredEncodings): boolean => {
  if (head.length < 4) return false
  if (declaration?.by !== "xml" || head.length >= declarationBytesMax) return true
  const text = latin1(head).replaceAll("\0", "")
  return (
    !/^(?:\u00ef\u00bb\u00bf|\u00ff\u00fe|\u00fe\u00ff)?<(?:$|\?)/u.test(text) ||
    // An odd byte may be half of the last character in UTF-16.
    (head.length % 2 === 0 && text.includes("?>"))
  )
}

/**
 * Decodes the bytes of one file. Characters that lie in two slices are put together. Throws
 * `StatementMalformed` with the place of the first byte that is none of the encoding and of NUL, and
 * `StatementCharset` where the charset parameter disagrees with the file.
 */
export const decoder = (encoded: DeclaredEncodings): Step<Uint8Array, string> => {
  let head: Uint8Array | null = new Uint8Array()
  let encoding: Encoding = "utf-8"
  let rest: Uint8Array = new Uint8Array()
  let place = beginning

  const checked = (text: string): ReadonlyArray<string> => {
    const nul = text.indexOf("\0")
    if (nul >= 0) throw malformed("The file holds NUL.", after(place, text.slice(0, nul)))
    place = after(place, text)
    return text === "" ? [] : [text]
  }

  /** Longest beginning of the bytes that is text, found by halving. */
  const readable = (bytes: Uint8Array): string => {
    const { whole, text } = codecs[encoding]
    let low = 0
    let high = bytes.length
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      const prefix = bytes.subarray(0, middle)
      if (text(prefix.subarray(0, whole(prefix))) === undefined) high = middle
      else low = middle
    }
    const prefix = bytes.subarray(0, low)
    return text(prefix.subarray(0, whole(prefix))) ?? ""
  }

  const decoded = (bytes: Uint8Array): ReadonlyArray<string> => {
    const joined = rest.length === 0 ? bytes : concatenated(rest, bytes)
    const codec = codecs[encoding]
    const whole = codec.whole(joined)
    rest = Uint8Array.from(joined.subarray(whole))
    const text = codec.text(joined.subarray(0, whole))
    if (text !== undefined) return checked(text)
    const before = readable(joined.subarray(0, whole))
    checked(before)
    throw malformed(`The file has bytes that are not ${encoding}.`, place)
  }

  const begun = (bytes: Uint8Array): ReadonlyArray<string> => {
    head = null
    encoding = encodingOf(bytes, encoded)
    const mark = marks.find((row) => row.is === encoding && startsWith(bytes, row.bytes))
    return decoded(mark === undefined ? bytes : bytes.subarray(mark.bytes.length))
  }

  return {
    write: (bytes) => {
      if (head === null) return decoded(bytes)
      head = head.length === 0 ? bytes.slice() : concatenated(head, bytes)
      return suffices(head, encoded) ? begun(head) : []
    },
    end: () => {
      const texts = head === null ? [] : begun(head)
      if (rest.length > 0) throw malformed("The file ends within a character.", place)
      return texts
    }
  }
}
