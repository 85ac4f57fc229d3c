/** Export of traces, metrics and logs to a configured OpenTelemetry collector. */
import { Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { OtlpLogger, OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability"

/** Options of the exporter of telemetry. */
export interface Options {
  /** The collector's base address: `/v1/traces`, `/v1/metrics` and `/v1/logs` follow it. */
  readonly url: URL
  /** Headers of every export, such as an API key of the collector. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  readonly version: string
  readonly tenantId: string
  /** Milliseconds between exports. */
  readonly interval: number
}

type Traces = Parameters<OtlpSerialization.OtlpSerialization["Service"]["traces"]>[0]

const ok = 1
const unset = 0

/**
 * OpenTelemetry reserves the status "Ok" for people; instrumentation leaves successful spans unset.
 */
const withoutVerdict = (data: Traces): Traces => ({
  resourceSpans: data.resourceSpans.map((resource) => ({
    ...resource,
    scopeSpans: resource.scopeSpans.map((scope) => ({
      ...scope,
      spans: scope.spans.map((span) =>
        span.status.code === ok ? { ...span, status: { code: unset } } : span
      )
    }))
  }))
})

/** JSON encoding, which any collector accepts and a person can read. */
const serialization = Layer.effect(
  OtlpSerialization.OtlpSerialization,
  Effect.map(OtlpSerialization.OtlpSerialization, (json) => ({
    ...json,
    traces: (data: Traces) => json.traces(withoutVerdict(data))
  }))
).pipe(Layer.provide(OtlpSerialization.layerJson))

/** In addition to the log on standard error. */
export const layer = ({
  url,
  headers,
  version,
  tenantId,
  interval
}: Options): Layer.Layer<never> => {
  const at = (signal: string): string => `${url.href.replace(/\/$/, "")}/v1/${signal}`
  const options = {
    headers: Redacted.value(headers),
    resource: {
      serviceName: "bursar",
      serviceVersion: version,
      attributes: { "bursar.tenant": tenantId }
    },
    exportInterval: interval
  }
  return Layer.mergeAll(
    OtlpTracer.layer({ ...options, url: at("traces") }),
    OtlpMetrics.layer({ ...options, url: at("metrics") }),
    OtlpLogger.layer({ ...options, url: at("logs"), mergeWithExisting: true })
  ).pipe(Layer.provide(serialization), Layer.provide(FetchHttpClient.layer))
}
