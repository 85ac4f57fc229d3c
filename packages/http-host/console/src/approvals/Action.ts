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

/** Numbers as their text: a form has digits, an answer a number. */
const textual = (value: unknown): unknown =>
  typeof value === "number" || typeof value === "bigint"
    ? String(value)
    : Array.isArray(value)
      ? value.map(textual)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, textual(member)]))
        : value

const hasNullAt = (value: unknown, pointer: string): boolean =>
  pointer
    .split("/")
    .slice(1)
    .reduce<unknown>(
      (part, name) => (part as Readonly<Record<string, unknown>> | undefined)?.[name],
      value
    ) === null

/** Member in which the form of a repeat differs from its action, and why a form may be unable to equal it. */
export interface UnlikeMember {
  readonly pointer: string
  readonly remark: string | null
}

/**
 * Members in which the form of a repeat differs from the request of an action. A member that is null is
 * another request than one without the member: the service would make a second action of it.
 */
export const unlikeMembers = (form: unknown, request: unknown): ReadonlyArray<UnlikeMember> =>
  differing(textual(form), textual(request)).map((pointer) => ({
    pointer,
    remark: hasNullAt(request, pointer)
      ? "is null in the action, which a form leaves out: sign the action by its button instead"
      : null
  }))

/** Answer of a repeat, as far as it says which action was signed. */
export interface RepeatAnswer {
  readonly actionKey: string | null
  readonly operationId: string | null
}

/** What a signature came to, as a sentence; `otherKey` names an action that the call made anew. */
export interface Decided {
  readonly sentence: string
  readonly otherKey: string | null
}

export const signedBy = ({ operationId }: Pick<RepeatAnswer, "operationId">): Decided => ({
  sentence:
    operationId === null
      ? "Your signature is recorded; another approver signs next."
      : "Signed by all: it runs now.",
  otherKey: null
})

/**
 * What a repeat of an action came to. The service takes the call of a person who may also make the write as a
 * new action where none that equals it awaits any longer: then nothing was signed.
 */
export const repeatedOutcome = (
  action: Pick<ActionRecord, "actionKey">,
  made: RepeatAnswer
): Decided =>
  made.actionKey === action.actionKey
    ? signedBy(made)
    : {
        sentence:
          "This action was not signed: it no longer awaited, and the call made a new action under your name. Withdraw the new one unless it is meant.",
        otherKey: made.actionKey
      }

/** What moved of an action's figures: what they were, and since when they are others. */
interface MovedAction {
  readonly figuresHash: string | null
  readonly moved?: { readonly at: string } | null
}

/** Names the last move of the figures; null: they have not moved. Each further move has another name. */
export const moveOf = ({ figuresHash, moved }: MovedAction): string | null =>
  moved === undefined || moved === null ? null : `${moved.at} ${figuresHash ?? ""}`

/**
 * Why the figures that a page shows are not signed now; null: they may be. `computedHash` is the hash that
 * the page computed of these figures, null while it does; `openedMove` the move that the person opened last.
 */
export const blockOf = (
  action: MovedAction,
  {
    computedHash,
    openedMove
  }: { readonly computedHash: string | null; readonly openedMove: string | null }
): string | null => {
  const { figuresHash } = action
  if (figuresHash !== null && computedHash === null) {
    return "the hash of the figures is being recomputed"
  }
  if (figuresHash !== null && computedHash !== figuresHash) {
    return "the hash of the figures differs from what this page computed"
  }
  const move = moveOf(action)
  return move !== null && move !== openedMove ? "the figures moved: open what moved first" : null
}

/** Whether a person may sign the figures that the page shows: as the person may at all, where nothing blocks. */
export const maySignShown = (action: ActionRecord, signer: Signer, block: string | null): Leave => {
  const leave = maySign(action, signer)
  return leave.may && block !== null ? because(block) : leave
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
