/** Prints what the engine's speed is, as ratios of one run; asserts nothing (`npm run bench`). */
import * as bulk from "./bulk.ts"
import * as cycles from "./cycles.ts"
import * as decimals from "./decimals.ts"
import * as deliveries from "./deliveries.ts"
import * as http from "./http.ts"
import * as list from "./list.ts"
import type { Row } from "./measure.ts"
import * as memory from "./memory.ts"
import * as operations from "./operations.ts"
import * as reads from "./reads.ts"
import * as registers from "./registers.ts"
import * as signatures from "./signatures.ts"
import * as transitions from "./transitions.ts"

type Bench = () => ReadonlyArray<Row> | Promise<ReadonlyArray<Row>>

const benches: Readonly<Record<string, Bench>> = {
  transitions: transitions.bench,
  decimals: decimals.bench,
  list: list.bench,
  operations: operations.bench,
  http: http.bench,
  reads: reads.bench,
  registers: registers.bench,
  cycles: cycles.bench,
  bulk: bulk.bench,
  signatures: signatures.bench,
  deliveries: deliveries.bench,
  memory: memory.bench
}

const asked = process.argv.slice(2).filter((argument) => !argument.startsWith("--"))
const unknown = asked.filter((name) => !Object.hasOwn(benches, name))
if (unknown.length > 0) {
  console.error(
    `no bench is called ${unknown.join(", ")}; there are ${Object.keys(benches).join(", ")}`
  )
  process.exit(1)
}

const digits = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toFixed(2)

const rows: Array<Row> = []
for (const [name, bench] of Object.entries(benches)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  for (const row of await bench()) {
    rows.push(row)
    const target = row.target === null ? "" : ` (built for ${row.target})`
    const note = row.note === undefined ? "" : `  ${row.note}`
    console.log(
      `${row.bench.padEnd(30)} ${digits(row.ours).padStart(14)} ${row.unit.padEnd(14)} ` +
        `${row.against.padEnd(34)} ${digits(row.theirs).padStart(14)}  ×${row.ratio.toFixed(2)}${target}${note}`
    )
  }
}
console.log(JSON.stringify({ node: process.version, rows }))
process.exit(0)
