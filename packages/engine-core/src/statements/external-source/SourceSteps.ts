/** Reconciliation of the stored sources of statements with those of the configuration. */
import { Effect, Option } from "effect"
import * as Instant from "../../kernel/Instant.ts"
import * as Audit from "../../records/Audit.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  type ConfiguredSource,
  SourceConfiguration,
  sourcesMax
} from "../../engine/ConfiguredSource.ts"
import { type ExternalSource, ExternalSourceId, externalSources } from "./ExternalSource.ts"

/** Members that the configuration gives, in one order: equal texts are equal sources. */
const textOf = (source: SourceConfiguration): string =>
  JSON.stringify(sorted(Object.fromEntries(members.map((member) => [member, source[member]]))))

const members = Object.keys(SourceConfiguration.fields) as ReadonlyArray<keyof SourceConfiguration>

const sorted = (value: unknown): unknown => {
  if (typeof value === "bigint") return String(value)
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const)
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Change that a start of the engine makes to a stored source. */
type Change = "new" | "changed" | "active" | "inactive" | "none"

/** Compares a stored source with the configured one of its id; undefined: there is none. */
const changeOf = (
  stored: ExternalSource | undefined,
  configured: ConfiguredSource | undefined
): Change => {
  if (stored === undefined) return configured === undefined ? "none" : "new"
  if (configured === undefined) return stored.state === "active" ? "inactive" : "none"
  if (textOf(stored) !== textOf(configuredOf(configured))) return "changed"
  return stored.state === "active" ? "none" : "active"
}

/** Picks the members that the configuration gives. */
const configuredOf = ({
  externalSourceId: _,
  balances = "stated",
  ...configured
}: ConfiguredSource): SourceConfiguration => ({ ...configured, balances })

/**
 * Stores the sources of the configuration in one transaction, with an audit record for each source
 * that it opens, changes, ends or names again (docs/domain/statements.md#sources).
 */
export const reconcile = Effect.fnUntraced(function* (configured: ReadonlyArray<ConfiguredSource>) {
  const records = yield* Records
  const stored = yield* records.list(externalSources, { limit: sourcesMax * 10 })
  if (stored.length + configured.length === 0) return
  yield* records.transact(
    Effect.gen(function* () {
      const named = new Map(configured.map((source) => [source.externalSourceId, source]))
      const ids = new Set([
        ...stored.map(({ record }) => String(record.externalSourceId)),
        ...named.keys()
      ])
      const changes = yield* Effect.forEach([...ids].toSorted(), (id) =>
        Effect.map(apply(id, named.get(id)), (change) => ({ id, change }))
      )
      yield* records.audit(
        changes.flatMap(({ id, change }) => (change === "none" ? [] : [audited(id, change)]))
      )
    })
  )
})

const audited = (externalSourceId: string, change: Change): Audit.Entry =>
  Audit.entry({
    action: "config.loaded",
    stage: "succeeded",
    resourceKind: "external-source",
    resourceId: externalSourceId,
    detail: { change }
  })

const apply = Effect.fnUntraced(function* (id: string, configured: ConfiguredSource | undefined) {
  const records = yield* Records
  const before = Option.getOrUndefined(yield* records.find(externalSources, id))
  const change = changeOf(before, configured)
  const act = { cause: { by: "clock" } as const, now: yield* Instant.now }
  if (change === "none") return change
  if (configured === undefined) {
    yield* records.append(
      externalSources,
      before as Stored<ExternalSource>,
      { on: "deactivate" },
      act
    )
  } else if (before === undefined) {
    yield* records.open(
      externalSources,
      {
        ...configuredOf(configured),
        externalSourceId: ExternalSourceId.make(configured.externalSourceId),
        state: "active",
        lastBusinessDate: null
      },
      act
    )
  } else {
    const fact = { on: "configure", configured: configuredOf(configured) } as const
    yield* records.append(externalSources, before, fact, act)
  }
  return change
})
