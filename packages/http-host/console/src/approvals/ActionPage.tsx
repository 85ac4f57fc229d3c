/**
 * Page of one four-eyes action: what it does, what it changes, what it comes to, and the signature that is
 * for the figures which this page shows and no others.
 */
import { CallRefusal } from "@bursar/http-host/plain-client"
import { useEffect, useMemo, useState } from "preact/hooks"
import table from "virtual:interface"
import { announce } from "../kit/Announce.ts"
import { type BasisRecord, basisOf, BasisView } from "../kit/Basis.tsx"
import { type Change, ChangeList } from "../kit/ChangeList.tsx"
import { Fields, FaultsNotice, useSchemas } from "../kit/Form.tsx"
import { enteredOf, formFields, type FormValue } from "../kit/Schema.ts"
import { Aged, Failure, Loading, Outcome } from "../kit/Outcome.tsx"
import {
  Copy,
  Deadline,
  Figure,
  IdLink,
  InstantText,
  Quote,
  State,
  Term,
  Terms,
  Text,
  Value
} from "../kit/Values.tsx"
import { zone } from "../kit/Zone.ts"
import { client } from "../reads/Api.ts"
import { readAnew, useRead } from "../reads/Cache.ts"
import { valueRead } from "../reads/Lists.ts"
import { point } from "../reads/Point.ts"
import * as Session from "../shell/Session.ts"
import { Title } from "../shell/Title.tsx"
import { label } from "../words/Words.ts"
import {
  type ActionRecord,
  blockOf,
  brief,
  type Decided,
  hashOf,
  type Leave,
  mayReject,
  maySignShown,
  mayWithdraw,
  moveOf,
  type RepeatAnswer,
  repeatedOutcome,
  signedBy,
  stillToSign,
  type UnlikeMember,
  unlikeMembers,
  whySigned
} from "./Action.ts"
import { titleOf } from "./ActionTitle.ts"
import { PrecheckView } from "./PrecheckView.tsx"

/** Members that later releases of the interface add; absent where the host has none. */
interface Added {
  readonly summary?: string | null
  readonly changes?: ReadonlyArray<Change>
  readonly basis?: ReadonlyArray<BasisRecord>
  readonly moved?: {
    readonly at: string
    readonly figures: Readonly<Record<string, string>>
    readonly figuresHash: string
  } | null
  readonly makerName?: string | null
}

type Shown = ActionRecord & Added

export const ActionPage = ({ actionKey }: { readonly actionKey: string }) => {
  const { error, value } = useRead(valueRead("approvals.get", { actionKey }))
  const action = value?.value as unknown as Shown | undefined
  return (
    <>
      <Title
        text={
          action === undefined
            ? "Action"
            : (action.summary ?? titleOf(action.kind, action.resource))
        }
      />
      {error !== null && error !== undefined ? <Failure error={error} /> : null}
      <Aged error={error} now={value?.now} />
      {action === undefined ? (
        error === null || error === undefined ? (
          <Loading />
        ) : null
      ) : (
        <ActionView action={action} />
      )}
    </>
  )
}

/** Hash of the figures as this page computes it; null while it does. */
const useHash = (figures: Readonly<Record<string, string>> | null): string | null => {
  const [computed, set] = useState<{ readonly text: string; readonly hash: string } | null>(null)
  const text = JSON.stringify(figures)
  useEffect(() => {
    if (figures !== null) void hashOf(figures).then((hash) => set({ text, hash }))
  }, [text])
  // A hash of other figures, which moved or ended later, is no hash of these.
  return computed?.text === text ? computed.hash : null
}

