/** Everybody who signs in at the demo's venue: one client a role, more for four eyes, and one who follows the investor. */
import type { Vocabulary } from "@bursar/engine-core"

export interface Person {
  /** Its sign-in: the client's id and the `sub` of its tokens. */
  readonly sub: string
  readonly name: string
  readonly email: string
  readonly role: typeof Vocabulary.Role.schema.Type
  /** The holder that its token names, also before anybody onboards it. */
  readonly holder?: string
}

export const holderId = "holder-1"
/** Whom the investor names to follow it: the same owner under another key. */
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
  feed: person("feed", "Price feed", "feed"),
  registrar: person("registrar", "Rolf Registrar", "registrar")
} as const satisfies Record<string, Person>

/** What the tokens are for; the host takes no other audience. */
export const audience = "urn:bursar:engine"
