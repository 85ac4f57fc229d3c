/** Tabs of a record's page by the reads that each makes. */

export interface TabRow {
  readonly name: string
  readonly title: string
  /** Reads of the tab besides the record's; a person who may not make the first has no such tab. */
  readonly reads: readonly [string, ...ReadonlyArray<string>]
}

/** Tabs that a person's reads admit. */
export const tabsOf = (
  tabs: ReadonlyArray<TabRow>,
  mayRead: (read: string) => boolean
): ReadonlyArray<TabRow> => tabs.filter(({ reads }) => mayRead(reads[0]))
