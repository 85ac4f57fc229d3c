/** Pages whose program is loaded with their first visit; one that is missing is the boundary's to say. */
import { lazy } from "preact-iso"
import type { ComponentType } from "preact"
import * as Upgrade from "./Upgrade.ts"

/** A page by its program. What fails to load fails where the page is drawn, instead of waiting without end. */
export const loaded = <P>(load: () => Promise<ComponentType<P>>): ComponentType<P> =>
  lazy(() =>
    load().then(
      (page) => {
        Upgrade.clear(sessionStorage)
        return page
      },
      (error: unknown): ComponentType<P> =>
        () => {
          throw error
        }
    )
  ) as ComponentType<P>
