/** Every type of event: what it announces, what it carries, and what a monitor sees of it. */
import { events } from "../../src/catalogue.ts"
import { hiddenMembers, hiddenResources, sight } from "../../src/feeds/Redaction.ts"
import {
  type BuiltInEventType,
  EventType,
  isControl,
  sentenceOf
} from "../../src/vocabulary/EventType.ts"
import { code, codes, type Page, page } from "./page.ts"

const monitor = (type: BuiltInEventType): string => {
  const seen = sight(type, events[type])
  if (seen === null) return "nothing"
  const id = {
    shown: "the record's id",
    hidden: "no id",
    "by kind": "the id, unless the record is of a hidden kind"
  }[seen.resourceId]
  return seen.hiddenNames.length === 0 ? id : `${id}; without ${codes(seen.hiddenNames)}`
}

const section = (type: BuiltInEventType): string => {
  const { members, resourceKind } = events[type]
  return [
    `### ${type}`,
    "",
    sentenceOf(type),
    "",
    `- About: ${resourceKind === "any" ? "the record of the write" : code(resourceKind)}`,
    `- Payload: ${codes(members)}`,
    `- A monitor sees: ${monitor(type)}`
  ].join("\n")
}

export const eventPage = (): Page =>
  page(
    "events.md",
    "# Events",
    "Control events are the engine's own acts: they are on the feed and posted to webhooks. Journal events are the ledger's facts: they are on the feed alone.",
    `A monitor reads control events only. It never sees a party, nor the members ${codes([...hiddenMembers])} at any depth of a payload, nor the id of a record of the kinds ${codes([...hiddenResources])}.`,
    "## Control events",
    ...EventType.members.filter(isControl).map(section),
    "## Journal events",
    ...EventType.members.filter((type) => !isControl(type)).map(section)
  )
