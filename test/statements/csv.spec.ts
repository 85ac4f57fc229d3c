/** CSV statements that are refused, each with its check and row, and those that are read as they are. */
import { Date, Decimal, Duration } from "@bursar/engine-core/kernel"
import { StatementCsv, type StatementSource } from "@bursar/engine-core/ports"
import { describe, expect, it } from "vitest"
import * as generate from "./generate.ts"
import { faultOf, readPieces, whole } from "./reading.ts"

const form: StatementSource.CsvForm = {
  encoding: "utf-8",
  delimiter: ";",
  decimal: ",",
  group: ".",
  dateFormat: "dd.MM.yyyy",
  columns: { account: "Konto", quantity: "Stand" }
}
const reading = (more: Partial<StatementSource.Reading> = {}): StatementSource.Reading => ({
  adapter: "csv",
  kind: "holdings",
  charset: null,
  account: null,
  isin: "LU0000000017",
  currency: "USD",
  zone: generate.zone,
  validFor: Duration.of("P3D"),
  basis: null,
  csv: form,
  businessDate: Date.of("2026-03-02"),
  corrects: false,
  linesMax: 5,
  ...more
})
const ofColumns = (columns: Readonly<Record<string, string>>) => ({ csv: { ...form, columns } })
const bytes = (...rows: ReadonlyArray<string>) => [
  generate.encoded(rows.map((row) => `${row}\n`).join(""))
]
const outcome = (rows: ReadonlyArray<string>, more: Partial<StatementSource.Reading> = {}) =>
  readPieces(reading(more), bytes(...rows))
const head = "Konto;Stand"

const cash: Partial<StatementSource.Reading> = {
  kind: "cash",
  currency: "CHF",
  account: { number: "CH1", currency: "CHF" }
}
const sides = {
  ...cash,
  ...ofColumns({ bookingDate: "Datum", credit: "Haben", debit: "Soll" })
}
const signed = { ...cash, ...ofColumns({ bookingDate: "Datum", amount: "Betrag" }) }
const directed = {
  ...cash,
  ...ofColumns({ bookingDate: "Datum", amount: "Betrag", direction: "SH" })
}
const nav = { kind: "nav" as const, ...ofColumns({ official: "NAV" }) }
const navOfClasses = {
  kind: "nav" as const,
  ...ofColumns({ official: "NAV", isin: "ISIN", suspended: "Susp", currency: "Ccy" })
}

type Row = readonly [string, ReadonlyArray<string>, string, Partial<StatementSource.Reading>?]

