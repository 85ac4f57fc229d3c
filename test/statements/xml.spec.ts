/** Tree walk of XML: what is passed over, and what makes a file malformed, at which place. */
import { describe, expect, it } from "vitest"
import { failed } from "#core/kernel/Gates.ts"
import { statementConditions } from "#core/ports/StatementSource.ts"
import {
  camt,
  entry,
  faultOf,
  file,
  ofCash,
  readPieces,
  readText,
  statementOf,
  utf8
} from "./reading.ts"

const urn = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
/** The file with each of its elements under a prefix. */
const prefixed = (text: string): string =>
  text.replaceAll(/<(?<slash>\/?)(?<name>\w)/gu, "<$<slash>p:$<name>").replace("xmlns=", "xmlns:p=")

describe("a check that a reader judges", () => {
  it.each([
    "statement-account",
    "statement-complete",
    "statement-field",
    "statement-places",
    "statement-assets",
    "statement-nav",
    "statement-function",
    "statement-columns"
  ] as const)("refuses at gate policy, and says what to do: %s", (check) => {
    expect(statementConditions).toContain(check)
    expect(failed(check)).toMatchObject({ check, gate: "policy", recovery: expect.any(String) })
  })
})

describe("a message is read", () => {
  it.each([
    ["plain", file(entry())],
    ["under any prefix", prefixed(file(entry()))],
    [
      "in an envelope",
      `<e:Env xmlns:e="urn:e"><AppHdr xmlns="urn:h"><Document0/></AppHdr>${file(entry())}</e:Env>`
    ],
    ["in an envelope without namespace", `<message>${file(entry())}</message>`],
    ["after comments", `<!-- a --><!-- b -->${file(entry())}<!-- c -->`],
    [
      "with text in parts",
      file(entry({ NtryRef: "<NtryRef>N<!-- x -->-<![CDATA[1]]></NtryRef>" }))
    ],
    [
      "with the entities of XML",
      file(entry({ NtryRef: "<NtryRef>&amp;&lt;&gt;&quot;&apos;&#65;</NtryRef>" }))
    ],
    ["with elements that nobody names", file(entry({ BkTxCd: "<BkTxCd><Amt>9</Amt></BkTxCd>" }))],
    ["with elements of another namespace", file(entry({ X: '<Amt xmlns="urn:x">9</Amt>' }))],
    [
      "with attributes of other namespaces",
      file(entry()).replace("<Stmt>", '<Stmt xmlns:a="urn:a" xmlns:b="urn:b" a:x="1" b:x="2">')
    ],
    [
      "with a Document in its supplement",
      file(entry({ S: `<SplmtryData><Document xmlns="urn:x"/></SplmtryData>` }))
    ]
  ])("%s", async (_, text) => {
    const { lines } = await statementOf(ofCash(), text)
    expect(lines).toHaveLength(1)
    const single = Array.from(utf8(text), (byte) => Uint8Array.of(byte))
    expect(faultOf(await readPieces(ofCash(), single))).toBe("read")
  })
})

const deep = (levels: number) => "<x>".repeat(levels) + "</x>".repeat(levels)
const sized = (text: string) => file(entry({ NtryRef: `<NtryRef>${text}</NtryRef>` }))
const attributes = (count: number) =>
  file().replace(
    "<Stmt>",
    `<Stmt ${Array.from({ length: count }, (_, index) => `a${index}="1"`).join(" ")}>`
  )
const bindings = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `xmlns:${prefix}${index}="urn:x"`).join(" ")
const ustrd = (count: number, text = "a") =>
  file(
    entry({
      NtryDtls: `<NtryDtls><TxDtls><RmtInf>${`<Ustrd>${text}</Ustrd>`.repeat(count)}</RmtInf></TxDtls></NtryDtls>`
    })
  )