const ActionView = ({ action }: { readonly action: Shown }) => {
  const {
    changes = [],
    figures,
    figuresHash,
    kind,
    madeAt,
    maker,
    makerName,
    makerRole,
    moved,
    request,
    required
  } = action
  const computed = useHash(figures)
  const [openedMove, openMove] = useState<string | null>(null)
  const move = moveOf(action)
  const differs = figuresHash !== null && computed !== null && computed !== figuresHash
  const write = table.writes[kind]
  return (
    <article class="record action">
      <section class="head">
        <p class="lead">
          <State value={action.state} />
          <span class="id">
            <bdi>{action.actionKey}</bdi>
            <Copy text={action.actionKey ?? ""} />
          </span>
        </p>
        <Terms>
          <Term name="Act">{write?.title ?? kind}</Term>
          <Term name="Record">
            <RecordLink action={action} />
          </Term>
          <Term name="Maker">
            {makerName === undefined || makerName === null ? null : (
              <>
                <Text value={makerName} />{" "}
              </>
            )}
            <Text value={maker ?? ""} /> <span class="fine">{makerRole}</span>
          </Term>
          <Term name="Made">{madeAt === null ? "" : <InstantText at={madeAt} />}</Term>
          <Term name="Needs">{whySigned(required)}</Term>
          <Term name="Expires">
            <Deadline at={action.expiresAt} />
          </Term>
        </Terms>
        <Signatures action={action} />
        {action.reason === null ? null : (
          <>
            <h2>Reason</h2>
            <Quote value={action.reason} />
            <p class="fine">
              <Text value={action.rejectedBy ?? ""} />{" "}
              {action.rejectedAt === null ? null : <InstantText at={action.rejectedAt} />}
            </p>
          </>
        )}
      </section>
      {changes.length === 0 ? null : <ChangeList changes={changes} />}
      {moved === undefined || moved === null ? null : (
        <details
          class="moved"
          key={move}
          onToggle={({ currentTarget }) => {
            if (currentTarget.open) openMove(move)
          }}
        >
          <summary>
            Figures moved at <InstantText at={moved.at} />: earlier signatures are void
          </summary>
          <FiguresTable now={figures ?? {}} before={moved.figures} />
        </details>
      )}
      <section>
        <h2>What it comes to</h2>
        {figures === null ? (
          <p class="none">This act has no figures.</p>
        ) : (
          <>
            <Terms>
              {Object.entries(figures).map(([name, text]) => {
                const basis = basisOf(action.basis, name)
                return (
                  <Term key={name} name={label(name)}>
                    <Figure value={text} />
                    {basis === undefined ? null : (
                      <>
                        <BasisView basis={basis} /> <span class="fine">not recomputed here</span>
                      </>
                    )}
                  </Term>
                )
              })}
            </Terms>
            {figuresHash === null ? null : (
              <p class="fine">
                Hash <code>{brief(figuresHash)}…</code>, recomputed here:{" "}
                {computed === null ? (
                  "…"
                ) : differs ? (
                  <b class="overdue">it differs, do not sign</b>
                ) : (
                  "the same"
                )}
              </p>
            )}
          </>
        )}
      </section>
      {action.state === "awaiting" ? <PrecheckView action={action} /> : null}
      <details>
        <summary>Request, as sent</summary>
        <Value member="request" value={request} />
        <p class="fine">
          <code>
            {action.method} {action.path}
          </code>
        </p>
      </details>
      {point.value !== null ? (
        <p class="none">This page shows the past: nothing can be signed here.</p>
      ) : (
        <Decisions
          action={action}
          block={blockOf(action, { computedHash: computed, openedMove })}
        />
      )}
      {action.operationId === null ? null : <Progress operationId={action.operationId} />}
    </article>
  )
}

