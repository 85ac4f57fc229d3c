/** Decoder of statements: which encodings a file may have, and what its bytes are refused for. */
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { entry, faultOf, file, ofCash, readPieces, utf8 } from "./reading.ts"

const declared = (encoding: string | null, text: string): string =>
  `<?xml version="1.0"${encoding === null ? "" : ` encoding="${encoding}"`}?>\n${text}`

/** A file whose payer's reference has signs that each encoding writes in its own way. */
const withSigns = (signs: string): string =>
  file(
    entry({
      NtryDtls: `<NtryDtls><TxDtls><RmtInf><Ustrd>${signs}</Ustrd></RmtInf></TxDtls></NtryDtls>`
    })
  )

const utf16 = (text: string, order: "le" | "be"): Uint8Array => {
  const bytes = Buffer.from(text, "utf16le")
  return order === "le" ? bytes : bytes.swap16()
}
/** Bytes of a text of which the table names those that are not of ISO-8859-1. */
const singleByte = (text: string, table: Readonly<Record<string, number>> = {}): Uint8Array =>
  Uint8Array.from(text, (sign) => table[sign] ?? sign.charCodeAt(0))
const marked = (mark: ReadonlyArray<number>, bytes: Uint8Array): Uint8Array =>
  Uint8Array.from([...mark, ...bytes])

const bom8 = [0xef, 0xbb, 0xbf]
const bom16 = { le: [0xff, 0xfe], be: [0xfe, 0xff] }
const wide = "ä€𝄞"

const accepted: ReadonlyArray<readonly [string, string | null, Uint8Array, string]> = [
  ["UTF-8", null, utf8(declared("UTF-8", withSigns(wide))), wide],
  ["UTF-8 without declaration", null, utf8(withSigns(wide)), wide],
  ["UTF-8 with a mark", null, marked(bom8, utf8(declared("utf-8", withSigns(wide)))), wide],
  ["UTF-8 by the parameter", "utf-8", utf8(declared(null, withSigns(wide))), wide],
  ["UTF-16LE", null, marked(bom16.le, utf16(declared("UTF-16", withSigns(wide)), "le")), wide],
  ["UTF-16BE", "utf-16", marked(bom16.be, utf16(declared("UTF-16", withSigns(wide)), "be")), wide],
  ["UTF-16LE by its declaration", null, utf16(declared("UTF-16LE", withSigns(wide)), "le"), wide],
  ["UTF-16BE by its declaration", null, utf16(declared("UTF-16BE", withSigns(wide)), "be"), wide],
  ["ISO-8859-1", null, singleByte(declared("ISO-8859-1", withSigns("ä¤"))), "ä¤"],
  ["ISO-8859-1 by the parameter", "iso-8859-1", singleByte(declared(null, withSigns("ä¤"))), "ä¤"],
  [
    "ISO-8859-15",
    null,
    singleByte(declared("ISO-8859-15", withSigns("ä€Œ")), { "€": 0xa4, Œ: 0xbc }),
    "ä€Œ"
  ],
  [
    "Windows-1252",
    "windows-1252",
    singleByte(declared("windows-1252", withSigns("ä€Ÿ")), { "€": 0x80, Ÿ: 0x9f }),
    "ä€Ÿ"
  ],
  ["ASCII", "us-ascii", utf8(declared("US-ASCII", withSigns("a"))), "a"]
]

const referenceIn = (answer: Awaited<ReturnType<typeof readPieces>>) =>
  Result.map(answer, ({ lines: [line] }) => (line?.kind === "cash" ? line.reference : undefined))

describe("a file of an accepted encoding", () => {
  it.each(accepted)("is read: %s", async (_, charset, bytes, signs) => {
    expect(referenceIn(await readPieces(ofCash({ charset }), [bytes]))).toEqual(
      Result.succeed(signs)
    )
  })

  it.each(accepted)(
    "never loses a sign that arrives in two pieces: %s",
    async (_, charset, bytes, signs) => {
      const single = Array.from(bytes, (byte) => Uint8Array.of(byte))
      expect(referenceIn(await readPieces(ofCash({ charset }), single))).toEqual(
        Result.succeed(signs)
      )
    }
  )

  it("is read whatever ends its lines, with the place of a fault in lines", async () => {
    for (const end of ["\n", "\r\n", "\r"]) {
      const text = declared("UTF-8", `\n${withSigns("a")}\n`).replaceAll("\n", end)
      expect(faultOf(await readPieces(ofCash(), [utf8(text)]))).toBe("read")
      const broken = [...utf8(text), 0xff]
      expect(faultOf(await readPieces(ofCash(), [Uint8Array.from(broken)]))).toMatch(
        /^malformed 4:1$/u
      )
    }
  })
})

