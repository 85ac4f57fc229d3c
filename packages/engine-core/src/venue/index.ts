/** Calls of a program on a venue: the writes and reads of its people, with and without Effect. */
export type { CallerOptions } from "./Calls.ts"
export {
  open,
  openWith,
  type OpenListing,
  type OpenPerson,
  type OpenReading,
  type OpenVenue,
  type OpenVenueWith,
  type PromiseOf
} from "./OpenVenue.ts"
export type { FeedEvent, FeedOptions } from "./ReadCalls.ts"
export type {
  ListCall,
  Listing,
  ListName,
  ListOptions,
  ListWhere,
  ListPage,
  PastPoint,
  ValueReading,
  ReadName,
  ReadParams,
  ReadRefusal,
  ReadValue,
  RowOf,
  RowsName,
  ValueName
} from "./ReadTypes.ts"
export { Refused } from "./Refused.ts"
export type { FileOptions, ReceivedFile, StatementFile } from "./StatementCalls.ts"
export type {
  CallsWith,
  OpenCallsWith,
  OpenOwnCalls,
  OpenOwnListing,
  OpenOwnReading,
  OwnAction,
  OwnCalls,
  OwnListing,
  OwnListPage,
  OwnRead,
  OwnReading,
  OwnReadParams,
  OwnReadValue,
  OwnRefusal,
  OwnSucceeded,
  OwnWrite,
  OwnWriteBody,
  OwnWriteError
} from "./OwnCalls.ts"
export {
  demandRooms,
  make,
  makeWith,
  type Person,
  type RoomsOption,
  type Venue,
  type VenueWith
} from "./Venue.ts"
export type { KeyOption, WriteError } from "./WriteCalls.ts"
export type {
  Action,
  ConditionOf,
  RefusalOf,
  SucceededAction,
  WriteBody,
  WriteKind,
  WriteResult
} from "./WriteTypes.ts"
