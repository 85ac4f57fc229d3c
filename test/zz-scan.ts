import { play } from "/tmp/trees/m/test/simulation/town/run.ts"
const want = [
  "redemption.claim succeeded",
  "dealing-cycle.settle succeeded",
  "gated",
  "refund ledger in a cycle",
  "refund wire",
  "refund by wire",
  "redemption of base units priced",
  "all base units priced",
  "rebase movements compared",
  "proceeds compared"
]
for (const seed of process.argv.slice(2).map(Number)) {
  try {
    const { seen } = await play({ seed, steps: 1500 })
    console.log(seed, want.map((w) => seen[w] ?? 0).join(" "))
  } catch (e) {
    console.log(seed, "FAILED", String(e).slice(0, 300))
  }
}
process.exit(0)