const faults: ReadonlyArray<Row> = [
  ["no row", [], "statement-columns null"],
  ["a column missing", ["Konto;Menge", "a;1"], "statement-columns 1"],
  ["a column of another case", ["konto;Stand", "a;1"], "statement-columns 1"],
  ["a column beside a space", ["Konto ;Stand", "a;1"], "statement-columns 1"],
  ["a column doubled", ["Konto;Stand;Konto", "a;1;b"], "statement-columns 1"],
  ["a row too short", [head, "a;1", "b"], "statement-columns 3"],
  ["a row too long", [head, "a;1", "b;2;3"], "statement-columns 3"],
  ["a row of nothing", [head, "a;1", "", "b;2"], "statement-columns 3"],
  ["the other separator", ["Konto,Stand", "a,1"], "statement-columns 1"],
  ["a quote within a cell", [head, 'a"b;1'], "statement-columns 2"],
  ["a quote after a space", [head, ' "a";1'], "statement-columns 2"],
  ["text after a quoted cell", [head, '"a"b;1'], "statement-columns 2"],
  ["a quoted cell without an end", [head, "a;1", '"b;2'], "statement-columns 3"],
  ["a formula that is quoted halfway", [head, '="0012";1'], "statement-columns 2"],
  ["the decimal mark of another notation", [head, "a;1,234.5"], "statement-field 2"],
  ["decimal marks of two notations", [head, "a;1,5", "b;1.5"], "statement-field 3"],
  ["two decimal marks", [head, "a;1,2,3"], "statement-field 2"],
  ["a group of two digits", [head, "a;1.23,4"], "statement-field 2"],
  ["a group of four digits", [head, "a;1.2345"], "statement-field 2"],
  ["groups in part", [head, "a;1234.567"], "statement-field 2"],
  ["a group mark of another notation", [head, "a;1'234"], "statement-field 2"],
  ["a space in a number", [head, "a;1 234"], "statement-field 2"],
  ["a space before a number", [head, "a; 1"], "statement-field 2"],
  ["a currency beside a number", [head, "a;1,00 USD"], "statement-field 2"],
  ["a minus after a number", [head, "a;1-"], "statement-field 2"],
  ["a number in brackets", [head, "a;(1)"], "statement-field 2"],
  ["an exponent", [head, "a;1e3"], "statement-field 2"],
  ["digits of another script", [head, "a;١"], "statement-field 2"],
  ["a formula for a number", [head, "a;=1+1"], "statement-field 2"],
  ["no number", [head, "a;"], "statement-field 2"],
  ["not a number", [head, "a;NaN"], "statement-field 2"],
  ["29 digits", [head, `a;${"1".repeat(29)}`], "statement-field 2"],
  ["eleven places", [head, "a;0,00000000001"], "statement-places 2"],
  ["no account", [head, "a;1", ";2"], "statement-field 3"],
  ["a row of totals", [head, "a;1", "Total;1"], "statement-columns 3"],
  ["a row of totals in German", [head, "a;1", "SUMME:;1"], "statement-columns 3"],
  ["a row of totals without a label", [head, "a;1", ";1"], "statement-field 3"],
  ["an account twice", [head, "a;1", "b;1", "a;2"], "statement-assets 4"],
  ["six lines of five", [head, "a;1", "b;1", "c;1", "d;1", "e;1", "f;1"], "too long 5"],
  ["a cell of 64 KiB and a byte", [head, `${"a".repeat(65_537)};1`], "malformed 2:null"],
  ["a cell of 64 KiB in bytes", [head, `${"é".repeat(32_769)};1`], "malformed 2:null"],
  ["a row of over 1 MiB", [head, `${"a".repeat(1_100_000)};1`], "malformed 2:null"],
  [
    "a quote that takes the rest of the file",
    [head, `"${"a;1\n".repeat(300_000)}`],
    "malformed 2:null"
  ],
  ["no business date", [head, "a;1"], "statement-field null", { businessDate: null }],
  ["NUL", [head, "a\0;1"], "malformed 2:2"],
  ["bytes of zip", ["PK\u0003\u0004"], "malformed 1:1"],
  [
    "an asset twice at one account",
    ["A;K;S", "X;k;1", "X;l;1", "X;k;2"],
    "statement-assets 4",
    { kind: "custody", ...ofColumns({ asset: "A", account: "K", quantity: "S" }) }
  ],
  [
    "positions of other classes alone",
    ["I;Konto;Stand", "LU9;a;1"],
    "statement-account null",
    ofColumns({ isin: "I", account: "Konto", quantity: "Stand" })
  ],
  [
    "rows of two dates",
    ["T;Konto;Stand", "02.03.2026;a;1", "03.03.2026;b;1"],
    "statement-field 3",
    {
      ...ofColumns({ businessDate: "T", account: "Konto", quantity: "Stand" }),
      businessDate: null
    }
  ],
  [
    "another date than the sender names",
    ["T;Konto;Stand", "03.03.2026;a;1"],
    "statement-field 2",
    ofColumns({ businessDate: "T", account: "Konto", quantity: "Stand" })
  ],
  ["a date of another form", ["Datum;Betrag", "2026-03-02;1"], "statement-field 2", signed],
  ["a date that there is not", ["Datum;Betrag", "31.02.2026;1"], "statement-field 2", signed],
  ["a date of the year 9999", ["Datum;Betrag", "31.12.9999;1"], "statement-field 2", signed],
  ["a row of totals for a date", ["Datum;Betrag", "Total;1"], "statement-columns 2", signed],
  ["both sides of an entry", ["Datum;Haben;Soll", "02.03.2026;1;2"], "statement-field 2", sides],
  ["no side of an entry", ["Datum;Haben;Soll", "02.03.2026;;"], "statement-field 2", sides],
  ["a negative side", ["Datum;Haben;Soll", "02.03.2026;;-1"], "statement-field 2", sides],
  [
    "a sign beside a direction",
    ["Datum;Betrag;SH", "02.03.2026;-1;S"],
    "statement-field 2",
    directed
  ],
  [
    "a direction that there is not",
    ["Datum;Betrag;SH", "02.03.2026;1;X"],
    "statement-field 2",
    directed
  ],
  [
    "entries of other accounts alone",
    ["Nr;Datum;Betrag", "CH2;02.03.2026;1"],
    "statement-account null",
    { ...cash, ...ofColumns({ account: "Nr", bookingDate: "Datum", amount: "Betrag" }) }
  ],
  ["no NAV", ["NAV"], "statement-nav null", nav],
  ["an empty NAV", ["NAV", '""'], "statement-nav 2", nav],
  ["two NAVs", ["NAV", "1", "1"], "statement-account 3", nav],
  ["a negative NAV", ["NAV", "-1"], "statement-field 2", nav],
  [
    "no NAV of the class",
    ["NAV;ISIN;Susp;Ccy", "1;LU9;N;USD"],
    "statement-account null",
    navOfClasses
  ],
  [
    "a NAV in another currency",
    ["NAV;ISIN;Susp;Ccy", "1;LU0000000017;N;EUR"],
    "statement-nav 2",
    navOfClasses
  ],
  [
    "nothing on suspension",
    ["NAV;ISIN;Susp;Ccy", "1;LU0000000017;;USD"],
    "statement-field 2",
    navOfClasses
  ],
  [
    "no NAV and no suspension",
    ["NAV;ISIN;Susp;Ccy", ";LU0000000017;N;USD"],
    "statement-nav 2",
    navOfClasses
  ]
]

