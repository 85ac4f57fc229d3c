/** A button that runs a reconciliation of a scope in the call, and leads to the run. */
import { useState } from "preact/hooks"
import { announce } from "../kit/Announce.ts"
import { Failure } from "../kit/Outcome.tsx"
import { IdLink, State } from "../kit/Values.tsx"
import { client } from "../reads/Api.ts"
import { readAnew } from "../reads/Cache.ts"
import { mayWrite } from "../reads/Lists.ts"
import { point } from "../reads/Point.ts"
import * as Session from "../shell/Session.ts"

export interface RunNowProps {
  /** Instrument to compare; null: all. */
  readonly instrumentId: string | null
  readonly title?: string
}

export const RunNow = ({ instrumentId, title = "Run now" }: RunNowProps) => {
  const [key, setKey] = useState(() => crypto.randomUUID())
  const [isRunning, running] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [run, setRun] = useState<{ readonly runId: string; readonly verdict: string } | null>(null)
  const roles = Session.person.value?.roles ?? []
  if (point.value !== null || !mayWrite("reconciliation-runs.start", roles)) return null
  const start = async () => {
    running(true)
    setError(null)
    try {
      const scope = instrumentId === null ? {} : { scope: { instrumentIds: [instrumentId] } }
      const { runId, verdict } = await client.reconcile(scope, { key })
      setRun({ runId, verdict })
      // The same key would answer the same run.
      setKey(crypto.randomUUID())
      announce(`The run came to ${verdict}.`)
      readAnew()
    } catch (failure) {
      setError(failure)
    } finally {
      running(false)
    }
  }
  return (
    <span class="acts">
      <button type="button" disabled={isRunning} onClick={() => void start()}>
        {isRunning ? "Running …" : title}
      </button>
      {run === null ? null : (
        <span>
          <State value={run.verdict} />{" "}
          <IdLink id={run.runId} href={`reconciliation-runs/${encodeURIComponent(run.runId)}`} />
        </span>
      )}
      {error === null ? null : <Failure error={error} />}
    </span>
  )
}
