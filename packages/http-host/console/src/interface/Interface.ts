/** Types of the interface's table, which the build makes of its description. */
export type {
  Filter,
  InterfaceTable,
  ReadRow,
  RequestSchemas,
  WriteRow
} from "../../../scripts/console-interface.ts"