describe("a CSV file", () => {
  it.each(faults.map((row) => ({ fault: row[0], row })))(
    "is refused for $fault",
    async ({ row: [, rows, expected, more] }) => {
      expect(faultOf(await outcome(rows, more))).toBe(expected)
    }
  )

  it("is refused for the first fault, whatever lies after it", async () => {
    expect(faultOf(await outcome([head, "a;x", '"b'], {}))).toBe("statement-field 2")
  })

  it.each<readonly [string, string, string]>([
    ["a group mark", "1.234.567,5", "1234567.5"],
    ["no group mark", "1234567,5", "1234567.5"],
    ["a plus and zeros", "+0012,500000000000000000", "12.5"],
    ["a minus", "-1,5", "-1.5"],
    ["a minus and nothing", "-0,00", "0"],
    ["a mark alone before", ",5", "0.5"],
    ["ten places", "0,0000000001", "0.0000000001"],
    ["28 digits", "9".repeat(28), "9".repeat(28)],
    ["29 digits of which the first is zero", `0${"9".repeat(28)},5`, `${"9".repeat(28)}.5`]
  ])("reads a number with %s exactly", async (_, written, meant) => {
    const { lines } = await whole(reading(), bytes(head, `a;${written}`))
    expect(lines).toEqual([
      { kind: "holdings", account: "a", quantity: Decimal.of(meant), locked: null }
    ])
  })

  it("groups digits by the spaces and apostrophes that spreadsheets print", async () => {
    const accounts = async (group: " " | "'", written: string) => {
      const { lines } = await whole(
        reading({ csv: { ...form, group } }),
        bytes(head, `a;${written}`)
      )
      return lines.map((line) =>
        line.kind === "holdings" ? Decimal.formatPlain(line.quantity) : ""
      )
    }
    expect(await accounts(" ", "1\u00a0234\u00a0567,5")).toEqual(["1234567.5"])
    expect(await accounts(" ", "1\u202f234,5")).toEqual(["1234.5"])
    expect(await accounts("'", "1\u2019234,5")).toEqual(["1234.5"])
    expect(
      faultOf(await outcome([head, "a;1\u00a0234 567"], { csv: { ...form, group: " " } }))
    ).toBe("statement-field 2")
  })

  it("never runs a formula nor trims a cell", async () => {
    const cells = ["=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", " a ", "\ta", "TOTALS & Co", "'x"]
    const { lines } = await whole(
      reading({ linesMax: cells.length }),
      bytes(head, ...cells.map((account) => `"${account}";1`))
    )
    expect(lines.map((line) => line.kind === "holdings" && line.account)).toEqual(cells)
  })

  it("keeps what a quoted cell holds: separators, quotes and line ends", async () => {
    const { lines } = await whole(reading(), bytes(head, '"a;""b""\r\nc";1'))
    expect(lines).toMatchObject([{ account: 'a;"b"\r\nc' }])
  })

  it.each(["\n", "\r\n"])("has lines that end with %j, the last with or without", async (end) => {
    for (const last of ["", end]) {
      const text = generate.encoded(`\ufeff${[head, "a;1", "b;2"].join(end)}${last}`)
      expect((await whole(reading(), [text])).lines).toHaveLength(2)
    }
  })

  it.each(["\n", "\r\n"])("has no rows in the empty lines at its end, of %j", async (end) => {
    const text = `${[head, "a;1", "b;2"].join(end)}${end.repeat(4)}`
    const pieces = [...generate.encoded(text)].map((byte) => new Uint8Array([byte]))
    for (const cut of [[generate.encoded(text)], pieces]) {
      expect((await whole(reading(), cut)).lines).toHaveLength(2)
    }
    const within = `${[head, "a;1", "", "b;2"].join(end)}${end}`
    expect(faultOf(await readPieces(reading(), [generate.encoded(within)]))).toBe(
      "statement-columns 3"
    )
    // A cell that is quoted keeps its line ends, and a quote that is never closed is refused.
    const quoted = `${head}${end}"a${end}${end}";1${end}${end}`
    expect((await whole(reading(), [generate.encoded(quoted)])).lines).toMatchObject([
      { account: `a${end}${end}` }
    ])
    const open = `${head}${end}"a;1${end}${end}`
    expect(faultOf(await readPieces(reading(), [generate.encoded(open)]))).toMatch(
      /^statement-columns/
    )
  })

  it("marks reversals by a column of their own", async () => {
    const columns = { bookingDate: "Datum", amount: "Betrag", reversal: "Storno" }
    const rows = bytes(
      "Datum;Betrag;Storno",
      ...["yes", "", "0"].map((mark) => `02.03.2026;-1;${mark}`)
    )
    const { lines } = await whole(reading({ ...cash, ...ofColumns(columns) }), rows)
    expect(lines.map((line) => line.kind === "cash" && line.reversal)).toEqual([
      true,
      undefined,
      undefined
    ])
    const unread = bytes("Datum;Betrag;Storno", "02.03.2026;-1;ja")
    expect(faultOf(await readPieces(reading({ ...cash, ...ofColumns(columns) }), unread))).toBe(
      "statement-field 2"
    )
  })

  it("of no rows but the columns says that nothing is held", async () => {
    const { header, lines } = await whole(reading(), bytes(head))
    expect(lines).toEqual([])
    expect(header).toMatchObject({ businessDate: "2026-03-02", basis: "settled" })
  })

  it("passes over columns that the source does not name, and rows of other accounts", async () => {
    const named = { account: "Nr", bookingDate: "Datum", amount: "Betrag" }
    const { lines } = await whole(
      reading({ ...cash, ...ofColumns(named) }),
      bytes(
        "x;Nr;Datum;Betrag;x",
        ";CH1;02.03.2026;-1,5;",
        ";CH2;02.03.2026;9;",
        ";CH1;02.03.2026;2;"
      )
    )
    expect(lines).toMatchObject([
      { direction: "debit", amount: Decimal.of("1.5"), currency: "CHF" },
      { direction: "credit", amount: Decimal.of("2") }
    ])
  })

  it.each([
    ["1,50;", "credit", "1.5"],
    ["1,50;0,00", "credit", "1.5"],
    [";1,50", "debit", "1.5"],
    ["0,00;1,50", "debit", "1.5"]
  ])("reads an entry of two columns, %s", async (written, direction, amount) => {
    const rows = bytes("Datum;Haben;Soll", `02.03.2026;${written}`)
    expect((await whole(reading(sides), rows)).lines).toMatchObject([
      { direction, amount: Decimal.of(amount) }
    ])
  })

  it("takes the class of its source, and zero for a suspended NAV without a price", async () => {
    const { header } = await whole(
      reading(navOfClasses),
      bytes("NAV;ISIN;Susp;Ccy", "1,5;LU9;N;USD", ";LU0000000017;Y;USD")
    )
    expect(header.nav).toMatchObject({ official: Decimal.zero, ripcord: true })
  })

  it.each([
    ["iso-8859-1", "Zürich"],
    ["iso-8859-15", "Zürich €"],
    ["windows-1252", "Zürich €"],
    ["utf-16le", "Zürich € 中"]
  ] as const)("is read in %s", async (encoding, account) => {
    const text = [generate.encoded(`${head}\n${account};1\n`, encoding)]
    const { lines } = await whole(reading({ csv: { ...form, encoding } }), text)
    expect(lines).toMatchObject([{ account }])
  })
})

