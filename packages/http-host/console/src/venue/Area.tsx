/** Pages of the venue: operations, audit log, webhooks, the venue's own record with its health. */
import { useLocation } from "preact-iso"
import { useEffect, useState } from "preact/hooks"
import { Acts } from "../kit/Acts.tsx"
import { Filters, whereOf } from "../kit/Filters.tsx"
import type { FormValues } from "../kit/OpenForms.ts"
import { Amount, Lead, Loaded, Move, Rows } from "../kit/Sheet.tsx"
import { type Column, idColumn, ListTable, memberColumn } from "../kit/Table.tsx"
import {
  Copy,
  IdLink,
  InstantText,
  Quote,
  State,
  Term,
  Terms,
  Text,
  Value
} from "../kit/Values.tsx"
import { isSlowed } from "../reads/Api.ts"
import { useRead } from "../reads/Cache.ts"
import { listRead, mayRead, type Row, valueRead } from "../reads/Lists.ts"
import { parametersOf } from "../shell/Links.ts"
import * as PageSettings from "../shell/PageSettings.ts"
import * as Session from "../shell/Session.ts"
import { Title } from "../shell/Title.tsx"
import { pageOfResource } from "../words/Resources.ts"
import { label, word } from "../words/Words.ts"
import * as Venue from "./Venue.ts"

/** Venue that the host wrote into the page. */
const tenantOfPage = (): string =>
  PageSettings.parse(document.querySelector('meta[name="bursar"]')?.getAttribute("content") ?? null)
    .tenantId

const ResourceOf = ({ id, kind }: { readonly kind: unknown; readonly id: unknown }) =>
  typeof kind === "string" && typeof id === "string" ? (
    <span>
      {word(kind)} <IdLink id={id} href={pageOfResource(kind, id)} />
    </span>
  ) : (
    <span class="none">none</span>
  )

const operationColumns: ReadonlyArray<Column> = [
  {
    name: "Operation",
    draw: ({ kind, operationId, summary }) => (
      <>
        <IdLink
          id={String(operationId)}
          href={`operations/${encodeURIComponent(String(operationId))}`}
        />
        <p>{typeof summary === "string" ? <Text value={summary} /> : word(String(kind))}</p>
      </>
    )
  },
  {
    name: "Record",
    draw: ({ resource }) => {
      const { id, kind } = resource as Row
      return <ResourceOf kind={kind} id={id} />
    }
  },
  memberColumn("state"),
  {
    name: "By",
    draw: ({ actor, actorName, role }) => (
      <>
        <Text value={String(actorName ?? actor ?? "the venue")} />
        <p class="fine">{role === null ? "by itself" : word(String(role))}</p>
      </>
    )
  },
  {
    name: "Since",
    draw: ({ createdAt }) =>
      typeof createdAt === "string" ? <InstantText at={createdAt} near /> : null
  },
  { name: "Ledger offset", isFigure: true, draw: ({ offset }) => <Amount value={offset} /> }
]

export const OperationsPage = () => {
  const { url } = useLocation()
  const read = "operations.list"
  return (
    <>
      <Title text="Operations" />
      <Filters read={read} />
      <ListTable
        caption="Operations"
        read={read}
        where={whereOf(read, url)}
        columns={operationColumns}
        empty="Every write is an operation. None fits the filter."
      />
    </>
  )
}

export const OperationPage = ({ id }: { readonly id: string }) => {
  const state = useRead({ ...valueRead("operations.get", { operationId: id }), kinds: ["*"] })
  return (
    <>
      <Title text={`Operation ${id}`} />
      <Loaded state={state}>{({ value }) => <OperationView id={id} operation={value} />}</Loaded>
    </>
  )
}

