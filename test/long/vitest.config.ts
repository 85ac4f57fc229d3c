/**
 * Config of the long run (`npm run soak`), which CI does not play: slow tests with the numbers that
 * their files read from the environment, and all that goes by chance by a seed of the run's own.
 */
import { randomInt } from "node:crypto"
import { defineConfig } from "vitest/config"
import { hangs, pollLimit } from "../waiting.ts"

// Loaded again where vitest loads the config anew: the seed stays the first one.
process.env["SOAK_SEED"] ??= String(randomInt(1, 1_000_000_000))
console.log(`To play the same again: SOAK_SEED=${process.env["SOAK_SEED"]} npm run soak`)

export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: [
      "test/**/*.{long,process,slow}.ts",
      // At more points, with more records and for longer than beside the other tests.
      "test/package/browser.test.ts",
      "test/http/security/13-cursors.test.ts",
      "test/http/security/29-health.test.ts",
      "test/storage/audit.test.ts",
      "test/statements/generated.prop.ts",
      "test/statements/readers.prop.ts",
      "test/http/security/27-audit-tamper.test.ts",
      "test/reads/cursors.spec.ts",
      "test/reads/keeper.test.ts",
      "test/reads/paging.test.ts",
      "test/operations/bootstrap-offsets.prop.ts",
      "test/operations/new-epoch.prop.ts",
      "test/operations/finding-histories.prop.ts",
      "test/operations/verdicts.prop.ts",
      "test/operations/holder-statements.prop.ts",
      "test/rules/holder-statements.prop.ts",
      "test/reads/kept-record-pins.prop.ts",
      "test/operations/restatement.spec.ts",
      "test/operations/explained-histories.prop.ts",
      "test/simulation/venue.test.ts",
      "test/operations/reserve-races.spec.ts",
      "test/operations/stopping-payments.spec.ts",
      "test/records/group-commit.prop.ts",
      "test/records/waits.prop.ts",
      "test/records/facts.prop.ts",
      "test/projection/lot-replay.prop.ts",
      "test/projection/fold.prop.ts",
      "test/projection/lots.prop.ts",
      "test/writes/runner.prop.ts",
      "test/http/security/24-holder-cap.test.ts",
      "test/feeds/histories.prop.ts",
      "test/feeds/retention.spec.ts",
      "test/feeds/notices.prop.ts",
      "test/feeds/feed.prop.ts",
      "test/feeds/audit.spec.ts",
      "test/operations/precheck.spec.ts",
      "test/operations/statement-retention.prop.ts",
      "test/four-eyes/four-eyes.model.ts",
      "test/four-eyes/figures.model.ts",
      "test/reads/pins.prop.ts",
      "test/reads/register.prop.ts",
      "test/reads/awaiting-lookups.prop.ts",
      "test/reads/ripened.prop.ts"
    ],
    env: {
      LONG_RUN: "yes",
      KILLS: process.env["KILLS"] ?? "many",
      LIST_COUNT: "200000",
      // Of each of 18 collections: more than 1,000,000 rows.
      PLANNED_ROWS: "60000",
      TOWN_STEPS: "1500",
      SERIES: "all",
      SEEDS: "6",
      TWINS: "5",
      FINDING_HISTORIES: "80",
      PLANTED_FAULTS: "40",
      SUPPOSED_VERDICTS: "80",
      RESTATEMENTS: "40",
      EXPLAINED_HISTORIES: "80",
      RESERVE_HISTORIES: "400",
      RESERVE_FIGURES: "100",
      KEPT_RECORDS: "60"
    },
    globalSetup: ["test/database.setup.ts"],
    setupFiles: ["test/seeds.ts"],
    pool: "forks",
    maxWorkers: 2,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    testTimeout: 3 * hangs,
    hookTimeout: hangs,
    expect: { poll: { timeout: pollLimit } },
    // The log of a town is judged, not printed.
    disableConsoleIntercept: true
  }
})
