/** Pages of the areas, each area a chunk that is loaded with its first page. */
import type { ComponentType, FunctionComponent } from "preact"
import { type AreaName, type AreaPage, areaPages } from "./Areas.ts"
import { loaded } from "./Loaded.ts"

export interface IdParams {
  readonly params: { readonly id?: string; readonly inner?: string }
}

interface PageProps {
  readonly id: string
  /** Id of the record within the record, where the address has one. */
  readonly inner: string
}

type AreaModule = Readonly<Record<string, FunctionComponent<PageProps>>>

// Cast: a page that takes no id is drawn without one.
const modules: Readonly<Record<AreaName, () => Promise<AreaModule>>> = {
  cycles: () => import("../cycles/Area.tsx") as unknown as Promise<AreaModule>,
  restraints: () => import("../restraints/Area.tsx") as unknown as Promise<AreaModule>,
  distributions: () => import("../distributions/Area.tsx") as unknown as Promise<AreaModule>,
  holders: () => import("../holders/Area.tsx") as unknown as Promise<AreaModule>,
  instruments: () => import("../instruments/Area.tsx") as unknown as Promise<AreaModule>,
  orders: () => import("../orders/Area.tsx") as unknown as Promise<AreaModule>,
  reconciliation: () => import("../reconciliation/Area.tsx") as unknown as Promise<AreaModule>,
  reserves: () => import("../reserves/Area.tsx") as unknown as Promise<AreaModule>,
  statements: () => import("../statements/Area.tsx") as unknown as Promise<AreaModule>,
  venue: () => import("../venue/Area.tsx") as unknown as Promise<AreaModule>
}

const drawnBy = ({ area, page }: AreaPage): ComponentType<PageProps> =>
  loaded(() =>
    modules[area]().then(({ [page]: component }) => {
      if (component === undefined) throw new Error(`area ${area} has no ${page}`)
      return component
    })
  )

/** One component for each page, so that drawing again does not make it anew. */
export const areaComponents: ReadonlyArray<{
  readonly row: AreaPage
  readonly component: ComponentType<PageProps>
}> = areaPages.map((row) => ({ row, component: drawnBy(row) }))
