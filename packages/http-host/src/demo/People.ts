/**
 * People who sign in at the demo's venue: one client for each role, more for four eyes, and the
 * investor's successor.
 */
import type { Vocabulary } from "@bursar/engine-core"

export interface Person {
  /** Client id, and `sub` of its tokens. */
  readonly sub: string
  readonly name: string
  readonly email: string
  readonly role: typeof Vocabulary.Role.schema.Type
  /** Holder id in its token, also before the holder is onboarded. */
  readonly holder?: string
}

export const holderId = "holder-1"
/** Holder id of the investor's successor: the same owner under another key. */
export const successorId = "holder-2"

const person = (sub: string, name: string, role: Person["role"]): Person => ({
  sub,
  name,
  email: `${sub}@venue.example`,
  role
})

export const people = {
  operator: person("operator", "Olive Operator", "operator"),
  operatorTwo: person("operator-two", "Oscar Operator", "operator"),
  approver: person("approver", "Anna Approver", "approver"),
  approverTwo: person("approver-two", "Abel Approver", "approver"),
  risk: person("risk", "Rita Risk", "risk"),
  compliance: person("compliance", "Carl Compliance", "compliance"),
  auditor: person("auditor", "Ada Auditor", "auditor"),
  investor: { ...person("investor", "Ines Investor", "investor"), holder: holderId },
  successor: { ...person("successor", "Ines Investor", "investor"), holder: successorId },
  app: person("app", "Venue app", "app"),
  monitor: person("monitor", "Venue monitor", "monitor"),
  feed: person("feed", "Venue feed", "feed"),
  registrar: person("registrar", "Rolf Registrar", "registrar")
} as const satisfies Record<string, Person>

/** Audience of the tokens; the host accepts no other. */
export const audience = "urn:bursar:engine"