const OperationView = ({ id, operation }: { readonly id: string; readonly operation: Row }) => {
  const { actionKey, kind, problem, request, resource, result, signedBy, state } = operation
  const record = resource as Row
  const roles = Session.person.value?.roles ?? []
  const signers = (signedBy ?? []) as ReadonlyArray<Row | string>
  return (
    <article class="record">
      <Lead id={id} states={[state]}>
        <span>{word(String(kind))}</span>
      </Lead>
      {typeof operation["summary"] === "string" ? (
        <p class="sentence">
          <Text value={operation["summary"]} />
        </p>
      ) : null}
      <ol class="strip" aria-label="States">
        {Venue.operationSteps(operation).map(({ at, isReached, name }, nth, steps) => (
          <li
            key={name}
            class={isReached ? "reached" : "ahead"}
            aria-current={isReached && steps[nth + 1]?.isReached !== true ? "step" : undefined}
          >
            <span>{word(name)}</span>
            {at === null ? (
              <span class="fine">{isReached ? "reached" : "ahead"}</span>
            ) : (
              <InstantText at={at} />
            )}
          </li>
        ))}
      </ol>
      <Move moves={operation["waitingOn"]} />
      {problem === null || problem === undefined ? null : (
        <FailedView problem={problem as Row} recovery={operation["recovery"]} />
      )}
      {state === "failed" && typeof request === "object" && request !== null ? (
        <section>
          <h2>Make it again</h2>
          <p class="sentence">
            The form is filled in with this request and has a key of its own: it is another
            operation.
          </p>
          <Acts
            kinds={[String(kind)]}
            fixed={{}}
            initial={{ [String(kind)]: Venue.entriesOf(request as Row) as FormValues }}
          />
        </section>
      ) : null}
      {kind === "webhook.test" && typeof result === "object" && result !== null ? (
        <p class="notice">{Venue.testSentence(result as Row)}</p>
      ) : null}
      <Terms>
        <Term name="Record">
          <ResourceOf kind={record["kind"]} id={record["id"]} />
        </Term>
        <Term name="By">
          <Text value={String(operation["actorName"] ?? operation["actor"] ?? "the venue")} />
          <p class="fine">
            {operation["role"] === null ? "by itself" : word(String(operation["role"]))}
          </p>
        </Term>
        {typeof actionKey === "string" && mayRead("approvals.get", roles) ? (
          <Term name="Action">
            <Value member="actionKey" value={actionKey} />
            {signers.length === 0 ? null : (
              <p class="fine">
                signed by{" "}
                {signers
                  .map((signer) =>
                    typeof signer === "string" ? signer : String(signer["name"] ?? signer["sub"])
                  )
                  .join(", ")}
              </p>
            )}
          </Term>
        ) : null}
        <Term name="Ledger update">
          <Value member="updateHash" value={operation["updateId"]} />
        </Term>
        <Term name="Ledger offset">
          <Amount value={operation["offset"]} />
        </Term>
        {(["traceId", "requestId"] as const)
          .filter((member) => typeof operation[member] === "string")
          .map((member) => (
            <Term key={member} name={label(member)}>
              <IdLink id={String(operation[member])} />
            </Term>
          ))}
      </Terms>
      <details>
        <summary>Request, as it was sent</summary>
        <Value member="request" value={request} />
      </details>
      {result === null || result === undefined ? null : (
        <details open>
          <summary>Result</summary>
          <Value member="result" value={result} />
        </details>
      )}
      {mayRead("events.list", roles) ? <EventsOf id={id} /> : null}
    </article>
  )
}

const FailedView = ({
  problem,
  recovery
}: {
  readonly problem: Row
  readonly recovery: unknown
}) => {
  const cure = recovery ?? problem["recovery"]
  return (
    <section class="alarm">
      <h2>Refused: {String(problem["title"])}</h2>
      <p>{String(problem["detail"])}</p>
      {typeof problem["gate"] === "string" ? (
        <p>
          at gate {word(problem["gate"])}: {word(String(problem["check"]))}
        </p>
      ) : null}
      {typeof cure === "string" ? <Quote value={cure} /> : null}
    </section>
  )
}

const EventsOf = ({ id }: { readonly id: string }) => {
  const state = useRead({
    ...listRead("events.list", {
      where: { resourceKind: ["operation"], resourceId: id, order: "desc" },
      limit: 20
    }),
    kinds: ["operation"]
  })
  return (
    <Loaded state={state}>
      {({ value }) => (
        <Rows
          caption="Events"
          order="newest first"
          cells={[
            { name: "Seq", isFigure: true, draw: ({ seq }) => <Amount value={seq} /> },
            { name: "Event", draw: ({ type }) => label(String(type)) },
            {
              name: "At",
              draw: ({ at }) => (typeof at === "string" ? <InstantText at={at} /> : null)
            }
          ]}
          rows={value}
          empty="No event names this operation."
        />
      )}
    </Loaded>
  )
}

