/** The store in memory keeps every promise of the storage ports. */
import { storageSuite } from "@bursar/storage-adapters/conformance"
import * as Memory from "@bursar/storage-adapters/memory"

storageSuite("memory", Memory.layer)
