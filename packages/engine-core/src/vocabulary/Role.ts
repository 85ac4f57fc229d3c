/** The ten roles of callers and the group each belongs to. */
import * as ValueSet from "./ValueSet.ts"

interface Row {
  readonly group: RoleGroup
  readonly doc: string
}

/** Group of a role: whose people or systems hold it. */
export const roleGroups = {
  "venue-staff": "The venue's own staff.",
  "venue-systems": "The venue's own systems.",
  "outside-parties": "Outside parties working with the venue."
} as const

/** Group of roles that see the same. */
export type RoleGroup = keyof typeof roleGroups

/** The table of roles, in the order in which an operation picks the one it runs under. */
export const roles = {
  operator: { group: "venue-staff", doc: "Runs the venue: makes most writes, reads everything." },
  approver: { group: "venue-staff", doc: "Approves four-eyes actions that others made." },
  risk: { group: "venue-staff", doc: "Stops what must stop, and asks for what it held to go on." },
  compliance: { group: "venue-staff", doc: "Looks after holders: restricts, lifts, recovers." },
  auditor: { group: "venue-staff", doc: "Reads; never writes and never approves." },
  investor: { group: "outside-parties", doc: "Reads its own holder's records, and only those." },
  app: { group: "venue-systems", doc: "The venue's own application: onboards and places orders." },
  monitor: { group: "venue-systems", doc: "Watches the control events, redacted." },
  feed: { group: "outside-parties", doc: "Hands external statements in; reads nothing." },
  registrar: { group: "outside-parties", doc: "Reads the instruments it keeps the register of." }
} as const satisfies Readonly<Record<string, Row>>

/** Role of a caller. */
export type Role = keyof typeof roles

export const Role: ValueSet.ValueSet<Role> = ValueSet.extensible(
  "Role",
  "A role of a caller at the venue, as the roles claim of its bearer names it.",
  Object.keys(roles) as ReadonlyArray<Role>
)

/** Checks whether a role is one of the venue's own staff, who may see that others write. */
export const isVenueStaff = (role: Role): boolean => roles[role].group === "venue-staff"