const auditColumns: ReadonlyArray<Column> = [
  { name: "Seq", isFigure: true, draw: ({ seq }) => <Amount value={seq} /> },
  { name: "At", draw: ({ at }) => <InstantText at={String(at)} /> },
  {
    name: "Actor",
    draw: ({ actor, role }) => (
      <>
        {actor === null ? <span class="none">the venue</span> : <Text value={String(actor)} />}
        {role === null ? null : <p class="fine">{word(String(role))}</p>}
      </>
    )
  },
  { name: "Action", draw: ({ action }) => word(String(action)) },
  { name: "Stage", draw: ({ stage }) => <State value={String(stage)} /> },
  { name: "Status", isFigure: true, draw: ({ status }) => <Amount value={status} /> },
  {
    name: "Record",
    draw: ({ resourceId, resourceKind }) => <ResourceOf kind={resourceKind} id={resourceId} />
  },
  { name: "Whole record", draw: (row) => <AuditRecord record={row} /> }
]

/** All members of a record, with its hash and that of the one before it. */
const AuditRecord = ({ record }: { readonly record: Row }) => (
  <details>
    <summary>Open</summary>
    <Terms>
      {Object.entries(record)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <Term key={name} name={label(name)}>
            <Value member={name === "prevHash" ? "hash" : name} value={value} />
          </Term>
        ))}
    </Terms>
  </details>
)

/** Filters that take records out of a stretch. */
const auditFilters = ["actor", "action", "resourceKind", "resourceId", "from", "to"] as const

export const AuditLogPage = () => {
  const { url } = useLocation()
  const read = "audit-log.list"
  const parameters = parametersOf(url)
  const isWhole = auditFilters.every((name) => !parameters.has(name))
  return (
    <>
      <Title text="Audit log" />
      <Filters read={read} />
      <ListTable
        caption="Audit log"
        read={read}
        where={whereOf(read, url)}
        columns={auditColumns}
        empty="Every call leaves a record here. None fits the filter."
        over={({ value }) => (isWhole ? <ChainView rows={value} /> : null)}
      />
    </>
  )
}

/** Whether the shown stretch is chained, computed in the browser. */
const ChainView = ({ rows }: { readonly rows: ReadonlyArray<Row> }) => {
  const [chain, set] = useState<Venue.Chain | null>(null)
  useEffect(() => {
    let isLeft = false
    set(null)
    void Venue.chainOf(rows, tenantOfPage()).then((judged) => {
      if (!isLeft) set(judged)
    })
    return () => {
      isLeft = true
    }
  }, [rows])
  if (chain === null) return null
  return (
    <p class="tally">
      {chain.brokenAt === null ? (
        <span class="state good">
          ✓ recomputed here: records {chain.first} to {chain.last} are chained
        </span>
      ) : (
        <span class="state bad">
          ! recomputed here: record {chain.brokenAt} does not follow, or is not what its hash says
        </span>
      )}
    </p>
  )
}

const webhookColumns: ReadonlyArray<Column> = [
  idColumn({ id: "webhookId", page: "webhooks", title: "Webhook" }),
  { name: "Receiver", draw: ({ url }) => <Text value={String(url)} /> },
  { name: "Events", draw: ({ events }) => <EventWords events={events} /> },
  { name: "From", draw: ({ source }) => (source === "config" ? "the configuration" : "the API") },
  { name: "Registered by", draw: ({ createdBy }) => <Text value={String(createdBy)} /> },
  { name: "Registered", draw: ({ createdAt }) => <InstantText at={String(createdAt)} near /> }
]

const EventWords = ({ events }: { readonly events: unknown }) => {
  const types = events as ReadonlyArray<string>
  return types.length === 0 ? <span>all</span> : <>{types.map(label).join(", ")}</>
}

export const WebhooksPage = () => {
  const { url } = useLocation()
  const read = "webhooks.list"
  return (
    <>
      <Title text="Webhooks" />
      <Acts kinds={["webhook.register"]} fixed={{}} />
      <ListTable
        caption="Webhooks"
        read={read}
        where={whereOf(read, url)}
        columns={webhookColumns}
        empty="A webhook posts events to a receiver. None is registered."
      />
    </>
  )
}

export const WebhookPage = ({ id }: { readonly id: string }) => {
  const state = useRead(valueRead("webhooks.get", { webhookId: id }))
  const roles = Session.person.value?.roles ?? []
  return (
    <>
      <Title text={`Webhook ${id}`} />
      <Loaded state={state}>
        {({ value }) => (
          <article class="record">
            <Lead id={id} states={[]} />
            <p class="sentence">
              A test posts one event and its operation says what the receiver answered. The secret
              is never shown again: to change it, remove the webhook and register it anew.
            </p>
            <Acts kinds={["webhook.test", "webhook.remove"]} fixed={{ webhookId: id }} />
            <Terms>
              <Term name="Receiver">
                <Text value={String(value["url"])} /> <Copy text={String(value["url"])} />
              </Term>
              <Term name="Events">
                <EventWords events={value["events"]} />
              </Term>
              <Term name="From">
                {value["source"] === "config" ? "the configuration" : "the API"}
              </Term>
              <Term name="Registered by">
                <Text value={String(value["createdBy"])} />
                <p class="fine">
                  <InstantText at={String(value["createdAt"])} />
                </p>
              </Term>
            </Terms>
          </article>
        )}
      </Loaded>
      {mayRead("operations.list", roles) ? <Tests /> : null}
    </>
  )
}

