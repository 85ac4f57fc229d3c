/** Routes of the console: each area is a chunk of its own, loaded with its first page. */
import { LocationProvider, Route, Router, useLocation } from "preact-iso"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import { takeZone } from "../kit/Zone.ts"
import { lists, records } from "../pages/Pages.ts"
import { mayRead } from "../reads/Lists.ts"
import { takePoint } from "../reads/Point.ts"
import { areaComponents, type IdParams } from "./AreaPages.tsx"
import { Boundary } from "./Boundary.tsx"
import { Frame } from "./Frame.tsx"
import { hrefOf, parametersOf } from "./Links.ts"
import { loaded } from "./Loaded.ts"
import { firstPage } from "./Navigation.ts"
import { consolePath } from "./Place.ts"
import * as Session from "./Session.ts"
import type { Tenant } from "./Tenant.ts"
import { Title } from "./Title.tsx"

const WorkPage = loaded(() => import("../worklist/WorkPage.tsx").then(({ WorkPage: page }) => page))
const ApprovalsPage = loaded(() =>
  import("../approvals/ApprovalsPage.tsx").then(({ ApprovalsPage: page }) => page)
)
const ActionPage = loaded(() =>
  import("../approvals/ActionPage.tsx").then(({ ActionPage: page }) => page)
)
const OpenOrdersPage = loaded(() =>
  import("../orders/OpenOrdersPage.tsx").then(({ OpenOrdersPage: page }) => page)
)
const ListPage = loaded(() => import("../pages/ListPage.tsx").then(({ ListPage: page }) => page))
const RecordPage = loaded(() =>
  import("../pages/RecordPage.tsx").then(({ RecordPage: page }) => page)
)
const EventsPage = loaded(() =>
  import("../pages/EventsPage.tsx").then(({ EventsPage: page }) => page)
)

const NotThere = () => (
  <>
    <Title text="No such page" />
    <p>
      The console has no page at this address. The pages that you may read stand in the navigation.
    </p>
  </>
)

/** Leads to the page that the person's roles meet first. */
const First = () => {
  const { route } = useLocation()
  const first = firstPage(Session.person.value?.roles ?? [])
  useEffect(() => {
    if (first !== null) route(hrefOf(first), true)
  }, [first])
  return null
}

const Routes = () => {
  const { url } = useLocation()
  const parameters = parametersOf(url)
  takePoint(parameters.get("at") ?? undefined)
  takeZone(parameters.get("zone") ?? undefined)
  const at = (path: string) => `${consolePath}${path}`
  return (
    <Router>
      <Route path={at("")} component={First} />
      <Route path={at("work")} component={Work} />
      <Route path={at("approvals")} component={Approvals} />
      <Route path={at("approvals/:id")} component={OneAction} />
      <Route path={at("open-orders")} component={OpenOrders} />
      <Route path={at("events")} component={Events} />
      {areaRoutes.map(({ component, path }) => (
        <Route key={path} path={at(path)} component={component} />
      ))}
      {records.map((row) => (
        <Route
          key={row.path}
          path={at(`${row.path}/:id`)}
          component={recordPages.get(row.path) ?? NotThere}
        />
      ))}
      {lists.map((row) => (
        <Route key={row.path} path={at(row.path)} component={listPages.get(row.path) ?? NotThere} />
      ))}
      <Route default component={NotThere} />
    </Router>
  )
}

/** A page for the roles that may read it; for every other there is none. */
const Guarded = ({
  children,
  reads
}: {
  readonly reads: ReadonlyArray<string>
  readonly children: ComponentChildren
}) => {
  const roles = Session.person.value?.roles ?? []
  return reads.some((read) => mayRead(read, roles)) ? <>{children}</> : <NotThere />
}

const Work = () => (
  <Guarded reads={["work.list", "approvals.list", "operations.list"]}>
    <WorkPage />
  </Guarded>
)
const Approvals = () => (
  <Guarded reads={["approvals.list"]}>
    <ApprovalsPage />
  </Guarded>
)
const OpenOrders = () => (
  <Guarded reads={["open-orders.list"]}>
    <OpenOrdersPage />
  </Guarded>
)
const Events = () => (
  <Guarded reads={["events.list"]}>
    <EventsPage />
  </Guarded>
)

interface Params {
  readonly params: { readonly id: string }
}

const OneAction = ({ params }: Params) => (
  <Guarded reads={["approvals.get"]}>
    <ActionPage key={params.id} actionKey={params.id} />
  </Guarded>
)
/** One component a page, so that drawing again does not make it anew. */
const recordPages = new Map(
  records.map((row) => [
    row.path,
    ({ params }: Params) => (
      <Guarded reads={[row.read]}>
        <RecordPage key={params.id} row={row} id={params.id} />
      </Guarded>
    )
  ])
)
const areaRoutes = areaComponents.map(({ component: Page, row }) => ({
  path: row.path,
  component: ({ params: { id = "", inner = "" } }: IdParams) => (
    <Guarded reads={[row.reads[0]]}>
      <Page key={`${id}/${inner}`} id={id} inner={inner} />
    </Guarded>
  )
}))
const listPages = new Map(
  lists.map((row) => [
    row.path,
    () => (
      <Guarded reads={[row.read]}>
        <ListPage key={row.path} row={row} />
      </Guarded>
    )
  ])
)

/** Another page is another try. */
const Bounded = () => {
  const { path } = useLocation()
  return (
    <Boundary key={path}>
      <Routes />
    </Boundary>
  )
}

export const Pages = ({ tenant }: { readonly tenant: Tenant }) => (
  <LocationProvider scope={consolePath}>
    <Frame tenant={tenant}>
      <Bounded />
    </Frame>
  </LocationProvider>
)
