/** Migration: counter of the feed's head that rises with every transaction that writes records. */
export const statements: ReadonlyArray<string> = [
  "alter table bursar.head add column moves int8 not null default 0"
]