/** Tests of webhooks among the venue's operations: their results are on their own pages. */
const Tests = () => (
  <ListTable
    caption="Tests of webhooks"
    read="operations.list"
    where={{ kind: ["webhook.test"] }}
    columns={operationColumns}
    empty="No webhook was tested."
  />
)

export const VenuePage = () => {
  const tenantId = tenantOfPage()
  const tenant = useRead(valueRead("tenants.one", { tenantId }))
  const health = useRead({ ...valueRead("health.one", {}), kinds: ["*"] })
  return (
    <>
      <Title text="Venue" />
      <article class="record">
        <Loaded state={health}>{({ value }) => <HealthView health={value} />}</Loaded>
        <Loaded state={tenant}>{({ value }) => <TenantView tenant={value} />}</Loaded>
      </article>
    </>
  )
}

const HealthView = ({ health }: { readonly health: Row }) => {
  return (
    <section>
      <h2>Health</h2>
      <p>
        <State value={String(health["status"])} />{" "}
        {health["ready"] === true ? null : <span class="state bad">! not ready</span>}
      </p>
      <Terms>
        <Term name="Version">
          <Text value={String(health["version"])} />
        </Term>
        <Term name="Started">
          <InstantText at={String(health["startedAt"])} near />
        </Term>
        <Term name="Read up to offset">
          <Amount value={health["projectionOffset"]} />
        </Term>
        <Term name="End of the ledger">
          <Amount value={health["ledgerEnd"]} />
        </Term>
        <Term name="Calls">
          {isSlowed.value ? (
            <span class="state waits">○ less than a fifth of the budget is left</span>
          ) : (
            "within the budget"
          )}
        </Term>
      </Terms>
    </section>
  )
}

const TenantView = ({ tenant }: { readonly tenant: Row }) => {
  const { signIn, signing, rateLimit } = tenant
  const provider = signIn as Row
  const budget = rateLimit as Row
  return (
    <>
      <section>
        <h2>Record</h2>
        <Terms>
          <Term name="Name">
            <Text value={String(tenant["displayName"])} />
          </Term>
          <Term name="Id">
            <IdLink id={String(tenant["tenantId"])} />
          </Term>
          <Term name="Versions of the interface">
            {(tenant["api"] as ReadonlyArray<string>).join(", ")}
          </Term>
          <Term name="Budget of calls">
            <Amount value={budget["limit"]} /> in {String(budget["window"])}
          </Term>
          <Term name="Signed requests">within {String((signing as Row)["window"])}</Term>
        </Terms>
      </section>
      <section>
        <h2>Signing in</h2>
        <Terms>
          <Term name="Identity provider">
            <Text value={String(provider["issuer"])} />
          </Term>
          <Term name="Audience">
            <Text value={String(provider["audience"])} />
          </Term>
          <Term name="Client">
            <Text value={String(provider["clientId"])} />
          </Term>
          <Term name="Scopes">{(provider["scopes"] as ReadonlyArray<string>).join(" ")}</Term>
        </Terms>
      </section>
      <Rows
        caption="Keys"
        order="by which the venue signs what it sends"
        cells={[
          { name: "Key", draw: ({ keyId }) => <IdLink id={String(keyId)} /> },
          { name: "Use", draw: ({ use }) => word(String(use)) },
          { name: "Algorithm", draw: ({ algorithm }) => <Text value={String(algorithm)} /> },
          { name: "From", draw: ({ notBefore }) => <InstantText at={String(notBefore)} /> },
          { name: "Until", draw: ({ notAfter }) => <Value member="at" value={notAfter} /> },
          {
            name: "Public key",
            draw: ({ publicKey }) => (
              <span class="id">
                <bdi title={String(publicKey)}>{String(publicKey)}</bdi>
                <Copy text={String(publicKey)} />
              </span>
            )
          }
        ]}
        rows={tenant["keys"] as ReadonlyArray<Row>}
        empty="The venue signs nothing that it sends."
      />
    </>
  )
}