const zeros = (...bytes: ReadonlyArray<number>) => Uint8Array.from([...bytes, 0, 0, 0, 0])

describe("a file is malformed, with its place", () => {
  it.each([
    ["a zip archive", zeros(0x50, 0x4b, 0x03, 0x04), "malformed 1:1"],
    ["an empty zip archive", zeros(0x50, 0x4b, 0x05, 0x06), "malformed 1:1"],
    ["gzip", zeros(0x1f, 0x8b, 0x08), "malformed 1:1"],
    ["PDF", utf8("%PDF-1.7 \n"), "malformed 1:1"],
    ["EBCDIC", Uint8Array.of(0x4c, 0x6f, 0xa7, 0x94, 0x93), "malformed 1:1"],
    ["UTF-7 with its mark", utf8("+/v8-<Document/>"), "malformed 1:1"],
    ["UTF-7 declared", utf8(declared("UTF-7", file())), "malformed 1:1"],
    ["UTF-32", marked([0xff, 0xfe, 0, 0], utf8("<")), "malformed 1:1"],
    ["an encoding that is not read", utf8(declared("Shift_JIS", file())), "malformed 1:1"],
    ["no byte at all", new Uint8Array(), "malformed 1:1"],
    ["blanks alone", utf8("  "), "malformed 1:2"],
    ["NUL", utf8(`<a>\nb\0</a>`), "malformed 2:2"],
    [
      "bytes that are not UTF-8",
      marked([...utf8("<a>\nbä")], Uint8Array.of(0xe4, 0x62)),
      "malformed 2:3"
    ],
    [
      "an overlong sign",
      marked([...utf8("<a>")], Uint8Array.of(0xc0, 0xaf, 0x3c)),
      "malformed 1:4"
    ],
    [
      "a surrogate in UTF-8",
      marked([...utf8("<a>")], Uint8Array.of(0xed, 0xa0, 0x80)),
      "malformed 1:4"
    ],
    ["an end within a sign", utf8("<a>\nä").slice(0, -1), "malformed 2:1"],
    ["an odd byte of UTF-16", marked(bom16.le, utf16("<a>", "le")).slice(0, -1), "malformed 1:3"],
    ["half a pair of UTF-16", marked(bom16.le, utf16("<a>\ud834b", "le")), "malformed 1:4"],
    [
      "a byte that Windows-1252 has not",
      singleByte(declared("windows-1252", "<a>\u0081")),
      "malformed 2:4"
    ],
    ["a byte beyond ASCII", singleByte(declared("us-ascii", "<a>ä")), "malformed 2:4"],
    ["UTF-16 declared of single bytes", utf8(declared("UTF-16", file())), "malformed 1:1"],
    [
      "UTF-8 declared of UTF-16",
      marked(bom16.le, utf16(declared("UTF-8", file()), "le")),
      "malformed 1:1"
    ],
    [
      "ISO-8859-1 declared behind the mark of UTF-8",
      marked(bom8, utf8(declared("ISO-8859-1", file()))),
      "malformed 1:1"
    ],
    [
      "a declaration without end",
      utf8(`<?xml version="1.0"${" ".repeat(2_000)}?>${file()}`),
      "malformed 1:1"
    ]
  ])("%s", async (_, bytes, expected) => {
    expect(faultOf(await readPieces(ofCash(), [bytes]))).toBe(expected)
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte))
    expect(faultOf(await readPieces(ofCash(), single))).toBe(expected)
  })

  it.each([
    ["another than declared", "iso-8859-1", utf8(declared("UTF-8", file()))],
    ["another than the mark", "utf-8", marked(bom16.le, utf16(file(), "le"))],
    ["the other order of bytes", "utf-16be", marked(bom16.le, utf16(file(), "le"))],
    ["one that is not read", "koi8-r", utf8(file())]
  ])("a charset parameter names %s", async (_, charset, bytes) => {
    expect(faultOf(await readPieces(ofCash({ charset }), [bytes]))).toBe("charset")
  })
})