const RecordLink = ({ action: { resource } }: { readonly action: Shown }) => {
  const path = resource.href.replace(/^\/v1\//u, "")
  return (
    <>
      <span>{label(resource.kind)} </span>
      <IdLink id={resource.id} href={path.split("/").length === 2 ? path : null} />
    </>
  )
}

const Signatures = ({ action }: { readonly action: Shown }) => {
  const left = stillToSign(action)
  return (
    <>
      <h2>Signatures</h2>
      {action.signatures.length === 0 ? (
        <p class="none">Nobody has signed.</p>
      ) : (
        <ul class="signatures">
          {action.signatures.map(({ at, figuresHash, name, role, sub }) => (
            <li key={sub}>
              {name === undefined || name === null ? null : (
                <>
                  <Text value={name} />{" "}
                </>
              )}
              <Text value={sub} /> <span class="fine">{role}</span> <InstantText at={at} />
              {figuresHash === null ? null : (
                <>
                  {" "}
                  figures <code>{brief(figuresHash)}</code>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {left === null ? null : <p>{left}</p>}
    </>
  )
}

const FiguresTable = ({
  before,
  now
}: {
  readonly now: Readonly<Record<string, string>>
  readonly before: Readonly<Record<string, string>>
}) => (
  <table>
    <caption>Old beside new</caption>
    <thead>
      <tr>
        <th scope="col">Figure</th>
        <th scope="col" class="right">
          Signed before
        </th>
        <th scope="col" class="right">
          Now
        </th>
      </tr>
    </thead>
    <tbody>
      {[...new Set([...Object.keys(before), ...Object.keys(now)])].map((name) => (
        <tr key={name} class={before[name] === now[name] ? undefined : "differs"}>
          <th scope="row">{label(name)}</th>
          <td class="right">
            <Value member={name} value={before[name]} />
          </td>
          <td class="right">
            <Value member={name} value={now[name]} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

type Choice = "sign" | "reject" | "withdraw" | "repeat"

const Decisions = ({
  action,
  block
}: {
  readonly action: Shown
  readonly block: string | null
}) => {
  const person = Session.person.value
  const keys = useMemo(
    () => ({ sign: crypto.randomUUID(), reject: crypto.randomUUID() }),
    [action.actionKey, action.figuresHash]
  )
  const [error, setError] = useState<unknown>(null)
  const [reason, setReason] = useState("")
  const [isSending, sending] = useState(false)
  const [decision, setDecision] = useState<(Decided & { readonly hash: string | null }) | null>(
    null
  )
  const decide = (decided: Decided) => setDecision({ ...decided, hash: action.figuresHash })
  const [open, setOpen] = useState<Choice | null>(null)
  if (person === null) return null
  const sign: Leave = maySignShown(action, person, block)
  const reject = mayReject(action, person)
  const withdraw = mayWithdraw(action, person)
  const act = async (choice: "sign" | "reject") => {
    if (isSending) return
    sending(true)
    setError(null)
    try {
      if (choice === "sign") {
        const made = await client.approve(action as never, { key: keys.sign })
        decide(signedBy(made as { readonly operationId: string | null }))
      } else {
        await client.reject(action as never, { key: keys.reject, reason })
        decide({
          sentence: action.maker === person.sub ? "Withdrawn." : "Rejected.",
          otherKey: null
        })
      }
      announce("Recorded.")
    } catch (failure) {
      setError(failure)
      announce(failure instanceof CallRefusal ? "It was refused." : "No answer came.")
    } finally {
      sending(false)
      readAnew()
    }
  }
  // Nothing takes the place of the button that was pressed: a second press would meet another act.
  // A signature for figures that have moved since is void, and what it came to is no longer said.
  if (decision !== null && decision.hash === action.figuresHash)
    return (
      <Outcome className="decisions">
        <p class="decided">{decision.sentence}</p>
        {decision.otherKey === null ? null : (
          <p>
            <IdLink id={decision.otherKey} href={`approvals/${decision.otherKey}`} />
          </p>
        )}
      </Outcome>
    )
  return (
    <section class="decisions" aria-label="Decisions">
      <h2>Decide</h2>
      {error === null ? null : <Failure error={error} />}
      <div class="acts">
        {sign.may ? (
          <button type="button" class="main" disabled={isSending} onClick={() => void act("sign")}>
            {isSending
              ? "Sending …"
              : action.figuresHash === null
                ? "Sign"
                : `Sign figures ${brief(action.figuresHash)}`}
          </button>
        ) : (
          <p class="may-not">Sign: not now, because {sign.because}.</p>
        )}
        {reject.may ? (
          <button
            type="button"
            onClick={() => setOpen(open === "reject" ? null : "reject")}
            aria-expanded={open === "reject"}
          >
            Reject …
          </button>
        ) : null}
        {withdraw.may ? (
          <button
            type="button"
            onClick={() => setOpen(open === "withdraw" ? null : "withdraw")}
            aria-expanded={open === "withdraw"}
          >
            Withdraw …
          </button>
        ) : null}
        {sign.may || open === "repeat" ? (
          <button
            type="button"
            onClick={() => setOpen(open === "repeat" ? null : "repeat")}
            aria-expanded={open === "repeat"}
          >
            Sign by repeating …
          </button>
        ) : null}
      </div>
      {open === "reject" || open === "withdraw" ? (
        <form
          class="write"
          onSubmit={(event) => {
            event.preventDefault()
            void act("reject")
          }}
        >
          <div class="entry">
            <label for="reason">Reason</label>
            <textarea
              id="reason"
              rows={2}
              value={reason}
              onInput={({ currentTarget }) => setReason(currentTarget.value)}
            />
          </div>
          <button type="submit" disabled={isSending}>
            {open === "reject" ? "Reject" : "Withdraw"}
          </button>
        </form>
      ) : null}
      {open === "repeat" ? <Repeat action={action} leave={sign} decide={decide} /> : null}
    </section>
  )
}

/**
 * A blind repeat: the approver fills in the empty form from a paper of its own; it is sent without a key,
 * and only if it equals the action.
 */
const Repeat = ({
  action,
  decide,
  leave
}: {
  readonly action: Shown
  readonly leave: Leave
  readonly decide: (decided: Decided) => void
}) => {
  const schemas = useSchemas()
  const [values, set] = useState<{ readonly [name: string]: FormValue }>({})
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map())
  const [unlike, setUnlike] = useState<ReadonlyArray<UnlikeMember>>([])
  const [error, setError] = useState<unknown>(null)
  const [isSending, sending] = useState(false)
  if (schemas === null) return <Loading />
  const fields = formFields(schemas, { kind: action.kind, fixed: {} })
  const send = async () => {
    const entered = enteredOf(fields, values, { pointer: "", zone: zone.value })
    setFaults(entered.faults)
    setError(null)
    if (entered.faults.size > 0 || isSending || !leave.may) return
    const members = unlikeMembers(entered.input, action.request)
    setUnlike(members)
    if (members.length > 0) return
    sending(true)
    try {
      const made = (await client.write(action.kind as never, entered.input as never, {
        key: null
      })) as unknown as RepeatAnswer
      decide(repeatedOutcome(action, made))
    } catch (failure) {
      setError(failure)
    } finally {
      sending(false)
      readAnew()
    }
  }
  return (
    <form
      class="write"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
      noValidate
    >
      <p>Fill in the form from your own paper. It is sent only if it equals the action.</p>
      <Fields fields={fields} values={values} faults={faults} set={set} />
      <FaultsNotice faults={faults} />
      {unlike.length === 0 ? null : (
        <section class="failure" role="alert">
          <h3>It differs, and nothing was sent</h3>
          <ul>
            {unlike.map(({ pointer, remark }) => (
              <li key={pointer}>
                <code>{pointer}</code> {remark}
              </li>
            ))}
          </ul>
        </section>
      )}
      {error === null ? null : <Failure error={error} />}
      {leave.may ? null : <p class="may-not">Sign: not now, because {leave.because}.</p>}
      <button type="submit" disabled={isSending || !leave.may}>
        {isSending ? "Sending …" : "Compare, and sign if equal"}
      </button>
    </form>
  )
}

const Progress = ({ operationId }: { readonly operationId: string }) => {
  const { error, value } = useRead(valueRead("operations.get", { operationId }))
  const operation = value?.value
  return (
    <section>
      <h2>The operation</h2>
      {error !== null && error !== undefined ? <Failure error={error} /> : null}
      {operation === undefined ? null : (
        <p>
          <State value={String(operation["state"])} />{" "}
          <IdLink id={operationId} href={`operations/${operationId}`} />
          {operation["finishedAt"] === null ? null : (
            <>
              {" "}
              <InstantText at={String(operation["finishedAt"])} />
            </>
          )}
        </p>
      )}
      {operation?.["problem"] === null || operation === undefined ? null : (
        <Failure error={{ problem: operation["problem"] }} />
      )}
    </section>
  )
}