describe("the form of a CSV source", () => {
  it.each<readonly [string, StatementSource.Reading["kind"], Partial<StatementSource.CsvForm>]>([
    ["an encoding that is not read", "holdings", { encoding: "utf-7" }],
    ["a quote between cells", "holdings", { delimiter: '"' }],
    ["a letter between cells", "holdings", { delimiter: "x" }],
    ["one mark for decimals and groups", "holdings", { group: "," }],
    ["a year of two digits", "holdings", { dateFormat: "dd.MM.yy" }],
    ["a month without a separator", "holdings", { dateFormat: "yyyyMdd" }],
    ["a date without a day", "holdings", { dateFormat: "yyyy-MM" }],
    ["a day twice", "holdings", { dateFormat: "dd.dd.yyyy" }],
    ["no column of the quantity", "holdings", { columns: { account: "a" } }],
    [
      "a column that nothing reads",
      "holdings",
      { columns: { account: "a", quantity: "q", amount: "b" } }
    ],
    ["no amount", "cash", { columns: { bookingDate: "d" } }],
    ["credits alone", "cash", { columns: { bookingDate: "d", credit: "c" } }],
    ["an amount and credits", "cash", { columns: { bookingDate: "d", amount: "a", credit: "c" } }],
    [
      "two words for the direction",
      "cash",
      { columns: { bookingDate: "d", credit: "c", debit: "e", direction: "f" } }
    ]
  ])("is refused for %s", (_, kind, wrong) => {
    expect(StatementCsv.fault(kind, { ...form, ...wrong })).not.toBeNull()
  })

  it("that a generated file has is good", () => {
    for (const kind of ["holdings", "cash", "custody", "nav"] as const) {
      expect(StatementCsv.fault(kind, generate.csvForm(kind))).toBeNull()
    }
  })
})

describe("a decimal of a file", () => {
  it("is never another for being read the fast way", async () => {
    const written = [
      "0",
      "1",
      "007",
      "1,5",
      "123456789012345",
      "12345678901234,",
      ",1",
      "0,0000000001"
    ]
    for (const text of written) {
      const padded = `${"0".repeat(20)}${text}`
      const [short, long] = await Promise.all(
        [text, padded].map((figure) => whole(reading(), bytes(head, `a;${figure}`)))
      )
      expect(short?.lines).toEqual(long?.lines)
    }
  })
})
