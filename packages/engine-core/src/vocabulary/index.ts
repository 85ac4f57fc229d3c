/** The words of the API: every closed and every extensible set, as the wire spells them. */
export * from "./Access.ts"
export * from "./AuditAction.ts"
export * from "./EventKind.ts"
export * from "./EventType.ts"
export * from "./OperationKind.ts"
export * from "./ResourceKind.ts"
export * from "./Role.ts"
export * from "./sets.ts"
