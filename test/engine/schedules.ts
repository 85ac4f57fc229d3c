/** The worker of scheduled tasks alone, with tasks of a test. */
import { type Schedule, Workers } from "@bursar/engine-core"
import { Context, Effect, Layer } from "effect"
import { layer as tasksLayer, scheduleWorker } from "#core/feeds/ScheduleRunner.ts"

/** One instance of a deployment, with these tasks. */
export const instance = <R>(tasks: ReadonlyArray<Schedule.Task<R>>) =>
  Effect.map(
    Layer.build(
      Layer.fresh(Workers.layer([scheduleWorker]).pipe(Layer.provide(tasksLayer(tasks))))
    ),
    (built) => Context.get(built, Workers.Workers).runnerOf("schedules")
  )
