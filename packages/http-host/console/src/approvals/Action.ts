/** What the page of a four-eyes action shows, computed from its record: who may sign, and what each may do. */

export interface ActionSignature {
  readonly sub: string
  readonly role: string
  readonly at: string
  readonly figuresHash: string | null
  readonly name?: string | null
}

/** The action as the approvals show it. */
export interface ActionRecord {
  readonly actionKey: string | null
  readonly kind: string
  readonly state: string
  readonly resource: { readonly kind: string; readonly id: string; readonly href: string }
  readonly request: unknown
  readonly maker: string | null
  readonly makerRole: string | null
  readonly madeAt: string | null
  readonly required: number | null
  readonly signatures: ReadonlyArray<ActionSignature>
  readonly figures: Readonly<Record<string, string>> | null
  readonly figuresHash: string | null
  readonly operationId: string | null
  readonly rejectedBy: string | null
  readonly rejectedAt: string | null
  readonly reason: string | null
  readonly expiresAt: string | null
  readonly method: string
  readonly path: string
}

export interface Signer {
  readonly sub: string
  readonly roles: ReadonlyArray<string>
}

/** An act, or the reason why this person may not do it. */
export type Leave = { readonly may: true } | { readonly may: false; readonly because: string }

const may: Leave = { may: true }
const because = (reason: string): Leave => ({ may: false, because: reason })

const ended = (state: string): string => `it is ${state}`

/** Whether a person may sign: a person signs once, never the own action, and never as an auditor. */
export const maySign = (action: ActionRecord, signer: Signer): Leave => {
  if (action.state !== "awaiting") return because(ended(action.state))
  if (action.maker === signer.sub) return because("you made it: another person signs")
  if (action.signatures.some(({ sub }) => sub === signer.sub)) {
    return because("you signed it: another person signs next")
  }
  if (signer.roles.includes("auditor"))
    return because("you hold the role auditor, which only reads")
  if (!signer.roles.includes("approver")) return because("you are no approver")
  return may
}

/** Whether a person may reject: whoever might sign. */
export const mayReject = (action: ActionRecord, signer: Signer): Leave => {
  if (action.state !== "awaiting") return because(ended(action.state))
  if (action.maker === signer.sub) return because("you made it: withdraw it instead")
  if (signer.roles.includes("auditor"))
    return because("you hold the role auditor, which only reads")
  if (!signer.roles.includes("approver")) return because("you are no approver")
  return may
}

export const mayWithdraw = (action: ActionRecord, signer: Signer): Leave =>
  action.state !== "awaiting"
    ? because(ended(action.state))
    : action.maker === signer.sub
      ? may
      : because("only its maker withdraws it")

/** Who still has to sign, as a sentence. */
export const stillToSign = ({ required, signatures, state }: ActionRecord): string | null => {
  if (state !== "awaiting" || required === null) return null
  const left = required - signatures.length
  if (left <= 0) return null
  const who = left === 1 ? "One more approver" : `${left} more approvers`
  return `${who}, other than the maker${signatures.length > 0 ? " and whoever has signed" : ""}.`
}

/** Why so many must sign. */
export const whySigned = (required: number | null): string =>
  required === 2
    ? "Two approvers sign, because the act cannot be taken back by one person."
    : "One approver besides the maker signs."

/** First digits of a hash, as a person compares them. */
export const brief = (hash: string): string => hash.slice(0, 8)

/** Members in which two requests differ, each as a pointer; of what is equal nothing. */
export const differing = (left: unknown, right: unknown, pointer = ""): ReadonlyArray<string> => {
  if (Object.is(left, right)) return []
  const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
    typeof value === "object" && value !== null
  if (!isObject(left) || !isObject(right) || Array.isArray(left) !== Array.isArray(right)) {
    return [pointer === "" ? "/" : pointer]
  }
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...names].flatMap((name) => differing(left[name], right[name], `${pointer}/${name}`))
}

/** Text that the hash of figures is of: its name, and the figures as canonical JSON (RFC 8785). */
export const hashedText = (figures: Readonly<Record<string, string>>): string => {
  // Printed member by member: an object would put names that look like indices first.
  const members = Object.entries(figures)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(text)}`)
  return `bursar-figures-v1\n{${members.join(",")}}`
}

/** SHA-256 of the figures as the service computes it, in lower-case hex. */
export const hashOf = async (figures: Readonly<Record<string, string>>): Promise<string> => {
  const bytes = new TextEncoder().encode(hashedText(figures))
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).reduce(
    (text, byte) => text + byte.toString(16).padStart(2, "0"),
    ""
  )
}
