/**
 * Audit record of the configuration that a host starts with: network rules and ids of valid keys.
 */
import { Audit } from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import { Data, Option, Result, Schema } from "effect"
import type { Use } from "./DeploymentKeys.ts"
import type { HostConfig } from "./HostConfig.ts"
import { version } from "./version.ts"

/** The audit record of the configuration could not be written, so the host does not start. */
export class NotLogged extends Data.TaggedError("NotLogged")<{ readonly detail: string }> {
  override get message(): string {
    return `the audit log cannot be told of the configuration: ${this.detail}`
  }
}

/** Largest number of ids that the record names; of more, the record has the count. */
const namedMax = 50

const named = (ids: ReadonlyArray<string>): string =>
  ids.length > namedMax
    ? `${ids.slice(0, namedMax).join(" ")} and ${ids.length - namedMax} more`
    : ids.join(" ")

interface Key {
  readonly keyId: string
}

/**
 * The audit record `config.loaded`: ids of keys, never a key
 * (docs/contract/audit-log.md#what-is-logged).
 */
export const entry = (
  config: HostConfig,
  keys: {
    readonly webhooks: ReadonlyArray<Key>
    readonly sealing: ReadonlyArray<Key>
    readonly audit: ReadonlyArray<Key>
    readonly cursor: HostConfig["cursor.keys"]
  }
): Audit.Entry =>
  Audit.entry({
    action: "config.loaded",
    stage: "succeeded",
    detail: {
      version,
      allowAddresses: named(
        config["webhooks.allowAddresses"].map(({ address, prefix }) => `${address}/${prefix}`)
      ),
      allowHttp: String(config["webhooks.allowHttp"]),
      webhookKeys: named(keys.webhooks.map(({ keyId }) => keyId)),
      sealingKeys: named(keys.sealing.map(({ keyId }) => keyId)),
      auditKeys: named(keys.audit.map(({ keyId }) => keyId)),
      signingKeys: named(config["signing.keys"].map(({ keyId }) => keyId)),
      statementSources: named(
        config["statements.sources"].map(({ externalSourceId }) => externalSourceId)
      ),
      cursorKeys: named(keys.cursor.map(({ id }) => String(id)))
    }
  })

/** Ids of the keys that a start had, by their purpose; null where its record does not say. */
export type KeyIds = Readonly<Record<Use, ReadonlyArray<string> | null>>

const Ids = Schema.optionalKey(Schema.String)
const Loaded = Schema.Struct({
  detail: Schema.Struct({ webhookKeys: Ids, sealingKeys: Ids, auditKeys: Ids, cursorKeys: Ids })
})
const decode = Schema.decodeUnknownOption(Loaded)

/** Reads the ids of keys back from the text of the audit record; null where it names none. */
export const keyIdsOf = (text: string): KeyIds | null => {
  const loaded = Option.flatMap(Result.getSuccess(PlainJson.parse(text)), (json) => decode(json))
  if (Option.isNone(loaded)) return null
  const { auditKeys, cursorKeys, sealingKeys, webhookKeys } = loaded.value.detail
  const ids = (list: string | undefined) =>
    list === undefined ? null : list.split(" ").filter((id) => id !== "")
  return {
    webhook: ids(webhookKeys),
    sealing: ids(sealingKeys),
    audit: ids(auditKeys),
    cursor: ids(cursorKeys)
  }
}
