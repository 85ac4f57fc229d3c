/** The embedded PostgreSQL keeps every promise of the storage ports. */
import { storageSuite, TestDatabase } from "@bursar/storage-adapters/conformance"

storageSuite("embedded PostgreSQL", TestDatabase.layer)
