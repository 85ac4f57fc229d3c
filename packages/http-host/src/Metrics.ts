/** Table of metrics: what each measures, and the values of its labels. */
import { Catalogue, Metrics as Core, Vocabulary } from "@bursar/engine-core"
import { Effect, Metric } from "effect"
import { routesOf } from "./api/Api.ts"
import * as Docs from "./Docs.ts"
import * as ProblemsPage from "./ProblemsPage.ts"
import * as AnswerBudget from "./middleware/AnswerBudget.ts"
import * as Counters from "./middleware/Counters.ts"
import * as PacedServer from "./middleware/PacedServer.ts"
import * as RequestTelemetry from "./middleware/RequestTelemetry.ts"
import { slugs as signatureSlugs } from "./middleware/SignedRequests.ts"

/** Declarations whose words are labels. */
type LabelWords = Pick<Catalogue.Catalogue, "operations" | "ownWords" | "queries" | "refusals">

const statusesOf = ({ refusals }: LabelWords) =>
  [
    ...new Set([
      200,
      201,
      202,
      204,
      304,
      RequestTelemetry.statusLeft,
      ...Object.values(refusals).map(({ status }) => status)
    ])
  ].map(String)

const hostMetricsOf = (catalogue: LabelWords): ReadonlyArray<Core.LabelledMetric> => [
  {
    metric: RequestTelemetry.requestDuration,
    labels: {
      "http.request.method": [...RequestTelemetry.methods, RequestTelemetry.otherMethod],
      "http.route": [
        ...new Set([
          ...routesOf(catalogue).map(({ path }) => path.template),
          Docs.path,
          ProblemsPage.path,
          Docs.licencesPath
        ])
      ],
      "http.response.status_code": statusesOf(catalogue),
      "error.type": [...Object.keys(catalogue.refusals), ...Object.values(RequestTelemetry.ends)]
    }
  },
  {
    metric: Counters.rateLimited,
    labels: { role: [...Vocabulary.Role.members, "none"] }
  },
  { metric: Counters.rateLimitAlone, labels: {} },
  { metric: Counters.signatureRefused, labels: { slug: signatureSlugs } },
  { metric: Counters.connectionsClosed, labels: { reason: PacedServer.closings } },
  { metric: Counters.answersRefused, labels: { bound: AnswerBudget.bounds } },
  { metric: Counters.answersWaiting, labels: {} },
  { metric: Counters.callsWaiting, labels: {} }
]

/** The table of all metrics, of the engine and of the host, with the words of a catalogue as labels. */
export const measuredOf = (catalogue: LabelWords): ReadonlyArray<Core.LabelledMetric> => [
  ...hostMetricsOf(catalogue),
  ...Core.measuredOf(catalogue.ownWords.get("OperationKind") ?? [])
]

/** The table of all metrics of a venue without rooms of its own. */
export const measured: ReadonlyArray<Core.LabelledMetric> = measuredOf(Catalogue.builtIn)

/**
 * Labels of each route's request metrics before its first call: the success status, and no error.
 */
const requestsBegin = (catalogue: LabelWords) =>
  routesOf(catalogue).map(({ path }) => ({
    "http.request.method": path.method,
    "http.route": path.template,
    "http.response.status_code": "200"
  }))

/** Every combination of the labels' values. */
const combinations = (
  labels: Core.LabelledMetric["labels"]
): ReadonlyArray<Readonly<Record<string, string>>> =>
  Object.entries(labels).reduce<ReadonlyArray<Readonly<Record<string, string>>>>(
    (so, [label, values]) =>
      so.flatMap((labelled) => values.map((value) => ({ ...labelled, [label]: value }))),
    [{}]
  )

/**
 * Initialises every metric with 0 under each value of its labels, so that a counter's first
 * increment shows as an increase. Requests are initialised for each route with its success status
 * alone.
 */
export const begin = (catalogue: LabelWords): Effect.Effect<void> =>
  Effect.forEach(
    measuredOf(catalogue).flatMap(({ labels, metric }) =>
      (metric === RequestTelemetry.requestDuration
        ? requestsBegin(catalogue)
        : combinations(labels)
      ).map((attributes) => Metric.withAttributes(metric, attributes))
    ),
    // `Metric.value` registers the metric as a side effect.
    Metric.value,
    { discard: true }
  )

const unitOf = ({ attributes }: Metric.Metric<never, unknown>): string | undefined => {
  if (attributes === undefined || Array.isArray(attributes)) return undefined
  return Object.entries(attributes).find(([name]) => name === "unit")?.[1]
}

/** Prometheus name of a metric: words joined by underscores, its unit and `total` at the end. */
export const prometheusName = (metric: Metric.Metric<never, unknown>): string => {
  const words = metric.id.replaceAll(".", "_")
  if (metric.type === "Counter") return `${words}_total`
  return unitOf(metric) === "s" ? `${words}_seconds` : words
}

const named = new Map(measured.map(({ metric }) => [metric.id, prometheusName(metric)]))

/** Prometheus name by a metric's id, for the library's printer, which passes the id alone. */
export const nameOf = (id: string): string => named.get(id) ?? id
