/**
 * Readers of statements: a camt.053 of 200,000 entries, read into lines, against the bare parser over
 * the same decoded text, which does nothing with what it finds.
 */
import { Effect, Stream } from "effect"
import { SaxesParser } from "saxes"
import { reader } from "#adapters/statements/Statements.ts"
import { type Bench, inTurns, timed } from "./measure.ts"
import { withHeap } from "./memory.ts"
import * as Meters from "./meter.ts"

const perPiece = 100
const encoder = new TextEncoder()

/** An entry of a single transaction, the kind that banks send most. */
const entryAt = (n: number): string =>
  `<Ntry><NtryRef>${n}</NtryRef><Amt Ccy="EUR">${n}.25</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>` +
  "<BookgDt><Dt>2026-03-02</Dt></BookgDt><ValDt><Dt>2026-03-02</Dt></ValDt>" +
  `<AcctSvcrRef>BANK-${n}</AcctSvcrRef><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd>` +
  `<NtryDtls><TxDtls><Refs><EndToEndId>sub-${n}</EndToEndId></Refs><Amt Ccy="EUR">${n}.25</Amt><CdtDbtInd>CRDT</CdtDbtInd>` +
  `<RltdPties><Dbtr><Pty><Nm>Payer ${n}</Nm></Pty></Dbtr><DbtrAcct><Id><IBAN>DE${n}</IBAN></Id></DbtrAcct></RltdPties>` +
  `<RmtInf><Ustrd>Order ${n}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>\n`

const start =
  '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>S</Id>' +
  "<Acct><Id><IBAN>CH9300762011623852957</IBAN></Id><Ccy>EUR</Ccy></Acct>" +
  '<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">1</Amt><CdtDbtInd>CRDT</CdtDbtInd>' +
  "<Dt><Dt>2026-03-02</Dt></Dt></Bal>"

const piece = encoder.encode(Array.from({ length: perPiece }, (_, n) => entryAt(n)).join(""))
const [first, last] = [encoder.encode(start), encoder.encode("</Stmt></BkToCstmrStmt></Document>")]

/** Pieces of a file of so many hundred entries; the same hundred again and again costs neither side. */
function* pieces(entries: number): Generator<Uint8Array> {
  yield first
  for (let sent = 0; sent < entries; sent += perPiece) yield piece
  yield last
}

const ours = (entries: number) =>
  reader
    .read(
      {
        adapter: "camt.053",
        kind: "cash",
        charset: null,
        account: { number: "CH9300762011623852957", currency: "EUR" },
        isin: null,
        currency: "EUR",
        zone: "Europe/Zurich",
        validFor: null,
        basis: null,
        csv: null,
        businessDate: null,
        corrects: false,
        linesMax: entries
      },
      Stream.fromIterable(pieces(entries), { chunkSize: 1 })
    )
    .pipe(
      Stream.runFold(
        () => 0,
        (lines, part) => (part.part === "lines" ? lines + part.lines.length : lines)
      )
    )

const bare = (entries: number) =>
  Effect.sync(() => {
    const parser = new SaxesParser({ xmlns: false })
    const decoder = new TextDecoder("utf-8", { fatal: true })
    for (const piece of pieces(entries)) parser.write(decoder.decode(piece, { stream: true }))
    parser.close()
    return entries
  })

export const bench: Bench = ({ rounds, size = 200_000 }) =>
  Effect.gen(function* () {
    const heaps: Array<number> = []
    const lines = new Set<number>()
    const compared = yield* inTurns({
      rounds,
      ours: {
        meter: Meters.ofThisProcess,
        run: () =>
          timed(
            size,
            Effect.map(withHeap(ours(size)), ({ value, heap }) => {
              lines.add(value)
              heaps.push(heap.most - heap.before)
            })
          )
      },
      bound: { meter: Meters.ofThisProcess, run: () => timed(size, bare(size)) }
    })
    if (lines.size > 1 || !lines.has(size)) throw new Error(`${[...lines].join()} lines were read`)
    return [
      {
        bench: `camt.053 of ${size.toLocaleString("en-US")} entries`,
        unit: "entries/s",
        against: "saxes with no work",
        goal: 0.5,
        note: `heap ${Math.round(Math.max(...heaps))} MiB over idle`,
        ...compared
      }
    ]
  }).pipe(Effect.runPromise)
