/** Redaction of the feed for monitors: control events alone, without holders, figures or actors. */
import { PlainNumber } from "../kernel/PlainNumber.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import type { EventKind } from "../vocabulary/EventKind.ts"
import { type EventType, isControl } from "../vocabulary/EventType.ts"
import type { ResourceKind } from "../vocabulary/ResourceKind.ts"
import type { EventDeclaration } from "../records/EventDeclaration.ts"

/** Members of a payload that a monitor never sees, at any depth. */
export const hiddenMembers: ReadonlySet<string> = new Set([
  "holderId",
  "reason",
  "orderCited",
  "name",
  "email",
  "quantity",
  "amount"
])

/** Kinds of record whose ids a monitor never sees. */
export const hiddenResources: ReadonlySet<ResourceKind> = new Set<ResourceKind>([
  "holder",
  "subscription",
  "redemption",
  "restriction",
  "lock-agreement",
  "mint",
  "reserve-redemption",
  "issuer-powers-agreement",
  "external-account",
  "contract",
  "exercise",
  "operation",
  "distribution-line",
  "finding",
  "proposal"
])

/** The members of an event that redaction touches. */
export interface Redactable {
  readonly kind: EventKind
  readonly party: string | null
  readonly resourceKind: ResourceKind
  readonly resourceId: string | null
  readonly payload: Plain
}

/** The event as a monitor sees it, or null where it sees none. */
export const redact = <E extends Redactable>(
  event: E
): (Omit<E, keyof Redactable> & Redactable) | null =>
  event.kind === "control"
    ? {
        ...event,
        party: null,
        resourceId: hiddenResources.has(event.resourceKind) ? null : event.resourceId,
        payload: withoutHidden(event.payload)
      }
    : null

const withoutHidden = (value: Plain): Plain => {
  if (value === null || typeof value !== "object" || value instanceof PlainNumber) return value
  if (isList(value)) return value.map(withoutHidden)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([member]) => !hiddenMembers.has(member))
      .map(([member, inner]) => [member, withoutHidden(inner)])
  )
}

const isList = (value: Plain): value is ReadonlyArray<Plain> => Array.isArray(value)

/** Members that a monitor reads of an event's type, for the generated page; null: not the event. */
export const sight = (
  type: EventType,
  { members, resourceKind }: Pick<EventDeclaration<unknown>, "members" | "resourceKind">
): {
  readonly resourceId: "shown" | "hidden" | "by kind"
  readonly hiddenNames: ReadonlyArray<string>
} | null => {
  if (!isControl(type)) return null
  return {
    resourceId:
      resourceKind === "any" ? "by kind" : hiddenResources.has(resourceKind) ? "hidden" : "shown",
    hiddenNames: members.filter((member) => hiddenMembers.has(member))
  }
}
