/** Every worker: what it does, the queue it leases items of, and how many at a time. */
import { Duration } from "effect"
import { workers } from "../../src/catalogue.ts"
import { defaults } from "../../src/engine/Settings.ts"
import { atOnceOf, type Worker } from "../../src/records/Worker.ts"
import { code, type Page, page, table } from "./page.ts"

const atOnce = (worker: Worker<unknown>): string =>
  typeof worker.atOnce === "number"
    ? String(worker.atOnce)
    : `${atOnceOf(worker, defaults)}, by a setting`

const again = ({ again: time }: Worker<unknown>): string =>
  time === null ? "by what failed" : Duration.format(time)

export const workerPage = (): Page =>
  page(
    "workers.md",
    "# Workers",
    "A worker leases items of a queue and works on them in the background; several instances share a queue, and an item is with one of them at a time. Each wakes when an item may be due, and polls besides. When the engine stops, it leases no more and gives its running jobs 20 seconds to end; what is left by then goes back to the queue. An item whose work fails is leased again after the time below, and one whose instance was killed when its lease has ended. `bursar.worker.jobs` counts the jobs of each by how they ended: `done` says that the job itself did not fail, not that its operation succeeded or its delivery was taken.",
    "`Engine.run` runs them all. `Engine.settle` works off their queues in this order, but for a worker whose items come due by the clock alone.",
    table(
      [
        "Worker",
        "What it does",
        "Queue",
        "At a time on an instance",
        "Again after a failure",
        "In `Engine.settle`"
      ],
      workers.map((worker) => [
        code(worker.name),
        worker.doc,
        code(worker.queue),
        atOnce(worker),
        again(worker),
        worker.byClock === true ? "no" : "yes"
      ])
    )
  )
