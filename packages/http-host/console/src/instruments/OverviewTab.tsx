/** Overview of an instrument: what stops it, what awaits it, its terms and parties, and its course over time. */
import { useLocation } from "preact-iso"
import { LineChart } from "../chart/LineChart.tsx"
import { Amount, Loaded, Rows } from "../kit/Sheet.tsx"
import { IdLink, InstantText, State, Term, Terms, Text } from "../kit/Values.tsx"
import { zone } from "../kit/Zone.ts"
import { useRead } from "../reads/Cache.ts"
import { listRead, type Row, valueRead } from "../reads/Lists.ts"
import { factsOf } from "../record/Fact.ts"
import { JudgedActs } from "../record/Judgement.tsx"
import { Facts, mayI, Moves, Sheet, VersionLine } from "../record/Page.tsx"
import { RecordLink } from "../record/RecordLink.tsx"
import { parametersOf, sameWith } from "../shell/Links.ts"
import { label, word } from "../words/Words.ts"
import { cutOffText, identifiersOf, metrics, overviewSheets, pointValue } from "./Instrument.ts"

const acts = [
  ["instrument.pause", "Holds everything of the instrument at once, under your name alone."],
  ["instrument.force-transfer", "Moves units of holders on an order that is cited."],
  ["instrument.recover", "Moves what holders hold to their successors."]
] as const

export const OverviewTab = ({
  id,
  instrument
}: {
  readonly id: string
  readonly instrument: Row
}) => {
  const cutOff = cutOffText(instrument["cutOff"])
  const identifiers = identifiersOf(instrument["identifiers"])
  return (
    <>
      <Paused paused={instrument["paused"]} />
      <div class="halves">
        <Sheet title="What can be done">
          <Moves moves={instrument["waitingOn"]} />
          <JudgedActs
            rows={acts.map(([kind, says]) => ({
              kind,
              says,
              fixed: { instrumentId: id },
              judged: null
            }))}
            about={{ instrumentId: id, holderId: null }}
          />
        </Sheet>
        {mayI("reconciliation-verdict.list") ? <VerdictSheet id={id} /> : null}
      </div>
      <div class="halves">
        {overviewSheets.map(({ rows, title }) => (
          <Sheet key={title} title={title}>
            <Facts facts={factsOf(instrument, rows)} />
            {title === "Terms" && cutOff !== null ? <p>Cut-off at {cutOff}</p> : null}
          </Sheet>
        ))}
      </div>
      {identifiers.length === 0 ? null : (
        <Sheet title="Identifiers">
          <Terms>
            {identifiers.map(([scheme, identifier]) => (
              <Term key={scheme} name={label(scheme)}>
                <IdLink id={identifier} />
              </Term>
            ))}
          </Terms>
        </Sheet>
      )}
      {mayI("instruments.series") ? <SeriesSheet id={id} /> : null}
      <VersionLine record={instrument} />
    </>
  )
}

const Paused = ({ paused }: { readonly paused: unknown }) => {
  if (typeof paused !== "object" || paused === null) return null
  const { by, holdId, reason, since, until } = paused as Readonly<Record<string, string | null>>
  return (
    <section class="alert">
      <p>
        <b>Paused</b> since <InstantText at={since ?? ""} /> by <Text value={by ?? ""} />
        {until === null || until === undefined ? null : (
          <>
            , until <InstantText at={until} />
          </>
        )}
        , by hold{" "}
        <RecordLink id={holdId ?? ""} href={`holds/${encodeURIComponent(holdId ?? "")}`} />
      </p>
      <blockquote dir="auto">{reason}</blockquote>
    </section>
  )
}

const VerdictSheet = ({ id }: { readonly id: string }) => {
  const state = useRead(
    listRead("reconciliation-verdict.list", { where: { instrumentId: id }, limit: 1 })
  )
  return (
    <Sheet title="Reconciliation">
      <Loaded state={state}>
        {({ value: [verdict] }) =>
          verdict === undefined ? (
            <p class="none">No run has compared it yet.</p>
          ) : (
            <>
              <p class="lead">
                <State value={String(verdict["verdict"])} />
              </p>
              <Open open={verdict["open"]} oldest={verdict["oldestDays"]} />
              {mayI("reconciliation-runs.get") ? (
                <p>
                  Last run{" "}
                  <RecordLink
                    id={String(verdict["runId"])}
                    href={`reconciliation-runs/${encodeURIComponent(String(verdict["runId"]))}`}
                  />
                </p>
              ) : null}
            </>
          )
        }
      </Loaded>
    </Sheet>
  )
}

const Open = ({ oldest, open }: { readonly open: unknown; readonly oldest: unknown }) => {
  const counts = Object.entries((open ?? {}) as Readonly<Record<string, unknown>>)
  return (
    <p>
      {counts.map(([severity, count], at) => (
        <span key={severity}>
          {at === 0 ? "" : ", "}
          {String(count)} {word(severity)}
        </span>
      ))}{" "}
      open
      {oldest === null || oldest === undefined ? "" : `, the oldest for ${String(oldest)} days`}
    </p>
  )
}

const intervals = ["day", "week", "month"] as const

const SeriesSheet = ({ id }: { readonly id: string }) => {
  const { url } = useLocation()
  const parameters = parametersOf(url)
  const metric = metrics.find((each) => each === parameters.get("metric")) ?? "supply"
  const interval = intervals.find((each) => each === parameters.get("interval")) ?? "day"
  const state = useRead({
    ...valueRead("instruments.series", { instrumentId: id, metric, interval, zone: zone.value }),
    kinds: ["*"]
  })
  const toggles = (name: string, words: ReadonlyArray<string>, chosen: string) => (
    <span class="toggles" role="group" aria-label={label(name)}>
      {words.map((each, at) => (
        <a
          key={each}
          class="toggle"
          href={sameWith(url, { [name]: at === 0 ? null : each })}
          aria-current={each === chosen ? "true" : undefined}
        >
          {word(each)}
        </a>
      ))}
    </span>
  )
  return (
    <Sheet title="Over time" about={`by ${interval}, in ${zone.value}`}>
      <div class="filters">
        {toggles("metric", metrics, metric)}
        {toggles("interval", intervals, interval)}
      </div>
      <Loaded state={state}>
        {({ value }) => {
          const points = (value["points"] ?? []) as ReadonlyArray<Row>
          return (
            <>
              <LineChart
                name={`${label(metric)} by ${interval}`}
                points={points.map((point) => ({
                  at: String(point["start"]),
                  value: pointValue(point)
                }))}
              />
              <details>
                <summary>As a table</summary>
                <Rows
                  caption={label(metric)}
                  order={`by ${interval}, oldest first`}
                  cells={[
                    { name: "From", draw: ({ start }) => <InstantText at={String(start)} /> },
                    ...["open", "close", "min", "max", "sum"].map((member) => ({
                      name: label(member),
                      isFigure: true,
                      draw: (point: Row) => <Amount value={point[member]} />
                    }))
                  ]}
                  rows={points}
                  empty="No point lies in this time."
                />
              </details>
            </>
          )
        }}
      </Loaded>
    </Sheet>
  )
}