describe("a file is malformed, with line and column", () => {
  const ok = file()
  it.each([
    ["a DOCTYPE", `\n<!DOCTYPE a>${ok}`, /^malformed 2:12$/u],
    [
      "an external entity",
      `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>${ok}`,
      /^malformed 1:/u
    ],
    ["an entity that is not one of the five", sized("&nbsp;"), /^malformed 1:/u],
    ["an entity without name", sized("&;"), /^malformed 1:/u],
    ["a reference to NUL", sized("&#0;"), /^malformed 1:/u],
    ["a processing instruction", `${ok}\n<?x y?>`, /^malformed 2:7$/u],
    ["a style sheet", `<?xml-stylesheet href="a"?>${ok}`, /^malformed 1:27$/u],
    ["a declaration that is not the first", `\n<?xml version="1.0"?>${ok}`, /^malformed 2:/u],
    ["two roots", `${ok}\n${ok}`, /^malformed 2:/u],
    ["text behind the root", `${ok}\nx`, /^malformed 2:/u],
    ["an end before its elements", ok.slice(0, -3), /^malformed 1:/u],
    ["elements that cross", camt("\n<Stmt><Id></Stmt></Id>"), /^malformed 2:/u],
    ["an attribute that is repeated", ok.replace("<Stmt>", '<Stmt a="1" a="2">'), /^malformed 1:/u],
    [
      "an attribute that is repeated under two prefixes",
      ok.replace("<Stmt>", '<Stmt xmlns:a="u" xmlns:b="u" a:x="1" b:x="2">'),
      /^malformed 1:/u
    ],
    [
      "a prefix without namespace",
      ok.replace("<Id>S-1</Id>", "<q:Id>S-1</q:Id>"),
      /^malformed 1:/u
    ],
    [
      "an attribute's prefix without namespace",
      ok.replace("<Stmt>", '<Stmt q:a="1">'),
      /^malformed 1:/u
    ],
    ["a prefix that ended", `<e><a xmlns:q="u"/><q:b/>${ok}</e>`, /^malformed 1:/u],
    ["the prefix xmlns", ok.replace("<Stmt>", '<Stmt xmlns:xmlns="u">'), /^malformed 1:/u],
    ["a prefix bound to nothing", ok.replace("<Stmt>", '<Stmt xmlns:q="">'), /^malformed 1:/u],
    ["a name of two colons", ok.replace("<Id>S-1</Id>", '<a:b:c xmlns:a="u"/>'), /^malformed 1:/u],
    ["elements 33 deep", `<e>${deep(32)}${ok}</e>`, /^malformed 1:/u],
    ["a text over 64 KiB", sized("a".repeat(65_537)), /^malformed 1:/u],
    ["a text over 64 KiB in parts", sized("aaaa<!-- -->".repeat(16_385)), /^malformed 1:/u],
    [
      "a text over 64 KiB that is passed over",
      file(entry({ X: `<X>${"a".repeat(65_537)}</X>` })),
      /^malformed 1:/u
    ],
    [
      "an attribute over 64 KiB",
      ok.replace("<Stmt>", `<Stmt a="${"a".repeat(65_537)}">`),
      /^malformed 1:/u
    ],
    ["a comment over 64 KiB", `<!--${"a".repeat(65_537)}-->${ok}`, /^malformed 1:/u],
    ["101 attributes", attributes(101), /^malformed 1:/u],
    ["texts of an entry over 256 KiB", ustrd(140, "a".repeat(2_000)), /^malformed 1:/u],
    ["too many elements of an entry", ustrd(1_001), /^malformed 1:/u],
    ["another namespace", ok.replace(".08", ".15"), /^malformed 1:\d+$/u],
    ["the version 01", ok.replace(".08", ".01"), /^malformed 1:/u],
    ["another message", ok.replace("camt.053", "camt.052"), /^malformed 1:/u],
    ["no namespace", ok.replace(` xmlns="${urn}"`, ""), /^malformed 1:/u],
    [
      "more than 100 namespaces at a time",
      `<a ${bindings("p", 60)}><b ${bindings("q", 60)}>${ok}</b></a>`,
      /^malformed 1:/u
    ],
    ["two Documents", `<e>${ok}${ok}</e>`, /^malformed 1:/u],
    ["no Document", "<a>\n</a>", /^malformed 2:/u],
    ["no XML at all", "account;units\n", /^malformed 2:1/u]
  ])("%s", async (_, text, expected) => {
    expect(faultOf(await readText(ofCash(), text))).toMatch(expected)
  })

  it("says why in the parser's words, with the place beside them and not within", async () => {
    expect(await readText(ofCash(), ok.slice(0, -3))).toMatchObject({
      failure: { detail: "The file is no well-formed XML: unclosed tag: Document" }
    })
  })

  it("is told which prefix has no namespace, by its name and in the walk's own words", async () => {
    const texts = [
      ok.replace("<Id>S-1</Id>", "<q:Id>S-1</q:Id>"),
      ok.replace("<Stmt>", '<Stmt q:a="1">')
    ]
    for (const text of texts) {
      expect(await readText(ofCash(), text)).toMatchObject({
        failure: { detail: "The prefix q has no namespace." }
      })
    }
  })

  it.each([
    ["elements 32 deep", `<e>${deep(31)}${ok}</e>`],
    ["a text of 64 KiB", sized("a".repeat(65_536))],
    ["100 attributes", attributes(100)],
    ["1,000 elements of an entry", ustrd(997)]
  ])("never at the limit itself: %s", async (_, text) => {
    expect(faultOf(await readText(ofCash(), text))).toBe("read")
  })

  it("names the namespace that it does not know", async () => {
    const answer = await readText(ofCash(), ok.replace("camt.053", "pain.001"))
    expect(JSON.stringify(answer)).toContain("pain.001.001.08")
    expect(JSON.stringify(answer)).toContain("camt.053.001.02 to camt.053.001.14")
  })

  it("never holds a tag, a text or a comment that does not end", async () => {
    let sent = 0
    const endless = function* (start: string) {
      yield utf8(start)
      const piece = utf8("a".repeat(65_536))
      while (sent++ < 10_000) yield piece
    }
    for (const start of [
      "<a>",
      "<a ",
      "<a b='",
      "<a><!--",
      "<a><![CDATA[",
      "<",
      "<a>&",
      "<?a ",
      "<!DOCTYPE "
    ]) {
      sent = 0
      expect(faultOf(await readPieces(ofCash(), endless(start)))).toMatch(/^malformed 1:/u)
      expect(sent).toBeLessThan(20)
    }
  })
})
